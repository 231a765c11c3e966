"""tests/http/test_sandbox.py - what a running server has given up, and what it tells the service manager."""

import os
import signal
import socket
import tempfile

from avrod import Server, sanitized


def status(pid, task, name):
    with open(f"/proc/{pid}/task/{task}/status", encoding="ascii") as f:
        return next(line.split()[1] for line in f if line.startswith(name + ":"))


def test_all_threads_are_in_the_sandbox():
    if sanitized():
        return
    with Server() as s:
        tasks = os.listdir(f"/proc/{s.process.pid}/task")
        assert len(tasks) >= 5, tasks
        for task in tasks:
            assert status(s.process.pid, task, "Seccomp") == "2", task
            assert status(s.process.pid, task, "NoNewPrivs") == "1", task
    with Server("--no-sandbox") as s:
        assert status(s.process.pid, s.process.pid, "Seccomp") == "0"


def read_all(manager):
    messages = []
    while True:
        try:
            messages.append(manager.recv(4096).decode())
        except BlockingIOError:
            return messages


def test_the_manager_is_told():
    with tempfile.TemporaryDirectory() as folder:
        for name in (os.path.join(folder, "notify"), f"@avrod-test-{os.getpid()}"):
            manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            manager.bind(name if name[0] == "/" else "\0" + name[1:])
            manager.setblocking(False)
            with Server(env=dict(os.environ, NOTIFY_SOCKET=name)) as s:
                told = read_all(manager)
                assert told == [f"READY=1\nSTATUS=http://127.0.0.1:{s.port}"], told
                assert s.stop() == 0
            told = read_all(manager)
            assert told[0] == "STOPPING=1" and told[1].startswith("EXTEND_TIMEOUT_USEC="), told
            manager.close()


def test_a_manager_that_is_not_there_is_no_fault():
    for name in ("/nowhere/notify", "relative", "", "/" + "x" * 300):
        with Server(env=dict(os.environ, NOTIFY_SOCKET=name)) as s:
            assert s.get("/ping").body == b"pong"
            s.process.send_signal(signal.SIGTERM)
            assert s.process.wait(60) == 0


for test in (test_all_threads_are_in_the_sandbox, test_the_manager_is_told, test_a_manager_that_is_not_there_is_no_fault):
    test()
print("ok")

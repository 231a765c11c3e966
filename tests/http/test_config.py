"""tests/http/test_config.py - options on the command line, in the environment and in a file; --check-config, --print-config;
SIGHUP."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from avrod import AVROD, ROOT, Server


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return f.read()


class Config(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="avrod-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def conf(self, text, name="avrod.conf"):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def run_avrod(self, *args, **variables):
        """What it says on both streams, and how it ends."""
        done = subprocess.run([AVROD, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **variables},
                              timeout=60, check=False)
        return done.stdout.decode(), done.returncode

    # ---- serving ----

    def test_a_server_is_told_all_by_file_and_environment(self):
        conf = self.conf(f"data = {self.path('data')}\nlisten = 127.0.0.1:0\ntarget-max = 64\nhead-max = 1KiB\n")
        env = {**os.environ, "AVROD_CONFIG": conf, "AVROD_TARGET_MAX": "80"}

        class Bare(Server):
            def command(self):
                return [AVROD]

        with Bare(data=self.path("data"), env=env) as s:
            self.assertEqual(s.get("/" + "a" * 63).status, 404)
            self.assertEqual(s.get("/" + "a" * 79).status, 404)
            self.assertEqual(s.get("/" + "a" * 80).status, 414)
            self.assertEqual(s.get("/ping", headers={"X": "a" * 1000}).status, 431)
        self.assertTrue(os.path.exists(self.path("data/data.mdb")))

    def test_no_file_is_read_that_nobody_names(self):
        for name in ("avrod.conf", ".avrod.conf"):
            self.conf("threads = x\n", name)
        home = {"HOME": self.folder, "XDG_CONFIG_HOME": self.folder}
        done = subprocess.run([os.path.abspath(AVROD), "--engine=memory", "--check-config"], cwd=self.folder, env={**os.environ, **home},
                              stdout=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual((done.stdout, done.returncode), (b"ok\n", 0))

    def test_a_variable_that_is_no_option_is_said_and_stops_nothing(self):
        with Server(env={**os.environ, "AVROD_HEADMAX": "1", "AVROD_URL": "x", "AVROD": "/x"}) as s:
            self.assertEqual(s.get("/ping").status, 200)
            log = s.read_log()
        self.assertIn("warn  AVROD_HEADMAX in the environment is none of the options", log)
        self.assertEqual(log.count("in the environment"), 1)

    def test_avroctls_variables_are_none_of_the_servers(self):
        variables = set(re.findall(r'"(AVROD_\w+)"', read("client/ctl/options.def"))) | {"AVROD_PASSWORD"}
        self.assertGreater(len(variables), 5)
        said, code = self.run_avrod("--check-config", "--engine=memory", **{name: "x" for name in variables})
        self.assertEqual((said, code), ("ok\n", 0))
        options = re.findall(r"^  --([a-z-]+)", self.run_avrod("--help")[0], re.M)
        self.assertFalse(variables & {"AVROD_" + name.upper().replace("-", "_") for name in options})

    # ---- --check-config ----

    def test_checking_says_ok_or_the_fault_with_its_place(self):
        data = self.path("data")
        right = self.conf(f"# all is well\ndata = {data}\n")
        self.assertEqual(self.run_avrod("--check-config", "--config", right), ("ok\n", 0))
        self.assertEqual(self.run_avrod("--check-config", AVROD_CONFIG=right), ("ok\n", 0))
        wrong = self.conf("engine = memory\n\nthreads = many\n", "wrong.conf")
        says = f"avrod: {wrong}:3: threads takes a number, not 'many'.\n"
        self.assertEqual(self.run_avrod("--check-config", "--config", wrong), (says, 2))
        self.assertEqual(self.run_avrod("--config", wrong), (says, 2))
        self.assertEqual(self.run_avrod("--config", right, AVROD_THREADS="many"),
                         ("avrod: AVROD_THREADS takes a number, not 'many'.\n", 2))
        self.assertFalse(os.path.exists(data))

    def test_checking_looks_into_what_the_options_say(self):
        memory = ["--check-config", "--engine=memory"]
        for args, words in (
                (["--listen", "nowhere"], "nowhere"),
                (["--listen", "0.0.0.0:0"], "no loopback address"),
                (["--cors-origin", "https://app.example/path"], "app.example"),
                (["--access-log", self.path("none/log")], "No such file or directory"),
                (["--access-log", self.folder + "/avrod.conf/log"], "Not a directory"),
                (["--engine", "rocks", "--data", self.folder], "no storage engine"),
                (["--bodies-budget", "1MiB"], "--body-max"),
        ):
            self.conf("")
            said, code = self.run_avrod(*memory, *args)
            self.assertEqual(code, 2, said)
            self.assertTrue(said.startswith("avrod: "), said)
            self.assertIn(words, said)
        self.assertEqual(self.run_avrod(*memory, "--access-log", self.path("log")), ("ok\n", 0))
        self.assertEqual(self.run_avrod(*memory, "--access-log", "-"), ("ok\n", 0))
        self.assertEqual(self.run_avrod(*memory, "--listen", "0.0.0.0:0", "--insecure"), ("ok\n", 0))
        tokens = self.conf("ci:" + "0" * 64 + "\n", "tokens")
        self.assertEqual(self.run_avrod(*memory, "--listen", "0.0.0.0:0", "--tokens", tokens), ("ok\n", 0))
        self.assertFalse(os.path.exists(self.path("log")))

    def test_checking_binds_nothing_and_opens_no_store(self):
        with Server() as s:
            listen = f"127.0.0.1:{s.port}"
            self.assertEqual(self.run_avrod("--check-config", "--data", s.data, "--listen", listen), ("ok\n", 0))

    # ---- --print-config ----

    def test_what_is_printed_is_a_file_that_says_the_same(self):
        conf = self.conf("data = /nowhere\nhead-max = 2KiB\n")
        said, code = self.run_avrod("--print-config", "--config", conf, "--insecure", AVROD_HEADERS_MAX="20")
        self.assertEqual(code, 0)
        for words in (f"# {conf}:2\nhead-max = 2KiB\n", "# --insecure\ninsecure = on\n", "# AVROD_HEADERS_MAX\nheaders-max = 20\n",
                      "# default\nthreads = 0\n", "# default\n#access-log = \n"):
            self.assertIn(words, said)
        again, code = self.run_avrod("--print-config", "--config", self.conf(said, "again.conf"))
        self.assertEqual(code, 0)

        def values(text):
            return [line for line in text.splitlines() if "=" in line]

        self.assertEqual(values(again), values(said))

    def test_it_is_printed_also_where_the_whole_is_wrong(self):
        said, code = self.run_avrod("--print-config", "--compat", "mongo")
        self.assertEqual(code, 0)
        self.assertIn("# --compat\ncompat = mongo\n", said)

    # ---- what repeats the table ----

    def test_the_default_configuration_and_the_manual_page_say_what_help_does(self):
        done = subprocess.run([sys.executable, os.path.join(ROOT, "tools/write_options.py"), "--check", AVROD], stdout=subprocess.PIPE,
                              timeout=60, check=False)
        self.assertEqual((done.stdout.decode(), done.returncode), ("", 0))

    def test_the_default_configuration_is_right_and_says_the_defaults(self):
        said, code = self.run_avrod("--print-config")
        self.assertEqual(code, 0)
        text = read("packaging/avrod.conf")
        self.assertEqual(self.run_avrod("--engine=memory", "--check-config", "--config", self.conf(text)), ("ok\n", 0))
        options = re.findall(r"^# default\n(#?)([a-z-]+) = (.*)$", said, re.M)
        shown = re.findall(r"^#([a-z-]+) = (.*)$", text, re.M)
        self.assertEqual([name for name, _ in shown], [name for _, name, _ in options])
        given = {name: value for none, name, value in options if not none}
        self.assertEqual({name: value for name, value in shown if name in given}, given)
        # Uncommented, but for what has no default.
        all_of_them = "".join(f"{name} = {value}\n" for name, value in shown if name in given)
        self.assertEqual(self.run_avrod("--check-config", "--data=/nowhere", "--config", self.conf(all_of_them)), ("ok\n", 0))

    # ---- SIGHUP ----

    def wait_for(self, server, words):
        deadline = time.monotonic() + 60
        while words not in server.read_log():
            self.assertLess(time.monotonic(), deadline, server.read_log())
            time.sleep(0.01)

    def test_sighup_reloads_what_there_is_and_ends_nothing(self):
        with Server() as s:
            s.process.send_signal(signal.SIGHUP)
            self.wait_for(s, "SIGHUP: nothing to reload")
            self.assertEqual(s.get("/ping").status, 200)
        with Server("--access-log", self.path("log")) as s:
            s.process.send_signal(signal.SIGHUP)
            self.wait_for(s, "SIGHUP: reloading: access log")
            self.wait_for(s, "was opened anew")

    def test_sighup_is_taken_also_where_nohup_has_had_it_ignored(self):
        class Nohup(Server):
            def command(self):
                return ["nohup", *super().command()]

        with Nohup() as s:
            s.process.send_signal(signal.SIGHUP)
            self.wait_for(s, "SIGHUP: nothing to reload")
            self.assertEqual(s.get("/ping").status, 200)


if __name__ == "__main__":
    unittest.main()

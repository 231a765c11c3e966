"""bench/lib/peers.py - the servers of the comparison page: how each is started, and what of it is asked as ping, get, put."""

import base64
import json
import os
import shutil
import subprocess

from ask import exchange, free_port, wait_port
from machine import BOTH_CORES
from rows import RECORD
from servers import Avrod, Nginx, Process

ANSWER = b'{"name":"","age":0,"gender":"Unknown","emails":[]}'


class Ask:
    """One kind of request as ab sends it. `scale`: the part of the usual number of requests, for what is slow."""

    def __init__(self, target, method="GET", body=None, scale=1.0, varies=False):
        self.target, self.method, self.body, self.scale, self.varies = target, method, body, scale, varies


class Peer:
    """Started in a directory of its own on free ports; `asks`: by name; `promise`: what an answered put has survived."""

    needs, promise = (), "-"

    def __init__(self, bench, where):
        self.bench, self.where, self.port, self.processes = bench, where, None, []
        os.makedirs(where)
        self.start()

    @classmethod
    def is_here(cls):
        return all(shutil.which(program) for program in cls.needs)

    def keep(self, process):
        self.processes.append(process)
        return process

    def run(self, command, port):
        """A foreign program, with the libraries that were unpacked beside it."""
        env = dict(os.environ)
        env["LD_LIBRARY_PATH"] = ":".join(filter(None, [env.get("BENCH_PEER_LIBRARIES"), env.get("LD_LIBRARY_PATH")]))
        with open(os.path.join(self.where, command[0] + ".log"), "wb") as log:
            process = self.keep(Process(command, BOTH_CORES, cwd=self.where, env=env, stdout=log, stderr=subprocess.STDOUT))
        wait_port(port, process.process)

    def pids(self):
        return [pid for process in self.processes for pid in process.pids]

    def close(self):
        for process in reversed(self.processes):
            process.close()


class AvrodBench(Peer):
    """As product's commands have it: everything but storage."""

    name, promise = "avrod, benchmark_only", "not stored"
    asks = {"ping": Ask("/ping"), "get": Ask("/personinfo/get/1?benchmark_only=10240"),
            "put": Ask("/personinfo/put/1?benchmark_only=10240", "POST", RECORD)}
    options = ()

    def start(self):
        avrod = self.keep(Avrod(self.bench.tools, os.path.join(self.where, "data"), *self.options, threads=0,
                                cores=BOTH_CORES))
        self.port = avrod.port
        avrod.put_schema("personinfo")
        exchange(self.port, "POST", "/personinfo/put/1", RECORD)


class AvrodDurable(AvrodBench):
    name, promise = "avrod, stored", "a power cut"
    asks = {"ping": Ask("/ping"), "get": Ask("/personinfo/get/1"), "put": Ask("/personinfo/put/1", "POST", RECORD, 0.2)}


class AvrodMemory(AvrodDurable):
    name, promise = "avrod, stored, durability none", "kill -9"
    asks = {**AvrodDurable.asks, "put": Ask("/personinfo/put/1", "POST", RECORD)}
    options = ("--durability", "none")


class NginxFiles(Peer):
    name, promise, needs = "nginx, files", "kill -9", ("nginx",)
    asks = {"ping": Ask("/"), "get": Ask("/file/1"), "put": Ask("/file/2", "PUT", RECORD, 0.1)}

    def start(self):
        nginx = self.keep(Nginx(os.path.join(self.where, "nginx"), {"1": ANSWER, "2": RECORD}, BOTH_CORES, workers=len(BOTH_CORES.split(","))))
        self.port = nginx.port


class Haproxy(Peer):
    name, promise, needs = "haproxy", "-", ("haproxy",)
    asks = {"ping": Ask("/ping"), "get": Ask("/get")}

    def start(self):
        self.port = free_port()
        with open(os.path.join(self.where, "haproxy.cfg"), "w", encoding="ascii") as f:
            f.write("defaults\n mode http\n timeout client 60s\n timeout connect 5s\n timeout server 60s\n"
                    f"frontend f\n bind 127.0.0.1:{self.port}\n"
                    " http-request return status 200 content-type text/plain string pong if { path /ping }\n"
                    " http-request return status 200 content-type application/json file get.json\n")
        with open(os.path.join(self.where, "get.json"), "wb") as f:
            f.write(ANSWER)
        self.run(["haproxy", "-db", "-f", "haproxy.cfg"], self.port)


class Webdis(Peer):
    name, promise, needs = "webdis + redis", "nothing", ("webdis", "redis-server")
    asks = {"ping": Ask("/PING"), "get": Ask("/GET/1.raw"), "put": Ask("/SET/2", "PUT", RECORD)}
    redis = ["--save", "", "--appendonly", "no"]

    def start(self):
        redis_port, self.port = free_port(), free_port()
        self.run(["redis-server", "--port", str(redis_port), "--bind", "127.0.0.1", "--dir", self.where, *self.redis],
                 redis_port)
        config = {"redis_host": "127.0.0.1", "redis_port": redis_port, "http_host": "127.0.0.1", "http_port": self.port,
                  "threads": os.cpu_count(), "pool_size": 20, "daemonize": False, "websockets": False, "database": 0,
                  "verbosity": 0, "logfile": "/dev/null", "acl": []}
        with open(os.path.join(self.where, "webdis.json"), "w", encoding="ascii") as f:
            json.dump(config, f)
        self.run(["webdis", "webdis.json"], self.port)
        exchange(self.port, "PUT", "/SET/1", ANSWER)


class WebdisDurable(Webdis):
    name, promise = "webdis + redis, appendfsync always", "a power cut"
    asks = {**Webdis.asks, "put": Ask("/SET/2", "PUT", RECORD, 0.2)}
    redis = ["--save", "", "--appendonly", "yes", "--appendfsync", "always"]


class Etcd(Peer):
    name, promise, needs = "etcd, JSON gateway", "a power cut", ("etcd",)

    @staticmethod
    def text(**members):
        return json.dumps({key: base64.b64encode(value).decode() for key, value in members.items()}).encode()

    asks = {"ping": Ask("/version", scale=0.2), "get": Ask("/v3/kv/range", "POST", text(key=b"1"), 0.05, varies=True),
            "put": Ask("/v3/kv/put", "POST", text(key=b"2", value=RECORD), 0.05, varies=True)}

    def start(self):
        self.port, peer_port = free_port(), free_port()
        url = f"http://127.0.0.1:{self.port}"
        self.run(["etcd", "--data-dir", "data", "--listen-client-urls", url, "--advertise-client-urls", url,
                  "--listen-peer-urls", f"http://127.0.0.1:{peer_port}", "--log-level", "error"], self.port)
        exchange(self.port, "POST", "/v3/kv/put", self.text(key=b"1", value=ANSWER))


PEERS = {"avrod": AvrodBench, "avrod-stored": AvrodDurable, "avrod-none": AvrodMemory, "nginx": NginxFiles,
         "haproxy": Haproxy, "webdis": Webdis, "webdis-durable": WebdisDurable, "etcd": Etcd}

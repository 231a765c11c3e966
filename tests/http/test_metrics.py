"""tests/http/test_metrics.py - GET /metrics: it counts what happens, exactly, in a bounded number of series, and Prometheus's own
tool finds nothing to say against it.

promtool is $PROMTOOL, or the one in PATH; tests/run.sh sets it. Without either that one check is left out."""

import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time

from avrod import Server, read_reply

SCHEMA = json.dumps({"type": "record", "name": "M", "fields": [{"name": "n", "type": "int"}]})
TYPES_MAX = 100  # METRIC_TYPES_MAX in base/limits.def
SAMPLE = re.compile(r'^([a-z_]+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')


def parse(text):
    """{name: {sorted label pairs: value}}; each line is checked for its form."""
    families = {}
    for line in text.decode().splitlines():
        if line.startswith("#"):
            assert re.match(r"# (HELP [a-z_]+ .+|TYPE [a-z_]+ (counter|gauge|histogram))$", line), line
            continue
        name, labels, value = SAMPLE.match(line).groups()
        key = tuple(sorted(LABEL.findall(labels or "")))
        samples = families.setdefault(name, {})
        assert key not in samples, f"twice: {line}"
        samples[key] = float(value)
    assert text.endswith(b"\n")
    return families


def scrape(s):
    reply = s.get("/metrics")
    assert reply.status == 200, reply
    assert reply.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8", reply
    return parse(reply.body)


def value(families, name, **labels):
    """The sum of all samples that have these labels."""
    return sum(v for key, v in families.get(name, {}).items() if set(labels.items()) <= set(key))


def check_requests(s):
    before = scrape(s)
    assert s.put("/m/1", body=b'{"n":1}').status == 201
    for _ in range(3):
        assert s.get("/m/1").status == 200
    assert s.get("/m/none").status == 404
    assert s.put("/m/1", body=b'{"n":"x"}').status == 422
    assert s.get("/nowhere/at/all").status == 404
    assert s.request("DELETE", "/ping").status == 405
    s.raw(b"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    s.raw(b"junk\r\n\r\n")
    after = scrape(s)
    for route, method, status, n in (("/{type}/{id}", "PUT", "201", 1), ("/{type}/{id}", "GET", "200", 3),
                                     ("/{type}/{id}", "GET", "404", 1), ("/{type}/{id}", "PUT", "422", 1),
                                     ("none", "GET", "404", 1), ("none", "DELETE", "405", 1),
                                     ("none", "none", "501", 1), ("none", "none", "400", 1),
                                     ("/metrics", "GET", "200", 1)):
        labels = {"route": route, "method": method, "status": status}
        name = "avrod_http_requests_total"
        assert value(after, name, **labels) - value(before, name, **labels) == n, labels
    name = "avrod_http_connections_accepted_total"
    assert value(after, name) - value(before, name) == 11
    assert value(after, "avrod_http_connections") >= 1
    assert value(after, "avrod_types") == 1
    assert value(after, "avrod_validation_failures_total", type="m") == 1
    assert value(after, "avrod_store_writes_total") - value(before, "avrod_store_writes_total") == 1
    assert value(after, "avrod_store_queue_writes") == 0
    assert value(after, "avrod_build_info", version="0.1.0") == 1


def check_head(s):
    whole = s.get("/metrics")
    with s.connect() as c:
        c.sendall(b"HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\nGET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n")
        reply, rest = read_reply(c, head=True)
        assert reply.status == 200 and reply.header("Content-Type") == whole.header("Content-Type"), reply
        assert int(reply.header("Content-Length")) > 0
        assert read_reply(c, pending=rest)[0].body == b"pong"
    assert s.post("/metrics").status == 405
    assert s.get("/metrics?x=1").status == 400


def check_pipelined(s):
    name = "avrod_http_pipelined_requests_total"
    before = scrape(s)
    s.raw(b"GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n" * 5)
    after = scrape(s)
    assert 0 < value(after, name) - value(before, name) <= 4
    name = "avrod_http_requests_total"
    assert value(after, name, route="/ping") - value(before, name, route="/ping") == 5


def check_bytes():
    """With one worker what was sent is counted before the next request is read."""
    with Server("--threads", "1", "--engine", "memory") as s, s.connect() as c:
        ask = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
        c.sendall(ask)
        first = read_reply(c)[0]
        c.sendall(ask)
        second = parse(read_reply(c)[0].body)
        assert value(second, "avrod_http_received_bytes_total") == 2 * len(ask)
        sent = value(second, "avrod_http_sent_bytes_total")
        assert len(first.body) < sent < len(first.body) + 512, (sent, len(first.body))


def check_long_answers():
    """One that leaves in pieces is one request, and all its bytes are counted."""
    with Server("--threads", "1", "--engine", "memory") as s:
        body = b"x" * (3 << 20)
        assert s.post("/putschema/raw", body=b'"bytes"').status == 200
        assert s.put("/raw/1", body=body).status == 201
        for _ in range(2):
            assert s.get("/raw/1").body == body
        families = scrape(s)
        assert value(families, "avrod_http_requests_total", route="/{type}/{id}", method="GET", status="200") == 2
        assert value(families, "avrod_http_request_duration_seconds_count", route="/{type}/{id}", method="GET") == 2
        assert 2 * len(body) < value(families, "avrod_http_sent_bytes_total") < 2 * len(body) + 4096
        assert len(body) < value(families, "avrod_http_received_bytes_total") < len(body) + 4096


def ask(c, target):
    c.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % target.encode())


def scrape_until(s, is_reached):
    """What other clients do to a connection is seen when its worker has come to it."""
    deadline = time.monotonic() + 60
    while not is_reached(families := scrape(s)):
        assert time.monotonic() < deadline, families
    return families


def check_streams():
    """Under way, whole, broken: each once; what has no body is none."""
    whole, broken = "avrod_http_stream_duration_seconds", "avrod_http_streams_broken_total"
    with Server("--threads", "1", "--engine", "memory") as s:
        assert s.post("/putschema/raw", body=b'"bytes"').status == 200
        assert s.put("/raw/1", body=b"x" * (12 << 20)).status == 201
        for target in "/raw/1", "/raw", "/schemas":
            assert s.get(target).status == 200
            assert s.request("HEAD", target).status == 200
        assert s.get("/raw/1", headers={"Range": "bytes=0-0"}).status == 206
        before = scrape(s)
        # A scrape may be a stream itself, and see its own beginning.
        n, now = value(before, whole + "_count"), value(before, "avrod_http_streams")
        assert 4 <= n <= 5 and value(before, broken) == 0 and now <= 1, (n, now)
        with s.connect() as c:
            c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            ask(c, "/raw/1")
            c.recv(1)
            assert value(scrape(s), "avrod_http_streams") == now + 1
        after = scrape_until(s, lambda families: value(families, broken) == 1)
        assert value(after, "avrod_http_streams") == now


def check_memory_in_hand():
    with Server("--threads", "1", "--engine", "memory", "--bodies-budget", "100MiB", "--answers-budget", "50MiB") as s:
        families = scrape(s)
        assert value(families, "avrod_http_bodies_max_bytes") == 100 << 20
        assert value(families, "avrod_http_answers_max_bytes") == 50 << 20
        assert value(families, "avrod_http_bodies_bytes") == 0
        assert s.post("/putschema/raw", body=b'"bytes"').status == 200
        with s.connect() as c:
            c.sendall(b"PUT /raw/1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 900000)
            scrape_until(s, lambda families: 900000 <= value(families, "avrod_http_bodies_bytes") < 2 << 20)
            c.sendall(b"x" * 100000)
            assert read_reply(c)[0].status == 201
        scrape_until(s, lambda families: value(families, "avrod_http_bodies_bytes") == 0)
        assert s.post("/putschema/list", body=b'{"type":"array","items":"int"}').status == 200
        assert s.put("/list/1", body=b"[" + b"1000000," * 900000 + b"1]").status == 201
        before = value(scrape(s), "avrod_http_answers_bytes")
        with s.connect() as c:  # its JSON waits whole, as a helper has printed it
            c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            ask(c, "/list/1")
            c.recv(1)
            assert value(scrape(s), "avrod_http_answers_bytes") > before + 1_000_000
        scrape_until(s, lambda families: value(families, "avrod_http_answers_bytes") == before)


def check_helpers(s):
    """Each scrape is a job; so is a long body that they check."""
    name = "avrod_helper_jobs_total"
    before = value(scrape(s), name)
    assert s.put("/m/1", body=b" " * 100000 + b'{"n":1}').status in (200, 201)
    after = scrape(s)
    assert value(after, name) == before + 2
    assert value(after, "avrod_helper_queue_jobs") == 0


def check_histograms(families):
    """Of each histogram and set of labels: buckets only grow, and the last is the count."""
    names = {name[:-7] for name in families if name.endswith("_bucket")}
    assert {"avrod_http_request_duration_seconds", "avrod_store_group_writes", "avrod_store_flush_seconds"} <= names
    for name in names:
        buckets = {}
        for key, n in families[name + "_bucket"].items():
            bound = dict(key)["le"]
            rest = tuple(pair for pair in key if pair[0] != "le")
            buckets.setdefault(rest, []).append((float("inf") if bound == "+Inf" else float(bound), n))
        assert set(buckets) == set(families[name + "_count"]) == set(families[name + "_sum"]), name
        for labels, pairs in buckets.items():
            counts = [n for _, n in sorted(pairs)]
            assert len(set(bound for bound, _ in pairs)) == len(pairs), (name, labels)
            assert counts == sorted(counts) and counts[-1] == families[name + "_count"][labels], (name, labels)
            assert families[name + "_sum"][labels] >= 0


def load(s, number, rounds):
    """So many requests on a connection of its own, some of them pipelined."""
    with s.connect(60) as c:
        rest = b""
        for i in range(rounds):
            body = b'{"n":%d}' % i
            c.sendall(b"PUT /m/%d-%d HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (number, i, len(body), body)
                      + b"GET /m/%d-%d HTTP/1.1\r\nHost: localhost\r\n\r\n" % (number, i) * 2
                      + b"GET /m/absent HTTP/1.1\r\nHost: localhost\r\n\r\n"
                      + b"PUT /m/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
            for _ in range(5):
                rest = read_reply(c, pending=rest)[1]


def check_sums_under_concurrency(s):
    """Nothing is lost or counted twice, however the requests fall on workers and groups."""
    clients, rounds = 8, 60
    before = scrape(s)
    threads = [threading.Thread(target=load, args=(s, number, rounds)) for number in range(clients)]
    for t in threads:
        t.start()
    while any(t.is_alive() for t in threads):
        check_histograms(scrape(s))
    for t in threads:
        t.join()
    after = scrape(s)
    n = clients * rounds
    name = "avrod_http_requests_total"
    for method, status, times in (("PUT", "201", 1), ("GET", "200", 2), ("GET", "404", 1), ("PUT", "422", 1)):
        labels = {"route": "/{type}/{id}", "method": method, "status": status}
        assert value(after, name, **labels) - value(before, name, **labels) == n * times, labels
    for method, times in (("PUT", 2), ("GET", 3)):
        labels = {"route": "/{type}/{id}", "method": method}
        count = "avrod_http_request_duration_seconds_count"
        assert value(after, count, **labels) - value(before, count, **labels) == n * times
        assert value(after, count, **labels) == value(after, name, **labels)
    assert value(after, "avrod_store_writes_total") - value(before, "avrod_store_writes_total") == n
    groups = value(after, "avrod_store_groups_total") - value(before, "avrod_store_groups_total")
    assert 0 < groups <= n
    assert value(after, "avrod_store_group_writes_sum") - value(before, "avrod_store_group_writes_sum") == n
    assert value(after, "avrod_store_group_writes_count") == value(after, "avrod_store_flush_seconds_count")
    assert value(after, "avrod_validation_failures_total", type="m") - value(
        before, "avrod_validation_failures_total", type="m") == n
    check_histograms(after)


def check_random_paths(s):
    """What clients make up never becomes a label."""
    s.get("/metrics")
    before = scrape(s)
    for i in range(50):
        s.get(f"/made-up-{i}/path-{i}/x-{i}")
        s.get(f"/m/no-such-{i}")
        s.raw(b"M%d /ping HTTP/1.1\r\nHost: localhost\r\n\r\n" % i)
    after = scrape(s)
    series = {name: set(samples) for name, samples in after.items()}
    assert series == {name: set(samples) for name, samples in before.items()}
    assert b"made-up" not in s.get("/metrics").body


def check_types(s):
    """So many types have a series of their own; the rest share one; a dropped type's goes and makes room."""
    name = "avrod_validation_failures_total"
    for i in range(TYPES_MAX + 5):
        assert s.post(f"/putschema/t{i}", body=SCHEMA).status == 200
        for _ in range(2):
            assert s.put(f"/t{i}/1", body=b"{}").status == 422
    families = scrape(s)
    labels = {dict(key)["type"] for key in families[name]}
    assert len(labels) == TYPES_MAX + 1 and "_other" in labels and "t0" in labels and f"t{TYPES_MAX + 4}" not in labels
    taken = TYPES_MAX - 1  # m has failed before
    assert value(families, name, type="_other") == 2 * (TYPES_MAX + 5 - taken)
    assert value(families, name, type="t0") == 2
    assert value(families, "avrod_types") == TYPES_MAX + 6
    assert s.delete("/delschema/t0").status == 200
    assert "t0" not in {dict(key)["type"] for key in scrape(s)[name]}
    last = f"t{TYPES_MAX + 4}"
    assert s.put(f"/{last}/1", body=b"[").status == 400
    assert value(scrape(s), name, type=last) == 1
    assert s.post("/putschema/t0", body=SCHEMA).status == 200
    assert s.put("/t0/1", body=b"{}").status == 422
    families = scrape(s)
    assert value(families, name, type="t0") == 0, "a type of the same name is another type"
    assert len(families[name]) == TYPES_MAX + 1


def check_process(s):
    families = scrape(s)
    pid = s.process.pid
    assert abs(value(families, "process_open_fds") - s.descriptors()) <= 2
    assert value(families, "process_max_fds") > 10
    assert 1 << 20 < value(families, "process_resident_memory_bytes") < value(families, "process_virtual_memory_bytes")
    ticks = int(open(f"/proc/{pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()[19])
    booted = next(int(line.split()[1]) for line in open("/proc/stat", encoding="ascii") if line.startswith("btime"))
    started = booted + ticks / os.sysconf("SC_CLK_TCK")
    assert abs(value(families, "process_start_time_seconds") - started) < 5
    assert value(families, "avrod_process_page_faults_total", kind="minor") > 0
    assert value(families, "process_cpu_seconds_total") > 0
    used, most, length = (value(families, f"avrod_store_{what}_bytes") for what in ("used", "max", "file"))
    assert 0 < used <= length and used < most


def check_refused_connections():
    with Server("--connections-max", "2", "--threads", "1", "--engine", "memory") as s:
        with s.connect() as one, s.connect() as two:
            for c in one, two:
                c.sendall(b"GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert read_reply(c)[0].status == 200
            assert s.get("/ping").status == 503
            two.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
            families = parse(read_reply(two)[0].body)
        assert value(families, "avrod_http_connections") == 2
        assert value(families, "avrod_http_connections_refused_total") == 1
        assert value(families, "avrod_http_connections_accepted_total") == 2


def check_full_store():
    with Server("--map-max", "8MiB", "--durability", "async") as s:
        assert s.post("/putschema/b", body=b'"bytes"').status == 200
        statuses = [s.put(f"/b/{i}", body=b"x" * 60000).status for i in range(200)]
        full = statuses.count(507)
        assert full > 0
        families = scrape(s)
        assert value(families, "avrod_store_no_space_writes_total") == full
        assert value(families, "avrod_store_failed_writes_total") == value(families, "avrod_store_broken") == 0


def check_promtool(s):
    promtool = os.environ.get("PROMTOOL") or shutil.which("promtool")
    if not promtool:
        print("check_promtool: left out, there is no promtool")
        return
    done = subprocess.run([promtool, "check", "metrics"], input=s.get("/metrics").body, capture_output=True, timeout=60,
                          check=False)
    assert done.returncode == 0 and not done.stdout and not done.stderr, done


def main():
    with Server("--threads", "2") as s:
        assert s.post("/putschema/m", body=SCHEMA).status == 200
        for check in (check_requests, check_head, check_pipelined, check_random_paths, check_sums_under_concurrency,
                      check_types, check_process, check_helpers, check_promtool):
            check(s)
            print(check.__name__)
        check_histograms(scrape(s))
    for check in check_bytes, check_long_answers, check_streams, check_memory_in_hand, check_refused_connections, check_full_store:
        check()
        print(check.__name__)
    print("ok")


if __name__ == "__main__":
    main()

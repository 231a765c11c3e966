"""bench/test_bare_lmdb.py LOAD BARE_LMDB - that the bare loops find the records that the load generator has stored through
the server ($AVROD), and leave a store that the server still reads."""

import json
import subprocess
import sys
import tempfile

from avrod import Server

LOAD, BARE = sys.argv[1:3]
RECORDS = 500
SCHEMA = b'{"type":"record","name":"R","fields":[{"name":"n","type":"string"}]}'


def fill(server):
    assert server.request("POST", "/putschema/stored", SCHEMA).status == 200
    url = f"http://127.0.0.1:{server.port}/stored/put/{{key}}"
    subprocess.run([LOAD, "-c", "20", "-n", str(RECORDS), "-r", str(RECORDS), "-s", "-B", '{"n":"x"}', url], check=True,
                   stdout=subprocess.DEVNULL)


def bare(what, data, records, *more):
    command = [BARE, what, "--data", data, "--records", str(records), "--seconds", "0.05", *more]
    return subprocess.run(command, capture_output=True, check=False, timeout=60)


def test_bare_loops_run_on_a_store_of_the_servers():
    with tempfile.TemporaryDirectory(prefix="avrod-bench-test-") as data:
        with Server("--durability", "none", data=data) as server:
            fill(server)
        done = bare("get", data, RECORDS)
        assert done.returncode == 0 and json.loads(done.stdout)["operations"] > 0, done
        done = bare("put", data, RECORDS, "--group", "7")
        figures = json.loads(done.stdout)
        assert figures["operations"] % 7 == 0 and figures["operations"] > 0 and figures["group"] == 7, figures
        missing = bare("get", data, 1000 * RECORDS)  # numbers whose keys are not there
        assert missing.returncode == 2 and b"MDB_NOTFOUND" in missing.stderr, missing
        with Server(data=data) as server:
            types = json.loads(server.get("/schemas").body)
            assert types[0]["records"] == RECORDS, types
            url = f"http://127.0.0.1:{server.port}/stored/get/{{key}}"
            subprocess.run([LOAD, "-c", "5", "-n", str(RECORDS), "-r", str(RECORDS), "-s", "-l", "9", url], check=True,
                           stdout=subprocess.DEVNULL)  # all are there, and whole


test_bare_loops_run_on_a_store_of_the_servers()
print("ok")

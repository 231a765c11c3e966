"""bench/test_lib.py - that what other programs print is read rightly, and that a goal holds only if it does."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import ab
import part_calls
import part_instructions
import part_wrk
from report import Goal, Part
from rows import key_of, spread
from tools import groups_between, groups_of

METRICS = """# TYPE avrod_store_flush_seconds histogram
avrod_store_group_flush_seconds_sum 1.25
avrod_store_group_flush_seconds_count 40
# TYPE avrod_store_group_writes histogram
avrod_store_group_writes_bucket{le="1"} 2
avrod_store_group_writes_bucket{le="+Inf"} 40
avrod_store_group_writes_sum 2.1e3
avrod_store_group_writes_count 40
"""


def test_group_sizes_are_found_among_other_metrics():
    assert groups_of(METRICS) == {"sum": 2100.0, "count": 40.0}
    labelled = 'x_group_size_sum{worker="0"} 3\nx_group_size_sum{worker="1"} 4\nx_group_size_count{worker="0"} 1\n'
    assert groups_of(labelled + 'x_group_size_count{worker="1"} 1\n') == {"sum": 7.0, "count": 2.0}
    assert groups_of("avrod_requests_total 5\n") is None
    assert groups_of("avrod_group_seconds_sum 5\navrod_group_seconds_count 5\n") is None


def test_a_group_is_that_of_the_round():
    assert groups_between({"sum": 100, "count": 10}, {"sum": 600, "count": 20}) == 50
    assert groups_between(None, {"sum": 600, "count": 20}) is None
    assert groups_between({"sum": 600, "count": 20}, {"sum": 600, "count": 20}) is None  # nothing was written


def test_keys_are_those_of_the_load_generator():
    assert key_of(1) == "5692161d100b05e5" and key_of(1000000) != key_of(999999)


WRK = """Running 1s test @ http://127.0.0.1:1/x
  1 threads and 1000 connections
  Latency Distribution
     50%   39.30ms
     75%   40.00ms
     90%  612.00us
     99%    1.01s
  16226 requests in 1.00s, 3.54MB read
ERRORSRequests/sec:  16226.50
Transfer/sec:      3.54MB
"""


def test_the_report_of_wrk_is_read_with_its_errors():
    assert part_wrk.parsed(WRK.replace("ERRORS", "")) == {"per_second": 16226.5, "requests": 16226, "p50_us": 39300.0, "p99_us": 1010000.0,
                                         "errors": 0}
    faults = "  Socket errors: connect 1, read 2, write 0, timeout 4\n  Non-2xx or 3xx responses: 8\n"
    assert part_wrk.parsed(WRK.replace("ERRORS", faults))["errors"] == 15


STRACE = """strace: Process 12 attached with 3 threads
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.01    0.266040          10     25000           sendto
 39.99    0.109321           4     25100       100 recvfrom
------ ----------- ----------- --------- --------- ----------------
100.00    0.375361           7     50100       100 total
"""


def test_the_table_of_strace_is_read_with_and_without_errors():
    assert part_calls.calls_of(STRACE) == {"sendto": 25000, "recvfrom": 25100}


def test_instructions_are_put_down_to_files_and_libraries():
    assert part_instructions.place_of("/x/server/http/http1.c:http1_parse", "/x/avrod") == "http1.c"
    assert part_instructions.place_of("./string/../memchr-avx2.S:__memchr_avx2", "/usr/lib/x/libc.so.6") == "libc"
    assert part_instructions.place_of("???:0x1c7c0", "/usr/lib/x/libevent_core-2.1.so.7.0.1") == "libevent_core"
    assert part_instructions.place_of("???:0x35e0", "/usr/lib/x/liblmdb.so.0.0.0") == "liblmdb"


def test_figures_of_ab_are_read():
    text = "Complete requests:      3000\nFailed requests:        0\nRequests per second:    44601.25 [#/sec] (mean)\n"
    assert ab.figure(text, "Complete requests") == 3000 and ab.figure(text, "Requests per second") == 44601.25
    assert ab.figure(text, "Non-2xx responses") == 0  # a line that is only there if there are some


def test_a_goal_holds_by_its_median_and_only_if_rounds_count():
    value = spread([0.5, 0.6, 9.0])
    assert Goal("p", "m", value, most=0.6).holds() is True and Goal("p", "m", value, most=0.59).holds() is False
    assert Goal("p", "m", value, least=0.6).holds() is True and Goal("p", "m", value, least=0.61).holds() is False
    assert Goal("p", "m", value, most=0.6, proven=False).holds() is None


def test_a_busy_machine_proves_only_what_has_nothing_to_do_with_time():
    part, value = Part(), spread([1.0])
    part.goals = [Goal("p", "m", value, most=2.0), Goal("p", "m", value, most=2.0, timed=False)]
    part.disturbed(0.01)
    assert [goal.holds() for goal in part.goals] == [True, True]
    part.disturbed(0.5)
    assert [goal.holds() for goal in part.goals] == [None, True]


for name, test in sorted(globals().items()):
    if name.startswith("test_"):
        test()
        print("ok", name)

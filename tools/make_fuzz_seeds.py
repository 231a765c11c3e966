#!/usr/bin/env python3
"""tools/make_fuzz_seeds.py OUT - seeds for the fuzz targets: OUT/<target>/<case>, from tests/conformance/data and from
the lists below. What is worth keeping of what grows from them stands in tests/fuzz/corpus."""

import itertools
import json
import os
import sys

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "conformance", "data")
BYTES_MAX = 4096

HTTP = [
    "GET /ping HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /p/get/1?benchmark_only=10240 HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: 127.0.0.1:8080\r\n"
    "User-Agent: ApacheBench/2.3\r\nAccept: */*\r\n\r\n" * 2,
    "POST /p/put/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Type: application/json\r\n\r\nnull"
    "GET /p/1 HTTP/1.1\r\nHost: a\r\n\r\n",
    "PUT /p/1 HTTP/1.1\r\nHost: [::1]:80\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
    "4\r\nnull\r\n0\r\n\r\nHEAD / HTTP/1.1\r\nHost: a\r\n\r\n",
    "PUT /p/1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    "5;a=b\r\nab\r\nc\r\n0000A \t;x\r\n0123456789\r\n0\r\nTrailer: x\r\nOther:\t y\r\n\r\n",
    "PATCH /p/1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
    "PUT /p/1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;\r\nab\r\n7fffffffffffffff\r\nc",
    "PUT /p/1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n8000000000000000\r\nc",
    "DELETE http://h:80/p/1 HTTP/1.1\r\nHost: b\r\nIf-Match: \"1-1\"\r\nIf-Match: \"2-1\", W/\"3\"\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: a\r\nOrigin: http://x\r\nSec-Fetch-Site: cross-site\r\n\r\n",
    "PUT /p/1?x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nAccept: b\r\n\r\n{}"
    "POST /p/2 HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\nAccept: b\r\n\r\n{\"x\": 1  }",
    "GET /p/1 HTTP/1.1\r\nHost: a\r\n\r\nHEAD /p/2 HTTP/1.1\r\nHost: a\r\n\r\n",
    "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close, x\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
    "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc",
    "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n folded\r\n\r\n",
    "GET / HTTP/1.1\nHost: a\n\n",
    "BREW / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nxGET /ping HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\n" + "".join(f"X-{i}: {i}\r\n" for i in range(101)) + "\r\n",
]
TARGETS = [
    "/p/get/1?benchmark_only=10240", "/", "//", "/p//", "/p/get/a%2Fb%00%ff/", "/a/b/c/d/e/f", "/%70%7", "/%", "/p/+%2b",
    "/p/1?version=2&fullname=a.b+c%20d&missing=zero", "/p?ttl=1&ttl=2", "/p?unknown&=x&&compatibility=", "/p?nosuch=1",
    "/./../%2e",
]
# 0: a field Authorization; 1: a file of --passwords; 2: one of --tokens.
HASHES = [
    "$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a",
    "$5$rounds=2000$saltsalt$0IyaXrmV7.sGNS6tirgqHLqX/G.FBvgkYA.lpPdS5sA",
    "$6$saltsalt$TVLlQcbpFVof5W3Yz4DTP6gRstiNuHwwTt6GLc1E5n0U0aDehy0S5knV8wiOQSpT0Y77vwPZN.Pq.H91p5hVO1",
    "$y$j9T$saltsalt$VuCHcCYYVuebTL.IxzSml3z./71e36sys.wEb95cM54",
]
DIGESTS = ["ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"]
CREDENTIALS = [
    *((0, text) for text in ("", "Basic", "Basic YTpi", "basic  QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Basic dGVzdDoxMjPCow==", "Basic YTo=", "Basic OmI=",
                             "Basic YWI=", "Basic YTpiAA==", "Bearer mF_9.B5f-4.1JqM~+/==", "bearer =", "Bearer a b", "Digest a")),
    *((1, text) for text in ("", "# c\n\n", *(f"u:{h}" for h in HASHES), "\n".join(f"u{i}:{h}\r" for i, h in enumerate(HASHES)),
                             f"a:{HASHES[0]}\na:{HASHES[1]}\n", "a:plain", "nothing", f":{HASHES[0]}", "a:$y$jBT$s$" + "x" * 43)),
    *((2, text) for text in (f"a:{DIGESTS[0]}", f"a:{DIGESTS[0]}\nb:{DIGESTS[1]}\na:{DIGESTS[0].upper()}\n", "a:12", "#\n")),
]
RIGHTS = [
    "# who may do what\n[anonymous]\nreader = public-*, docs\nhealth = yes\n[authenticated]\nreader = *\n"
    "requests_per_second = 100\n[group ci]\nmembers = jenkins,\n  Jane Doe\nwriter = *-cache, a*b*c\nbytes_per_second = 4MiB\n"
    "[user root]\nadmin = *\n[address]\nrequests_per_second = 50\nrequests_burst = 100\nconnections = 32\n",
    "[user a]\nreader = t, t\n", "[user a]\n[user a]\n", "[user a]\nschema:t\nwriter = **\nadmin = a\n", "[user ]\n", "[nobody]\n",
    "[group g]\nmembers = a, a\n", "[group g]\nmembers =\n a,\n b\n[group h]\nmembers = b\nreader = x*\nwriter = *x*y*\n",
    "[address]\nreader = *\n", "reader = *\n", "[user a]\n reader = *\n", "[user a]\nhealth = yes\n  no\n", "[user a] x\n", "[user a\n",
    "\ufeff[user a]\n", "[user a]\nreader\n", "[user a]\n= b\n", "[user a]\nreader = a[b]\n", "[anonymous]\r\nreader = a\r\n",
]
# A byte of options, a row of tests/fuzz/schemas.c, the text.
RECORDS = [
    'T{"name":"James Bond","age":60}',
    'T{"age":60,"emails":["a","b"],"name":"\\u00e9\\ud83d\\ude00","gender":"Male"}',
    'U{"long_name":1,"s":2,"q":3,"p":4,"n":5,"l":6,"j":null,"h":"\\u00ff","d":true,"c":"c"}',
    'V{"v":1,"next":{"v":2,"next":{"L":{"v":3}}}}',
    'W{"k":[{"k":[],"m":{"x":null,"y":{"T":{}}}}],"m":{"z":"s","":{"string":"t"}}}',
    'X{"a":1}', 'X{"a":1,"b":2}', 'X{"A":{"a":1}}', 'X{"map":{"a":1}}', 'X{"a":1,"c":2}', 'X[1,2]',
    'Y{"R":{"R":null}}', 'Y{"R":{"R":{"R":{"x":1}}}}', 'Y{"x":1.0,"R":{"x":2}}', 'Y{}',
    'Z{"n.A":{"x":1}}', 'Z{"x":1,"y":2}', 'Z{"B":{"A":{"x":1}}}', 'Z{"e.B":"x"}', 'Z{"int":1}', 'Z"x"',
    '[{"v":{"v":{"v":null,"w":1}}}', '[{"v":{"B":{"v":{"map":{"x":{"v":null}}}}}}', '[{"v":{"x":{"v":null}}}',
    'Q1', 'Q9223372036854775807', 'c16777217', 'c16777216', 'c1', 'c9223372036854775807', 'Q1.5', 'R"NaN"', 'R"x"', 'S"A"', 'S"NaN"', 'S"ab"', 'S"abc"', 'S"\\u0100"',
    '_[null,1e400,"x",{"U":"0123456789abcdef"},{"bytes":"\\u0000"}]', '`{"z":1}', '`{"u":{"i":1},"z":-0,"r":{"i":1e2}}',
    'a{"a":1,"b":1.5,"c":true}', 'b[{"x":0.1,"y":3.4028236e38,"t":1e18},{"y":1,"x":2,"t":3}]', ']' + '[null,[null]]',
]

# A row of tests/fuzz/schemas.c, a patch of a record that is all zeros.
PATCHES = [
    ("T", '{"name":"x","age":null,"emails":["a"],"gender":null,"no":1}'), ("V", '{"next":{"v":1,"next":{"v":null}}}'),
    ("W", '{"m":{"a":{"T":{"k":null,"m":{"b":null}}},"b":null}}'), ("X", '{"A":{"a":1,"b":null}}'), ("Y", '{"R":{"R":{"x":null}}}'),
    ("T", '[{"op":"increment","path":"/age","by":1},{"op":"add","path":"/emails/-","value":"a"},{"op":"test","path":"/age","value":1}]'),
    ("O", '[{"op":"add","path":"/a~1b","value":{"~":1}},{"op":"copy","from":"/a~1b/~0","path":"/a~1b/z"},{"op":"move","from":"/a~1b","path":"/"}]'),
    ("V", '[{"op":"add","path":"/next","value":{"v":1}},{"op":"copy","from":"","path":"/next/next"},{"op":"remove","path":"/next/next"}]'),
    ("X", '[{"op":"replace","path":"","value":{"map":{"a":1}}},{"op":"increment","path":"/map/a","by":2},{"op":"remove","path":"/map/a"}]'),
]


# What the client reads: problems and lines of scans, metrics, answers, strings.
CLIENT = [
    (0, '{"status":404,"title":"No such record","detail":"There is no record \\"x\\".","code":"no_record","errors":[{"code":"x"}]}'),
    (0, '{"id":"a\\/b","revision":7,"record":{"id":"x","n":[1,{"a":"}"}]}}'), (0, '{"id_base64":"/wA=","revision":7}'), (0, '{ "code" : "cut'),
    (1, '# TYPE a histogram\na_bucket{route="/x{y}",le="0.5"} 3\na_bucket{route="/x{y}",le="+Inf"} 4\na_sum 7e-3\nb{q="\\""} 1\n'),
    (2, "\x14HTTP/1.1 200 OK\r\nContent-Length: 12\r\nConnection: close\r\n\r\n00000042pong"),
    (2, "\x30HTTP/1.1 503 No\r\ncontent-length:0\r\n\r\nHTTP/1.1 200 OK"),
    (3, '"\\u00e9\\ud83d\\ude00\\n\\u0000\\\\"'), (3, '"\\ud800"')]


def text_of(case, name):
    """The case's `name`, `name`_hex or `name`_parts as bytes, or None."""
    if name in case:
        return case[name].encode("utf-8", "surrogatepass")
    if name + "_hex" in case:
        return bytes.fromhex(case[name + "_hex"])
    if name + "_parts" in case:
        if sum(len(part) * times for part, times in case[name + "_parts"]) <= BYTES_MAX:
            return "".join(part * times for part, times in case[name + "_parts"]).encode()
    return None


def cases(name):
    with open(os.path.join(DATA, name), encoding="utf-8") as f:
        for line in f:
            yield json.loads(line)


def from_conformance():
    for name in ("encode.jsonl", "reject.jsonl"):
        for case in cases(name):
            schema = text_of(case, "schema")
            form = b"A" if case.get("form") == "avro-json" else b"@"
            data = [(form, text_of(case, "json")), (b"A", text_of(case, "avro_json"))]
            for i, (options, text) in enumerate(data):
                if text is not None:
                    yield "json_codec", f"{case['id']}-{i}", options + b"$" + schema + b"\0" + text
                    yield "json_check", f"{case['id']}-{i}", text
            if "binary_hex" in case:
                for target in ("avro_binary", "avro_check"):
                    yield target, case["id"], b"$" + schema + b"\0" + bytes.fromhex(case["binary_hex"])
    for name in ("schemas-valid.jsonl", "schemas-invalid.jsonl"):
        for case in cases(name):
            schema = text_of(case, "schema")
            if schema is not None:
                yield "schema", case["id"], schema
                yield "json_check", case["id"], schema
    for case in cases("resolve.jsonl"):
        for side in ("writer", "reader"):
            for changes in (b"", b"\x00\x01", b"\x08\x00\x04\x01", b"\x06\x01\x0a\x01"):
                yield "resolve", f"{case['id']}-{side}-{changes.hex()}", (
                    (b"\x02" if side == "writer" else b"\x01") + b"$" + case[side].encode("utf-8", "surrogatepass") + b"\0" +
                    bytes([len(changes) // 2]) + changes + bytes.fromhex(case["writer_hex"]))
    for case in cases("compat.jsonl"):
        yield "schema", case["id"], case["new"].encode("utf-8", "surrogatepass")


# Paths as text, for whatever record.
CONFIGS = ["", "# c\ndata = /var/lib/avrod\r\n\n; c\nlisten=127.0.0.1:0,unix:/a b\n", "head-max = 64KiB\nhead-max = 1KiB\n", "[server]\ndata = d",
           "idle-deadline = 5m\n body-max = 1MiB", "insecure = yes\ndurability = none\nthreads=3\nmap-max=1TiB", "data = d ; c", "data: d", "\ufeffdata = d",
           "cors-origin = https://a.example,https://b.example\ncompat = astore\naccess-log = -#;", "data = " + "x" * 1500, "--data = d\n", "config = c\n"]
ENCODINGS = ["", "gzip", "gzip, deflate, br, zstd", "deflate;q=0.9, gzip;q=0.8, *;q=0.1", "identity;q=0, *", "*;q=0", "x-gzip ;\tQ=1.000",
             "gzip;q=1.001,gzip;q=0.", "identity, gzip;q=0.5,deflate;q=1", ",;,gzip;;q=1"]
PATHS = [".", "..*", ".*.*", ".k[0][-1]", "(..v|.next)..v", '.m(~"a|b"|"c"){. != null}', "..next{.v >= ^.v || !.next}.v", ".e{. + 1 > -2 * 3}", "[*]{.x == .y}",
         ".g{. % 2 === 1 && (. < 5)}", '..*{. *= "A"}', ".k{", '.m(~"(")', ". .a", ".{(.a|.b) == ('x')}", ".{\"\\u00e9\" ^== .c}", "^.next", "." + "(.a|" * 30]


def by_hand():
    for i, text in enumerate(HTTP):
        for pieces in (i, i + 50, 255 - i):
            yield "http", f"hand-{i:02}-{pieces}", bytes([pieces]) + text.encode()
    for i, text in enumerate(TARGETS):
        yield "target", f"hand-{i:02}", b"\xff" + text.encode()
        yield "target", f"hand-{i:02}-query", b"\x0c" + text.encode()
    for i, text in enumerate(ENCODINGS):
        for options in 0, 7, 0xfd, 0x1e:
            yield "coding", f"hand-{i:02}-{options}", bytes([options]) + text.encode() + b"\0" + bytes(range(97, 97 + i)) * 99 * i
    for i, text in enumerate(RECORDS):
        for options in "@ABHJN":
            yield "json_codec", f"hand-{i:02}{options}", options.encode() + text.encode()
    for row in range(ord("A"), ord("g") + 1):
        for i, choices in enumerate((bytes(60), bytes(range(1, 100, 3)), bytes(range(250, 0, -7)))):
            yield "json_codec", f"choices-{row}-{i}", bytes([0x80 + (row * 5 + i * 7) % 16, row]) + choices
    for row in range(ord("A"), ord("g") + 1):
        for change in range(16 * 3):
            for how in (0, 3, 10, 46):
                data = bytes((how * 13 + change * 7 + k * (row % 11 + 1)) % 256 for k in range(60))
                yield "resolve", f"hand-{row}-{change:02}-{how:02}", bytes([(change + how // 2) % 2, row, 1, change, how]) + data
    for row in range(ord("A"), ord("g") + 1):
        for i in range(60):
            verb, some = i % 5 << 2, bytes((i * 31 + k * (2 * i + 7)) % 256 for k in range(120))
            yield "path", f"choices-{row}-{i:02}", bytes([verb | i % 7 // 6 << 1, row, 30]) + some[:30] + bytes([9]) + some[30:39] + some[39:]
    for i, text in enumerate(PATHS):
        for row in "SRTbg":
            yield "path", f"hand-{i:02}-{ord(row)}", bytes([1 | i % 5 << 2]) + row.encode() + bytes([3, 1, 2, 3, 2, 5, 6]) + text.encode()
    several = (4, 0, 8, 9), (6, 0), (6, 0, 5, 1), (3, 1, 8, 17), (10, 1, 4, 2, 2, 5)
    for i, (row, changes, first) in enumerate(itertools.product("NQRSUWXZ[^`c", several, range(0, 256, 40))):
        data = bytes((first + k * 37) % 256 for k in range(90))
        yield "resolve", f"hand-several-{i:03}", bytes([i % 2, ord(row), len(changes) // 2, *changes]) + data
        yield "resolve", f"hand-several-{i:03}-back", bytes([(i + 1) % 2, ord(row), len(changes) // 2, *changes]) + data
    for row in "DGIJ_defg":
        for form in range(1, 8):
            for i, choices in enumerate((bytes(90), bytes(range(1, 180, 2)), bytes(range(250, 0, -3)), bytes(range(0, 250, 7)))):
                yield "json_codec", f"spelled-{ord(row)}-{form}-{i}", bytes([0x80 + i * 2 % 6 + i % 2 * 8, form, ord(row)]) + choices
    for row in range(ord("A"), ord("g") + 1):
        for i, options in enumerate((0, 1, 2, 0x19, 0x70)):
            data = bytes((k * 3 + i) % 29 for k in range(60))
            steps = bytes(b for k in range(40) for b in (k % 10, k % 5, (k * 7 + i) % 4, k * 11 % 256, k % 3, k * 5 % 64))
            yield "value", f"hand-{row}-{options}", bytes([options, row, len(data)]) + data + steps[i * 3:]
    yield "json_codec", "hand-field", b'PT\x03["a"]'
    for row in range(ord("A"), ord("g") + 1):
        for size in (0, 1, 8, 40):
            for target in ("avro_binary", "avro_check"):
                yield target, f"hand-{row}-{size}", bytes([row]) + bytes([2]) * size
    for row in range(ord("A"), ord("g") + 1):
        for options in (0, 1, 5, 20):
            for i, step in enumerate((3, 7, 11, 29, 37, 53)):
                choices = bytes((row + options + k * step) % 256 for k in range(160))
                yield "patch", f"hand-{row}-{options}-{i}", bytes([options, row, 40]) + choices
    for i, (row, text) in enumerate(PATCHES):
        yield "patch", f"text-{i:02}", bytes([3 if text.startswith("[") else 2, ord(row), 0]) + text.encode()
    for i, text in enumerate(RIGHTS):
        yield "rights", f"hand-{i:02}", text.encode()
    for i, (which, text) in enumerate(CREDENTIALS):
        yield "credentials", f"hand-{i:02}", bytes([which]) + text.encode()
    for i, text in enumerate(CONFIGS):
        yield "config", f"hand-{i:02}", text.encode()
    for i, text in enumerate(CLIENT):
        yield "client", f"hand-{i:02}", bytes([text[0]]) + text[1].encode()
    union = b'[{"type":"record","name":"n.A","fields":[]},{"type":"record","name":"B","fields":[{"name":"a","type":"n.A"}]}]'
    for name in ("n.A", "B", "A", "C"):
        yield "schema", f"hand-entry-{name}", union + b"\0" + name.encode()
    head = bytes([1, 0, 32, 0, 77, 0, 0, 0]) + bytes(range(20)) + bytes(4)
    yield "storage_head", "hand-plain", head + b"body"
    yield "storage_head", "hand-expiry-type", (
        bytes([1, 3, 45, 0]) + head[4:] + bytes([5] + [0] * 7) + b"\x04text" + b"body")
    yield "storage_head", "hand-chunked", bytes([1, 4, 52, 0]) + head[4:] + bytes(20)
    yield "storage_head", "hand-later", bytes([1, 0, 40, 0]) + head[4:] + bytes(8) + b"body"


def main():
    out = sys.argv[1]
    count = 0
    for target, name, content in [*from_conformance(), *by_hand()]:
        if len(content) > BYTES_MAX:
            continue
        os.makedirs(os.path.join(out, target), exist_ok=True)
        with open(os.path.join(out, target, name), "wb") as f:
            f.write(content)
        count += 1
    print(f"{count} seeds")


if __name__ == "__main__":
    main()

#!/usr/bin/env bash
# examples/quickstart.sh - see avrod at work in a minute: installs what the build needs, builds a release, and walks
# through a first session against a server on a free port and a temporary directory, both gone at the end.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
avrod=$root/build/release/avrod
work='' server=''

# ---- output ----

heading() { printf '\n== %s\n' "$*"; }

# show COMMAND...: print the command as one would type it, run it, print its answer.
show() {
    local word line='$'
    for word in "$@"; do
        case $word in
        *[!A-Za-z0-9_./:@=-]* | '') line+=" '$word'" ;;
        *) line+=" $word" ;;
        esac
    done
    printf '%s\n' "$line"
    "$@"
    printf '\n'
}

# ---- build ----

build() {
    heading "Build: $avrod"
    mkdir -p "$root/build"
    if ! (cd "$root" && cmake --preset release -DCMAKE_C_COMPILER=gcc -DAVROD_TESTS=OFF -DAVROD_BENCH=OFF &&
        cmake --build build/release --target avrod avroctl -j"$(nproc)") >"$root/build/quickstart.log" 2>&1; then
        cat "$root/build/quickstart.log" >&2
        exit 1
    fi
    "$avrod" --version
}

# ---- the server ----

# Port 0: the system picks a free one, and the server's log says which.
server_start() {
    : >"$work/log"
    "$avrod" --data "$work/data" --listen "${base:-127.0.0.1:0}" 2>"$work/log" &
    server=$!
    until base=$(sed -n 's/.*ready: http:\/\/\([^ ]*\).*/\1/p' "$work/log") && [ -n "$base" ]; do
        if ! kill -0 "$server" 2>/dev/null; then
            cat "$work/log" >&2
            exit 1
        fi
        sleep 0.02
    done
    url=http://$base
}

server_stop() {
    [ -n "$server" ] || return 0
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    server=''
}

clean_up() {
    server_stop
    [ -z "$work" ] || rm -rf "$work"
}

# ---- the walk ----

# Changing less than a record, and more than one.
parts() {
    heading "A time to live, in seconds"
    show curl -sS --data '{"name":"M","age":56}' "$url/personinfo/put/m?ttl=86400"
    heading "Parts of a record, by paths: what follows the line break goes in"
    show curl -sS --data-binary $'.emails\n"m@mi6.example"' "$url/personinfo/insert/m"
    show curl -sS --data '.emails[0]' "$url/personinfo/select/m"
    heading "Parts of a record, by patches; with a key, what is sent twice is done once"
    show curl -sS -X PATCH --data '{"gender":"Female"}' "$url/personinfo/m"
    for _ in 1 2; do
        show curl -sS -X PATCH -H 'Content-Type: application/json-patch+json' -H 'Idempotency-Key: birthday' \
            --data '[{"op":"increment","path":"/age","by":1}]' "$url/personinfo/m"
    done
    show curl -sS "$url/personinfo/m"
    heading "A transaction: all or nothing"
    show curl -sS --data '{"operations":[{"op":"check","type":"personinfo","id":"m","pointer":"/age","is":"=","value":57},
    {"op":"patch","type":"personinfo","id":"007","merge":{"gender":"Male"}},{"op":"delete","type":"personinfo","id":"m"}]}' "$url/_txn"
    heading "The command line"
    show "$root/build/release/avroctl" --url "$url" scan personinfo
}


session() {
    local refused
    heading "A type is a name with an Avro schema"
    show curl -sS --data @PersonInfo.avsc "$url/putschema/personinfo"
    heading "Records come as JSON, are checked, and go"
    show curl -sS --data '{"name":"James Bond","age":60}' "$url/personinfo/put/007"
    show curl -sS "$url/personinfo/get/007"
    heading "One field"
    show curl -sS --data 61 "$url/personinfo/put/007/age"
    show curl -sS "$url/personinfo/get/007/age"
    heading "All records of a type, as lines"
    show curl -sS --data '{"name":"Q","age":45}' "$url/personinfo/put/q"
    show curl -sS "$url/personinfo"
    parts
    heading "What does not fit is refused, with every problem named"
    refused='{"name":7,"age":"sixty","gender":"Spy","licence":"to kill"}'
    printf '%s\n' "\$ curl -sS --data '$refused' $url/personinfo/put/008 | sed 's/{\"pointer/\n&/g'"
    curl -sS --data "$refused" "$url/personinfo/put/008" | sed 's/{"pointer/\n&/g'
    echo
    heading "A restart"
    server_stop
    echo "the server was stopped"
    server_start
    echo "and started again"
    show curl -sS "$url/personinfo/get/007"
}

# bench URL [options of ab]: the lines of its report that matter.
bench() {
    local target=$1
    shift
    printf '$ %s\n' "ab -q -k -c 100 -n 20000${*:+ $*} '$target'"
    ab -q -k -c 100 -n 20000 "$@" "$target" >"$work/ab" 2>&1 || {
        cat "$work/ab" >&2
        exit 1
    }
    grep -E '^(Document Length|Failed requests|Non-2xx responses|Requests per second):' "$work/ab"
}

benchmarks() {
    heading "How fast (ab takes as much of the machine as the server; bench/run.sh measures properly)"
    bench "$url/ping"
    bench "$url/personinfo/get/1?benchmark_only=10240"
    bench "$url/personinfo/put/1?benchmark_only=10240" -p PersonInfo.record -T application/octet-stream
}

# shellcheck source=tests/lib/packages.sh
. "$root/tests/lib/packages.sh"
packages_ensure "${PACKAGES_BUILD[@]}" curl apache2-utils
build
trap clean_up EXIT
trap 'exit 130' INT TERM
work=$(mktemp -d "${TMPDIR:-/tmp}/avrod-quickstart.XXXXXX")
cd "$root/examples"
heading "Server"
server_start
echo "$url, data in $work/data"
session
benchmarks
heading "To run it for good"
cat <<END
    $avrod --data /var/lib/avrod --listen 127.0.0.1:8080

All options: $avrod --help. More: $root/README.md
END

# shellcheck shell=bash
# bench/setup.sh - sourced: builds what is measured, fetches the programs that it is compared with. A peer is unpacked
# under build/peers, with the libraries that it lacks, and never installed: a package would start its service.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BENCH_BUILD:-$root/build/bench}
peers=$root/build/peers
# shellcheck source=tests/lib/packages.sh
. "$root/tests/lib/packages.sh"

say() { printf '%s\n' "$*" >&2; }

# build_all TARGET...: -O2 with the assertions that a release keeps.
build_all() {
    say "building in $build"
    mkdir -p "$root/build"
    if ! { cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
        -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O2 -g -DNDEBUG" -DAVROD_BENCH=ON -DAVROD_TESTS=OFF &&
        cmake --build "$build" --target "$@" -j2; } >"$build.log" 2>&1; then
        cat "$build.log" >&2
        exit 1
    fi
}

# What is in the build only if its libraries are there.
optional_targets() {
    if pkg-config --exists avro-c; then echo bench_codec; fi
}

# peer_fetch PROGRAM PACKAGE: from the path, or unpacked, or else its row is left out.
peer_fetch() {
    local program=$1 package=$2 needed
    command -v "$program" >/dev/null && return
    if ! command -v apt-get >/dev/null; then
        say "$program is not here: what needs it is left out"
        return
    fi
    say "fetching $package"
    mkdir -p "$peers"
    needed=$(apt-get -s install --no-install-recommends "$package" 2>/dev/null | sed -n 's/^Inst \([^ ]*\).*/\1/p')
    # shellcheck disable=SC2086
    (cd "$peers" && apt-get -q download ${needed:-$package} && for deb in *.deb; do dpkg-deb -x "$deb" . && rm "$deb"; done) >&2 ||
        say "$package cannot be had: what needs it is left out"
}

# What is unpacked is found behind what the machine has.
export PATH=$PATH:/usr/sbin:$peers/usr/bin:$peers/usr/sbin
peer_libraries=$peers/usr/lib/$(gcc -print-multiarch)
export BENCH_PEER_LIBRARIES=$peer_libraries PYTHONDONTWRITEBYTECODE=1

#!/usr/bin/env bash
# bench/run.sh [options] [row...] - build what is measured, fetch the peers, measure: server CPU per request beside
# the raw-epoll limit. README.md says how to read the table; --help lists rows and options.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=${BENCH_BUILD:-$root/build/release}
peers=$root/build/peers

say() { printf '%s\n' "$*" >&2; }

build_all() {
    say "building in $build"
    if ! { cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
        -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O2 -g -DNDEBUG" -DAVROD_BENCH=ON -DAVROD_TESTS=OFF &&
        cmake --build "$build" --target limit load avrod -j2; } >"$build.log" 2>&1; then
        cat "$build.log" >&2
        exit 1
    fi
}

# A peer is unpacked beside the build, not installed: a package would start its service.
fetch_nginx() {
    command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || [ -x "$peers/usr/sbin/nginx" ] && return
    say "fetching nginx"
    mkdir -p "$peers"
    (cd "$peers" && apt-get download nginx && dpkg-deb -x nginx_*.deb .) >&2 ||
        say "nginx cannot be had: its row is left out"
}

case " $* " in *" --help "* | *" -h "*) exec python3 "$root/bench/run.py" --help ;; esac
# shellcheck source=tests/lib/packages.sh
. "$root/tests/lib/packages.sh"
packages_ensure "${PACKAGES_BUILD[@]}" python3
mkdir -p "$root/build"
build_all
fetch_nginx
PATH=$PATH:/usr/sbin:$peers/usr/sbin exec python3 "$root/bench/run.py" --build "$build" "$@"

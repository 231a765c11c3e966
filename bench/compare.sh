#!/usr/bin/env bash
# bench/compare.sh [options] [peer...] - avrod beside nginx, haproxy, webdis with redis, and etcd: ping, get and put with three
# ab at once, as on the benchmark page of astore. docs/benchmarks.md says how to read it; --help lists peers and options.
set -euo pipefail
# shellcheck source=bench/setup.sh
. "$(dirname "$0")/setup.sh"

case " $* " in *" --help "* | *" -h "*) exec python3 "$root/bench/compare.py" --help ;; esac
packages_ensure "${PACKAGES_BUILD[@]}" "${PACKAGES_BENCH[@]}" python3
build_all avrod
peer_fetch nginx nginx
peer_fetch haproxy haproxy
peer_fetch redis-server redis-server
peer_fetch webdis webdis
peer_fetch etcd etcd-server
exec python3 "$root/bench/compare.py" --build "$build" "$@"

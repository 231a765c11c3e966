#!/usr/bin/env bash
# bench/run.sh [options] [row...] - build what is measured, fetch what it is compared with, measure. README.md says how to
# read the tables; --help lists rows and options.
set -euo pipefail
# shellcheck source=bench/setup.sh
. "$(dirname "$0")/setup.sh"

case " $* " in *" --help "* | *" -h "*) exec python3 "$root/bench/run.py" --help ;; esac
packages_ensure "${PACKAGES_BUILD[@]}" "${PACKAGES_BENCH[@]}" python3
# shellcheck disable=SC2046
build_all limit load bare_lmdb avrod $(optional_targets)
peer_fetch nginx nginx
peer_fetch wrk wrk
exec python3 "$root/bench/run.py" --build "$build" "$@"

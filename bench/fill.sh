#!/usr/bin/env bash
# bench/fill.sh [RECORDS...] - fill stores for the rows of run.sh and keep them under build/bench-stores: 1,000,000 records
# for the stored rows, 10,000,000 for `start`, unless told otherwise. Ten million take some minutes and about 2 GiB.
set -euo pipefail
# shellcheck source=bench/setup.sh
. "$(dirname "$0")/setup.sh"

packages_ensure "${PACKAGES_BUILD[@]}" python3
build_all load avrod
[ $# -gt 0 ] || set -- 1000000 10000000
exec python3 "$root/bench/fill.py" "$build" "$@"

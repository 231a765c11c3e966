#!/usr/bin/env bash
# tests/fuzz/run.sh SECONDS [TARGET...] - fuzzes each target (all, if none is named) for so long, one after the other.
# Builds the preset `fuzz` if it must. What grows is kept under build/fuzz/grown; an input that breaks a target lands
# in build/fuzz/found, and the script then ends with 1.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:?usage: tests/fuzz/run.sh SECONDS [TARGET...]}
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(http target coding config storage_head json_check schema json_codec avro_binary avro_check resolve value path patch
    client rights credentials)

# Longest input worth trying, and the dictionary, if one helps.
declare -A bytes_max=([http]=20000 [config]=5000 [target]=600 [coding]=6000 [storage_head]=700 [json_check]=3000 [schema]=3000 [json_codec]=1500
    [avro_binary]=1000 [avro_check]=1000 [resolve]=1000 [patch]=700 [value]=1000 [path]=600 [client]=2000 [rights]=1500 [credentials]=1200)
declare -A dict=([http]=http [config]=config [json_check]=json [schema]=schema [json_codec]=json [patch]=json [rights]=rights [credentials]=credentials)

[ -f build/fuzz/build.ninja ] || cmake --preset fuzz >/dev/null
cmake --build build/fuzz -j2 --target "${targets[@]/#/fuzz_}" >/dev/null
seeds=build/fuzz/tests/fuzz/seeds
python3 tools/make_fuzz_seeds.py "$seeds" >/dev/null

found=0
for target in "${targets[@]}"; do
    grown=build/fuzz/grown/$target log=build/fuzz/$target.log
    mkdir -p "$grown" build/fuzz/found
    options=(-max_total_time="$seconds" -max_len="${bytes_max[$target]}" -timeout=10 -rss_limit_mb=3000
        -artifact_prefix="build/fuzz/found/$target-" -print_final_stats=1)
    [ -z "${dict[$target]:-}" ] || options+=(-dict="tests/fuzz/dict/${dict[$target]}.dict")
    dirs=("$grown" "$seeds/$target")
    for kept in tests/fuzz/corpus/"$target" tests/fuzz/crashes/"$target"; do
        [ ! -d "$kept" ] || dirs+=("$kept")
    done
    if nice -n 10 build/fuzz/tests/fuzz/fuzz_"$target" "${options[@]}" "${dirs[@]}" >"$log" 2>&1; then
        echo "$target: $(grep -a 'number_of_executed_units' "$log" | tail -1 | tr -s ' ' | cut -d' ' -f2) inputs in ${seconds} s," \
            "$(find "$grown" -type f | wc -l) kept, coverage $(grep -aoE 'cov: [0-9]+' "$log" | tail -1 | cut -d' ' -f2)"
    else
        found=1
        echo "$target: found something; $log ends with"
        tail -n 25 "$log" | cut -c1-400
    fi
done
exit $found

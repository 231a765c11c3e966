#!/usr/bin/env bash
# tests/run.sh - everything that must pass, from a clean clone: installs what is missing (apt), looks at the formatting,
# builds with gcc (release, address and thread sanitizer) and with clang (sanitizers, fuzz targets), runs every
# test through ctest, and makes the Debian package and tries it. Warnings are errors but with gcc's sanitizers.
#
#   tests/run.sh            all of it
#   tests/run.sh STEP...    some of: format release asan tsan clang package
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tests/lib/packages.sh

all_steps=(format release asan tsan clang package)
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=("${all_steps[@]}")
failed=() closing=()

# Sources in C, but for what is built. Needs no git, so that it works in an unpacked archive too.
sources() { find . \( -path './build*' -o -path './.*' \) -prune -o -name '*.[ch]' -print; }

check_format() {
    echo "== format"
    sources | xargs clang-format --dry-run -Werror >build/format.log 2>&1 && return 0
    grep 'error:' build/format.log | cut -d: -f1 | sort | uniq -c
    failed+=("format: clang-format -i FILE... puts it right")
}

# build NAME PRESET [cmake options]: the log is shown only if something is wrong.
build() {
    local name=$1 preset=$2
    shift 2
    echo "== $name: build"
    if cmake --preset "$preset" -B "build/$name" "$@" >"build/$name.log" 2>&1 &&
        cmake --build "build/$name" -j"$(nproc)" -- -k 0 >>"build/$name.log" 2>&1; then
        return 0
    fi
    grep -A 12 -E "^FAILED:|rror: |^CMake Error" "build/$name.log" | head -n 120
    failed+=("$name: build")
    return 1
}

# run_tests NAME [ctest options]: ctest's own output, and its closing lines kept for the end.
run_tests() {
    local name=$1
    shift
    echo "== $name: tests"
    "${wrapper[@]}" ctest --test-dir "build/$name" --output-on-failure -j2 "$@" 2>&1 | tee "build/$name.tests.log"
    local code=${PIPESTATUS[0]}
    closing+=("$name: $(sed -n '/tests passed/,$p' "build/$name.tests.log")")
    if grep -q 'No tests were found' "build/$name.tests.log"; then
        code=1
        closing+=("$name: no tests were found")
    fi
    [ "$code" = 0 ] || failed+=("$name: tests")
}

# ThreadSanitizer of gcc 12 does not start where the kernel randomizes addresses widely.
fixed_addresses() {
    setarch "$(uname -m)" -R true 2>/dev/null && echo "setarch $(uname -m) -R"
}

step() {
    local wrapper=()
    case $1 in
    format) check_format ;;
    release) build release release -DCMAKE_C_COMPILER=gcc -DAVROD_WERROR=ON && run_tests release ;;
    # What sanitizers insert makes gcc see uses of variables that are none: no errors from warnings here.
    asan) build asan asan -DCMAKE_C_COMPILER=gcc -DAVROD_WERROR=OFF && run_tests asan ;;
    tsan)
        read -ra wrapper <<<"$(fixed_addresses)"
        build tsan tsan -DCMAKE_C_COMPILER=gcc -DAVROD_WERROR=OFF && run_tests tsan -L threads
        ;;
    package)
        echo "== package"
        tests/package/run.sh && closing+=("package: installed, run, upgraded and removed") || failed+=("package")
        ;;
    clang) build clang fuzz -DAVROD_WERROR=ON -DAVROD_BENCH=ON && run_tests clang ;;
    esac
}

for name in "${steps[@]}"; do
    case " ${all_steps[*]} " in
    *" $name "*) ;;
    *)
        echo "no such step: $name (${all_steps[*]})" >&2
        exit 2
        ;;
    esac
done
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    PACKAGES_TESTS+=("${PACKAGES_NODE[@]}")
fi
packages_ensure "${PACKAGES_BUILD[@]}" "${PACKAGES_TESTS[@]}" "${PACKAGES_GRADLE[@]}" || exit 1
mkdir -p build
# Set, even to what is not there, so that the test of /metrics fails where it is missing.
PROMTOOL=$(packages_program promtool prometheus build/packages) || PROMTOOL=missing
export PROMTOOL
# Likewise what tests/npm needs.
NPM_MODULES=$(npm_install tests/npm build/npm) || NPM_MODULES=missing
export NPM_MODULES
start=$SECONDS
for name in "${steps[@]}"; do
    step "$name"
done

echo
[ ${#closing[@]} = 0 ] || printf '== %s\n' "${closing[@]}"
echo "== $((SECONDS - start)) seconds for: ${steps[*]}"
if [ ${#failed[@]} -gt 0 ]; then
    printf 'FAILED %s\n' "${failed[@]}"
    exit 1
fi
echo "everything passed"

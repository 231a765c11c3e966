#!/usr/bin/env bash
# tests/run.sh - everything that must pass, from a clean clone: installs what is missing (apt), builds with gcc
# (release, address and thread sanitizer) and with clang, and runs every test through ctest. Warnings are errors but
# with sanitizers.
#
#   tests/run.sh            all of it
#   tests/run.sh STEP...    some of: release clang asan tsan
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tests/lib/packages.sh

steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(release clang asan tsan)
failed=() closing=()

# build NAME PRESET [cmake options]: the log is shown only if something is wrong.
build() {
    local name=$1 preset=$2
    shift 2
    echo "== $name: build"
    mkdir -p build
    if cmake --preset "$preset" -B "build/$name" -DAVROD_TESTS=ON "$@" >"build/$name.log" 2>&1 &&
        cmake --build "build/$name" -j2 -- -k 0 >>"build/$name.log" 2>&1; then
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
    release) build release release -DCMAKE_C_COMPILER=gcc -DAVROD_WERROR=ON -DAVROD_BENCH=ON && run_tests release ;;
    clang) build clang dev -DCMAKE_C_COMPILER=clang -DAVROD_WERROR=ON -DAVROD_BENCH=ON ;;
    # What sanitizers insert makes gcc see uses of variables that are none: no errors from warnings here.
    asan) build asan asan -DCMAKE_C_COMPILER=gcc -DAVROD_WERROR=OFF && run_tests asan ;;
    tsan)
        read -ra wrapper <<<"$(fixed_addresses)"
        build tsan tsan -DCMAKE_C_COMPILER=gcc -DAVROD_WERROR=OFF && run_tests tsan -L threads
        ;;
    *)
        echo "no such step: $1 (release clang asan tsan)" >&2
        exit 2
        ;;
    esac
}

packages_ensure "${PACKAGES_BUILD[@]}" clang libcmocka-dev libavro-dev python3 curl apache2-utils || exit 1
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

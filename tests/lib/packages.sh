# shellcheck shell=bash
# tests/lib/packages.sh - sourced: packages_ensure NAME... installs the Debian packages that are missing, with apt as
# root or through sudo. Nothing missing: nothing is called. packages_program PROGRAM PACKAGE FOLDER prints where one
# program of a package is, unpacked into the folder if need be: for packages whose daemon installing would start.

# What building the server takes.
# shellcheck disable=SC2034
PACKAGES_BUILD=(gcc libc6-dev cmake ninja-build pkg-config libevent-dev libinih-dev libjansson-dev liblmdb-dev libpcre2-dev libssl-dev
    libcurl4-openssl-dev libcrypt-dev libseccomp-dev zlib1g-dev libzstd-dev)
# What the tests take besides.
# shellcheck disable=SC2034
PACKAGES_TESTS=(clang libclang-rt-14-dev clang-format libcmocka-dev libavro-dev python3 curl apache2-utils mandoc openssl)
# What uses avrod as its build cache in a test, with a Java of its own.
# shellcheck disable=SC2034
PACKAGES_GRADLE=(gradle)
# What makes the Debian package, and looks at it.
# shellcheck disable=SC2034
PACKAGES_PACKAGE=(dpkg-dev file lintian debootstrap)
# What runs and fetches the clients of tests/npm, where there is no node of another origin.
# shellcheck disable=SC2034
PACKAGES_NODE=(nodejs npm)
# What the benchmarks take besides: what the codec is compared with, and a compiler for it; ab; what counts calls and
# instructions.
# shellcheck disable=SC2034
PACKAGES_BENCH=(libavro-dev libsimdjson-dev g++ apache2-utils strace valgrind)

package_installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

packages_ensure() {
    local name missing=() as_root=()
    if ! command -v dpkg-query >/dev/null; then
        echo "This is no Debian: make sure that you have what these packages hold: $*" >&2
        return 0
    fi
    for name in "$@"; do
        package_installed "$name" || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    [ "$(id -u)" = 0 ] || as_root=(sudo)
    if [ ${#as_root[@]} -gt 0 ] && ! command -v sudo >/dev/null; then
        echo "Packages are missing, and there is no sudo here. As root: apt-get install ${missing[*]}" >&2
        return 1
    fi
    echo "installing ${missing[*]}" >&2
    # Lists of a fresh machine or container may be empty or old. If they cannot be had anew, those at hand may do.
    "${as_root[@]}" apt-get -q -o DPkg::Lock::Timeout=300 update >&2 ||
        echo "apt-get update has failed; trying with the lists that are there" >&2
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
        install --no-install-recommends "${missing[@]}" >&2
}

packages_as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

packages_program() {
    local program=$1 package=$2 folder=$3 found
    found=$(command -v "$program") || found=$(pwd)/$folder/usr/bin/$program
    if [ ! -x "$found" ]; then
        mkdir -p "$folder"
        echo "unpacking $package" >&2
        (
            cd "$folder" && rm -f "$package"_*.deb
            apt-get -q download "$package" || { packages_as_root apt-get -q update && apt-get -q download "$package"; }
            dpkg -x "$package"_*.deb .
        ) >&2
        rm -f "$folder/$package"_*.deb
    fi
    [ -x "$found" ] && echo "$found"
}

# npm_install SOURCE FOLDER: what SOURCE/package-lock.json names, in FOLDER/node_modules, of which the path is printed.
# Nothing is done if it is there as the lock file says. The lock file names no registry: npm asks the one it is told to.
npm_install() {
    local source=$1 folder=$2
    if ! cmp -s "$source/package-lock.json" "$folder/installed"; then
        mkdir -p "$folder"
        cp "$source"/{package.json,package-lock.json,.npmrc} "$folder/"
        (cd "$folder" && npm ci --ignore-scripts) >&2 && cp "$source/package-lock.json" "$folder/installed" || return 1
    fi
    echo "$(pwd)/$folder/node_modules"
}

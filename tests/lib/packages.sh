# tests/lib/packages.sh - sourced: packages_ensure NAME... installs the Debian packages that are missing, with apt as
# root or through sudo. Nothing missing: nothing is called.

packages_missing() {
    local name
    for name in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || echo "$name"
    done
}

packages_ensure() {
    local missing root=
    if ! command -v dpkg-query >/dev/null; then
        echo "This is no Debian: make sure that you have what these packages hold: $*" >&2
        return 0
    fi
    missing=$(packages_missing "$@")
    [ -n "$missing" ] || return 0
    [ "$(id -u)" = 0 ] || root=sudo
    if [ -n "$root" ] && ! command -v sudo >/dev/null; then
        echo "Missing, and there is neither root nor sudo to install it:" $missing >&2
        return 1
    fi
    echo "installing" $missing >&2
    # Lists of a fresh machine or container may be empty or old.
    $root apt-get -q -o DPkg::Lock::Timeout=300 update >&2 &&
        $root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
            install --no-install-recommends $missing >&2
}

PACKAGES_BUILD="gcc libc6-dev cmake ninja-build pkg-config libevent-dev libjansson-dev liblmdb-dev"

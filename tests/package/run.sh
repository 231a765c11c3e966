#!/usr/bin/env bash
# tests/package/run.sh - the Debian package: it is built, looked at, installed on a clean machine (a folder that debootstrap
# fills, with nothing of this machine's), runs there, is upgraded and removed. As root; else it is built, looked at, and run
# from where it was unpacked.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build/package root=build/package.root
# shellcheck source=tests/lib/packages.sh
. tests/lib/packages.sh
packages_ensure "${PACKAGES_BUILD[@]}" "${PACKAGES_PACKAGE[@]}"

pid=
fail() {
    echo "FAILED: $*" >&2
    [ -z "$pid" ] || kill "$pid" 2>/dev/null || true
    exit 1
}

echo "-- build"
rm -f "$build"/*.deb
cmake --preset package >"$build.log" 2>&1 && cmake --build --preset package >>"$build.log" 2>&1 &&
    (cd "$build" && cpack >>"../package.log" 2>&1) || { tail -n 40 "$build.log"; fail "no package"; }
deb=$(ls "$build"/avrod_*.deb)

echo "-- contents"
dpkg-deb --contents "$deb" | awk '{print $6}' | sed 's/^\.//' | sort >"$build.files"
while read -r file; do
    grep -qE "^$file\$" "$build.files" || fail "$file is not in the package"
done <<'FILES'
/usr/bin/avrod
/usr/bin/avroctl
/usr/lib/[^/]*/libavrod.so.0
/usr/lib/[^/]*/libavrod.a
/usr/lib/[^/]*/pkgconfig/libavrod.pc
/usr/include/avrod.h
/usr/share/man/man1/avroctl.1.gz
/usr/share/man/man3/libavrod.3.gz
/usr/share/man/man8/avrod.8.gz
/usr/share/bash-completion/completions/avroctl
/usr/share/doc/avrod/copyright
/usr/lib/systemd/system/avrod.service
/etc/avrod/avrod.conf
FILES
if grep -E '^/usr/(local|src)|/build/' "$build.files"; then fail "these do not belong there"; fi
lintian --fail-on error --suppress-tags-from-file tests/package/lintian-tags "$deb" || fail "lintian"

# ask PORT-FILE ARGS...: curl to the server, wherever it runs: the network is this machine's.
ask() { curl -sS --max-time 10 "$@"; }

# serve COMMAND...: starts it, waits until it says that it is ready; sets pid and url.
serve() {
    local log=$build.server.log i
    "$@" >"$log" 2>&1 &
    pid=$!
    for ((i = 0; i < 300; i++)); do
        url=$(sed -n 's/.*ready: \(http:[^, ]*\).*/\1/p' "$log")
        [ -z "$url" ] || return 0
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    cat "$log"
    fail "the server does not start"
}

try_server() {
    [ "$(ask "$url/ping")" = pong ] || fail "ping"
    [ "$(ask --data @examples/PersonInfo.avsc "$url/putschema/personinfo")" = OK ] || fail "putschema"
    [ "$(ask --data @examples/PersonInfo.record "$url/personinfo/put/1")" = OK ] || fail "put"
}

if [ "$(id -u)" != 0 ]; then
    echo "-- unpacked (not root: no clean machine)"
    rm -rf "$root" && dpkg-deb -x "$deb" "$root"
    serve "$root/usr/bin/avrod" --data "$root/store" --listen 127.0.0.1:0
    try_server
    kill "$pid" && wait "$pid" || fail "it does not end well"
    exit 0
fi

echo "-- a clean machine"
# From where this machine has its packages.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | head -n 1)
rm -rf "$root" && debootstrap --variant=minbase bookworm "$root" "$mirror" >"$build.root.log" 2>&1 ||
    { tail "$build.root.log"; fail "debootstrap"; }
into=(chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C)
inside() { "${into[@]}" "$@"; }
# What installing starts in a container: nothing.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" && chmod 755 "$root/usr/sbin/policy-rc.d"
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
cp "$deb" "$root/root/avrod.deb"
install_deb() { inside apt-get -q -y -o DPkg::Lock::Timeout=60 install --no-install-recommends /root/avrod.deb >>"$build.root.log" 2>&1; }
install_deb || { tail -n 20 "$build.root.log"; fail "it does not install"; }
inside dpkg --status avrod | grep -q '^Status: install ok installed' || fail "not installed"
inside avrod --check-config --config /etc/avrod/avrod.conf || fail "its own configuration"
inside avroctl --version >/dev/null || fail "avroctl"
[ "$(stat -c '%U %a' "$root/var/lib/avrod" | sed "s/^[^ ]*/$(stat -c %u "$root/var/lib/avrod")/")" = \
    "$(inside id -u avrod) 700" ] || fail "the store's folder"

# With the unit's command and the installed configuration, as the unit's user, on a port of its own.
run_inside() {
    serve "${into[@]}" setpriv --reuid avrod --regid avrod --clear-groups avrod --config /etc/avrod/avrod.conf --listen 127.0.0.1:0
}
end_inside() {
    kill "$pid" && wait "$pid" || fail "it does not end well"
    pid=
}
run_inside
try_server
inside avroctl --url "$url" get personinfo 1 | grep -q 'James Bond' || fail "avroctl get"
end_inside
inside ldd /usr/bin/avrod | grep -q 'not found' && fail "a library is missing"

echo "-- upgrade, removal"
echo '# mine' >>"$root/etc/avrod/avrod.conf"
install_deb && inside apt-get -q -y install --reinstall /root/avrod.deb >>"$build.root.log" 2>&1 || fail "it does not install again"
grep -q '^# mine' "$root/etc/avrod/avrod.conf" || fail "a configuration that was changed is gone"
run_inside
[ "$(ask "$url/personinfo/get/1")" = '{"name":"James Bond","age":60,"gender":"Unknown","emails":[]}' ] || fail "the record is gone"
end_inside
inside dpkg --purge avrod >>"$build.root.log" 2>&1 || fail "it does not go"
[ ! -e "$root/usr/bin/avrod" ] && [ ! -e "$root/etc/avrod/avrod.conf" ] || fail "something stays behind"
[ -s "$root/var/lib/avrod/data.mdb" ] || fail "the records are gone"
rm -rf "$root"
echo "ok: $(basename "$deb")"

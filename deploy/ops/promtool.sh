#!/usr/bin/env bash
# Prints the path of Prometheus' promtool: the one of the PATH, else the one of
# Debian's package prometheus. That is downloaded once and not installed, so that no
# daemon starts: the program alone lies in the user's cache folder then.
set -euo pipefail

if command -v promtool; then exit; fi

fail() { echo "There is no promtool: $1" >&2; exit 1; }

cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/tributary/promtool
program=$cache/promtool
if [ -x "$program" ]; then echo "$program"; exit; fi

for needed in apt-get dpkg-deb tar; do
  command -v "$needed" >/dev/null || fail "install Prometheus, from https://prometheus.io/download or your system's packages."
done
mkdir -p "$cache"
work=$(mktemp -d "$cache/unpack.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
download() { apt-get download -qq -o APT::Sandbox::User=root prometheus >&2; }
if ! download; then
  [ "$(id -u)" = 0 ] || fail "apt-get download prometheus failed. Run apt-get update as root, or install Prometheus."
  apt-get update -qq >&2 || true
  download || fail "apt-get download prometheus failed, also after apt-get update. Is the network there, and Debian's main in the sources?"
fi
dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin/promtool
mv usr/bin/promtool "$program" # at once: who comes at the same time finds all of it, or none
echo "$program"

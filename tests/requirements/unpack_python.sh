#!/usr/bin/env bash
# Unpacks the CPython of another Debian release into a folder, with the libraries that it needs: nothing is
# installed. Use: unpack_python.sh tests/requirements/RELEASE.txt FOLDER
set -euo pipefail

pins=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
release=$(basename "$pins" .txt)
fail() {
  echo "The CPython of Debian's $release was not unpacked: $1" >&2
  exit 1
}
for tool in apt-get dpkg-deb patchelf; do
  command -v "$tool" >/dev/null || fail "$tool is not there. On Debian: apt install apt dpkg patchelf"
done

# The mirror that this machine uses itself, and a state of apt that leaves the machine's alone.
. /etc/os-release
mirror=$(apt-get update --print-uris 2>/dev/null | sed -n "s|^'\(.*\)/dists/${VERSION_CODENAME:-}/InRelease' .*|\1|p" | sed -n 1p)
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ "${ID:-}" = debian ] && [ -n "$mirror" ] && [ -e $keys ] ||
  fail "no mirror of Debian is among apt's sources here. Name another CPython instead, as CONTRIBUTING.md says."
state=$folder/.apt
rm -rf "$folder"/usr "$state"
mkdir -p "$state"/{lists/partial,cache/archives/partial,debs}
touch "$state/status"
echo "deb [signed-by=$keys] $mirror $release main" >"$state/sources.list"
options=(-q -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::Cache="$state/cache"
  -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null
  -o Acquire::Languages=none)
log=$state/log
apt-get "${options[@]}" update >"$log" 2>&1 || fail "its signed list could not be fetched from $mirror: $(tail -n 1 "$log")"

# A release has one version of a package, which a security update replaces: the pins say which one was tried,
# the signed list which one there is.
mapfile -t packages < <(sed -n 's/^\([^# ][^ ]*\).*/\1/p' "$pins")
(cd "$state/debs" && apt-get "${options[@]}" download "${packages[@]}" >>"$log" 2>&1) ||
  fail "a package could not be fetched from $mirror: $(grep -m 1 '^E:' "$log" || tail -n 1 "$log")"
others=()
for deb in "$state"/debs/*.deb; do
  named=$(dpkg-deb -W --showformat '${Package} ${Version} ${Architecture}' "$deb")
  found="$named $(sha256sum "$deb" | cut -d ' ' -f 1)"
  if ! grep -qxF "$found" "$pins"; then
    ! grep -qF "$named " "$pins" || fail "this is not the package with the checksum in $pins: $found."
    others+=("$named")
  fi
  echo "$found" >>"$state/found.txt"
  dpkg-deb -x "$deb" "$folder"
done
[ ${#others[@]} -eq 0 ] ||
  echo "Debian's $release has other packages now than $pins ('make pins' takes them in): ${others[*]}" >&2

# It starts with its own C library, whatever the machine has.
python=$(echo "$folder"/usr/bin/python3.[0-9]*[0-9])
libraries=$(dirname "$folder"/usr/lib/*/ld-linux*.so.*)
patchelf --set-interpreter "$libraries"/ld-linux*.so.* --force-rpath --set-rpath "$libraries" "$python"
# Debian's header includes the one below the machine's own folder by a path of the system.
cp "$folder"/usr/include/*-linux-gnu/python3.*/pyconfig.h "$folder"/usr/include/python3.*/
mv "$state/found.txt" "$folder/packages.txt"
rm -rf "$state"

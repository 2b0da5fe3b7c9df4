#!/usr/bin/env bash
# Installs the Debian packages that xleak is built and tested with; does nothing when all are there.
set -euo pipefail

packages=(python3-venv python3-dev xeus-dev xeus-python-dev nlohmann-json3-dev libzmq3-dev
  cppzmq-dev pybind11-dev pybind11-json-dev doctest-dev libtree-sitter-dev ninja-build cmake g++ clang libclang-rt-14-dev clang-format chromium
  patchelf fonts-dejavu-core)

if ! command -v apt-get >/dev/null; then
  echo "This is not Debian, so nothing was installed; xleak needs what Debian 12 calls: ${packages[*]}" >&2
  exit 0
fi

installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
  grep -qx "$package installed" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ]; then
  as_root=(env DEBIAN_FRONTEND=noninteractive)
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
  as_root=(sudo DEBIAN_FRONTEND=noninteractive)
else
  echo "Debian packages are missing and neither root nor sudo is at hand. Ask someone who has it to run:" \
    "apt install ${missing[*]}" >&2
  exit 1
fi
"${as_root[@]}" apt-get -q update
"${as_root[@]}" apt-get -q install -y --no-install-recommends "${missing[@]}"

#!/usr/bin/env bash
# Installs the Debian packages that the build needs, or those that are named, if any is missing. With --libraries it only
# prints the names of those that compiled code needs.
set -euo pipefail

tools=(
  ccache            # repeated builds take seconds
  g++
  llvm-19-tools     # FileCheck
  mold              # links LLVM-sized programs quickly
  python3-dev
  python3-venv
)
libraries=(
  gemmi-dev         # its copy of PocketFFT
  libboost-context-dev
  libclang-19-dev
  libclang-cpp19
  libdnnl-dev       # convolutions, products of 16-bit floats
  libgfortran-12-dev  # its archive, for LAPACK inside the wheel
  libgtest-dev
  libhwy-dev        # sorting
  liblapacke-dev
  libopenblas-dev
  libpolly-19-dev   # Clang's archives link to it
  libtbb-dev
  libxxhash-dev     # keys of the disk cache
  libzip-dev
  libzstd-dev       # LLVM's CMake files require it
  llvm-19-dev
  nlohmann-json3-dev
  zlib1g-dev
)
if [ "${1:-}" = --libraries ]; then
  echo "${libraries[*]}"
  exit 0
fi
packages=("${tools[@]}" "${libraries[@]}")
[ $# -eq 0 ] || packages=("$@")

if ! command -v dpkg-query >/dev/null; then
  echo "Not a Debian system: install what corresponds to: ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "Installing: ${missing[*]}"
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}"

#!/usr/bin/env bash
# Installs what builds for AArch64 need: Debian's cross compiler and emulator, and in FOLDER/sysroot Debian's libraries
# for that processor. Nothing for AArch64 is installed in this system: apt uses a state of its own in FOLDER/apt.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:?usage: install_aarch64.sh FOLDER}")

# The compiler takes its runtime libraries from packages of this system, and so does the linker that of Fortran.
tools/install_packages.sh g++-aarch64-linux-gnu libgfortran-12-dev-arm64-cross qemu-user

read -ra libraries <<<"$(tools/install_packages.sh --libraries)"
wanted="${libraries[*]}"
[ "$(cat "$folder/sysroot/.packages" 2>/dev/null)" != "$wanted" ] || exit 0

mkdir -p "$folder/apt/lists" "$folder/apt/cache/archives/partial"
: >"$folder/apt/status" # no package is installed there, so apt fetches all that the libraries depend on
apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root
  -o "Dir::State=$folder/apt" -o "Dir::State::status=$folder/apt/status" -o "Dir::Cache=$folder/apt/cache"
  -o "Dir::Etc::parts=/dev/null" -o APT::Install-Recommends=false)
echo "Fetching libraries for AArch64: $wanted"
"${apt[@]}" update
"${apt[@]}" install -y --download-only "${libraries[@]}"

rm -rf "$folder/sysroot.new"
mkdir "$folder/sysroot.new"
for package in "$folder"/apt/cache/archives/*.deb; do
  dpkg-deb -x "$package" "$folder/sysroot.new"
done
# Links to absolute paths would lead out of the folder.
find "$folder/sysroot.new" -type l -lname '/*' | while read -r link; do
  ln -sfnr "$folder/sysroot.new$(readlink "$link")" "$link"
done
echo "$wanted" >"$folder/sysroot.new/.packages"
rm -rf "$folder/sysroot" "$folder/apt/cache"
mv "$folder/sysroot.new" "$folder/sysroot"

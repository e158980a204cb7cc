#!/bin/sh
# Unpacks the arm64 libraries that culvert and its tests link: sysroot.sh FOLDER
#
# They come from where this Debian's own packages come from, by an apt whose state is in FOLDER, so
# that the system learns nothing of another architecture. The C and C++ libraries are not among
# them: the cross compiler has its own. Headers that are the same everywhere are links to those of
# the system. Exit status 3: its sources have no such packages.
set -eu

packages="libssl3 libssl-dev libsodium23 libsodium-dev libfmt9 libfmt-dev libspdlog1.10 libspdlog-dev
    libboost-program-options1.81.0 libboost-program-options1.81-dev
    libboost-json1.81.0 libboost-json1.81-dev libboost-container1.81.0 libboost-container1.81-dev
    libboost-system1.81.0 libboost-system1.81-dev libseccomp2 libseccomp-dev"
headers="boost doctest"

[ $# -eq 1 ] || { echo "usage: sysroot.sh FOLDER" >&2; exit 2; }
complete=$1/complete
[ -e "$complete" ] && [ "$complete" -nt "$0" ] && exit 0

rm -rf "$1"
mkdir -p "$1/apt/lists" "$1/apt/cache" "$1/usr/include"
root=$(cd "$1" && pwd)
touch "$root/apt/status"  # nothing is installed
# As root, apt would fetch as a user of its own, who may not write here.
private_apt() {
    apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=root \
        -o Dir::State="$root/apt" -o Dir::State::status="$root/apt/status" \
        -o Dir::Cache="$root/apt/cache" "$@"
}

echo "arm64 libraries:" $packages
# Some source without packages for arm64 is no reason to stop: what counts is the download.
private_apt update || echo "sysroot: going on with the lists that could be had" >&2
(cd "$root/apt" && private_apt download $packages) || exit 3
for package in "$root"/apt/*.deb; do dpkg-deb -x "$package" "$root"; done
for name in $headers; do ln -s "/usr/include/$name" "$root/usr/include/$name"; done
# How CMake finds Boost's headers: the paths in there are relative, and must lead here.
cp -R /usr/lib/*/cmake/Boost-1.81.0 /usr/lib/*/cmake/BoostDetectToolset-1.81.0.cmake \
    /usr/lib/*/cmake/boost_headers-1.81.0 "$root/usr/lib/aarch64-linux-gnu/cmake"
rm -rf "$root/apt"
touch "$complete"

#!/bin/sh
# Builds the tests of the ciphers and the protocol for aarch64 and runs them under qemu, as a CPU
# with the SHA3 instructions and as one without: run.sh JOBS
set -eu

[ $# -eq 1 ] || { echo "usage: run.sh JOBS" >&2; exit 2; }
cd "$(dirname "$0")/../.."

if [ "$(uname -m)" = aarch64 ]; then
    echo "test-aarch64: skipped, this machine is one: its own tests have done that"
    exit 0
fi
.ci/packages build aarch64
for program in aarch64-linux-gnu-g++ qemu-aarch64-static apt-get dpkg-deb; do
    command -v "$program" >/dev/null 2>&1 || {
        echo "test-aarch64: SKIPPED: there is no $program" >&2
        exit 0
    }
done

status=0
tests/aarch64/sysroot.sh build/aarch64/sysroot || status=$?
if [ $status -eq 3 ]; then
    echo "test-aarch64: SKIPPED: the package sources of this machine have no arm64 libraries" >&2
    exit 0
fi
[ $status -eq 0 ]
[ -f build/aarch64/build.ninja ] || cmake --preset aarch64 >/dev/null
cmake --build --preset aarch64 -j "$1"

# test_as CPU KERNELS: a qemu that took no notice of the CPU would have other kernels in use.
test_as() {
    echo "test-aarch64: as CPU $1, with $2"
    QEMU_CPU=$1 CULVERT_TEST_KERNELS=$2 ctest --test-dir build/aarch64 --output-on-failure \
        --no-tests=error -j "$jobs" -R '^(crypto|protocol)\.'
}
jobs=$1
test_as max "chacha20=neon poly1305=portable keccak=sha3 chacha20poly1305=neon"
test_as cortex-a72 "chacha20=neon poly1305=portable keccak=portable chacha20poly1305=neon"

#!/usr/bin/env bash
# Builds lib and its tests with Debian's cross compiler, and runs the tests under
# qemu's emulation of another CPU, without RocksDB.
#
#   tests/compat/cross.sh aarch64|s390x [CTEST_ARGUMENT...]
#
# aarch64 runs the NEON kernel; s390x is big-endian. The build is in
# build/cross-ARCH. Long tests run at a twentieth, unless ROWBLOOM_TEST_SCALE says
# otherwise.
set -euo pipefail

case ${1:-} in
  aarch64 | s390x) arch=$1 ;;
  *)
    echo "usage: tests/compat/cross.sh aarch64|s390x [CTEST_ARGUMENT...]" >&2
    exit 2
    ;;
esac
shift
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=build/cross-$arch
tools/setup.sh "g++-$arch-linux-gnu" qemu-user googletest

export CC=$arch-linux-gnu-gcc CXX=$arch-linux-gnu-g++
target=(
  -DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_SYSTEM_PROCESSOR=$arch"
  "-DCMAKE_CROSSCOMPILING_EMULATOR=qemu-$arch;-L;/usr/$arch-linux-gnu"
)
cmake -S /usr/src/googletest -B "$build/googletest" -G Ninja "${target[@]}" \
  "-DCMAKE_INSTALL_PREFIX=$PWD/$build/prefix" -DCMAKE_INSTALL_MESSAGE=NEVER
cmake --build "$build/googletest" --target install
cmake --preset release -B "$build" "${target[@]}" -DROWBLOOM_LIB_ONLY=ON \
  "-DCMAKE_PREFIX_PATH=$PWD/$build/prefix"
cmake --build "$build"

export ROWBLOOM_TEST_SCALE=${ROWBLOOM_TEST_SCALE:-0.05}
ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$(nproc)" "$@"

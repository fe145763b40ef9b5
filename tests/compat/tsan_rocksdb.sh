#!/usr/bin/env bash
# Builds RocksDB with the thread sanitizer, and on it what CI runs with that
# sanitizer, and runs it without any suppression. The sanitizer then sees all
# that orders RocksDB's threads, which it does not see of the installed library,
# and races between RocksDB and the code that calls it or is called by it.
#
#   tests/compat/tsan_rocksdb.sh SOURCE
#
# SOURCE is a directory with RocksDB's source, which stays as it is. On Debian,
# with a line "deb-src" in APT's sources, `apt-get source rocksdb` unpacks that
# of the installed library. Build trees are below build/tsan-rocksdb, and a
# second run builds what changed. The first takes half an hour on 2 cores.
set -euo pipefail

# shellcheck source=tests/compat/rocksdb_build.sh
source "$(dirname "${BASH_SOURCE[0]}")/rocksdb_build.sh"

if (($# != 1)) || [[ ! -e $1/include/rocksdb/version.h ]]; then
  echo "usage: tests/compat/tsan_rocksdb.sh SOURCE, RocksDB's source" >&2
  exit 2
fi
source=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tree=$PWD/build/tsan-rocksdb
library=$tree/rocksdb/librocksdb.so

step "set-up"
tools/setup.sh clang libclang-rt-14-dev llvm

# The library is as Debian's, with assertions, without what nothing here uses.
step "RocksDB"
rocksdb_configure "$source" "$tree/rocksdb" \
  -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
  -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="-O1 -g1 -fno-omit-frame-pointer" \
  -DWITH_TSAN=ON -DFAIL_ON_WARNINGS=OFF -DWITH_GFLAGS=OFF \
  -DWITH_BENCHMARK_TOOLS=OFF -DWITH_CORE_TOOLS=OFF
cmake --build "$tree/rocksdb" --target rocksdb-shared
nm -D --undefined-only "$library" | grep __tsan_func_entry ||
  fail "$library is not built with the thread sanitizer"

rocksdb_package "$source" "$tree/rocksdb" "$tree/package"

step "tests on it"
cmake --preset tsan-rocksdb -DCMAKE_CXX_COMPILER=clang++
cmake --build --preset tsan-rocksdb
used=$(ldd "$tree/tests/stress/store_stress" |
  awk '$1 ~ /^librocksdb/ { print $3 }')
[[ $(realpath "$used") == $(realpath "$library") ]] ||
  fail "store_stress runs on $used"
ctest --preset tsan-rocksdb

#!/usr/bin/env bash
# old_build_test.sh SOURCE_DIR CMAKE: a build directory that had other options, or
# another RocksDB, is configured as a new one is.
set -euo pipefail

cmake=$2
dir=$(realpath "$(mktemp -d)")
trap 'rm -rf "$dir"' EXIT
cd "$1"

# configure ARGUMENT...
configure() {
  "$cmake" "$@" >"$dir/log" 2>&1 || {
    cat "$dir/log"
    exit 1
  }
}

echo "== tests and benchmarks, after a build that was made for installing"
# expect VALUE: that of both options in the cache.
expect() {
  local part
  for part in TESTS BENCH; do
    grep -qx "ROWBLOOM_BUILD_$part:BOOL=$1" "$dir/release/CMakeCache.txt" || {
      echo "FAILED: ROWBLOOM_BUILD_$part is not $1"
      exit 1
    }
  done
}
# The filters alone take the least time.
release=(--preset release -B "$dir/release" -DROWBLOOM_LIB_ONLY=ON)
configure "${release[@]}" -DROWBLOOM_BUILD_TESTS=OFF -DROWBLOOM_BUILD_BENCH=OFF
expect OFF
configure "${release[@]}"
expect ON

echo "== a RocksDB without type information, after the installed one"
mkdir "$dir/rocksdb"
"${CC:-cc}" -shared -fPIC -x c - -o "$dir/rocksdb/librocksdb.so" <<<"int x;"
cat >"$dir/rocksdb/RocksDBConfig.cmake" <<CMAKE
add_library(RocksDB::rocksdb-shared SHARED IMPORTED)
set_target_properties(RocksDB::rocksdb-shared PROPERTIES
                      IMPORTED_LOCATION "$dir/rocksdb/librocksdb.so")
CMAKE
configure -G Ninja -S . -B "$dir/build" \
  -DROWBLOOM_BUILD_{TOOLS,TESTS,BENCH}=OFF
configure -S . -B "$dir/build" "-DRocksDB_DIR=$dir/rocksdb"
grep -q -e '-fno-rtti' "$dir/build/build.ninja" || {
  echo "FAILED: the sources have type information, and RocksDB has none"
  exit 1
}

# Sourced by scripts that build RocksDB from its source.
# shellcheck shell=bash

rowbloom_root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

step() {
  printf '\n== %s (after %d s)\n\n' "$*" "$SECONDS"
}

# rocksdb_version SOURCE: "11.8.1".
rocksdb_version() {
  awk '$2 ~ /^ROCKSDB_(MAJOR|MINOR|PATCH)$/ { print $3 }' \
    "$1/include/rocksdb/version.h" | paste -sd .
}

# RocksDB's sources have warnings of newer compilers, which it makes errors: a
# loop of 9.10 is one for GCC 11 and later.
rocksdb_warnings=-Wno-error=range-loop-construct

# rocksdb_configure SOURCE BUILD ARGUMENT...: without what nothing here uses.
rocksdb_configure() {
  cmake -G Ninja -S "$1" -B "$2" -DPORTABLE=1 \
    -DCMAKE_CXX_FLAGS="$rocksdb_warnings" \
    -DWITH_LZ4=ON -DWITH_SNAPPY=ON -DWITH_ZLIB=ON -DWITH_ZSTD=ON \
    -DWITH_LIBURING=OFF -DWITH_TESTS=OFF -DWITH_TOOLS=OFF \
    -DWITH_TRACE_TOOLS=OFF "${@:3}"
}

# A release build, but for -O1, whose code is compiled in half of the time. So
# does a unity build, which leaves the plugin's sources alone: most of the time
# goes into parsing the same headers.
# rocksdb_configure_release SOURCE BUILD ARGUMENT...
rocksdb_configure_release() {
  rocksdb_configure "$1" "$2" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG" \
    -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" -DCMAKE_CXX_STANDARD=20 \
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 "${@:3}"
}

# rocksdb_package SOURCE BUILD PACKAGE: makes a directory for RocksDB_DIR.
# RocksDB's own package would want the static library built, too.
rocksdb_package() {
  mkdir -p "$3"
  cp "$2/RocksDBConfigVersion.cmake" "$3/"
  cat >"$3/RocksDBConfig.cmake" <<CONFIG
add_library(RocksDB::rocksdb-shared SHARED IMPORTED)
set_target_properties(
  RocksDB::rocksdb-shared
  PROPERTIES IMPORTED_LOCATION "$2/librocksdb.so"
             INTERFACE_INCLUDE_DIRECTORIES "$1/include")
CONFIG
}

# compare_interface SOURCE DIR: our declaration of RocksDB's private filter
# interface is that of its header, and a comparison with another layout fails.
# It wants no library. Programs go to DIR.
compare_interface() {
  local compile=("${CXX:-c++}" -std=c++20 -DPUBLISHED_INTERFACE=0
    -DROCKSDB_PLATFORM_POSIX -DOS_LINUX
    "-I$rowbloom_root" "-I$1/include" "-I$1"
    "$rowbloom_root/tests/compat/source_interface.cc"
    "$rowbloom_root/tests/storage/filter_policy/published_slots.cc")
  mkdir -p "$2"
  "${compile[@]}" -o "$2/source_interface"
  "$2/source_interface" || fail "rowbloom declares another interface"

  local layout other=700
  layout=$("$2/source_interface" | sed -nE 's/.*, layout ([0-9]+):.*/\1/p')
  [[ $layout != 700 ]] || other=906
  "${compile[@]}" -DROWBLOOM_FILTER_INTERFACE="$other" \
    -o "$2/other_interface"
  if "$2/other_interface" >"$2/other_interface.txt"; then
    fail "layout $other is taken for layout $layout"
  fi
}

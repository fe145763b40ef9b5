#!/usr/bin/env bash
# Builds RocksDB from its source, runs the tests of the filter policy, of the
# store and of sst_inspect on it, and lets databases change hands with the
# programs of other RocksDB versions.
#
#   tests/compat/rocksdb_source.sh SOURCE
#
# SOURCE is a directory with RocksDB's source, of a tag for example, which stays
# as it is. Build trees are below build/rocksdb-source/VERSION, and a second run
# builds what changed. The other programs are that of build/release, on the
# installed RocksDB, and those of earlier runs of this script for other versions.
# ROWBLOOM_JOBS is the number of jobs, by default that of the CPUs.
set -euo pipefail
# shellcheck source=tests/compat/rocksdb_build.sh
source "$(dirname "${BASH_SOURCE[0]}")/rocksdb_build.sh"
# shellcheck source=tests/compat/swaps.sh
source "$(dirname "${BASH_SOURCE[0]}")/swaps.sh"

if (($# != 1)) || [[ ! -e $1/include/rocksdb/version.h ]]; then
  echo "usage: tests/compat/rocksdb_source.sh SOURCE, RocksDB's source" >&2
  exit 2
fi
source=$(realpath "$1")
version=$(rocksdb_version "$source")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
versions=$PWD/build/rocksdb-source
tree=$versions/$version
export CMAKE_BUILD_PARALLEL_LEVEL=${ROWBLOOM_JOBS:-$(nproc)}
# With ccache, the objects of rocksdb_plugin.sh are found again.
export CCACHE_BASEDIR=$PWD/build

step "the filter interface of RocksDB $version"
compare_interface "$source" "$tree/interface"

step "RocksDB $version"
rocksdb_configure_release "$source" "$tree/rocksdb"
cmake --build "$tree/rocksdb" --target rocksdb-shared ldb sst_dump db_bench
rocksdb_package "$source" "$tree/rocksdb" "$tree/package"

step "tests on it"
cmake --preset release -B "$tree/rowbloom" -DRocksDB_DIR="$tree/package" \
  -DROWBLOOM_BUILD_BENCH=OFF
cmake --build "$tree/rowbloom" --target rowbloom_plugin tests/compat/all \
  tests/examples/all tests/storage/filter_policy/all tests/storage/store/all \
  tests/storage/upkeep/all tests/stress/all tests/tools/sst/all \
  tests/tools/sst_inspect/all
swap_db=$tree/rowbloom/tests/compat/swap_db
used=$(ldd "$swap_db" | awk '$1 ~ /^librocksdb/ { print $3 }')
[[ $(realpath "$used") == $(realpath "$tree/rocksdb/librocksdb.so") ]] ||
  fail "swap_db runs on $used"
tests='compat|examples|filter_interface[_0-9]*|filter_policy[a-z_]*'
tests+='|front_filter|open_db_[0-9]*|other_library|registrar|size_classes'
tests+='|stock_tools|store[a-z_]*|stress|tools_sst[a-z_]*|upkeep'
PATH=$tree/rocksdb:$tree/rocksdb/tools:$PATH ROWBLOOM_REQUIRE=rocksdb-tools \
  ctest --test-dir "$tree/rowbloom" --output-on-failure --no-tests=error \
  -j "$CMAKE_BUILD_PARALLEL_LEVEL" -R "^($tests)\\."

step "databases change hands"
rm -rf "$tree/swaps"
mkdir "$tree/swaps"
# run PROGRAM COMMAND DATABASES ARGUMENT...
run() {
  "$1" "$2" "$tree/swaps/$3" "${@:4}"
}
this() {
  run "$swap_db" "$@"
}
other() {
  run "$other_swap_db" "$@"
}
for other_swap_db in build/release/tests/compat/swap_db \
  "$versions"/*/rowbloom/tests/compat/swap_db; do
  [[ -x $other_swap_db && ! $other_swap_db -ef $swap_db ]] || continue
  echo "with $other_swap_db"
  rm -rf "$tree"/swaps/*
  swap this other
  swap other this
done

step "summary of RocksDB $version"
((${#summary[@]} > 0)) || summary=("SKIPPED: no program of another version is here")
print_summary

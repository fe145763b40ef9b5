#!/usr/bin/env bash
# Builds RocksDB with plugin/rowbloom in it, by CMake and by its Makefile, and
# tries each build: db_bench and ldb, which know nothing of rowbloom, use a
# database whose options name its policy, and a program uses the installed
# headers.
#
#   tests/compat/rocksdb_plugin.sh SOURCE [cmake|make]
#
# SOURCE is a directory with RocksDB's source; the plugin is linked into it as
# plugin/rowbloom. The trees of both builds are below
# build/rocksdb-plugin/VERSION, that of the Makefile with a copy of the source. A
# second run builds what changed. ROWBLOOM_JOBS is the number of jobs, by
# default that of the CPUs.
set -euo pipefail
# shellcheck source=tests/compat/rocksdb_build.sh
source "$(dirname "${BASH_SOURCE[0]}")/rocksdb_build.sh"
# shellcheck source=tests/support/stock_tools.sh
source "$(dirname "${BASH_SOURCE[0]}")/../support/stock_tools.sh"

if (($# < 1 || $# > 2)) || [[ ! -e $1/include/rocksdb/version.h ]]; then
  echo "usage: tests/compat/rocksdb_plugin.sh SOURCE [cmake|make]," \
    "RocksDB's source" >&2
  exit 2
fi
source=$(realpath "$1")
version=$(rocksdb_version "$source")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tree=$PWD/build/rocksdb-plugin/$version
jobs=${ROWBLOOM_JOBS:-$(nproc)}
# With ccache, the objects of rocksdb_source.sh are found again.
export CCACHE_BASEDIR=$PWD/build
mkdir -p "$tree"

step "the plugin in the source of RocksDB $version"
if [[ ! -e $source/plugin/rowbloom ]]; then
  ln -s "$PWD/plugin/rowbloom" "$source/plugin/rowbloom"
fi
[[ $source/plugin/rowbloom -ef plugin/rowbloom ]] ||
  fail "$source/plugin/rowbloom is another one"
compare_interface "$source" "$tree/interface"

# try_build DIR FLAGS: the programs of DIR and its library, installed in
# DIR/prefix, know the policy by its id. FLAGS find the headers of the plugin.
try_build() {
  local dir=$1/tried lib=$1/prefix/lib include=$1/prefix/include flags
  rm -rf "$dir"
  mkdir "$dir"
  # make has a library of the tools' functions, too, which it does not install.
  export TMPDIR=$dir TEST_TMPDIR=$dir LD_LIBRARY_PATH=$lib:$1
  nm -D "$lib/librocksdb.so" >"$dir/symbols"
  grep -q " T RegisterRowbloomPlugin$" "$dir/symbols" ||
    fail "librocksdb.so has no registrar"

  make_db "$dir"
  expect_equal "names in OPTIONS" "$policy $extractor" \
    "$(named_in_options "$dir/db")"
  read_db "$dir" >"$dir/output"
  expect_skips "$dir/output"

  expect_equal "policy of the file" "$policy" \
    "$(file_property "$dir/db" 'filter policy name')"
  local ldb=(ldb --db="$dir/db" --try_load_options)
  "${ldb[@]}" put user1001mail ada >"$dir/output"
  expect_equal "get" ada "$("${ldb[@]}" get user1001mail)"
  "${ldb[@]}" compact
  expect_equal "policy of the file that ldb wrote" "$policy" \
    "$(file_property "$dir/db" 'filter policy name')"

  # Neither program is compiled with anything of this tree.
  "${CXX:-c++}" -std=c++20 tests/storage/filter_policy/strict_load.cc \
    -o "$dir/strict_load" "-I$include" "-L$lib" -lrocksdb
  expect_equal "strict load" "default: $policy, $extractor" \
    "$("$dir/strict_load" "$dir/db")"
  read -ra flags -d '' <<<"$2" || true # ends without the delimiter
  "${CXX:-c++}" -std=c++20 tests/examples/readme_example.cc \
    -o "$dir/readme_example" "-I$include" "${flags[@]}" "-L$lib" -lrocksdb
  tests/examples/run_example.sh "$dir/readme_example" \
    tests/examples/readme_example.txt
  unset TMPDIR TEST_TMPDIR LD_LIBRARY_PATH
}

by_cmake() {
  step "RocksDB $version with rowbloom, by CMake"
  local dir=$tree/cmake
  rocksdb_configure_release "$source" "$dir" -DROCKSDB_PLUGINS=rowbloom \
    -DCMAKE_INSTALL_PREFIX="$dir/prefix" -DCMAKE_INSTALL_LIBDIR=lib
  cmake --build "$dir" -j "$jobs" --target rocksdb-shared ldb sst_dump db_bench
  # The static library, which install wants, too, is not built.
  mkdir -p "$dir/prefix/lib"
  cp -a "$dir"/librocksdb.so* "$dir/prefix/lib/"
  cp -rf "$source/include" "$dir/prefix/"
  step "what this build knows"
  cmake -DCMAKE_INSTALL_LOCAL_ONLY=ON -DCMAKE_INSTALL_COMPONENT=Unspecified \
    -P "$dir/cmake_install.cmake"
  PATH=$dir:$dir/tools:$PATH try_build "$dir" \
    "-I$dir/prefix/include/rocksdb/plugin"
}

by_make() {
  step "RocksDB $version with rowbloom, by make"
  local dir=$tree/make
  if [[ ! -e $dir ]]; then
    cp -a "$source" "$dir"
  fi
  local make=(make -C "$dir" -j "$jobs" ROCKSDB_PLUGINS=rowbloom
    ROCKSDB_CXX_STANDARD=c++20 PORTABLE=1 OPTIMIZE_LEVEL=-O1 OBJ_DIR=objects
    EXTRA_CXXFLAGS="$rocksdb_warnings"
    SKIP_DEPENDS=1 PREFIX="$dir/prefix")
  "${make[@]}" shared_lib ldb sst_dump db_bench
  "${make[@]}" install-shared
  step "what this build knows"
  PATH=$dir:$PATH try_build "$dir" \
    "-I$dir/prefix/include/rocksdb/plugin/rowbloom/lib/include
     -I$dir/prefix/include/rocksdb/plugin/rowbloom/storage/include"
}

case ${2-all} in
  all)
    by_cmake
    by_make
    ;;
  cmake) by_cmake ;;
  make) by_make ;;
  *) fail "unknown build $2" ;;
esac
step "ok: RocksDB $version has rowbloom built in: ${2-cmake and make}"

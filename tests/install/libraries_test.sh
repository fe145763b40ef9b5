#!/usr/bin/env bash
# libraries_test.sh SOURCE_DIR BUILD_DIR CMAKE GENERATOR CXX: builds and installs
# the libraries, removes sources and build tree, and builds and runs programs
# that know nothing but the installed files.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_dir=$1
build_dir=$2
cmake=$3
generator=$4
export CXX=$5
dir=$(realpath "$(mktemp -d)")
trap 'rm -rf "$dir"' EXIT
prefix=$dir/prefix

fail() {
  echo "FAILED: $*"
  exit 1
}

# configure SOURCE BUILD ARGUMENT... Speed is not what is tried here.
configure() {
  "$cmake" -S "$1" -B "$2" -G "$generator" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_FLAGS_RELEASE="-O0 -DNDEBUG" "${@:3}"
}

echo "== install"
unity=$(sed -n 's/^ROWBLOOM_UNITY:BOOL=//p' "$build_dir/CMakeCache.txt")
mkdir "$dir/source"
cp -r "$source_dir"/{CMakeLists.txt,cmake,lib,storage} "$dir/source"
configure "$dir/source" "$dir/build" -DROWBLOOM_BUILD_TESTS=OFF \
  -DROWBLOOM_BUILD_BENCH=OFF -DROWBLOOM_BUILD_TOOLS=OFF \
  "-DROWBLOOM_UNITY=$unity" \
  "-DCMAKE_CXX_COMPILER_LAUNCHER=$here/reuse_object.sh;$build_dir;$dir/build"
"$cmake" --build "$dir/build" --parallel 2
"$cmake" --install "$dir/build" --prefix "$prefix"
rm -rf "$dir/source" "$dir/build"

echo "== what was installed"
config_dir=$(dirname "$(find "$prefix" -name rowbloomConfig.cmake)")
if grep -rnE "$dir/(source|build)|$source_dir/" "$config_dir"; then
  fail "a package file names the source or the build tree"
fi
# Only a program with rowbloom::hfile links codecs by their names.
if grep -rnEi --exclude='rowbloom-hfile*' 'nlohmann|fmt::|cli11|xxhash|isal' \
  "$config_dir"; then
  fail "a package file names a library that is an inner matter of rowbloom"
fi
# RE2, which a program with the store links by its name, may be in this prefix.
grep -qF "LINK_DIRECTORIES \"\${_IMPORT_PREFIX}/" "$config_dir/rowbloom-store.cmake" ||
  fail "the linker does not look into the prefix"
if grep -rnE '#include "(lib|storage|tools)/' "$prefix/include"; then
  fail "an installed header includes one that is not installed"
fi

plugin=$(find "$prefix" -name librowbloom_plugin.so)
[[ -n $plugin ]] || fail "no plugin was installed"
said=$(LD_PRELOAD=$plugin env true 2>&1) # bash's own true loads nothing
[[ -z $said ]] || fail "the installed plugin does not load: $said"

# run PROJECT PROGRAM [CMAKE_ARGUMENT...] [-- PROGRAM_ARGUMENT...]
run() {
  local project=$1 program=$2
  shift 2
  local cmake_arguments=()
  while (($# > 0)) && [[ $1 != -- ]]; do
    cmake_arguments+=("$1")
    shift
  done
  configure "$here/$project" "$dir/$project" -DCMAKE_PREFIX_PATH="$prefix" \
    "${cmake_arguments[@]}"
  "$cmake" --build "$dir/$project" --parallel 2
  "$dir/$project/$program" "${@:2}"
}

echo "== a program with the filter policy, and one with the store"
run consumer consumer -- "$dir/consumer.db"
"$dir/consumer/store_consumer" "$dir/store.db"
if [[ -e $config_dir/rowbloom-hfile_transfer.cmake ]]; then
  echo "== a program with HFiles"
  "$dir/consumer/hfile_consumer" "$dir/example.hfile"
  "$dir/consumer/hfile_transfer_consumer" "$dir/transfer"
fi

echo "== a program with the filters alone, where there is no RocksDB"
run filters_consumer filters_consumer -DCMAKE_DISABLE_FIND_PACKAGE_RocksDB=ON \
  --no-warn-unused-cli

echo "== a program in C, by find_package and by pkg-config, with no RocksDB either"
run c_consumer c_consumer -DCMAKE_DISABLE_FIND_PACKAGE_RocksDB=ON \
  --no-warn-unused-cli -- "$dir/c.db"
# The files may go elsewhere: they name no place.
mv "$prefix" "$dir/moved"
pc_dir=$(dirname "$(find "$dir/moved" -name rowbloom.pc)")
# pkg_config ARGUMENT...
pkg_config() {
  PKG_CONFIG_PATH=$pc_dir pkg-config "$@" rowbloom
}
version=$(sed -nE 's/^  VERSION ([0-9.]+)$/\1/p' "$source_dir/CMakeLists.txt")
[[ $(pkg_config --modversion) == "$version" ]] ||
  fail "pkg-config knows version $(pkg_config --modversion), not $version"
read -ra flags <<<"$(pkg_config --cflags --libs)"
"${CC:-cc}" -std=c11 -pedantic -Wall -Wextra -Werror \
  "$here/c_consumer/main.c" "${flags[@]}" -o "$dir/by_pkg_config"
LD_LIBRARY_PATH=$(pkg_config --variable=libdir) "$dir/by_pkg_config" \
  "$dir/by_pkg_config.db"
mv "$dir/moved" "$prefix"

# find_package with these arguments must fail, and say why.
refuses() {
  local expected=$1
  shift
  mkdir -p "$dir/refused"
  cat >"$dir/refused/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.22)
project(refused LANGUAGES CXX)
find_package(rowbloom $* CONFIG REQUIRED)
CMAKE
  if "$cmake" -S "$dir/refused" -B "$dir/refused/build" -G "$generator" \
    -DCMAKE_PREFIX_PATH="$prefix" >"$dir/output" 2>&1; then
    fail "find_package(rowbloom $*) succeeded"
  fi
  grep -q "$expected" "$dir/output" || {
    cat "$dir/output"
    fail "find_package(rowbloom $*): the reason is not: $expected"
  }
}
echo "== what find_package has to refuse"
refuses 'requested version "0.99"' 0.99
refuses 'requested version "1.0"' 1.0
refuses 'no component "nonsense"' COMPONENTS filters nonsense
echo "== done"

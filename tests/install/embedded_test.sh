#!/usr/bin/env bash
# embedded_test.sh SOURCE_DIR CMAKE: a project that has rowbloom as a subdirectory,
# and options of its own, gets the libraries as rowbloom needs them. Nothing is
# compiled.
set -euo pipefail

dir=$(realpath "$(mktemp -d)")
trap 'rm -rf "$dir"' EXIT

fail() {
  echo "FAILED: $*"
  exit 1
}

cat >"$dir/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.22)
project(embedding LANGUAGES CXX)
set(BUILD_SHARED_LIBS ON)
add_compile_options(-fno-exceptions)
add_subdirectory("$1" rowbloom)
CMAKE
"$2" -G Ninja -S "$dir" -B "$dir/build" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  >"$dir/log" 2>&1 || fail "$(cat "$dir/log")"

sed -n 's/^ *"command": //p' "$dir/build/compile_commands.json" >"$dir/commands"
grep -q -e '-o rowbloom/storage/store/' "$dir/commands" || fail "no store"
if grep -v -e '-fno-exceptions .*-fexceptions ' "$dir/commands"; then
  fail "these are compiled without exceptions"
fi
if grep -e '-o rowbloom/\(tools\|tests\|bench\)/' "$dir/commands"; then
  fail "these are not for a project that embeds rowbloom"
fi
grep -q '^build rowbloom/storage/store/librowbloom_store.a:' \
  "$dir/build/build.ninja" || fail "rowbloom::store is no static library"

#!/usr/bin/env bash
# check_symbols_test.sh NM CXX: check_symbols.sh accepts code that only returns
# values, and finds each kind of call that it is there for. A library that it
# does not get is named.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
nm=$1
cxx=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# check EXPECTED_STATUS WHAT ARCHIVE...: its output goes to $dir/output.
check() {
  local expected=$1 what=$2 status=0
  shift 2
  "$here/check_symbols.sh" "$nm" "$@" >"$dir/output" 2>&1 || status=$?
  if [[ $status -ne $expected ]]; then
    echo "$what: expected exit status $expected, got $status"
    cat "$dir/output"
    exit 1
  fi
}

# expect STATUS STATEMENT
expect() {
  cat >"$dir/code.cc" <<CODE
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
std::string Name(int n) { $2; return std::string(100, 'x'); }
CODE
  "$cxx" -std=c++20 -O1 -c "$dir/code.cc" -o "$dir/code.o"
  check "$1" "$2" "$dir/code.o"
}

# expect_missing ARCHIVE: beside one that is there.
expect_missing() {
  check 1 "'$1'" "$dir/code.o" "$1"
  if ! grep -qF "'$1': there is no such library" "$dir/output"; then
    echo "'$1': is not named"
    cat "$dir/output"
    exit 1
  fi
}

expect 0 'if (n == 1) return ""'
expect_missing ""
expect_missing "$dir/librowbloom_none.a"
check 2 "no library"
expect 1 'if (n == 1) std::abort()'
expect 1 'if (n == 1) std::exit(n)'
expect 1 'std::printf("%d", n)'
expect 1 'std::fprintf(stderr, "%d", n)'
expect 1 'std::cout << n'
expect 1 'std::cerr << n'

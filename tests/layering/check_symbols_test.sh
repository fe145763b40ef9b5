#!/usr/bin/env bash
# check_symbols_test.sh NM CXX: check_symbols.sh accepts code that only returns
# values, and finds each kind of call that it is there for.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
nm=$1
cxx=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# expect STATUS STATEMENT
expect() {
  local status=0
  cat >"$dir/code.cc" <<CODE
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
std::string Name(int n) { $2; return std::string(100, 'x'); }
CODE
  "$cxx" -std=c++20 -O1 -c "$dir/code.cc" -o "$dir/code.o"
  "$here/check_symbols.sh" "$nm" "$dir/code.o" >"$dir/output" || status=$?
  if [[ $status -ne $1 ]]; then
    echo "$2: expected exit status $1, got $status"
    cat "$dir/output"
    exit 1
  fi
}

expect 0 'if (n == 1) return ""'
expect 1 'if (n == 1) std::abort()'
expect 1 'if (n == 1) std::exit(n)'
expect 1 'std::printf("%d", n)'
expect 1 'std::fprintf(stderr, "%d", n)'
expect 1 'std::cout << n'
expect 1 'std::cerr << n'

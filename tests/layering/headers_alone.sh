#!/usr/bin/env bash
# headers_alone.sh COMPILER ROOT: compiles each public header, and each header of
# lib/, of the filter policy and of storage/format by itself, and prints those
# that need another one before them.
set -euo pipefail

(($# == 2)) || {
  echo "usage: headers_alone.sh COMPILER ROOT" >&2
  exit 2
}
compiler=$1
cd "$2"
export compiler

# Warnings count: a function that only other headers use is one.
compile() {
  "$compiler" -std=c++20 -fsyntax-only -x c++ -Wall -Wextra -Werror \
    -Wno-unused-function \
    -I. -Ilib/include -Istorage/include - <<<"#include \"$1\""
}
export -f compile

find lib storage/{filter_policy,format,include} -name '*.h' -print0 |
  xargs -0 -P 2 -I{} bash -c 'compile {} || { echo "FAILED: {}"; exit 255; }'

#!/usr/bin/env bash
# type_information_test.sh LIBRARY: it does not refer to the type information of
# a class of RocksDB.
set -euo pipefail

symbols=$(nm --undefined-only --demangle "$1")
[[ $symbols == *" U rocksdb::"* ]] # or else nothing was read
if grep "typeinfo for rocksdb::" <<<"$symbols"; then
  echo "FAILED: $1 needs RocksDB to have type information"
  exit 1
fi

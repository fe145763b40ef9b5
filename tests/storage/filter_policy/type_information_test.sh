#!/usr/bin/env bash
# type_information_test.sh LIBRARY...: no library refers to the type information
# of a class of RocksDB.
set -euo pipefail

failed=0
for library in "$@"; do
  symbols=$(nm --undefined-only --demangle "$library")
  [[ $symbols == *" U "* ]] # or else nothing was read
  if grep "typeinfo for rocksdb::" <<<"$symbols"; then
    echo "FAILED: $library needs RocksDB to have type information"
    failed=1
  fi
done
exit "$failed"

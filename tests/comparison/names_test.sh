#!/usr/bin/env bash
# names_test.sh BENCH: no type name is defined twice in the folder: two layouts of
# one name are undefined behaviour as soon as a program links both.
set -euo pipefail

twice=$(sed -nE 's/^ *(struct|class|enum class) ([A-Za-z0-9]+)[^;]*$/\2/p' \
  "$1"/*.h "$1"/*.cc | sort | uniq -d)
if [[ -n $twice ]]; then
  echo "FAILED: defined twice: $twice"
  exit 1
fi

#!/usr/bin/env bash
# headers_alone_test.sh COMPILER: headers_alone.sh accepts a tree of headers that
# compile, and names one that needs another before it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/lib/block "$tree"/storage/{filter_policy,format,include/rowbloom}
for header in lib/block/key.h storage/filter_policy/policy.h \
  storage/include/rowbloom/store.h; do
  printf '#pragma once\n#include <string>\nstd::string f();\n' >"$tree/$header"
done
"$here/headers_alone.sh" "$1" "$tree"
echo 'inline int g() { return needs_another(1); }' >>"$tree/lib/block/key.h"
if "$here/headers_alone.sh" "$1" "$tree" >"$tree/output" 2>&1; then
  echo "a header that does not compile is accepted"
  exit 1
fi
grep -q 'FAILED: lib/block/key.h' "$tree/output"

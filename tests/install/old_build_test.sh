#!/usr/bin/env bash
# old_build_test.sh SOURCE_DIR CMAKE: tools/test.sh and tools/quickstart.sh find
# their targets in a build that was made for installing.
set -euo pipefail

cmake=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$1"

# configure ARGUMENT...: the filters alone, since that takes the least time.
configure() {
  "$cmake" --preset release -B "$dir" -DROWBLOOM_LIB_ONLY=ON "$@" \
    >"$dir/log" 2>&1 || {
    cat "$dir/log"
    exit 1
  }
}

# expect VALUE: that of both options in the cache.
expect() {
  local part
  for part in TESTS BENCH; do
    grep -qx "ROWBLOOM_BUILD_$part:BOOL=$1" "$dir/CMakeCache.txt" || {
      echo "FAILED: ROWBLOOM_BUILD_$part is not $1"
      exit 1
    }
  done
}

configure -DROWBLOOM_BUILD_TESTS=OFF -DROWBLOOM_BUILD_BENCH=OFF
expect OFF
configure
expect ON

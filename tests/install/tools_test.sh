#!/usr/bin/env bash
# tools_test.sh BUILD_DIR CMAKE VERSION: the installed tools start, and say that
# they are of this version.
set -euo pipefail

build_dir=$1
cmake=$2
version=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"$cmake" --install "$build_dir" --prefix "$dir" >"$dir/log" || {
  cat "$dir/log"
  exit 1
}
for tool in rowbloom sst_inspect; do
  "$dir/bin/$tool" --help >"$dir/help"
  test -s "$dir/help"
  said=$("$dir/bin/$tool" --version)
  if [[ $said != *"$version"* ]]; then
    echo "$tool --version: expected $version, got $said"
    exit 1
  fi
done

#!/usr/bin/env bash
# tools_test.sh BUILD_DIR CMAKE VERSION: the installed tools start, say that
# they are of this version, and have a manual page and a completion.
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
  grep -q "^.TH $tool 1 .*$version" "$dir/share/man/man1/$tool.1"
  bash -n "$dir/share/bash-completion/completions/$tool.bash"
done

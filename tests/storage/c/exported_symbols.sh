#!/usr/bin/env bash
# exported_symbols.sh NM LIBRARY HEADER: fails unless the shared library exports
# the functions that the header declares, with a version, and nothing else.
set -euo pipefail

nm=$1
library=$2
header=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The names before a '(' outside of comments.
sed 's://.*::' "$header" | grep -oE '\browbloom_[a-z_]+\(' | tr -d '(' |
  sort -u >"$dir/declared"
# The version is a symbol of its own, an absolute one.
"$nm" -D --defined-only --format=posix "$library" | awk '$2 != "A" { print $1 }' |
  sort >"$dir/exported"

diff "$dir/declared" <(sed 's/@.*//' "$dir/exported") || {
  echo "FAILED: < is declared in $header, > is exported by $library"
  exit 1
}
if grep -v '@@ROWBLOOM_[0-9]*$' "$dir/exported"; then
  echo "FAILED: these have no version"
  exit 1
fi

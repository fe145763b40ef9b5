#!/usr/bin/env bash
# The driver can fail: what is broken on purpose must be reported as a
# divergence, with all that it takes to run it again, and exit code 1.
#
#   sabotage_test.sh PROGRAM KIND SABOTAGE
set -euo pipefail

program=$1 kind=$2 sabotage=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

code=0
"$program" --seed 1 --kinds "$kind" --sabotage "$sabotage" --db "$dir" \
  >"$dir/out" || code=$?
cat "$dir/out"
if ((code != 1)); then
  echo "exit code $code, expected 1"
  exit 1
fi
for expected in '^DIVERGENCE ' '^  key (hex) ' \
  "^  --seed 1 --kinds $kind --round 0 " '^divergences  *[1-9]'; do
  if ! grep -q -- "$expected" "$dir/out"; then
    echo "the output has no line like $expected"
    exit 1
  fi
done

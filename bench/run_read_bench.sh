#!/usr/bin/env bash
# Measures reads of databases on made up rows and on this machine's package
# index, into bench/results: what read_bench prints (.txt) and its numbers
# (.json).
#
#   bench/run_read_bench.sh [ARGUMENT...]    of read_bench, for both
#
# Builds the release preset first. Fails if the counts do not bear out what is
# claimed.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
results=bench/results
tools/setup.sh
cmake --preset release
cmake --build --preset release --target read_bench

ROWBLOOM_COMMIT=$(git rev-parse HEAD 2>/dev/null || true)
if [[ -n $ROWBLOOM_COMMIT ]] &&
  ! git diff --quiet HEAD -- ':!bench/results'; then
  ROWBLOOM_COMMIT+=-modified
fi
export ROWBLOOM_COMMIT

# The old results stay until the new ones are whole.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/results"
build/release/bench/read_bench --check "$@" \
  --json "$work/results/read_bench.json" |
  tee "$work/results/read_bench.txt"
apt-cache dumpavail >"$work/packages"
build/release/bench/read_bench --check "$@" --input "$work/packages" \
  --json "$work/results/read_bench_packages.json" |
  tee "$work/results/read_bench_packages.txt"
cp "$work/results"/* "$results/"

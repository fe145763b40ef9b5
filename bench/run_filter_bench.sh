#!/usr/bin/env bash
# Measures all filters and draws the results, into bench/results: what
# filter_bench prints (.txt), its numbers (.json), and three plots (.svg).
#
#   bench/run_filter_bench.sh [ARGUMENT...]    of filter_bench
#
# Builds the release preset first. Some ten minutes without arguments.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
results=bench/results
tools/setup.sh
cmake --preset release
cmake --build --preset release --target filter_bench

ROWBLOOM_COMMIT=$(git rev-parse HEAD 2>/dev/null || true)
if [[ -n $ROWBLOOM_COMMIT ]] &&
  ! git diff --quiet HEAD -- ':!bench/results'; then
  ROWBLOOM_COMMIT+=-modified
fi
export ROWBLOOM_COMMIT

# The old results stay until the new ones are whole.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build/release/bench/filter_bench "$@" --json "$work/filter_bench.json" |
  tee "$work/filter_bench.txt"
bench/plot.py "$work/filter_bench.json" "$work"
cp "$work"/* "$results/"

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
program=filter_bench
# shellcheck source=bench/prepare.sh
source bench/prepare.sh
build/release/bench/filter_bench "$@" --json "$work/filter_bench.json" |
  tee "$work/filter_bench.txt"
bench/plot.py "$work/filter_bench.json" "$work"
cp "$work"/* "$results/"

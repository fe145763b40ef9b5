#!/usr/bin/env bash
# Measures all filters and draws the results, into bench/results: what
# filter_bench prints (.txt), its numbers (.json), plots (.svg), tables (.md).
#
#   bench/run_filter_bench.sh [ARGUMENT...]    of filter_bench
#
# Builds the release preset first. Some fourteen minutes without arguments.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
results=bench/results
program=filter_bench
# shellcheck source=bench/prepare.sh
source bench/prepare.sh
build/release/bench/filter_bench "$@" --json "$work/filter_bench.json" |
  tee "$work/filter_bench.txt"
build/release/bench/filter_bench "$@" --standalone \
  --json "$work/standalone.json" | tee "$work/standalone.txt"
build/release/bench/filter_bench "$@" --ribbon-slots --rates 0.01 \
  --json "$work/ribbon_slots.json" | tee "$work/ribbon_slots.txt"
for results_of in filter_bench standalone ribbon_slots; do
  bench/plot.py "$work/$results_of.json" "$work"
done
cp "$work"/* "$results/"

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
program=read_bench
# shellcheck source=bench/prepare.sh
source bench/prepare.sh
mkdir "$work/results"
build/release/bench/read_bench --check "$@" \
  --json "$work/results/read_bench.json" |
  tee "$work/results/read_bench.txt"
apt-cache dumpavail >"$work/packages"
build/release/bench/read_bench --check "$@" --input "$work/packages" \
  --json "$work/results/read_bench_packages.json" |
  tee "$work/results/read_bench_packages.txt"
cp "$work/results"/* "$results/"

#!/usr/bin/env bash
# run_sst_inspect_bench.sh [ARGUMENT...]: makes the results of sst_inspect_bench,
# with its ARGUMENTs; `--dir` wants space for a file of 1 GiB. Exits with 3 if a
# time is not as claimed.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
results=bench/results
program=sst_inspect_bench
# shellcheck source=bench/prepare.sh
source bench/prepare.sh
cmake --build --preset release --target sst_inspect
mkdir "$work/results"

missed=0
build/release/bench/sst_inspect_bench build/release/tools/sst_inspect/sst_inspect \
  --check "$@" --json "$work/results/sst_inspect_bench.json" |
  tee "$work/results/sst_inspect_bench.txt" || missed=$?
((missed == 0 || missed == 3)) || exit "$missed"
cp "$work/results"/* "$results/"
exit "$missed"

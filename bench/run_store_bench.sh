#!/usr/bin/env bash
# run_store_bench.sh [--seconds S]: makes the results of store_bench and
# hfile_bench, on made up cells and on this machine's package index. Exits with 3
# if a time is not as claimed.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
results=bench/results
program=store_bench
# shellcheck source=bench/prepare.sh
source bench/prepare.sh
cmake --build --preset release --target hfile_bench
mkdir "$work/results"
apt-cache dumpavail >"$work/packages"
missed=0

# measure PROGRAM RESULT ARGUMENT...
measure() {
  local program=$1 result=$work/results/$2 status=0
  shift 2
  "build/release/bench/$program" --check "$@" --json "$result.json" |
    tee "$result.txt" || status=$?
  ((status == 0 || status == 3)) || exit "$status"
  ((status == 0)) || missed=3
}

for program in store_bench hfile_bench; do
  measure "$program" "$program" "$@"
  measure "$program" "${program}_packages" --input "$work/packages" "$@"
done
cp "$work/results"/* "$results/"
exit "$missed"

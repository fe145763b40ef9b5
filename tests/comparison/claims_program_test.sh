#!/usr/bin/env bash
# claims_program_test.sh store_bench|hfile_bench PROGRAM SAMPLE: what the program
# prints, writes and refuses. Times are not asserted. Exits with 77 when it was
# built without optimisation and so measures nothing.
set -euo pipefail

name=$1
shift
# shellcheck source=tests/comparison/program.sh
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"

quick=(--seconds 0)
wanted=(write scan import 'Bloom, present row')
if [[ $name == store_bench ]]; then
  quick+=(--loads 1 --files 2 --cells-in-file 100000 --updates 100 --mix-rows 50)
  wanted=(put load 'get, absent row, more cells' 'increments of one cell'
    'get after many updates' 'get, present cell' '10 columns of an absent row'
    scan 'mix A, half updates')
fi
run 0 "${quick[@]}" --synthetic 300x3 --json "$dir/json"
says out '300 rows, 900 cells'
for operation in "${wanted[@]}"; do
  grep -q "^$operation  " "$dir/out" || fail "no line for $operation"
  grep -qF "{\"operation\":\"$operation\"," "$dir/json" ||
    fail "the JSON has no $operation"
done
for key in cpu os compiler flags commit rocksdb seed claimed cpu_ratio \
  wall_ratio; do
  grep -q "\"$key\": *[^ ]" "$dir/json" || fail "the JSON has no $key"
done
grep -qE '^(All is as claimed|not as claimed: |undecided: )' "$dir/out" ||
  fail "no verdict"
[[ -z $(ls -A "$TMPDIR") ]] || fail "temporary files were left behind"

run 0 "${quick[@]}" --input "$sample" --only scan
says out '60 rows'
! grep -qE '^(put|load|write|get) ' "$dir/out" || fail "more than was wanted"
run 0 --help
says out '--check'

run 1 --input "$dir/none.tsv"
says err "cannot open $dir/none.tsv"
run 1 "${quick[@]}" --synthetic 300x3 --only scan --json "$dir/none/json"
says err "cannot write $dir/none/json"
run 2 --synthetic 300
says err 'not ROWSxCOLUMNS'
run 2 --nonsense
[[ -z $(ls -A "$TMPDIR") ]] || fail "temporary files were left behind"

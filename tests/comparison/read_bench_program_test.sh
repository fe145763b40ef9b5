#!/usr/bin/env bash
# read_bench_program_test.sh READ_BENCH SAMPLE: what the program prints, writes
# and refuses, and that a small run bears out what is claimed. Exits with 77
# when it was built without optimisation and so measures nothing.
set -euo pipefail

# shellcheck source=tests/comparison/program.sh
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"

run 0 --quick --seconds 0 --shape l0x8/wide/cached --check --json "$dir/json"
says out 'l0x8/wide/cached: 12,500 rows, 150,000 cells, 8 files'
! grep -q '^not as claimed' "$dir/out" || fail "a claim is missed"
for read in 'get, present cell' 'get, absent row' 'get, absent column' \
  'row scan, absent row' 'multiget 32, present' 'multiget 32, absent rows' \
  '10 columns, present row' '10 columns, absent row'; do
  (($(grep -c "^$read  *none " "$dir/out") == 1)) || fail "no line for $read"
  grep -qF "\"read\":\"$read\"," "$dir/json" || fail "the JSON has no $read"
done
for filter in 'stock Bloom, key' 'stock Bloom, prefix + key' \
  'the same again' 'stock Ribbon, prefix + key' 'rowbloom ROWCOL'; do
  (($(grep -c "^ *$filter  " "$dir/out") == 8)) || fail "no lines for $filter"
  grep -qF "\"$filter\"" "$dir/json" || fail "no $filter in JSON"
done
for key in cpu os compiler flags commit rocksdb kernel seed filter_bytes \
  wasted_reads blocks_read median_us p99_us cpu_ratio wall_ratio \
  probe_percent; do
  grep -q "\"$key\": *[^ ]" "$dir/json" || fail "the JSON has no $key"
done
[[ -z $(ls -A "$TMPDIR") ]] || fail "temporary files were left behind"

# Files of a few cells, which the fixed parts of filters alone fill.
tiny=(--cells 6000 --questions 3000 --seconds 0)
run 3 "${tiny[@]}" --shape l0x32/narrow/tenth --check
says out 'not as claimed: l0x32/narrow/tenth: '
run 0 "${tiny[@]}" --shape l0x32/narrow/tenth
run 0 "${tiny[@]}" --shape l0x1/narrow --shape levels/wide/cached
for shape in l0x1/narrow/cached l0x1/narrow/tenth levels/wide/cached; do
  (($(grep -c "^$shape: " "$dir/out") == 1)) || fail "no table of $shape"
  (($(grep -c "^$shape  " "$dir/out") == 3)) || fail "no summary of $shape"
done
! grep -q '^l0x8' "$dir/out" || fail "a shape that nobody asked for"

# The sample has too few rows; ten of it have not.
run 1 --input "$sample" --shape levels
says err 'rows do not fill'
for i in {1..10}; do
  sed "s/^Package: /&copy$i-/" "$sample"
  echo
done >"$dir/many"
run 0 --input "$dir/many" --questions 3000 --seconds 0 --shape l0x8/cached
says out 'l0x8/input/cached: 600 rows, 7,670 cells, 8 files'
run 0 --input - --questions 3000 --seconds 0 --shape l0x8/cached <"$dir/many"
run 0 --help
says out '--shape'

overview=(--overview --seconds 0 --operations 300 --seed 5)
run 0 "${overview[@]}" --input "$sample" --db "$dir/kept" --json "$dir/json"
says out '60 rows, 767 cells in 8 files; 300 operations of each kind; seed 5'
says out 'The files are too small for a fair comparison'
for filter in none 'stock Bloom' 'rowbloom ROW ' 'rowbloom ROWCOL '; do
  (($(grep -c "^$filter" "$dir/out") == 1)) || fail "no line for $filter"
done
for setting in none stock row rowcol; do
  (($(find "$dir/kept/$setting" -name '*.sst' | wc -l) == 8)) ||
    fail "$setting: not 8 files"
done
cp "$dir/out" "$dir/first"
run 0 "${overview[@]}" --input - <"$sample"
# Everything but the times has to repeat.
counts() {
  sed -E 's/ +[0-9]+\.[0-9]( |$)/ /g' "$1"
}
diff <(counts "$dir/first") <(counts "$dir/out") ||
  fail "the counts do not repeat"
run 0 "${overview[@]}" --synthetic 500x3 --files 3 --spread-rows
says out '500 rows, 1,500 cells in 3 files, each row spread over them'
run 1 "${overview[@]}" --synthetic 3x3
says err '3 rows do not fill'
run 1 "${overview[@]}" --synthetic 100x3 --db "$dir/kept"
run 2 "${overview[@]}" --synthetic 10by10
run 2 "${overview[@]}" --files 0
run 2 --spread-rows
printf 'row\tf:q\tvalue\nno tabs\n' >"$dir/bad.tsv"
run 1 "${overview[@]}" --input "$dir/bad.tsv"
says err "$dir/bad.tsv:2:"
: >"$dir/empty"
run 1 "${overview[@]}" --input "$dir/empty"
says err 'has no cells'

run 1 --input "$dir/none.tsv"
says err "cannot open $dir/none.tsv"
run 1 "${tiny[@]}" --shape l0x1/narrow/cached --json "$dir/none/json"
says err "cannot write $dir/none/json"
run 2 --shape l0x7
says err 'no shape fits l0x7'
run 2 --input "$sample" --shape wide
run 2 --cells 10
run 2 --nonsense
[[ -z $(ls -A "$TMPDIR") ]] || fail "temporary files were left behind"

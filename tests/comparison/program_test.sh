#!/usr/bin/env bash
# program_test.sh FILTER_COMPARE SAMPLE: what the program prints, writes, keeps
# and refuses. Exits with 77 when it was built without optimisation and so
# measures nothing.
set -euo pipefail

# shellcheck source=tests/comparison/program.sh
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"

run 0 --input "$sample" --operations 300 --seed 5 --db "$dir/kept" \
  --json "$dir/json"
says out '60 rows, 767 cells in 8 files; 300 operations of each kind; seed 5'
says out 'The files are too small for a fair comparison'
for filter in none 'stock Bloom' 'rowbloom ROW ' 'rowbloom ROWCOL '; do
  (($(grep -c "^$filter" "$dir/out") == 1)) || fail "no line for $filter"
done
for setting in none stock row rowcol; do
  (($(find "$dir/kept/$setting" -name '*.sst' | wc -l) == 8)) ||
    fail "$setting: not 8 files"
done
for key in cpu os compiler flags commit rocksdb kernel seed filter_bytes \
  wrong_opens files_skipped median_us p99_us; do
  grep -q "\"$key\": *[^ ]" "$dir/json" || fail "the JSON has no $key"
done
[[ -z $(ls -A "$TMPDIR") ]] || fail "--db DIR, and temporary files"

cp "$dir/out" "$dir/first"
run 0 --input - --operations 300 --seed 5 <"$sample"
# Everything but the times has to repeat.
counts() {
  sed -E 's/ +[0-9]+\.[0-9]( |$)/ /g' "$1"
}
diff <(counts "$dir/first") <(counts "$dir/out") ||
  fail "the counts do not repeat"
[[ -z $(ls -A "$TMPDIR") ]] || fail "temporary files were left behind"

run 0 --synthetic 500x3 --operations 100 --files 3
says out '500 rows, 1,500 cells in 3 files'
run 0 --help
says out '--synthetic'

run 1 --input "$dir/none.tsv"
says err "cannot open $dir/none.tsv"
printf 'row\tf:q\tvalue\nno tabs\n' >"$dir/bad.tsv"
run 1 --input "$dir/bad.tsv"
says err "$dir/bad.tsv:2:"
: >"$dir/empty"
run 1 --input "$dir/empty"
says err 'has no cells'
run 1 --synthetic 3x3
says err '3 rows do not fill 8 files'
run 1 --synthetic 100x3 --operations 10 --db "$dir/kept"
run 1 --synthetic 100x3 --operations 10 --json "$dir/none/json"
says err "cannot write $dir/none/json"
run 2 --synthetic 10by10
run 2 --synthetic 10x0
run 2 --synthetic 100x3 --input "$sample"
run 2 --files 0
run 2 --nonsense

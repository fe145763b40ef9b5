#!/usr/bin/env bash
# plot_test.sh FILTER_BENCH BENCH_DIR: plot.py draws what filter_bench writes,
# well-formed and the same each time; the committed plots, and the tables of the pages,
# are those of the committed results.
set -euo pipefail
# shellcheck source=tests/support/outside.sh
source "$(dirname "${BASH_SOURCE[0]}")/../support/outside.sh"

program=$1
bench=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail() {
  echo "FAILED: $*"
  exit 1
}

if ! command -v python3 >/dev/null; then
  skip_without python3 "plot.py is written in it"
fi

# well_formed FILE: an SVG with at least one line of data.
well_formed() {
  python3 - "$1" <<'PYTHON' || fail "$1 is no picture"
import sys
import xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
svg = "{http://www.w3.org/2000/svg}"
assert root.tag == svg + "svg", root.tag
assert list(root.iter(svg + "circle")), "no points"
assert "nan" not in tree.tostring(root, encoding="unicode").lower()
PYTHON
}

mkdir "$dir/committed"
for results in filter_bench filter_large front_bench read_bench store_mixes; do
  "$bench/plot.py" "$bench/results/$results.json" "$dir/committed"
done
"$bench/plot.py" "$bench/results" "$dir/committed"
for plot in lookup build frontier files; do
  well_formed "$dir/committed/$plot.svg"
  cmp "$dir/committed/$plot.svg" "$bench/results/$plot.svg" ||
    fail "results/$plot.svg is not what plot.py makes of the results"
done

for table in "$dir"/committed/*.md "$bench"/results/*.md; do
  cmp "$dir/committed/${table##*/}" "$bench/results/${table##*/}" ||
    fail "results/${table##*/} is not what plot.py makes of the results"
done
pages=(README.md doc/benchmarks.md lib/standalone/README.md doc/filter_policy.md
  doc/planning.md)
for page in "${pages[@]}"; do
  mkdir -p "$dir/pages/$(dirname "$page")"
  cp "$bench/../$page" "$dir/pages/$page"
done
"$bench/put_tables.sh" "$dir/pages"
for page in "${pages[@]}"; do
  diff "$bench/../$page" "$dir/pages/$page" ||
    fail "$page (<) does not show the committed results (>)"
done

# agrees RESULTS: filters have the bytes and rates that the model predicts.
agrees() {
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$bench python3 - "$1" <<'PYTHON'
import json, sys
import plot
with open(sys.argv[1], encoding="utf-8") as file:
    records = json.load(file)["records"]
assert len(records) == 2, records
for record in records:
    predicted, measured = record["predicted_bytes"], record["filter_bytes"]
    assert abs(measured / predicted - 1) < 0.001, (predicted, measured)
    for absent in ("absent_row", "absent_column"):
        asked, passed = record[absent]
        low, high = plot.wilson(passed, asked)
        assert low < record["predicted_" + absent] < high, record
PYTHON
}
agrees "$bench/results/filter_large.json" ||
  fail "filter_large.json is not as the model predicts"
sed 's/"filter_bytes":1/"filter_bytes":2/' "$bench/results/filter_large.json" \
  >"$dir/larger"
if agrees "$dir/larger" 2>"$dir/err"; then fail "larger filters are not noticed"; fi

# status EXPECTED COMMAND...
status() {
  local expected=$1 found=0
  shift
  "$@" >/dev/null 2>"$dir/err" || found=$?
  ((found == expected)) || fail "$*: exit status $found, not $expected"
  if grep Traceback "$dir/err"; then fail "$*: the error is not handled"; fi
}
echo '{"context": {}, "records": []}' >"$dir/empty"
status 2 "$bench/plot.py" "$dir/empty"
status 1 "$bench/plot.py" "$dir/empty" "$dir"
status 1 "$bench/plot.py" "$dir/none" "$dir"
status 1 "$bench/plot.py" "$bench/plot.py" "$dir"

printf 'above\n<!-- table.md -->\n| old |\n<!-- end -->\nbelow\n' >"$dir/page"
status 0 "$bench/plot.py" --put "$bench/results/table.md" "$dir/page"
diff "$dir/page" <(printf 'above\n<!-- table.md -->\n'
  cat "$bench/results/table.md"
  printf '<!-- end -->\nbelow\n') || fail "--put: another page"
status 1 "$bench/plot.py" --put "$bench/results/standalone.md" "$dir/page"

# The interval of the median by the ranks of tables of the sign test, and
# Wilson's at a point computed by other means.
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$bench python3 - <<'PYTHON' || fail "intervals"
import plot
for samples, low, high in ((6, 1, 6), (9, 2, 8), (10, 2, 9), (20, 6, 15)):
    assert plot.median_of(range(samples, 0, -1))[1:] == [low, high], samples
assert plot.median_of([1, 2, 3])[2] is None
low, high = plot.wilson(50, 100)
assert abs(low - 0.3753) < 1e-4 and abs(high - 0.6247) < 1e-4
PYTHON

found=0
"$program" --keys 1000,2000,3000 --rates 0.01 --absent 20000 \
  --frontier-keys 1000 --benchmark_repetitions=6 --benchmark_min_time=0.0001 \
  --json "$dir/google.json" >/dev/null 2>"$dir/err" || found=$?
if grep -q 'built without optimisation' "$dir/err"; then
  echo "not measured, and so not drawn: $(cat "$dir/err")"
  exit 77
fi
((found == 0)) || fail "filter_bench: $(cat "$dir/err")"
"$bench/plot.py" --compact "$dir/google.json" "$dir/json"
"$bench/plot.py" "$dir/json" "$dir"
for plot in lookup build frontier; do well_formed "$dir/$plot.svg"; done
for table in table standalone ribbon_slots; do
  grep -q '^| RocksDB ' "$dir/$table.md" || fail "$table.md lacks RocksDB"
done

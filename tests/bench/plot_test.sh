#!/usr/bin/env bash
# plot_test.sh FILTER_BENCH BENCH_DIR: plot.py draws what filter_bench writes,
# well-formed and the same each time; the committed plots and README's table are
# those of the committed results.
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
for results in filter_bench standalone ribbon_slots; do
  "$bench/plot.py" "$bench/results/$results.json" "$dir/committed"
done
for plot in lookup build frontier; do
  well_formed "$dir/committed/$plot.svg"
  cmp "$dir/committed/$plot.svg" "$bench/results/$plot.svg" ||
    fail "results/$plot.svg is not what plot.py makes of the results"
done

# shows TABLE PAGE: the committed table is that of the results, and on the page.
shows() {
  local line
  cmp "$dir/committed/$1" "$bench/results/$1" ||
    fail "results/$1 is not what plot.py makes of the results"
  while read -r line; do
    grep -Fxq -- "$line" "$bench/../$2" || fail "$2 lacks: $line"
  done <"$dir/committed/$1"
}
shows table.md README.md
shows standalone.md lib/standalone/README.md
shows ribbon_slots.md bench/README.md

# status EXPECTED COMMAND...
status() {
  local expected=$1 found=0
  shift
  "$@" >/dev/null 2>"$dir/err" || found=$?
  ((found == expected)) || fail "$*: exit status $found, not $expected"
}
echo '{"filters": [], "frontier": []}' >"$dir/empty"
status 2 "$bench/plot.py" "$dir/empty"
status 1 "$bench/plot.py" "$dir/empty" "$dir"
status 1 "$bench/plot.py" "$dir/none" "$dir"
status 1 "$bench/plot.py" "$bench/plot.py" "$dir"

found=0
"$program" --keys 1000,2000 --rates 0.01 --repetitions 3 --min-time 0.0001 \
  --absent 20000 --frontier-keys 1000 --json "$dir/json" >/dev/null \
  2>"$dir/err" || found=$?
if grep -q 'built without optimisation' "$dir/err"; then
  echo "not measured, and so not drawn: $(cat "$dir/err")"
  exit 77
fi
((found == 0)) || fail "filter_bench: $(cat "$dir/err")"
"$bench/plot.py" "$dir/json" "$dir"
for plot in lookup build frontier; do well_formed "$dir/$plot.svg"; done

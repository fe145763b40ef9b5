#!/usr/bin/env bash
# Puts the tables of the committed results into the pages that show them.
#
#   bench/put_tables.sh [ROOT]    of a tree; this one's without
set -euo pipefail

bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${1:-$bench/..}
put() {
  "$bench/plot.py" --put "$bench/results/$1" "$root/$2"
}
put overview.md README.md
put quickstart.txt doc/filter_policy.md
put table.md doc/benchmarks.md
put mixes.md doc/benchmarks.md
put standalone.md lib/standalone/README.md
put reads.md doc/benchmarks.md
put ribbon_slots.md doc/benchmarks.md
put cases.md doc/filter_policy.md
put large.md doc/planning.md

#!/usr/bin/env bash
# A seed means a run: the same operations and reads, whatever the threads do.
#
#   repeat_test.sh FILTER_STRESS
set -euo pipefail

run() {
  "$1" --seed "$2" --kinds threads --threads 2 | grep -E '^(operations|reads checked) '
}

first=$(run "$1" 7)
second=$(run "$1" 7)
other=$(run "$1" 8)
printf 'seed 7:\n%s\nagain:\n%s\nseed 8:\n%s\n' "$first" "$second" "$other"
[[ $first == "$second" && $first != "$other" ]]

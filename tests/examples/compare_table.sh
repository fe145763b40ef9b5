#!/usr/bin/env bash
# compare_table.sh README RESULT: fails unless a fenced block of README is
# RESULT, line for line.
set -euo pipefail

readme=$1
result=$2
first=$(head -n 1 "$result")
if ! diff <(awk -v first="$first" '$0 == first { inside = 1 }
  /^```/ { inside = 0 }
  inside' "$readme") "$result"; then
  echo "$readme: the table (<) is not $result (>)"
  exit 1
fi

#!/usr/bin/env bash
# run_example.sh PROGRAM: runs it in a directory of its own, and checks what it
# prints: the row that it scans, and that a filter skipped the absent one.
set -euo pipefail

program=$(realpath "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
"$program" >output
diff - output <<'EXPECTED'
user_1001:mail
asked 2 times, file skipped 1 times
EXPECTED

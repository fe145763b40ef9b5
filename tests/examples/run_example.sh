#!/usr/bin/env bash
# run_example.sh PROGRAM: runs it in a directory of its own, and checks what it
# prints: the row that it scans, and that a filter skipped the absent one.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
"$1" >output
diff - output <<'EXPECTED'
user_1001:mail
asked for 3 keys, skipped the file for 1
EXPECTED

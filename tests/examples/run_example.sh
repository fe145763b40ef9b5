#!/usr/bin/env bash
# run_example.sh PROGRAM: runs it in a directory of its own, and checks what it
# prints: that a filter skipped the file for the absent row.
set -euo pipefail

program=$(realpath "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
"$program" >output
diff - output <<'EXPECTED'
OK, skipped 1 file
EXPECTED

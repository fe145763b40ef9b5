#!/usr/bin/env bash
# run_example.sh PROGRAM EXPECTED: runs it in a directory of its own, and checks
# that it prints EXPECTED, a file: what filters skipped is in there.
set -euo pipefail

program=$(realpath "$1")
expected=$(realpath "$2")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
"$program" >output
diff "$expected" output

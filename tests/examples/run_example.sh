#!/usr/bin/env bash
# run_example.sh PROGRAM EXPECTED [SCRIPT]: runs it in a directory of its own, and
# checks that it prints EXPECTED, a file: what filters skipped is in there. SCRIPT,
# for sed, takes figures out of both that are others each time. A program in Python
# is skipped without it.
set -euo pipefail
# shellcheck source=tests/support/outside.sh
source "$(dirname "${BASH_SOURCE[0]}")/../support/outside.sh"

program=$(realpath "$1")
expected=$(realpath "$2")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
command=("$program")
if [[ $program == *.py ]]; then
  command -v python3 >/dev/null || skip_without python3 "$1 is written in it"
  command=(python3 -B "$program")
fi
"${command[@]}" >output
diff <(sed -E "${3:-}" "$expected") <(sed -E "${3:-}" output)

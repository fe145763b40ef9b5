#!/usr/bin/env bash
# python_test.sh SCRIPT ARGUMENT...: a test in Python, where there is Python.
set -euo pipefail
# shellcheck source=tests/support/outside.sh
source "$(dirname "${BASH_SOURCE[0]}")/outside.sh"

command -v python3 >/dev/null || skip_without python3 "$1 is written in it"
exec python3 -B "$@"

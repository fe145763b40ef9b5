#!/usr/bin/env bash
# decoder_test.sh ARGUMENT...: decoder_test.py with these, where there is Python.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=tests/support/outside.sh
source "$here/../../../support/outside.sh"

command -v python3 >/dev/null || skip_without python3 "the decoder is written in it"
exec python3 -B "$here/decoder_test.py" "$@"

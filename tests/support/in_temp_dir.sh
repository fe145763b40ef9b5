#!/usr/bin/env bash
# in_temp_dir.sh PROGRAM ARGUMENT...: runs it in a directory of its own.
set -euo pipefail

program=$(realpath "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
"$program" "${@:2}"

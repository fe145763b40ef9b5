#!/usr/bin/env bash
# Installs what is missing, builds the release preset, and runs all tests, or those
# that ctest's ARGUMENTs choose.
#
#   tools/test.sh [ARGUMENT...]
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools/setup.sh
cmake --preset release
cmake --build --preset release
ctest --preset release "$@"

#!/usr/bin/env bash
# Installs what is missing, builds the release preset, and runs all tests.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools/setup.sh
cmake --preset release
cmake --build --preset release
ctest --preset release

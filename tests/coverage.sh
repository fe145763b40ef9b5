#!/usr/bin/env bash
# coverage.sh: the share of the lines of lib and storage that tests reach, by
# folder, as GCC's gcov counts them. The tests are those that the address
# sanitizer runs, at the same scale. Not part of CI.
set -euo pipefail

if (($# > 0)); then
  echo "usage: tests/coverage.sh" >&2
  exit 2
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cmake --preset coverage
cmake --build --preset coverage
find build/coverage -name '*.gcda' -delete
# Lines are counted when tests fail, too.
ctest --preset coverage || echo "coverage.sh: tests failed" >&2
exec python3 tests/coverage.py build/coverage

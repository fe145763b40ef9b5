# Sourced by tests that are scripts. outside.h has the names and their meaning.
# shellcheck shell=bash

# skip_without NAME TEXT...: ends a test that misses NAME: as skipped, which exit
# status 77 stands for, or, if ROWBLOOM_REQUIRE names it, as failed.
skip_without() {
  if [[ ,${ROWBLOOM_REQUIRE-}, == *,"$1",* ]]; then
    echo "FAILED: ROWBLOOM_REQUIRE names $1, which is not here: ${*:2}"
    exit 1
  fi
  echo "SKIPPED: $1: ${*:2}"
  exit 77
}

# Sourced by the scripts that make results: builds $program, names the commit that
# is measured, and makes a folder $work for the results, which goes with the
# script: the old ones stay until the new ones are whole.
# shellcheck shell=bash

tools/setup.sh
cmake --preset release
cmake --build --preset release --target "${program:?}"

ROWBLOOM_COMMIT=$(git rev-parse HEAD 2>/dev/null || true)
if [[ -n $ROWBLOOM_COMMIT ]] &&
  ! git diff --quiet HEAD -- ':!bench/results'; then
  ROWBLOOM_COMMIT+=-modified
fi
export ROWBLOOM_COMMIT

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

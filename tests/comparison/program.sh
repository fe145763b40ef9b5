# Sourced by the tests of the benchmarks' programs, whose arguments are the
# program and a sample of its input: $program, $sample, an empty folder $dir that
# goes with the test, and how to run the program and look at what it printed.
# shellcheck shell=bash

program=$1
# shellcheck disable=SC2034  # for the test
sample=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TMPDIR=$dir/tmp
mkdir "$TMPDIR"

fail() {
  echo "FAILED: $*"
  cat "$dir/out" "$dir/err"
  exit 1
}

# run STATUS ARGUMENT...
run() {
  local expected=$1 status=0
  shift
  "$program" "$@" >"$dir/out" 2>"$dir/err" || status=$?
  if grep -q 'built without optimisation' "$dir/err"; then
    echo "skipped: $(cat "$dir/err")"
    exit 77
  fi
  ((status == expected)) || fail "$*: exit status $status, not $expected"
}

# says FILE TEXT
says() {
  grep -qF -- "$2" "$dir/$1" || fail "\"$2\" is not in std$1"
}

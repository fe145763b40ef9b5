#!/usr/bin/env bash
# setup_test.sh SETUP: tools/setup.sh installs what is missing, nothing else,
# and leaves the network alone when nothing is. With stand-ins for dpkg-query,
# apt-get and sudo that write down their calls.
# The stand-ins expand their variables, not this script.
# shellcheck disable=SC2016
set -euo pipefail

setup=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail() {
  echo "FAILED: $*"
  cat "$dir/out" "$dir/calls"
  exit 1
}

# stand_in NAME BODY
stand_in() {
  printf '#!/bin/bash\n%s\n' "$2" >"$dir/bin/$1"
  chmod +x "$dir/bin/$1"
}
mkdir "$dir/bin"
export CALLS=$dir/calls PRESENT=$dir/present
stand_in sudo 'exec "$@"'
stand_in apt-get 'echo "apt-get $*" >>"$CALLS"; ! read -r'
# Like the real one: a line for each known package, the status of removed ones
# included, and exit status 1 for unknown ones.
stand_in dpkg-query 'name=${*: -1}
if grep -qx "$name" "$PRESENT"; then echo installed; exit 0; fi
if [[ $name == cmake ]]; then echo config-files; exit 0; fi
exit 1'

# run EXPECTED_STATUS ARGUMENT...
run() {
  local expected=$1 status=0
  shift
  : >"$CALLS"
  PATH="$dir/bin:$PATH" "$setup" "$@" >"$dir/out" 2>&1 || status=$?
  ((status == expected)) || fail "exit status $status, not $expected"
}

: >"$PRESENT"
run 0
[[ $(head -1 "$CALLS") == "apt-get update"* ]] || fail "no apt-get update"
install=$(sed -n '/^apt-get install/p' "$CALLS")
all=()
for word in ${install#apt-get install}; do
  [[ $word == -* ]] || all+=("$word")
done
((${#all[@]} >= 10)) || fail "too few packages"
for name in g++ cmake ninja-build librocksdb-dev; do
  [[ " ${all[*]} " == *" $name "* ]] || fail "$name is not installed"
done

printf '%s\n' "${all[@]}" >"$PRESENT"
run 0
[[ ! -s $CALLS ]] || fail "apt-get was called and nothing was missing"

grep -vx -e librocksdb-dev "$PRESENT" >"$dir/less"
mv "$dir/less" "$PRESENT"
run 0
grep -qE '^apt-get install( -[^ ]+)* librocksdb-dev$' "$CALLS" ||
  fail "not just librocksdb-dev was installed"

printf '%s\n' "${all[@]}" >"$PRESENT"
run 0 clang-format
grep -qE '^apt-get install( -[^ ]+)* clang-format$' "$CALLS" ||
  fail "not just clang-format was installed"

# Some of it is for benchmarks alone; who cannot install it builds without.
mkdir "$dir/no_sudo"
ln -s "$dir"/bin/{apt-get,dpkg-query} "$(command -v grep)" "$dir/no_sudo"
chmod -R a+rX "$dir"
as_user=()
((EUID != 0)) || as_user=("$(command -v setpriv)" --reuid=65534 --clear-groups)
: >"$CALLS"
PATH=$dir/no_sudo "${as_user[@]}" "$BASH" -s clang-format <"$setup" \
  >"$dir/out" 2>&1 || fail "a user without root and sudo cannot go on"
grep -q 'going on without clang-format$' "$dir/out" ||
  fail "it does not say that clang-format is missing"
[[ ! -s $CALLS ]] || fail "apt-get was called by a user without root"

stand_in apt-get 'echo "apt-get $*" >>"$CALLS"; exit 100'
run 100 clang-format

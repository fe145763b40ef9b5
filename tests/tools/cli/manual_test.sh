#!/usr/bin/env bash
# manual_test.sh PROGRAM...: the manual page and the completion that programs
# generate name each verb; groff takes the page, and bash the completion.
set -euo pipefail
# shellcheck source=tests/support/outside.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../support/outside.sh"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail() {
  echo "FAILED: $*"
  exit 1
}

# completed WORD...: what completes the last word of a command line.
completed() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  "_$1"
  echo "${COMPREPLY[*]-}"
}

# expect COMPLETION WORD...
expect() {
  local found
  found=$(completed "${@:2}")
  [[ $found == "$1" ]] || fail "${*:2}: completed as \"$found\", expected \"$1\""
}

for program in "$@"; do
  name=${program##*/}
  "$program" --generate man >"$dir/$name.1"
  "$program" --generate bash >"$dir/$name.bash"
  # shellcheck source=/dev/null
  source "$dir/$name.bash"
  complete -p "$name" >/dev/null
  mapfile -t verbs < <("$program" --help |
    sed -nE 's/^  ([a-z]+[a-z-]*) +[A-Z].*/\1/p')
  ((${#verbs[@]} > 10)) || fail "$name has ${#verbs[@]} verbs"
  expect "${verbs[*]}" "$name" ""
  for verb in "${verbs[@]}"; do
    grep -q "^.SS $name ${verb//-/\\\\-}" "$dir/$name.1" ||
      fail "$name.1 does not have $verb"
  done
done
expect "scan" rowbloom sc
expect "--prefix" rowbloom scan --pre
expect "--prefix" rowbloom scan --db users.db --pre
expect "" rowbloom scan --db ""
expect "--row" sst_inspect probe users.db --r
grep -q '^\\fB\\-\\-prefix\\fR ROW$' "$dir/rowbloom.1" ||
  fail "rowbloom.1 does not have --prefix"

# zsh takes the same script, and chooses among its answers by itself.
if command -v zsh >/dev/null; then
  zsh -f -c "autoload -U compinit bashcompinit; compinit -D; bashcompinit
    source $dir/rowbloom.bash
    COMP_WORDS=(rowbloom scan --pre) COMP_CWORD=2
    compgen -F _rowbloom -- --pre" >"$dir/zsh"
  grep -qx -e --prefix "$dir/zsh" || fail "zsh completed $(cat "$dir/zsh")"
fi

if ! command -v groff >/dev/null; then
  skip_without groff "groff is not here"
fi
for page in "$dir"/*.1; do
  groff -man -ww -z "$page" 2>"$dir/warnings"
  [[ ! -s $dir/warnings ]] || fail "${page##*/}: $(cat "$dir/warnings")"
done

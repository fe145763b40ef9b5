#!/usr/bin/env bash
# terminal_test.sh ROWBLOOM: on a terminal a load, an export and an import show a
# line of progress, with the share and the rate; drop asks; a shell has a prompt
# and completes verbs.
set -euo pipefail
# shellcheck source=tests/support/outside.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../support/outside.sh"

rowbloom=$(realpath "$1")
dir=$(mktemp -d "${TMPDIR:-/tmp}/rowbloom-terminal.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# on_terminal COMMAND: what it prints goes to the file screen.
on_terminal() {
  script -qec "$1" /dev/null </dev/null >screen 2>&1
}

if ! on_terminal true; then
  skip_without terminal "no terminal can be opened here: $(cat screen)"
fi
for ((i = 0; i < 20000; ++i)); do
  printf 'row%05d\tf:q\t%0100d\n' "$i" "$i"
done >cells.tsv
# shows TEXT COMMAND: the screen of a command that succeeds has the pattern.
shows() {
  local status=0
  on_terminal "$2" || status=$?
  ((status == 0)) && grep -q "$1" screen && return
  echo "FAILED: $2: no progress on a terminal, exit status $status:"
  cat -v screen
  exit 1
}

shows "cells.tsv: [0-9]* % of 2.2 MiB, [0-9,]* cells, [0-9,]* cells/s" \
  "'$rowbloom' load --db db cells.tsv"
shows "out: [0-9]* % of 20,000 cells, [0-9,]* cells/s" \
  "'$rowbloom' export-hfile --db db out"
shows "out: [0-9]* % of 20,000 cells, [0-9,]* cells/s" \
  "'$rowbloom' import-hfile --db db --latest-as-new out"

# typed COMMAND TEXT...: somebody types each text once the program waits, the
# first one after a question or a prompt.
typed() {
  local command=$1 i
  shift
  : >screen
  # shellcheck disable=SC2094  # the size of the screen is read, not the screen
  {
    for ((i = 0; i < 600; ++i)); do
      [[ ! -s screen ]] || break
      sleep 0.1
    done
    for text; do sleep 1 && printf '%b' "$text"; done && sleep 1
  } | script -qec "$command" /dev/null >>screen 2>&1
}
"$rowbloom" create --db asked --family a --family b
families() { "$rowbloom" describe --db asked | cut -d , -f 1 | paste -sd ' '; }
fail() {
  echo "FAILED: $*:"
  cat -v screen
  exit 1
}
status=0
typed "'$rowbloom' drop --db asked --family '\\x62'" 'no\n' || status=$?
((status == 2)) || fail "drop, with no for an answer, ends with $status"
grep -q 'Drop b with all cells? \[y/N\]' screen || fail "drop does not ask"
[[ $(families) == "a b" ]] || fail "drop did not wait for a yes"
typed "'$rowbloom' drop --db asked --family b" 'y\n' || fail "drop"
[[ $(families) == a ]] || fail "drop did not drop"
on_terminal "'$rowbloom' truncate --db asked --family a --yes" ||
  fail "truncate --yes asks"
"$rowbloom" backup --db asked backups >made
"$rowbloom" backup --db asked backups >made
status=0
typed "'$rowbloom' backups backups --keep 1" 'no\n' || status=$?
((status == 2)) || fail "backups --keep, with no for an answer, ends with $status"
grep -q 'Delete all backups but 1? \[y/N\]' screen || fail "backups does not ask"
on_terminal "'$rowbloom' backups backups --delete 1 --yes" ||
  fail "backups --yes asks"
[[ $("$rowbloom" backups backups --json) == '{"backup":2,'* ]] ||
  fail "backups deleted another one"

typed "'$rowbloom' shell --db asked" \
  'put r a:q typed\nget r a:none\nexis\t r\nexit\n' || fail "a shell"
grep -q 'rowbloom> ' screen || fail "a shell has no prompt"
grep -q '^yes' screen || fail "Tab does not complete exis to exists"
[[ $("$rowbloom" get --db asked r a:q) == typed ]] || fail "a shell's put"
for locale in C C.UTF-8; do
  LC_ALL=$locale typed "'$rowbloom' shell --db asked" \
    "put $locale a:q gr\\xc3\\xbcn\nexit\n" ||
    fail "a shell in the locale $locale"
  [[ $("$rowbloom" get --db asked "$locale" a:q) == 'gr\xC3\xBCn' ]] ||
    fail "a shell drops letters that are not ASCII in the locale $locale"
done
# Ctrl-D ends a value, not the terminal.
typed "'$rowbloom' shell --db asked" 'put r a:one -\n' '1\x04\x04' \
  'put r a:two -\n' '2\x04\x04' 'exit\n' || fail "a shell with typed values"
[[ $("$rowbloom" row --db asked r a:one a:two | cut -f 3 | paste -sd ' ') == "1 2" ]] ||
  fail "a shell takes one typed value"
echo "ok"

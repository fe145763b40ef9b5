#!/usr/bin/env bash
# process_test.sh ROWBLOOM: the program as a process: in pipes, and when somebody
# presses Ctrl-C.
set -euo pipefail

rowbloom=$(realpath "$1")
dir=$(mktemp -d "${TMPDIR:-/tmp}/rowbloom-process.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cd "$dir"

fail() {
  echo "FAILED: $*"
  exit 1
}

# expect WHAT EXPECTED FOUND
expect() {
  [[ $2 == "$3" ]] || fail "$1: expected '$2', found '$3'"
}

# wait_for WHAT COMMAND...: until it succeeds, for a minute.
wait_for() {
  local what=$1 i
  shift
  for ((i = 0; i < 600; ++i)); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.1
  done
  fail "$what: not within a minute"
}

code_of() {
  local code=0
  "$@" >out 2>err || code=$?
  echo "$code"
}

rows=20000
for ((i = 0; i < rows; ++i)); do
  printf 'row%05d\tf:q\t%0100d\n' "$i" "$i"
done >cells.tsv

# Standard input, a file by redirection, and output into a pipe.
"$rowbloom" load --db db - <cells.tsv >summary
expect "cells of standard input" "$rows cells," "$(cut -d ' ' -f 1,2 summary)"
expect "rows of a scan" "$rows" "$("$rowbloom" scan --db db | wc -l)"
# The value as bytes, there and back.
printf 'a\0b\n' >value
"$rowbloom" put --db db r f:bytes - <value
"$rowbloom" get --db db --raw r f:bytes | cmp - value ||
  fail "a value does not come back as it went in"

# A reader that has enough ends the scan, silently: by SIGPIPE, or where that is
# ignored by an error. The store is larger than what a pipe holds.
set +e
"$rowbloom" scan --db db 2>err | head -n 1 >first
codes=("${PIPESTATUS[@]}")
expect "scan into head" "141 0" "${codes[*]}"
expect "scan into head, standard error" "" "$(cat err)"
(
  trap '' PIPE
  exec "$rowbloom" scan --db db 2>err
) | head -n 1 >first
codes=("${PIPESTATUS[@]}")
set -e
expect "scan into head, SIGPIPE ignored" "2 0" "${codes[*]}"
expect "scan into head, SIGPIPE ignored" \
  "rowbloom: cannot write to standard output" "$(cat err)"
if [[ -w /dev/full ]]; then
  code=0
  "$rowbloom" scan --db db >/dev/full 2>err || code=$?
  expect "scan onto a full disk" 2 "$code"
fi

# Found is shown while the input goes on.
printf 'known\n' | "$rowbloom" filter build --expected 10 --fpp 0.01 -o filter \
  >summary
mkfifo lines
"$rowbloom" filter check filter <lines >known &
exec 3>lines
echo known >&3
wait_for "a line that the filter has" test -s known
exec 3>&-
wait $!

# Exit codes.
expect "get of an absent cell" 1 "$(code_of "$rowbloom" get --db db r f:none)"
expect "an unknown verb" 2 "$(code_of "$rowbloom" fetch)"
expect "no store" 2 "$(code_of "$rowbloom" scan --db none)"

# Writes of one cell are versions of their own, and processes that follow each
# other do not move the store's clock.
"$rowbloom" create --db versions --family f,versions=5
for value in 1 2 3 4 5; do "$rowbloom" put --db versions r f:q "$value"; done
expect "values of five puts" "5 4 3 2 1" \
  "$("$rowbloom" get --db versions --versions 9 r f:q | cut -f 2 | xargs)"
printf 's\tf:q\t%s\n' 1 2 3 | "$rowbloom" load --db versions - >summary
expect "values of a load of three lines" "3 2 1" \
  "$("$rowbloom" get --db versions --versions 9 s f:q | cut -f 2 | xargs)"
for ((i = 0; i < 40; ++i)); do "$rowbloom" delete --db versions t f:q; done
"$rowbloom" put --db versions t f:q v
now=$(date +%s%3N)
timestamp=$("$rowbloom" get --db versions --versions 1 t f:q | cut -f 1)
((timestamp <= now)) ||
  fail "a put after forty deletes: $((timestamp - now)) ms in the future"

# Ctrl-C while a load waits for input: what came is kept, the store opens. Jobs
# in the background of a script ignore SIGINT unless told otherwise.
interrupt() {
  local signal=$1 expected=$2 db=$3 load code=0
  mkfifo "pipe.$db"
  env --default-signal="$signal" "$rowbloom" load --db "$db" - \
    <"pipe.$db" >"out.$db" 2>"err.$db" &
  load=$!
  exec 3>"pipe.$db"
  # More than a batch, so that the store is seen to have it; no end of input,
  # and half a line at last.
  cat cells.tsv >&3
  printf 'row_half\tf:q\thal' >&3
  wait_for "$signal: cells of the first batch" \
    "$rowbloom" get --db "$db" row00001 f:q
  # It has read all there is, or is about to.
  kill -s "$signal" "$load"
  wait "$load" || code=$?
  exec 3>&-
  expect "$signal: exit code" "$expected" "$code"
  local lines
  lines=$("$rowbloom" scan --db "$db" | wc -l)
  expect "$signal: standard error" \
    "rowbloom: standard input:$((lines + 1)): interrupted; cells loaded: $lines" \
    "$(cat "err.$db")"
  ((lines > 0 && lines <= rows)) || fail "$signal: $lines cells"
  # The store takes more.
  "$rowbloom" put --db "$db" r f:q v
}
interrupt INT 130 interrupted
interrupt TERM 143 terminated
echo "ok"

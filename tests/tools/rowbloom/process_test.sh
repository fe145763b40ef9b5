#!/usr/bin/env bash
# process_test.sh ROWBLOOM SST_INSPECT: the programs as processes: while input
# goes on, when somebody presses Ctrl-C, and when they are killed.
set -euo pipefail

rowbloom=$(realpath "$1")
sst_inspect=$(realpath "$2")
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

rows=20000
for ((i = 0; i < rows; ++i)); do
  printf 'row%05d\tf:q\t%0100d\n' "$i" "$i"
done >cells.tsv

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

# Ctrl-C while a script of the shell loads: the script ends, with that code.
"$rowbloom" create --db shelled --family f
mkfifo pipe.shelled
printf 'load pipe.shelled\nput r f:q later\n' >script
env --default-signal=INT "$rowbloom" shell --db shelled <script 2>err &
shell=$!
# The pipe holds less than this, so that the load has begun.
exec 3>pipe.shelled
cat cells.tsv >&3
code=0
kill -s INT "$shell"
wait "$shell" || code=$?
exec 3>&-
expect "shell: exit code" 130 "$code"
expect "shell: standard error" "rowbloom: line 1 failed, and the shell ends" \
  "$(tail -n 1 err)"
code=0
"$rowbloom" get --db shelled r f:q 2>err || code=$?
expect "shell: no cell of the line after it" 1 "$code"

# Ctrl-C while output goes on: it ends with a whole line. More is left than what
# a pipe holds.
stop() {
  local signal=$1 expected=$2 program code=0
  shift 2
  mkfifo output
  env --default-signal="$signal" "$@" <&0 >output 2>err &
  program=$!
  exec 3<output
  read -r _ <&3
  kill -s "$signal" "$program"
  cat <&3 >rest
  exec 3<&-
  wait "$program" || code=$?
  rm output
  expect "$*: exit code" "$expected" "$code"
  expect "$*: standard error" "$(basename "$1"): interrupted" "$(cat err)"
  expect "$*: last byte" "" "$(tail -c 1 rest)"
  (($(wc -l <rest) < rows - 1)) || fail "$*: all lines"
}
"$rowbloom" load --db stopped cells.tsv >out
stop INT 130 "$rowbloom" scan --db stopped
stop TERM 143 "$rowbloom" scan --db stopped --json
stop INT 130 "$sst_inspect" data stopped
stop TERM 143 "$sst_inspect" data --json stopped

# Ctrl-C while absent keys are made, which takes minutes and reads nothing.
env --default-signal=INT "$sst_inspect" measure-fpr --count 10000000 stopped \
  >out 2>err &
program=$!
sleep 1
kill -s INT "$program"
for ((tenths = 0; tenths < 200; ++tenths)); do
  kill -0 "$program" 2>/dev/null || break
  sleep 0.1
done
kill -s KILL "$program" 2>/dev/null || true
code=0
wait "$program" || code=$?
expect "measure-fpr: exit code" 130 "$code"

# An import that is killed has loaded nothing or all; begun again, it loads each
# cell once, and nothing staged is left.
loads() { compgen -G "$1/ROWBLOOM_LOAD-*" >/dev/null; }
shown() { "$rowbloom" scan --db "$1" --versions 9 | md5sum; }

# import_again DB: after an import into it died.
import_again() {
  local db=$1 found
  local -a again=("$rowbloom" import-hfile --db "$db" --latest-as-new hfiles)
  found=$(shown "$db")
  [[ $found == "$nothing" || $found == "$all" ]] ||
    fail "$db: it shows neither nothing nor all"
  found=$("${again[@]}")
  [[ $found == "2 files, $((2 * rows)) cells, $((2 * rows)) puts"* ]] ||
    fail "$db: begun again, it says $found"
  expect "$db: cells of the second import" "$all" "$(shown "$db")"
  if loads "$db"; then fail "$db: staged files are left"; fi
  rm -r "$db"
}

families=(--family f --family "v,timestamps=client")
sed 's/\tf:/\tv:/' cells.tsv >client.tsv
"$rowbloom" create --db empty "${families[@]}"
cp -r empty full
"$rowbloom" load --db full cells.tsv >out
"$rowbloom" load --db full --ts 7 client.tsv >out
"$rowbloom" export-hfile --db full hfiles >out
nothing=$(shown empty)
all=$(shown full)
for seconds in 0 0.01 0.02 0.04 0.08 0.16; do
  cp -r empty "killed.$seconds"
  "$rowbloom" import-hfile --db "killed.$seconds" --latest-as-new hfiles \
    >out 2>err &
  sleep "$seconds"
  kill -KILL $! 2>/dev/null || true
  wait $! 2>/dev/null || true
  import_again "killed.$seconds"
done
# A limit on a file's size kills it while it writes a staged file; in tmpfs,
# where the kernel counts what RocksDB preallocates, when it opens the store.
: >room
code=0
(ulimit -c 0 -f 64 && exec fallocate --keep-size --length 1M room) || code=$?
limits=(64 100)
((code != 128 + $(kill -l XFSZ))) || limits=()
for kilobytes in "${limits[@]}"; do
  cp -r empty "limited.$kilobytes"
  code=0
  (
    ulimit -c 0 -f "$kilobytes"
    exec "$rowbloom" import-hfile --db "limited.$kilobytes" --latest-as-new hfiles
  ) >out 2>err || code=$?
  expect "file of $kilobytes KB: exit code" $((128 + $(kill -l XFSZ))) "$code"
  loads "limited.$kilobytes" || fail "$kilobytes KB: nothing was staged"
  import_again "limited.$kilobytes"
done
echo "ok"

# Sourced by scripts in which RocksDB's db_bench, ldb and sst_dump, which know
# nothing of rowbloom, use a database whose OPTIONS name its policy and
# extractor. Databases are DIR/db.
# shellcheck shell=bash

policy=rowbloom.filter:ROWCOL:bloom:0.01:0:uniform:fixed:8
extractor=rowbloom.row:fixed:8

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# expect_equal WHAT EXPECTED ACTUAL
expect_equal() {
  [[ $2 == "$3" ]] || fail "$1: expected $2, got $3"
}

# Runs benchmarks and prints what db_bench says. Its keys have 16 bytes: a row of
# 8 and a qualifier of 8.
# bench DIR BENCHMARKS ARGUMENT...
bench() {
  db_bench --db="$1/db" --options_file="$1/options" --num=20000 \
    --key_size=16 --value_size=20 --benchmarks="$2" "${@:3}" 2>&1
}

# make_db DIR: has db_bench write some 12,600 of 20,000 keys to one file.
make_db() {
  cat >"$1/options" <<OPTIONS
[Version]
  rocksdb_version=7.8.3
  options_file_version=1.1
[DBOptions]
  create_if_missing=true
[CFOptions "default"]
  prefix_extractor=$extractor
  level0_file_num_compaction_trigger=100
[TableOptions/BlockBasedTable "default"]
  filter_policy=$policy
OPTIONS
  bench "$1" fillrandom,flush --seed=1 >"$1/output" || {
    cat "$1/output"
    fail "db_bench cannot make a database"
  }
}

# read_db DIR: has db_bench read, and prints what it says.
read_db() {
  bench "$1" readrandom,readmissing,seekrandom,stats --use_existing_db \
    --statistics --prefix_same_as_start --seed=2
}

# The names that OPTIONS has for the policy and the extractor.
# named_in_options DB
named_in_options() {
  local options
  options=$(find "$1" -name 'OPTIONS-*' | sort -V | tail -1)
  sed -n 's/^  filter_policy=//p; s/^  prefix_extractor=//p' "$options" | sort |
    paste -sd ' '
}

# The value of a property, one line for each file.
# file_property DB NAME
file_property() {
  sst_dump --file="$1" --command=check --show_properties |
    sed -n "s/^  $2: //p"
}

# The count of a ticker in what db_bench, or the statistics in a LOG, say.
# ticker NAME FILE
ticker() {
  local count
  count=$(sed -n "s/^rocksdb\.${1//./\\.} COUNT : //p" "$2" | tail -1)
  [[ $count =~ ^[0-9]+$ ]] || fail "no ticker $1 in the statistics"
  echo "$count"
}

# found BENCHMARK FILE: "N of M" keys, as db_bench says.
found() {
  sed -nE "s/^$1 .*\(([0-9]+ of [0-9]+) found\).*/\1/p" "$2"
}

# Seeks that filters answered; RocksDB 8.7 and up count them apart.
# seek_skips FILE
seek_skips() {
  local tickers='bloom\.filter\.prefix\.useful'
  tickers+='|(non\.)?last\.level\.seek\.filtered'
  sed -nE "s/^rocksdb\.($tickers) COUNT : //p" "$1" |
    awk '{ sum += $1 } END { print sum + 0 }'
}

# expect_skips FILE: what db_bench said of read_db shows that filters were used,
# and right.
expect_skips() {
  expect_equal "keys that readmissing found" "0 of 20000" \
    "$(found readmissing "$1")"

  # 20,000 gets of absent keys and some 7,400 of readrandom have nothing to
  # find; 1 % of them pass the filter. Two more 1 % are slack.
  local read absent useful
  read=$(found readrandom "$1")
  absent=$((40000 - ${read%% *}))
  useful=$(ticker bloom.filter.useful "$1")
  ((useful * 100 > absent * 97)) ||
    fail "$useful of $absent absent keys were ruled out"
  ((useful <= absent)) || fail "$useful skips for $absent absent keys"
  expect_equal "keys found behind a filter" "${read%% *}" \
    "$(ticker bloom.filter.full.true.positive "$1")"
  (($(seek_skips "$1") > 5000)) || fail "row scans did not use the filters"
}

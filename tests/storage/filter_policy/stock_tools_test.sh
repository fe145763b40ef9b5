#!/usr/bin/env bash
# stock_tools_test.sh CASE PLUGIN STRICT_LOAD OTHER_VERSION: programs that know
# nothing of rowbloom - RocksDB's ldb, sst_dump and db_bench, and STRICT_LOAD -
# use a database whose OPTIONS name rowbloom's policy and extractor, with PLUGIN
# preloaded. Each case looks at what happens without PLUGIN, too.
set -euo pipefail
# shellcheck source=tests/support/outside.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../support/outside.sh"

test_case=$1
plugin=$2
strict_load=$3
other_version=$4
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TMPDIR=$dir TEST_TMPDIR=$dir

policy=rowbloom.filter:ROWCOL:bloom:0.01:0:uniform:fixed:8
extractor=rowbloom.row:fixed:8

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# The librocksdb that a program or library loads.
rocksdb_of() {
  ldd "$1" | awk '$1 ~ /^librocksdb/ { print $3 }'
}

for tool in ldb sst_dump db_bench; do
  path=$(command -v "$tool") ||
    skip_without rocksdb-tools "no $tool; Debian has it in rocksdb-tools"
  [[ $(rocksdb_of "$path") == "$(rocksdb_of "$plugin")" ]] ||
    skip_without rocksdb-tools \
      "$tool and the plugin use different RocksDB libraries"
done

# with_plugin COMMAND ARGUMENT...
with_plugin() {
  LD_PRELOAD=$plugin "$@"
}

# without_plugin COMMAND ARGUMENT...
without_plugin() {
  "$@"
}

# expect_equal WHAT EXPECTED ACTUAL
expect_equal() {
  [[ $2 == "$3" ]] || fail "$1: expected $2, got $3"
}

# Runs benchmarks on a database, by default $dir/db, and prints what db_bench
# says. Its keys have 16 bytes: a row of 8 and a qualifier of 8.
# bench with_plugin|without_plugin BENCHMARKS ARGUMENT...
bench() {
  "$1" db_bench --db="$dir/db" --options_file="$dir/options" --num=20000 \
    --key_size=16 --value_size=20 --benchmarks="$2" "${@:3}" 2>&1
}

# $dir/db, written by db_bench: some 12,600 of 20,000 keys in one file.
make_db() {
  cat >"$dir/options" <<OPTIONS
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
  bench with_plugin fillrandom,flush --seed=1 >"$dir/output" || {
    cat "$dir/output"
    fail "db_bench cannot make a database"
  }
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

# OPTIONS name everything, and only the plugin can make something of it.
test_options() {
  make_db
  expect_equal "policy and extractor in OPTIONS" "$policy $extractor" \
    "$(named_in_options "$dir/db")"
  expect_equal "strict load with the plugin" \
    "default: $policy, $extractor" "$(with_plugin "$strict_load" "$dir/db")"
  local said
  said=$(without_plugin "$strict_load" "$dir/db") &&
    fail "strict load without the plugin: $said"
  [[ $said == *"Could not load"* ]] || fail "strict load says: $said"
  # It is the extractor that RocksDB misses. It never reports a policy.
  sed -i 's/^  prefix_extractor=.*/  prefix_extractor=nullptr/' \
    "$dir"/db/OPTIONS-*
  expect_equal "strict load of a policy without the plugin" \
    "default: no filter policy, no prefix extractor" \
    "$(without_plugin "$strict_load" "$dir/db")"
}

# Preloaded into what has no use for it, the plugin is not noticed.
test_plugin() {
  make_db
  expect_equal "what a program without RocksDB prints" "" \
    "$(with_plugin true 2>&1)"
  local said
  said=$(LD_PRELOAD="$other_version $plugin" "$strict_load" "$dir/db" 2>&1) &&
    fail "registered with another RocksDB: $said"
  [[ $said == *"Could not load"* ]] || fail "with another RocksDB: $said"
  if nm -DC --defined-only "$plugin" | grep rowbloom; then
    fail "the plugin's functions can replace those of a program"
  fi
}

# What sst_dump says of all checksums; its exit status is 0 in any case.
# verified with_plugin|without_plugin
verified() {
  "$1" sst_dump --file="$dir/db" --command=verify --verify_checksum 2>&1
}

test_sst_dump() {
  make_db
  expect_equal "policy of the file" "$policy" \
    "$(file_property "$dir/db" 'filter policy name')"
  expect_equal "extractor of the file" "$extractor" \
    "$(file_property "$dir/db" 'prefix extractor name')"
  local keys
  keys=$(file_property "$dir/db" '# entries')
  ((keys > 12000)) || fail "$keys keys in the file"
  local run
  for run in with_plugin without_plugin; do
    expect_equal "keys that sst_dump reads, $run" "$keys" \
      "$("$run" sst_dump --file="$dir/db" --command=scan --output_hex |
        grep -c ' => ')"
    [[ $(verified "$run") == *"The file is ok"* ]] ||
      fail "$run: $(verified "$run")"
  done
  # The check above can fail.
  local file
  file=$(find "$dir/db" -name '*.sst')
  printf 'XXXX' | dd of="$file" bs=1 seek=99 conv=notrunc status=none
  [[ $(verified with_plugin) != *"The file is ok"* ]] ||
    fail "a damaged file passes"
}

# Gets keys that only the older of two files has, and prints how often the
# filter of the newer one ruled it out, from the statistics in the LOG.
# ldb_skips with_plugin|without_plugin DB
ldb_skips() {
  local db=$2 gets=8 options
  options=$(find "$db" -name 'OPTIONS-*' | sort -V | tail -1)
  sed -i -e '/^  statistics=/d' -e '/^  stats_dump_period_sec=/d' \
    -e 's/^\[DBOptions\]/&\n  statistics=BasicStatistics/' \
    -e 's/^\[DBOptions\]/&\n  stats_dump_period_sec=1/' "$options"
  rm -f "$db"/LOG*
  {
    for ((i = 0; i < gets; ++i)); do echo "get user150${i}mail"; done
    # ldb lives until its input ends: not before all gets have been counted.
    for ((i = 0; i < 600; ++i)); do
      ! grep -qs "number.keys.read COUNT : $gets\$" "$db/LOG" || break
      sleep 0.1
    done
  } | "$1" ldb --db="$db" --try_load_options query >"$dir/output"
  expect_equal "gets that ldb answered" "$gets" "$(grep -c ada "$dir/output")"
  expect_equal "gets that ldb counted" "$gets" \
    "$(ticker number.keys.read "$db/LOG")"
  ticker bloom.filter.useful "$db/LOG"
}

test_ldb() {
  make_db
  local ldb=(ldb --db="$dir/db" --try_load_options) cells=() i
  for ((i = 0; i < 8; ++i)); do cells+=("user150${i}mail" ada); done
  # Each of these leaves its cells in the log, and the next to write makes a
  # file of them.
  with_plugin "${ldb[@]}" batchput user1000mail ada user1999mail ada \
    "${cells[@]}" >"$dir/output"
  with_plugin "${ldb[@]}" batchput user1100mail eve user1900mail eve \
    >"$dir/output"
  expect_equal "get" ada "$(with_plugin "${ldb[@]}" get user1503mail)"
  local said
  said=$(with_plugin "${ldb[@]}" get user1503mai1 2>&1) || true
  [[ $said == *NotFound* || $said == *"not found"* ]] ||
    fail "get of an absent cell: $said"
  said=$(with_plugin "${ldb[@]}" scan --from=user1100 --to=user1101)
  [[ $said =~ ^user1100mail\ (:|==>)\ eve$ ]] || fail "scan of a row: $said"
  cp -r "$dir/db" "$dir/without"

  local skips
  skips=$(ldb_skips with_plugin "$dir/db")
  ((skips > 0)) || fail "ldb did not use the filters"
  with_plugin "${ldb[@]}" compact
  expect_equal "policy of the file that ldb wrote" "$policy" \
    "$(file_property "$dir/db" 'filter policy name')"
  expect_equal "OPTIONS that ldb wrote" "$policy $extractor" \
    "$(named_in_options "$dir/db")"

  # Without the plugin every key is read, by no filter, and what is written
  # forgets the policy.
  skips=$(ldb_skips without_plugin "$dir/without")
  expect_equal "skips without the plugin" 0 "$skips"
  without_plugin ldb --db="$dir/without" compact
  expect_equal "policy of a file written without the plugin" "N/A" \
    "$(file_property "$dir/without" 'filter policy name')"
  expect_equal "OPTIONS written without the plugin" "nullptr nullptr" \
    "$(named_in_options "$dir/without")"
  with_plugin "${ldb[@]}" scan --hex >"$dir/output"
  without_plugin ldb --db="$dir/without" scan --hex | cmp - "$dir/output" ||
    fail "the plugin changes what is read"
}

# found BENCHMARK FILE: "N of M" keys, as db_bench says.
found() {
  sed -nE "s/^$1 .*\(([0-9]+ of [0-9]+) found\).*/\1/p" "$2"
}

test_db_bench() {
  make_db
  local run
  for run in with_plugin without_plugin; do
    bench "$run" readrandom,readmissing,seekrandom,stats --use_existing_db \
      --statistics --prefix_same_as_start --seed=2 >"$dir/$run"
  done
  local benchmark
  for benchmark in readrandom readmissing seekrandom; do
    [[ -n $(found "$benchmark" "$dir/with_plugin") ]] ||
      fail "$benchmark did not run"
    expect_equal "keys that $benchmark found" \
      "$(found "$benchmark" "$dir/without_plugin")" \
      "$(found "$benchmark" "$dir/with_plugin")"
  done
  expect_equal "keys that readmissing found" "0 of 20000" \
    "$(found readmissing "$dir/with_plugin")"

  # 20,000 gets of absent keys and some 7,400 of readrandom have nothing to
  # find; 1 % of them pass the filter. Two more 1 % are slack.
  local read absent useful
  read=$(found readrandom "$dir/with_plugin")
  absent=$((40000 - ${read%% *}))
  useful=$(ticker bloom.filter.useful "$dir/with_plugin")
  ((useful * 100 > absent * 97)) ||
    fail "$useful of $absent absent keys were ruled out"
  ((useful <= absent)) || fail "$useful skips for $absent absent keys"
  expect_equal "keys found behind a filter" "${read%% *}" \
    "$(ticker bloom.filter.full.true.positive "$dir/with_plugin")"
  (($(seek_skips "$dir/with_plugin") > 5000)) ||
    fail "row scans did not use the filters"

  expect_equal "skips without the plugin" 0 \
    "$(ticker bloom.filter.useful "$dir/without_plugin")"
  expect_equal "skips of row scans without the plugin" 0 \
    "$(seek_skips "$dir/without_plugin")"
}

# Seeks that filters answered; RocksDB 8.7 and up count them apart.
# seek_skips FILE
seek_skips() {
  local tickers='bloom\.filter\.prefix\.useful'
  tickers+='|(non\.)?last\.level\.seek\.filtered'
  sed -nE "s/^rocksdb\.($tickers) COUNT : //p" "$1" |
    awk '{ sum += $1 } END { print sum + 0 }'
}

case $test_case in
  options | plugin | ldb | sst_dump | db_bench) "test_$test_case" ;;
  *) fail "unknown case $test_case" ;;
esac

#!/usr/bin/env bash
# stock_tools_test.sh CASE PLUGIN STRICT_LOAD OTHER_VERSION: programs that know
# nothing of rowbloom - RocksDB's ldb, sst_dump and db_bench, and STRICT_LOAD -
# use a database whose OPTIONS name rowbloom's policy and extractor, with PLUGIN
# preloaded. Each case looks at what happens without PLUGIN, too.
set -euo pipefail
# shellcheck source=tests/support/outside.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../support/outside.sh"
# shellcheck source=tests/support/stock_tools.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../support/stock_tools.sh"

test_case=$1
plugin=$2
strict_load=$3
other_version=$4
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TMPDIR=$dir TEST_TMPDIR=$dir

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

# OPTIONS name everything, and only the plugin can make something of it.
test_options() {
  with_plugin make_db "$dir"
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
  with_plugin make_db "$dir"
  expect_equal "what a program without RocksDB prints" "" \
    "$(with_plugin env true 2>&1)" # bash's own true loads nothing
  local said
  said=$(LD_PRELOAD="$other_version $plugin" "$strict_load" "$dir/db" 2>&1) &&
    fail "registered with another RocksDB: $said"
  [[ $said == *"Could not load"* ]] || fail "with another RocksDB: $said"
  local symbols
  symbols=$(nm -DC "$plugin")
  [[ $symbols == *" U rocksdb::"* ]] || fail "nm shows no symbols of the plugin"
  if grep -v " U " <<<"$symbols" | grep rowbloom; then
    fail "the plugin's functions can replace those of a program"
  fi
}

# Prints sst_dump's verdict on all checksums; its exit status is always 0.
# verified with_plugin|without_plugin
verified() {
  "$1" sst_dump --file="$dir/db" --command=verify --verify_checksum 2>&1
}

test_sst_dump() {
  with_plugin make_db "$dir"
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
  with_plugin make_db "$dir"
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

  # Without the plugin, gets read every key with no filter, and files that are
  # written have no policy.
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

test_db_bench() {
  with_plugin make_db "$dir"
  local run
  for run in with_plugin without_plugin; do
    "$run" read_db "$dir" >"$dir/$run"
  done
  local benchmark
  for benchmark in readrandom readmissing seekrandom; do
    [[ -n $(found "$benchmark" "$dir/with_plugin") ]] ||
      fail "$benchmark did not run"
    expect_equal "keys that $benchmark found" \
      "$(found "$benchmark" "$dir/without_plugin")" \
      "$(found "$benchmark" "$dir/with_plugin")"
  done
  expect_skips "$dir/with_plugin"

  expect_equal "skips without the plugin" 0 \
    "$(ticker bloom.filter.useful "$dir/without_plugin")"
  expect_equal "skips of row scans without the plugin" 0 \
    "$(seek_skips "$dir/without_plugin")"
}

case $test_case in
  options | plugin | ldb | sst_dump | db_bench) "test_$test_case" ;;
  *) fail "unknown case $test_case" ;;
esac

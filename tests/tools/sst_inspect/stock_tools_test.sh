#!/usr/bin/env bash
# stock_tools_test.sh SST_INSPECT: files that RocksDB's db_bench wrote, with each
# kind of filter, compression and index, show the same cells through sst_inspect
# as through RocksDB's sst_dump, and verify.
set -euo pipefail
# shellcheck source=tests/support/outside.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../support/outside.sh"

sst_inspect=$1
if ! command -v db_bench >/dev/null || ! command -v sst_dump >/dev/null; then
  skip_without rocksdb-tools "db_bench and sst_dump are not here"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# compare NAME DB_BENCH_OPTION...
compare() {
  local name=$1 db=$work/$1 file stock=$work/stock own=$work/own
  shift
  db_bench --benchmarks=fillrandom,compact --num=20000 --value_size=50 \
    --seed=1 --db="$db" "$@" >"$work/log" 2>&1 || {
    cat "$work/log"
    exit 1
  }
  file=$(find "$db" -name '*.sst' | sort | tail -n 1)
  # sst_dump: 'KEY' seq:N, type:T => VALUE, all in upper case hex.
  sst_dump --file="$file" --command=scan --output_hex 2>/dev/null |
    sed -n "s/^'\([0-9A-F]*\)' seq:\([0-9]*\), type:1 => \([0-9A-F]*\)$/\1 \2 \3/p" \
      >"$stock"
  "$sst_inspect" data --whole-keys --hex "$file" | tail -n +2 |
    sed -n 's/^  \([0-9a-f]*\)  *put  *\([0-9]*\) *\([0-9a-f]*\)$/\U\1 \2 \3/p' \
      >"$own"
  if [[ ! -s $stock ]] || ! cmp -s "$stock" "$own"; then
    echo "$name: sst_dump and sst_inspect data differ:"
    diff "$stock" "$own" | head -n 5
    exit 1
  fi
  "$sst_inspect" verify "$db" >"$work/verify" || {
    cat "$work/verify"
    exit 1
  }
  echo "$name: $(wc -l <"$own") cells, $(grep filter "$work/verify" | head -n 1)"
}

compare bloom --bloom_bits=10 --compression_type=snappy
compare ribbon --bloom_bits=10 --use_ribbon_filter=true --compression_type=lz4
compare legacy --bloom_bits=10 --format_version=2 --compression_type=zlib
compare partitioned --bloom_bits=10 --partition_index=true \
  --partition_index_and_filters=true --compression_type=zstd
compare dictionary --compression_type=zstd --compression_max_dict_bytes=4096
compare prefix --bloom_bits=10 --prefix_size=8 --compression_type=none
compare data_hash --use_data_block_hash_index=true --compression_type=lz4hc

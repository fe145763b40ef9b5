#!/usr/bin/env bash
# Writes table files, and what RocksDB's own sst_dump reads in them, to DIR: see
# tests/data/tables/README.md.
#
#   tests/golden/write_tables.sh BUILD DIR
#
# BUILD is the directory that tests/compat/rocksdb_source.sh made for a version
# of RocksDB: build/rocksdb-source/VERSION.
set -euo pipefail

if (($# != 2)) || [[ ! -e $1/rocksdb/tools/sst_dump ]]; then
  echo "usage: tests/golden/write_tables.sh BUILD DIR" >&2
  exit 2
fi
build=$1
dir=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --build "$build/rowbloom" --target write_tables
"$build/rowbloom/tests/golden/write_tables" "$dir"

# scan FILE: its entries, a line for each; none of a file that sst_dump refuses.
scan() {
  "$build/rocksdb/tools/sst_dump" --file="$1" --command=scan --output_hex \
    2>/dev/null | grep "^'" || true
}

for file in "$dir"/*.sst; do
  name=$(basename "$file" .sst)
  case $name in
    flushed) scan "$file" >"$dir/$name.scan.txt" ;;
    blobs) ;; # sst_dump does not follow references
    custom)
      [[ -z $(scan "$file") ]] || {
        echo "FAILED: sst_dump reads $file" >&2
        exit 1
      }
      ;;
    *)
      # All others have the same cells.
      scan "$file" >"$work/$name"
      [[ -e $dir/cells.scan.txt ]] || cp "$work/$name" "$dir/cells.scan.txt"
      cmp "$work/$name" "$dir/cells.scan.txt"
      ;;
  esac
done

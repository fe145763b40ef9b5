#!/usr/bin/env bash
# The memory that an export and an import hold at their peak, and their time.
#
#   bench/transfer_memory.sh [ROWBLOOM] [CELLS:STORES:FILE_BYTES]...
#
# Small cells, four to a row, are dealt over STORES stores, each of which is
# exported to files of about FILE_BYTES. All exports are imported into one store:
# files of different stores overlap in all of their rows. Needs GNU time, and some
# 500 bytes of disk a cell below TMPDIR. Results: bench/results/transfer_memory.txt.
set -euo pipefail

if [[ ${1-} == -* ]]; then
  echo "usage: bench/transfer_memory.sh [ROWBLOOM]" \
    "[CELLS:STORES:FILE_BYTES]..." >&2
  exit 2
fi
export LC_ALL=C # printf takes the decimal point of GNU time
rowbloom=$(realpath "${1:-build/release/tools/rowbloom/rowbloom}")
shift || true
(($# > 0)) || set -- 1000000:1:1000000000 10000000:1:1000000000 \
  30000000:1:1000000000 10000000:32:1000000000 1000000:1:20000
dir=$(mktemp -d "${TMPDIR:-/tmp}/transfer-memory.XXXXXX")
trap 'rm -rf "$dir"' EXIT
family=f,timestamps=client,bloom=ROWCOL

# measure NAME COMMAND...: prints the name, the peak and the time.
measure() {
  command time -f '%M %e %U' -o "$dir/time" "${@:2}" >"$dir/out"
  read -r kilobytes wall user <"$dir/time"
  printf '%10d %6d %7d  %-6s %7.1f MB %7.1f s %7.1f s of user time\n' "$cells" \
    "$stores" "$(find "$dir/hfiles" -type f | wc -l)" "$1" \
    "$((kilobytes * 1024 / 100000))e-1" "$wall" "$user"
}

echo "     cells stores   files  verb        peak       time"
for shape; do
  IFS=: read -r cells stores file_bytes <<<"$shape"
  mkdir "$dir/hfiles"
  for ((store = 0; store < stores; ++store)); do
    awk -v cells="$cells" -v stores="$stores" -v store="$store" 'BEGIN {
      for (i = store; i < cells; i += stores) {
        printf "user%010d\tf:column%d\t%d\n", i / 4, i % 4, i
      }
    }' | "$rowbloom" load --db "$dir/from" --family "$family" --ts 1700000000000 - \
      >"$dir/out"
    export_to=(export-hfile --db "$dir/from" --compression LZ4 --encoding FAST_DIFF
      --max-file-bytes "$file_bytes" "$dir/hfiles/$store")
    if ((stores == 1)); then
      measure export "$rowbloom" "${export_to[@]}"
    else
      "$rowbloom" "${export_to[@]}" >"$dir/out"
    fi
    rm -r "$dir/from"
  done
  "$rowbloom" create --db "$dir/to" --family "$family"
  measure import "$rowbloom" import-hfile --db "$dir/to" "$dir/hfiles"
  if ! grep -q ", $cells puts," "$dir/out"; then
    echo "transfer_memory: expected $cells puts: $(cat "$dir/out")" >&2
    exit 1
  fi
  rm -r "$dir/to" "$dir/hfiles"
done

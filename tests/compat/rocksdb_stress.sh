#!/usr/bin/env bash
# Runs RocksDB's own stress test with rowbloom's filters and the front filter
# below it. RocksDB's script kills the test every few seconds, and begins it again
# with other options, which it draws: prefix sizes, which are those of the rows,
# kinds of filters, compactions, caches, ingestions, snapshots and more. The test
# compares all that it reads with what it wrote.
#
#   tests/compat/rocksdb_stress.sh SOURCE [SECONDS] [SEED] [ARGUMENT...]
#
# SOURCE is a directory with RocksDB's source. The library is the one that
# rocksdb_source.sh built of this version, or else the installed one, which has to
# be of it. The test runs for 600 seconds unless told otherwise; the script prints
# the seed of its options. ARGUMENTs go to RocksDB's script; one is --enable_ts.
# The build tree is build/rocksdb-stress/VERSION.
set -euo pipefail
# shellcheck source=tests/compat/rocksdb_build.sh
source "$(dirname "${BASH_SOURCE[0]}")/rocksdb_build.sh"

if (($# < 1)) || [[ ! -e $1/include/rocksdb/version.h ]]; then
  echo "usage: tests/compat/rocksdb_stress.sh SOURCE [SECONDS] [SEED]" \
    "[ARGUMENT...], with RocksDB's source" >&2
  exit 2
fi
source=$(realpath "$1")
seconds=${2:-600}
seed=${3:-$RANDOM}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
version=$(rocksdb_version "$source")
tree=$PWD/build/rocksdb-stress/$version

step "db_stress of RocksDB $version"
# Debian's library has assertions, with which RocksDB's classes have other
# members; that of rocksdb_source.sh has none.
library=(-DCMAKE_CXX_FLAGS_RELEASE=-O2)
built=$PWD/build/rocksdb-source/$version/package
if [[ -d $built ]]; then
  library=(-DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" -DRocksDB_DIR="$built")
fi
cmake --preset release -B "$tree" -DROWBLOOM_ROCKSDB_SOURCE="$source" \
  -DROWBLOOM_BUILD_BENCH=OFF -DROWBLOOM_BUILD_TOOLS=OFF "${library[@]}"
cmake --build "$tree" --target db_stress

# db_stress of RocksDB 11 injects faults into a library with assertions alone. A
# StackableDB hands no WriteBatchWithIndex on.
options=()
if ((${version%%.*} >= 11)); then
  options=(--ingest_wbwi_one_in=0)
  for fault in {,metadata_}{read,write} open_{,metadata_}{read,write}; do
    options+=("--${fault}_fault_one_in=0")
  done
fi

step "$seconds seconds, seed $seed"
export TEST_TMPDIR=$tree/databases
rm -rf "$TEST_TMPDIR"
mkdir "$TEST_TMPDIR"
python3 - "$source/tools/db_crashtest.py" "$seed" blackbox \
  --stress_cmd="$tree/tests/compat/db_stress" --duration="$seconds" \
  --interval=10 --max_key=100000 "${options[@]}" "${@:4}" <<'PYTHON' 2>&1 | tee "$tree/output"
import random
import runpy
import sys

script, seed, *arguments = sys.argv[1:]
random.seed(int(seed))
sys.argv = [script, *arguments]
runpy.run_path(script, run_name="__main__")
PYTHON
grep -q "front filters answered [1-9]" "$tree/output" ||
  fail "no front filter answered"

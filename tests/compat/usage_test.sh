#!/usr/bin/env bash
# usage_test.sh SOURCE_DIR: scripts that take long, and are not part of ctest,
# tell how they are used, and begin nothing, when they get what they do not know.
set -euo pipefail

source_dir=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# They install and build with these.
mkdir "$dir/bin"
for program in apt-get cmake ctest debootstrap dpkg-query; do
  printf '#!/bin/sh\necho "%s was called"\nexit 1\n' "$program" \
    >"$dir/bin/$program"
  chmod +x "$dir/bin/$program"
done

scripts=(tests/compat/{cross,debian13,rocksdb_plugin,rocksdb_source}.sh
  tests/compat/{rocksdb_stress,tsan_rocksdb}.sh tests/coverage.sh
  tests/golden/write_tables.sh bench/transfer_memory.sh tools/setup.sh)
for script in "${scripts[@]}"; do
  status=0
  said=$(PATH="$dir/bin:$PATH" "$source_dir/$script" --help 2>&1) ||
    status=$?
  if ((status != 2)) || [[ $said != "usage: $script"* ]]; then
    echo "FAILED: $script --help has status $status: $said"
    exit 1
  fi
done

said=$(PATH="$dir/bin:$PATH" "$source_dir/bench/run_all.sh" --help)
if [[ $said != *"bench/run_all.sh --quick"* || $said == *"set -e"* ]]; then
  echo "FAILED: bench/run_all.sh --help says: $said"
  exit 1
fi

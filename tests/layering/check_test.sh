#!/usr/bin/env bash
# check_test.sh RULE: check.sh accepts a tree that keeps RULE, and finds each
# way to break it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rule=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

new_tree() {
  rm -rf "${tree:?}"/*
  mkdir -p "$tree"/{lib,storage}/include/rowbloom "$tree"/{plugin,bench,tests,cmake}
  mkdir -p "$tree"/lib/{bytes,layout,kernels,plan,block,standalone}
  echo '#include <string>' >"$tree/lib/include/rowbloom/key.h"
  echo '#include "rocksdb/db.h"' >"$tree/storage/include/rowbloom/policy.h"
  echo '#include "rowbloom/key.h"' >"$tree/lib/key.cc"
  echo '#include "rowbloom/key.h"' >"$tree/storage/policy.cc"
  mkdir -p "$tree"/tools/{cli,rowbloom,sst,sst_inspect,table}
  echo '#include "storage/policy.h"' >"$tree/tools/tool.cc"
  echo '#include "tools/cli/text.h"' >"$tree/tools/rowbloom/run.cc"
  mkdir -p "$tree"/storage/{c,filter_policy,format,hfile,settings,store,upkeep}
  echo '#include "storage/format/coding.h"' >"$tree/storage/hfile/block.cc"
  echo '#include "lib/bytes/number.h"' >"$tree/storage/format/coding.h"
  echo '#include "storage/store/store.h"' >"$tree/storage/c/store.cc"
  echo '#include "storage/filter_policy/ids.h"' >>"$tree/storage/c/store.cc"
}

# expect STATUS LABEL
expect() {
  local status=0
  "$here/check.sh" "$rule" "$tree" >"$tree/output" 2>&1 || status=$?
  if [[ $status -ne $1 ]]; then
    echo "$2: expected exit status $1, got $status"
    cat "$tree/output"
    exit 1
  fi
}

# breaks FILE LINE: the rule must not hold once FILE has LINE.
breaks() {
  new_tree
  printf '%b\n' "$2" >>"$tree/$1"
  expect 1 "$1 with $2"
  if ! grep -q "$1" "$tree/output"; then
    echo "$1 with $2: the file is not named"
    cat "$tree/output"
    exit 1
  fi
}

new_tree
expect 0 'a tree that keeps the rule'
case $rule in
  lib_is_self_contained)
    breaks lib/key.cc '#include "rocksdb/slice.h"'
    breaks lib/key.cc '#include <rocksdb/slice.h>'
    breaks lib/include/rowbloom/key.h '#  include "rocksdb/slice.h"'
    breaks lib/key.cc '#include "storage/policy.h"'
    breaks lib/key.cc '#include "../tools/tool.h"'
    breaks lib/key.cc '#include "rowbloom/policy.h"'
    ;;
  lib_folders_have_an_order)
    breaks lib/bytes/number.h '#include "lib/layout/rule.h"'
    breaks lib/layout/rule.cc '#include "lib/block/view.h"'
    breaks lib/block/view.h '#include "lib/standalone/filter.h"'
    new_tree && rm -r "$tree/lib/plan"
    expect 1 'a tree without lib/plan'
    ;;
  storage_knows_no_tools)
    breaks storage/policy.cc '#include "tools/tool.h"'
    breaks storage/include/rowbloom/policy.h '#include "bench/bench.h"'
    ;;
  storage_folders_have_an_order)
    breaks storage/format/coding.h '#include "storage/hfile/block.h"'
    breaks storage/format/coding.h '#include "rowbloom/policy.h"'
    breaks storage/hfile/block.cc '#include "storage/filter_policy/ids.h"'
    breaks storage/hfile/block.cc '#include "storage/store/store.h"'
    breaks storage/store/store.cc '#include "storage/c/boundary.h"'
    breaks storage/store/store.cc '#include "storage/upkeep/copy.h"'
    breaks storage/upkeep/copy.cc '#include "storage/hfile/block.h"'
    breaks storage/c/store.cc '#include "storage/hfile/block.h"'
    ;;
  tools_share_no_program)
    breaks tools/cli/text.h '#include "tools/rowbloom/verbs.h"'
    breaks tools/cli/text.h '#include "tools/table/table_file.h"'
    breaks tools/sst/block.cc '#include "tools/cli/text.h"'
    breaks tools/sst/block.cc '#include "tools/table/table_file.h"'
    breaks tools/table/table_file.h '#include "tools/sst_inspect/verbs.h"'
    breaks tools/rowbloom/run.cc '#include "tools/sst_inspect/verbs.h"'
    breaks tools/sst_inspect/run.cc '#include "tools/rowbloom/verbs.h"'
    new_tree && rm -r "$tree/tools/sst"
    expect 1 'a tree without tools/sst'
    ;;
  sources_are_ascii)
    breaks lib/key.cc '// caf\xc3\xa9'
    breaks tools/tool.cc '// \xff'
    breaks cmake/install.cmake '# \xe2\x80\x94'
    ;;
  links_lead_somewhere)
    printf '[a](lib/key.cc), [b](lib/) and [c](http://host/none#d)\n' \
      >"$tree/README.md"
    expect 0 'links that exist'
    printf '# Of A (b), c\n[a](#of-a-b-c)\n' >"$tree/README.md"
    echo '[a](../README.md#of-a-b-c)' >"$tree/lib/README.md"
    expect 0 'headings that exist'
    breaks README.md '# One\n[a](#two)'
    breaks lib/README.md '# One\n[b](README.md#one-)'
    breaks README.md '[a](lib/none.md)'
    breaks lib/README.md 'See [b](key.cc) and [c](../key.cc#d).'
    ;;
  *)
    echo "unknown rule $rule"
    exit 2
    ;;
esac

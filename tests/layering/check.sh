#!/usr/bin/env bash
# check.sh RULE ROOT: prints every line of the tree at ROOT that breaks RULE,
# and exits with 1 if there is one.
set -euo pipefail

usage() {
  echo "usage: check.sh RULE ROOT; RULE: lib_is_self_contained," \
    "lib_folders_have_an_order, storage_knows_no_tools, sources_are_ascii," \
    "all" >&2
  exit 2
}

# includes FOLDER PATTERN: the includes in FOLDER of paths that match PATTERN.
includes() {
  local folder=$1 pattern=$2
  grep -rnE --include='*.h' --include='*.cc' \
    "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($pattern)" \
    "$folder" || test $? -eq 1
}

# The public headers that FOLDER/include does not have.
foreign_headers() {
  local folder=$1 header
  for header in storage/include/rowbloom/*.h; do
    header=${header#storage/include/}
    if [[ ! -e $folder/include/$header ]]; then
      includes "$folder" "${header//./\\.}"
    fi
  done
}

violations() {
  case $1 in
    lib_is_self_contained)
      includes lib 'rocksdb/|(\.\./)*(storage|tools|bench|tests)/'
      foreign_headers lib
      ;;
    lib_folders_have_an_order)
      # A folder includes those before it. lib/README.md has the same order.
      local folder later=''
      for folder in standalone block plan kernels layout bytes; do
        if [[ -n $later && -e lib/$folder ]]; then
          includes "lib/$folder" "lib/($later)/"
        fi
        later=${later:+$later|}$folder
      done
      ;;
    storage_knows_no_tools)
      includes storage '(\.\./)*(tools|bench|tests)/'
      ;;
    sources_are_ascii)
      # Bytes over 127, in whatever encoding.
      LC_ALL=C grep -rnP --include='*.h' --include='*.cc' --include='*.sh' \
        --include='*.cmake' --include='*.in' --include='CMakeLists.txt' \
        '[^\x00-\x7F]' lib storage tools bench tests cmake || test $? -eq 1
      ;;
    *) usage ;;
  esac
}

(($# == 2)) || usage
cd "$2"
rules=("$1")
if [[ $1 == all ]]; then
  rules=(lib_is_self_contained lib_folders_have_an_order
    storage_knows_no_tools sources_are_ascii)
fi
failed=0
for rule in "${rules[@]}"; do
  found=$(violations "$rule")
  if [[ -n $found ]]; then
    printf '%s is broken by:\n%s\n' "$rule" "$found"
    failed=1
  else
    echo "$rule: ok"
  fi
done
exit "$failed"

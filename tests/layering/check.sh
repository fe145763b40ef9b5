#!/usr/bin/env bash
# check.sh RULE ROOT: prints every line of the tree at ROOT that breaks RULE,
# and exits with 1 if there is one.
set -euo pipefail
shopt -s inherit_errexit # a folder that is not there is an error

usage() {
  echo "usage: check.sh RULE ROOT; RULE: lib_is_self_contained," \
    "lib_folders_have_an_order, storage_knows_no_tools," \
    "storage_folders_have_an_order, tools_share_no_program," \
    "sources_are_ascii, links_lead_somewhere, all" >&2
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
  local folder=$1 header headers=''
  for header in storage/include/rowbloom/*.h; do
    header=${header#storage/include/}
    [[ -e $folder/include/$header ]] || headers+="|${header//./\\.}"
  done
  [[ -z $headers ]] || includes "$folder" "${headers#|}"
}

# anchors PAGE: the names that GitHub gives its headings.
anchors() {
  awk '/^ *```/ { code = !code }
    !code && sub(/^#+ /, "") {
      name = tolower($0)
      gsub(/[^a-z0-9_ -]/, "", name)
      gsub(/ /, "-", name)
      print name
    }' "$1"
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
        if [[ -n $later ]]; then
          includes "lib/$folder" "lib/($later)/"
        fi
        later=${later:+$later|}$folder
      done
      ;;
    storage_knows_no_tools)
      includes storage '(\.\./)*(tools|bench|tests)/'
      ;;
    storage_folders_have_an_order)
      # A folder includes itself and those it is built on, by default format
      # alone. storage/README.md has the same.
      local folder below other others
      for folder in storage/*/; do
        folder=${folder#storage/}
        folder=${folder%/}
        case $folder in
          include) continue ;;
          format) below='' ;;
          store) below='format cells' ;;
          upkeep) below='backup format store' ;;
          c) below='format filter_policy settings store' ;;
          hfile_transfer) below='format hfile store' ;;
          *) below=format ;;
        esac
        others=include
        for other in storage/*/; do
          other=${other#storage/}
          other=${other%/}
          [[ " $folder $below " == *" $other "* ]] || others+="|$other"
        done
        includes "storage/$folder" "storage/($others)/"
      done
      foreign_headers storage/format
      ;;
    tools_share_no_program)
      # The programs include the other folders, not each other.
      includes tools/cli 'tools/(rowbloom|sst|sst_inspect|table)/'
      includes tools/sst 'tools/(cli|rowbloom|sst_inspect|table)/'
      includes tools/table 'tools/(rowbloom|sst_inspect)/'
      includes tools/rowbloom 'tools/sst_inspect/'
      includes tools/sst_inspect 'tools/rowbloom/'
      ;;
    sources_are_ascii)
      # Bytes over 127, in whatever encoding.
      LC_ALL=C grep -rnP --include='*.h' --include='*.c' --include='*.cc' \
        --include='*.sh' --include='*.py' --include='*.map' \
        --include='*.cmake' --include='*.in' --include='CMakeLists.txt' \
        '[^\x00-\x7F]' lib storage plugin tools bench tests cmake || test $? -eq 1
      ;;
    links_lead_somewhere)
      # Files that pages of this tree link to, and headings of pages.
      local page link target
      {
        find . -name '*.md' -not -path './build/*' -not -path './.git/*' \
          -exec grep -HnoE '\]\([^)#: ]*(#[^): ]*)?\)' {} + || test $? -eq 1
      } |
        while IFS=: read -r page link; do
          link=${link#*](}
          link=${link%)}
          target=${page%/*}/${link%%#*}
          [[ $link != '#'* ]] || target=$page
          if [[ ! -e $target || $link == *'#'* && $target == *.md &&
            $'\n'$(anchors "$target")$'\n' != *$'\n'"${link#*#}"$'\n'* ]]; then
            echo "$page: $link"
          fi
        done
      ;;
    *) usage ;;
  esac
}

(($# == 2)) || usage
cd "$2"
rules=("$1")
if [[ $1 == all ]]; then
  rules=(lib_is_self_contained lib_folders_have_an_order
    storage_knows_no_tools storage_folders_have_an_order tools_share_no_program
    sources_are_ascii links_lead_somewhere)
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

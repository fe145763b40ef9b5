#!/usr/bin/env bash
# compare_readme_test.sh SOURCE: compare_readme.sh accepts a page with what SOURCE
# marks in it, or with all of a source without marks, and no page with something
# else, and compare_table.sh a page with a table alone.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fence="\`\`\`"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
check=compare_readme.sh source=$dir/source.cc
grep -v '// The page' "$1" >"$source"

page() {
  printf 'Text.\n\n%s\nmake\n%s\n\n%s\n' "${fence}sh" "$fence" "${fence}cpp"
  cat "$1"
  printf '%s\n\nMore text.\n' "$fence"
}

# expect STATUS LABEL, for the page in $dir/page.md
expect() {
  local status=0
  "$here/$check" "$dir/page.md" "$source" >"$dir/output" 2>&1 || status=$?
  if [[ $status -ne $1 ]]; then
    echo "$2: expected exit status $1, got $status"
    cat "$dir/output"
    exit 1
  fi
}

page "$source" >"$dir/page.md"
expect 0 'the same text'
page <(sed 's/user_1001/user_1004/' "$source") >"$dir/page.md"
expect 1 'a changed line'
page <(sed '$d' "$source") >"$dir/page.md"
expect 1 'a missing line'
page <(cat "$source" <(echo)) >"$dir/page.md"
expect 1 'a line too many'
{
  page "$source"
  page "$source"
} >"$dir/page.md"
expect 1 'two blocks'
echo 'Text.' >"$dir/page.md"
expect 1 'no block'

page <(awk '/page ends/ { shown = 0 } shown { sub(/^  /, ""); print }
  /page begins/ { shown = 1 }' "$1") >"$dir/page.md"
expect 1 'what is marked in another source'
source=$1
expect 0 'what is marked'
page "$1" >"$dir/page.md"
expect 1 'more than what is marked'

check=compare_table.sh source=$dir/table
printf 'a 1\nb 2\n' >"$source"
page "$source" >"$dir/page.md"
expect 0 'a table'
page <(sed '$d' "$source") >"$dir/page.md"
expect 1 'a table without its end'

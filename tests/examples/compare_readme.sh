#!/usr/bin/env bash
# compare_readme.sh README SOURCE: fails unless README's one ```cpp block is
# SOURCE, line for line, or if SOURCE has the comments "The page begins." and
# "The page ends.", what is between those of each pair, without the indentation of
# main.
set -euo pipefail

readme=$1
source=$2
fence="\`\`\`"
count=$(grep -c "^${fence}cpp\$" "$readme" || true)
if [[ $count -ne 1 ]]; then
  echo "$readme: expected one block that starts with ${fence}cpp, found $count"
  exit 1
fi
shown() {
  if grep -q '// The page begins\.$' "$source"; then
    sed -n '/\/\/ The page begins\.$/,/\/\/ The page ends\.$/{/The page/!{s/^  //;p}}' "$source"
  else
    cat "$source"
  fi
}
if ! diff <(sed -n "/^${fence}cpp\$/,/^$fence\$/{/^$fence/!p}" "$readme") <(shown); then
  echo "$readme: the ${fence}cpp block (<) is not that of $source (>)"
  exit 1
fi

#!/usr/bin/env bash
# compare_readme.sh README SOURCE: fails unless README's one ```cpp block is
# SOURCE, line for line.
set -euo pipefail

readme=$1
source=$2
fence="\`\`\`"
count=$(grep -c "^${fence}cpp\$" "$readme" || true)
if [[ $count -ne 1 ]]; then
  echo "$readme: expected one block that starts with ${fence}cpp, found $count"
  exit 1
fi
if ! diff <(sed -n "/^${fence}cpp\$/,/^$fence\$/{/^$fence/!p}" "$readme") "$source"; then
  echo "$readme: the ${fence}cpp block (<) is not $source (>)"
  exit 1
fi

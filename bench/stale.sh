#!/usr/bin/env bash
# Warns of committed results that are older than the code that they measure, or
# that measures them: a line for each commit of results since which lib/,
# storage/ or bench/ changed. Always succeeds; run_all.sh makes them anew.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
grep -HoE '"commit": ?"[^"]*"' bench/results/*.json |
  sed -E 's|^bench/results/([^:]*)\.json:.*"([^"]*)"$|\2 \1|' | sort |
  awk '{ names[$1] = names[$1] " " $2 } END { for (c in names) print c names[c] }' |
  while read -r commit names; do
    if ! since=$(git rev-list --count "${commit%-modified}..HEAD" -- \
      lib storage bench ':!bench/results' ':!*.md' 2>/dev/null); then
      echo "warning: results of $commit, which this clone does not have: $names"
    elif ((since > 0)); then
      echo "warning: results of ${commit:0:12}, $since commits of lib/, storage/" \
        "and bench/ ago: $names"
    fi
  done

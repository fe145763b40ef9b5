#!/usr/bin/env bash
# Leads from a fresh clone to filters at work: installs what is missing, builds,
# loads this machine's package index into a store, compares filter settings on
# it, and looks into a filter that was written.
#
#   tools/quickstart.sh [--keep DIR]
#
# Everything is written to a temporary directory that is removed at the end, or
# to DIR, which must be new or empty.
set -euo pipefail

fail() {
  echo "quickstart: $*" >&2
  exit 2
}

step() {
  printf '\n== %s\n\n' "$*"
}

keep=
while (($# > 0)); do
  case $1 in
    --keep)
      (($# >= 2)) || fail "--keep: which directory?"
      keep=$2
      shift 2
      ;;
    -h | --help)
      sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"
      exit 0
      ;;
    *) fail "unknown argument $1; see --help" ;;
  esac
done

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [[ -n $keep ]]; then
  mkdir -p "$keep"
  work=$(cd "$keep" && pwd)
  [[ -z $(ls -A "$work") ]] || fail "$work is not empty"
else
  work=$(mktemp -d "${TMPDIR:-/tmp}/rowbloom-quickstart.XXXXXX")
  trap 'rm -rf "$work"' EXIT
fi
cd "$root"

step "1/5 What the build needs"
tools/setup.sh

step "2/5 Build"
cmake --preset release >"$work/configure.log" || {
  cat "$work/configure.log"
  exit 1
}
cmake --build --preset release \
  --target rowbloom_cli sst_inspect read_bench
bin=$root/build/release
rowbloom=$bin/tools/rowbloom/rowbloom
sst_inspect=$bin/tools/sst_inspect/sst_inspect
started=$SECONDS

step "3/5 Load the package index of this machine into a store"
# Below this many packages, filters have nothing to tell apart.
readonly enough=1000
input=$work/packages
count=0
if command -v apt-cache >/dev/null && apt-cache dumpavail >"$input"; then
  count=$(grep -c '^Package:' "$input" || true)
fi
if ((count < enough)); then
  echo "apt-cache knows $count packages; taking tests/data/packages.sample"
  cp "$root/tests/data/packages.sample" "$input"
fi
"$rowbloom" load --db "$work/store" --family package,bloom=ROWCOL "$input"

# A package that every Debian has, or else the first.
name=$(awk '/^Package: / { if (first == "") first = $2; if ($2 == "bash") bash = $2 }
  END { print bash != "" ? bash : first }' "$input")
printf '\n$ rowbloom get --db STORE %s package:Version\n' "$name"
"$rowbloom" get --db "$work/store" "$name" package:Version
printf '\n$ rowbloom row --db STORE %s    (lines cut at 100 columns)\n' "$name"
"$rowbloom" row --db "$work/store" "$name" | cut -c 1-100

printf '\n$ rowbloom stats --db STORE\n'
"$rowbloom" stats --db "$work/store"

step "4/5 The same cells in plain RocksDB, under four filter settings"
ROWBLOOM_COMMIT=$(git rev-parse HEAD 2>/dev/null || true)
export ROWBLOOM_COMMIT
"$bin/bench/read_bench" --overview --input "$input" \
  --db "$work/databases" --json "$work/quickstart.json"

step "5/5 Inside one of the files with ROW and ROWCOL filters"
files=("$work"/databases/rowcol/*.sst)
(cd "$work" && "$sst_inspect" filter "${files[0]#"$work/"}")

printf '\nSteps 3 to 5 took %d s.' "$((SECONDS - started))"
if [[ -n $keep ]]; then
  echo " Store, databases and numbers are in $work"
else
  echo " With --keep DIR the store, the databases and the numbers stay."
fi

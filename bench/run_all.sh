#!/usr/bin/env bash
# Makes committed results anew: the programs' output (.txt), their numbers
# (.json), plots (.svg) and tables (.md), and puts the tables into the pages
# that show them. Each result names its commit.
#
#   bench/run_all.sh                 all, in about an hour
#   bench/run_all.sh NAME...         those of these names, see below
#   bench/run_all.sh --quick ...     smaller and noisier, into a folder of its own
#                                    that it names: nothing committed changes
#
# Names, with the minutes that each takes: overview (3), read_bench (14), store_bench
# (6), store_mixes (4), hfile_bench (4), front_bench (8), filter_bench (9; 4 GB of
# memory), filter_large (4; 10 GB of memory), stats_cost (1), options_bench (1),
# sst_inspect_bench (7; a file of 1 GiB).
#
# Refuses to run in a tree with changes, but for --quick. The machine should do
# nothing else. Old results stay until the new ones are whole. Exits with 3 if a
# claim is missed.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
all=(overview read_bench store_bench store_mixes hfile_bench front_bench
  filter_bench filter_large stats_cost options_bench sst_inspect_bench)
case ${1-} in
  -h | --help)
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
    exit 0
    ;;
esac
quick=false
if [[ ${1-} == --quick ]]; then
  quick=true
  shift
fi
names=("$@")
((${#names[@]} > 0)) || names=("${all[@]}")
for name in "${names[@]}"; do
  if [[ " ${all[*]} " != *" $name "* ]]; then
    echo "run_all: unknown name $name; known: ${all[*]}" >&2
    exit 2
  fi
done
ROWBLOOM_COMMIT=$(git rev-parse HEAD)
if ! git diff --quiet HEAD -- ':!bench/results' ':!*.md'; then
  if ! $quick; then
    echo "run_all: the tree has changes that are not committed" >&2
    exit 2
  fi
  ROWBLOOM_COMMIT+=-modified
fi
export ROWBLOOM_COMMIT

tools/setup.sh
cmake --preset release
cmake --build --preset release --target read_bench store_bench hfile_bench \
  front_bench filter_bench stats_cost options_bench sst_inspect_bench sst_inspect
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
packages=$work/packages
apt-cache dumpavail >"$packages"
results=bench/results
if $quick; then results=$(mktemp -d); fi
missed=0

# measure RESULT PROGRAM ARGUMENT...: RESULT.txt and RESULT.json.
measure() {
  local result=$work/results/$1 program=$2 status=0
  shift 2
  echo "== ${result##*/}" >&2
  "build/release/bench/$program" "$@" --json "$result.json" >"$result.txt" ||
    status=$?
  ((status == 0 || status == 3)) || exit "$status"
  ((status == 0)) || missed=3
}

# args FULL... -- QUICK...: sets args to the ones or, with --quick, the others.
args() {
  local full=()
  while [[ $1 != -- ]]; do
    full+=("$1")
    shift
  done
  args=("${full[@]}")
  if $quick; then args=("${@:2}"); fi
}

# run NAME
run() {
  case $1 in
    overview)
      args -- --seconds 0 --operations 2000
      measure quickstart read_bench --overview --input "$packages" "${args[@]}"
      measure synthetic read_bench --overview "${args[@]}"
      measure spread read_bench --overview --spread-rows "${args[@]}"
      measure one_file read_bench --overview --files 1 "${args[@]}"
      measure two_files read_bench --overview --files 2 "${args[@]}"
      measure one_column read_bench --overview --synthetic 200000x1 "${args[@]}"
      ;;
    read_bench)
      args -- --cells 60000 --questions 80000 --seconds 0
      measure read_bench read_bench --check "${args[@]}"
      measure read_bench_packages read_bench --check --input "$packages" \
        "${args[@]}"
      # The tables of single shapes are in the JSON.
      sed -i -n '/^wasted /,$p' "$work"/results/read_bench{,_packages}.txt
      ;;
    store_bench)
      args -- --quick --seconds 0.1
      measure store_bench store_bench --check --mix-rows 0 "${args[@]}"
      measure store_bench_packages store_bench --check --mix-rows 0 \
        --input "$packages" "${args[@]}"
      ;;
    store_mixes)
      args --seconds 8 -- --mix-rows 10000 --seconds 0.2
      measure store_mixes store_bench --only mix --synthetic 1000x2 "${args[@]}"
      ;;
    hfile_bench)
      args -- --seconds 0.1
      measure hfile_bench hfile_bench --check "${args[@]}"
      measure hfile_bench_packages hfile_bench --check --input "$packages" \
        "${args[@]}"
      ;;
    front_bench)
      args --seconds 12 -- --rows 20000 --seconds 0.1
      measure front_bench front_bench --check "${args[@]}"
      ;;
    filter_bench)
      args -- --keys 1000,10000,100000 --absent 100000 --frontier-keys 1000 \
        --benchmark_repetitions=6 --benchmark_min_time=0.0001
      echo "== filter_bench" >&2
      # The rate is that of the tables and plots; the frontier has others.
      build/release/bench/filter_bench --rates 0.01 "${args[@]}" \
        --json "$work/google.json" >"$work/google.txt"
      bench/plot.py --compact "$work/google.json" \
        "$work/results/filter_bench.json"
      ;;
    filter_large)
      args --keys 100000000 --benchmark_repetitions=2 -- --keys 100000 \
        --absent 100000 --benchmark_repetitions=2
      echo "== filter_large" >&2
      local large=(build/release/bench/filter_bench --rates 0.01
        --frontier-keys 0 "${args[@]}")
      # The fastest kernel comes first.
      local shape='row[+]column/.*/rowbloom' kernel
      kernel=$("${large[@]}" --benchmark_filter="$shape" --benchmark_list_tests |
        awk -F / 'NR == 1 { print $6 }')
      "${large[@]}" \
        --benchmark_filter="$shape.*/$kernel/.*/(build|lookup, absent row)\$" \
        --json "$work/google.json" >"$work/google.txt"
      bench/plot.py --compact "$work/google.json" \
        "$work/results/filter_large.json"
      ;;
    stats_cost)
      args -- --rows 20000 --seconds 0.1
      measure stats_cost stats_cost "${args[@]}"
      ;;
    options_bench)
      args -- --families 5 --seconds 0.1
      measure options_bench options_bench --check "${args[@]}"
      ;;
    sst_inspect_bench)
      args -- --mib 16
      measure sst_inspect_bench sst_inspect_bench --check \
        build/release/tools/sst_inspect/sst_inspect "${args[@]}"
      ;;
  esac
}

mkdir "$work/results"
for name in "${names[@]}"; do
  run "$name"
  for drawn in filter_bench filter_large front_bench read_bench store_mixes; do
    if [[ -e $work/results/$drawn.json ]]; then
      bench/plot.py "$work/results/$drawn.json" "$work/results"
    fi
  done
  if [[ $name == overview ]]; then
    bench/plot.py "$work/results" "$work/results"
  fi
  mv "$work/results"/* "$results"
done
if $quick; then
  echo "results: $results"
else
  bench/put_tables.sh
fi
exit "$missed"

#!/usr/bin/env bash
# page_commands_test.sh DATA PAGE PROGRAM...: runs the commands of these
# programs that a page has in `...`, in their order. Only a diff may find
# something: its exit code is 1.
set -euo pipefail

data=$1
page=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

names=
mkdir "$dir/bin"
for program in "${@:3}"; do
  ln -s "$program" "$dir/bin/"
  names+="${names:+|}${program##*/}"
done
PATH=$dir/bin:$PATH
mapfile -t commands < <(grep -oE "\`($names) [^\`]+\`" "$page" | tr -d '`')
((${#commands[@]} > 10)) || {
  echo "FAILED: $page has ${#commands[@]} commands"
  exit 1
}

cd "$dir"
tar xzf "$data/golden/1/databases/delimited__-full.tar.gz"
mv delimited__-full users.db
cp users.db/00002[12].sst .
printf 'user_1001\tinfo:name\tAda\n' >cells.tsv
echo 'get user_1001 info:name' >commands.txt
for command in "${commands[@]}"; do
  code=0
  eval "$command" </dev/null >out 2>&1 || code=$?
  expected=0
  [[ $command != *" diff "* ]] || expected=1
  ((code == expected)) || {
    echo "FAILED: $command: exit code $code, expected $expected"
    cat out
    exit 1
  }
done
echo "${#commands[@]} commands were run"

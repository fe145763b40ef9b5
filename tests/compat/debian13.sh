#!/usr/bin/env bash
# Builds and tests the committed state on Debian 13, whose RocksDB is 9.10, in a
# root of its own; then databases change hands between its programs and those
# built here, on Debian 12 with RocksDB 7.8. Needs to be root, and about 3 GB.
#
#   tests/compat/debian13.sh [DIR]
#
# DIR is where the Debian root is, or is to be made; by default
# build/debian13. A second run takes the root that is there. The programs of
# this machine come from build/release, which is made if it is missing.
set -euo pipefail

# shellcheck source=tests/compat/swaps.sh
source "$(dirname "${BASH_SOURCE[0]}")/swaps.sh"

if (($# > 1)) || [[ ${1-} == -* ]]; then
  echo "usage: tests/compat/debian13.sh [DIR]" >&2
  exit 2
fi
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
root=$(realpath -m "${1:-$source_dir/build/debian13}")
programs=build/release/tests/compat # in the source tree, here and there

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

step() {
  printf '\n== %s\n\n' "$*"
}

# in_root COMMAND ARGUMENT...: runs it in the Debian root, with the devices of
# this machine, terminals and shared memory among them. The mounts go with the
# process.
in_root() {
  # shellcheck disable=SC2016  # the inner shell expands
  root=$root unshare --mount bash -euo pipefail -c '
    mount --bind /proc "$root/proc"
    mount --rbind /dev "$root/dev"
    exec chroot "$root" env -i HOME=/root LANG=C.UTF-8 \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
  ' in_root "$@" </dev/null
}

# here|there COMMAND NAME ARGUMENT...: swap_db on databases that both can see,
# as this machine's program and as that of the Debian root.
here() {
  "$source_dir/$programs/swap_db" "$1" "$root/src/swaps/$2" "${@:3}"
}
there() {
  in_root "/src/rowbloom/$programs/swap_db" "$1" "/src/swaps/$2" "${@:3}"
}

# There is no way back from tables of the format that 9.10 has as default. The
# refusal changes nothing: 9.10 still reads them.
newer_tables() {
  local said status=0
  there write newer-tables 6
  said=$(here check newer-tables 2>&1) || status=$?
  ((status == 1)) || fail "check of newer tables has status $status: $said"
  [[ $said == *"format_version"* ]] || fail "check of newer tables: $said"
  check there newer-tables
  summary+=("tables of format_version 6, here: $said")
}

# A program of this machine, on the library of the Debian root: the loader does
# not find the one that it asks for, and rowbloom refuses one that was put in
# its place.
other_library() {
  local dir=/src/other_library said status soname library
  rm -rf "$root$dir"
  mkdir -p "$root$dir/lib"
  cp "$source_dir/$programs/make_policy" "$root$dir/"
  status=0
  said=$(in_root "$dir/make_policy" 2>&1) || status=$?
  ((status == 127)) || fail "make_policy has status $status: $said"
  summary+=("program of here on Debian 13: $said")

  soname=$(ldd "$source_dir/$programs/make_policy" |
    awk '$1 ~ /^librocksdb/ { print $1 }')
  library=$(in_root ldd "/src/rowbloom/$programs/make_policy" |
    awk '$1 ~ /^librocksdb/ { print $3 }')
  ln -s "$library" "$root$dir/lib/$soname"
  status=0
  said=$(in_root env LD_LIBRARY_PATH="$dir/lib" "$dir/make_policy" 2>&1) ||
    status=$?
  ((status == 1)) || fail "make_policy has status $status: $said"
  [[ $said == *"compiled for RocksDB 7.8, and the library loaded is 9.10"* ]] ||
    fail "make_policy says: $said"
  summary+=("the same with $library as $soname: $said")
}

if ((EUID != 0)); then
  echo "debian13: needs to be root, for debootstrap and chroot" >&2
  exit 2
fi

step "programs of this machine"
cd "$source_dir"
tools/setup.sh debootstrap
cmake --preset release
cmake --build --preset release --target swap_db make_policy

step "Debian 13: build and tests"
# A root in which debootstrap was interrupted still has its log. DIR may be a
# directory with a folder of that name, which is not ours to remove.
if [[ -e $root/debootstrap/debootstrap.log ]]; then
  rm -rf --one-file-system "$root"
fi
if [[ ! -e $root/etc/debian_version ]]; then
  mkdir -p "$root"
  debootstrap --variant=minbase trixie "$root"
fi
cp /etc/hosts /etc/resolv.conf "$root/etc/"
# Installed packages start no services.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"
# The build tree stays from run to run, and files that are as they were keep
# their time: a second run builds what changed. Others get the time of now, as
# git gives them that of the commit.
there_dir=$root/src/rowbloom
mkdir -p "$there_dir"
rm -rf "$there_dir.new"
mkdir "$there_dir.new"
git archive HEAD | tar -x -C "$there_dir.new"
find "$there_dir.new" -type f -printf '%P\0' | while read -rd '' file; do
  if cmp -s "$there_dir/$file" "$there_dir.new/$file"; then
    touch -r "$there_dir/$file" "$there_dir.new/$file"
  else
    touch "$there_dir.new/$file"
  fi
done
find "$there_dir" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
cp -a "$there_dir.new/." "$there_dir/"
rm -rf "$there_dir.new"
# All that optional parts and their tests want, except for the browser.
in_root /src/rowbloom/tools/setup.sh libhiredis-dev redis-server \
  libguava-java default-jdk-headless
in_root /src/rowbloom/tools/test.sh

rm -rf "$root/src/swaps"
mkdir "$root/src/swaps"
if [[ $("$programs/make_policy" --library) != 7.8.* ]]; then
  step "SKIPPED: no database changes hands, this machine's RocksDB is not 7.8"
  exit 0
fi
step "databases change hands"
swap here there
swap there here
newer_tables
other_library

step "summary"
print_summary

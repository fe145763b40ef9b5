#!/usr/bin/env bash
# Builds and tests the committed state on Debian 13, whose RocksDB is 9.10, in a
# root of its own. Needs to be root, and about 3 GB.
#
#   tests/compat/debian13.sh [DIR]
#
# DIR is where the Debian root is, or is to be made; by default
# build/debian13. A second run takes the root that is there.
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
root=${1:-$source_dir/build/debian13}

if ((EUID != 0)); then
  echo "debian13: needs to be root, for debootstrap and chroot" >&2
  exit 2
fi
"$source_dir/tools/setup.sh" debootstrap
if [[ ! -e $root/etc/debian_version ]]; then
  mkdir -p "$root"
  debootstrap --variant=minbase trixie "$root"
fi
cp /etc/hosts /etc/resolv.conf "$root/etc/"

# The build tree stays from run to run.
mkdir -p "$root/src/rowbloom"
find "$root/src/rowbloom" -mindepth 1 -maxdepth 1 ! -name build \
  -exec rm -rf {} +
git -C "$source_dir" archive HEAD | tar -x -C "$root/src/rowbloom"

# The mounts go with the process.
export root
# shellcheck disable=SC2016  # the inner shell expands
unshare --mount bash -euo pipefail -c '
  mount --bind /proc "$root/proc"
  mount --bind /dev "$root/dev"
  exec chroot "$root" env -i HOME=/root LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    /src/rowbloom/tools/test.sh
' </dev/null

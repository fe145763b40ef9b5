#!/usr/bin/env bash
# Installs what the build and the tests need and this machine does not have,
# with apt-get. Uses no network when all is there.
#
#   tools/setup.sh [PACKAGE...]    PACKAGE: more to install
set -euo pipefail

if [[ ${1-} == -* ]]; then
  echo "usage: tools/setup.sh [PACKAGE...]" >&2
  exit 2
fi
packages=(
  g++ cmake ninja-build # to build
  librocksdb-dev        # what this plugs into
  libxxhash-dev         # hashes
  libisal-dev           # CRC32C of SST and HFile blocks
  liblz4-dev libsnappy-dev libzstd-dev zlib1g-dev # their compression
  libre2-dev                                 # regular expressions of filters
  libprotobuf-dev protobuf-compiler # trailer and file info of HFiles
  libmd-dev                         # names of HBase's regions
  libcli11-dev libfmt-dev nlohmann-json3-dev libedit-dev # the tools
  libgtest-dev libgmock-dev rocksdb-tools pkgconf groff-base # the tests
  libbenchmark-dev python3                   # filter_bench and its plots
  liblmdb-dev libsqlite3-dev                 # beside the store in store_bench
  dpkg-dev file                              # packages, by cpack
  "$@"
)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup: this is no Debian or Ubuntu; going on with what is there." \
    "Debian's names of what is needed: ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null ||
    true)
  grep -qx installed <<<"$status" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  echo "setup: all ${#packages[@]} packages are there"
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "setup: no root and no sudo; going on without ${missing[*]}" >&2
    exit 0
  fi
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq </dev/null
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null

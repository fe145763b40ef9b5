#!/usr/bin/env bash
# recipes_test.sh SOURCE_DIR CMAKE VERSION: the port for vcpkg and the recipe for
# Conan have the project's version, configure it with options that it has, name its
# libraries, and want the libraries that Debian's packages in tools/setup.sh have.
# Neither vcpkg nor Conan is here: stand-ins run the recipes. With
# ROWBLOOM_BUILD_RECIPES=1 the port is also built and installed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/support/outside.sh
source "$here/../support/outside.sh"

source_dir=$1
cmake=$2
version=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PYTHONDONTWRITEBYTECODE=1

fail() {
  echo "FAILED: $*"
  exit 1
}

if ! command -v python3 >/dev/null; then
  skip_without python3 "the recipe for Conan is written in it"
fi

# configured LOG BUILD: nothing but the libraries, with options that there are.
configured() {
  if grep -A 5 'Manually-specified variables were not used' "$1"; then
    fail "an option that the project does not have"
  fi
  for part in TOOLS TESTS BENCH; do
    grep -qE "^ROWBLOOM_BUILD_$part:[A-Z]+=(OFF|FALSE)$" "$2/CMakeCache.txt" ||
      fail "ROWBLOOM_BUILD_$part is on"
  done
}

echo "== vcpkg"
port=$source_dir/packaging/vcpkg/rowbloom
"$cmake" "-DPORT=$port/portfile.cmake" "-DDIR=$dir/vcpkg" \
  "-DBUILD=${ROWBLOOM_BUILD_RECIPES:-OFF}" -P "$here/vcpkg.cmake" \
  >"$dir/log" 2>&1 || fail "the portfile: $(cat "$dir/log")"
configured "$dir/log" "$dir/vcpkg/build"

echo "== Conan"
python3 "$here/conan_recipe.py" "$source_dir/conanfile.py" >"$dir/conan"
mapfile -t options < <(sed -n 's/^option //p' "$dir/conan")
# Conan's package of RocksDB, whose library is a static one, has such a target.
mkdir "$dir/rocksdb"
cat >"$dir/rocksdb/RocksDBConfig.cmake" <<'CMAKE'
add_library(RocksDB::rocksdb INTERFACE IMPORTED)
target_link_libraries(RocksDB::rocksdb INTERFACE rocksdb)
CMAKE
"$cmake" -G Ninja -S "$source_dir" -B "$dir/conan_build" "${options[@]}" \
  "-DRocksDB_DIR=$dir/rocksdb" >"$dir/log" 2>&1 ||
  fail "configured by Conan's options: $(cat "$dir/log")"
configured "$dir/log" "$dir/conan_build"
grep -q -e '-DROWBLOOM_C_HAS_A_ROCKSDB' "$dir/conan_build/build.ninja" ||
  fail "librowbloom.so takes the RocksDB inside of it for the program's"

echo "== what they name"
grep -qx "version $version" "$dir/conan" || fail "conanfile.py: not $version"
grep -qF "\"version-semver\": \"$version\"" "$port/vcpkg.json" ||
  fail "vcpkg.json: not $version"
# The libraries of a build with these options; a format of HFiles is no library.
mapfile -t libraries < <(cd "$dir/vcpkg/build" &&
  ninja -t targets all | sed -nE 's,.*/librowbloom(_[a-z_]+)?\.(a|so): .*,rowbloom\1,p' |
  grep -vE '_(format|plugin)$' | sort)
((${#libraries[@]} > 4)) || fail "the build has ${libraries[*]}"
diff <(printf '%s\n' "${libraries[@]}") <(sed -n 's/^library //p' "$dir/conan" | sort) ||
  fail "the libraries of conanfile.py (>) are not those of the build (<)"

# A line for each Debian package that the libraries want: vcpkg's name, Conan's.
table='librocksdb-dev rocksdb rocksdb
libxxhash-dev xxhash xxhash
libisal-dev isal isa-l
liblz4-dev lz4 lz4
libsnappy-dev snappy snappy
libzstd-dev zstd zstd
zlib1g-dev zlib zlib
libre2-dev re2 re2
nlohmann-json3-dev nlohmann-json nlohmann_json
libhiredis-dev hiredis hiredis'
# Those of HFiles, programs, tests and benchmarks are not theirs, and hiredis is
# not set up by default.
others='dpkg-dev|libprotobuf-dev|libmd-dev|libcli11-dev|libfmt-dev|libedit-dev|lib(gtest|gmock|benchmark|lmdb|sqlite3)-dev'
diff <(awk '{ print $1 }' <<<"$table" | grep -v hiredis | sort) \
  <(sed -n '/^packages=(/,/^)/p' "$source_dir/tools/setup.sh" | sed 's/#.*//' |
    grep -oE '[a-z0-9-]+-dev' | grep -vxE "$others" | sort) ||
  fail "tools/setup.sh (>) has other libraries than the table of this test (<)"
diff <(awk '{ print $2 }' <<<"$table" | sort) <(python3 - "$port/vcpkg.json" <<'PYTHON' | sort
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    for found in json.load(file)["dependencies"]:
        if isinstance(found, str):
            print(found)
        elif not found.get("host"):
            print(found["name"])
PYTHON
) || fail "vcpkg.json (>) wants other libraries than the table of this test (<)"
diff <(awk '{ print $3 }' <<<"$table" | sort) \
  <(sed -n 's/^requires //p' "$dir/conan" | sed 's,/.*,,' | sort) ||
  fail "conanfile.py (>) wants other libraries than the table of this test (<)"

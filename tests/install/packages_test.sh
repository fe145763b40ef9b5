#!/usr/bin/env bash
# packages_test.sh BUILD_DIR CMAKE VERSION: makes the packages of a build, looks
# at what they say and have, and uses the files after unpacking them.
#
#   ROWBLOOM_INSTALL=1 tests/install/packages_test.sh build/release cmake 0.1.0
#
# As root, installs them by apt instead, with what they depend on, and removes
# them again.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build_dir=$(realpath "$1")
cmake=$2
version=$3
dir=$(realpath "$(mktemp -d)")
trap 'rm -rf "$dir"' EXIT

fail() {
  echo "FAILED: $*"
  exit 1
}

# quiet LOG COMMAND...: the output only if the command fails.
quiet() {
  "${@:2}" >"$dir/$1" 2>&1 || {
    cat "$dir/$1"
    fail "${*:2}"
  }
}

cpack=$(dirname "$(command -v "$cmake")")/cpack
quiet cpack.log "$cpack" --config "$build_dir/CPackConfig.cmake" -B "$dir/debs"
declare -A deb
for name in librowbloom0 librowbloom-dev rowbloom-tools; do
  deb[$name]=$(echo "$dir/debs/${name}_${version}"_*.deb)
  [[ -f ${deb[$name]} ]] || fail "cpack made no package $name"
done

# depends PACKAGE PATTERN
depends() {
  local found
  found=$(dpkg-deb -f "${deb[$1]}" Depends)
  [[ $found =~ $2 ]] || fail "$1 depends on \"$found\", expected $2"
}
depends librowbloom0 'librocksdb[0-9]'
depends rowbloom-tools 'librocksdb[0-9]'
depends librowbloom-dev "librowbloom0 \(= $version\).*librocksdb-dev"

echo "== each installed file is in one package"
quiet install.log "$cmake" --install "$build_dir" --prefix "$dir/installed/usr"
mkdir "$dir/root"
for name in "${!deb[@]}"; do
  dpkg-deb -c "${deb[$name]}" | awk '$1 !~ /^d/ { print $6 }'
  dpkg-deb -x "${deb[$name]}" "$dir/root"
done | sort >"$dir/packed"
(cd "$dir/installed" && find . ! -type d | sort) >"$dir/expected"
diff "$dir/expected" "$dir/packed" || fail "packages have other files"

root=$dir/root
if [[ -n ${ROWBLOOM_INSTALL-} ]]; then
  echo "== installed by apt"
  root=
  quiet apt.log apt-get install -y "${deb[@]}"
  trap 'apt-get purge -y "${!deb[@]}" >/dev/null; rm -rf "$dir"' EXIT
else
  LD_LIBRARY_PATH=$(dirname "$(find "$root" -name librowbloom.so.0)")
  export LD_LIBRARY_PATH
  PKG_CONFIG_PATH=$LD_LIBRARY_PATH/pkgconfig
  export PKG_CONFIG_PATH
fi

echo "== tools"
for tool in rowbloom sst_inspect; do
  said=$("$root/usr/bin/$tool" --version)
  [[ $said == *"$version"* ]] || fail "$tool --version: $said"
done
"$root/usr/bin/rowbloom" create --db "$dir/db" --family info
"$root/usr/bin/rowbloom" put --db "$dir/db" user_1 info:mail ada@example.org
[[ $("$root/usr/bin/rowbloom" get --raw --db "$dir/db" user_1 info:mail) == \
  ada@example.org ]] || fail "the installed rowbloom lost a cell"

echo "== a program in C, and the plugin"
read -ra flags <<<"$(pkg-config --cflags --libs rowbloom)"
"${CC:-cc}" -std=c11 "$here/c_consumer/main.c" "${flags[@]}" -o "$dir/in_c"
"$dir/in_c" "$dir/c.db"
plugin=$(find "$root/usr/lib" -name librowbloom_plugin.so)
said=$(LD_PRELOAD=$plugin env true 2>&1) # bash's own true loads nothing
[[ -z $said ]] || fail "the plugin does not load: $said"
echo "== done"

#!/usr/bin/env bash
# exported_symbols_test.sh NM CXX MAP: exported_symbols.sh accepts a library that
# is linked with MAP and has the functions of its header, and no other.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
nm=$1
cxx=$2
map=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/c.h" <<'HEADER'
// Not rowbloom_nothing().
void rowbloom_a(void);
char* rowbloom_a_b(const char* text,
                   char** error);
HEADER

# expect STATUS SOURCE LINK_OPTION...
expect() {
  local status=0
  echo "$2" >"$dir/code.cc"
  "$cxx" -shared -fPIC "$dir/code.cc" "${@:3}" -o "$dir/library.so"
  "$here/exported_symbols.sh" "$nm" "$dir/library.so" "$dir/c.h" \
    >"$dir/output" 2>&1 || status=$?
  if [[ $status -ne $1 ]]; then
    echo "$2: expected exit status $1, got $status"
    cat "$dir/output"
    exit 1
  fi
}

both='extern "C" void rowbloom_a() {} extern "C" void rowbloom_a_b() {}'
with_map="-Wl,--version-script=$map"
expect 0 "$both" "$with_map"
expect 0 "$both namespace rowbloom { int Hidden() { return 1; } }" "$with_map"
expect 1 "$both"
expect 1 "$both namespace rowbloom { int Shown() { return 1; } }"
expect 1 "$both extern \"C\" void rowbloom_undeclared() {}" "$with_map"
expect 1 'extern "C" void rowbloom_a() {}' "$with_map"

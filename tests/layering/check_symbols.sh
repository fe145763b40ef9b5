#!/usr/bin/env bash
# check_symbols.sh NM ARCHIVE...: fails if an archive calls a function that
# prints, or that ends the process (programs do that; libraries return errors),
# and if there is no such archive.
set -euo pipefail

if (($# < 2)); then
  echo "usage: check_symbols.sh NM ARCHIVE..." >&2
  exit 2
fi
nm=$1
shift
# printf-like functions may be called under their fortified names, and the
# streams are objects of the standard library (_ZSt4cout).
forbidden='^(_?_?(v?f?printf|puts|putchar|fputs|perror)(_chk)?'
forbidden+='|_?_?exit|_Exit|quick_exit|abort|_ZSt4cout|_ZSt4cerr|_ZSt4clog)$'
failed=0
for archive in "$@"; do
  if [[ ! -f $archive ]]; then
    echo "'$archive': there is no such library; is it part of this build?"
    failed=1
    continue
  fi
  symbols=$("$nm" --undefined-only --format=posix "$archive" | awk '{print $1}')
  # A list without the one function that all of this code needs is no list.
  if ! grep -q '^_ZSt\|^_Zn\|^_ZN' <<<"$symbols"; then
    echo "$archive: no symbols found"
    failed=1
  fi
  if found=$(grep -E "$forbidden" <<<"$symbols" | sort -u); then
    printf '%s refers to:\n%s\n' "$archive" "$found"
    failed=1
  fi
done
exit "$failed"

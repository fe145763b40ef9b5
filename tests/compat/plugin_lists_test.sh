#!/usr/bin/env bash
# plugin_lists_test.sh ROWBLOOM_MK SOURCE...: rowbloom.mk lists the sources of
# the libraries, whose paths start at the root of the tree, and headers that are
# there and include none that it lacks.
set -euo pipefail

mk=$1
shift

# of VARIABLE: the words of a line of rowbloom.mk.
of() {
  sed -n "s/^rowbloom_$1 = //p" "$mk" | tr ' ' '\n'
}

diff <(of SOURCES | sort) <(printf '%s\n' registrar.cc "$@" | sort) || {
  echo "FAILED: $mk has other sources (<) than the libraries (>)"
  exit 1
}
cd "$(dirname "$mk")"
# Words are paths without spaces.
# shellcheck disable=SC2046
diff <(of HEADERS | sed 's|.*/include/||' | sort) \
  <({
    of HEADERS | sed 's|.*/include/||'
    sed -nE 's/^#include "(rowbloom\/.*)"/\1/p' $(of HEADERS)
  } | sort -u) || {
  echo "FAILED: headers of $mk (<) include others (>)"
  exit 1
}

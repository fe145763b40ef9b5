#!/usr/bin/env bash
# plugin_lists_test.sh CASE ROWBLOOM_MK SOURCE...: rowbloom.mk lists the sources
# of the libraries, whose paths start at the root of the tree, and headers that
# include none that it lacks. Each file is found from the folder of the plugin.
set -euo pipefail

test_case=$1
mk=$2
shift 2
sources=(registrar.cc "$@")

# listed MK VARIABLE: the words of a line of rowbloom.mk.
listed() {
  sed -n "s/^rowbloom_$2 = //p" "$1" | tr ' ' '\n'
}

# check_lists MK: in a subshell, since it changes the directory.
check_lists() (
  diff <(listed "$1" SOURCES | sort) <(printf '%s\n' "${sources[@]}" | sort) || {
    echo "FAILED: $1 has other sources (<) than the libraries (>)"
    exit 1
  }
  cd "$(dirname "$1")"
  for file in $(listed "$1" SOURCES) $(listed "$1" HEADERS); do
    [[ -f $file ]] || {
      echo "FAILED: $1 lists $file, which is not in the plugin"
      exit 1
    }
  done
  # Words are paths without spaces.
  # shellcheck disable=SC2046
  diff <(listed "$1" HEADERS | sed 's|.*/include/||' | sort) \
    <({
      echo rowbloom/filter_policy.h # a list without it is none
      listed "$1" HEADERS | sed 's|.*/include/||'
      sed -nE 's/^#include "(rowbloom\/.*)"/\1/p' $(listed "$1" HEADERS)
    } | sort -u) || {
    echo "FAILED: headers of $1 (<) include others (>)"
    exit 1
  }
)

case $test_case in
  lists) check_lists "$mk" ;;
  lost_links)
    # A checkout without symbolic links has their targets as text.
    folder=$(realpath "$(dirname "$mk")")
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
    for link in lib storage; do
      rm -rf "${dir:?}"/*
      cp "$mk" "$folder/registrar.cc" "$dir"
      ln -s "$(realpath "$folder/lib")" "$(realpath "$folder/storage")" "$dir"
      rm "$dir/$link"
      readlink "$folder/$link" >"$dir/$link"
      said=$(check_lists "$dir/$(basename "$mk")") && {
        echo "FAILED: the files of $link are not missed"
        exit 1
      }
      [[ $said == *"lists $link/"*", which is not in the plugin" ]] || {
        echo "FAILED: the check says: $said"
        exit 1
      }
      echo "$said"
    done
    ;;
  *)
    echo "FAILED: unknown case $test_case"
    exit 1
    ;;
esac

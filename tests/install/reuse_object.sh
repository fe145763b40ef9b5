#!/usr/bin/env bash
# reuse_object.sh FROM TO COMPILER ARGUMENT...: a compiler launcher for the build
# tree TO. An object that the build tree FROM has is taken from there; what it
# does not have is compiled.
set -euo pipefail

from=$1
to=$2
shift 2

object=
dependencies=
arguments=("$@")
for ((i = 0; i + 1 < ${#arguments[@]}; ++i)); do
  case ${arguments[i]} in
    -o) object=${arguments[i + 1]} ;;
    -MF) dependencies=${arguments[i + 1]} ;;
  esac
done

built=$from/$(realpath -m --relative-to "$to" "${object:-none}")
if [[ ! -f $built ]]; then
  exec "$@"
fi
cp "$built" "$object"
# This build tree is built once: nobody asks what to build again.
[[ -z $dependencies ]] || echo "$object:" >"$dependencies"

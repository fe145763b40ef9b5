#!/usr/bin/env bash
# tidy.sh BUILD: runs clang-tidy, with the checks of .clang-tidy, over the sources
# of lib, storage and tools as the build tree compiles them. The unity sources of
# a library are read as one: most of the time goes into its headers. The checks of
# clang-analyzer follow paths only in a source that is read by itself: those of a
# build without unity, as the preset dev has.
set -euo pipefail

build=$1
chosen=$(mktemp -d)
trap 'rm -rf "$chosen"' EXIT
# A source that tests compile, too, is read as its library compiles it.
python3 - "$build" "$chosen" <<'EOF'
import json
import re
import sys

build, chosen = sys.argv[1:]
with open(f"{build}/compile_commands.json") as file:
    commands = [
        c for c in json.load(file)
        if re.search(r" -o (lib|storage|tools)/", c["command"])
        and not c["file"].endswith(".pb.cc")
    ]
libraries = {}  # the unity sources of each
for c in commands:
    # Names in sources of sst_inspect clash with those in others.
    if "/Unity/" in c["file"] and "/sst_inspect/" not in c["file"]:
        libraries.setdefault(c["file"].split("/Unity/")[0], []).append(c)
for number, parts in enumerate(libraries.values()):
    source = f"{chosen}/library_{number}.cxx"
    with open(source, "w") as file:
        file.writelines(f'#include "{part["file"]}"\n' for part in parts)
    first = parts[0]
    commands = [c for c in commands if c not in parts]
    commands.append({"directory": first["directory"], "file": source,
                     "command": first["command"].replace(first["file"], source)})
with open(f"{chosen}/compile_commands.json", "w") as file:
    json.dump(commands, file)
with open(f"{chosen}/sources", "w") as file:
    file.writelines(c["file"] + "\n" for c in commands)
EOF
[[ -s $chosen/sources ]] || {
  echo "tidy.sh: no sources in $build/compile_commands.json" >&2
  exit 2
}
xargs -P "$(nproc)" -n 1 clang-tidy -p "$chosen" --quiet \
  --checks=-bugprone-suspicious-include <"$chosen/sources" 2>/dev/null
echo "clang-tidy: ok ($(wc -l <"$chosen/sources") sources)"

#!/usr/bin/env bash
# tidy.sh BUILD: runs clang-tidy, with the checks of .clang-tidy, over the sources
# of lib, storage and tools as the build tree compiles them. Where that is in
# unity, they are read together, which takes a fifth of the time.
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

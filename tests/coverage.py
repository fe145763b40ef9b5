#!/usr/bin/env python3
"""coverage.py BUILD: prints how many lines of lib and storage have run, by
folder, from what a build with gcov has counted. coverage.sh makes one."""

import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ("lib", "storage")


def counted_files(build):
    """What gcov says of each source of each object."""
    for folder in FOLDERS:
        for counts in sorted((build / folder).rglob("*.gcda")):
            printed = subprocess.run(
                ["gcov", "--json-format", "--stdout", str(counts)],
                cwd=build, check=True, capture_output=True, text=True).stdout
            for document in printed.splitlines():
                yield from json.loads(document)["files"]


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    # The lines of each source, and whether they have run. A header's are those
    # of all objects together.
    runs = collections.defaultdict(lambda: collections.defaultdict(bool))
    for source in counted_files(build):
        path = (build / source["file"]).resolve()
        if not any(path.is_relative_to(ROOT / folder) for folder in FOLDERS):
            continue
        for line in source["lines"]:
            runs[path][line["line_number"]] |= line["count"] > 0
    if not runs:
        sys.exit(f"coverage.py: no test of {build} has run")
    lines = collections.Counter()
    run = collections.Counter()
    for path, of_file in runs.items():
        for folder in (str(path.parent.relative_to(ROOT)), "all"):
            lines[folder] += len(of_file)
            run[folder] += sum(of_file.values())
    print(f"{'folder':40} {'lines':>7} {'run':>7} {'share':>7}")
    for folder in sorted(lines, key=lambda name: (name == "all", name)):
        print(f"{folder:40} {lines[folder]:7} {run[folder]:7} "
              f"{run[folder] / lines[folder]:7.1%}")


main()

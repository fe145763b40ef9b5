#!/usr/bin/env python3
"""Plants faults in the sources, one at a time, and tells which the tests notice.

    tests/faults/plant_faults.py [--seed N] [--places N] [FOLDER...]

For each place, drawn by the seed from all of lib/, storage/ and tools/: changes
the file, builds the test programs that mirror its folder, or, if there are none,
all that it is a part of, runs their tests up to the first that fails, and puts
the file back. Prints a line for each place and the share of the faults that were
caught. A place whose change does not compile is replaced by another one.

Files that are to be changed must be as committed. The build directory has to be
configured and is left to be built again.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("lib", "storage", "tools")
MEMORY_BYTES = 16 << 30
FILE_BYTES = 4 << 30

Fault = collections.namedtuple("Fault", "path line kind before after")

# These lines have no code that runs.
NO_PLACE = re.compile(r"\s*(#|static_assert|template|using |typedef |namespace "
                      r"|friend |public:|private:|protected:)")
STATEMENT = re.compile(r"(\s+)(?!return|delete|throw|co_)[\w.:>-]*[\w>]"
                       r"\([^;]*\);$")
DECLARATION = re.compile(r"\s+[\w:<>,*&]+ [\w:]+\(")
COMPARISON = re.compile(r" (<=|>=|<|>) ")
TWO_ARGUMENTS = re.compile(r"\b[\w.>:-]*\w\((\w+(?:\(\))?), (\w+(?:\(\))?)\)")
OTHER_COMPARISON = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


def code_of(line):
    """The line with spaces for comments and what strings hold, so that places
    keep their columns."""
    code = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'',
                  lambda text: "_" * len(text.group()), line)
    return code.split("//")[0].rstrip()


def closing(code, start):
    """The place of the parenthesis that closes the one at `start`, or -1."""
    depth = 0
    for at in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return at
    return -1


def negated_condition(line, code):
    start = re.search(r"\b(?:if|while) \(", code)
    end = closing(code, start.end() - 1) if start else -1
    if end < 0 or ";" in code[start.end():end]:
        return
    yield (line[:start.end()] + "!(" + line[start.end():end] + ")" +
           line[end:])


def off_by_one(line, code):
    for sign in COMPARISON.finditer(code):
        yield (line[:sign.start(1)] + OTHER_COMPARISON[sign.group(1)] +
               line[sign.end(1):])


def dropped_call(line, code):
    statement = STATEMENT.match(code)
    if (statement and not DECLARATION.match(code) and
            code.count("(") == code.count(")")):
        yield statement.group(1) + ";"


def swapped_arguments(line, code):
    for call in TWO_ARGUMENTS.finditer(code):
        first, second = call.span(1), call.span(2)
        if call.group(1) != call.group(2):
            yield (line[:first[0]] + line[second[0]:second[1]] +
                   line[first[1]:second[0]] + line[first[0]:first[1]] +
                   line[second[1]:])


KINDS = {
    "negated condition": negated_condition,
    "off by one": off_by_one,
    "dropped call": dropped_call,
    "swapped arguments": swapped_arguments,
}


def faults_in(path, text):
    """All faults that fit into a file."""
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        code = code_of(line)
        starts_statement = not before or before[-1] in ";{}:"
        before = code or before
        if NO_PLACE.match(code) or "operator" in code:
            continue
        for kind, changes in KINDS.items():
            if kind == "dropped call" and not starts_statement:
                continue
            for after in changes(line, code):
                yield Fault(path, number, kind, line, after)


def sources(folders):
    return sorted(
        str(path.relative_to(ROOT)) for folder in folders
        for path in (ROOT / folder).rglob("*") if path.suffix in (".cc", ".h"))


def drawn(folders, seed):
    """All faults, kinds in turn, in the order of the seed."""
    by_kind = {kind: [] for kind in KINDS}
    for name in sources(folders):
        for fault in faults_in(name, (ROOT / name).read_text()):
            by_kind[fault.kind].append(fault)
    order = random.Random(seed)
    for faults in by_kind.values():
        order.shuffle(faults)
    while any(by_kind.values()):
        for faults in by_kind.values():
            if faults:
                yield faults.pop()


class Tests:
    """The programs and tests of a build directory."""

    def __init__(self, build, jobs, seconds):
        self.build = build
        self.jobs = jobs
        self.seconds = seconds

    def programs_with(self, path):
        """The test programs that the changed file is a part of and that mirror
        its folder; without any, all test programs."""
        planned = subprocess.run(["ninja", "-C", self.build, "-n"],
                                 check=True,
                                 stdout=subprocess.PIPE,
                                 text=True).stdout
        programs = [
            program for program in re.findall(
                r"Linking C(?:XX)? executable (tests/\S+)", planned)
        ]
        folder = str(pathlib.Path("tests", path).parent) + "/"
        near = [
            program for program in programs
            if folder.startswith(program.rpartition("/")[0] + "/")
        ]
        return near or programs

    def make(self, programs):
        """The compiler's errors, if any."""
        made = subprocess.run(
            ["ninja", "-C", self.build, f"-j{self.jobs}", *programs],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True)
        return made.stdout if made.returncode != 0 else ""

    def commands(self, programs):
        """What to run: a GoogleTest program as a whole, other tests as they
        are."""
        listed = json.loads(
            subprocess.run(
                ["ctest", "--test-dir", self.build, "--show-only=json-v1"],
                check=True,
                stdout=subprocess.PIPE,
                text=True).stdout)
        paths = {str((self.build / program).resolve()) for program in programs}
        whole, others = {}, []
        for test in listed["tests"]:
            command = test.get("command", [])
            if not paths.intersection(command):
                continue
            if any(word.startswith("--gtest_also_run_disabled")
                   for word in command):
                whole[command[0]] = [command[0], "--gtest_fail_fast"]
            elif not any(word.startswith("--gtest") for word in command):
                others.append(command)
        return [*whole.values(), *others]

    def first_failure(self, programs):
        """How the tests notice, or None."""
        for command in self.commands(programs):
            name = pathlib.Path(command[0]).name
            try:
                ran = subprocess.run(command,
                                     cwd=self.build,
                                     timeout=self.seconds,
                                     stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT,
                                     errors="replace",
                                     text=True,
                                     preexec_fn=limit_resources)
            except subprocess.TimeoutExpired:
                return f"{name}: takes more than {self.seconds} s"
            if ran.returncode in (0, 77):
                continue
            failed = re.search(r"\[  FAILED  \] (\S+)", ran.stdout)
            detail = failed.group(1) if failed else f"exit {ran.returncode}"
            return f"{name}: {detail}"
        return None


def limit_resources():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def plant(fault, tests):
    """(outcome, detail): "caught", "missed" or "no program"."""
    path = ROOT / fault.path
    text = path.read_text()
    lines = text.split("\n")
    lines[fault.line - 1] = fault.after
    try:
        path.write_text("\n".join(lines))
        programs = tests.programs_with(fault.path)
        if not programs:
            return "no program", "no test program has it"
        errors = tests.make(programs)
        if "error:" in errors:
            return "no program", "does not compile"
        if errors:
            return "caught", "the tests cannot be listed"
        noticed = tests.first_failure(programs)
        return ("caught", noticed) if noticed else ("missed", "")
    finally:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--places", type=int, default=20)
    parser.add_argument("--build",
                        type=pathlib.Path,
                        default=ROOT / "build" / "release")
    parser.add_argument("--jobs", type=int, default=1, help="of the build")
    parser.add_argument("--seconds",
                        type=int,
                        default=600,
                        help="that a test program may take")
    parser.add_argument("--list",
                        action="store_true",
                        help="print the faults, plant none")
    arguments = parser.parse_args()
    changed = subprocess.run(
        ["git", "status", "--porcelain", "--", *arguments.folders],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True).stdout
    if changed:
        sys.exit("not as committed:\n" + changed)
    tests = Tests(arguments.build, arguments.jobs, arguments.seconds)
    # Otherwise the plan of a build would hold more than what a fault changes.
    if not arguments.list and (errors := tests.make([])):
        sys.exit("the sources as committed are not built:\n" + errors)
    counts = collections.Counter()
    for fault in drawn(arguments.folders, arguments.seed):
        if counts["caught"] + counts["missed"] == arguments.places:
            break
        if arguments.list:
            outcome, detail = "missed", ""
        else:
            outcome, detail = plant(fault, tests)
        counts[outcome] += 1
        print(f"{fault.path}:{fault.line}: {fault.kind}: "
              f"{'' if arguments.list else outcome} {detail}\n"
              f"  - {fault.before.strip()}\n  + {fault.after.strip()}",
              flush=True)
    planted = counts["caught"] + counts["missed"]
    if not arguments.list and planted:
        print(f"seed {arguments.seed}: {counts['caught']} of {planted} faults "
              f"caught, {100 * counts['caught'] // planted} %")


if __name__ == "__main__":
    main()

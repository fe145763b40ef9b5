#!/usr/bin/env python3
"""Plants faults in the sources, and tells which of them the tests notice.

    tests/faults/plant_faults.py [--seed N] [--places N] [FOLDER...]

A copy of the committed tree gets all faults at once, each behind a switch of
planted.h: one in each of the places that the seed draws from lib/, storage/ and
tools/. It is built once. For each fault the test programs run that mirror the
file's folder, or, if there are none, all that the file is a part of, up to the
first test that fails. Prints a line for each place and the share of the faults
that were caught. A place whose change does not compile is replaced by another
one.
"""

import argparse
import collections
import concurrent.futures
import functools
import io
import itertools
import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("lib", "storage", "tools")
MEMORY_BYTES = 16 << 30
FILE_BYTES = 4 << 30

# `switched` is the line with both, as a format that takes the fault's number.
Fault = collections.namedtuple("Fault",
                               "path line kind before after switched")

# These lines have no code that runs.
NO_PLACE = re.compile(r"\s*(#|static_assert|template|using |typedef |namespace "
                      r"|friend |public:|private:|protected:)")
STATEMENT = re.compile(r"(\s+)(?!return|delete|throw|co_)[\w.:>-]*[\w>]"
                       r"\([^;]*\);$")
DECLARATION = re.compile(r"\s+[\w:<>,*&]+ [\w:]+\(")
COMPARISON = re.compile(r" (<=|>=|<|>) ")
TWO_ARGUMENTS = re.compile(r"\b[\w.>:-]*\w\((\w+(?:\(\))?), (\w+(?:\(\))?)\)")
MADE = "::rowbloom::planted::IsMade({number})"
NAME_OF = {
    "<": "Less",
    "<=": "LessOrEqual",
    ">": "Greater",
    ">=": "GreaterOrEqual"
}
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


def escaped(text):
    return text.replace("{", "{{").replace("}", "}}")


def negated_condition(line, code):
    start = re.search(r"\b(?:if|while) \(", code)
    end = closing(code, start.end() - 1) if start else -1
    if end < 0 or ";" in code[start.end():end]:
        return
    before, condition, after = (line[:start.end()], line[start.end():end],
                                line[end:])
    yield (f"{before}!({condition}){after}",
           f"{escaped(before)}static_cast<bool>({escaped(condition)}) != "
           f"{MADE}{escaped(after)}")


def off_by_one(line, code):
    for sign in COMPARISON.finditer(code):
        before, after = line[:sign.start(1)], line[sign.end(1):]
        yield (before + OTHER_COMPARISON[sign.group(1)] + after,
               f"{escaped(before)}< ::rowbloom::planted::"
               f"{NAME_OF[sign.group(1)]}{{{{{{number}}}}}} >{escaped(after)}")


def dropped_call(line, code):
    statement = STATEMENT.match(code)
    if (statement and not DECLARATION.match(code) and
            code.count("(") == code.count(")")):
        yield (statement.group(1) + ";",
               f"do {{{{ if (!{MADE}) {escaped(line)} }}}} while (false);")


def swapped_arguments(line, code):
    for call in TWO_ARGUMENTS.finditer(code):
        if call.group(1) == call.group(2):
            continue
        (first, first_end), (second, second_end) = call.span(1), call.span(2)
        a, b = line[first:first_end], line[second:second_end]
        before, after = line[:first], line[second_end:]
        plain = f"{before}{b}, {a}{after}"
        before, a, b, after = map(escaped, (before, a, b, after))
        yield plain, f"{before}{MADE} ? {b} : {a}, {MADE} ? {a} : {b}{after}"


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
            for after, switched in changes(line, code):
                yield Fault(path, number, kind, line, after, switched)


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


class Copy:
    """A copy of the committed tree, and its build."""

    def __init__(self, directory, jobs):
        self.source = directory / "source"
        self.build = directory / "build"
        self.jobs = jobs
        shutil.rmtree(self.source, ignore_errors=True)
        archive = subprocess.run(["git", "archive", "HEAD"],
                                 cwd=ROOT,
                                 check=True,
                                 stdout=subprocess.PIPE).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(self.source)

    @functools.cache
    def committed(self, path):
        return (self.source / path).read_text()

    def plant(self, faults):
        """Plants the faults, by number, in files as they were committed."""
        by_file = collections.defaultdict(dict)
        for number, fault in faults.items():
            by_file[fault.path][fault.line] = fault.switched.format(
                number=number)
        for path, lines in by_file.items():
            text = self.committed(path).split("\n")
            for line, switched in lines.items():
                text[line - 1] = switched
            planted, changed = self.source / path, "\n".join(text)
            if planted.read_text() != changed:
                planted.write_text(changed)

    def configure(self):
        # A dry run of ninja would end where it is to run CMake again.
        header = ROOT / "tests" / "faults" / "planted.h"
        subprocess.run([
            "cmake", "-S", self.source, "-B", self.build, "-G", "Ninja",
            "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1",
            f"-DCMAKE_CXX_FLAGS=-std=c++20 -w -include {header}", "-DROWBLOOM_UNITY=ON",
            "-DROWBLOOM_BUILD_BENCH=OFF", "-DROWBLOOM_TEST_PROGRAMS=OFF",
            "-DCMAKE_SUPPRESS_REGENERATION=ON"
        ],
                       check=True,
                       stdout=subprocess.DEVNULL)

    def make(self):
        """The compiler's errors, if any."""
        made = subprocess.run(["ninja", "-k0", f"-j{self.jobs}"],
                              cwd=self.build,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT,
                              text=True)
        return made.stdout if made.returncode != 0 else ""

    def build_with(self, faults):
        """Builds with those of the faults that compile, and returns them."""
        self.plant(faults)
        self.configure()
        while errors := self.make():
            named = set(
                re.findall(re.escape(f"{self.source}/") + r"([^:]+):(\d+):",
                           errors))
            bad = [
                number for number, fault in faults.items()
                if (fault.path, str(fault.line)) in named
            ]
            if not bad:
                sys.exit("the copy does not compile:\n" + errors)
            for number in bad:
                fault = faults.pop(number)
                line = fault._replace(switched=escaped(fault.before))
                self.plant({**faults, number: line})
        return faults


class Tests:
    """The programs and tests of a build directory."""

    def __init__(self, build):
        self.build = build
        self.seconds = {}  # of each command without a fault
        listed = json.loads(
            subprocess.run(
                ["ctest", "--test-dir", build, "--show-only=json-v1"],
                check=True,
                stdout=subprocess.PIPE,
                text=True).stdout)
        self.tests = [test.get("command", []) for test in listed["tests"]]

    @functools.cache
    def programs_with(self, source):
        """The test programs that the file is a part of and that mirror its
        folder; without any, all test programs. Empty: none has it."""
        times = source.stat()
        os.utime(source)
        planned = subprocess.run(["ninja", "-C", self.build, "-n"],
                                 check=True,
                                 stdout=subprocess.PIPE,
                                 text=True).stdout
        os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
        programs = re.findall(r"Linking C(?:XX)? executable (tests/\S+)",
                              planned)
        # They run the tools' programs, and are not linked with them.
        if "Linking CXX executable tools/" in planned:
            programs.append("tests/tools/transcripts")
        folder = str("tests" / source.relative_to(self.build.parent / "source")
                     .parent) + "/"
        near = [
            program for program in programs
            if folder.startswith(program.rpartition("/")[0] + "/")
        ]
        return near or programs

    def commands(self, programs):
        """What to run: a GoogleTest program as a whole, other tests as they
        are. The quickest come first."""
        paths = {str((self.build / program).resolve()) for program in programs}
        whole, others = {}, []
        for command in self.tests:
            if not paths.intersection(command):
                continue
            if any(word.startswith("--gtest_also_run_disabled")
                   for word in command):
                whole[command[0]] = (command[0], "--gtest_fail_fast")
            elif not any(word.startswith("--gtest") for word in command):
                others.append(tuple(command))
        return sorted([*whole.values(), *others],
                      key=lambda command: self.seconds.get(command, 0))

    def failure(self, command, number=None):
        """How the tests notice a fault, or None."""
        name = pathlib.Path(command[0]).name
        seconds = 60 + 4 * self.seconds.get(command, 900)
        chosen = {
            "ROWBLOOM_PLANTED_FAULT": str(-1 if number is None else number)
        }
        try:
            ran = subprocess.run(command,
                                 cwd=self.build,
                                 env=os.environ | chosen,
                                 timeout=seconds,
                                 stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT,
                                 errors="replace",
                                 text=True,
                                 preexec_fn=limit_resources)
        except subprocess.TimeoutExpired:
            return f"{name}: takes more than {seconds:.0f} s"
        if ran.returncode in (0, 77):
            return None
        failed = re.search(r"\[  FAILED  \] (\S+)", ran.stdout)
        detail = failed.group(1) if failed else f"exit {ran.returncode}"
        return f"{name}: {detail}"

    def run_without_faults(self, commands, pool):
        """Ends the program if a test fails, and notes how long each takes."""

        def run(command):
            start = time.monotonic()
            failure = self.failure(command)
            return command, time.monotonic() - start, failure

        for command, seconds, failure in pool.map(run, commands):
            if failure:
                sys.exit("without a fault: " + failure)
            self.seconds[command] = seconds

    def first_failure(self, programs, number):
        failures = (self.failure(command, number)
                    for command in self.commands(programs))
        return next(filter(None, failures), None)


def limit_resources():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def show(fault, outcome):
    print(f"{fault.path}:{fault.line}: {fault.kind}: {outcome}\n"
          f"  - {fault.before.strip()}\n  + {fault.after.strip()}",
          flush=True)


def one_per_line(faults):
    seen = set()
    for fault in faults:
        if (fault.path, fault.line) not in seen:
            seen.add((fault.path, fault.line))
            yield fault


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--places", type=int, default=20)
    parser.add_argument("--directory",
                        type=pathlib.Path,
                        default=ROOT / "build" / "faults",
                        help="for the copy and its build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
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
    # About one in five does not compile.
    spare = arguments.places // 2
    faults = dict(
        enumerate(
            itertools.islice(
                one_per_line(drawn(arguments.folders, arguments.seed)),
                arguments.places + (0 if arguments.list else spare))))
    if arguments.list:
        for fault in faults.values():
            show(fault, "")
        return
    copy = Copy(arguments.directory.resolve(), arguments.jobs)
    faults = copy.build_with(faults)
    tests = Tests(copy.build)
    programs = {
        number: tests.programs_with(copy.source / fault.path)
        for number, fault in faults.items()
    }
    chosen = dict(
        itertools.islice(
            ((number, fault)
             for number, fault in faults.items() if programs[number]),
            arguments.places))
    caught = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        tests.run_without_faults(
            tests.commands(
                set(itertools.chain(*(programs[number] for number in chosen)))),
            pool)
        noticed = pool.map(
            lambda number: tests.first_failure(programs[number], number),
            chosen)
        for fault, notice in zip(chosen.values(), noticed):
            caught += notice is not None
            show(fault, f"caught {notice}" if notice else "missed")
    print(f"seed {arguments.seed}: {caught} of {len(chosen)} faults caught, "
          f"{100 * caught / max(1, len(chosen)):.1f} %")


if __name__ == "__main__":
    main()

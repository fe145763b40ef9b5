#!/usr/bin/env python3
"""The places that plant_faults.py finds, those that it leaves alone, and that a
planted fault is made only when it is chosen."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import plant_faults

SOURCE = """\
#include "a(b, c)"
// if (comment) Drop();
static_assert(kA < kB);
void Run(int count, int limit) {
  if (count < limit && Ready()) {
    Close(count, limit);
  }
  const std::string text = "if (x < y)";
  return Fail("a(b, c)",
              limit);
  Print(
      Line());
}
"""

PROGRAM = """\
#include <cstdio>
constexpr int Minus(int a, int b) { return a - b; }
constexpr bool AreEqual(int a, int b) {
  if (a != b) {
    return false;
  }
  return a >= b;
}
static_assert(AreEqual(2, 2));
int main(int count, char**) {
  unsigned limit = 1;
  const bool below = count <= limit;
  std::printf("%d%d%d", below, AreEqual(count, 1), Minus(count, 3));
  std::puts("{}");
}
"""


class Places(unittest.TestCase):

    def test_are_code_only(self):
        found = [(fault.line, fault.kind, fault.after.strip())
                 for fault in plant_faults.faults_in("a.cc", SOURCE)]
        self.assertEqual(found, [
            (5, "negated condition", "if (!(count < limit && Ready())) {"),
            (5, "off by one", "if (count <= limit && Ready()) {"),
            (6, "dropped call", ";"),
            (6, "swapped arguments", "Close(limit, count);"),
        ])

    def test_repeat_with_the_seed(self):

        def first(seed):
            drawn = plant_faults.drawn(["lib/block"], seed)
            return [next(drawn) for _ in range(8)]

        self.assertEqual(first(1), first(1))
        self.assertNotEqual(first(1), first(2))
        self.assertEqual([fault.kind for fault in first(1)],
                         2 * list(plant_faults.KINDS))

    def test_are_switched(self):
        lines = PROGRAM.split("\n")
        chosen = {
            (4, "negated condition"): "10-2{}\n",
            (7, "off by one"): "10-2{}\n",
            (12, "off by one"): "01-2{}\n",
            (13, "swapped arguments"): "112{}\n",
            (14, "dropped call"): "11-2",
        }
        for fault in plant_faults.faults_in("a.cc", PROGRAM):
            if (fault.line, fault.kind) in chosen:
                lines[fault.line - 1] = fault.switched.format(number=fault.line)
        header = pathlib.Path(plant_faults.__file__).with_name("planted.h")
        with tempfile.TemporaryDirectory() as directory:
            source = pathlib.Path(directory) / "a.cc"
            source.write_text("\n".join(lines))
            program = source.with_suffix("")
            subprocess.run([
                os.environ.get("CXX", "c++"), "-std=c++20", "-w", "-include",
                header, "-o", program, source
            ],
                           check=True)

            def output(number):
                environment = os.environ | {
                    "ROWBLOOM_PLANTED_FAULT": str(number)
                }
                return subprocess.run([program],
                                      env=environment,
                                      check=True,
                                      stdout=subprocess.PIPE,
                                      text=True).stdout

            self.assertEqual(output(0), "11-2{}\n")
            for (line, _), expected in chosen.items():
                self.assertEqual(output(line), expected, line)


if __name__ == "__main__":
    unittest.main()

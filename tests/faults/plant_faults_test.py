#!/usr/bin/env python3
"""The places that plant_faults.py finds, and those that it leaves alone."""

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


if __name__ == "__main__":
    unittest.main()

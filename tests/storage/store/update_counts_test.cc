#include <gtest/gtest.h>

#include "storage/store/row_locks.h"

namespace rowbloom::test {
namespace {

// The number of writes of a cell until it is to be joined.
uint64_t WritesUntilJoin(UpdateCounts* counts, uint64_t cell) {
  uint64_t writes = 1;
  while (!counts->Add(cell)) ++writes;
  return writes;
}

TEST(UpdateCounts, JoinsComeAfterAsManyWritesAsThereAreEntries) {
  UpdateCounts counts;
  EXPECT_EQ(WritesUntilJoin(&counts, 1), 8u);
  EXPECT_TRUE(counts.Add(1));  // until it is joined
  counts.Joined(1, 3);
  EXPECT_EQ(WritesUntilJoin(&counts, 1), 8u);
  counts.Joined(1, 1000);
  EXPECT_EQ(WritesUntilJoin(&counts, 1), 1000u);
}

TEST(UpdateCounts, CellsThatAreWrittenOftenAreFoundAmongManyThatAreNot) {
  UpdateCounts counts;
  // One write in 16 is of a cell that is written often.
  uint64_t other = 1000;
  uint64_t writes = 0;
  uint64_t joins = 0;
  for (int i = 0; i < 160'000; ++i) {
    if (i % 16 != 0) {
      counts.Add(++other);
      continue;
    }
    ++writes;
    if (!counts.Add(1)) continue;
    ++joins;
    counts.Joined(1, 1);
  }
  EXPECT_GE(joins * 16, writes);
}

}  // namespace
}  // namespace rowbloom::test

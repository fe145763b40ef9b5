// Ranges of keys, beside what rows and prefixes say of each key.
#include "lib/layout/key_range.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/random.h"

namespace rowbloom::test {
namespace {

// Few different bytes, those at the ends of their range among them.
std::string DrawBytes(Random* random, size_t size) {
  constexpr char kBytes[] = {'\x00', '\x01', 'a', '\xfe', '\xff'};
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = kBytes[random->Below(sizeof(kBytes))];
  return bytes;
}

TEST(KeyRange, HasTheKeysOfItsRowsAlone) {
  Random random(SeedFromEnv());
  uint64_t inside = 0;
  const uint64_t rounds = Scaled(200'000);
  for (uint64_t i = 0; i < rounds; ++i) {
    const bool fixed = random.OneIn(2);
    const KeyLayout layout =
        fixed ? KeyLayout::FixedRow(3) : KeyLayout::Escaped();
    const std::string start = DrawBytes(&random, random.Below(5));
    const std::string stop = DrawBytes(&random, random.Below(5));
    const std::string prefix = DrawBytes(&random, random.Below(3));
    const std::string row = DrawBytes(&random, fixed ? 3 : 1 + random.Below(4));
    const std::string key =
        *layout.EncodeRow(row) + DrawBytes(&random, random.Below(3));
    const auto range = RangeOfRows(layout, start, stop, prefix);
    const bool in_range = range && range->first <= key &&
                          (range->end.empty() || key < range->end);
    ASSERT_EQ(in_range, start <= row && (stop.empty() || row < stop) &&
                            row.starts_with(prefix))
        << i;
    if (in_range) ++inside;
  }
  EXPECT_GT(inside, rounds / 100);
}

TEST(KeyRange, OfARowEndsBeforeTheNextRow) {
  EXPECT_EQ(PrefixEnd("a\xff\xff"), "b");
  EXPECT_EQ(PrefixEnd("\xff\xff"), "");
  EXPECT_EQ(RowEnd("a\xff", 2), "b");
  EXPECT_EQ(RowEnd("\xff\xff", 2), "\xff\xff\xff\xff\xff");
}

}  // namespace
}  // namespace rowbloom::test

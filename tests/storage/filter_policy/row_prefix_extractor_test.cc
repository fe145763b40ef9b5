#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rowbloom/filter_policy.h"
#include "tests/support/random.h"

namespace rowbloom::row_prefix_extractor_test {
namespace {

using rocksdb::Slice;
using namespace std::string_literals;

std::vector<KeyLayout> Layouts() {
  return {KeyLayout::Escaped(), KeyLayout::FixedRow(3),
          KeyLayout::Delimited(':'), KeyLayout::LengthPrefixed()};
}

TEST(RowPrefixExtractor, AgreesWithTheLayoutOnAnyBytes) {
  test::Random random(test::SeedFromEnv());
  for (const KeyLayout& layout : Layouts()) {
    const auto extractor = NewRowPrefixExtractor(layout);
    size_t in_domain = 0;
    for (int i = 0; i < 20'000; ++i) {
      std::string key(random.Below(7), '\0');
      for (char& c : key) c = "\x00\x01\xff:\x02"s[random.Below(5)];
      const auto split = layout.Split(key);
      ASSERT_EQ(extractor->InDomain(key), split.has_value());
      const Slice prefix = extractor->Transform(key);
      ASSERT_EQ(prefix.ToString(), split ? split->row : key);
      ASSERT_EQ(extractor->Transform(prefix), prefix);
      if (split) {
        ++in_domain;
        ASSERT_TRUE(extractor->InDomain(prefix));
        ASSERT_TRUE(extractor->SameResultWhenAppended(prefix));
      }
    }
    EXPECT_GT(in_domain, 500u) << layout.ToString();
  }
}

TEST(RowPrefixExtractor, HasTheLayoutInItsName) {
  EXPECT_STREQ(NewRowPrefixExtractor(KeyLayout::Escaped())->Name(),
               "rowbloom.row:escaped");
  EXPECT_STREQ(NewRowPrefixExtractor(KeyLayout::Delimited(':'))->Name(),
               "rowbloom.row:delimited::");
  EXPECT_STREQ(NewRowPrefixExtractor(KeyLayout::FixedRow(12))->Name(),
               "rowbloom.row:fixed:12");
}

TEST(RowPrefixExtractor, OnlyFixedRowsHaveAFullLength) {
  size_t length = 0;
  EXPECT_TRUE(NewRowPrefixExtractor(KeyLayout::FixedRow(12))
                  ->FullLengthEnabled(&length));
  EXPECT_EQ(length, 12u);
  for (const KeyLayout& layout :
       {KeyLayout::Escaped(), KeyLayout::Delimited(':'),
        KeyLayout::LengthPrefixed()}) {
    EXPECT_FALSE(NewRowPrefixExtractor(layout)->FullLengthEnabled(&length));
  }
}

TEST(RowPrefixExtractor, ThrowingCustomLayoutIsOutOfDomain) {
  const auto layout = KeyLayout::RegisterCustom(
      "throws_in_extractor",
      [](std::string_view) -> std::optional<size_t> { throw 1; });
  ASSERT_TRUE(layout);
  const auto extractor = NewRowPrefixExtractor(*layout);
  EXPECT_FALSE(extractor->InDomain("abc"));
  EXPECT_EQ(extractor->Transform("abc").ToString(), "abc");
}

}  // namespace
}  // namespace rowbloom::row_prefix_extractor_test

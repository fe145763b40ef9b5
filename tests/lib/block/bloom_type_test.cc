#include "rowbloom/bloom_type.h"

#include <gtest/gtest.h>

namespace rowbloom {
namespace {

TEST(BloomType, NamesRoundTripInAnyLetterCase) {
  for (const BloomType type :
       {BloomType::kNone, BloomType::kRow, BloomType::kRowCol,
        BloomType::kRowPrefixFixedLength}) {
    const auto parsed = BloomTypeFromString(ToString(type));
    ASSERT_TRUE(parsed) << ToString(type);
    EXPECT_EQ(*parsed, type);
  }
  EXPECT_EQ(*BloomTypeFromString("rowcol"), BloomType::kRowCol);
  EXPECT_EQ(*BloomTypeFromString("RowPrefix_Fixed_Length"),
            BloomType::kRowPrefixFixedLength);
}

TEST(BloomType, UnknownNameListsTheKnownOnes) {
  const auto parsed = BloomTypeFromString("ROWCOLS");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error(),
            "unknown bloom type \"ROWCOLS\": expected NONE, ROW, ROWCOL or "
            "ROWPREFIX_FIXED_LENGTH");
  EXPECT_FALSE(BloomTypeFromString(""));
  EXPECT_TRUE(BloomTypeFromString("\xff").error().starts_with(
      "unknown bloom type \"\\xFF\": "));
}

TEST(FilterKind, NamesRoundTrip) {
  for (const FilterKind kind : {FilterKind::kBloom, FilterKind::kRibbon}) {
    const auto parsed = FilterKindFromString(ToString(kind));
    ASSERT_TRUE(parsed) << ToString(kind);
    EXPECT_EQ(*parsed, kind);
  }
  EXPECT_FALSE(FilterKindFromString("cuckoo"));
}

}  // namespace
}  // namespace rowbloom

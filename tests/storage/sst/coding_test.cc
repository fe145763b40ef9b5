#include "storage/format/coding.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace rowbloom {
namespace {

TEST(Coding, FixedNumbersAreLittleEndian) {
  std::string_view in("\x01\x02\x03\x84rest", 8);
  uint32_t value = 0;
  ASSERT_TRUE(GetFixed32(&in, &value));
  EXPECT_EQ(value, 0x84030201U);
  EXPECT_EQ(in, "rest");

  std::string_view long_in("\x01\x00\x00\x00\x00\x00\x00\x80", 8);
  uint64_t long_value = 0;
  ASSERT_TRUE(GetFixed64(&long_in, &long_value));
  EXPECT_EQ(long_value, 0x8000000000000001U);
  EXPECT_TRUE(long_in.empty());
}

TEST(Coding, FixedNumbersCutShortAreRefused) {
  std::string_view in("\x01\x02\x03", 3);
  uint32_t value = 7;
  EXPECT_FALSE(GetFixed32(&in, &value));
  EXPECT_EQ(in.size(), 3U);
  EXPECT_EQ(value, 7U);
}

TEST(Coding, VarintsReachTheirLimits) {
  const auto read = [](std::string_view in) {
    uint64_t value = 0;
    EXPECT_TRUE(GetVarint64(&in, &value));
    EXPECT_TRUE(in.empty());
    return value;
  };
  EXPECT_EQ(read(std::string_view("\0", 1)), 0U);
  EXPECT_EQ(read("\x7f"), 127U);
  EXPECT_EQ(read("\x80\x01"), 128U);
  EXPECT_EQ(read("\xac\x02"), 300U);
  EXPECT_EQ(read("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
            std::numeric_limits<uint64_t>::max());
}

TEST(Coding, VarintsThatDoNotFitAreRefused) {
  uint64_t value = 0;
  for (const std::string_view bad :
       {std::string_view(), std::string_view("\x80"),
        std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
        std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")}) {
    std::string_view in = bad;
    EXPECT_FALSE(GetVarint64(&in, &value)) << bad.size();
    EXPECT_EQ(in.size(), bad.size());
  }
  uint32_t small = 0;
  std::string_view too_wide("\x80\x80\x80\x80\x10");  // 2^32
  EXPECT_FALSE(GetVarint32(&too_wide, &small));
  std::string_view widest("\xff\xff\xff\xff\x0f");
  EXPECT_TRUE(GetVarint32(&widest, &small));
  EXPECT_EQ(small, std::numeric_limits<uint32_t>::max());
}

TEST(Coding, SignedVarintsAlternateInSign) {
  const auto read = [](std::string_view in) {
    int64_t value = 0;
    EXPECT_TRUE(GetSignedVarint64(&in, &value));
    return value;
  };
  EXPECT_EQ(read(std::string_view("\0", 1)), 0);
  EXPECT_EQ(read("\x01"), -1);
  EXPECT_EQ(read("\x02"), 1);
  EXPECT_EQ(read("\x80\x01"), 64);
  EXPECT_EQ(read("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
            std::numeric_limits<int64_t>::min());
}

}  // namespace
}  // namespace rowbloom

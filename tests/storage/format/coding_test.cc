#include "storage/format/coding.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace rowbloom {
namespace {

TEST(Coding, FixedNumbersAreLittleEndian) {
  std::string_view in("\x01\x02\x03\x84rest", 8);
  uint32_t value = 0;
  ASSERT_TRUE(GetFixed(&in, &value));
  EXPECT_EQ(value, 0x84030201U);
  EXPECT_EQ(in, "rest");

  std::string_view long_in("\x01\x00\x00\x00\x00\x00\x00\x80", 8);
  uint64_t long_value = 0;
  ASSERT_TRUE(GetFixed(&long_in, &long_value));
  EXPECT_EQ(long_value, 0x8000000000000001U);
  EXPECT_TRUE(long_in.empty());
}

TEST(Coding, BigNumbersHaveTheMostSignificantByteFirst) {
  std::string bytes;
  PutBig<uint16_t>(&bytes, 0x8182);
  PutBig<uint32_t>(&bytes, 0x01020384);
  PutBig<uint64_t>(&bytes, 0x8000000000000001U);
  EXPECT_EQ(bytes, std::string_view("\x81\x82\x01\x02\x03\x84"
                                    "\x80\x00\x00\x00\x00\x00\x00\x01",
                                    14));
  EXPECT_EQ(LoadBig<uint16_t>(bytes.data()), 0x8182);
  EXPECT_EQ(LoadFixed<uint16_t>(bytes.data()), 0x8281);
  std::string_view in = bytes;
  uint16_t narrow = 0;
  uint32_t value = 0;
  uint64_t wide = 0;
  ASSERT_TRUE(GetBig(&in, &narrow) && GetBig(&in, &value) &&
              GetBig(&in, &wide));
  EXPECT_EQ(narrow, 0x8182);
  EXPECT_EQ(value, 0x01020384U);
  EXPECT_EQ(wide, 0x8000000000000001U);
  EXPECT_TRUE(in.empty());
}

TEST(Coding, FixedNumbersCutShortAreRefused) {
  std::string_view in("\x01\x02\x03", 3);
  uint32_t value = 7;
  EXPECT_FALSE(GetFixed(&in, &value));
  EXPECT_FALSE(GetBig(&in, &value));
  EXPECT_EQ(in.size(), 3U);
  EXPECT_EQ(value, 7U);
}

TEST(Coding, VarintsReachTheirLimits) {
  const auto read = [](std::string_view in) {
    uint64_t value = 0;
    EXPECT_TRUE(GetVarint(&in, &value));
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
    EXPECT_FALSE(GetVarint(&in, &value)) << bad.size();
    EXPECT_EQ(in.size(), bad.size());
  }
  uint32_t small = 0;
  std::string_view too_wide("\x80\x80\x80\x80\x10");  // 2^32
  EXPECT_FALSE(GetVarint(&too_wide, &small));
  std::string_view widest("\xff\xff\xff\xff\x0f");
  EXPECT_TRUE(GetVarint(&widest, &small));
  EXPECT_EQ(small, std::numeric_limits<uint32_t>::max());
}

TEST(Coding, VarintsComeBackAsTheyWerePut) {
  for (const uint64_t value :
       {uint64_t{0}, uint64_t{127}, uint64_t{128}, uint64_t{300},
        std::numeric_limits<uint64_t>::max()}) {
    std::string bytes;
    PutVarint(&bytes, value);
    std::string_view in = bytes;
    uint64_t found = 0;
    ASSERT_TRUE(GetVarint(&in, &found));
    EXPECT_EQ(found, value);
    EXPECT_TRUE(in.empty());
  }
}

TEST(Coding, SizedBytesStayInsideOfWhatIsThere) {
  std::string_view in("\2abc");
  std::string_view bytes;
  ASSERT_TRUE(GetSizedBytes(&in, &bytes));
  EXPECT_EQ(bytes, "ab");
  EXPECT_FALSE(GetBytes(&in, 2, &bytes));
  EXPECT_EQ(in, "c");
  in = "\4abc";
  EXPECT_FALSE(GetSizedBytes(&in, &bytes));
  EXPECT_EQ(in.size(), 4U);
}

TEST(Coding, SignedVarintsAlternateInSign) {
  const auto read = [](std::string_view in) {
    int64_t value = 0;
    EXPECT_TRUE(GetSignedVarint(&in, &value));
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

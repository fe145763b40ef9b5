#include "tools/cli/text.h"

#include <gtest/gtest.h>

#include <string_view>

namespace rowbloom::cli {
namespace {

TEST(Text, SizesAreRoundedToOneDecimal) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(1023), "1023 B");
  EXPECT_EQ(HumanBytes(1024), "1.0 KiB");
  EXPECT_EQ(HumanBytes(1258291), "1.2 MiB");
  EXPECT_EQ(HumanBytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(HumanBytes(~uint64_t{0}), "16.0 EiB");
  EXPECT_EQ(HumanAndExactBytes(512), "512 bytes");
  EXPECT_EQ(HumanAndExactBytes(1258291), "1.2 MiB (1258291 bytes)");
}

TEST(Text, SharesAreShownAsPercent) {
  EXPECT_EQ(Percent(0.00953), "0.953 %");
  EXPECT_EQ(Percent(1), "100 %");
  EXPECT_EQ(Percent(0), "0 %");
  EXPECT_EQ(PercentRange(0.5, 0.5004), "50.0 %");
  EXPECT_EQ(PercentRange(0.482, 0.51), "48.2-51.0 %");
}

TEST(Text, ControlCharactersNeverReachATerminal) {
  EXPECT_EQ(WithoutControls("a\x1b[2J\n\x7f\xc3\xa9"),
            "a\\x1B[2J\\x0A\\x7F\xc3\xa9");
  // Those of 8 bits, and of UTF-8; a dash of UTF-8 has such bytes, too.
  EXPECT_EQ(WithoutControls("a\x9b[2J \xc2\x9b[2J \xe2\x80\x93"),
            "a\\x9B[2J \xc2\\x9B[2J \xe2\x80\x93");
  // A second one, and one that follows a whole character.
  EXPECT_EQ(WithoutControls("\x9b\x9b[2J \xc3\xa9\x9b[2J"),
            "\\x9B\\x9B[2J \xc3\xa9\\x9B[2J");
}

TEST(Text, BytesAreTwoHexDigitsEach) {
  EXPECT_EQ(ToHex(std::string_view("\0\xff\xa1", 3)), "00ffa1");
}

TEST(Text, TimesAreOfUtc) {
  EXPECT_EQ(UtcText(0), "1970-01-01 00:00:00 UTC");
  EXPECT_EQ(UtcText(253'402'300'799), "9999-12-31 23:59:59 UTC");
  EXPECT_EQ(UtcText(253'402'300'800), "253402300800");
}

}  // namespace
}  // namespace rowbloom::cli

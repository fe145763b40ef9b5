#include "tools/sst_inspect/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/support/random.h"

namespace rowbloom::sst_inspect {
namespace {

using testing::HasSubstr;

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

TEST(Text, PrintableBytesReadBack) {
  EXPECT_EQ(Printable(std::string_view("a\\b\0\xff", 5)), "a\\x5Cb\\x00\\xFF");
  test::Random random(test::SeedFromEnv());
  for (int i = 0; i < 1000; ++i) {
    const std::string bytes = random.Bytes(random.Below(20));
    const auto back = ParseBytes(Printable(bytes), false);
    ASSERT_TRUE(back.has_value()) << back.error();
    EXPECT_EQ(*back, bytes);
  }
}

TEST(Text, ControlCharactersNeverReachATerminal) {
  EXPECT_EQ(WithoutControls("a\x1b[2J\n\x7f\xc3\xa9"),
            "a\\x1B[2J\\x0A\\x7F\xc3\xa9");
}

TEST(Text, BytesOfHexDigits) {
  EXPECT_EQ(*ParseBytes("00fFa1", true), std::string("\x00\xff\xa1", 3));
  EXPECT_EQ(*ParseBytes("", true), "");
  for (const char* bad : {"0", "0g", "abc", "0x00", " 00"}) {
    const auto bytes = ParseBytes(bad, true);
    ASSERT_FALSE(bytes.has_value()) << bad;
    EXPECT_THAT(bytes.error(), HasSubstr("expected two hex digits"));
  }
  EXPECT_THAT(ParseBytes("abc", true).error(), HasSubstr("at character 3"));
}

TEST(Text, BytesOfEscapedText) {
  EXPECT_EQ(*ParseBytes("user\\x00\\xFfend", false), std::string("user\x00\xff"
                                                                 "end",
                                                                 9));
  EXPECT_EQ(*ParseBytes("a\\b\\", false), "a\\b\\");
  EXPECT_THAT(ParseBytes("a\\x1", false).error(),
              HasSubstr("expected two hex digits at character 4"));
}

TEST(Text, TableColumnsAreAligned) {
  Table table({{"name"}, {"n", Table::Align::kRight}, {"note"}});
  EXPECT_TRUE(table.empty());
  table.AddRow({"a", "100", ""});
  table.AddRow({"longer", "1", "x"});
  std::ostringstream out;
  table.Print(out);
  EXPECT_EQ(out.str(),
            "  name      n  note\n"
            "  a       100\n"
            "  longer    1  x\n");
}

}  // namespace
}  // namespace rowbloom::sst_inspect

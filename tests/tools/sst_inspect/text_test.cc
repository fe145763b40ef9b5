#include "tools/sst_inspect/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

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

TEST(Text, ControlCharactersNeverReachATerminal) {
  EXPECT_EQ(WithoutControls("a\x1b[2J\n\x7f\xc3\xa9"),
            "a\\x1B[2J\\x0A\\x7F\xc3\xa9");
}

TEST(Text, BytesOfHexDigits) {
  EXPECT_EQ(*ParseHex("00fFa1"), std::string("\x00\xff\xa1", 3));
  EXPECT_EQ(*ParseHex(""), "");
  for (const char* bad : {"0", "0g", "abc", "0x00", " 00"}) {
    const auto bytes = ParseHex(bad);
    ASSERT_FALSE(bytes.has_value()) << bad;
    EXPECT_THAT(bytes.error(), HasSubstr("expected two hex digits"));
  }
  EXPECT_THAT(ParseHex("abc").error(), HasSubstr("at character 3"));
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

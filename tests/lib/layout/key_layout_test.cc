#include "rowbloom/key_layout.h"

#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/random.h"

namespace rowbloom {
namespace {

using test::Random;
using test::SeedFromEnv;
using namespace std::string_literals;

// The first byte, modulo 4, says how many bytes of row follow it.
KeyLayout CustomLayout() {
  static const KeyLayout layout = *KeyLayout::RegisterCustom(
      "first_byte", [](std::string_view key) -> std::optional<size_t> {
        if (key.empty()) return std::nullopt;
        return 1 + static_cast<unsigned char>(key[0]) % 4;
      });
  return layout;
}

std::vector<KeyLayout> AllLayouts() {
  return {KeyLayout::Escaped(),
          KeyLayout::FixedRow(1),
          KeyLayout::FixedRow(3),
          KeyLayout::Delimited(':'),
          KeyLayout::Delimited('\0'),
          KeyLayout::LengthPrefixed(),
          CustomLayout()};
}

// All keys of up to 6 of the bytes that mean something to some layout.
const std::vector<std::string>& TrickyKeys() {
  static const auto* keys = [] {
    auto* all = new std::vector<std::string>{""};
    for (size_t first = 0, length = 1; length <= 6; ++length) {
      const size_t end = all->size();
      for (; first < end; ++first) {
        for (const char c : {'\x00', '\x01', '\xff', ':', 'a'}) {
          all->push_back((*all)[first] + c);
        }
      }
    }
    return all;
  }();
  return *keys;
}

class EachLayout : public testing::TestWithParam<size_t> {
 protected:
  KeyLayout layout_ = AllLayouts()[GetParam()];
};

INSTANTIATE_TEST_SUITE_P(KeyLayout, EachLayout, testing::Range<size_t>(0, 7));

TEST_P(EachLayout, IdRoundTrips) {
  const std::string id = layout_.ToString();
  const auto parsed = KeyLayout::FromString(id);
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(*parsed, layout_);
  EXPECT_EQ(parsed->ToString(), id);
}

TEST_P(EachLayout, SplitIsTotalAndIdempotent) {
  size_t inside = 0;
  for (const std::string& key : TrickyKeys()) {
    const auto split = layout_.Split(key);
    if (!split) continue;
    ++inside;
    ASSERT_EQ(std::string(split->row) + std::string(split->qualifier), key);
    ASSERT_EQ(split->row.data(), key.data());
    const auto row_alone = layout_.Split(split->row);
    ASSERT_TRUE(row_alone);
    ASSERT_EQ(row_alone->row, split->row);
    ASSERT_EQ(row_alone->qualifier, "");
  }
  EXPECT_GT(inside, 1000u);
}

TEST_P(EachLayout, NoKeyOfAnotherRowStartsWithTheRow) {
  std::set<std::string> rows;
  for (const std::string& key : TrickyKeys()) {
    if (const auto split = layout_.Split(key)) rows.emplace(split->row);
  }
  ASSERT_GT(rows.size(), 3u);
  for (const std::string& key : TrickyKeys()) {
    for (size_t length = 0; length <= key.size(); ++length) {
      const std::string prefix = key.substr(0, length);
      if (!rows.contains(prefix)) continue;
      const auto split = layout_.Split(key);
      ASSERT_TRUE(split);
      ASSERT_EQ(split->row, prefix);
    }
  }
}

TEST_P(EachLayout, EncodedRowsSplitAndDecodeBack) {
  Random random(SeedFromEnv());
  size_t encoded_rows = 0;
  for (int i = 0; i < 20'000; ++i) {
    // Short rows of few byte values, so that the special ones are frequent.
    std::string row = random.Bytes(random.Below(6));
    for (char& c : row) c = "\x00\x01\xff:\x03"s[random.Below(5)];
    const auto encoded = layout_.EncodeRow(row);
    if (!encoded) continue;
    ++encoded_rows;
    const std::string qualifier = random.Bytes(random.Below(5));
    const std::string key = *encoded + qualifier;
    const auto split = layout_.Split(key);
    ASSERT_TRUE(split);
    ASSERT_EQ(split->row, *encoded);
    ASSERT_EQ(split->qualifier, qualifier);
    ASSERT_EQ(layout_.DecodeRow(split->row), row);
    if (!qualifier.empty()) {
      ASSERT_EQ(layout_.DecodeRow(key), std::nullopt);
    }
  }
  EXPECT_GT(encoded_rows, 100u);
}

TEST(KeyLayout, EscapedAndFixedRowsSortAsTheRowsDo) {
  for (const KeyLayout& layout : AllLayouts()) {
    EXPECT_EQ(layout.PreservesRowOrder(),
              layout == KeyLayout::Escaped() || layout.FixedRowBytes());
    if (!layout.PreservesRowOrder()) continue;
    Random random(SeedFromEnv());
    const auto row = [&] {
      std::string bytes = random.Bytes(layout.FixedRowBytes().value_or(
          static_cast<uint32_t>(random.Below(5))));
      for (char& c : bytes) c = "\x00\x01\xff\xfe"s[random.Below(4)];
      return bytes;
    };
    for (int i = 0; i < 50'000; ++i) {
      const std::string a = row();
      const std::string b = row();
      if (a == b) continue;
      const std::string key_a = *layout.EncodeRow(a) + random.Bytes(3);
      const std::string key_b = *layout.EncodeRow(b) + random.Bytes(3);
      ASSERT_EQ(a < b, key_a < key_b)
          << testing::PrintToString(a) << " and " << testing::PrintToString(b);
    }
  }
}

TEST(KeyLayout, SplitsAsTheTableSays) {
  struct Expected {
    KeyLayout layout;
    std::string key;
    std::string row;
    std::string qualifier;
  };
  for (const Expected& c : std::vector<Expected>{
           {KeyLayout::Escaped(), "row\x00\x01qual"s, "row\x00\x01"s, "qual"},
           {KeyLayout::Escaped(), "r\x00\xffw\x00\x01q"s, "r\x00\xffw\x00\x01"s,
            "q"},
           {KeyLayout::Escaped(), "\x00\x01"s, "\x00\x01"s, ""},
           {KeyLayout::FixedRow(4), "abcdef", "abcd", "ef"},
           {KeyLayout::Delimited(':'), "user_1001:tags", "user_1001:", "tags"},
           {KeyLayout::Delimited(':'), "a:b:c", "a:", "b:c"},
           {KeyLayout::LengthPrefixed(), "\x00\x03rowqual"s, "\x00\x03row"s,
            "qual"},
           {KeyLayout::LengthPrefixed(), "\x00\x00q"s, "\x00\x00"s, "q"}}) {
    const auto split = c.layout.Split(c.key);
    ASSERT_TRUE(split) << c.layout.ToString();
    EXPECT_EQ(split->row, c.row);
    EXPECT_EQ(split->qualifier, c.qualifier);
  }
}

TEST(KeyLayout, KeysOutsideHaveNoRow) {
  const std::multimap<std::string, std::string> outside = {
      {"escaped", ""},
      {"escaped", "row"},
      {"escaped", "row\x00"s},
      {"escaped", "row\x00\x02"s},
      {"escaped", "row\x00\xff"s},
      {"fixed:4", "abc"},
      {"delimited::", "no delimiter"},
      {"u16", ""},
      {"u16", "\x00"s},
      {"u16", "\x00\x05only"s},
      {"u16", "\xff\xffshort"}};
  for (const auto& [id, key] : outside) {
    EXPECT_FALSE(KeyLayout::FromString(id)->Split(key))
        << id << " " << testing::PrintToString(key);
  }
}

TEST(KeyLayout, EveryDelimiterHasAnIdOfPlainCharacters) {
  std::set<std::string> ids;
  for (int c = 0; c < 256; ++c) {
    const KeyLayout layout = KeyLayout::Delimited(static_cast<char>(c));
    const std::string id = layout.ToString();
    EXPECT_EQ(id.find_first_of("{}=;,\\\"'# \n"), std::string::npos) << id;
    for (const char byte : id) EXPECT_TRUE(byte > ' ' && byte < '\x7f') << id;
    EXPECT_EQ(*KeyLayout::FromString(id), layout) << id;
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), 256u);
  EXPECT_EQ(*KeyLayout::FromString("delimited:0x3a"),
            KeyLayout::Delimited(':'));
}

TEST(KeyLayout, UnknownLayoutsAreRefusedWithTheExpectedForm) {
  const std::map<std::string, std::string> refused = {
      {"", "unknown key layout \"\""},
      {"escape", "expected escaped, fixed:N, delimited:C, u16 or custom:NAME"},
      {"Escaped", "unknown key layout"},
      {"fixed\xff", "unknown key layout \"fixed\\xFF\""},
      {"fixed:\xff", "key layout \"fixed:\\xFF\""},
      {"fixed", "unknown key layout"},
      {"fixed:", "expected fixed:N"},
      {"fixed:0", "from 1 to 65535 bytes"},
      {"fixed:65536", "from 1 to 65535 bytes"},
      {"fixed:99999999999999999999", "expected fixed:N"},
      {"fixed:-1", "expected fixed:N"},
      {"fixed:4x", "expected fixed:N"},
      {"delimited:", "expected delimited:C with one byte C, or 0xHH"},
      {"delimited:ab", "expected delimited:C"},
      {"delimited:0xg0", "expected delimited:C"},
      {"custom:nobody", "is not registered in this process"},
      {"custom:", "is not registered in this process"}};
  for (const auto& [text, message] : refused) {
    const auto parsed = KeyLayout::FromString(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.error().find(message), std::string::npos)
        << parsed.error();
  }
}

TEST(KeyLayout, FixedRowOfNoOrTooManyBytesHoldsNoKeyAndDoesNotReadBack) {
  for (const uint32_t row_bytes : {0, 65536, 70000}) {
    const KeyLayout none = KeyLayout::FixedRow(row_bytes);
    EXPECT_FALSE(none.Split(std::string(80000, 'x')));
    EXPECT_FALSE(KeyLayout::FromString(none.ToString()));
  }
}

TEST(KeyLayout, RowsThatDoNotFitAreRefusedWithTheReason) {
  EXPECT_EQ(KeyLayout::FixedRow(4).EncodeRow("abc").error(),
            "a row of 3 bytes does not fit key layout fixed:4: expected 4");
  EXPECT_EQ(KeyLayout::Delimited(':').EncodeRow("ab:c").error(),
            "a row with the delimiter at byte 2 does not fit key layout "
            "delimited::");
  EXPECT_FALSE(KeyLayout::LengthPrefixed().EncodeRow(std::string(65536, 'x')));
  EXPECT_TRUE(KeyLayout::LengthPrefixed().EncodeRow(std::string(65535, 'x')));
  EXPECT_FALSE(CustomLayout().EncodeRow("\x02too long"));
}

TEST(KeyLayout, CustomNamesAreCheckedAndTakenOnce) {
  const auto whole = [](std::string_view key) -> std::optional<size_t> {
    return key.size();
  };
  for (const std::string& name :
       {""s, "with space"s, "semi;colon"s, std::string(65, 'x')}) {
    EXPECT_FALSE(KeyLayout::RegisterCustom(name, whole)) << name;
  }
  for (int c = 0; c < 256; ++c) {
    const bool is_taken =
        c < 128 && (std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.');
    const std::string name = "with_" + std::string(1, static_cast<char>(c));
    EXPECT_EQ(KeyLayout::RegisterCustom(name, whole).has_value(), is_taken)
        << c;
  }
  EXPECT_FALSE(KeyLayout::RegisterCustom("no_function", nullptr));
  ASSERT_TRUE(KeyLayout::RegisterCustom("taken-1.0_x", whole));
  const auto again = KeyLayout::RegisterCustom("taken-1.0_x", whole);
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().find("already registered"), std::string::npos);
}

TEST(KeyLayout, CustomRowLongerThanItsKeyIsOutside) {
  const auto layout = KeyLayout::RegisterCustom(
      "liar", [](std::string_view key) -> std::optional<size_t> {
        return key.size() + 1;
      });
  ASSERT_TRUE(layout);
  EXPECT_FALSE(layout->Split("abc"));
}

}  // namespace
}  // namespace rowbloom

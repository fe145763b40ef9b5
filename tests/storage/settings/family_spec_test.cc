#include "storage/settings/family_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "storage/settings/duration.h"

namespace rowbloom::test {
namespace {

using ::testing::HasSubstr;

TEST(FamilySpec, NameAloneLeavesTheOptions) {
  const auto spec = FamilySpec::Parse("info");
  ASSERT_TRUE(spec) << spec.error();
  EXPECT_EQ(spec->name(), "info");
  EXPECT_EQ(spec->ApplyTo({}), FamilyOptions());
  const FamilyOptions others = {.bloom_type = BloomType::kRow, .ttl_ms = 5};
  EXPECT_EQ(spec->ApplyTo(others), others);
}

TEST(FamilySpec, SettingsReplaceThoseOfTheBase) {
  const auto spec = FamilySpec::Parse("info,versions=3,ttl=60s");
  ASSERT_TRUE(spec) << spec.error();
  EXPECT_EQ(
      spec->ApplyTo({.bloom_type = BloomType::kRow, .max_versions = 2}),
      (FamilyOptions{
          .bloom_type = BloomType::kRow, .max_versions = 3, .ttl_ms = 60'000}));
}

// No member has its default.
const FamilyOptions kAllSet = {.bloom_type = BloomType::kRowPrefixFixedLength,
                               .filter_kind = FilterKind::kRibbon,
                               .false_positive_rate = 0.001,
                               .row_prefix_length = 4,
                               .compression = Compression::kNone,
                               .block_size_bytes = 8192,
                               .timestamps = Timestamps::kClient,
                               .max_versions = 7,
                               .min_versions = 2,
                               .ttl_ms = 86'400'000,
                               .bottom_compression = Compression::kZstd,
                               .dictionary_bytes = 4096,
                               .min_blob_bytes = 512};
constexpr char kAllSettings[] =
    ",bloom=ROWPREFIX_FIXED_LENGTH,rate=0.001,kind=ribbon,prefix=4,"
    "compression=none,bottom_compression=zstd,dictionary=4096,min_blob=512,"
    "block=8192,timestamps=client,versions=7,min_versions=2,ttl=1d";

TEST(FamilySpec, EverySettingIsTaken) {
  const auto spec = FamilySpec::Parse(std::string("f") + kAllSettings);
  ASSERT_TRUE(spec) << spec.error();
  EXPECT_EQ(spec->ApplyTo({}), kAllSet);
}

TEST(FamilySpec, NamesOfValuesAreTakenInAnyCase) {
  const auto spec = FamilySpec::Parse(
      "f,bloom=RowCol,kind=RIBBON,compression=LZ4,bottom_compression=Zstd,"
      "timestamps=Client");
  ASSERT_TRUE(spec) << spec.error();
  EXPECT_EQ(spec->ApplyTo({.compression = Compression::kNone}),
            (FamilyOptions{.bloom_type = BloomType::kRowCol,
                           .filter_kind = FilterKind::kRibbon,
                           .compression = Compression::kLz4,
                           .timestamps = Timestamps::kClient,
                           .bottom_compression = Compression::kZstd}));
}

TEST(FamilySpec, NamesTakeEscapes) {
  const auto spec = FamilySpec::Parse("a\\x2Cb,versions=2");
  ASSERT_TRUE(spec) << spec.error();
  EXPECT_EQ(spec->name(), "a,b");
}

TEST(FamilySpec, WrongSettingsAreNamed) {
  const struct {
    const char* text;
    const char* problem;
  } cases[] = {
      {"f,", "family \"f\": expected NAME=VALUE with a name of bloom, rate"},
      {"f,versions", "found \"versions\""},
      {"f,version=3", "found \"version=3\""},
      {"f,versions=2,versions=3", "expected versions once, found it again"},
      {"f,bloom=COL", "bloom: unknown"},
      {"f,rate=high", "rate: expected a number, found \"high\""},
      {"f,versions=", "versions: expected a whole number"},
      {"f,versions=-1", "at most 4294967295, found \"-1\""},
      {"f,versions=4294967296", "found \"4294967296\""},
      {"f,versions=3x", "found \"3x\""},
      {"f,compression=zip", "expected none or lz4 or zstd, found \"zip\""},
      {"f,timestamps=mine", "expected store or client, found \"mine\""},
      {"f,ttl=60", "ttl: expected a time such as"},
      {"f,=3", "found \"=3\""},
  };
  for (const auto& c : cases) {
    const auto spec = FamilySpec::Parse(c.text);
    ASSERT_FALSE(spec) << c.text;
    EXPECT_THAT(spec.error(), HasSubstr(c.problem));
  }
}

// A family, as the tool prints it, is an equal family when parsed.
TEST(FamilySpec, TextOfAFamilyParses) {
  const std::string text = FamilySpec::ToText("f,\\x41", kAllSet);
  EXPECT_EQ(text, std::string("f\\x2C\\x5Cx41") + kAllSettings);
  const auto spec = FamilySpec::Parse(text);
  ASSERT_TRUE(spec) << spec.error();
  EXPECT_EQ(spec->name(), "f,\\x41");
  EXPECT_EQ(spec->ApplyTo({}), kAllSet);
}

TEST(DurationText, TakesTheLargestUnit) {
  EXPECT_EQ(DurationText(0), "forever");
  EXPECT_EQ(DurationText(1), "1ms");
  EXPECT_EQ(DurationText(1'500), "1500ms");
  EXPECT_EQ(DurationText(90'000), "90s");
  EXPECT_EQ(DurationText(120'000), "2m");
  EXPECT_EQ(DurationText(90'000'000), "25h");
  EXPECT_EQ(DurationText(604'800'000), "7d");
}

TEST(ParseDuration, TakesUnits) {
  const struct {
    const char* text;
    uint64_t ms;
  } cases[] = {{"0", 0},
               {"forever", 0},
               {"250ms", 250},
               {"60s", 60'000},
               {"5m", 300'000},
               {"24h", 86'400'000},
               {"7d", 604'800'000},
               {"18446744073709551615ms", UINT64_MAX}};
  for (const auto& c : cases) {
    const auto ms = ParseDuration(c.text);
    ASSERT_TRUE(ms) << c.text << ": " << ms.error();
    EXPECT_EQ(*ms, c.ms);
  }
  for (const char* text : {"", "s", "5", "5 s", "5w", "-5s", "1.5h", "5S"}) {
    const auto ms = ParseDuration(text);
    ASSERT_FALSE(ms) << text;
    EXPECT_THAT(ms.error(), HasSubstr("expected a time such as"));
  }
  for (const char* text : {"18446744073709551616ms", "18446744073709551615s"}) {
    const auto ms = ParseDuration(text);
    ASSERT_FALSE(ms) << text;
    EXPECT_THAT(ms.error(),
                HasSubstr("expected a time of at most 18446744073709551615ms"));
  }
}

}  // namespace
}  // namespace rowbloom::test

// Settings of HBase's families, and what a store makes of them.
#include "storage/hfile_transfer/family_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "rowbloom/store.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::hfile_transfer {
namespace {

using rocksdb::Status;
using test::IsOk;
using test::StatusIs;
using testing::AllOf;
using testing::HasSubstr;

// The settings that HBase writes for each family, with these among them.
FamilySchema FamilyWith(Settings settings) {
  settings.insert({{"VERSIONS", "1"},
                   {"MIN_VERSIONS", "0"},
                   {"TTL", "2147483647"},
                   {"KEEP_DELETED_CELLS", "FALSE"}});
  return {"f", std::move(settings)};
}

FamilyOptions OptionsOf(const Settings& settings) {
  FamilyOptions options;
  EXPECT_THAT(ToFamilyOptions(FamilyWith(settings), &options), IsOk());
  return options;
}

TEST(FamilySettings, AreHBasesDefaultsWhereNoneIsSet) {
  FamilyOptions expected;
  expected.timestamps = Timestamps::kClient;
  expected.max_versions = 1;
  expected.bloom_type = BloomType::kRow;
  expected.block_size_bytes = 65536;
  expected.compression = Compression::kNone;
  EXPECT_EQ(OptionsOf({}), expected);
  // Settings of speed and place stay behind.
  EXPECT_EQ(OptionsOf({{"IN_MEMORY", "true"},
                       {"DATA_BLOCK_ENCODING", "DIFF"},
                       {"KEEP_DELETED_CELLS", "FALSE"},
                       {"NEW_VERSION_BEHAVIOR", "false"},
                       {"REPLICATION_SCOPE", "1"}}),
            expected);
}

TEST(FamilySettings, BecomeOptions) {
  const FamilyOptions options =
      OptionsOf({{"VERSIONS", "5"},
                 {"MIN_VERSIONS", "2"},
                 {"TTL", "604800"},
                 {"BLOOMFILTER", "ROWPREFIX_FIXED_LENGTH"},
                 {"RowPrefixBloomFilter.prefix_length", "8"},
                 {"COMPRESSION", "SNAPPY"},
                 {"BLOCKSIZE", "8192"}});
  EXPECT_EQ(options.max_versions, 5u);
  EXPECT_EQ(options.min_versions, 2u);
  EXPECT_EQ(options.ttl_ms, 604'800'000u);
  EXPECT_EQ(options.bloom_type, BloomType::kRowPrefixFixedLength);
  EXPECT_EQ(options.row_prefix_length, 8u);
  EXPECT_EQ(options.compression, Compression::kLz4);
  EXPECT_EQ(options.block_size_bytes, 8192u);
  EXPECT_EQ(OptionsOf({{"TTL", "FOREVER"}}).ttl_ms, 0u);
  EXPECT_EQ(OptionsOf({{"TTL", "2147483647"}}).ttl_ms, 0u);
  EXPECT_EQ(OptionsOf({{"BLOOMFILTER", "NONE"}}).bloom_type, BloomType::kNone);
  const FamilyOptions ribbon = OptionsOf({{"BLOOMFILTER", "RIBBON_ROWCOL"}});
  EXPECT_EQ(ribbon.bloom_type, BloomType::kRowCol);
  EXPECT_EQ(ribbon.filter_kind, FilterKind::kRibbon);
  EXPECT_EQ(options.filter_kind, FilterKind::kBloom);
}

TEST(FamilySettings, AtTheirEndsAreTakenByAStore) {
  test::TempDir dir;
  std::unique_ptr<Store> store;
  ASSERT_THAT(Store::Open({}, dir.File("db"),
                          {{"all", OptionsOf({{"VERSIONS", "2147483647"},
                                              {"TTL", "2147483646"},
                                              {"BLOCKSIZE", "1"}})},
                           {"large", OptionsOf({{"BLOCKSIZE", "2147483647"}})}},
                          &store),
              IsOk());
  EXPECT_EQ(store->Families()["all"].max_versions, 2147483647u);
  EXPECT_EQ(store->Families()["all"].ttl_ms, 2147483646000u);
}

TEST(FamilySettings, ThatAreMissingAreNamed) {
  for (const char* name :
       {"VERSIONS", "MIN_VERSIONS", "TTL", "KEEP_DELETED_CELLS"}) {
    FamilySchema family = FamilyWith({});
    for (const bool is_empty : {true, false}) {
      family.settings[name] = "";
      if (!is_empty) family.settings.erase(name);
      FamilyOptions options;
      EXPECT_THAT(ToFamilyOptions(family, &options),
                  StatusIs(Status::kCorruption,
                           HasSubstr(std::string("no ") + name + ",")));
    }
  }
}

TEST(FamilySettings, WithoutACounterpartAreNamed) {
  FamilyOptions options;
  for (const auto& [name, value] : std::multimap<std::string, std::string>{
           {"KEEP_DELETED_CELLS", "TRUE"},
           {"KEEP_DELETED_CELLS", "TTL"},
           {"NEW_VERSION_BEHAVIOR", "true"}}) {
    EXPECT_THAT(ToFamilyOptions(FamilyWith({{name, value}}), &options),
                StatusIs(Status::kNotSupported, HasSubstr(name + " " + value)));
  }
  for (const auto& [name, value] : std::multimap<std::string, std::string>{
           {"VERSIONS", "x"},
           {"VERSIONS", "-1"},
           {"VERSIONS", "0"},
           {"MIN_VERSIONS", "4294967296"},
           {"MIN_VERSIONS", "2"},  // VERSIONS is 1
           {"TTL", "0"},
           {"TTL", "1 day"},
           {"BLOCKSIZE", "64k"},
           {"BLOOMFILTER", "RIBBON"},
           {"BLOOMFILTER", "RIBBON_NONE"},
           {"BLOOMFILTER", "RIBBON_ROWS"}}) {
    EXPECT_THAT(ToFamilyOptions(FamilyWith({{name, value}}), &options),
                StatusIs(Status::kInvalidArgument,
                         AllOf(HasSubstr(name), HasSubstr("expected"))));
  }
  for (const char* length : {"", "0", "32768"}) {
    EXPECT_THAT(
        ToFamilyOptions(
            FamilyWith({{"BLOOMFILTER", "ROWPREFIX_FIXED_LENGTH"},
                        {"RowPrefixBloomFilter.prefix_length", length}}),
            &options),
        StatusIs(Status::kInvalidArgument,
                 HasSubstr("prefix_length " +
                           std::string(*length == '\0' ? "0" : length) +
                           ", expected 1 to 32767")));
  }
}

}  // namespace
}  // namespace rowbloom::hfile_transfer

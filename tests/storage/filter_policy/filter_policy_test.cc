#include "rowbloom/filter_policy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "lib/kernels/kernel.h"
#include "rocksdb/convenience.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/utilities/options_util.h"
#include "rowbloom/bloom_math.h"
#include "storage/filter_policy/ids.h"
#include "storage/filter_policy/rocksdb_filter_interface.h"
#include "tests/storage/filter_policy/filtered_db.h"
#include "tests/support/temp_dir.h"

namespace rowbloom {
namespace {

using rocksdb::Status;
using test::ExpectOk;
using test::Key;
using test::kLayout;
using test::MakeFilterPolicy;
using test::OpenDb;
using test::Row;
using test::StatsOf;
using test::TempDir;
using test::TestDbOptions;

// Expects a refusal of these options, which get a layout if they name none.
void ExpectInvalid(FilterPolicyOptions options, const std::string& message) {
  if (!options.key_layout) options.key_layout = KeyLayout::Escaped();
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  const Status status = NewFilterPolicy(options, &policy);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_EQ(status.ToString(), "Invalid argument: " + message);
  EXPECT_EQ(policy, nullptr);
}

TEST(NewFilterPolicy, RatesOutsideZeroAndOneAreRefused) {
  for (const auto& [rate, text] : std::map<double, std::string>{
           {0, "0"},
           {1, "1"},
           {-0.5, "-0.5"},
           {std::numeric_limits<double>::infinity(), "inf"}}) {
    ExpectInvalid({.false_positive_rate = rate},
                  "false_positive_rate " + text +
                      ": expected a number between 0 and 1, both excluded");
  }
  ExpectInvalid({.false_positive_rate = std::nan("")},
                "false_positive_rate nan: expected a number between 0 and 1, "
                "both excluded");
}

TEST(NewFilterPolicy, RowPrefixLengthBelongsToItsType) {
  ExpectInvalid({.bloom_type = BloomType::kRowPrefixFixedLength},
                "row_prefix_length 0: ROWPREFIX_FIXED_LENGTH expects 1 to "
                "65535 bytes");
  ExpectInvalid({.bloom_type = BloomType::kRowPrefixFixedLength,
                 .row_prefix_length = 65536},
                "row_prefix_length 65536: ROWPREFIX_FIXED_LENGTH expects 1 to "
                "65535 bytes");
  ExpectInvalid({.bloom_type = BloomType::kRow, .row_prefix_length = 4},
                "row_prefix_length 4: only ROWPREFIX_FIXED_LENGTH has one, "
                "expected 0");
}

TEST(NewFilterPolicy, LayoutThatCannotBeNamedIsRefused) {
  ExpectInvalid({.key_layout = KeyLayout::FixedRow(0)},
                "key layout \"fixed:0\": expected fixed:N with a row length N "
                "from 1 to 65535 bytes");
  EXPECT_EQ(NewRowPrefixExtractor(KeyLayout::FixedRow(0)), nullptr);
}

TEST(NewFilterPolicy, LayoutIsRequired) {
  for (const BloomType type : {BloomType::kRowCol, BloomType::kNone}) {
    std::shared_ptr<const rocksdb::FilterPolicy> policy;
    const Status status = NewFilterPolicy({.bloom_type = type}, &policy);
    EXPECT_EQ(status.ToString(),
              "Invalid argument: key_layout is not set: give the layout of the "
              "keys, as KeyLayout::Delimited(':') for user_1001:mail, or "
              "KeyLayout::FixedRow(8)");
    EXPECT_EQ(policy, nullptr);
  }
}

TEST(NewFilterPolicy, EnumsOutsideTheirValuesAreRefused) {
  ExpectInvalid({.bloom_type = static_cast<BloomType>(7)},
                "bloom_type 7: expected NONE, ROW, ROWCOL or "
                "ROWPREFIX_FIXED_LENGTH");
  ExpectInvalid({.kind = static_cast<FilterKind>(9)},
                "kind 9: expected bloom or ribbon");
}

TEST(NewFilterPolicy, ShapesOutsideTheirRangesAreRefused) {
  const auto expect = [](const LevelShape& shape, const std::string& message) {
    ExpectInvalid({.level_allocation = shape}, "level_allocation: " + message);
  };
  expect({.levels = 0}, "levels 0: expected 1 to 63");
  expect({.levels = 64}, "levels 64: expected 1 to 63");
  expect({.size_ratio = 0.5}, "size_ratio 0.5: expected 1 to 1000");
  expect({.size_ratio = std::nan("")}, "size_ratio nan: expected 1 to 1000");
  expect({.level0_files = 0}, "level0_files 0: expected 1 to 1000");
}

TEST(NewFilterPolicy, LevelsOfKindsOutsideTheirRangeAreRefused) {
  ExpectInvalid({.kind = FilterKind::kRibbon, .bloom_before_level = -2},
                "bloom_before_level -2: expected -1 or more");
  // The level has no meaning for kBloom, and is not part of the id.
  EXPECT_STREQ(MakeFilterPolicy({.bloom_before_level = -2})->Name(),
               MakeFilterPolicy({})->Name());
}

TEST(NewFilterPolicy, RowSpreadsOutsideTheirRangeAreRefused) {
  for (const auto& [spread, text] :
       std::map<double, std::string>{{0, "0"}, {1.5, "1.5"}}) {
    ExpectInvalid(
        {.row_spread = spread},
        "row_spread " + text + ": expected a number above 0, up to 1");
  }
}

// CTest runs this as it is, and with a ROWBLOOM_KERNEL that is none.
TEST(ForcedKernel, UnknownNameIsInTheLogAndNoReasonToFail) {
  const char* name = std::getenv("ROWBLOOM_KERNEL");
  TempDir dir;
  const auto policy = MakeFilterPolicy({});
  {
    const auto db = OpenDb(TestDbOptions({policy, nullptr}), dir.File("db"));
    for (int file = 0; file < 2; ++file) {
      ExpectOk(db->Put({}, "key", "value"));
      ExpectOk(db->Flush({}));
    }
  }
  std::string log;
  ExpectOk(rocksdb::ReadFileToString(rocksdb::Env::Default(),
                                     dir.File("db") + "/LOG", &log));
  const std::string said = "rowbloom: ROWBLOOM_KERNEL=";
  const size_t at = log.find(said);
  EXPECT_EQ(at != std::string::npos, !ChooseKernel(name)) << log;
  EXPECT_TRUE(at == std::string::npos ||
              log.find(said, at + 1) == std::string::npos);
}

// The processor time of this thread, in seconds.
template <typename Function>
double CpuSeconds(Function function) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) +
           1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double start = now();
  function();
  return now() - start;
}

// RocksDB makes one for each family whenever it reads an OPTIONS file back.
TEST(NewFilterPolicy, TakesAFractionOfTheTimeOfASearchForBits) {
  constexpr int kTimes = 100;
  const double policies = CpuSeconds([] {
    for (int i = 0; i < kTimes; ++i) MakeFilterPolicy({});
  });
  const double searches = CpuSeconds([] {
    for (int i = 0; i < kTimes; ++i) EXPECT_GT(BitsPerKey(0.01), 0);
  });
  EXPECT_LT(policies, searches / 2);
}

TEST(FilterPolicyId, HoldsAllParametersAndReadsBack) {
  const FilterPolicyOptions options = {
      .bloom_type = BloomType::kRowPrefixFixedLength,
      .key_layout = KeyLayout::Delimited(':'),
      .false_positive_rate = 0.1 + 0.2,  // needs all its digits
      .row_prefix_length = 5};
  const auto policy = MakeFilterPolicy(options);
  EXPECT_STREQ(policy->Name(),
               "rowbloom.filter:ROWPREFIX_FIXED_LENGTH:bloom:"
               "0.30000000000000004:5:uniform:delimited::");
  const auto parsed = ParsePolicyId(policy->Name());
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(*parsed, options);
  EXPECT_STREQ(MakeFilterPolicy({})->Name(),
               "rowbloom.filter:ROWCOL:bloom:0.01:0:uniform:escaped");
}

TEST(FilterPolicyId, HoldsHowBitsAreSpread) {
  const FilterPolicyOptions options = {
      .key_layout = KeyLayout::Escaped(),
      .level_allocation = LevelShape{.levels = 5,
                                     .size_ratio = 8.5,
                                     .level0_files = 20,
                                     .dynamic_level_bytes = false},
      .row_spread = 0.125};
  const auto policy = MakeFilterPolicy(options);
  EXPECT_STREQ(policy->Name(),
               "rowbloom.filter:ROWCOL:bloom:0.01:0:"
               "optimal/5/8.5/20/first/adaptive/0.125:escaped");
  const auto parsed = ParsePolicyId(policy->Name());
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(*parsed, options);
}

TEST(FilterPolicyId, HoldsTheLevelsOfTheKinds) {
  for (const auto& [level, text] :
       std::map<int, std::string>{{-1, "ribbon"},
                                  {0, "ribbon/0"},
                                  {2147483647, "ribbon/2147483647"}}) {
    const auto policy = MakeFilterPolicy(
        {.kind = FilterKind::kRibbon, .bloom_before_level = level});
    EXPECT_EQ(policy->Name(),
              "rowbloom.filter:ROWCOL:" + text + ":0.01:0:uniform:escaped");
    const auto parsed = ParsePolicyId(policy->Name());
    ASSERT_TRUE(parsed) << parsed.error();
    EXPECT_EQ(parsed->kind, FilterKind::kRibbon);
    EXPECT_EQ(parsed->bloom_before_level, level);
  }
}

TEST(FilterPolicyId, MalformedIdsAreRefused) {
  // Each of the others differs from one of these in one place.
  for (const char* id :
       {"rowbloom.filter:ROW:bloom:0.01:0:uniform:escaped",
        "rowbloom.filter:ROW:ribbon/1:0.01:0:uniform:escaped",
        "rowbloom.filter:ROW:bloom:0.01:0:optimal/4/10/4/last:escaped",
        "rowbloom.filter:ROW:bloom:0.01:0:uniform/adaptive/1:escaped"}) {
    EXPECT_TRUE(ParsePolicyId(id)) << id;
  }
  for (const char* id :
       {"", "rowbloom.filter:", "rowbloom.filter:ROW:bloom:0.01:0:uniform",
        "rowbloom.filter:ROWS:bloom:0.01:0:uniform:escaped",
        "rowbloom.filter:ROW:fuse:0.01:0:uniform:escaped",
        "rowbloom.filter:ROW:bloom/1:0.01:0:uniform:escaped",
        "rowbloom.filter:ROW:ribbon/:0.01:0:uniform:escaped",
        "rowbloom.filter:ROW:ribbon/1/2:0.01:0:uniform:escaped",
        "rowbloom.filter:ROW:ribbon/2147483648:0.01:0:uniform:escaped",
        "rowbloom.filter:ROW:ribbon1:0.01:0:uniform:escaped",
        "rowbloom.filter:ROW:bloom:1%:0:uniform:escaped",
        "rowbloom.filter:ROW:bloom:0.01:-1:uniform:escaped",
        "rowbloom.filter:ROW:bloom:0.01:0:monkey:escaped",
        "rowbloom.filter:ROW:bloom:0.01:0::escaped",
        "rowbloom.filter:ROW:bloom:0.01:0:optimal:escaped",
        "rowbloom.filter:ROW:bloom:0.01:0:optimal/4/10/4/last/:escaped",
        "rowbloom.filter:ROW:bloom:0.01:0:uniform/:escaped",
        "rowbloom.filter:ROW:bloom:0.01:0:uniform/adaptive/:escaped",
        "rowbloom.filter:ROW:bloom:0.01:0:uniform:fixed:0"}) {
    EXPECT_FALSE(ParsePolicyId(id)) << id;
  }
}

TEST(FilterPolicy, IsFoundUnderTheBuiltInCompatibilityName) {
  const auto builtin = test::StockBloom();
  EXPECT_STREQ(MakeFilterPolicy({})->CompatibilityName(),
               builtin->CompatibilityName());
}

TEST(FilterPolicy, StatsOfAnotherPolicyAreRefused) {
  const auto builtin = test::StockBloom();
  FilterStats stats;
  EXPECT_TRUE(GetFilterStats(*builtin, &stats).IsInvalidArgument());
}

class FilterPolicyDb : public test::FilteredDb {};
const test::Rows kWritten = {.end = 400, .columns = "abc"};

TEST_F(FilterPolicyDb, SkipsFilesAndLosesNothing) {
  for (const bool partitioned : {false, true}) {
    const auto policy = MakeFilterPolicy({.key_layout = kLayout});
    Remove();
    Open(policy, NewRowPrefixExtractor(kLayout), partitioned);
    EXPECT_TRUE(IsFilterActive(db_.get()));
    Write(kWritten);
    ExpectRows(kWritten);
    FilterStats before = StatsOf(*policy);
    std::string value;
    for (int row = 0; row < kWritten.end; ++row) {
      EXPECT_TRUE(db_->Get({}, Key(row, "bb"), &value).IsNotFound());
    }
    FilterStats after = StatsOf(*policy);
    EXPECT_GT(after.row_col.skipped - before.row_col.skipped, 380u)
        << "the file with the row is skipped by ROWCOL";
    EXPECT_GT(after.row.skipped - before.row.skipped, 1000u)
        << "the others by ROW";
    before = after;
    for (int row = 0; row < kWritten.end; ++row)
      EXPECT_EQ(CellsOf(Row(row)), 3);
    after = StatsOf(*policy);
    EXPECT_GT(after.row.skipped - before.row.skipped, 1100u)
        << "three of four files per scan";
    EXPECT_EQ(after.row_col.checked, before.row_col.checked)
        << "a row scan asks ROW alone";
  }
}

// The second makes prefixes that look like cells. They must not make a ROWCOL
// section, which would rule out the cells that were never added.
TEST_F(FilterPolicyDb, WithoutWholeKeysThereAreRowsOnly) {
  for (const auto& extractor : {NewRowPrefixExtractor(kLayout),
                                std::shared_ptr<const rocksdb::SliceTransform>(
                                    rocksdb::NewCappedPrefixTransform(20))}) {
    SCOPED_TRACE(extractor->Name());
    const auto policy = MakeFilterPolicy({.key_layout = kLayout});
    Remove();
    Open(TestDbOptions({policy, extractor, false, false}));
    Write(kWritten);
    std::string value;
    for (int row = 0; row < kWritten.end; ++row) {
      ExpectOk(db_->Get({}, Key(row, "b"), &value));
    }
    const FilterStats stats = StatsOf(*policy);
    EXPECT_GT(stats.row.skipped, 500u);
    EXPECT_EQ(stats.row_col.checked, 0u);
  }
}

// RocksDB before 9.5 loses rows here with its own policies.
TEST(FilterPolicy, PartitionsOfPrefixesAloneLoseNoRowBackwards) {
  TempDir dir;
  const KeyLayout layout = KeyLayout::FixedRow(3);
  const auto policy = MakeFilterPolicy({.key_layout = layout});
  const auto db = OpenDb(
      TestDbOptions({policy, NewRowPrefixExtractor(layout), true, false}),
      dir.File("db"));
  const auto row = [](int number) {
    return std::string({'\0', static_cast<char>(number >> 8),
                        static_cast<char>(number & 0xff)});
  };
  constexpr int kRows = 20'000;
  for (int number = 0; number < kRows; ++number) {
    ExpectOk(db->Put({}, row(number), "v"));
  }
  ExpectOk(db->Flush({}));
  const auto scan = test::SamePrefix();
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(scan));
  int lost = 0;
  for (int number = 0; number < kRows; ++number) {
    it->SeekForPrev(row(number) + "\xff\xff\xff");
    lost += !it->Valid() || it->key() != row(number);
  }
  EXPECT_EQ(lost, 0);
  // Versions of RocksDB that scan correctly have filters; in others
  // IsFilterActive says that there are none.
  EXPECT_EQ(IsFilterActive(db.get()), StatsOf(*policy).asked > 0);
  EXPECT_EQ(IsFilterActive(db.get()),
            ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 905);
}

TEST_F(FilterPolicyDb, IsNotActiveWithoutKeysAndPrefixes) {
  const auto policy = MakeFilterPolicy({.key_layout = kLayout});
  Open(TestDbOptions({policy, nullptr, false, false}));
  EXPECT_FALSE(IsFilterActive(db_.get()));
  Write(kWritten);
  EXPECT_EQ(StatsOf(*policy).blocks_built, 0u);
}

TEST_F(FilterPolicyDb, NoneBuildsNoFilterAndReadsOldOnes) {
  Open(MakeFilterPolicy({.key_layout = kLayout}));
  Write(kWritten);
  const auto none =
      MakeFilterPolicy({.bloom_type = BloomType::kNone, .key_layout = kLayout});
  Open(none);
  EXPECT_FALSE(IsFilterActive(db_.get()));
  std::string value;
  EXPECT_TRUE(db_->Get({}, Key(1, "absent"), &value).IsNotFound());
  EXPECT_GT(StatsOf(*none).asked, 0u);
  ExpectOk(db_->Put({}, Key(1, "new"), "v"));
  ExpectOk(db_->Flush({}));
  EXPECT_EQ(StatsOf(*none).blocks_built, 0u);
}

TEST(FilterPolicy, IsFilterActiveSeesAMissingPolicy) {
  TempDir dir;
  EXPECT_FALSE(
      IsFilterActive(OpenDb(TestDbOptions({}), dir.File("none")).get()));
  const auto builtin = test::StockBloom();
  EXPECT_FALSE(IsFilterActive(
      OpenDb(TestDbOptions({builtin}), dir.File("stock")).get()));
  rocksdb::Options plain_table =
      TestDbOptions({nullptr, NewRowPrefixExtractor(KeyLayout::FixedRow(4))});
  plain_table.table_factory.reset(rocksdb::NewPlainTableFactory());
  plain_table.allow_mmap_reads = true;
  plain_table.compression = rocksdb::kNoCompression;
  EXPECT_FALSE(IsFilterActive(OpenDb(plain_table, dir.File("plain")).get()));
}

// A policy that another copy of rowbloom made, such as a preloaded plugin,
// which has registered its factories first.
class PolicyOfAnotherCopy final : public rocksdb::FilterPolicy {
 public:
  const char* Name() const override {
    return "rowbloom.filter:ROWCOL:bloom:0.01:0:uniform:delimited::";
  }
  const char* CompatibilityName() const override { return Name(); }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& /*context*/) const override {
    return nullptr;
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(
      const rocksdb::Slice& /*contents*/) const override {
    return nullptr;
  }
};

TEST(FilterPolicy, IsFilterActiveKnowsThePolicyOfAnotherCopy) {
  TempDir dir;
  const std::shared_ptr<const rocksdb::FilterPolicy> policy =
      std::make_shared<PolicyOfAnotherCopy>();
  const auto db = OpenDb(TestDbOptions({policy}), dir.File("db"));
  EXPECT_TRUE(IsFilterActive(db.get()));
  FilterStats stats;
  EXPECT_TRUE(GetFilterStats(*policy, &stats).IsInvalidArgument());
}

TEST(FilterPolicy, IsFilterActiveTellsColumnFamiliesApart) {
  TempDir dir;
  const auto db = OpenDb(TestDbOptions({MakeFilterPolicy({})}), dir.File("db"));
  rocksdb::ColumnFamilyHandle* plain = nullptr;
  ExpectOk(db->CreateColumnFamily(TestDbOptions({}), "plain", &plain));
  EXPECT_TRUE(IsFilterActive(db.get()));
  EXPECT_FALSE(IsFilterActive(db.get(), plain));
  ExpectOk(db->DestroyColumnFamilyHandle(plain));
}

TEST_F(FilterPolicyDb, OptionsFileReloadsPolicyAndExtractor) {
  const auto policy = MakeFilterPolicy({.key_layout = kLayout,
                                        .kind = FilterKind::kRibbon,
                                        .bloom_before_level = 1,
                                        .false_positive_rate = 0.003,
                                        .level_allocation = LevelShape(),
                                        .row_spread = 0.25});
  rocksdb::Options written =
      TestDbOptions({policy, NewRowPrefixExtractor(kLayout)});
  written.table_properties_collector_factories.push_back(
      NewFilterPropertiesFactory());
  Open(written);
  Write(kWritten);
  ExpectOk(RegisterRowbloom());
  ExpectOk(RegisterRowbloom());
  rocksdb::ConfigOptions strict;
  strict.ignore_unknown_options = false;
  strict.ignore_unsupported_options = false;
  rocksdb::DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  ExpectOk(rocksdb::LoadLatestOptions(strict, dir_.File("db"), &db_options,
                                      &families));
  ASSERT_EQ(families.size(), 1u);
  const rocksdb::Options options(db_options, families[0].options);
  ASSERT_NE(options.prefix_extractor, nullptr);
  EXPECT_STREQ(options.prefix_extractor->Name(), "rowbloom.row:delimited::");
  ASSERT_EQ(options.table_properties_collector_factories.size(), 1u);
  EXPECT_STREQ(options.table_properties_collector_factories[0]->Name(),
               kFilterProperty);
  Open(options);
  EXPECT_TRUE(IsFilterActive(db_.get()));
  const auto* table =
      options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  EXPECT_STREQ(table->filter_policy->Name(), policy->Name());
  std::string value;
  EXPECT_TRUE(db_->Get({}, Key(7, "absent"), &value).IsNotFound());
  EXPECT_GT(StatsOf(*table->filter_policy).row.skipped, 0u);
}

// The guide says: whoever edits an OPTIONS file has to look.
TEST(Registration, MisspeltIdInAnOptionsFileIsSilentEvenInAStrictLoad) {
  TempDir dir;
  const std::string path = dir.File("db");
  const auto policy = MakeFilterPolicy({.key_layout = kLayout});
  OpenDb(TestDbOptions({policy, NewRowPrefixExtractor(kLayout)}), path);
  ExpectOk(RegisterRowbloom());
  std::string name;
  ExpectOk(
      rocksdb::GetLatestOptionsFileName(path, rocksdb::Env::Default(), &name));
  std::string text;
  ExpectOk(rocksdb::ReadFileToString(rocksdb::Env::Default(), path + "/" + name,
                                     &text));
  const size_t at = text.find("rowbloom.filter:ROWCOL");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 22, "rowbloom.filter:ROWKOL");
  ExpectOk(rocksdb::WriteStringToFile(rocksdb::Env::Default(), text,
                                      path + "/" + name));

  rocksdb::ConfigOptions strict;
  strict.ignore_unknown_options = false;
  strict.ignore_unsupported_options = false;
  rocksdb::Options found;
  for (const rocksdb::ConfigOptions& config :
       {rocksdb::ConfigOptions(), strict}) {
    rocksdb::DBOptions db_options;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    const Status loaded =
        rocksdb::LoadLatestOptions(config, path, &db_options, &families);
    // A newer RocksDB may refuse this in a strict load.
    if (!loaded.ok() && !config.ignore_unsupported_options) continue;
    ExpectOk(loaded);
    ASSERT_EQ(families.size(), 1u);
    const auto* table = families[0]
                            .options.table_factory
                            ->GetOptions<rocksdb::BlockBasedTableOptions>();
    EXPECT_EQ(table->filter_policy, nullptr);
    found = rocksdb::Options(db_options, families[0].options);
  }
  EXPECT_FALSE(IsFilterActive(OpenDb(found, path).get()));
}

TEST(Registration, MalformedIdsAreErrorsWithTheReason) {
  ExpectOk(RegisterRowbloom());
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  const Status bad_rate = rocksdb::FilterPolicy::CreateFromString(
      {}, "rowbloom.filter:ROW:bloom:7:0:uniform:escaped", &policy);
  EXPECT_FALSE(bad_rate.ok());
  EXPECT_NE(bad_rate.ToString().find("expected a number between 0 and 1"),
            std::string::npos)
      << bad_rate.ToString();
  std::shared_ptr<const rocksdb::SliceTransform> extractor;
  const Status bad_layout = rocksdb::SliceTransform::CreateFromString(
      {}, "rowbloom.row:fixed:0", &extractor);
  EXPECT_FALSE(bad_layout.ok());
  EXPECT_NE(bad_layout.ToString().find("expected fixed:N"), std::string::npos)
      << bad_layout.ToString();
}

}  // namespace
}  // namespace rowbloom

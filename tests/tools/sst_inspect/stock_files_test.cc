// Files that RocksDB's db_bench wrote, with each kind of filter and each
// compression: cells are those of RocksDB's SstFileReader, filters are of the
// kinds that RocksDB makes, and answer each key as RocksDB does when the key is
// got from the database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/table.h"
#include "rowbloom/open_db.h"
#include "storage/filter_policy/rocksdb_filter_interface.h"
#include "tests/support/files.h"
#include "tests/support/outside.h"
#include "tests/support/random.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/sst/make_sst.h"
#include "tests/tools/sst_inspect/run_tool.h"
#include "tools/cli/text.h"
#include "tools/table/sst_filter.h"
#include "tools/table/table_file.h"

namespace rowbloom::stock_files_test {
namespace {

using table::TableFile;
using test::IsOk;
using test::TempDir;
using testing::HasSubstr;

struct Case {
  std::string name;
  std::string options;      // db_bench's
  std::string compression;  // summary's name for it
  std::string kind;         // filter's name for it
  bool partitioned = false;
  int prefix_bytes = 0;
  // Partitions with few keys have Bloom filters for all that.
  bool with_small_blooms = false;
};

void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

std::vector<Case> Cases() {
  const std::string bloom = "--bloom_bits=10 ";
  const std::string ribbon = bloom + "--use_ribbon_filter=true ";
  const std::string parts =
      "--partition_index=true --partition_index_and_filters=true ";
  const std::string large_parts = parts + "--metadata_block_size=2048 ";
  return {
      {"BloomSnappy", bloom + "--compression_type=snappy", "Snappy", "bloom"},
      {"BloomPrefixNone", bloom + "--prefix_size=8 --compression_type=none",
       "NoCompression", "bloom", false, 8},
      {"RibbonLz4", ribbon + "--compression_type=lz4", "LZ4", "ribbon"},
      {"LegacyZlib", bloom + "--format_version=2 --compression_type=zlib",
       "Zlib", "legacy bloom"},
      {"PartitionedBloomZstd", bloom + large_parts + "--compression_type=zstd",
       "ZSTD", "bloom", true},
      {"PartitionedRibbonLz4hc",
       ribbon + large_parts + "--compression_type=lz4hc", "LZ4HC", "ribbon",
       true},
      // Partitions of three data blocks, and of one with a hundred keys: the
      // last, and with RocksDB 9.10 every second.
      {"SmallPartitionsRibbonLz4",
       ribbon + parts + "--metadata_block_size=256 --compression_type=lz4",
       "LZ4", "ribbon", true, 0, true},
      {"PartitionedLegacyDictionary",
       bloom + large_parts +
           "--format_version=4 --compression_type=zstd "
           "--compression_max_dict_bytes=4096",
       "ZSTD", "legacy bloom", true}};
}

class StockFiles : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    ROWBLOOM_SKIP_WITHOUT(test::kRocksDbTools, test::HaveProgram("db_bench"));
    const std::string command =
        "db_bench --benchmarks=fillseq,compact --value_size=20 --seed=1 "
        "--num=" +
        std::to_string(keys_) + " --db=" + database_ + " " +
        GetParam().options + " >" + dir_.File("log") + " 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0)
        << test::ReadFile(dir_.File("log"));
    for (const auto& entry : std::filesystem::directory_iterator(database_)) {
      if (entry.path().extension() != ".sst") continue;
      ASSERT_EQ(path_, "") << "expected one file";
      path_ = entry.path();
    }
    ASSERT_THAT(table::OpenTable(path_, &file_), IsOk());
  }

  rocksdb::Options Options() const {
    rocksdb::BlockBasedTableOptions table;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    rocksdb::Options options;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    if (GetParam().prefix_bytes > 0) {
      options.prefix_extractor.reset(
          rocksdb::NewFixedPrefixTransform(GetParam().prefix_bytes));
    }
    return options;
  }

  const uint64_t keys_ = test::Scaled(100'000);
  const TempDir dir_;
  const std::string database_ = dir_.File("db");
  std::string path_;
  std::unique_ptr<TableFile> file_;
};

INSTANTIATE_TEST_SUITE_P(DbBench, StockFiles, testing::ValuesIn(Cases()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(StockFiles, CellsAreThoseOfRocksDbsReader) {
  const test::Output summary = test::RunTool({"summary", path_});
  EXPECT_THAT(summary.out,
              testing::ContainsRegex("compression +" + GetParam().compression));
  rocksdb::SstFileReader reader(Options());
  ASSERT_THAT(reader.Open(path_), IsOk());
  EXPECT_THAT(reader.VerifyChecksum(), IsOk());
  rocksdb::ReadOptions all;
  all.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> stock(reader.NewIterator(all));
  const auto own = file_->NewCellReader();
  uint64_t cells = 0;
  for (stock->SeekToFirst(); stock->Valid(); stock->Next()) {
    ASSERT_TRUE(own->Next()) << own->status().ToString();
    ASSERT_EQ(own->cell().user_key, stock->key().ToStringView());
    ASSERT_EQ(own->cell().value, stock->value().ToStringView());
    ++cells;
  }
  EXPECT_THAT(stock->status(), IsOk());
  EXPECT_FALSE(own->Next());
  EXPECT_THAT(own->status(), IsOk());
  EXPECT_EQ(cells, keys_);
  EXPECT_EQ(test::RunTool({"verify", path_}).code, 0);
}

// The kind of the filter that RocksDB's builder makes of these keys where it is
// told to make ribbons: for few keys a Bloom filter, if that is smaller. The
// first of the last five bytes says which.
std::string KindWhereRibbonIsAsked(const std::vector<std::string>& keys) {
  const auto policy = test::StockRibbon();
  const rocksdb::BlockBasedTableOptions table;
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
      policy->GetBuilderWithContext(rocksdb::FilterBuildingContext(table)));
  for (const std::string& key : keys) builder->AddKey(key);
  std::unique_ptr<const char[]> owner;
  const rocksdb::Slice filter = builder->Finish(&owner);
  const int marker = static_cast<signed char>(filter[filter.size() - 5]);
  if (marker == -1) return "bloom";
  if (marker == -2) return "ribbon";
  return "marker " + std::to_string(marker);
}

TEST_P(StockFiles, FilterKindsAreThoseThatRocksDbChooses) {
  table::SstFilterReader prober(static_cast<const table::SstTable&>(*file_));
  ASSERT_THAT(prober.Open(), IsOk());
  std::vector<std::vector<std::string>> keys(prober.partitions().size());
  const auto cells = file_->NewCellReader();
  while (cells->Next()) {
    const std::string_view key = cells->cell().user_key;
    keys.at(prober.PartitionFor(key)).emplace_back(key);
  }
  ASSERT_THAT(cells->status(), IsOk());

  std::map<std::string, size_t> kinds;
  for (size_t i = 0; i < keys.size(); ++i) {
    rocksdb::Status status;
    const table::DecodedFilter* filter = prober.Load(i, &status);
    ASSERT_THAT(status, IsOk());
    table::SectionRates rates;
    const std::string kind = filter->Sections(&rates).at(0).kind;
    const std::string& asked = GetParam().kind;
    ASSERT_EQ(kind, asked == "ribbon" ? KindWhereRibbonIsAsked(keys[i]) : asked)
        << "partition " << i << " with " << keys[i].size() << " keys";
    ++kinds[kind];
  }
  EXPECT_TRUE(kinds.contains(GetParam().kind));
  if (GetParam().with_small_blooms && keys_ >= 100'000) {
    EXPECT_TRUE(kinds.contains("bloom"));
  }
  // The verb tells them apart.
  std::map<std::string, size_t> listed;
  for (const auto& record : test::Records(
           test::RunTool({"filter", "--partitions", "--json", path_}),
           GetParam().partitioned ? "partition_section" : "section")) {
    ++listed[record.at("kind")];
  }
  EXPECT_EQ(listed, kinds);
}

// RocksDB counts one lookup in the filter for each Get.
TEST_P(StockFiles, FilterAnswersAsRocksDbsReaderDoes) {
  table::SstFilterReader prober(static_cast<const table::SstTable&>(*file_));
  ASSERT_THAT(prober.Open(), IsOk());
  ASSERT_TRUE(prober.can_probe());
  if (keys_ >= 5000) {
    EXPECT_EQ(prober.partitions().size() > 1, GetParam().partitioned);
  }
  std::unique_ptr<rocksdb::DB> db;
  ASSERT_THAT(
      rocksdb::DB::OpenForReadOnly(Options(), database_, rowbloom::Into(&db)),
      IsOk());
  const rocksdb::PerfLevel before = rocksdb::GetPerfLevel();
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  rocksdb::PerfContext& counts = *rocksdb::get_perf_context();

  uint64_t absent_asked = 0;
  uint64_t absent_passed = 0;
  const auto ask = [&](const std::string& key, bool present) {
    rocksdb::PinnableSlice value;
    counts.Reset();
    const rocksdb::Status got =
        db->Get({}, db->DefaultColumnFamily(), key, &value);
    ASSERT_EQ(got.ok(), present) << got.ToString();
    const uint64_t may_match = counts.bloom_sst_hit_count;
    const uint64_t no_match = counts.bloom_sst_miss_count;
    table::FilterAnswer answer;
    prober.LookUp({.key = key}, &answer);
    ASSERT_FALSE(answer.unusable);
    // Behind the last key no file may be probed.
    if (!present && may_match + no_match == 0) return;
    ASSERT_EQ(may_match + no_match, 1U);
    ASSERT_EQ(answer.may_match, may_match == 1) << cli::ToHex(key);
    if (!present) {
      ++absent_asked;
      absent_passed += may_match;
    }
  };
  const auto cells = file_->NewCellReader();
  while (cells->Next()) {
    std::string key(cells->cell().user_key);
    ASSERT_NO_FATAL_FAILURE(ask(key, true));
    ++key.back();
    ASSERT_NO_FATAL_FAILURE(ask(key, false));
  }
  rocksdb::SetPerfLevel(before);
  EXPECT_THAT(cells->status(), IsOk());
  EXPECT_GE(absent_asked, keys_ - 1);
  // Near 1 %: they were really probed.
  EXPECT_GT(absent_passed, absent_asked / 400);
  EXPECT_LT(absent_passed, absent_asked / 40);
}

}  // namespace
}  // namespace rowbloom::stock_files_test

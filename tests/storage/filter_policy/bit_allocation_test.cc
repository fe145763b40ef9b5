// Bits where they pay: over the levels of a tree, and over the sections of a
// file. Counted by RocksDB at gets and scans of what does not exist.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/plan/kind_bits.h"
#include "lib/plan/level_plan.h"
#include "lib/plan/section_split.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table_properties.h"
#include "rowbloom/bloom_math.h"
#include "rowbloom/filter_policy.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/random.h"
#include "tests/support/stride.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::bit_allocation_test {
namespace {

using test::DistinctKey;
using test::ExpectOk;
using test::MakeFilterPolicy;
using test::OpenDb;
using test::Scaled;
using test::SeedFromEnv;
using test::Stride;
using test::TempDir;
using test::TestDbOptions;

constexpr double kRate = 0.03;
const KeyLayout kLayout = KeyLayout::FixedRow(8);

std::string Row(uint64_t number) { return DistinctKey(number, SeedFromEnv()); }

// Files that were opened for nothing.
struct WastedReadCounts {
  uint64_t get_absent_row = 0;
  uint64_t get_absent_column = 0;
  uint64_t scan_absent_row = 0;
};

// nullopt: one rate at every level.
std::optional<LevelShape> Allocation(bool by_level, const LevelShape& shape) {
  return by_level ? std::optional(shape) : std::nullopt;
}

class BitAllocation : public testing::Test {
 protected:
  ~BitAllocation() override { rocksdb::SetPerfLevel(rocksdb::kDisable); }

  void Open(const FilterPolicyOptions& filter, bool dynamic_level_bytes) {
    dir_ = std::make_unique<TempDir>();
    policy_ = MakeFilterPolicy(filter);
    options_ = TestDbOptions(
        {.policy = policy_, .extractor = NewRowPrefixExtractor(kLayout)});
    options_.compression = rocksdb::kNoCompression;
    options_.write_buffer_size = size_t{1} << 30;
    options_.target_file_size_base = uint64_t{1} << 40;
    options_.table_properties_collector_factories = {
        NewFilterPropertiesFactory()};
    options_.level_compaction_dynamic_level_bytes = dynamic_level_bytes;
    db_ = OpenDb(options_, dir_->path().string());
    ASSERT_NE(db_, nullptr);
  }

  // A file of level 0 with the rows [begin, end), of `columns` cells each that
  // start with `first_column`.
  void Flush(uint64_t begin, uint64_t end, uint64_t columns = 2,
             uint64_t first_column = 0) {
    rocksdb::WriteOptions write;
    write.disableWAL = true;
    for (uint64_t row = begin; row < end; ++row) {
      for (uint64_t column = 0; column < columns; ++column) {
        ExpectOk(db_->Put(write, Row(row) + Column(first_column + column), ""));
      }
    }
    ExpectOk(db_->Flush({}));
  }

  static std::string Column(uint64_t number) {
    return "c" + std::to_string(number);
  }

  std::vector<rocksdb::LiveFileMetaData> Files() {
    std::vector<rocksdb::LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    return files;
  }

  // Compacts the files of level 0 into a level that has none.
  void Push(int level) {
    std::vector<std::string> names;
    for (const auto& file : Files()) {
      if (file.level == 0) names.push_back(file.name);
    }
    ASSERT_FALSE(names.empty());
    ExpectOk(db_->CompactFiles({}, names, level));
  }

  // Files by level.
  std::map<int, int> Shape() {
    std::map<int, int> shape;
    for (const auto& file : Files()) ++shape[file.level];
    return shape;
  }

  uint64_t FilterBytes() {
    rocksdb::TablePropertiesCollection all;
    ExpectOk(db_->GetPropertiesOfAllTables(&all));
    uint64_t bytes = 0;
    for (const auto& [name, table] : all) bytes += table->filter_size;
    return bytes;
  }

  // `field` of the filter property of each file, by the file's level.
  std::multimap<int, double> BitsByLevel(const std::string& field) {
    rocksdb::TablePropertiesCollection all;
    ExpectOk(db_->GetPropertiesOfAllTables(&all));
    std::multimap<int, double> bits;
    for (const auto& file : Files()) {
      const auto& table = all.at(file.db_path + file.name);
      const std::string text =
          table->user_collected_properties.at(kFilterProperty);
      const size_t at = text.find(field + "=");
      EXPECT_NE(at, std::string::npos) << text;
      bits.emplace(file.level, std::stod(text.substr(at + field.size() + 1)));
    }
    return bits;
  }

  // Asks for `count` names of each kind. Rows from `rows` on do not exist, and
  // neither do columns from 1000 on.
  WastedReadCounts Count(uint64_t rows, uint64_t count) {
    rocksdb::SetPerfLevel(rocksdb::kEnableCount);
    rocksdb::get_perf_context()->Reset();
    WastedReadCounts counts;
    std::string value;
    for (uint64_t i = 0; i < count; ++i) {
      EXPECT_TRUE(db_->Get({}, Row(rows + i) + Column(0), &value).IsNotFound());
    }
    counts.get_absent_row = TakeOpens(count);
    for (uint64_t i = 0; i < count; ++i) {
      EXPECT_TRUE(
          db_->Get({}, Row(i % rows) + Column(1000 + i), &value).IsNotFound());
    }
    counts.get_absent_column = TakeOpens(count);
    const std::unique_ptr<rocksdb::Iterator> rows_of(
        db_->NewIterator(test::SamePrefix()));
    for (uint64_t i = 0; i < count; ++i) {
      rows_of->Seek(Row(rows + i));
      EXPECT_FALSE(rows_of->Valid());
    }
    counts.scan_absent_row = TakeOpens(count);
    return counts;
  }

  const rocksdb::FilterPolicy& policy() const { return *policy_; }
  rocksdb::DB* db() { return db_.get(); }
  const rocksdb::Options& options() const { return options_; }

 private:
  // The wasted reads of `questions` lookups that all found nothing.
  static uint64_t TakeOpens(uint64_t questions) {
    rocksdb::PerfContext* counters = rocksdb::get_perf_context();
    const uint64_t opens = counters->bloom_sst_hit_count;
    // The filters were probed, not passed by.
    EXPECT_GE(opens + counters->bloom_sst_miss_count, questions);
    counters->Reset();
    return opens;
  }

  std::unique_ptr<TempDir> dir_;
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::DB> db_;
};

void Print(const char* what, const WastedReadCounts& counts, uint64_t bytes) {
  std::printf(
      "%-8s %7llu filter bytes, wasted reads: get absent row %llu, get absent "
      "column %llu, scan absent row %llu\n",
      what, static_cast<unsigned long long>(bytes),
      static_cast<unsigned long long>(counts.get_absent_row),
      static_cast<unsigned long long>(counts.get_absent_column),
      static_cast<unsigned long long>(counts.scan_absent_row));
}

// Levels 4 to 1 with tenfold sizes, and level 0 with four files as large
// together as level 1: the tree of RocksDB's defaults, small.
class FiveLevels : public BitAllocation {
 protected:
  static constexpr uint64_t kLastLevelRows = 200'000;
  static constexpr uint64_t kSmallTreeRows = 40'000;  // at any scale
  static constexpr LevelShape kShape = {.levels = 4,
                                        .size_ratio = 10,
                                        .level0_files = 4,
                                        .dynamic_level_bytes = false};

  void Build(BloomType type, bool by_level,
             FilterKind kind = FilterKind::kBloom,
             uint64_t last_level_rows = Scaled(kLastLevelRows),
             int bloom_before_level = -1) {
    Open({.bloom_type = type,
          .key_layout = kLayout,
          .kind = kind,
          .bloom_before_level = bloom_before_level,
          .false_positive_rate = kRate,
          .level_allocation = Allocation(by_level, kShape)},
         kShape.dynamic_level_bytes);
    rows_ = 0;
    uint64_t rows = last_level_rows;
    for (int level = 4; level > 0; --level, rows /= 10) {
      // Each level on top of the ranges below, as rows are random.
      Flush(rows_, rows_ + rows);
      Push(level);
      rows_ += rows;
    }
    rows *= 10;
    for (int file = 0; file < 4; ++file, rows_ += rows / 4) {
      Flush(rows_, rows_ + rows / 4);
    }
    ASSERT_EQ(Shape(),
              (std::map<int, int>{{0, 4}, {1, 1}, {2, 1}, {3, 1}, {4, 1}}));
  }

  uint64_t rows_ = 0;
};

// At the same filter bytes at most 0.6 of the wasted reads that uniform bits
// have at absent rows, and at most 1.05 at absent columns. The rows that are
// asked for columns are of the last level: the worst case.
TEST_F(FiveLevels, OptimalBitsOpenLessThanUniformOnes) {
  if (Scaled(1000) < 1000) {
    GTEST_SKIP() << "ratios are asserted from ROWBLOOM_TEST_SCALE=1 up";
  }
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    SCOPED_TRACE(ToString(type));
    std::map<bool, WastedReadCounts> counts;
    std::map<bool, uint64_t> bytes;
    for (const bool by_level : {false, true}) {
      Build(type, by_level);
      counts[by_level] = Count(rows_, Scaled(100'000));
      bytes[by_level] = FilterBytes();
      Print(by_level ? "optimal" : "uniform", counts[by_level],
            bytes[by_level]);
    }
    const auto uniform = counts[false];
    const auto optimal = counts[true];
    EXPECT_NEAR(
        static_cast<double>(bytes[true]) / static_cast<double>(bytes[false]), 1,
        0.01);
    const auto ratio = [](uint64_t a, uint64_t b) {
      return static_cast<double>(a) / static_cast<double>(b);
    };
    EXPECT_LE(ratio(optimal.get_absent_row, uniform.get_absent_row), 0.6);
    EXPECT_LE(ratio(optimal.scan_absent_row, uniform.scan_absent_row), 0.6);
    EXPECT_GT(uniform.get_absent_row, 300u);
    // ROW alone has to pass the file of the row.
    if (type == BloomType::kRowCol) {
      EXPECT_LE(ratio(optimal.get_absent_column, uniform.get_absent_column),
                1.05);
    }
  }
}

TEST_F(FiveLevels, EachLevelHasTheBitsOfThePlan) {
  uint64_t combination = 0;
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    for (const FilterKind kind : {FilterKind::kBloom, FilterKind::kRibbon}) {
      if (combination++ % Stride(3) != 0) continue;
      SCOPED_TRACE(testing::Message()
                   << ToString(type) << ", " << ToString(kind));
      Build(type, true, kind, kSmallTreeRows);
      const std::vector<double> rates =
          LevelRates(kShape, type, {&kind, 1}, kRate);
      for (const auto& [level, bits] : BitsByLevel("row.bits_per_key")) {
        const double planned = KindBits(kind, rates[level]);
        uint64_t rows = kSmallTreeRows;
        for (int above = 4; above > std::max(level, 1); --above) rows /= 10;
        if (level == 0) rows /= 4;
        // Small filters are rounded up to 64 bytes, and ribbons have a head.
        EXPECT_GE(bits, 0.99 * planned) << level;
        EXPECT_LE(bits, 1.06 * planned + 512.0 / static_cast<double>(rows))
            << level;
      }
    }
  }
}

// The bits are those of the kinds: trees of ribbons have the bytes of uniform
// ribbons, and with blooms before the last level those of uniform ones.
TEST_F(FiveLevels, RibbonsKeepTheBytesToo) {
  for (const int bloom_before_level : {4, -1}) {
    // A short run has the tree of both kinds alone.
    if (bloom_before_level == -1 && Scaled(1000) < 1000) continue;
    std::map<bool, uint64_t> bytes;
    for (const bool by_level : {false, true}) {
      Build(BloomType::kRow, by_level, FilterKind::kRibbon, kSmallTreeRows,
            bloom_before_level);
      bytes[by_level] = FilterBytes();
    }
    EXPECT_NEAR(
        static_cast<double>(bytes[true]) / static_cast<double>(bytes[false]), 1,
        0.01)
        << bloom_before_level;
  }
}

class LevelContext : public BitAllocation {
 protected:
  static constexpr LevelShape kShape = {};

  static std::vector<double> PlannedRates() {
    return LevelRates(kShape, BloomType::kRow, std::array{FilterKind::kBloom},
                      kRate);
  }

  void Open(const LevelShape& shape) {
    BitAllocation::Open({.bloom_type = BloomType::kRow,
                         .key_layout = kLayout,
                         .false_positive_rate = kRate,
                         .level_allocation = shape},
                        shape.dynamic_level_bytes);
  }

  static void ExpectBits(double bits, double rate) {
    EXPECT_NEAR(bits, BitsPerKey(rate), 0.03 * BitsPerKey(rate));
  }
  // The only file of `level` has a ROW section with the bits for `rate`.
  void ExpectRate(int level, double rate) {
    const auto bits = BitsByLevel("row.bits_per_key");
    ASSERT_EQ(bits.count(level), 1u);
    ExpectBits(bits.find(level)->second, rate);
  }
};

// A file that is moved, not rewritten, keeps its filter; when it is rewritten
// it gets that of the level.
TEST_F(LevelContext, MovedFilesKeepTheirFilters) {
  Open(kShape);
  Flush(0, 5000);
  ExpectRate(0, PlannedRates().front());
  rocksdb::CompactRangeOptions move;
  move.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kSkip;
  ExpectOk(db()->CompactRange(move, nullptr, nullptr));
  ASSERT_EQ(Shape().count(0), 0u);
  const int level = Shape().begin()->first;
  ExpectRate(level, PlannedRates().front());
  test::CompactAll(db());
  ExpectRate(Shape().begin()->first, PlannedRates().back());
}

// With level_compaction_dynamic_level_bytes, data is at the last levels.
TEST_F(LevelContext, DynamicLevelsCountFromTheLastOne) {
  Open(kShape);
  Flush(0, 5000);
  Push(6);
  Flush(5000, 10'000);
  Push(5);
  Flush(10'000, 15'000);
  Push(4);
  Flush(15'000, 20'000);
  ExpectRate(6, PlannedRates()[4]);
  ExpectRate(5, PlannedRates()[3]);
  ExpectRate(4, PlannedRates()[2]);
  ExpectRate(0, PlannedRates()[0]);
}

// The first compaction of a young database goes to a level with nothing below.
TEST_F(LevelContext, FilesWithNothingBelowHaveTheRateOfTheLastLevel) {
  Open(kShape);
  Flush(0, 5000);
  Push(2);
  ExpectRate(2, PlannedRates().back());
}

TEST_F(LevelContext, OthersGetTheUniformRate) {
  Open(kShape);
  const TempDir dir;
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options());
  const std::string path = dir.File("ingested.sst");
  ExpectOk(writer.Open(path));
  std::map<std::string, int> rows;
  for (uint64_t row = 0; row < 5000; ++row) rows[Row(row)] = 0;
  for (const auto& [row, nothing] : rows) ExpectOk(writer.Put(row, ""));
  ExpectOk(writer.Finish());
  ExpectOk(db()->IngestExternalFile({path}, {}));
  ExpectRate(Shape().begin()->first, kRate);

  rocksdb::Options universal = options();
  universal.compaction_style = rocksdb::kCompactionStyleUniversal;
  rocksdb::Options fifo = options();
  fifo.compaction_style = rocksdb::kCompactionStyleFIFO;
  for (const rocksdb::Options& other : {universal, fifo}) {
    const TempDir other_dir;
    const auto db = OpenDb(other, other_dir.path().string());
    ASSERT_NE(db, nullptr);
    for (const auto& [row, nothing] : rows) ExpectOk(db->Put({}, row, ""));
    ExpectOk(db->Flush({}));
    rocksdb::TablePropertiesCollection tables;
    ExpectOk(db->GetPropertiesOfAllTables(&tables));
    ASSERT_EQ(tables.size(), 1u);
    const uint64_t bytes = tables.begin()->second->filter_size;
    ExpectBits(8.0 * static_cast<double>(bytes) / 5000, kRate);
  }
}

// Counts the files that get kBloom under a policy of kind ribbon.
class KindByLevel : public testing::Test {
 protected:
  static constexpr uint64_t kRows = 2000;

  // Kinds of files by how they were made. The bytes of their filters tell them,
  // so that RocksDB's own policies can be compared, too.
  using Kinds = std::map<std::string, FilterKind>;

  static Kinds KindsUnder(
      const std::shared_ptr<const rocksdb::FilterPolicy>& policy) {
    Kinds kinds;
    const TempDir dir;
    rocksdb::Options options = TestDbOptions({.policy = policy});
    // Level 6 is not the first that a flush can be compacted to.
    options.level_compaction_dynamic_level_bytes = false;
    {
      const auto db = OpenDb(options, dir.File("leveled"));
      const auto only = [&] { return OnlyFile(db.get()); };
      Write(db.get());
      kinds["flush"] = only().kind;
      for (const int level : {0, 1, 3, 6}) {
        const std::string name = only().name;
        ExpectOk(db->CompactFiles({}, {name}, level));
        EXPECT_NE(only().name, name);
        EXPECT_EQ(only().level, level);
        kinds["level " + std::to_string(level)] = only().kind;
      }
      std::string value;
      for (uint64_t row = 0; row < kRows; ++row) {
        ExpectOk(db->Get({}, Row(row), &value));
      }
    }
    options.compaction_style = rocksdb::kCompactionStyleUniversal;
    {
      const auto db = OpenDb(options, dir.File("universal"));
      Write(db.get());
      kinds["universal flush"] = OnlyFile(db.get()).kind;
      ExpectOk(db->CompactFiles({}, {OnlyFile(db.get()).name}, 4));
      kinds["universal level 4"] = OnlyFile(db.get()).kind;
    }
    options.compaction_style = rocksdb::kCompactionStyleFIFO;
    {
      const auto db = OpenDb(options, dir.File("fifo"));
      Write(db.get());
      kinds["fifo"] = OnlyFile(db.get()).kind;
    }
    options.compaction_style = rocksdb::kCompactionStyleLevel;
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
    ExpectOk(writer.Open(dir.File("ingested.sst")));
    for (const auto& row : SortedRows()) ExpectOk(writer.Put(row, ""));
    ExpectOk(writer.Finish());
    const auto db = OpenDb(options, dir.File("ingesting"));
    ExpectOk(db->IngestExternalFile({dir.File("ingested.sst")}, {}));
    kinds["ingested"] = OnlyFile(db.get()).kind;
    return kinds;
  }

  static std::shared_ptr<const rocksdb::FilterPolicy> Ribbon(
      int bloom_before_level) {
    return MakeFilterPolicy({.bloom_type = BloomType::kRow,
                             .key_layout = kLayout,
                             .kind = FilterKind::kRibbon,
                             .bloom_before_level = bloom_before_level});
  }

 private:
  struct File {
    std::string name;
    int level = -1;
    FilterKind kind{};
  };

  static std::vector<std::string> SortedRows() {
    std::vector<std::string> rows;
    for (uint64_t row = 0; row < kRows; ++row) rows.push_back(Row(row));
    std::ranges::sort(rows);
    return rows;
  }

  static void Write(rocksdb::DB* db) {
    for (uint64_t row = 0; row < kRows; ++row) {
      ExpectOk(db->Put({}, Row(row), ""));
    }
    ExpectOk(db->Flush({}));
  }

  static File OnlyFile(rocksdb::DB* db) {
    std::vector<rocksdb::LiveFileMetaData> files;
    db->GetLiveFilesMetaData(&files);
    rocksdb::TablePropertiesCollection tables;
    ExpectOk(db->GetPropertiesOfAllTables(&tables));
    if (files.size() != 1 || tables.size() != 1) {
      ADD_FAILURE() << files.size() << " files";
      return {};
    }
    // 9.9 bits a key at 0.01 against 7, plus what is around them.
    const double bits =
        8.0 * static_cast<double>(tables.begin()->second->filter_size) / kRows;
    return {files[0].name, files[0].level,
            bits > 8.5 ? FilterKind::kBloom : FilterKind::kRibbon};
  }
};

TEST_F(KindByLevel, IsThatOfTheStockPolicy) {
  const std::array levels = {-1, 0, 1, 2, 4, 5, 7};
  for (size_t i = 0; i < levels.size(); i += Stride(3)) {
    const int level = levels[i];
    SCOPED_TRACE(level);
    const std::shared_ptr<const rocksdb::FilterPolicy> stock(
        rocksdb::NewRibbonFilterPolicy(10, level));
    EXPECT_EQ(KindsUnder(Ribbon(level)), KindsUnder(stock));
  }
}

// The kinds are also those that the header names.
TEST_F(KindByLevel, IsBloomBeforeTheLevel) {
  const auto bloom = [](int level) {
    std::vector<std::string> names;
    for (const auto& [name, kind] : KindsUnder(Ribbon(level))) {
      if (kind == FilterKind::kBloom) names.push_back(name);
    }
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(bloom(-1), Names{});
  EXPECT_EQ(bloom(0), (Names{"flush", "universal flush"}));
  EXPECT_EQ(bloom(1), (Names{"flush", "level 0", "universal flush"}));
  EXPECT_EQ(bloom(4), (Names{"flush", "level 0", "level 1", "level 3",
                             "universal flush"}));
  EXPECT_EQ(bloom(std::numeric_limits<int>::max()).size(), 9u);
}

class KindInFiles : public BitAllocation {};

// Blooms have the rate, not the bits, that the ribbons have; files name their
// kind.
TEST_F(KindInFiles, KeepsTheRates) {
  for (const bool by_level : {false, true}) {
    const LevelShape shape = {.levels = 2, .dynamic_level_bytes = false};
    Open({.key_layout = kLayout,
          .kind = FilterKind::kRibbon,
          .bloom_before_level = 1,
          .false_positive_rate = kRate,
          .level_allocation = Allocation(by_level, shape)},
         shape.dynamic_level_bytes);
    constexpr uint64_t kRows = 5000;
    Flush(0, kRows);
    Push(2);
    Flush(kRows, 2 * kRows);
    std::vector<double> rates(3, kRate);
    if (by_level) {
      const std::vector<FilterKind> kinds = {
          FilterKind::kBloom, FilterKind::kRibbon, FilterKind::kRibbon};
      rates = LevelRates(shape, BloomType::kRowCol, kinds, kRate);
    }
    for (const char* field : {"row.bits_per_key", "row_col.bits_per_key"}) {
      const auto bits = BitsByLevel(field);
      ASSERT_EQ(bits.size(), 2u);
      const double bloom = KindBits(FilterKind::kBloom, rates[0]);
      EXPECT_NEAR(bits.find(0)->second, bloom, 0.03 * bloom) << field;
      const double ribbon = KindBits(FilterKind::kRibbon, rates[2]);
      EXPECT_NEAR(bits.find(2)->second, ribbon, 0.05 * ribbon) << field;
    }
    rocksdb::TablePropertiesCollection tables;
    ExpectOk(db()->GetPropertiesOfAllTables(&tables));
    for (const auto& file : Files()) {
      const std::string text =
          tables.at(file.db_path + file.name)
              ->user_collected_properties.at(kFilterProperty);
      EXPECT_NE(text.find(file.level == 0 ? " kind=bloom " : " kind=ribbon "),
                std::string::npos)
          << text;
    }
    // Both kinds are probed, and rule files out.
    Count(2 * kRows, 1000);
    std::vector<LevelFilterStats> levels;
    ExpectOk(GetFilterStats(policy(), &levels));
    ASSERT_EQ(levels.size(), 2u);
    for (const LevelFilterStats& level : levels) {
      EXPECT_GT(level.stats.row.skipped, 1500u) << level.level;
      EXPECT_EQ(level.stats.row.unusable, 0u) << level.level;
    }
  }
}

// Eight files of level 0, all considered by each read.
class AdaptiveSplitInFiles : public BitAllocation {
 protected:
  static constexpr uint64_t kFiles = 8;

  struct Result {
    uint64_t bytes = 0;
    WastedReadCounts counts;
  };

  // `in_all_files`: each file has `columns` cells of each row.
  Result Run(std::optional<double> row_spread, uint64_t columns,
             bool in_all_files) {
    Open({.key_layout = kLayout,
          .false_positive_rate = kRate,
          .row_spread = row_spread},
         LevelShape().dynamic_level_bytes);
    const uint64_t rows_of_file = Scaled(kRowsOfFile);
    for (uint64_t file = 0; file < kFiles; ++file) {
      const uint64_t begin = in_all_files ? 0 : rows_of_file * file;
      Flush(begin, begin + rows_of_file, columns,
            in_all_files ? columns * file : 0);
    }
    const Result result = {
        .bytes = FilterBytes(),
        .counts = Count(in_all_files ? rows_of_file : rows_of_file * kFiles,
                        Scaled(kQuestions))};
    Print(row_spread ? "adaptive" : "equal", result.counts, result.bytes);
    return result;
  }

  static constexpr uint64_t kRowsOfFile = 2000;
  static constexpr uint64_t kQuestions = 100'000;
};

// The model holds in files: scans gain, and nothing is worse than with
// RocksDB's one filter for rows and cells (its rate, in each of the files).
TEST_F(AdaptiveSplitInFiles, PaysWhereARowIsInOneFile) {
  if (Scaled(1000) < 1000) {
    GTEST_SKIP() << "counts are asserted from ROWBLOOM_TEST_SCALE=1 up";
  }
  for (const uint64_t columns : {2, 10}) {
    SCOPED_TRACE(columns);
    const Result equal = Run(std::nullopt, columns, false);
    const Result adaptive = Run(1.0 / kFiles, columns, false);
    EXPECT_EQ(adaptive.bytes, equal.bytes);
    const WastedReads model = PredictWastedReads(
        AdaptiveSplit(FilterKind::kBloom, 1, columns, kRate, 1.0 / kFiles),
        1.0 / kFiles);
    const double considered = static_cast<double>(kQuestions * kFiles);
    const auto expect = [&](uint64_t counted, double predicted) {
      const double expected = predicted * considered;
      EXPECT_NEAR(static_cast<double>(counted), expected,
                  0.1 * expected + 4 * std::sqrt(expected));
      EXPECT_LT(static_cast<double>(counted), kRate * considered);
    };
    expect(adaptive.counts.scan_absent_row, model.scan_absent_row);
    expect(adaptive.counts.get_absent_row, model.get_absent_row);
    expect(adaptive.counts.get_absent_column, model.get_absent_column);
    EXPECT_LT(adaptive.counts.scan_absent_row,
              equal.counts.scan_absent_row / 4);
    EXPECT_LT(adaptive.counts.get_absent_row, equal.counts.get_absent_row);
  }
}

TEST_F(AdaptiveSplitInFiles, IsTheEqualOneWhereARowIsInAllFiles) {
  const Result equal = Run(std::nullopt, 3, true);
  const Result adaptive = Run(1, 3, true);
  EXPECT_EQ(adaptive.bytes, equal.bytes);
  EXPECT_EQ(adaptive.counts.get_absent_row, equal.counts.get_absent_row);
  EXPECT_EQ(adaptive.counts.get_absent_column, equal.counts.get_absent_column);
  EXPECT_EQ(adaptive.counts.scan_absent_row, equal.counts.scan_absent_row);
  EXPECT_GT(equal.counts.get_absent_column, 0u);
}

// A hint that is wrong costs: each row is in all files, not in one of eight.
// RocksDB's one filter is the measure that the hint was to keep.
TEST_F(AdaptiveSplitInFiles, CostsWhereTheHintIsWrong) {
  const Result equal = Run(std::nullopt, 10, true);
  const Result wrong = Run(1.0 / kFiles, 10, true);
  EXPECT_EQ(wrong.bytes, equal.bytes);
  EXPECT_GT(wrong.counts.get_absent_column, equal.counts.get_absent_column);
  EXPECT_LT(wrong.counts.get_absent_column,
            2 * equal.counts.get_absent_column + 100);
}

}  // namespace
}  // namespace rowbloom::bit_allocation_test

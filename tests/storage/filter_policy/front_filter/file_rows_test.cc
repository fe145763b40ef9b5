#include "storage/filter_policy/front_filter/file_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "lib/block/filter_block_builder.h"
#include "lib/block/hash.h"
#include "rocksdb/comparator.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/version.h"
#include "rowbloom/front_filter.h"
#include "storage/filter_policy/loaded_block.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/files.h"
#include "tests/support/temp_dir.h"
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1004
#include "rocksdb/advanced_compression.h"
#endif

namespace rowbloom::front_filter::file_rows_test {
namespace {

using test::ExpectOk;
using test::MakeFilterPolicy;
using test::TempDir;
using test::TestDbOptions;
using testing::HasSubstr;

constexpr int kRows = 500;

const KeyLayout& Layout() {
  static const KeyLayout layout = KeyLayout::Delimited(':');
  return layout;
}

std::string RowAt(int row) { return "row" + std::to_string(1'000 + row) + ":"; }

class FileRowsTest : public testing::Test {
 protected:
  // Each even row, columns a and b.
  void Write(const rocksdb::Options& options) {
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
    ExpectOk(writer.Open(path_));
    for (int row = 0; row < kRows; row += 2) {
      ExpectOk(writer.Put(RowAt(row) + "a", "value"));
      ExpectOk(writer.Delete(RowAt(row) + "b"));
    }
    ExpectOk(writer.Finish());
  }
  FileRows::Loaded Load(uint64_t limit_bytes = UINT64_MAX,
                        uint64_t cell_limit_bytes = 0) {
    memory_ = std::make_shared<Memory>(limit_bytes, cell_limit_bytes, nullptr);
    return FileRows::Load({.layout = Layout(),
                           .comparator = rocksdb::BytewiseComparator(),
                           .order = RowOrder::kBytewise},
                          rocksdb::Env::Default(), path_, memory_);
  }
  void ExpectRows(const FileRows::Loaded& loaded) {
    ASSERT_NE(loaded.rows, nullptr) << loaded.problem.message;
    int wrong = 0;
    for (int row = 0; row < kRows; ++row) {
      const bool found =
          loaded.rows->probe().Find(ActiveKernel(), HashRow(RowAt(row)));
      if (row % 2 == 0) {
        EXPECT_TRUE(found) << row;
      } else if (found) {
        ++wrong;
      }
    }
    EXPECT_LT(wrong, kRows / 20);
    EXPECT_EQ(memory_->used_bytes(Memory::kRows), loaded.rows->bytes());
  }
  // The columns of rows that are there. Returns how many others may be, of
  // kRows / 2.
  static int ExpectCells(const FileRows& rows) {
    int wrong = 0;
    for (int row = 0; row < kRows; row += 2) {
      const auto may_have = [&](const char* qualifier) {
        return rows.MayHaveKey(HashRow(RowAt(row)), qualifier, ActiveKernel());
      };
      EXPECT_TRUE(may_have("a")) << row;
      EXPECT_TRUE(may_have("b")) << row;
      EXPECT_TRUE(may_have("")) << row;
      if (may_have("c")) ++wrong;
    }
    return wrong;
  }
  void ExpectUnknown(const char* why) {
    const auto loaded = Load();
    EXPECT_EQ(loaded.rows, nullptr) << why;
    EXPECT_THAT(loaded.problem.message, HasSubstr(why));
    EXPECT_EQ(memory_->used_bytes(Memory::kRows), 0);
  }
  static rocksdb::Options OptionsWith(FilterPolicyOptions filter) {
    filter.key_layout = Layout();
    return TestDbOptions({MakeFilterPolicy(filter), nullptr});
  }

  TempDir dir_;
  const std::string path_ = dir_.File("000001.sst");
  std::shared_ptr<Memory> memory_;
};

// Gives each file a property of these bytes.
class PropertyFactory final : public rocksdb::TablePropertiesCollectorFactory {
 public:
  explicit PropertyFactory(std::string bytes) : bytes_(std::move(bytes)) {}
  const char* Name() const override { return "test"; }
  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(
      Context /*context*/) override {
    class Collector final : public rocksdb::TablePropertiesCollector {
     public:
      explicit Collector(const std::string& bytes) : bytes_(bytes) {}
      const char* Name() const override { return "test"; }
      rocksdb::Status AddUserKey(const rocksdb::Slice&, const rocksdb::Slice&,
                                 rocksdb::EntryType, rocksdb::SequenceNumber,
                                 uint64_t) override {
        return rocksdb::Status::OK();
      }
      rocksdb::Status Finish(
          rocksdb::UserCollectedProperties* properties) override {
        *properties = GetReadableProperties();
        return rocksdb::Status::OK();
      }
      rocksdb::UserCollectedProperties GetReadableProperties() const override {
        return {{kBareRowsProperty, bytes_}};
      }

     private:
      const std::string bytes_;
    };
    return new Collector(bytes_);
  }

 private:
  const std::string bytes_;
};

// The rows that may be keys by themselves, of those that the file has.
TEST_F(FileRowsTest, BareRows) {
  const auto count = [this](const std::string* property) {
    auto options = OptionsWith({});
    if (property != nullptr) {
      options.table_properties_collector_factories.push_back(
          std::make_shared<PropertyFactory>(*property));
    }
    Write(options);
    const auto loaded = Load();
    ExpectRows(loaded);
    int found = 0;
    for (int row = 0; row < kRows; row += 2) {
      const uint64_t hash = HashRow(RowAt(row));
      EXPECT_TRUE(loaded.rows->MayHaveKey(hash, {}, ActiveKernel()));
      const bool bare = loaded.rows->MayHaveKey(hash, "", ActiveKernel());
      EXPECT_TRUE(bare || row % 20 != 0) << row;
      if (bare) ++found;
    }
    return found;
  };
  const auto block = [](const KeyLayout& layout, int step) {
    FilterBlockBuilder builder(
        {.bloom_type = BloomType::kRow, .key_layout = layout});
    for (int row = 0; row < kRows; row += step) builder.AddKey(RowAt(row));
    return builder.Finish();
  };
  EXPECT_EQ(count(nullptr), kRows / 2);
  std::string some = block(Layout(), 20);
  EXPECT_LT(count(&some), kRows / 20 + kRows / 40);
  for (std::string no_use :
       {std::string(), std::string("rows"), some.substr(0, some.size() - 1),
        block(KeyLayout::FixedRow(8), 20)}) {
    EXPECT_EQ(count(&no_use), kRows / 2);
  }
  for (size_t i = 0; i < some.size(); i += 7) {
    std::string damaged = some;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    count(&damaged);  // none is lost
  }
}

TEST_F(FileRowsTest, OfEachTypeAndKind) {
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    for (const FilterKind kind : {FilterKind::kBloom, FilterKind::kRibbon}) {
      Write(OptionsWith({.bloom_type = type, .kind = kind}));
      ExpectRows(Load());
      EXPECT_EQ(memory_->used_bytes(Memory::kRows), 0) << "given back";
    }
  }
}

TEST_F(FileRowsTest, OfPrefixesIfTheyAreRows) {
  const auto policy = MakeFilterPolicy({.key_layout = Layout()});
  Write(TestDbOptions({policy, NewRowPrefixExtractor(Layout()),
                       /*partitioned=*/false, /*whole_key_filtering=*/false}));
  ExpectRows(Load());
  // The first bytes of rows say nothing about rows.
  Write(TestDbOptions({policy,
                       std::shared_ptr<const rocksdb::SliceTransform>(
                           rocksdb::NewCappedPrefixTransform(4)),
                       /*partitioned=*/false, /*whole_key_filtering=*/false}));
  ExpectUnknown("does not have the rows of all keys");
  // With whole keys the file has both.
  Write(TestDbOptions({policy, std::shared_ptr<const rocksdb::SliceTransform>(
                                   rocksdb::NewCappedPrefixTransform(4))}));
  ExpectRows(Load());
}

TEST_F(FileRowsTest, CellsIfTheyAreWantedAndThere) {
  for (const FilterKind kind : {FilterKind::kBloom, FilterKind::kRibbon}) {
    Write(OptionsWith({.kind = kind}));
    const auto with = Load(UINT64_MAX, UINT64_MAX);
    ASSERT_TRUE(with.rows != nullptr && with.rows->has_cells());
    EXPECT_LT(ExpectCells(*with.rows), kRows / 20);
    EXPECT_GT(memory_->used_bytes(Memory::kCells), kRows / 2);
    ExpectRows(with);
    // There is room for the rows alone.
    const auto beyond = Load(UINT64_MAX, 100);
    EXPECT_FALSE(beyond.rows->has_cells());
    EXPECT_EQ(ExpectCells(*beyond.rows), kRows / 2);
    EXPECT_EQ(memory_->used_bytes(Memory::kCells), 0);
  }
  Write(OptionsWith({.bloom_type = BloomType::kRow}));
  EXPECT_FALSE(Load(UINT64_MAX, UINT64_MAX).rows->has_cells());
  // A filter of prefixes has no cell of any row.
  Write(TestDbOptions({MakeFilterPolicy({.key_layout = Layout()}),
                       NewRowPrefixExtractor(Layout()), /*partitioned=*/false,
                       /*whole_key_filtering=*/false}));
  const auto prefixes = Load(UINT64_MAX, UINT64_MAX);
  EXPECT_FALSE(prefixes.rows->has_cells());
  EXPECT_EQ(ExpectCells(*prefixes.rows), kRows / 2);
}

// ROWCOL is probed in RocksDB's memory while the file is open there, whichever
// came first, and not in that of a file with the same rows.
TEST_F(FileRowsTest, CellsOfOpenFiles) {
  const LoadedBlock::Wanted wanted;
  for (const FilterKind kind : {FilterKind::kBloom, FilterKind::kRibbon}) {
    const auto options = OptionsWith({.kind = kind});
    Write(options);
    const auto open = [&](const std::string& path) {
      auto reader = std::make_unique<rocksdb::SstFileReader>(options);
      ExpectOk(reader->Open(path));
      return reader;
    };
    const auto loaded = Load();
    EXPECT_EQ(ExpectCells(*loaded.rows), kRows / 2);
    auto reader = open(path_);
    EXPECT_LT(ExpectCells(*loaded.rows), kRows / 20);
    const auto again = Load();
    EXPECT_LT(ExpectCells(*again.rows), kRows / 20);
    EXPECT_FALSE(again.rows->has_cells());
    reader = open(path_);  // the second opening is found when the first goes
    EXPECT_LT(ExpectCells(*loaded.rows), kRows / 20);
    reader.reset();
    EXPECT_EQ(ExpectCells(*loaded.rows), kRows / 2);

    const std::string other = dir_.File("other.sst");
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
    ExpectOk(writer.Open(other));
    for (int row = 0; row < kRows; row += 2) {
      ExpectOk(writer.Put(RowAt(row) + "d", "value"));
      ExpectOk(writer.Put(RowAt(row) + "e", "value"));
    }
    ExpectOk(writer.Finish());
    reader = open(other);
    EXPECT_EQ(ExpectCells(*loaded.rows), kRows / 2);
  }
}

TEST_F(FileRowsTest, OthersAreUnknown) {
  Write(OptionsWith({.bloom_type = BloomType::kNone}));
  ExpectUnknown("no filter");
  Write(OptionsWith({.bloom_type = BloomType::kRowPrefixFixedLength,
                     .row_prefix_length = 4}));
  ExpectUnknown("no ROW section");
  Write(TestDbOptions({test::StockBloom(), nullptr}));
  ExpectUnknown("not one of rowbloom's");
  Write(TestDbOptions(
      {MakeFilterPolicy({.key_layout = KeyLayout::FixedRow(3)}), nullptr}));
  ExpectUnknown("layout is fixed:3, expected delimited::");
  Write(TestDbOptions({MakeFilterPolicy({.key_layout = Layout()}), nullptr,
                       /*partitioned=*/true}));
  ExpectUnknown("no filter in one block");
  std::filesystem::remove(path_);
  ExpectUnknown("No such file");
}

#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1004
// RocksDB's compression under a name that no registry knows.
class OwnCompression final : public rocksdb::CompressionManagerWrapper {
 public:
  OwnCompression()
      : CompressionManagerWrapper(rocksdb::GetBuiltinV2CompressionManager()) {}

  const char* Name() const override { return "OwnCompression"; }
  const char* CompatibilityName() const override { return "OwnCompression"; }
  std::shared_ptr<rocksdb::CompressionManager> FindCompatibleCompressionManager(
      rocksdb::Slice name) override {
    return name == rocksdb::Slice(CompatibilityName()) ? shared_from_this()
                                                       : nullptr;
  }
};

TEST_F(FileRowsTest, OfACompressionManagerOfTheFamily) {
  rocksdb::Options options = OptionsWith({});
  options.compression_manager = std::make_shared<OwnCompression>();
  auto table =
      *options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  table.format_version = 7;  // files name their compression manager
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  Write(options);
  ExpectUnknown("OwnCompression");
  const auto rules = RulesOf(options);
  ASSERT_TRUE(rules);
  ExpectRows(FileRows::Load(*rules, rocksdb::Env::Default(), path_, memory_));
}
#endif

TEST_F(FileRowsTest, RangeDeletesAloneHaveNone) {
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), OptionsWith({}));
  ExpectOk(writer.Open(path_));
  ExpectOk(writer.DeleteRange(RowAt(0), RowAt(9)));
  ExpectOk(writer.Finish());
  const auto loaded = Load();
  ASSERT_NE(loaded.rows, nullptr) << loaded.problem.message;
  EXPECT_FALSE(loaded.rows->probe().Find(ActiveKernel(), HashRow(RowAt(1))));

  // A key beside them is one of a filter that is not there.
  FilterPolicyOptions none;
  none.bloom_type = BloomType::kNone;
  rocksdb::SstFileWriter with_key(rocksdb::EnvOptions(), OptionsWith(none));
  ExpectOk(with_key.Open(path_));
  ExpectOk(with_key.DeleteRange(RowAt(0), RowAt(9)));
  ExpectOk(with_key.Put(RowAt(1) + "a", "value"));
  ExpectOk(with_key.Finish());
  ExpectUnknown("the file has no filter in one block");
}

// RocksDB 5.15 to 5.18 did not count range deletes as entries. The file is
// changed to have such counts; it has no checksums.
TEST_F(FileRowsTest, AsManyRangeDeletesAsKeys) {
  rocksdb::Options options = OptionsWith({});
  auto table =
      *options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  table.checksum = rocksdb::kNoChecksum;
  table.format_version = 5;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  ExpectOk(writer.Open(path_));
  ExpectOk(writer.DeleteRange(RowAt(5), RowAt(9)));
  ExpectOk(writer.Put(RowAt(1) + "a", "value"));
  ExpectOk(writer.Finish());
  std::string bytes = test::ReadFile(path_);
  const size_t count = bytes.find("entries\x02");
  ASSERT_NE(count, std::string::npos);
  bytes[count + 7] = 1;
  test::WriteFile(path_, bytes);

  rocksdb::SstFileReader reader(options);
  ExpectOk(reader.Open(path_));
  const auto properties = reader.GetTableProperties();
  ASSERT_EQ(properties->num_entries, 1);
  ASSERT_EQ(properties->num_range_deletions, 1);
  const auto loaded = Load();
  ASSERT_NE(loaded.rows, nullptr) << loaded.problem.message;
  EXPECT_TRUE(loaded.rows->probe().Find(ActiveKernel(), HashRow(RowAt(1))));
}

// Damage to any byte of the file loses no row.
TEST_F(FileRowsTest, DamagedOnesLoseNoRow) {
  Write(OptionsWith({}));
  const std::string bytes = test::ReadFile(path_);
  int unknown = 0;
  for (size_t at = 0; at < bytes.size(); at += 7) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x11);
    test::WriteFile(path_, damaged);
    const auto loaded = Load(UINT64_MAX, UINT64_MAX);
    if (loaded.rows == nullptr) {
      ++unknown;
      continue;
    }
    for (int row = 0; row < kRows; row += 2) {
      ASSERT_TRUE(
          loaded.rows->probe().Find(ActiveKernel(), HashRow(RowAt(row))))
          << "byte " << at;
    }
    ExpectCells(*loaded.rows);
  }
  EXPECT_GT(unknown, 50);
}

TEST_F(FileRowsTest, BeyondTheLimitIsUnknown) {
  Write(OptionsWith({}));
  const auto loaded = Load(100);
  EXPECT_EQ(loaded.rows, nullptr);
  EXPECT_THAT(loaded.problem.message, HasSubstr("no room"));
  EXPECT_GT(loaded.problem.bytes_beyond_limit, 100);
  EXPECT_EQ(memory_->used_bytes(Memory::kRows), 0);
  EXPECT_FALSE(
      memory_->HasRoomFor(Memory::kRows, loaded.problem.bytes_beyond_limit));
}

}  // namespace
}  // namespace rowbloom::front_filter::file_rows_test

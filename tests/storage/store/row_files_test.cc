// Files that end between rows: StoreOptions::row_aligned_files.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "rocksdb/metadata.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"

namespace rowbloom::test {
namespace {

constexpr uint64_t kRows = 150;
constexpr uint64_t kColumns = 40;
constexpr size_t kFileBytes = size_t{64} << 10;

// Incompressible, so that files are as long as it says.
std::string ValueOf(uint64_t row, uint64_t column) {
  return Random(row * kColumns + column).Bytes(200);
}

class RowFiles : public ::testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Store> Open(bool aligned) {
    return OpenOrFail(
        {.key_layout = layout_,
         .write_buffer_bytes = size_t{256} << 10,
         .file_bytes = kFileBytes,
         .row_aligned_files = aligned},
        path_,
        {{"latest", {.compression = Compression::kNone}},
         {"versioned",
          {.compression = Compression::kNone, .max_versions = 2}}});
  }

  static std::string RowName(uint64_t i) { return DistinctKey(i); }

  // Every column of every row, in an order that has nothing of theirs. Some
  // rows are deleted on the way, with the columns that they had.
  void WriteScattered(Store* store) {
    std::vector<uint64_t> order(kRows * kColumns);
    for (uint64_t i = 0; i < order.size(); ++i) order[i] = i;
    for (uint64_t i = order.size() - 1; i > 0; --i) {
      std::swap(order[i], order[random_.Below(i + 1)]);
    }
    for (const uint64_t at : order) {
      const uint64_t row = at / kColumns;
      const uint64_t column = at % kColumns;
      WriteBatch batch;
      for (const char* family : {"latest", "versioned"}) {
        batch.Put(RowName(row), family, std::to_string(column),
                  ValueOf(row, column));
        cells_[{family, RowName(row)}].insert(std::to_string(column));
      }
      if (random_.OneIn(200)) {
        const std::string other = RowName(random_.Below(kRows));
        batch.DeleteRow(other);
        cells_[{"latest", other}].clear();
        cells_[{"versioned", other}].clear();
      }
      ASSERT_THAT(store->Write(batch), IsOk());
    }
  }

  void ExpectAllThere(Store* store) {
    for (uint64_t i = 0; i < kRows; ++i) {
      for (const char* family : {"latest", "versioned"}) {
        std::vector<Cell> cells;
        ASSERT_THAT(store->GetRow(RowName(i), &cells, {.columns = {{family}}}),
                    IsOk());
        std::set<std::string> found;
        for (const Cell& cell : cells) found.insert(cell.qualifier);
        ASSERT_TRUE(found == (cells_[{family, RowName(i)}])) << i << family;
      }
    }
  }

  static uint64_t FilesBelowLevel0(Store* store, const std::string& family) {
    StoreStats stats;
    EXPECT_THAT(store->Stats(&stats), IsOk());
    uint64_t files = 0;
    for (const LevelStats& level : stats.families[family].levels) {
      if (level.level > 0) files += level.files;
    }
    return files;
  }

  struct Shape {
    int files = 0;
    int shared_rows = 0;  // that two files of a level below 0 have in common
  };

  // Of a store that is closed.
  Shape ShapeOf(const std::string& family) {
    std::vector<std::string> names;
    EXPECT_THAT(rocksdb::DB::ListColumnFamilies({}, path_, &names), IsOk());
    std::vector<rocksdb::ColumnFamilyDescriptor> column_families;
    for (const std::string& name : names)
      column_families.emplace_back(name, rocksdb::ColumnFamilyOptions());
    // Reading only, so that nothing is compacted by other options.
    Database database;
    EXPECT_THAT(
        database.Open({}, path_, column_families, Database::Access::kReadOnly),
        IsOk());
    rocksdb::ColumnFamilyMetaData tree;
    database->GetColumnFamilyMetaData(database.Find(family).get(), &tree);
    Shape shape;
    for (const rocksdb::LevelMetaData& level : tree.levels) {
      if (level.level == 0) continue;
      std::vector<rocksdb::SstFileMetaData> files = level.files;
      std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
        return a.smallestkey < b.smallestkey;
      });
      shape.files += static_cast<int>(files.size());
      for (size_t i = 1; i < files.size(); ++i) {
        const std::string& last = files[i - 1].largestkey;
        const size_t row_bytes = layout_.RowBytes(last);
        if (row_bytes != KeyLayout::kNoRow &&
            files[i].smallestkey.starts_with(last.substr(0, row_bytes))) {
          ++shape.shared_rows;
        }
      }
    }
    return shape;
  }

  const KeyLayout layout_ = *KeyLayout::FromString(GetParam());
  TempDir dir_;
  std::string path_ = dir_.File("db");
  Random random_{SeedFromEnv()};
  std::map<std::pair<std::string, std::string>, std::set<std::string>> cells_;
};

INSTANTIATE_TEST_SUITE_P(Layouts, RowFiles,
                         ::testing::Values("escaped", "fixed:8"));

TEST_P(RowFiles, CompactedOnesShareNoRow) {
  SCOPED_TRACE("ROWBLOOM_SEED=" + std::to_string(SeedFromEnv()));
  for (const bool aligned : {false, true}) {
    path_ = dir_.File(aligned ? "aligned" : "usual");
    cells_.clear();
    {
      const auto store = Open(aligned);
      ASSERT_NE(store, nullptr);
      ASSERT_NO_FATAL_FAILURE(WriteScattered(store.get()));
      ASSERT_THAT(store->Compact(), IsOk());
      ASSERT_NO_FATAL_FAILURE(ExpectAllThere(store.get()));
    }
    for (const char* family : {"latest", "versioned"}) {
      const Shape shape = ShapeOf(family);
      EXPECT_GT(shape.files, 10) << family;
      if (aligned) {
        EXPECT_EQ(shape.shared_rows, 0) << family;
      } else {
        EXPECT_GT(shape.shared_rows, shape.files / 2) << family;
      }
    }
  }
}

// Without a Compact: RocksDB compacts when it likes.
TEST_P(RowFiles, RowsThatAreWrittenOnceAreNeverSplit) {
  {
    const auto store = Open(/*aligned=*/true);
    ASSERT_NE(store, nullptr);
    for (uint64_t row = 0; row < kRows; ++row) {
      WriteBatch batch;
      for (uint64_t column = 0; column < kColumns; ++column) {
        for (const char* family : {"latest", "versioned"}) {
          batch.Put(RowName(row), family, std::to_string(column),
                    ValueOf(row, column));
        }
      }
      ASSERT_THAT(store->Write(batch), IsOk());
    }
    ASSERT_THAT(store->Flush(), IsOk());
    for (const char* family : {"latest", "versioned"}) {
      while (FilesBelowLevel0(store.get(), family) == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    }
  }
  for (const char* family : {"latest", "versioned"}) {
    const Shape shape = ShapeOf(family);
    EXPECT_GT(shape.files, 5) << family;
    EXPECT_EQ(shape.shared_rows, 0) << family;
  }
}

TEST_P(RowFiles, LoadedOnesEndBetweenRows) {
  for (const bool aligned : {false, true}) {
    path_ = dir_.File(aligned ? "aligned" : "usual");
    {
      const auto store = Open(aligned);
      ASSERT_NE(store, nullptr);
      std::unique_ptr<BulkLoad> load;
      ASSERT_THAT(store->NewBulkLoad({.file_bytes = 20'000}, &load), IsOk());
      for (uint64_t row = 0; row < 60; ++row) {
        for (uint64_t column = 10; column < kColumns; ++column) {
          ASSERT_THAT(load->Add(std::to_string(10'000'000 + row), "latest",
                                std::to_string(column), ValueOf(row, column)),
                      IsOk());
        }
      }
      ASSERT_THAT(load->Finish(), IsOk());
    }
    const Shape shape = ShapeOf("latest");
    EXPECT_GT(shape.files, 10);
    if (aligned) {
      EXPECT_EQ(shape.shared_rows, 0);
    } else {
      EXPECT_GT(shape.shared_rows, 5);
    }
  }
}

}  // namespace
}  // namespace rowbloom::test

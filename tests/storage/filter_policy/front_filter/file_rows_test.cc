#include "storage/filter_policy/front_filter/file_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "lib/block/hash.h"
#include "rocksdb/comparator.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_file_writer.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::front_filter {
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
  FileRows::Loaded Load(uint64_t limit_bytes = UINT64_MAX) {
    budget_ = std::make_shared<Budget>(limit_bytes);
    return FileRows::Load({.layout = Layout(),
                           .comparator = rocksdb::BytewiseComparator(),
                           .order = RowOrder::kBytewise},
                          rocksdb::Env::Default(), path_, budget_);
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
    EXPECT_EQ(budget_->used_bytes(), loaded.rows->bytes());
  }
  void ExpectUnknown(const char* why) {
    const auto loaded = Load();
    EXPECT_EQ(loaded.rows, nullptr) << why;
    EXPECT_THAT(loaded.problem.message, HasSubstr(why));
    EXPECT_EQ(budget_->used_bytes(), 0);
  }
  static rocksdb::Options OptionsWith(FilterPolicyOptions filter) {
    filter.key_layout = Layout();
    return TestDbOptions({MakeFilterPolicy(filter), nullptr});
  }

  TempDir dir_;
  const std::string path_ = dir_.File("000001.sst");
  std::shared_ptr<Budget> budget_;
};

TEST_F(FileRowsTest, OfEachTypeAndKind) {
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    for (const FilterKind kind : {FilterKind::kBloom, FilterKind::kRibbon}) {
      Write(OptionsWith({.bloom_type = type, .kind = kind}));
      ExpectRows(Load());
      EXPECT_EQ(budget_->used_bytes(), 0) << "given back";
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

TEST_F(FileRowsTest, OthersAreUnknown) {
  Write(OptionsWith({.bloom_type = BloomType::kNone}));
  ExpectUnknown("no filter");
  Write(OptionsWith({.bloom_type = BloomType::kRowPrefixFixedLength,
                     .row_prefix_length = 4}));
  ExpectUnknown("no ROW section");
  Write(TestDbOptions({std::shared_ptr<const rocksdb::FilterPolicy>(
                           rocksdb::NewBloomFilterPolicy(10)),
                       nullptr}));
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

// Whatever byte of the file is damaged, no row is lost.
TEST_F(FileRowsTest, DamagedOnesLoseNoRow) {
  Write(OptionsWith({}));
  std::string bytes;
  {
    std::ifstream in(path_, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  int unknown = 0;
  for (size_t at = 0; at < bytes.size(); at += 7) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x11);
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << damaged;
    const auto loaded = Load();
    if (loaded.rows == nullptr) {
      ++unknown;
      continue;
    }
    for (int row = 0; row < kRows; row += 2) {
      ASSERT_TRUE(
          loaded.rows->probe().Find(ActiveKernel(), HashRow(RowAt(row))))
          << "byte " << at;
    }
  }
  EXPECT_GT(unknown, 50);
}

TEST_F(FileRowsTest, BeyondTheBudgetIsUnknown) {
  Write(OptionsWith({}));
  const auto loaded = Load(100);
  EXPECT_EQ(loaded.rows, nullptr);
  EXPECT_THAT(loaded.problem.message, HasSubstr("no room"));
  EXPECT_GT(loaded.problem.bytes_beyond_budget, 100);
  EXPECT_EQ(budget_->used_bytes(), 0);
  EXPECT_FALSE(budget_->HasRoomFor(loaded.problem.bytes_beyond_budget));
}

}  // namespace
}  // namespace rowbloom::front_filter

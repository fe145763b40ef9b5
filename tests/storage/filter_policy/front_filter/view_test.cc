#include "storage/filter_policy/front_filter/view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lib/block/hash.h"
#include "rocksdb/comparator.h"
#include "rocksdb/sst_file_writer.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::front_filter {
namespace {

using test::ExpectOk;
using test::Random;

std::string Letters(Random* random) {
  std::string text(1 + random->Below(3), ' ');
  for (char& c : text) c = static_cast<char>('a' + random->Below(3));
  return text;
}

// Sets of random files, known and not, on three levels, in memtables and
// announced: no row of a file is absent, rows of no file's range are, and a
// batch answers as one by one.
TEST(View, FindsTheRowsOfAllFiles) {
  Random random(test::SeedFromEnv());
  test::TempDir dir;
  const FamilyRules rules{.layout = KeyLayout::Delimited(':'),
                          .comparator = rocksdb::BytewiseComparator(),
                          .order = RowOrder::kBytewise};
  const auto options = test::TestDbOptions(
      {test::MakeFilterPolicy(
           {.key_layout = rules.layout, .false_positive_rate = 0.0005}),
       nullptr});
  const auto memory = std::make_shared<Memory>(UINT64_MAX, UINT64_MAX, nullptr);
  const auto load = [&](const std::set<std::string>& keys) {
    const std::string path = dir.File("file.sst");
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
    ExpectOk(writer.Open(path));
    for (const std::string& key : keys) ExpectOk(writer.Put(key, ""));
    ExpectOk(writer.Finish());
    auto loaded = FileRows::Load(rules, rocksdb::Env::Default(), path, memory);
    EXPECT_NE(loaded.rows, nullptr) << loaded.problem.message;
    return loaded.rows;
  };
  uint64_t absent = 0;
  uint64_t absent_cells = 0;
  for (int turn = 0; turn < 60; ++turn) {
    std::set<std::string> rows;  // in files and memtables
    std::set<std::string> all_keys;
    const auto random_key = [&] {
      const std::string row = Letters(&random) + ":";
      rows.insert(row);
      return *all_keys.insert(row + Letters(&random)).first;
    };
    const bool reverse = turn % 3 == 0;
    std::vector<ListedFile> files;
    for (int level = 0; level < 3; ++level) {
      std::set<std::string> keys;
      const size_t count = random.Below(12);
      for (size_t i = 0; i < count; ++i) keys.insert(random_key());
      // Files of one to four keys: a row may lie in several.
      std::vector<ListedFile> of_level;
      for (auto key = keys.begin(); key != keys.end();) {
        std::set<std::string> some;
        for (size_t n = 1 + random.Below(4); n > 0 && key != keys.end(); --n) {
          some.insert(*key++);
        }
        of_level.push_back({.number = 100 + files.size() + of_level.size(),
                            .level = level,
                            .low = *some.begin(),
                            .high = *some.rbegin(),
                            .rows = random.OneIn(6) ? nullptr : load(some)});
      }
      if (reverse) std::ranges::reverse(of_level);
      files.insert(files.end(), of_level.begin(), of_level.end());
    }
    const auto listed = files;
    View view;
    view.kernel = &ActiveKernel();
    view.files = std::make_shared<const FileSet>(
        reverse ? RowOrder::kReverseBytewise : RowOrder::kBytewise, files);
    EXPECT_EQ(view.files->known() + view.files->unknown(), files.size());
    for (const ListedFile& file : listed) {
      EXPECT_TRUE(view.files->Has(file.number));
    }
    EXPECT_FALSE(view.files->Has(99));
    if (random.OneIn(2)) {
      auto memtable = std::make_shared<MemtableRows>(memory);
      memtable->Add(HashRow(rules.RowOf(random_key()).value()), Writers::kOne);
      view.memtables.push_back(memtable);
    }
    if (random.OneIn(3)) view.Announce(load({random_key()}));

    std::vector<std::string> asked_rows;
    for (const char a : {'a', 'b', 'c'}) {
      for (const char* rest :
           {"", "a", "b", "c", "aa", "ab", "ba", "bc", "cc"}) {
        asked_rows.push_back(std::string(1, a) + rest + ":");
      }
    }
    std::vector<Row> asked;
    std::vector<uint64_t> hashes;
    for (const std::string& row : asked_rows) {
      hashes.push_back(HashRow(row));
      asked.push_back({.bytes = row, .hash = hashes.back()});
    }
    const uint32_t absent_rows = view.Absent({asked, hashes.data()});
    for (size_t i = 0; i < asked.size(); ++i) {
      const bool may_have = view.MayHave(asked[i]);
      EXPECT_EQ(may_have, (absent_rows >> i & 1) == 0) << asked_rows[i];
      const bool in_unknown =
          std::ranges::any_of(listed, [&](const ListedFile& file) {
            return file.rows == nullptr &&
                   MayLieBetween(file.low, file.high, asked_rows[i]);
          });
      if (rows.contains(asked_rows[i]) || in_unknown) {
        EXPECT_TRUE(may_have) << asked_rows[i];
      } else if (!may_have) {
        ++absent;
      }
    }
    // Single cells: those that are there may be, and some of rows that are
    // there may not.
    for (const std::string& key : all_keys) {
      const std::string row(rules.RowOf(key).value());
      const std::string column = key.substr(row.size());
      EXPECT_TRUE(view.MayHave(
          {.bytes = row, .hash = HashRow(row), .qualifier = column}))
          << key;
      if (!view.MayHave(
              {.bytes = row, .hash = HashRow(row), .qualifier = "none"})) {
        ++absent_cells;
      }
    }
    view.announced_unknown = true;
    EXPECT_TRUE(view.MayHave(asked[0]));
    EXPECT_EQ(view.Absent({asked, hashes.data()}), 0);
  }
  EXPECT_GT(absent, 200);
  EXPECT_GT(absent_cells, 200);
}

// RocksDB's search finds the second file.
TEST(View, AFileThatEndsBeforeItBeginsHidesNoOther) {
  const std::vector<ListedFile> files = {
      {.number = 1, .level = 1, .low = "a1:", .high = "a5:"},
      {.number = 2, .level = 1, .low = "k1:", .high = "k9:"},
      {.number = 3, .level = 1, .low = "z9:", .high = "a7:"}};
  const Row row{.bytes = "k5:", .hash = HashRow("k5:")};
  const RowBatch rows({&row, 1}, &row.hash);
  EXPECT_EQ(FileSet(RowOrder::kBytewise, files)
                .Find(rows, rows.all(), ActiveKernel()),
            1);
}

// Without an order a range says nothing.
TEST(View, UnknownOrderUsesNoRange) {
  const auto files = [](int level) {
    return std::vector<ListedFile>{
        {.number = 1, .level = level, .low = "a:", .high = "b:"}};
  };
  const Row row{.bytes = "x:", .hash = HashRow("x:")};
  const RowBatch rows({&row, 1}, &row.hash);
  for (const int level : {0, 1}) {
    EXPECT_EQ(FileSet(RowOrder::kUnknown, files(level))
                  .Find(rows, rows.all(), ActiveKernel()),
              1);
    EXPECT_EQ(FileSet(RowOrder::kBytewise, files(level))
                  .Find(rows, rows.all(), ActiveKernel()),
              0);
  }
}

}  // namespace
}  // namespace rowbloom::front_filter

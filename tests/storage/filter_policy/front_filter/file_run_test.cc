#include "storage/filter_policy/front_filter/file_run.h"

#include <gtest/gtest.h>

#include <chrono>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/support/random.h"

namespace rowbloom::front_filter {
namespace {

using test::Random;

// Few different bytes, 0 and 0xff among them, so that keys share beginnings of
// all lengths.
std::string RandomBytes(Random* random, size_t most) {
  constexpr char kBytes[] = {'\0', 'a', '\x7f', '\xff'};
  std::string bytes(random->Below(most + 1), ' ');
  for (char& byte : bytes) byte = kBytes[random->Below(4)];
  return bytes;
}

// Rows that are only told apart: nothing is read through the pointer.
std::shared_ptr<const FileRows> NumberedRows(size_t number) {
  return {std::shared_ptr<const FileRows>(),
          reinterpret_cast<const FileRows*>(64 * (number + 1))};
}

// A look at each range says the same.
TEST(FileRun, ShowsTheFilesWhoseRangesMayHaveTheRow) {
  Random random(test::SeedFromEnv());
  size_t shown = 0;
  for (int round = 0; round < 2'000; ++round) {
    const std::string shared = RandomBytes(&random, 10);
    std::set<std::string> keys;
    for (uint64_t n = 2 + random.Below(30); n > 0; --n) {
      keys.insert(shared + RandomBytes(&random, random.OneIn(2) ? 3 : 12));
    }
    if (random.OneIn(2)) keys.insert(RandomBytes(&random, 10));
    // Ranges of one or two keys, of which some begin where the last one ended.
    std::vector<ListedFile> files;
    for (auto key = keys.begin(); key != keys.end(); ++key) {
      files.push_back({.low = *key, .high = *key});
      const auto next = std::next(key);
      if (next == keys.end() || random.OneIn(3)) continue;
      files.back().high = *next;
      if (random.OneIn(2)) key = next;
    }
    for (size_t i = 0; i < files.size(); ++i) {
      files[i].rows = NumberedRows(i);
    }
    std::vector<const ListedFile*> in_order;
    for (const ListedFile& file : files) in_order.push_back(&file);
    const FileRun run(in_order);
    for (int i = 0; i < 50; ++i) {
      std::string row = random.OneIn(4) ? RandomBytes(&random, 10) : shared;
      if (row == shared) row += RandomBytes(&random, 12);
      if (random.OneIn(4)) row = files[random.Below(files.size())].high;
      if (random.OneIn(8)) row.resize(row.size() / 2);
      std::vector<const FileRows*> expected;
      for (const ListedFile& file : files) {
        if (file.high >= row &&
            (file.low <= row || file.low.starts_with(row))) {
          expected.push_back(file.rows.get());
        }
      }
      std::vector<const FileRows*> found;
      EXPECT_FALSE(run.InFilesOf(row, [&found](const FileRows* rows) {
        found.push_back(rows);
        return false;
      }));
      ASSERT_EQ(found, expected);
      shown += found.size();
      if (expected.empty()) continue;
      EXPECT_TRUE(run.InFilesOf(
          row, [&](const FileRows* rows) { return rows == expected.back(); }));
    }
  }
  EXPECT_GT(shown, 1000u);
}

// The last key leaves the others no common beginning to skip, so that all of
// them have one number.
TEST(FileRun, DoesNotWalkOverKeysThatBeginAlike) {
  constexpr size_t kFiles = 100'000;
  std::vector<ListedFile> files;
  for (size_t i = 0; i < kFiles; ++i) {
    const std::string key = "https://" + std::to_string(kFiles + i);
    files.push_back({.low = key, .high = key, .rows = NumberedRows(i)});
  }
  files.push_back({.low = "z", .high = "z"});
  std::vector<const ListedFile*> in_order;
  for (const ListedFile& file : files) in_order.push_back(&file);
  const FileRun run(in_order);
  const auto began = std::chrono::steady_clock::now();
  for (size_t i = 0; i < kFiles; ++i) {
    const FileRows* found = nullptr;
    EXPECT_TRUE(run.InFilesOf(files[i].high, [&found](const FileRows* rows) {
      found = rows;
      return true;
    }));
    ASSERT_EQ(found, files[i].rows.get());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

}  // namespace
}  // namespace rowbloom::front_filter

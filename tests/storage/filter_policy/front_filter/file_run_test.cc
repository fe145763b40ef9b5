#include "storage/filter_policy/front_filter/file_run.h"

#include <gtest/gtest.h>

#include <algorithm>
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

// A search through the keys one by one says the same.
TEST(FileRun, StartsAtTheFirstFileThatMayHaveTheRow) {
  const uint64_t seed = test::SeedFromEnv();
  SCOPED_TRACE("ROWBLOOM_SEED=" + std::to_string(seed));
  Random random(seed);
  for (int round = 0; round < 2'000; ++round) {
    const std::string shared = RandomBytes(&random, 10);
    std::set<std::string> keys;
    for (uint64_t n = 2 + random.Below(20); n > 0; --n) {
      keys.insert(shared + RandomBytes(&random, random.OneIn(2) ? 3 : 12));
    }
    std::vector<ListedFile> files;
    for (const std::string& key : keys) {
      files.push_back({.low = key, .high = key});
    }
    std::vector<const ListedFile*> in_order;
    for (const ListedFile& file : files) in_order.push_back(&file);
    const FileRun run(in_order);
    for (int i = 0; i < 50; ++i) {
      std::string row = random.OneIn(4) ? RandomBytes(&random, 10) : shared;
      if (row == shared) row += RandomBytes(&random, 12);
      if (random.OneIn(4)) row = files[random.Below(files.size())].high;
      if (random.OneIn(8)) row.resize(row.size() / 2);
      const auto expected = std::ranges::find_if(
          in_order, [&row](const auto* file) { return file->high >= row; });
      const auto found = run.From(row);
      ASSERT_EQ(found.size(), static_cast<size_t>(in_order.end() - expected));
      if (!found.empty()) {
        ASSERT_EQ(found[0], *expected);
      }
    }
  }
}

}  // namespace
}  // namespace rowbloom::front_filter

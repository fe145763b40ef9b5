// Serialized filters that earlier states of this code wrote.
#include "tests/golden/golden.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/golden/expect_built.h"
#include "tests/golden/serialized_filters.h"
#include "tests/support/files.h"
#include "tests/support/temp_dir.h"

namespace rowbloom {
namespace {

using golden::Lines;

constexpr char kKind[] = "serialized_filters";

TEST(GoldenSerializedFilters, AnswerAsWhenTheyWereWritten) {
  size_t filters = 0;
  for (const std::string& archive : golden::Archives(kKind)) {
    SCOPED_TRACE(archive);
    const test::TempDir dir;
    const std::string path = golden::Unpack(archive, dir.path());
    const Lines lines = golden::ReadLines(archive + ".keys.txt");
    Lines keys;
    for (const std::string& line : golden::LinesOf(lines, "key")) {
      keys.push_back(golden::Unhex(golden::Words(line)[1]));
    }
    for (const std::string& line : golden::LinesOf(lines, "filter")) {
      SCOPED_TRACE(line);
      const Lines words = golden::Words(line);
      const std::string bytes = test::ReadFile(path + "/" + words[1]);
      const golden::ReadFilter filter =
          golden::ReadSerialized(words[2], bytes, golden::SecretOf(words[3]));
      for (const std::string& key : keys) {
        ASSERT_TRUE(filter.contains(key)) << golden::Hex(key);
      }
      EXPECT_EQ(std::to_string(golden::FalsePositives(filter)), words[4]);
      EXPECT_TRUE(filter.written == bytes);
      ++filters;
    }
  }
  EXPECT_GE(filters, 24u) << "those of folder 7";
}

// A change that gives other bytes comes with a new folder.
TEST(GoldenSerializedFilters, AreBuiltByteForByteAsInTheNewestFolder) {
  golden::ExpectAsInTheNewestFolder(kKind, golden::BuildSerializedFilters());
}

}  // namespace
}  // namespace rowbloom

// The classic filter against what Guava wrote, and against Guava itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lib/bytes/integers.h"
#include "lib/standalone/key_hash.h"
#include "rowbloom/classic_bloom_filter.h"
#include "tests/support/data.h"
#include "tests/support/files.h"
#include "tests/support/hex.h"
#include "tests/support/jvm.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"

namespace rowbloom {
namespace {

using test::FromHex;

ClassicStrategy StrategyNamed(const std::string& name) {
  const auto strategy = name == "MURMUR128_MITZ_32"
                            ? ClassicStrategy::kMurmur128Mitz32
                            : ClassicStrategy::kMurmur128Mitz64;
  EXPECT_EQ(ToString(strategy), name);
  return strategy;
}

class GuavaVectors : public testing::Test {
 protected:
  void SetUp() override {
    std::ifstream in(test::DataPath("guava_vectors.json"));
    vectors_ = nlohmann::json::parse(in);
  }

  nlohmann::json vectors_;
};

TEST_F(GuavaVectors, HashesAreGuavas) {
  const auto& cases = vectors_.at("murmur3_128");
  EXPECT_EQ(cases.size(), 41u);
  for (const auto& c : cases) {
    const std::string hash = FromHex(c.at("hash_hex"));
    const Hash128 ours = Murmur3(FromHex(c.at("input_hex")));
    EXPECT_EQ(ours.low, LoadWord(hash.data())) << c;
    EXPECT_EQ(ours.high, LoadWord(hash.data() + 8)) << c;
  }
}

TEST_F(GuavaVectors, SizesAreGuavas) {
  const auto& cases = vectors_.at("optimal");
  EXPECT_EQ(cases.size(), 30u);
  for (const auto& c : cases) {
    const uint64_t bits =
        ClassicBloomFilter::OptimalBits(c.at("n"), c.at("fpp"));
    EXPECT_EQ(bits, c.at("bits")) << c;
    EXPECT_EQ(ClassicBloomFilter::OptimalHashes(c.at("n"), bits),
              c.at("hashes"))
        << c;
  }
}

TEST_F(GuavaVectors, FiltersAreGuavasByteForByte) {
  const auto& cases = vectors_.at("filters");
  EXPECT_EQ(cases.size(), 7u);
  for (const auto& c : cases) {
    const uint64_t count = c.at("expected_insertions");
    const uint64_t offset = c.at("stride_offset");
    const std::string serialized = FromHex(c.at("serialized_hex"));
    auto filter = ClassicBloomFilter::Create(count, c.at("fpp"),
                                             StrategyNamed(c.at("strategy")));
    ASSERT_TRUE(filter) << filter.error();
    for (uint64_t i = 0; i < count; ++i) {
      filter->Put("user_" + std::to_string(i * 7 + offset));
    }
    EXPECT_EQ(*filter->Serialize(), serialized) << c.at("strategy");
    const auto parsed = ClassicBloomFilter::Parse(serialized);
    ASSERT_TRUE(parsed) << parsed.error();
    EXPECT_EQ(*parsed->Serialize(), serialized);

    const auto& expected = c.at("first_absent_false_positives");
    auto found = nlohmann::json::array();
    for (uint64_t i = 0; i < c.at("absent_scan_limit"); ++i) {
      if (found.size() < 50 &&
          parsed->MightContain("absent_" + std::to_string(i))) {
        found.push_back(i);
      }
    }
    EXPECT_EQ(found, expected);
  }
}

// Guava reads three filters of ours and writes what it finds in them, with
// keys of its own added.
TEST(GuavaLive, EachSideReadsTheOthersFilters) {
  ROWBLOOM_SKIP_WITHOUT_JVM();
  const uint64_t seed = test::SeedFromEnv();
  const test::TempDir dir;
  std::vector<std::string> arguments = {std::to_string(seed)};
  constexpr uint64_t kKeys = 1000;
  constexpr uint64_t kCounts[] = {1, 37, kKeys};
  for (const uint64_t count : kCounts) {
    auto filter = ClassicBloomFilter::Create(count, 0.02);
    ASSERT_TRUE(filter);
    for (uint64_t i = 0; i < count; ++i) {
      filter->Put("ours_" + std::to_string(seed + i));
    }
    const std::string path = dir.File(std::to_string(count));
    test::WriteFile(path, *filter->Serialize());
    arguments.push_back(path);
    arguments.push_back(std::to_string(count));
  }
  const std::string report =
      test::RunJava("tests/lib/standalone/GuavaPeer.java", arguments);
  std::string expected_report;
  for (const uint64_t count : kCounts) {
    const std::string path = dir.File(std::to_string(count));
    const auto ours = ClassicBloomFilter::Parse(test::ReadFile(path));
    ASSERT_TRUE(ours);
    // Guava must count as many false positives in our filter as we do.
    uint64_t passed = 0;
    for (uint64_t i = 0; i < 10'000; ++i) {
      if (ours->MightContain("absent_" + std::to_string(i))) ++passed;
    }
    expected_report += std::to_string(passed) + " " +
                       std::to_string(ours->ApproximateElementCount()) + "\n";

    const auto theirs =
        ClassicBloomFilter::Parse(test::ReadFile(path + ".guava"));
    ASSERT_TRUE(theirs) << theirs.error();
    // The same from scratch, to the last byte.
    auto again = ClassicBloomFilter::Create(count, 0.02);
    for (uint64_t i = 0; i < count; ++i) {
      again->Put("theirs_" + std::to_string(seed + i));
      EXPECT_TRUE(theirs->MightContain("theirs_" + std::to_string(seed + i)));
    }
    EXPECT_EQ(*theirs->Serialize(), *again->Serialize());
    ASSERT_TRUE(again->PutAll(*ours));
    EXPECT_EQ(test::ReadFile(path + ".both"), *again->Serialize());
  }
  EXPECT_EQ(report, expected_report);
}

}  // namespace
}  // namespace rowbloom

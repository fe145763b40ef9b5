// RocksDB's own filters: what RocksDB's builder makes is decoded, and answers
// each key as RocksDB's reader does.
#include "tools/sst/stock_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "storage/filter_policy/rocksdb_filter_interface.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/random.h"

namespace rowbloom::sst::stock_filter_test {
namespace {

using testing::HasSubstr;

struct Case {
  std::string name;
  StockFilterKind kind;
  double bits_per_key;
};

void PrintTo(const Case& test_case, std::ostream* out) {
  *out << test_case.name;
}

std::shared_ptr<const rocksdb::FilterPolicy> PolicyOf(const Case& test_case) {
  return test_case.kind == StockFilterKind::kRibbon
             ? test::StockRibbon(test_case.bits_per_key)
             : test::StockBloom(test_case.bits_per_key);
}

std::string Build(const Case& test_case, const std::vector<std::string>& keys) {
  rocksdb::BlockBasedTableOptions table;
  table.format_version =
      test_case.kind == StockFilterKind::kLegacyBloom ? 4 : 5;
  const auto policy = PolicyOf(test_case);
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
      policy->GetBuilderWithContext(rocksdb::FilterBuildingContext(table)));
  for (const std::string& key : keys) builder->AddKey(key);
  std::unique_ptr<const char[]> owner;
  return builder->Finish(&owner).ToString();
}

std::unique_ptr<rocksdb::FilterBitsReader> StockReader(
    const std::string& contents) {
  const auto policy = test::StockBloom();
  return std::unique_ptr<rocksdb::FilterBitsReader>(
      policy->GetFilterBitsReader(contents));
}

// A key of `bytes` bytes that no other index has, from eight bytes on.
std::string KeyOf(uint64_t index, size_t bytes) {
  std::string key;
  for (uint64_t i = 0; key.size() < bytes; ++i) {
    key += test::DistinctKey(index, i);
  }
  key.resize(bytes);
  return key;
}

// Lengths that reach every branch of the hash, most of them short.
size_t LengthOf(uint64_t index) {
  return index % 5 == 0 ? 8 + index / 5 % 1300 : 8 + index % 24;
}

class StockFilterOf : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(
    StockFilter, StockFilterOf,
    testing::Values(Case{"Bloom10", StockFilterKind::kBloom, 10},
                    Case{"Bloom3", StockFilterKind::kBloom, 3},
                    Case{"Bloom40", StockFilterKind::kBloom, 40},
                    Case{"Ribbon10", StockFilterKind::kRibbon, 10},
                    Case{"Ribbon16_5", StockFilterKind::kRibbon, 16.5},
                    Case{"Ribbon4", StockFilterKind::kRibbon, 4},
                    Case{"LegacyBloom10", StockFilterKind::kLegacyBloom, 10},
                    Case{"LegacyBloom5", StockFilterKind::kLegacyBloom, 5}),
    [](const auto& tested) { return tested.param.name; });

TEST_P(StockFilterOf, AnswersAsRocksDbDoes) {
  const uint64_t count = test::Scaled(50'000);
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < count; ++i) keys.push_back(KeyOf(i, LengthOf(i)));
  const std::string contents = Build(GetParam(), keys);
  const StockFilter filter = StockFilter::Open(contents);
  ASSERT_EQ(filter.kind(), GetParam().kind) << filter.problem();
  EXPECT_EQ(filter.problem(), "");
  const auto stock = StockReader(contents);
  for (const std::string& key : keys) ASSERT_TRUE(filter.MayMatch(key));
  uint64_t passed = 0;
  for (uint64_t i = count; i < 3 * count; ++i) {
    const std::string key = KeyOf(i, LengthOf(i));
    const bool expected = stock->MayMatch(key);
    ASSERT_EQ(filter.MayMatch(key), expected) << i;
    passed += expected ? 1 : 0;
  }
  // Shorter than eight bytes.
  for (uint64_t i = 0; i < 256; ++i) {
    for (size_t bytes = 0; bytes < 8; ++bytes) {
      const std::string key = KeyOf(i, bytes);
      ASSERT_EQ(filter.MayMatch(key), stock->MayMatch(key)) << bytes;
    }
  }

  // The predicted rate is near the measured one.
  const double rate = static_cast<double>(passed) / (2.0 * count);
  const StockFilter::Estimates estimates = filter.Estimate();
  EXPECT_NEAR(estimates.false_positive_rate, rate,
              0.15 * rate + 40.0 / static_cast<double>(count));
  if (GetParam().kind == StockFilterKind::kRibbon) {
    EXPECT_EQ(estimates.fill_ratio, std::nullopt);
    EXPECT_EQ(estimates.entries, std::nullopt);
    EXPECT_GE(filter.slots(), count);
    EXPECT_LT(filter.slots(), count + count / 5 + 256);
  } else {
    EXPECT_GT(*estimates.fill_ratio, 0.2);
    EXPECT_LT(*estimates.fill_ratio, 0.7);
    EXPECT_NEAR(*estimates.entries, static_cast<double>(count),
                0.03 * static_cast<double>(count) + 20);
    EXPECT_NEAR(8.0 * static_cast<double>(filter.size_bytes()) /
                    static_cast<double>(count),
                GetParam().bits_per_key,
                0.02 * GetParam().bits_per_key + 1024.0 / count);
  }
}

TEST_P(StockFilterOf, SeveralKeysAreAnsweredAsEachByItself) {
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < 2000; ++i) keys.push_back(KeyOf(i, LengthOf(i)));
  const std::string contents = Build(
      GetParam(), std::vector<std::string>(keys.begin(), keys.begin() + 500));
  // The last one with a tail that RocksDB reserves: everything matches.
  for (const std::string& block :
       {contents, std::string(), contents + std::string("\0\0\0\0\0", 5)}) {
    const StockFilter filter = StockFilter::Open(block);
    for (const size_t count : {0, 1, 31, 32, 33, 2000}) {
      const std::vector<std::string_view> asked(keys.begin(),
                                                keys.begin() + count);
      std::array<bool, 2000> may_match{};
      filter.MayMatch(asked, may_match);
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(may_match[i], filter.MayMatch(keys[i])) << i;
      }
    }
  }
}

TEST_P(StockFilterOf, SmallFiltersAnswerAsRocksDbDoes) {
  for (const uint64_t count : {1, 2, 3, 5, 10, 100, 129, 300, 1000, 2000}) {
    SCOPED_TRACE(count);
    std::vector<std::string> keys;
    for (uint64_t i = 0; i < count; ++i) keys.push_back(KeyOf(i, 12));
    const std::string contents = Build(GetParam(), keys);
    const StockFilter filter = StockFilter::Open(contents);
    const auto stock = StockReader(contents);
    EXPECT_EQ(filter.problem(), "");
    for (uint64_t i = 0; i < 2000; ++i) {
      const std::string key = KeyOf(i, 12);
      ASSERT_EQ(filter.MayMatch(key), stock->MayMatch(key)) << i;
    }
  }
}

// Our answers are those of RocksDB's reader, even with a damaged tail.
TEST_P(StockFilterOf, EachTailAnswersAsRocksDbDoes) {
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < 500; ++i) keys.push_back(KeyOf(i, 12));
  const std::string contents = Build(GetParam(), keys);
  for (size_t at = contents.size() - 5; at < contents.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = contents;
      changed[at] = static_cast<char>(byte);
      const StockFilter filter = StockFilter::Open(changed);
      EXPECT_EQ(filter.problem().empty(),
                filter.kind() != StockFilterKind::kReserved);
      // RocksDB reads past the end of some of these.
      if (filter.kind() == StockFilterKind::kReserved) {
        ASSERT_TRUE(filter.MayMatch(KeyOf(480, 12)));
        continue;
      }
      const auto stock = StockReader(changed);
      for (uint64_t i = 0; i < 40; ++i) {
        const std::string key = KeyOf(480 + i, 12);
        ASSERT_EQ(filter.MayMatch(key), stock->MayMatch(key))
            << "byte " << at << " is " << byte;
      }
    }
  }
}

TEST(StockFilter, AnyBytesAreSafe) {
  test::Random random(test::SeedFromEnv());
  for (uint64_t i = 0; i < test::Scaled(20'000); ++i) {
    std::string bytes = random.Bytes(random.Below(200));
    if (bytes.size() > 5) {
      constexpr char kMarkers[] = {'\xff', '\xfe', '\x06', '\0', '\x80'};
      bytes[bytes.size() - 5] = kMarkers[random.Below(5)];
      if (random.OneIn(2)) bytes[bytes.size() - 4] = 0;
      if (random.OneIn(2)) bytes[bytes.size() - 2] = 0;
      if (random.OneIn(2)) bytes[bytes.size() - 1] = 0;
    }
    const StockFilter filter = StockFilter::Open(bytes);
    const bool match = filter.MayMatch(KeyOf(i, i % 20));
    if (filter.kind() == StockFilterKind::kReserved) {
      EXPECT_TRUE(match);
      EXPECT_NE(filter.problem(), "");
    }
    if (filter.kind() == StockFilterKind::kNoKeys) {
      EXPECT_FALSE(match);
    }
    const StockFilter::Estimates estimates = filter.Estimate();
    EXPECT_GE(estimates.false_positive_rate, 0);
    EXPECT_LE(estimates.false_positive_rate, 1);
    if (estimates.fill_ratio) {
      EXPECT_GE(*estimates.fill_ratio, 0);
      EXPECT_LE(*estimates.fill_ratio, 1);
      EXPECT_GE(*estimates.entries, 0);
    }
  }
}

// RocksDB passes an empty block, as of a partition without entries, to no
// reader: everything matches.
TEST(StockFilter, OfTheShortestBlocksOnlyAnEmptyOneMatches) {
  for (size_t bytes = 0; bytes <= 5; ++bytes) {
    SCOPED_TRACE(bytes);
    const std::string contents(bytes, '\x06');
    const StockFilter filter = StockFilter::Open(contents);
    EXPECT_EQ(filter.kind(), bytes == 0 ? StockFilterKind::kReserved
                                        : StockFilterKind::kNoKeys);
    EXPECT_EQ(filter.MayMatch("key"), bytes == 0);
  }
}

TEST(StockFilter, SaysWhatIsWrong) {
  const auto problem = [](const std::string& tail) {
    return StockFilter::Open(std::string(64, 'x') + tail).problem();
  };
  EXPECT_THAT(problem(std::string("\x9c\0\0\0\0", 5)),
              HasSubstr("expected, found -100"));
  EXPECT_THAT(problem(std::string("\xff\x01\x06\0\0", 5)),
              HasSubstr("expected implementation"));
  EXPECT_THAT(problem(std::string("\xff\0\0\0\0", 5)), HasSubstr("0 probes"));
  EXPECT_THAT(problem(std::string("\xfe\0\x01\0\0", 5)),
              HasSubstr("Ribbon of 1 blocks"));
  EXPECT_THAT(
      problem(std::string("\xfe\0\x05\0\0", 5)),
      HasSubstr("Ribbon of 64 bytes in 5 blocks, expected at least 80"));
  EXPECT_THAT(problem(std::string("\x06\x03\0\0\0", 5)), HasSubstr("3 lines"));
}

}  // namespace
}  // namespace rowbloom::sst::stock_filter_test

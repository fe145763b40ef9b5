#include "rowbloom/counting_bloom_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/lib/standalone/serialized.h"
#include "tests/support/random.h"

namespace rowbloom::counting_bloom_filter_test {
namespace {

using test::DistinctKey;
using test::Random;
using test::SeedFromEnv;
using testing::HasSubstr;

CountingBloomFilter Make(
    uint64_t keys, double rate,
    const std::optional<FilterSecret>& secret = std::nullopt) {
  return test::Made(CountingBloomFilter::Create(keys, rate, secret));
}

CountingBloomFilter Reread(
    const CountingBloomFilter& filter,
    const std::optional<FilterSecret>& secret = std::nullopt) {
  CountingBloomFilter parsed = test::Reread(filter, secret);
  EXPECT_EQ(parsed.stuck_counters(), filter.stuck_counters());
  EXPECT_EQ(parsed.keys(), filter.keys());
  return parsed;
}

// 9.59 places for a key, each of half a byte.
TEST(CountingBloomFilter, TakesFourBitsForEachOfAPlainFilter) {
  EXPECT_EQ(Make(1'000'000, 0.01).size_bytes(), 4'796'480u);
}

TEST(CountingBloomFilter, NeverForgetsWhatWasAdded) {
  const uint64_t seed = SeedFromEnv();
  Random random(seed);
  // Half of the keys are in on average, some of them up to 8 times.
  constexpr uint64_t kKeySpace = 4000;
  CountingBloomFilter filter = Make(kKeySpace, 0.01);
  std::vector<int> model(kKeySpace);
  uint64_t present = 0;
  uint64_t refused = 0;
  const uint64_t operations = test::Scaled(1'000'000);
  for (uint64_t i = 0; i < operations; ++i) {
    const uint64_t index = random.Below(kKeySpace);
    const std::string key = DistinctKey(index, seed);
    int& count = model[index];
    if (random.OneIn(2) && count < 8) {
      filter.Add(key);
      ++count;
      ++present;
    } else if (count > 0) {
      ASSERT_TRUE(filter.Remove(key));
      --count;
      --present;
    } else if (!filter.Contains(key)) {
      ASSERT_FALSE(filter.Remove(key));
      ++refused;
    }
    const uint64_t other = random.Below(kKeySpace);
    if (model[other] > 0) {
      ASSERT_TRUE(filter.Contains(DistinctKey(other, seed)));
    }
    ASSERT_EQ(filter.keys(), present);
    if (random.OneIn(100'000)) filter = Reread(filter);
  }
  EXPECT_GT(refused, operations / 1000);
  for (uint64_t index = 0; index < kKeySpace; ++index) {
    for (; model[index] > 0; --model[index]) {
      ASSERT_TRUE(filter.Remove(DistinctKey(index, seed)));
    }
  }
  EXPECT_EQ(filter.keys(), 0u);
}

TEST(CountingBloomFilter, EmptiesToTheLastCounter) {
  CountingBloomFilter filter = Make(1000, 0.01, test::Secret(1));
  const std::string empty = filter.Serialize();
  for (uint64_t i = 0; i < 1000; ++i) filter.Add(DistinctKey(i));
  ASSERT_EQ(filter.stuck_counters(), 0u);
  EXPECT_NE(filter.Serialize(), empty);
  for (uint64_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(filter.Remove(DistinctKey(i)));
  }
  EXPECT_EQ(filter.Serialize(), empty);
}

TEST(CountingBloomFilter, KeepsItsRate) {
  const uint64_t seed = SeedFromEnv();
  constexpr uint64_t kAbsent = 400'000;
  for (const auto& [keys, rate] :
       {std::pair(uint64_t{100}, 0.1), {20'000, 0.01}, {20'000, 0.001}}) {
    CountingBloomFilter filter = Make(keys, rate);
    // As many keys again are added and removed.
    for (uint64_t i = 0; i < 2 * keys; ++i) filter.Add(DistinctKey(i, seed));
    for (uint64_t i = keys; i < 2 * keys; ++i) {
      ASSERT_TRUE(filter.Remove(DistinctKey(i, seed)));
    }
    uint64_t passed = 0;
    for (uint64_t i = keys; i < keys + kAbsent; ++i) {
      if (filter.Contains(DistinctKey(i, seed))) ++passed;
    }
    EXPECT_LE(filter.ExpectedRate(), rate);
    // The number of bits that are set varies in small filters.
    const double slack = keys < 1000 ? 0.4 : 0.03;
    EXPECT_NEAR(static_cast<double>(passed), rate * kAbsent,
                5 * std::sqrt(rate * kAbsent) + slack * rate * kAbsent)
        << keys << " keys at " << rate;
  }
}

// With several times the keys that it was made for, so that there is something
// to count: never more than the bound of Fan et al., and as many as the Poisson
// distribution of the counts has.
TEST(CountingBloomFilter, CountersStickAsOftenAsTheySay) {
  const uint64_t seed = SeedFromEnv();
  constexpr uint64_t kExpected = 100'000;
  constexpr int kMax = CountingBloomFilter::kMaxCount;
  CountingBloomFilter filter = Make(kExpected, 0.01);
  const auto counters = static_cast<double>(filter.counters());
  uint64_t added = 0;
  double last_expected = 0;
  for (const uint64_t factor : {1, 3, 5, 6, 7}) {
    for (; added < factor * kExpected; ++added) {
      filter.Add(DistinctKey(added, seed));
    }
    const double mean = static_cast<double>(added) * filter.hashes() / counters;
    const double bound = std::pow(std::exp(1.0) * mean / kMax, kMax);
    double share = 0;  // P(count >= kMax)
    for (int count = kMax; count < kMax + 60; ++count) {
      share +=
          std::exp(-mean + count * std::log(mean) - std::lgamma(count + 1));
    }
    const auto stuck = static_cast<double>(filter.stuck_counters());
    last_expected = share * counters;
    EXPECT_LE(stuck, bound * counters + 0.5) << factor;
    EXPECT_NEAR(stuck, last_expected, 5 * std::sqrt(last_expected) + 1)
        << factor;
  }
  EXPECT_GT(last_expected, 50);  // there was something to see
  // Those keys are in for good; no other key is lost.
  for (uint64_t i = kExpected; i < added; ++i) {
    ASSERT_TRUE(filter.Remove(DistinctKey(i, seed)));
  }
  for (uint64_t i = 0; i < kExpected; ++i) {
    ASSERT_TRUE(filter.Contains(DistinctKey(i, seed)));
  }
  EXPECT_GT(filter.stuck_counters(), 0u);
  Reread(filter);
}

TEST(CountingBloomFilter, OneKeyManyTimesSticks) {
  CountingBloomFilter filter = Make(100, 0.01);
  for (int i = 0; i < 100; ++i) filter.Add("often");
  EXPECT_EQ(filter.keys(), 100u);
  EXPECT_GT(filter.stuck_counters(), 0u);
  EXPECT_LE(filter.stuck_counters(), static_cast<uint64_t>(filter.hashes()));
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(filter.Remove("often"));
  EXPECT_TRUE(filter.Contains("often"));
  EXPECT_EQ(filter.keys(), 0u);
}

TEST(CountingBloomFilter, CreateNamesWhatIsWrong) {
  EXPECT_THAT(CountingBloomFilter::Create(10, 0).error(),
              HasSubstr("false positive rate 0,"));
  EXPECT_THAT(CountingBloomFilter::Create(uint64_t{1} << 60, 0.01).error(),
              HasSubstr("places"));
}

TEST(CountingBloomFilter, SerializedFormRefusesDamage) {
  const auto parse = test::ParseOf<CountingBloomFilter>();
  CountingBloomFilter filter = Make(3, 0.03);
  filter.Add("a");
  test::ExpectDamageIsRefused(filter.Serialize(), parse);
  CountingBloomFilter keyed = Make(3, 0.03, test::Secret(1));
  keyed.Add("a");
  test::ExpectTheSecretIsAsked(keyed.Serialize(), parse);
  EXPECT_TRUE(Reread(keyed, test::Secret(1)).Contains("a"));
}

}  // namespace
}  // namespace rowbloom::counting_bloom_filter_test

#include "rowbloom/classic_bloom_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "rowbloom/filter_form.h"
#include "tests/lib/standalone/serialized.h"
#include "tests/support/random.h"

namespace rowbloom::classic_bloom_filter_test {
namespace {

using namespace std::string_literals;
using test::DistinctKey;
using test::SeedFromEnv;
using testing::HasSubstr;

ClassicBloomFilter Make(
    uint64_t count, double rate,
    ClassicStrategy strategy = ClassicStrategy::kMurmur128Mitz64,
    const std::optional<FilterSecret>& secret = std::nullopt) {
  return test::Made(ClassicBloomFilter::Create(count, rate, strategy, secret));
}

TEST(ClassicBloomFilter, HasWhatWasPutAndKeepsItsRate) {
  const uint64_t seed = SeedFromEnv();
  constexpr uint64_t kKeys = 50'000;
  constexpr uint64_t kAbsent = 500'000;
  for (const auto& secret :
       {std::optional<FilterSecret>(), std::optional(test::Secret(1))}) {
    for (const auto strategy : {ClassicStrategy::kMurmur128Mitz32,
                                ClassicStrategy::kMurmur128Mitz64}) {
      ClassicBloomFilter filter = Make(kKeys, 0.01, strategy, secret);
      uint64_t changed = 0;
      for (uint64_t i = 0; i < kKeys; ++i) {
        if (filter.Put(DistinctKey(i, seed))) ++changed;
      }
      for (uint64_t i = 0; i < kKeys; ++i) {
        ASSERT_TRUE(filter.MightContain(DistinctKey(i, seed)));
        ASSERT_FALSE(filter.Put(DistinctKey(i, seed)));
      }
      EXPECT_GT(changed, kKeys * 99 / 100);
      EXPECT_LT(changed, kKeys);
      uint64_t passed = 0;
      for (uint64_t i = kKeys; i < kKeys + kAbsent; ++i) {
        if (filter.MightContain(DistinctKey(i, seed))) ++passed;
      }
      const double deviation = std::sqrt(0.01 * kAbsent);
      EXPECT_NEAR(static_cast<double>(passed), filter.ExpectedFpp() * kAbsent,
                  5 * deviation);
      EXPECT_NEAR(filter.ExpectedFpp(), 0.01, 0.0005);
      EXPECT_NEAR(static_cast<double>(filter.ApproximateElementCount()), kKeys,
                  kKeys * 0.01);
    }
  }
}

TEST(ClassicBloomFilter, EmptyHasNothingAndFullEverything) {
  ClassicBloomFilter filter = Make(0, 0.03);
  EXPECT_EQ(filter.bits(), 64u);
  EXPECT_FALSE(filter.MightContain(""));
  EXPECT_EQ(filter.ExpectedFpp(), 0);
  EXPECT_EQ(filter.ApproximateElementCount(), 0u);
  EXPECT_TRUE(filter.Put(""));
  EXPECT_TRUE(filter.MightContain(""));
  for (int i = 0; i < 1000; ++i) filter.Put(std::to_string(i));
  EXPECT_EQ(filter.ExpectedFpp(), 1);
  EXPECT_TRUE(filter.MightContain("anything"));
  EXPECT_EQ(filter.ApproximateElementCount(),
            std::numeric_limits<uint64_t>::max());
}

// Either of two threads may see a bit change, and a late key may find all of
// its bits set.
TEST(ClassicBloomFilter, ManyThreadsPutWithoutLosses) {
  constexpr uint64_t kThreads = 4;
  const uint64_t keys_each = test::Scaled(20'000);
  ClassicBloomFilter together = Make(kThreads * keys_each, 0.01);
  std::atomic<uint64_t> changed = 0;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      // Each key by two threads.
      for (uint64_t i = 0; i < 2 * keys_each; ++i) {
        const uint64_t key = (t * keys_each + i) % (kThreads * keys_each);
        if (together.Put(DistinctKey(key))) ++changed;
        EXPECT_TRUE(together.MightContain(DistinctKey(key)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ClassicBloomFilter alone = Make(kThreads * keys_each, 0.01);
  uint64_t changed_alone = 0;
  for (uint64_t i = 0; i < kThreads * keys_each; ++i) {
    if (alone.Put(DistinctKey(i))) ++changed_alone;
  }
  EXPECT_EQ(*together.Serialize(), *alone.Serialize());
  EXPECT_GE(changed, changed_alone * 98 / 100);
}

TEST(ClassicBloomFilter, PutAllIsTheUnion) {
  ClassicBloomFilter a = Make(100, 0.01);
  ClassicBloomFilter b = Make(100, 0.01);
  ClassicBloomFilter both = Make(100, 0.01);
  for (uint64_t i = 0; i < 100; ++i) {
    (i % 2 == 0 ? a : b).Put(DistinctKey(i));
    both.Put(DistinctKey(i));
  }
  EXPECT_TRUE(a.PutAll(b));
  EXPECT_EQ(*a.Serialize(), *both.Serialize());
}

TEST(ClassicBloomFilter, PutAllRefusesWhatIsNotAlike) {
  const auto kMitz64 = ClassicStrategy::kMurmur128Mitz64;
  ClassicBloomFilter filter = Make(100, 0.01);
  filter.Put("a");
  const std::string before = *filter.Serialize();
  const ClassicBloomFilter others[] = {
      Make(200, 0.01), Make(100, 0.001),
      Make(100, 0.01, ClassicStrategy::kMurmur128Mitz32),
      Make(100, 0.01, kMitz64, test::Secret(1))};
  for (const ClassicBloomFilter& other : others) {
    EXPECT_FALSE(filter.PutAll(other));
  }
  EXPECT_FALSE(filter.PutAll(filter));
  EXPECT_EQ(*filter.Serialize(), before);
  ClassicBloomFilter keyed = Make(100, 0.01, kMitz64, test::Secret(1));
  EXPECT_FALSE(keyed.PutAll(Make(100, 0.01, kMitz64, test::Secret(2))));
  EXPECT_TRUE(keyed.PutAll(Make(100, 0.01, kMitz64, test::Secret(1))));
}

TEST(ClassicBloomFilter, CreateRefusesWhatGuavaCannotHave) {
  for (const double rate : {0.0, 1.0, -0.5, 2.0, std::nan("")}) {
    EXPECT_THAT(ClassicBloomFilter::Create(10, rate).error(),
                HasSubstr("false positive rate"));
  }
  EXPECT_THAT(ClassicBloomFilter::Create(1, 0.9).error(),
              HasSubstr("a filter of 0 bits"));
  EXPECT_THAT(ClassicBloomFilter::Create(uint64_t{1} << 62, 0.001).error(),
              HasSubstr("2^63 or more bits"));
  EXPECT_THAT(ClassicBloomFilter::Create(uint64_t{1} << 40, 0.01).error(),
              HasSubstr("bits, expected 1 to"));
  EXPECT_THAT(ClassicBloomFilter::Create(10, 1e-100).error(),
              HasSubstr("332 hashes"));
}

// The places of its keys are below 2^31.
TEST(ClassicBloomFilter, CreateRefusesMoreBitsThanMitz32Uses) {
  // 10^9 keys would have 9.6 bits each, of which 2.1 could be set.
  const auto filter = ClassicBloomFilter::Create(
      1'000'000'000, 0.01, ClassicStrategy::kMurmur128Mitz32);
  ASSERT_FALSE(filter.has_value());
  EXPECT_THAT(filter.error(),
              HasSubstr("9585058377 bits, expected 1 to 2147483648"));
}

constexpr std::string_view kKeys[] = {"a", "b", "c"};

TEST(ClassicBloomFilter, ParseRefusesWhatGuavaDoesNotWrite) {
  const auto error = [](const std::string& bytes) {
    const auto filter = ClassicBloomFilter::Parse(bytes);
    return filter ? "none" : filter.error();
  };
  const std::string word(8, '\1');
  EXPECT_EQ(error("\1\5\0\0\0\1"s + word), "none");
  EXPECT_THAT(error(""), HasSubstr("0 bytes"));
  EXPECT_THAT(error("\1\5\0\0\0"s), HasSubstr("5 bytes"));
  EXPECT_THAT(error("\2\5\0\0\0\1"s + word), HasSubstr("unknown strategy 2"));
  EXPECT_THAT(error("\1\0\0\0\0\1"s + word), HasSubstr("no hashes"));
  EXPECT_THAT(error("\1\5\0\0\0\0"s), HasSubstr("0 words"));
  EXPECT_THAT(error("\1\5\xff\xff\xff\xff"s + word),
              HasSubstr("4294967295 words"));
  EXPECT_THAT(error("\1\5\x7f\xff\xff\xff"s + word),
              HasSubstr("expected 17179869182 for"));
  EXPECT_THAT(error("\1\5\0\0\0\1"s + word + "x"), HasSubstr("15 bytes"));
  EXPECT_THAT(error("\1\5\0\0\0\2"s + word), HasSubstr("expected 22"));
  // All hashes that fit Guava's unsigned byte.
  const auto many = ClassicBloomFilter::Parse("\0\xff\0\0\0\1"s + word);
  ASSERT_TRUE(many);
  EXPECT_EQ(many->hashes(), 255);
}

TEST(ClassicBloomFilter, CheckedFormKeepsEverything) {
  for (const auto& secret :
       {std::optional<FilterSecret>(), std::optional(test::Secret(1))}) {
    ClassicBloomFilter filter =
        Make(3, 0.03, ClassicStrategy::kMurmur128Mitz32, secret);
    for (const std::string_view key : kKeys) filter.Put(key);
    const std::string bytes = filter.SerializeChecked();
    auto parsed = ClassicBloomFilter::ParseChecked(bytes, secret);
    ASSERT_TRUE(parsed) << parsed.error();
    EXPECT_EQ(parsed->SerializeChecked(), bytes);
    EXPECT_EQ(parsed->has_secret(), secret.has_value());
    for (const std::string_view key : kKeys) {
      EXPECT_TRUE(parsed->MightContain(key));
    }
    EXPECT_TRUE(parsed->PutAll(filter));
    EXPECT_EQ(*IdentifyFilter(bytes), FilterForm::kClassic);
    EXPECT_EQ(filter.Serialize().has_value(), !secret.has_value());
  }
}

TEST(ClassicBloomFilter, CheckedFormRefusesDamage) {
  const auto parse = [](std::string_view bytes,
                        const std::optional<FilterSecret>& secret) {
    return ClassicBloomFilter::ParseChecked(bytes, secret);
  };
  ClassicBloomFilter filter = Make(3, 0.03);
  filter.Put("a");
  test::ExpectDamageIsRefused(filter.SerializeChecked(), parse);
  ClassicBloomFilter keyed =
      Make(3, 0.03, ClassicStrategy::kMurmur128Mitz64, test::Secret(1));
  keyed.Put("a");
  test::ExpectTheSecretIsAsked(keyed.SerializeChecked(), parse);
}

TEST(FilterForm, OfGuavaIsKnownByItsHeadAndLength) {
  const std::string bytes = *Make(1000, 0.01).Serialize();
  EXPECT_EQ(*IdentifyFilter(bytes), FilterForm::kGuava);
  EXPECT_EQ(ToString(FilterForm::kGuava), "guava");
  EXPECT_THAT(IdentifyFilter(bytes + "x").error(),
              HasSubstr("not a serialized filter"));
  EXPECT_FALSE(IdentifyFilter(""));
  EXPECT_FALSE(IdentifyFilter("ROWBFLTR"));
}

}  // namespace
}  // namespace rowbloom::classic_bloom_filter_test

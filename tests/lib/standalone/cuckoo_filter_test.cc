#include "rowbloom/cuckoo_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/bytes/integers.h"
#include "lib/standalone/frame.h"
#include "tests/lib/standalone/serialized.h"
#include "tests/support/random.h"

namespace rowbloom::cuckoo_filter_test {
namespace {

using test::DistinctKey;
using test::Random;
using test::SeedFromEnv;
using testing::HasSubstr;
using Outcome = CuckooFilter::AddOutcome;

CuckooFilter Make(uint64_t capacity, double rate,
                  const std::optional<FilterSecret>& secret = std::nullopt) {
  return test::Made(CuckooFilter::Create(capacity, rate, secret));
}

CuckooFilter Reread(const CuckooFilter& filter,
                    const std::optional<FilterSecret>& secret = std::nullopt) {
  CuckooFilter parsed = test::Reread(filter, secret);
  EXPECT_EQ(parsed.keys(), filter.keys());
  return parsed;
}

// The filter holds its keys at every size and width of fingerprints.
TEST(CuckooFilter, TakesTheKeysThatItWasMadeFor) {
  const uint64_t seed = SeedFromEnv();
  for (const double rate : {0.5, 0.02, 0.001, 1e-5, 2e-9}) {
    for (const uint64_t capacity :
         {0, 1, 2, 3, 5, 8, 13, 30, 100, 300, 1000, 3000, 10'000, 100'000}) {
      // Small ones vary, so many of them are tried.
      const int rounds = capacity <= 1000 ? 40 : 1;
      for (int round = 0; round < rounds; ++round) {
        CuckooFilter filter = Make(capacity, rate);
        for (uint64_t i = 0; i < capacity; ++i) {
          ASSERT_EQ(filter.Add(DistinctKey(i, seed + round)), Outcome::kAdded)
              << i << " of " << capacity << " at " << rate;
        }
        for (uint64_t i = 0; i < capacity; ++i) {
          ASSERT_TRUE(filter.Contains(DistinctKey(i, seed + round)));
        }
        EXPECT_EQ(filter.keys(), capacity);
        if (capacity >= 100'000) {
          EXPECT_GT(filter.load(), 0.94);
        }
        EXPECT_LE(FalsePositiveRate(filter.shape(), 1), rate);
      }
    }
  }
}

TEST(CuckooFilter, KeepsItsRate) {
  const uint64_t seed = SeedFromEnv();
  constexpr uint64_t kKeys = 50'000;
  constexpr uint64_t kAbsent = 1'000'000;
  for (const auto& secret :
       {std::optional<FilterSecret>(), std::optional(test::Secret(1))}) {
    for (const double rate : {0.04, 0.01, 0.001}) {
      CuckooFilter filter = Make(kKeys, rate, secret);
      for (uint64_t i = 0; i < kKeys; ++i) {
        ASSERT_EQ(filter.Add(DistinctKey(i, seed)), Outcome::kAdded);
      }
      uint64_t passed = 0;
      for (uint64_t i = kKeys; i < kKeys + kAbsent; ++i) {
        if (filter.Contains(DistinctKey(i, seed))) ++passed;
      }
      const double expected = filter.ExpectedRate() * kAbsent;
      const double deviation = std::sqrt(expected);
      EXPECT_LE(filter.ExpectedRate(), rate);
      EXPECT_NEAR(static_cast<double>(passed), expected,
                  5 * deviation + 0.02 * expected)
          << rate;
      EXPECT_LE(static_cast<double>(passed), rate * kAbsent + 3 * deviation);
    }
  }
}

// It fills beyond 95 %, says when it can no more, and is then as it was.
TEST(CuckooFilter, FullLosesNothing) {
  const uint64_t seed = SeedFromEnv();
  for (const double rate : {0.03, 0.001}) {
    CuckooFilter filter = Make(20'000, rate);
    uint64_t added = 0;
    uint64_t refused = 0;
    std::vector<uint64_t> members;
    for (uint64_t i = 0; refused < 200; ++i) {
      const bool at_first_refusal = refused == 0;
      const std::string before = refused < 3 ? filter.Serialize() : "";
      if (filter.Add(DistinctKey(i, seed)) == Outcome::kAdded) {
        ++added;
        members.push_back(i);
        continue;
      }
      ++refused;
      if (at_first_refusal) {
        EXPECT_GT(filter.load(), 0.95);
      }
      if (!before.empty()) {
        ASSERT_EQ(filter.Serialize(), before);
      }
    }
    EXPECT_EQ(filter.keys(), added);
    EXPECT_LE(filter.keys(), filter.slots());
    for (const uint64_t i : members) {
      ASSERT_TRUE(filter.Contains(DistinctKey(i, seed)));
    }
    for (const uint64_t i : members) {
      ASSERT_TRUE(filter.Remove(DistinctKey(i, seed)));
    }
    EXPECT_EQ(filter.keys(), 0u);
    EXPECT_EQ(filter.Serialize(), Make(20'000, rate).Serialize());
  }
}

TEST(CuckooFilter, NeverForgetsWhatWasAdded) {
  const uint64_t seed = SeedFromEnv();
  Random random(seed);
  constexpr uint64_t kKeySpace = 4000;
  CuckooFilter filter = Make(2200, 0.01);
  std::vector<int> model(kKeySpace);
  uint64_t present = 0;
  uint64_t full = 0;
  uint64_t removed = 0;
  const uint64_t operations = test::Scaled(200'000);
  for (uint64_t i = 0; i < operations; ++i) {
    const uint64_t index = random.Below(kKeySpace);
    const std::string key = DistinctKey(index, seed);
    int& count = model[index];
    if (!random.OneIn(3) && count < 2) {
      if (filter.Add(key) == Outcome::kAdded) {
        ++count;
        ++present;
      } else {
        ++full;
      }
    } else if (count > 0) {
      ASSERT_TRUE(filter.Remove(key));
      --count;
      --present;
      ++removed;
    }
    const uint64_t other = random.Below(kKeySpace);
    if (model[other] > 0) {
      ASSERT_TRUE(filter.Contains(DistinctKey(other, seed)));
    }
    ASSERT_EQ(filter.keys(), present);
    if (random.OneIn(50'000)) filter = Reread(filter);
  }
  EXPECT_GT(full, 0u);  // the walk was made and gone back
  EXPECT_GT(removed, operations / 20);
}

TEST(CuckooFilter, OneKeyEightTimesFillsItsBuckets) {
  CuckooFilter filter = Make(1000, 0.01);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(filter.Add("a"), Outcome::kAdded);
  EXPECT_EQ(filter.Add("a"), Outcome::kFull);
  EXPECT_EQ(filter.keys(), 8u);
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(filter.Remove("a"));
  EXPECT_FALSE(filter.Contains("a"));
  EXPECT_FALSE(filter.Remove("a"));
}

TEST(CuckooFilter, ShapeFollowsFromTheRate) {
  EXPECT_EQ(CuckooShapeFor(1000, 0.9)->fingerprint_bits, 8);
  EXPECT_EQ(CuckooShapeFor(1000, 0.031)->fingerprint_bits, 8);
  EXPECT_EQ(CuckooShapeFor(1000, 0.030)->fingerprint_bits, 9);
  EXPECT_EQ(CuckooShapeFor(1000, 0.01)->fingerprint_bits, 10);
  EXPECT_EQ(CuckooShapeFor(1000, 1.9e-9)->fingerprint_bits, 32);
  // 10 bits at 95 %.
  const CuckooFilter filter = Make(1'000'000, 0.01);
  EXPECT_NEAR(static_cast<double>(filter.size_bytes()) * 8 / 1e6, 10.53, 0.01);
}

TEST(CuckooFilter, CreateNamesWhatIsWrong) {
  for (const double rate : {1.0, std::nan("")}) {
    EXPECT_THAT(CuckooFilter::Create(10, rate).error(),
                HasSubstr("expected one below 1"));
  }
  for (const double rate : {0.0, -1.0, 1e-9}) {
    EXPECT_THAT(CuckooFilter::Create(10, rate).error(),
                HasSubstr("expected at least 1.9e-9"));
  }
  EXPECT_THAT(CuckooFilter::Create(uint64_t{1} << 60, 0.01).error(),
              HasSubstr("slots"));
}

TEST(CuckooFilter, SerializedFormRefusesDamage) {
  const auto parse = test::ParseOf<CuckooFilter>();
  CuckooFilter filter = Make(3, 0.03);
  EXPECT_EQ(filter.Add("a"), Outcome::kAdded);
  test::ExpectDamageIsRefused(filter.Serialize(), parse);
  CuckooFilter keyed = Make(3, 0.03, test::Secret(1));
  EXPECT_EQ(keyed.Add("a"), Outcome::kAdded);
  test::ExpectTheSecretIsAsked(keyed.Serialize(), parse);
  EXPECT_TRUE(Reread(keyed, test::Secret(1)).Contains("a"));
}

// Bytes with a right checksum that no filter writes.
TEST(CuckooFilter, ParseRefusesNumbersThatDoNotGoTogether) {
  const auto error = [](uint64_t bits, uint64_t buckets, uint64_t keys,
                        const std::string& slots) {
    std::string out =
        frame::Begin(FilterForm::kCuckoo, std::nullopt, 17 + slots.size());
    PutFixed(&out, bits, 1);
    PutFixed(&out, buckets, 8);
    PutFixed(&out, keys, 8);
    out.append(slots);
    const auto filter = CuckooFilter::Parse(frame::Finish(out));
    return filter ? "none" : filter.error();
  };
  const std::string four("\1\0\0\2", 4);
  EXPECT_EQ(error(8, 1, 2, four), "none");
  EXPECT_THAT(error(8, 1, 1, four), HasSubstr("1 keys, found 2"));
  EXPECT_THAT(error(7, 1, 2, four), HasSubstr("fingerprints of 7 bits"));
  EXPECT_THAT(error(33, 1, 2, four), HasSubstr("fingerprints of 33 bits"));
  EXPECT_THAT(error(8, 0, 0, four), HasSubstr("0 buckets"));
  EXPECT_THAT(error(8, 2, 2, four), HasSubstr("expected 8 bytes, found 4"));
  EXPECT_THAT(error(8, uint64_t{1} << 63, 2, four), HasSubstr("buckets"));
  EXPECT_THAT(error(8, 1, 2, four + '\0'), HasSubstr("1 bytes too many"));
  // 36 bits in 5 bytes.
  EXPECT_EQ(error(9, 1, 0, std::string(5, '\0')), "none");
  EXPECT_THAT(error(9, 1, 0, std::string(4, '\0') + '\x10'),
              HasSubstr("after the last slot"));
}

}  // namespace
}  // namespace rowbloom::cuckoo_filter_test

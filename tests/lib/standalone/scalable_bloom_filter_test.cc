#include "rowbloom/scalable_bloom_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "lib/bytes/integers.h"
#include "lib/standalone/frame.h"
#include "tests/lib/standalone/serialized.h"
#include "tests/support/random.h"

namespace rowbloom::scalable_bloom_filter_test {
namespace {

using test::DistinctKey;
using test::Random;
using test::Reread;
using test::SeedFromEnv;
using testing::HasSubstr;

ScalableBloomFilter Make(uint64_t capacity, double rate,
                         const ScalableOptions& options = {}) {
  return test::Made(ScalableBloomFilter::Reserve(capacity, rate, options));
}

struct Growth {
  double rate;
  ScalableOptions options;
};

// The filter grows to 1, 10 and 100 times its reserve.
TEST(ScalableBloomFilter, StaysBelowItsRateAsItGrows) {
  const uint64_t seed = SeedFromEnv();
  constexpr uint64_t kCapacity = 1000;
  constexpr uint64_t kAbsent = 200'000;
  constexpr uint64_t kFirstAbsent = uint64_t{1} << 40;
  for (const Growth& growth :
       {Growth{0.01, {}}, Growth{0.1, {}}, Growth{0.001, {.growth = 4}},
        Growth{0.01, {.tightening = 0.85}},
        Growth{0.01, {.secret = test::Secret(1)}}}) {
    ScalableBloomFilter filter = Make(kCapacity, growth.rate, growth.options);
    uint64_t added = 0;
    for (const uint64_t factor : {1, 10, 100}) {
      for (uint64_t new_keys = filter.Info().keys;
           new_keys < factor * kCapacity; ++added) {
        if (filter.Add(DistinctKey(added, seed))) ++new_keys;
      }
      for (uint64_t i = 0; i < added; i += factor) {
        ASSERT_TRUE(filter.Contains(DistinctKey(i, seed)));
      }
      uint64_t passed = 0;
      for (uint64_t i = 0; i < kAbsent; ++i) {
        if (filter.Contains(DistinctKey(kFirstAbsent + i, seed))) ++passed;
      }
      const ScalableInfo info = filter.Info();
      EXPECT_EQ(info.keys, factor * kCapacity);
      EXPECT_GE(info.capacity, info.keys);
      EXPECT_EQ(info.stages == 1, factor == 1);
      EXPECT_LT(info.expected_rate, growth.rate);
      const double measured = static_cast<double>(passed) / kAbsent;
      const double deviation = std::sqrt(growth.rate / kAbsent);
      EXPECT_LT(measured, growth.rate + 3 * deviation);
      // A stage of 1000 keys varies by some per cent.
      EXPECT_NEAR(measured, info.expected_rate,
                  5 * deviation + 0.05 * growth.rate);
    }
  }
}

// The header promises these bits per key.
TEST(ScalableBloomFilter, TakesTheBitsThatItSays) {
  ScalableBloomFilter filter = Make(1000, 0.01);
  uint64_t added = 0;
  const auto bits_per_key = [&](uint64_t keys) {
    for (uint64_t new_keys = filter.Info().keys; new_keys < keys; ++added) {
      if (filter.Add(DistinctKey(added))) ++new_keys;
    }
    const ScalableInfo info = filter.Info();
    return 8.0 * static_cast<double>(info.size_bytes) /
           static_cast<double>(info.keys);
  };
  EXPECT_NEAR(bits_per_key(1000), 11, 0.5);
  EXPECT_NEAR(bits_per_key(1001), 36, 0.5);
  EXPECT_NEAR(bits_per_key(63'001), 37, 0.5);
  EXPECT_NEAR(bits_per_key(127'000), 18, 0.5);
}

TEST(ScalableBloomFilter, AddSaysWhatIsNew) {
  const uint64_t seed = SeedFromEnv();
  Random random(seed);
  ScalableBloomFilter filter = Make(10, 0.001);
  std::set<uint64_t> model;
  uint64_t taken_for_old = 0;
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t index = random.Below(10'000);
    const bool is_new = filter.Add(DistinctKey(index, seed));
    const bool is_new_to_model = model.insert(index).second;
    ASSERT_TRUE(is_new_to_model || !is_new) << "an old key is never new";
    if (is_new_to_model && !is_new) ++taken_for_old;
    if (random.OneIn(4000)) filter = Reread(filter);
  }
  for (const uint64_t index : model) {
    ASSERT_TRUE(filter.Contains(DistinctKey(index, seed)));
  }
  EXPECT_LT(taken_for_old, 40u);
  EXPECT_EQ(filter.Info().keys, model.size() - taken_for_old);
}

TEST(ScalableBloomFilter, ReserveNamesWhatIsWrong) {
  const auto error = [](uint64_t capacity, double rate,
                        const ScalableOptions& options = {}) {
    const auto filter = ScalableBloomFilter::Reserve(capacity, rate, options);
    return filter ? "none" : filter.error();
  };
  EXPECT_EQ(error(0, 0.5), "none");
  EXPECT_THAT(error(1, 0), HasSubstr("false positive rate 0,"));
  EXPECT_THAT(error(1, 1), HasSubstr("false positive rate 1,"));
  EXPECT_THAT(error(1, std::nan("")), HasSubstr("expected one from 1e-09"));
  EXPECT_THAT(error(1, 0.1, {.growth = 1}), HasSubstr("growth 1"));
  EXPECT_THAT(error(1, 0.1, {.growth = 65}), HasSubstr("growth 65"));
  EXPECT_THAT(error(1, 0.1, {.tightening = 1}), HasSubstr("tightening 1"));
  EXPECT_THAT(error(uint64_t{1} << 60, 0.1), HasSubstr("places"));
}

TEST(ScalableBloomFilter, SerializedFormRefusesDamage) {
  const auto parse = test::ParseOf<ScalableBloomFilter>();
  ScalableBloomFilter filter = Make(1, 0.1);
  for (int i = 0; i < 5; ++i) filter.Add(std::to_string(i));
  EXPECT_GT(filter.Info().stages, 1u);
  test::ExpectDamageIsRefused(filter.Serialize(), parse);
  ScalableBloomFilter keyed = Make(1, 0.1, {.secret = test::Secret(1)});
  keyed.Add("a");
  test::ExpectTheSecretIsAsked(keyed.Serialize(), parse);
  EXPECT_FALSE(Reread(keyed, test::Secret(1)).Add("a"));
}

// Bytes with a right checksum that no filter writes: above all such that would
// make the next Add ask for memory out of proportion.
TEST(ScalableBloomFilter, ParseRefusesStagesThatDoNotGoTogether) {
  struct Stage {
    uint64_t capacity = 4;
    uint64_t keys = 4;
    uint64_t bits = 64;
    uint64_t hashes = 4;
    uint64_t words = 1;
  };
  struct Form {
    double rate = 0.2;
    double tightening = 0.5;
    uint64_t growth = 2;
    uint64_t stage_count = 1;
  };
  const auto error = [](const Form& form, const std::vector<Stage>& stages) {
    std::string out = frame::Begin(FilterForm::kScalable, std::nullopt, [&] {
      uint64_t bytes = 24;
      for (const Stage& stage : stages) bytes += 25 + 8 * stage.words;
      return bytes;
    }());
    PutFixed(&out, std::bit_cast<uint64_t>(form.rate), 8);
    PutFixed(&out, std::bit_cast<uint64_t>(form.tightening), 8);
    PutFixed(&out, form.growth, 4);
    PutFixed(&out, form.stage_count, 4);
    for (const Stage& stage : stages) {
      PutFixed(&out, stage.capacity, 8);
      PutFixed(&out, stage.keys, 8);
      PutFixed(&out, stage.bits, 8);
      PutFixed(&out, stage.hashes, 1);
      frame::PutWords(&out, std::vector<uint64_t>(stage.words));
    }
    const auto filter = ScalableBloomFilter::Parse(frame::Finish(out));
    return filter ? "none" : filter.error();
  };
  EXPECT_EQ(error({}, {{}}), "none");
  EXPECT_EQ(error({.stage_count = 2}, {{}, {.keys = 0}}), "none");
  EXPECT_THAT(error({.rate = std::nan("")}, {{}}), HasSubstr("rate"));
  EXPECT_THAT(error({.tightening = -1}, {{}}), HasSubstr("tightening -1"));
  EXPECT_THAT(error({.growth = 0}, {{}}), HasSubstr("growth 0"));
  EXPECT_THAT(error({.stage_count = 0}, {}), HasSubstr("no stages"));
  EXPECT_THAT(error({.stage_count = 0}, {{}}), HasSubstr("no stages"));
  EXPECT_THAT(error({.stage_count = 0xffffffff}, {{}}),
              HasSubstr("stage 1, capacity: expected 8 bytes, found 0"));
  EXPECT_THAT(error({}, {{}, {}}), HasSubstr("33 bytes too many"));
  const auto stage_error = [&](const Stage& stage) {
    return error({}, {stage});
  };
  EXPECT_THAT(stage_error({.bits = 0}), HasSubstr("0 bits"));
  EXPECT_THAT(stage_error({.bits = 32}), HasSubstr("32 bits"));
  EXPECT_THAT(stage_error({.hashes = 0}), HasSubstr("0 hashes"));
  const auto kTogether = HasSubstr("does not go together");
  EXPECT_THAT(stage_error({.bits = 128}), kTogether);
  EXPECT_THAT(stage_error({.bits = uint64_t{1} << 63}), kTogether);
  EXPECT_THAT(stage_error({.capacity = 0, .keys = 0}), kTogether);
  EXPECT_THAT(stage_error({.keys = 5}), kTogether);
  EXPECT_THAT(stage_error({.capacity = uint64_t{1} << 63}), kTogether);
  EXPECT_THAT(stage_error({.capacity = 100}), kTogether);
  EXPECT_THAT(error({.stage_count = 2}, {{.keys = 3}, {}}), kTogether);
}

}  // namespace
}  // namespace rowbloom::scalable_bloom_filter_test

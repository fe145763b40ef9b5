#include "lib/block/ribbon.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "lib/kernels/kernel.h"
#include "lib/plan/kind_bits.h"
#include "tests/support/random.h"

namespace rowbloom {
namespace {

using test::Mix64;
using test::Random;
using test::SeedFromEnv;

constexpr size_t kNoLimit = size_t{1} << 30;

// Distinct: Mix64 is a bijection.
std::vector<uint64_t> Hashes(size_t count, uint64_t seed, uint64_t first = 0) {
  std::vector<uint64_t> hashes(count);
  for (size_t i = 0; i < count; ++i) hashes[i] = Mix64(first + i) ^ seed;
  return hashes;
}

bool Append(std::span<const uint64_t> hashes, double rate, size_t max_bytes,
            std::string* out) {
  return AppendRibbon({&hashes, 1}, rate, max_bytes, out);
}

std::string Build(const std::vector<uint64_t>& hashes, double rate) {
  std::string payload;
  EXPECT_TRUE(Append(hashes, rate, kNoLimit, &payload));
  return payload;
}

RibbonFilter Parse(const std::string& payload) {
  std::string problem;
  const auto filter = ParseRibbon(payload, &problem);
  EXPECT_TRUE(filter.has_value()) << problem;
  return filter.value_or(RibbonFilter());
}

// Probes with all kernels, which must agree.
bool MayContain(const RibbonFilter& filter, uint64_t hash) {
  const std::span<const Kernel> kernels = UsableKernels();
  const bool answer = kernels.back().ribbon_may_contain(filter, hash);
  for (const Kernel& kernel : kernels) {
    EXPECT_EQ(kernel.ribbon_may_contain(filter, hash), answer) << kernel.name;
  }
  return answer;
}

size_t Missing(const RibbonFilter& filter,
               const std::vector<uint64_t>& hashes) {
  return static_cast<size_t>(std::ranges::count_if(
      hashes, [&](uint64_t hash) { return !MayContain(filter, hash); }));
}

TEST(Ribbon, HasEveryKeyAtEverySize) {
  const uint64_t seed = SeedFromEnv();
  std::vector<size_t> counts;
  for (size_t count = 1; count <= 200; ++count) counts.push_back(count);
  for (const size_t count :
       {799, 800, 801, 802, 1000, 1633, 5000, 8500, 9000, 11'111, 70'000}) {
    counts.push_back(count);
  }
  for (const size_t count : counts) {
    const std::vector<uint64_t> hashes = Hashes(count, Mix64(seed + count));
    const std::string payload = Build(hashes, 0.01);
    ASSERT_EQ(Missing(Parse(payload), hashes), 0u) << count << " keys";
  }
}

TEST(Ribbon, HasEveryKeyAtEveryRate) {
  const std::vector<uint64_t> hashes = Hashes(3000, SeedFromEnv());
  for (const double rate : {0.99, 0.6, 0.5, 0.3, 0.25, 0.1, 0.01, 1.0 / 128,
                            1e-3, 1e-4, 1e-6, 1e-9, 1e-300}) {
    const std::string payload = Build(hashes, rate);
    ASSERT_EQ(Missing(Parse(payload), hashes), 0u) << rate;
  }
}

// Inside five standard deviations of the rate asked for, with little more than
// the least number of bits.
TEST(Ribbon, KeepsItsRateInFewBits) {
  const uint64_t seed = SeedFromEnv();
  constexpr size_t kKeys = 100'000;
  constexpr size_t kAbsent = 2'000'000;
  const std::vector<uint64_t> hashes = Hashes(kKeys, seed);
  const std::vector<uint64_t> absent = Hashes(kAbsent, seed, kKeys);
  const Kernel& kernel = UsableKernels().front();
  for (const double rate : {0.3, 0.1, 0.02, 0.01, 0.003, 0.001}) {
    const std::string payload = Build(hashes, rate);
    const RibbonFilter filter = Parse(payload);
    const auto passed =
        static_cast<double>(std::ranges::count_if(absent, [&](uint64_t hash) {
          return kernel.ribbon_may_contain(filter, hash);
        }));
    const double deviation = std::sqrt(rate * (1 - rate) / kAbsent);
    EXPECT_NEAR(passed / kAbsent, rate, 5 * deviation + 0.002 * rate);
    EXPECT_NEAR(RibbonFalsePositiveRate(filter), rate, 0.002 * rate);
    const double bits = 8.0 * static_cast<double>(payload.size()) / kKeys;
    EXPECT_NEAR(bits, RibbonBitsPerKey(rate), 0.01 * bits) << rate;
    EXPECT_LT(bits, (rate > 0.05 ? 1.06 : 1.024) * -std::log2(rate)) << rate;
  }
}

TEST(Ribbon, EqualHashesAreOneKey) {
  const std::vector<uint64_t> distinct = Hashes(2000, 7);
  std::vector<uint64_t> hashes = distinct;
  hashes.insert(hashes.end(), distinct.begin(), distinct.end());
  const std::string twice = Build(hashes, 0.01);
  EXPECT_EQ(Missing(Parse(twice), distinct), 0u);
  const std::string one = Build(std::vector<uint64_t>(10'000, 42), 0.01);
  EXPECT_TRUE(MayContain(Parse(one), 42));
}

// All keys start in one slot: the first layer can take few of them.
TEST(Ribbon, KeysOfOneSlotGoToLaterLayers) {
  std::vector<uint64_t> hashes;
  for (uint64_t i = 0; i < 20'000; ++i) hashes.push_back(Mix64(i) >> 40);
  const std::string payload = Build(hashes, 0.01);
  const RibbonFilter filter = Parse(payload);
  EXPECT_GT(filter.layer_count, 2u);
  EXPECT_EQ(Missing(filter, hashes), 0u);
}

// Crowded keys could else keep a flush busy for hours.
TEST(Ribbon, GivesUpOnceSoManyHashesWereTried) {
  // With the first seed all keys start in the lower half of the slots; another
  // seed spreads them.
  std::vector<uint64_t> hashes = Hashes(700, 3);
  for (uint64_t& hash : hashes) hash >>= 1;
  const std::span<const uint64_t> chunk = hashes;
  const auto solved_with = [&chunk](size_t tries) {
    std::string payload;
    const bool solved = AppendRibbon({&chunk, 1}, 0.01, kNoLimit, &payload,
                                     kRibbonSlotsPerKey, tries * chunk.size());
    EXPECT_EQ(payload.empty(), !solved);
    return solved;
  };
  EXPECT_FALSE(solved_with(0));
  EXPECT_FALSE(solved_with(1));
  EXPECT_TRUE(solved_with(8));
}

// The system is filled in four places at once: keys that crowd where these
// meet, and want slots on the other side, are kept too.
TEST(Ribbon, CrowdedSeamsKeepTheirKeys) {
  const uint64_t seed = SeedFromEnv();
  Random random(seed);
  constexpr uint64_t kQuarter = uint64_t{1} << 62;
  for (const uint64_t width : {kQuarter >> 13, kQuarter >> 9, kQuarter >> 6}) {
    for (const size_t crowd : {50, 200, 800, 3000}) {
      std::vector<uint64_t> hashes = Hashes(30'000, seed);
      for (size_t i = 0; i < crowd; ++i) {
        hashes.push_back((1 + i % 3) * kQuarter + width / 4 -
                         random.Below(width));
      }
      const std::string payload = Build(hashes, 0.01);
      ASSERT_EQ(Missing(Parse(payload), hashes), 0u) << width << " " << crowd;
    }
  }
}

// The payload is the same however the hashes come.
TEST(Ribbon, ChunksMakeNoDifference) {
  const std::vector<uint64_t> hashes = Hashes(20'000, SeedFromEnv());
  const std::string whole = Build(hashes, 0.003);
  std::vector<std::span<const uint64_t>> chunks;
  for (size_t at = 0; at < hashes.size(); at += 1000) {
    chunks.push_back(std::span(hashes).subspan(at, 1000));
  }
  std::string payload;
  ASSERT_TRUE(AppendRibbon(chunks, 0.003, kNoLimit, &payload));
  EXPECT_EQ(payload, whole);
}

TEST(Ribbon, TooFewBytesAreRefused) {
  const std::vector<uint64_t> hashes = Hashes(10'000, 3);
  const size_t bytes = Build(hashes, 0.01).size();
  std::string payload;
  EXPECT_FALSE(Append(hashes, 0.01, bytes - 1, &payload));
  EXPECT_EQ(payload, "");
  EXPECT_TRUE(Append(hashes, 0.01, bytes, &payload));
}

TEST(Ribbon, HeadersThatDoNotFitAreRefused) {
  const std::string good = Build(Hashes(5000, 1), 0.01);
  const auto refused = [&](size_t at, char value, const std::string& why) {
    std::string bad = good;
    bad[at] = value;
    std::string problem;
    EXPECT_FALSE(ParseRibbon(bad, &problem).has_value()) << at;
    EXPECT_NE(problem.find(why), std::string::npos) << problem;
  };
  refused(0, 0, "0 columns, expected 1 to 23");
  refused(0, 24, "24 columns");
  refused(0, 5, "layers of");
  refused(1, 0, "0 layers, expected 1 to 6");
  refused(1, 7, "7 layers");
  refused(4, static_cast<char>(good[4] ^ 1), "layers of");
  refused(7, '\x7f', "blocks in");
  refused(11, '\x7f', "narrow of");
  for (size_t size = 0; size < good.size(); size += 1 + size / 50) {
    std::string problem;
    EXPECT_FALSE(ParseRibbon(std::string_view(good).substr(0, size), &problem))
        << size;
    EXPECT_NE(problem, "");
  }
  std::string problem;
  EXPECT_FALSE(ParseRibbon(good + '\0', &problem).has_value());
}

// A lookup never leaves the bytes of a parsed filter, whatever they are: the
// sanitizers would tell.
TEST(Ribbon, RandomBytesAreSafe) {
  const uint64_t seed = SeedFromEnv();
  Random random(seed);
  const std::string good = Build(Hashes(1500, seed), 0.02);
  int parsed = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    for (uint64_t flips = 1 + random.Below(3); flips > 0; --flips) {
      bytes[random.OneIn(2) ? random.Below(20) : random.Below(bytes.size())] ^=
          static_cast<char>(1 << random.Below(8));
    }
    const std::vector<char> exact(bytes.begin(), bytes.end());
    std::string problem;
    const auto filter = ParseRibbon({exact.data(), exact.size()}, &problem);
    if (!filter) continue;
    ++parsed;
    for (int j = 0; j < 50; ++j) MayContain(*filter, random.Next());
    MayContain(*filter, 0);
    MayContain(*filter, ~uint64_t{0});
  }
  EXPECT_GT(parsed, 100);
}

}  // namespace
}  // namespace rowbloom

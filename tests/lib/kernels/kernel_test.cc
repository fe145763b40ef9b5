#include "lib/kernels/kernel.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/block/filter_block_builder.h"
#include "rowbloom/bloom_math.h"
#include "rowbloom/filter_block.h"
#include "tests/support/random.h"
#include "tests/support/scoped_kernel.h"

namespace rowbloom {
namespace {

using test::Random;
using test::SeedFromEnv;

constexpr size_t kBlockBytes = 64;

// The rule of FORMAT.md, written once more from its text.
struct Position {
  size_t byte;
  int bit;
};
Position BitPosition(uint64_t hash, uint64_t block_count, int probe) {
  // floor(hash * block_count / 2^64), for block counts below 2^32.
  const uint64_t high = (hash >> 32) * block_count;
  const uint64_t low = (hash & 0xffffffff) * block_count;
  const uint64_t block = (high + (low >> 32)) >> 32;
  uint32_t product = static_cast<uint32_t>(hash);
  for (int i = 0; i < probe; ++i) product *= 0x9e3779b9u;
  const uint32_t position = product >> 23;
  return {block * kBlockBytes + position / 8, static_cast<int>(position % 8)};
}

// Runs once for each kernel that was compiled in, by name.
class KernelTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto chosen = ChooseKernel(GetParam());
    if (!chosen) GTEST_SKIP() << chosen.error();
    kernel_ = *chosen;
    ASSERT_EQ(kernel_->name, GetParam());
  }
  const Kernel* kernel_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Each, KernelTest,
                         testing::ValuesIn(test::kKernelNames),
                         [](const auto& test) {
                           return std::string(test.param);
                         });

TEST_P(KernelTest, SetsTheBitsThatTheFormatSays) {
  Random random(SeedFromEnv());
  for (int probes = 1; probes <= kMaxProbes; ++probes) {
    for (const uint64_t count : {1, 2, 3, 16, 1000}) {
      std::vector<std::byte> data(count * kBlockBytes);
      std::vector<std::byte> expected(data.size());
      std::vector<uint64_t> hashes;
      for (int i = 0; i < 40; ++i) hashes.push_back(random.Next());
      for (const uint64_t hash : hashes) {
        for (int probe = 0; probe < probes; ++probe) {
          const Position at = BitPosition(hash, count, probe);
          expected[at.byte] |= std::byte{1} << at.bit;
        }
      }
      kernel_->add({data.data(), count, probes}, data.data(), hashes.data(),
                   hashes.size());
      ASSERT_EQ(data, expected) << probes << " probes, " << count << " blocks";
    }
  }
}

// Every fill and number of probes, also with a single bit missing, at every
// alignment of the blocks.
TEST_P(KernelTest, AgreesWithTheScalarKernel) {
  Random random(SeedFromEnv());
  const Kernel& scalar = UsableKernels().back();
  ASSERT_EQ(scalar.name, "scalar");
  uint64_t positives = 0;
  uint64_t negatives = 0;
  for (int round = 0; round < 2000; ++round) {
    const uint64_t count = 1 + random.Below(5);
    const size_t misalignment = random.Below(64);
    std::vector<std::byte> buffer(count * kBlockBytes + misalignment);
    std::byte* data = buffer.data() + misalignment;
    const int probes = 1 + static_cast<int>(random.Below(kMaxProbes));
    const BloomBlocks blocks{data, count, probes};
    // Blocks are empty to nearly full.
    const uint64_t keys = random.Below(400);
    for (uint64_t i = 0; i < keys; ++i) {
      const uint64_t hash = random.Next();
      AddScalar(blocks, data, &hash, 1);
    }
    for (int i = 0; i < 50; ++i) {
      const uint64_t hash = random.Next();
      if (random.OneIn(2)) {
        AddScalar(blocks, data, &hash, 1);
        if (random.OneIn(2)) {  // all bits but one
          const Position at =
              BitPosition(hash, count, static_cast<int>(random.Below(probes)));
          data[at.byte] &= ~(std::byte{1} << at.bit);
        }
      }
      const bool expected = scalar.may_contain(blocks, hash);
      ASSERT_EQ(kernel_->may_contain(blocks, hash), expected);
      ++(expected ? positives : negatives);
    }
  }
  EXPECT_GT(positives, 10'000u);
  EXPECT_GT(negatives, 10'000u);
}

// One hash in many sections: some are empty, some are full, some have the hash
// itself.
TEST_P(KernelTest, FindsTheSectionsWithAHash) {
  Random random(SeedFromEnv());
  const Kernel& scalar = UsableKernels().back();
  uint64_t positives = 0;
  uint64_t negatives = 0;
  for (int round = 0; round < 1000; ++round) {
    const size_t section_count = 1 + random.Below(Kernel::kMaxMany);
    const int probes = 1 + static_cast<int>(random.Below(kMaxProbes));
    const uint64_t hash = random.Next();
    std::vector<std::vector<std::byte>> memory;
    std::vector<BloomBlocks> sections;
    uint32_t expected = 0;
    for (size_t i = 0; i < section_count; ++i) {
      const uint64_t count = 1 + random.Below(5);
      const size_t misalignment = random.Below(64);
      memory.emplace_back(count * kBlockBytes + misalignment);
      std::byte* const data = memory.back().data() + misalignment;
      const BloomBlocks section{data, count, probes};
      for (uint64_t keys = random.Below(400); keys > 0; --keys) {
        const uint64_t key = random.Next();
        AddScalar(section, data, &key, 1);
      }
      if (random.OneIn(4)) AddScalar(section, data, &hash, 1);
      const bool found = scalar.may_contain(section, hash);
      ++(found ? positives : negatives);
      expected |= uint32_t{found} << i;
      sections.push_back(section);
    }
    ASSERT_EQ(kernel_->sections_with(sections.data(), section_count, hash),
              expected)
        << section_count << " sections, " << probes << " probes";
  }
  EXPECT_GT(positives, 3'000u);
  EXPECT_GT(negatives, 3'000u);
}

TEST_P(KernelTest, ExtremeHashesStayInsideTheBlocks) {
  for (const uint64_t count : {1, 3, 1 << 16}) {
    std::vector<std::byte> data(count * kBlockBytes);
    const BloomBlocks blocks{data.data(), count, kMaxProbes};
    for (const uint64_t hash :
         {uint64_t{0}, ~uint64_t{0}, uint64_t{1} << 63, uint64_t{0xffffffff}}) {
      PrefetchBlock(blocks, hash);
      // Kernels add 16 hashes together.
      const std::vector<uint64_t> hashes(16, hash);
      kernel_->add(blocks, data.data(), hashes.data(), hashes.size());
      EXPECT_TRUE(kernel_->may_contain(blocks, hash));
      EXPECT_EQ(kernel_->sections_with(&blocks, 1, hash), 1u);
    }
  }
}

TEST(KernelChoice, ScalarIsAlwaysThereAndFastestIsTheDefault) {
  EXPECT_EQ(UsableKernels().back().name, "scalar");
  EXPECT_EQ((*ChooseKernel(nullptr))->name, UsableKernels().front().name);
  EXPECT_EQ((*ChooseKernel(""))->name, UsableKernels().front().name);
}

TEST(KernelChoice, UnknownNameIsAnErrorThatListsTheUsableOnes) {
  const auto chosen = ChooseKernel("sse9");
  ASSERT_FALSE(chosen);
  EXPECT_NE(chosen.error().find("ROWBLOOM_KERNEL=sse9"), std::string::npos);
  EXPECT_NE(chosen.error().find("scalar"), std::string::npos);
}

TEST(KernelChoice, UseKernelChangesWhatIsBuiltAndOpenedNext) {
  std::string first;
  for (const Kernel& kernel : UsableKernels()) {
    SCOPED_TRACE(kernel.name);
    const test::ScopedKernel used(kernel);
    EXPECT_EQ(&ActiveKernel(), &kernel);
    FilterBlockBuilder builder({.key_layout = KeyLayout::FixedRow(1)});
    for (const char* key : {"a", "b1", "b2"}) builder.AddKey(key);
    const std::string bytes = builder.Finish();
    if (first.empty()) first = bytes;
    EXPECT_EQ(bytes, first);
    const FilterBlock block = FilterBlock::Open(bytes);
    EXPECT_TRUE(block.MayMatch("b2").may_match());
    EXPECT_FALSE(block.MayMatch("c1").may_match());
  }
}

}  // namespace
}  // namespace rowbloom

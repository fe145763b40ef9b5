#include "storage/filter_policy/front_filter/section_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/random.h"

namespace rowbloom::front_filter {
namespace {

constexpr size_t kKiB = 1024;
constexpr size_t kHugePageBytes = 2048 * kKiB;

struct Filled {
  SectionMemory memory;
  size_t size_bytes = 0;
  std::byte value{};

  Filled(size_t size, uint8_t number)
      : memory(NewSectionMemory(size)),
        size_bytes(size),
        value(static_cast<std::byte>(number)) {
    std::fill_n(memory.get(), size_bytes, value);
  }
  bool IsWhole() const {
    return std::all_of(memory.get(), memory.get() + size_bytes,
                       [this](std::byte byte) { return byte == value; });
  }
};

uint64_t HugePageOf(const SectionMemory& memory) {
  return reinterpret_cast<uintptr_t>(memory.get()) / kHugePageBytes;
}

TEST(SectionMemory, StartsOnACacheLine) {
  for (const size_t size : {size_t{0}, size_t{1}, 64 * kKiB - 1, 64 * kKiB + 1,
                            kHugePageBytes, 3 * kHugePageBytes + 5}) {
    const SectionMemory memory = NewSectionMemory(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % 64, 0) << size;
  }
  const SectionMemory large = NewSectionMemory(kHugePageBytes + 1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large.get()) % kHugePageBytes, 0);
}

TEST(SectionMemory, SectionsShareAHugePageAndFillItsGaps) {
  const SectionMemory first = NewSectionMemory(600 * kKiB);
  SectionMemory second = NewSectionMemory(600 * kKiB);
  const SectionMemory third = NewSectionMemory(600 * kKiB);
  EXPECT_EQ(HugePageOf(first), HugePageOf(second));
  EXPECT_EQ(HugePageOf(first), HugePageOf(third));
  const SectionMemory other = NewSectionMemory(600 * kKiB);
  EXPECT_NE(HugePageOf(first), HugePageOf(other)) << "there is no room for it";
  const std::byte* const gap = second.get();
  second.reset();
  const SectionMemory fourth = NewSectionMemory(400 * kKiB);
  EXPECT_EQ(fourth.get(), gap);
  const SectionMemory fifth = NewSectionMemory(200 * kKiB);
  EXPECT_EQ(fifth.get(), gap + 400 * kKiB);
}

TEST(SectionMemory, SectionsNeverOverlap) {
  const uint64_t seed = test::SeedFromEnv();
  const auto churn = [seed](uint64_t stream) {
    test::Random random(seed + stream);
    std::vector<Filled> sections;
    for (int step = 0; step < 1'000; ++step) {
      if (sections.size() > 40 || (!sections.empty() && random.OneIn(3))) {
        std::swap(sections[random.Below(sections.size())], sections.back());
        ASSERT_TRUE(sections.back().IsWhole());
        sections.pop_back();
      } else {
        const size_t most = random.OneIn(20) ? 5'000 * kKiB : 400 * kKiB;
        sections.emplace_back(random.Below(most),
                              static_cast<uint8_t>(random.Below(256)));
      }
    }
    for (const Filled& section : sections) ASSERT_TRUE(section.IsWhole());
  };
  std::thread other(churn, 1);
  churn(2);
  other.join();
}

}  // namespace
}  // namespace rowbloom::front_filter

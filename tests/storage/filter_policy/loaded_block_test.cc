#include "storage/filter_policy/loaded_block.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "lib/kernels/kernel.h"

namespace rowbloom {
namespace {

constexpr std::string_view kBlock = "the bytes of a block";

// A section of one block, with all of its bits or none. Its bytes are gone when
// it is.
class OneBlock {
 public:
  explicit OneBlock(bool full)
      : bytes_(std::make_unique<Bytes>()), probe_(Blocks()) {
    std::memset(bytes_->data(), full ? 0xff : 0, bytes_->size());
  }
  ~OneBlock() { std::memset(bytes_->data(), 0, bytes_->size()); }

  const SectionProbe* probe() const { return &probe_; }

 private:
  using Bytes = std::array<std::byte, kBlockBytes>;

  BloomBlocks Blocks() const {
    return {.data = bytes_->data(), .count = 1, .probes = 6};
  }

  const std::unique_ptr<Bytes> bytes_;
  const SectionProbe probe_;
};

bool MayHave(const LoadedBlock& block) {
  return block.MayHaveCell(1234, ActiveKernel());
}

TEST(LoadedBlock, IsProbedWhileItIsShown) {
  const LoadedBlock::Wanted wanted;
  const OneBlock none(false);
  const OneBlock all(true);
  const auto block = LoadedBlock::OfBytes(kBlock);
  EXPECT_EQ(LoadedBlock::OfBytes(kBlock), block);
  const auto other = LoadedBlock::OfBytes("the bytes of another");
  EXPECT_TRUE(MayHave(*block));
  std::optional<LoadedBlock::Shown> first(std::in_place, kBlock, none.probe());
  EXPECT_FALSE(MayHave(*block));
  EXPECT_TRUE(MayHave(*other));
  // The first that is shown is probed, then the next.
  std::optional<LoadedBlock::Shown> second(std::in_place, kBlock, all.probe());
  EXPECT_FALSE(MayHave(*block));
  first.reset();
  EXPECT_TRUE(MayHave(*block));
  first.emplace(kBlock, none.probe());
  EXPECT_TRUE(MayHave(*block));
  second.reset();
  EXPECT_FALSE(MayHave(*block));
  first.reset();
  EXPECT_TRUE(MayHave(*block));
}

TEST(LoadedBlock, IsFoundWhicheverComesFirst) {
  const LoadedBlock::Wanted wanted;
  const OneBlock none(false);
  const LoadedBlock::Shown shown(kBlock, none.probe());
  EXPECT_FALSE(MayHave(*LoadedBlock::OfBytes(kBlock)));
}

TEST(LoadedBlock, IsNotShownWhereNobodyWantsIt) {
  const OneBlock none(false);
  const LoadedBlock::Shown shown(kBlock, none.probe());
  EXPECT_TRUE(MayHave(*LoadedBlock::OfBytes(kBlock)));
}

TEST(LoadedBlock, WithoutASectionMayHaveAll) {
  const LoadedBlock::Wanted wanted;
  const SectionProbe absent;
  const LoadedBlock::Shown shown(kBlock, &absent);
  EXPECT_TRUE(MayHave(*LoadedBlock::OfBytes(kBlock)));
}

// Full sections come and go while threads probe: bytes of one that is gone
// would give another answer.
TEST(LoadedBlock, IsNotProbedAfterItIsHidden) {
  const LoadedBlock::Wanted wanted;
  const auto block = LoadedBlock::OfBytes(kBlock);
  std::atomic<bool> stop{false};
  std::atomic<int> absent{0};
  std::atomic<uint64_t> probes{0};
  std::vector<std::thread> probing;
  for (int i = 0; i < 2; ++i) {
    probing.emplace_back([&] {
      for (; !stop.load(); ++probes) {
        if (!MayHave(*block)) ++absent;
      }
    });
  }
  std::thread also([&] {
    while (!stop.load()) {
      const OneBlock all(true);
      const LoadedBlock::Shown shown(kBlock, all.probe());
    }
  });
  for (int i = 0; i < 20'000 || probes.load() < 20'000; ++i) {
    const OneBlock all(true);
    const LoadedBlock::Shown shown(kBlock, all.probe());
  }
  stop.store(true);
  for (std::thread& thread : probing) thread.join();
  also.join();
  EXPECT_EQ(absent.load(), 0);
}

}  // namespace
}  // namespace rowbloom

#include "storage/filter_policy/front_filter/memory.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace rowbloom::front_filter {
namespace {

TEST(Memory, BoundsEachPurpose) {
  const auto memory = std::make_shared<Memory>(100, 50, nullptr);
  EXPECT_TRUE(memory->Take(Memory::kRows, 60));
  EXPECT_FALSE(memory->Take(Memory::kRows, 41));
  EXPECT_FALSE(memory->Take(Memory::kRows, UINT64_MAX));
  EXPECT_TRUE(memory->HasRoomFor(Memory::kRows, 40));
  EXPECT_FALSE(memory->HasRoomFor(Memory::kRows, 41));
  EXPECT_FALSE(memory->Take(Memory::kCells, 51));
  EXPECT_TRUE(memory->Take(Memory::kCells, 50));
  EXPECT_FALSE(memory->HasRoomFor(Memory::kCells, 1));
  EXPECT_TRUE(memory->Take(Memory::kMemtables, 1'000'000));
  EXPECT_EQ(memory->used_bytes(Memory::kRows), 60);
  EXPECT_EQ(memory->used_bytes(Memory::kCells), 50);
  EXPECT_EQ(memory->used_bytes(Memory::kMemtables), 1'000'000);
  memory->GiveBack(Memory::kRows, 60);
  EXPECT_TRUE(memory->Take(Memory::kRows, 100));
}

TEST(Memory, ChargesTheSumInSteps) {
  constexpr size_t kStep = CacheCharge::kStepBytes;
  const auto cache = rocksdb::NewLRUCache(64 << 20);
  const auto memory = std::make_shared<Memory>(UINT64_MAX, UINT64_MAX, cache);
  const auto steps = [&] { return cache->GetUsage() / kStep; };
  EXPECT_EQ(steps(), 0);
  EXPECT_TRUE(memory->Take(Memory::kRows, 1));
  EXPECT_EQ(steps(), 1);
  EXPECT_TRUE(memory->Take(Memory::kCells, kStep - 1));
  EXPECT_EQ(steps(), 1);
  EXPECT_TRUE(memory->Take(Memory::kMemtables, 3 * kStep));
  EXPECT_EQ(steps(), 4);
  memory->GiveBack(Memory::kCells, kStep - 1);
  memory->GiveBack(Memory::kMemtables, 2 * kStep);
  EXPECT_EQ(steps(), 2);
  memory->GiveBack(Memory::kMemtables, kStep);
  memory->GiveBack(Memory::kRows, 1);
  EXPECT_EQ(cache->GetUsage(), 0);
}

TEST(TakenMemory, IsGivenBackOnce) {
  const auto memory = std::make_shared<Memory>(100, 100, nullptr);
  const auto used = [&] { return memory->used_bytes(Memory::kRows); };
  {
    ASSERT_TRUE(memory->Take(Memory::kRows, 60));
    TakenMemory taken(memory, Memory::kRows, 60);
    EXPECT_EQ(taken.bytes(), 60);
    TakenMemory moved(std::move(taken));
    EXPECT_EQ(moved.bytes(), 60);
    TakenMemory assigned;
    assigned = std::move(moved);
    EXPECT_EQ(assigned.bytes(), 60);
    EXPECT_EQ(used(), 60);
  }
  EXPECT_EQ(used(), 0);
}

}  // namespace
}  // namespace rowbloom::front_filter

#include "lib/block/hash_list.h"

#include <gtest/gtest.h>

#include <utility>

namespace rowbloom {
namespace {

constexpr size_t kHashes = 3 * HashList::kChunkHashes + 7;

HashList ListOf(size_t count) {
  HashList list;
  for (uint64_t hash = 1; hash <= count; ++hash) list.Add(hash);
  return list;
}

TEST(HashList, KeepsTheOrderOverChunks) {
  const HashList list = ListOf(kHashes);
  EXPECT_EQ(list.size(), kHashes);
  ASSERT_EQ(list.chunks().size(), 4u);
  uint64_t expected = 1;
  for (const auto& chunk : list.chunks()) {
    for (const uint64_t hash : chunk) ASSERT_EQ(hash, expected++);
  }
  EXPECT_EQ(expected, kHashes + 1);
}

TEST(HashList, AdjacentRepetitionsCountOnceAlsoBetweenChunks) {
  HashList list = ListOf(HashList::kChunkHashes);
  list.Add(HashList::kChunkHashes);
  EXPECT_EQ(list.size(), HashList::kChunkHashes);
  list.Add(1);
  list.Add(1);
  EXPECT_EQ(list.size(), HashList::kChunkHashes + 1);
  HashList zero;
  zero.Add(0);
  EXPECT_EQ(zero.size(), 1u) << "the first hash is no repetition";
}

TEST(HashList, MemoryIsTheHashesAndAtMostAChunkMore) {
  EXPECT_EQ(HashList().MemoryBytes(), 0u);
  EXPECT_EQ(ListOf(10).MemoryBytes(),
            HashList::kChunkHashes * sizeof(uint64_t));
  HashList list = ListOf(kHashes);
  EXPECT_GE(list.MemoryBytes(), kHashes * sizeof(uint64_t));
  EXPECT_LE(list.MemoryBytes(),
            (kHashes + HashList::kChunkHashes) * sizeof(uint64_t));
  list.Clear();
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.MemoryBytes(), 0u);
  list.Add(kHashes);
  EXPECT_EQ(list.size(), 1u);
}

TEST(HashList, RoomIsWhatTheLastChunkHasLeft) {
  HashList list;
  EXPECT_FALSE(list.HasRoom());
  list.Add(1);
  while (list.HasRoom()) list.AddToRoom(list.size() + 1);
  EXPECT_EQ(list.size(), HashList::kChunkHashes);
  list.Add(HashList::kChunkHashes + 1);
  list.AddToRoom(HashList::kChunkHashes + 1);
  EXPECT_EQ(list.size(), HashList::kChunkHashes + 1) << "a repetition";
}

TEST(HashList, MovingLeavesAnEmptyList) {
  HashList list = ListOf(kHashes);
  HashList taken = std::move(list);
  EXPECT_EQ(taken.size(), kHashes);
  list.Clear();
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.MemoryBytes(), 0u);
  list = std::move(taken);
  EXPECT_EQ(list.size(), kHashes);
}

HashList SummedListOf(size_t count) {
  HashList list(true);
  for (uint64_t hash = 1; hash <= count; ++hash) list.Add(hash);
  return list;
}

TEST(HashList, EveryChangedHashIsNoticed) {
  const HashList list = SummedListOf(HashList::kChunkHashes + 3);
  EXPECT_TRUE(list.Intact());
  for (size_t at = 0; at < list.size(); at += 31) {
    const auto chunk = list.chunks()[at / HashList::kChunkHashes];
    auto& hash = const_cast<uint64_t&>(chunk[at % HashList::kChunkHashes]);
    hash ^= 1ull << at % 64;
    EXPECT_FALSE(list.Intact()) << at;
    hash ^= 1ull << at % 64;
  }
  EXPECT_TRUE(list.Intact());
}

// An exclusive or would not notice.
TEST(HashList, EqualDamageToTwoHashesIsNoticed) {
  HashList list = SummedListOf(100);
  const auto chunk = list.chunks()[0];
  const_cast<uint64_t&>(chunk[3]) ^= 0x10;
  const_cast<uint64_t&>(chunk[70]) ^= 0x10;
  EXPECT_FALSE(list.Intact());
}

}  // namespace
}  // namespace rowbloom

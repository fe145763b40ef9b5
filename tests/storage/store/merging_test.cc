// The merge operator of `versioned` families, and when their operands are
// joined.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/bytes/text.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "storage/store/family_rules.h"
#include "storage/store/update_counts.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"

namespace rowbloom::test {
namespace {

using rocksdb::MergeOperator;
using rocksdb::Slice;

Entries EntriesOf(const std::string& stored) {
  Entries entries;
  std::string problem;
  EXPECT_TRUE(DecodeEntries(stored, &entries, &problem)) << problem;
  return entries;
}

// An operand of puts alone, or with deletes; it has each time and type once.
std::string DrawOperand(Random* random) {
  Entries entries;
  const std::string value = std::to_string(random->Below(1'000'000));
  for (uint64_t time = 12; time-- > 0;) {
    if (random->OneIn(12)) {
      entries.push_back({ChangeType::kDeleteVersion, time, {}});
    } else if (random->OneIn(40)) {
      entries.push_back({ChangeType::kDelete, time, {}});
    } else if (random->OneIn(4)) {
      entries.push_back({ChangeType::kPut, time, value});
    }
  }
  if (random->OneIn(2)) {
    std::erase_if(entries, [](const Entry& entry) {
      return entry.type != ChangeType::kPut;
    });
  }
  DropDeletedSingly(&entries);
  return EncodeEntries(entries);
}

TEST(Merging, GivesWhatEachOperandAfterTheOtherGives) {
  Random random(SeedFromEnv());
  uint64_t combined = 0;
  for (uint64_t round = 0; round < Scaled(20'000); ++round) {
    const VersionRules rules{.max_versions =
                                 static_cast<uint32_t>(1 + random.Below(5))};
    const auto merge = NewVersionMergeOperator(
        std::make_shared<SharedRules>(rules, /*memtable_bytes=*/0));
    const std::string state = DrawOperand(&random);
    std::vector<std::string> stored;
    for (uint64_t left = 2 + random.Below(8); left > 0; --left) {
      stored.push_back(DrawOperand(&random));
    }
    const bool has_state = random.OneIn(2);
    Entries expected = has_state ? EntriesOf(state) : Entries();
    std::optional<Entries> joined = Entries();
    for (const std::string& operand : stored) {
      expected = ApplyOperand(expected, EntriesOf(operand), rules);
      if (joined) joined = CombineOperands(*joined, EntriesOf(operand));
    }

    const Slice key("key");
    const Slice existing(state);
    const std::vector<Slice> operands(stored.begin(), stored.end());
    const MergeOperator::MergeOperationInput in(
        key, has_state ? &existing : nullptr, operands, /*logger=*/nullptr);
    std::string merged;
    Slice same(nullptr, 0);
    MergeOperator::MergeOperationOutput out(merged, same);
    ASSERT_TRUE(merge->FullMergeV2(in, &out));
    ASSERT_EQ(merged, EncodeEntries(expected)) << "round " << round;

    std::string combination;
    const bool is_combined = merge->PartialMergeMulti(
        key, std::deque<Slice>(stored.begin(), stored.end()), &combination,
        /*logger=*/nullptr);
    // A run of puts may be combined where one put after the other cannot.
    if (!joined) continue;
    ASSERT_TRUE(is_combined);
    ASSERT_EQ(combination, EncodeEntries(*joined)) << "round " << round;
    ++combined;
  }
  EXPECT_GT(combined, 0u);
}

// The number of writes of a cell until it is to be joined.
uint64_t WritesUntilJoin(UpdateCounts* counts, uint64_t cell) {
  uint64_t writes = 1;
  while (!counts->Add(cell)) ++writes;
  return writes;
}

TEST(UpdateCounts, JoinsComeAfterAsManyWritesAsThereAreEntries) {
  UpdateCounts counts(uint64_t{64} << 20);
  EXPECT_EQ(WritesUntilJoin(&counts, 1), 8u);
  EXPECT_EQ(WritesUntilJoin(&counts, 1), 8u);  // that join failed
  counts.Joined(1, 3);
  EXPECT_EQ(WritesUntilJoin(&counts, 1), 8u);
  counts.Joined(1, 100);
  EXPECT_EQ(WritesUntilJoin(&counts, 1), 100u);
}

TEST(UpdateCounts, CellsThatAreWrittenInTurnsAreAllJoined) {
  UpdateCounts counts(uint64_t{64} << 20);
  constexpr uint64_t kCells = 10'000;
  std::vector<int> since_join(kCells);
  for (int turn = 0; turn < 100; ++turn) {
    for (uint64_t cell = 0; cell < kCells; ++cell) {
      ASSERT_LE(++since_join[cell], 16) << cell;
      if (!counts.Add(cell)) continue;
      since_join[cell] = 0;
      counts.Joined(cell, 1);
    }
  }
}

TEST(UpdateCounts, CellsThatAreWrittenOnceAreHardlyEverJoined) {
  UpdateCounts counts(uint64_t{1} << 20);
  constexpr uint64_t kWrites = 1'000'000;
  uint64_t joins = 0;
  for (uint64_t cell = 0; cell < kWrites; ++cell) {
    if (counts.Add(Mix64(cell))) ++joins;
  }
  EXPECT_LT(joins, kWrites / 1000);
}

// The columns of one row are written in turns, so that each has a small share
// of the writes.
TEST(Updates, OfManyCellsInTurnsAreMergedAFewAtATime) {
  const TempDir dir;
  const auto store = OpenOrFail({.auto_compaction = false}, dir.File("db"),
                                {{"f", {.max_versions = 3}}});
  constexpr int kCells = 200;
  for (int turn = 0; turn < 43; ++turn) {
    WriteBatch batch;
    for (int cell = 0; cell < kCells; ++cell) {
      batch.Put("row", "f", Concat("q", cell), Concat("v", turn));
    }
    ASSERT_THAT(store->Write(batch), IsOk());
  }
  // RocksDB counts the merges of iterators alone.
  rocksdb::SetPerfLevel(rocksdb::kEnableCount);
  rocksdb::get_perf_context()->Reset();
  std::vector<Cell> versions;
  ASSERT_THAT(store->GetRow("row", &versions, {.max_versions = 10}), IsOk());
  const uint64_t merges = rocksdb::get_perf_context()->internal_merge_count;
  rocksdb::SetPerfLevel(rocksdb::kDisable);
  ASSERT_EQ(versions.size(), 3u * kCells);
  for (size_t i = 0; i < versions.size(); i += 3) {
    EXPECT_EQ(versions[i].value, "v42");
    EXPECT_EQ(versions[i + 2].value, "v40");
  }
  EXPECT_GT(merges, uint64_t{kCells});
  EXPECT_LE(merges, 16u * kCells);
}

}  // namespace
}  // namespace rowbloom::test

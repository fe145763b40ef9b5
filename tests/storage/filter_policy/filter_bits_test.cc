// The builder and reader as RocksDB calls them.
#include "storage/filter_policy/filter_bits.h"

#include <gtest/gtest.h>

#include <barrier>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "lib/block/filter_block_builder.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/random.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using test::Random;
using test::SeedFromEnv;
using test::StatsOf;

struct Block {
  std::unique_ptr<const char[]> owner;
  std::string bytes;
};

Block Build(rocksdb::FilterBitsBuilder* builder,
            const std::vector<std::string>& keys) {
  Block block;
  for (const std::string& key : keys) builder->AddKey(key);
  rocksdb::Status status;
  const Slice filter = builder->Finish(&block.owner, &status);
  test::ExpectOk(status);
  test::ExpectOk(builder->MaybePostVerify(filter));
  block.bytes = filter.ToString();
  return block;
}

const FilterBlockOptions kOptions = {.key_layout = KeyLayout::Delimited(':')};
const FilterBlockOptions kVerified = {.key_layout = KeyLayout::Delimited(':'),
                                      .verify = true};

TEST(FilterInterface, VersionsBelongToTheirLayouts) {
  EXPECT_EQ(ROWBLOOM_FILTER_INTERFACE_OF(708), 700);
  EXPECT_EQ(ROWBLOOM_FILTER_INTERFACE_OF(701), 700);
  EXPECT_EQ(ROWBLOOM_FILTER_INTERFACE_OF(905), 700);
  EXPECT_EQ(ROWBLOOM_FILTER_INTERFACE_OF(906), 906);
  EXPECT_EQ(ROWBLOOM_FILTER_INTERFACE_OF(910), 906);
  EXPECT_EQ(ROWBLOOM_FILTER_INTERFACE_OF(1008), 906);
  EXPECT_EQ(ROWBLOOM_FILTER_INTERFACE_OF(1009), 1009);
  EXPECT_EQ(ROWBLOOM_FILTER_INTERFACE_OF(1109), 1009);
}

TEST(FilterInterface, OtherVersionsAreNotSupported) {
  for (const int version : {0, 629, 700, 1110, 1200}) {
    EXPECT_EQ(ROWBLOOM_FILTER_INTERFACE_OF(version), 0) << version;
  }
}

TEST(FilterBits, BuilderMakesOneBlockAfterAnother) {
  const auto counters = std::make_shared<FilterCounters>();
  const auto builder = NewFilterBitsBuilder(kVerified, counters);
  EXPECT_EQ(builder->EstimateEntriesAdded(), 0u);
  builder->AddKey("a:x");
  EXPECT_EQ(builder->EstimateEntriesAdded(), 2u);
  const Block first = Build(builder.get(), {"a:y"});
  EXPECT_EQ(builder->EstimateEntriesAdded(), 0u);
  const Block second = Build(builder.get(), {"b:x"});
  const auto first_reader = NewFilterBitsReader(first.bytes, counters);
  const auto second_reader = NewFilterBitsReader(second.bytes, counters);
  EXPECT_TRUE(first_reader->MayMatch("a:x"));
  EXPECT_TRUE(first_reader->MayMatch("a:y"));
  EXPECT_FALSE(first_reader->MayMatch("b:x"));
  EXPECT_TRUE(second_reader->MayMatch("b:x"));
  EXPECT_FALSE(second_reader->MayMatch("a:x"));
  const FilterStats stats = counters->At(-1)->Read();
  EXPECT_EQ(stats.blocks_built, 2u);
  EXPECT_EQ(stats.bytes_built, first.bytes.size() + second.bytes.size());
  EXPECT_EQ(stats.blocks_opened, 2u);
  EXPECT_EQ(stats.blocks_unusable, 0u);
}

// Builders of common layouts have a way of their own for most keys.
TEST(FilterBits, EveryLayoutBuildsTheBlockThatTheLibraryBuilds) {
  Random random(SeedFromEnv());
  for (const KeyLayout& layout :
       {KeyLayout::Escaped(), KeyLayout::Delimited(':'),
        KeyLayout::LengthPrefixed(), KeyLayout::FixedRow(3),
        KeyLayout::FixedRow(24), KeyLayout::FixedRow(70)}) {
    std::vector<std::string> keys;
    for (int i = 0; i < 5000; ++i) {
      // Keys have all lengths that are hashed differently; one in eight
      // repeats.
      if (!keys.empty() && random.OneIn(8)) {
        keys.push_back(keys.back());
      } else if (random.OneIn(4)) {  // mostly outside of the layout
        keys.push_back(random.Bytes(random.Below(100)));
      } else {
        const std::string row = random.Bytes(random.Below(100));
        const Result<std::string> encoded = layout.EncodeRow(row);
        keys.push_back((encoded ? *encoded : row) +
                       random.Bytes(random.Below(100)));
      }
    }
    for (const BloomType type : {BloomType::kRow, BloomType::kRowCol,
                                 BloomType::kRowPrefixFixedLength}) {
      const FilterBlockOptions options{
          .bloom_type = type, .key_layout = layout, .row_prefix_length = 5};
      FilterBlockBuilder expected(options);
      for (const std::string& key : keys) expected.AddKey(key);
      const std::string block = expected.Finish();
      for (const bool verify : {false, true}) {
        FilterBlockOptions verified = options;
        verified.verify = verify;
        const auto builder =
            NewFilterBitsBuilder(verified, std::make_shared<FilterCounters>());
        EXPECT_EQ(Build(builder.get(), keys).bytes, block)
            << layout.ToString() << ", " << ToString(type);
      }
    }
  }
}

TEST(FilterBits, CountersTellWhichSectionAnswered) {
  const auto counters = std::make_shared<FilterCounters>();
  const auto builder = NewFilterBitsBuilder(kOptions, counters);
  const Block block = Build(builder.get(), {"a:x", "b:x"});
  const auto reader = NewFilterBitsReader(block.bytes, counters);
  EXPECT_TRUE(reader->MayMatch("a:x"));      // both pass
  EXPECT_FALSE(reader->MayMatch("a:y"));     // ROW passes, ROWCOL skips
  EXPECT_FALSE(reader->MayMatch("c:y"));     // ROW skips
  EXPECT_TRUE(reader->MayMatch("b:"));       // ROW passes
  EXPECT_FALSE(reader->MayMatch("beyond"));  // outside the layout: in ROWCOL
  const FilterStats stats = counters->At(-1)->Read();
  EXPECT_EQ(stats.asked, 5u);
  EXPECT_EQ(stats.may_match, 2u);
  EXPECT_EQ(stats.row.checked, 4u);
  EXPECT_EQ(stats.row.skipped, 1u);
  EXPECT_EQ(stats.row_col.checked, 3u);
  EXPECT_EQ(stats.row_col.skipped, 2u);
  EXPECT_EQ(stats.row.unusable + stats.row_col.unusable, 0u);
}

TEST(FilterBits, BatchAnswersAndCountsAsOneByOne) {
  const auto counters = std::make_shared<FilterCounters>();
  const auto builder = NewFilterBitsBuilder(kOptions, counters);
  std::vector<std::string> keys;
  for (int i = 0; i < 100; ++i)
    keys.push_back(std::to_string(i / 5) + ":" + std::to_string(i));
  const Block block = Build(builder.get(), keys);
  const auto reader = NewFilterBitsReader(block.bytes, counters);
  std::vector<std::string> asked;
  for (int i = 0; i < 70; ++i)
    asked.push_back(std::to_string(i / 2) + ":" + std::to_string(i * 2));
  std::vector<Slice> slices(asked.begin(), asked.end());
  std::vector<Slice*> pointers;
  for (Slice& slice : slices) pointers.push_back(&slice);
  const auto answers = std::make_unique<bool[]>(asked.size());
  reader->MayMatch(static_cast<int>(asked.size()), pointers.data(),
                   answers.get());
  const FilterStats batch = counters->At(-1)->Read();
  for (size_t i = 0; i < asked.size(); ++i) {
    EXPECT_EQ(answers[i], reader->MayMatch(asked[i])) << asked[i];
  }
  const FilterStats both = counters->At(-1)->Read();
  EXPECT_EQ(batch.asked, asked.size());
  EXPECT_EQ(both.asked, 2 * batch.asked);
  EXPECT_EQ(both.row.skipped, 2 * batch.row.skipped);
  EXPECT_EQ(both.row_col.skipped, 2 * batch.row_col.skipped);
  EXPECT_EQ(batch.row.checked, asked.size());
  EXPECT_EQ(both.row.checked, 2 * batch.row.checked);
  EXPECT_EQ(both.row_col.checked, 2 * batch.row_col.checked);
  EXPECT_GT(batch.row.skipped, 0u);
  EXPECT_GT(batch.row_col.skipped, 0u);
}

// Many threads, twice, so that their counters are given back and taken again.
TEST(FilterBits, CountersAreExactWithManyThreads) {
  const auto counters = std::make_shared<FilterCounters>();
  const auto builder = NewFilterBitsBuilder(kOptions, counters);
  const Block block = Build(builder.get(), {"a:x"});
  const auto reader = NewFilterBitsReader(block.bytes, counters);
  constexpr uint64_t kThreads = 100;
  constexpr uint64_t kQuestions = 2000;
  for (uint64_t round = 1; round <= 2; ++round) {
    std::vector<std::thread> threads;
    std::barrier all_running(kThreads);
    for (uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        EXPECT_TRUE(reader->MayMatch("a:x"));
        all_running.arrive_and_wait();
        for (uint64_t question = 1; question < kQuestions; ++question) {
          EXPECT_TRUE(reader->MayMatch("a:x"));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(counters->At(-1)->Read().row_col.checked,
              round * kThreads * kQuestions);
  }
}

// RocksDB loses nothing when a layout's function throws while a file is
// written: the file's filter answers "may match".
TEST(FilterBits, ThrowingLayoutGivesABlockThatMatchesEverything) {
  const auto layout = KeyLayout::RegisterCustom(
      "throws_on_b", [](std::string_view key) -> std::optional<size_t> {
        if (key.starts_with('b')) throw 1;
        return key.size();
      });
  ASSERT_TRUE(layout);
  const auto counters = std::make_shared<FilterCounters>();
  const auto builder =
      NewFilterBitsBuilder({.key_layout = *layout, .verify = true}, counters);
  const Block failed = Build(builder.get(), {"a", "b", "c"});
  EXPECT_TRUE(FilterBlock::IsFilterBlock(failed.bytes));
  EXPECT_GT(failed.bytes.size(), 5u) << "RocksDB takes less for 'no match'";
  const auto reader = NewFilterBitsReader(failed.bytes, counters);
  for (const char* key : {"a", "b", "c", "d"}) {
    EXPECT_TRUE(reader->MayMatch(key)) << key;
  }
  EXPECT_EQ(counters->At(-1)->Read().row.unusable, 4u);
  EXPECT_EQ(counters->At(-1)->Read().blocks_unusable, 1u);
  EXPECT_EQ(counters->At(-1)->Read().blocks_failed, 1u);
  EXPECT_EQ(counters->At(-1)->Read().blocks_built, 0u);
  // The next block is a good one, and a throw in a lookup is no answer.
  const Block good = Build(builder.get(), {"a"});
  const auto good_reader = NewFilterBitsReader(good.bytes, counters);
  EXPECT_TRUE(good_reader->MayMatch("a"));
  EXPECT_FALSE(good_reader->MayMatch("z"));
  EXPECT_TRUE(good_reader->MayMatch("b"));
  EXPECT_EQ(counters->At(-1)->Read().blocks_failed, 1u);
  EXPECT_EQ(counters->At(-1)->Read().blocks_built, 1u);
}

TEST(FilterBits, VerificationFindsDamage) {
  const auto builder =
      NewFilterBitsBuilder(kVerified, std::make_shared<FilterCounters>());
  Block block = Build(builder.get(), {"a:x"});
  block.bytes[20] ^= 1;
  EXPECT_TRUE(builder->MaybePostVerify(block.bytes).IsCorruption());
  const auto trusting =
      NewFilterBitsBuilder(kOptions, std::make_shared<FilterCounters>());
  EXPECT_TRUE(trusting->MaybePostVerify(block.bytes).ok());
}

// Through the policy, a damaged block must not reach RocksDB's own reader,
// which would answer "no" to what it takes for its own.
TEST(FilterBits, DamagedBlockIsNeverGivenToTheBuiltInReader) {
  const auto policy =
      test::MakeFilterPolicy({.key_layout = kOptions.key_layout});
  const auto builder =
      NewFilterBitsBuilder(kOptions, std::make_shared<FilterCounters>());
  const std::vector<std::string> keys = {"a:x", "a:y", "b:x", "ccc:x"};
  const Block block = Build(builder.get(), keys);
  const auto expect_all = [&](const std::string& bytes) {
    const std::unique_ptr<rocksdb::FilterBitsReader> reader(
        policy->GetFilterBitsReader(bytes));
    ASSERT_NE(reader, nullptr);
    for (const std::string& key : keys) ASSERT_TRUE(reader->MayMatch(key));
  };
  for (size_t length = 0; length <= block.bytes.size(); ++length) {
    expect_all(block.bytes.substr(0, length));
  }
  for (size_t at = 0; at < block.bytes.size(); ++at) {
    std::string bytes = block.bytes;
    for (int value = 0; value < 256; ++value) {
      bytes[at] = static_cast<char>(value);
      expect_all(bytes);
    }
  }
  EXPECT_EQ(StatsOf(*policy).builtin_blocks_opened, 0u);
}

}  // namespace
}  // namespace rowbloom

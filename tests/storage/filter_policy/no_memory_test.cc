// Each call that RocksDB makes, at every point where memory can run out:
// RocksDB is not exception-safe, so nothing is thrown, and no key is lost.
// Compiled for the newest layout of the interface, which has all calls.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lib/block/filter_block_builder.h"
#include "rowbloom/front_filter.h"
#include "storage/filter_policy/filter_bits.h"
#include "storage/filter_policy/rocksdb_filter_interface.h"
#include "tests/storage/filter_policy/front_filter/all_listed.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/failing_new.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using test::Attempt;
using test::FailingNew;
using test::MakeFilterPolicy;
using test::WithEachFailure;

std::vector<std::string> SomeKeys(size_t rows) {
  std::vector<std::string> keys;
  for (size_t row = 0; row < rows; ++row) {
    for (const char* column : {"a", "b", "a column with a longer name"}) {
      keys.push_back("row" + std::to_string(100'000 + row) + ":" + column);
    }
  }
  return keys;
}

// One for each way that a block is built and read.
std::vector<FilterBlockOptions> AllOptions() {
  const KeyLayout delimited = KeyLayout::Delimited(':');
  std::vector<FilterBlockOptions> all(6, {.key_layout = delimited});
  all[1].bloom_type = BloomType::kRow;
  all[2].bloom_type = BloomType::kRowPrefixFixedLength;
  all[2].row_prefix_length = 5;
  all[3].kind = FilterKind::kRibbon;
  all[4].verify = true;
  all[5].row_spread = 0.5;
  return all;
}

TEST(NoMemory, BlocksKeepEveryKeyThatWasAdded) {
  const std::vector<std::string> keys = SomeKeys(1500);
  for (const FilterBlockOptions& options : AllOptions()) {
    SCOPED_TRACE(std::string(ToString(options.bloom_type)) + " " +
                 std::string(ToString(options.kind)));
    const auto counters = std::make_shared<FilterCounters>();
    int unverified = 0;
    const size_t calls = WithEachFailure([&](Attempt* attempt) {
      const auto builder = NewFilterBitsBuilder(options, counters);
      std::unique_ptr<const char[]> owner;
      rocksdb::Status status;
      attempt->Begin();
      for (size_t i = 0; i < keys.size(); ++i) {
        if (i % 2 == 0) {
          builder->AddKey(keys[i]);
        } else {
          builder->AddKeyAndAlt(keys[i], Slice(keys[i].data(), 10));
        }
      }
      const size_t entries = builder->EstimateEntriesAdded();
      const Slice filter = builder->Finish(&owner, &status);
      const rocksdb::Status verified = builder->MaybePostVerify(filter);
      attempt->End();
      EXPECT_GT(entries, 0u);
      EXPECT_TRUE(status.ok());
      // RocksDB expects no other code.
      EXPECT_TRUE(verified.ok() || verified.IsCorruption());
      if (!verified.ok()) {
        ++unverified;
        EXPECT_TRUE(attempt->failed());
        EXPECT_EQ(verified.subcode(), rocksdb::Status::kMemoryLimit);
      }
      const FilterBlock block =
          FilterBlock::Open({filter.data(), filter.size()});
      EXPECT_TRUE(block.usable() || attempt->failed());
      for (const std::string& key : keys) {
        ASSERT_TRUE(block.MayMatch(key).may_match()) << key;
      }
      // The builder is as new.
      EXPECT_EQ(builder->EstimateEntriesAdded(), 0u);
      builder->AddKey("row:a");
      const Slice next = builder->Finish(&owner, &status);
      EXPECT_TRUE(FilterBlock::Open({next.data(), next.size()}).usable());
    });
    EXPECT_GT(calls, 5u);
    EXPECT_EQ(unverified > 0, options.verify);
  }
}

TEST(NoMemory, RibbonsBecomeBloomFilters) {
  const std::vector<std::string> keys = SomeKeys(1500);
  size_t blooms = 0;
  const size_t calls = WithEachFailure([&](Attempt* attempt) {
    FilterBlockBuilder builder({.bloom_type = BloomType::kRow,
                                .key_layout = KeyLayout::Delimited(':'),
                                .kind = FilterKind::kRibbon});
    for (const std::string& key : keys) builder.AddKey(key);
    std::string bytes;
    attempt->Begin();
    try {
      bytes = builder.Finish();
    } catch (const std::bad_alloc&) {  // for the block itself
    }
    attempt->End();
    const FilterBlock block = FilterBlock::Open(bytes);
    EXPECT_TRUE(block.usable() || bytes.empty());
    for (const FilterSection& section : block.sections()) {
      blooms += section.kind == FilterKind::kBloom ? 1 : 0;
    }
    for (const std::string& key : keys) {
      ASSERT_TRUE(block.MayMatch(key).may_match()) << key;
    }
  });
  // Most of its memory is needed for the ribbon itself.
  EXPECT_GT(blooms, calls / 2);
}

TEST(NoMemory, SizesTakeNoMemory) {
  for (const FilterBlockOptions& options : AllOptions()) {
    const auto builder =
        NewFilterBitsBuilder(options, std::make_shared<FilterCounters>());
    const FailingNew failing(0, FailingNew::For::kAllCalls);
    const size_t space = builder->CalculateSpace(10'000);
    const size_t entries = builder->ApproximateNumEntries(space);
    const double rate = builder->EstimatedFpRate(10'000, space);
    EXPECT_FALSE(FailingNew::HasFailed());
    EXPECT_NEAR(static_cast<double>(entries), 10'000, 100);
    EXPECT_GT(rate, 0);
    EXPECT_LT(rate, 0.05);
  }
}

// A layout that needs memory to split a key.
size_t RowOfCopiedKey(std::string_view key) {
  const std::string copy = std::string(key) + std::string(100, ' ');
  return copy.find(':') + 1;
}

KeyLayout CopyingLayout() {
  static const KeyLayout layout =
      *KeyLayout::RegisterCustom("copied", RowOfCopiedKey);
  return layout;
}

TEST(NoMemory, ReadersAnswer) {
  std::vector<FilterBlockOptions> all = AllOptions();
  all.push_back({.key_layout = CopyingLayout()});
  const std::vector<std::string> keys = SomeKeys(50);
  for (const FilterBlockOptions& options : all) {
    FilterBlockBuilder builder(options);
    for (const std::string& key : keys) builder.AddKey(key);
    const std::string whole = builder.Finish();
    std::string damaged = whole;
    damaged[20] = static_cast<char>(damaged[20] ^ 1);
    EXPECT_FALSE(FilterBlock::Open(damaged).sections()[0].usable());
    for (const std::string& bytes : {whole, damaged, std::string()}) {
      const auto policy = MakeFilterPolicy({.key_layout = options.key_layout});
      std::vector<Slice> slices(keys.begin(), keys.end());
      std::vector<Slice*> pointers;
      for (Slice& slice : slices) pointers.push_back(&slice);
      const auto may_match = std::make_unique<bool[]>(keys.size());
      const size_t calls = WithEachFailure([&](Attempt* attempt) {
        attempt->Begin();
        const std::unique_ptr<rocksdb::FilterBitsReader> reader(
            policy->GetFilterBitsReader(bytes));
        bool all_may_match = true;
        if (reader != nullptr) {
          for (const Slice& key : slices) {
            all_may_match = reader->MayMatch(key) && all_may_match;
          }
          reader->MayMatch(static_cast<int>(keys.size()), pointers.data(),
                           may_match.get());
          for (size_t i = 0; i < keys.size(); ++i) {
            all_may_match = may_match[i] && all_may_match;
          }
        }
        attempt->End();
        EXPECT_TRUE(reader != nullptr || attempt->failed());
        EXPECT_TRUE(all_may_match);
      });
      EXPECT_GT(calls, 0u);
    }
  }
}

TEST(NoMemory, FiltersOfRocksDbAreReadOrNot) {
  const auto policy = MakeFilterPolicy({});
  const std::string foreign(64, '\0');
  const size_t calls = WithEachFailure([&](Attempt* attempt) {
    attempt->Begin();
    const std::unique_ptr<rocksdb::FilterBitsReader> reader(
        policy->GetFilterBitsReader(foreign));
    attempt->End();
    EXPECT_TRUE(reader != nullptr || attempt->failed());
  });
  EXPECT_GT(calls, 0u);
}

TEST(NoMemory, PoliciesMakeABuilderOrNone) {
  for (const FilterPolicyOptions& options :
       {FilterPolicyOptions{.key_layout = KeyLayout::Delimited(':')},
        FilterPolicyOptions{.key_layout = KeyLayout::Delimited(':'),
        .level_allocation = LevelShape(),
        .row_spread = 0.5}}) {
    rocksdb::BlockBasedTableOptions table;
    table.optimize_filters_for_memory = true;
    table.block_cache = rocksdb::NewLRUCache(1 << 20);
    table.cache_usage_options.options_overrides.insert(
        {rocksdb::CacheEntryRole::kFilterConstruction,
         {.charged = rocksdb::CacheEntryRoleOptions::Decision::kEnabled}});
    rocksdb::FilterBuildingContext context(table);
    context.column_family_name = "a family with quite a long name";
    context.num_levels = 7;
    context.level_at_creation = 3;
    const std::vector<std::string> keys = SomeKeys(4000);
    const std::string rocksdb_name = "rocksdb.BuiltinBloomFilter";
    size_t calls = WithEachFailure([&](Attempt* attempt) {
      // A new one, so that what it makes once is made again.
      const auto policy = MakeFilterPolicy(options);
      attempt->Begin();
      const char* const name = policy->Name();
      const char* const compatible = policy->CompatibilityName();
      EXPECT_FALSE(policy->IsInstanceOf(rocksdb_name));
      std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
          policy->GetBuilderWithContext(context));
      attempt->End();
      EXPECT_STRNE(name, "");
      EXPECT_STRNE(compatible, "");
      ASSERT_TRUE(builder != nullptr || attempt->failed());
      if (builder == nullptr)
        builder.reset(policy->GetBuilderWithContext(context));
      ASSERT_NE(builder, nullptr);
    });
    EXPECT_GT(calls, 0u);
    // A builder that charges a cache.
    const auto policy = MakeFilterPolicy(options);
    calls = WithEachFailure([&](Attempt* attempt) {
      std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
          policy->GetBuilderWithContext(context));
      ASSERT_NE(builder, nullptr);
      std::unique_ptr<const char[]> owner;
      attempt->Begin();
      for (const std::string& key : keys) builder->AddKey(key);
      const Slice filter = builder->Finish(&owner);
      attempt->End();
      const FilterBlock block =
          FilterBlock::Open({filter.data(), filter.size()});
      EXPECT_TRUE(block.MayMatch(keys.front()).may_match());
      EXPECT_TRUE(block.MayMatch(keys.back()).may_match());
    });
    EXPECT_GT(calls, 5u);
  }
}

TEST(NoMemory, FilesGoWithoutTheProperty) {
  const auto factory = NewFilterPropertiesFactory();
  const auto policy = MakeFilterPolicy({});
  const rocksdb::BlockBasedTableOptions table;
  const rocksdb::FilterBuildingContext context(table);
  const size_t calls = WithEachFailure([&](Attempt* attempt) {
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy->GetBuilderWithContext(context));
    std::unique_ptr<const char[]> owner;
    rocksdb::UserCollectedProperties written;
    attempt->Begin();
    std::unique_ptr<rocksdb::TablePropertiesCollector> collector(
        factory->CreateTablePropertiesCollector({}));
    const char* const name = collector->Name();
    builder->AddKey("row");
    const rocksdb::Status added =
        collector->AddUserKey("row", "value", rocksdb::kEntryPut, 1, 0);
    builder->Finish(&owner);
    const rocksdb::Status finished = collector->Finish(&written);
    const size_t readable = collector->GetReadableProperties().size();
    collector.reset();
    attempt->End();
    EXPECT_STREQ(name, kFilterProperty);
    EXPECT_TRUE(added.ok());
    EXPECT_TRUE(finished.ok());
    if (!attempt->failed()) {
      EXPECT_EQ(written.count(kFilterProperty), 1u);
      EXPECT_EQ(readable, 1u);
    }
  });
  EXPECT_GT(calls, 1u);
}

// A key of a layout that cannot be asked is outside of the domain.
TEST(NoMemory, ExtractorsNeedNone) {
  for (const KeyLayout& layout :
       {KeyLayout::Escaped(), KeyLayout::Delimited(':'),
        KeyLayout::LengthPrefixed(), KeyLayout::FixedRow(3), CopyingLayout()}) {
    const auto extractor = NewRowPrefixExtractor(layout);
    const bool copies = layout == CopyingLayout();
    for (const std::string_view key :
         {"", "row:column", "a longer row:column"}) {
      const auto split = copies ? std::nullopt : layout.Split(key);
      const FailingNew failing(0, FailingNew::For::kAllCalls);
      size_t length = 0;
      const Slice prefix = extractor->Transform(key);
      EXPECT_EQ(prefix, Slice(split ? split->row : key));
      EXPECT_EQ(extractor->InDomain(key), split.has_value());
      EXPECT_EQ(extractor->SameResultWhenAppended(prefix), split.has_value());
      EXPECT_EQ(extractor->FullLengthEnabled(&length),
                layout.FixedRowBytes().has_value());
      EXPECT_STRNE(extractor->Name(), "");
      EXPECT_EQ(FailingNew::HasFailed(), copies);
    }
  }
}

TEST(NoMemory, ADatabaseIsKeptUntilItHasItsFrontFilter) {
  test::TempDir dir;
  auto options = test::TestDbOptions({MakeFilterPolicy({}), nullptr});
  auto db = test::OpenDb(options, dir.File("db"));
  std::shared_ptr<FrontFilter> filter;
  test::ExpectOk(FrontFilter::Create({}, &filter));
  std::unique_ptr<FrontFilterDB> made;
  const size_t calls = WithEachFailure([&](Attempt* attempt) {
    attempt->Begin();
    try {
      made = std::make_unique<FrontFilterDB>(std::move(db), filter);
    } catch (const std::bad_alloc&) {
    }
    attempt->End();
    ASSERT_NE(made == nullptr, db == nullptr);
    made.reset();
    if (db == nullptr) db = test::OpenDb(options, dir.File("db"));
  });
  EXPECT_EQ(calls, 1u);
}

TEST(NoMemory, OptionsThatAreNotPreparedKeepTheirMemtables) {
  const auto unprepared = test::TestDbOptions({MakeFilterPolicy({}), nullptr});
  std::shared_ptr<FrontFilter> filter;
  test::ExpectOk(FrontFilter::Create({}, &filter));
  const size_t calls = WithEachFailure([&](Attempt* attempt) {
    auto options = unprepared;
    attempt->Begin();
    const bool prepared = filter->Prepare(&options, &options).ok();
    attempt->End();
    EXPECT_TRUE(prepared || attempt->failed());
    EXPECT_NE(options.memtable_factory, nullptr);
  });
  EXPECT_GT(calls, 1u);
}

// An Attach that failed can be repeated, and no family stays arming. A family
// is armed only if its memtables were counted.
TEST(NoMemory, FrontFiltersAreAttachedInTheEnd) {
  test::TempDir dir;
  std::set<std::string> reasons;
  const size_t calls = WithEachFailure([&](Attempt* attempt) {
    auto options = test::DelimitedDbOptions();
    auto filter = test::PrepareFilter(&options);
    const auto db = test::OpenDb(options, dir.File("db"));
    attempt->Begin();
    const bool attached = filter->Attach(db.get()).ok();
    attempt->End();
    EXPECT_TRUE(attached || attempt->failed());
    test::ExpectOk(filter->Attach(db.get()));
    EXPECT_TRUE(test::WaitFor([&filter] {
      return filter->Stats().families.at(0).state != FrontFilterState::kArming;
    }));
    reasons.insert(filter->Stats().families.at(0).why);
    filter->Detach();
  });
  EXPECT_GT(calls, 5u);
  EXPECT_EQ(reasons.count("there was no memory to count its memtables"), 1u);
}

TEST(NoMemory, StatisticsNeedNone) {
  const auto statistics = NewFilterStatistics(nullptr);
  const auto policy = MakeFilterPolicy({});
  FilterBlockBuilder builder({});
  builder.AddKey(std::string("row\0\1column", 11));
  const std::string bytes = builder.Finish();
  const std::unique_ptr<rocksdb::FilterBitsReader> reader(
      policy->GetFilterBitsReader(bytes));
  const FailingNew failing(0, FailingNew::For::kAllCalls);
  for (const uint32_t ticker :
       {rocksdb::BLOOM_FILTER_USEFUL, rocksdb::BLOOM_FILTER_FULL_POSITIVE,
        rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE, rocksdb::NUMBER_KEYS_READ,
        rocksdb::BLOOM_FILTER_PREFIX_CHECKED, rocksdb::NUMBER_DB_SEEK,
        rocksdb::NUMBER_DB_SEEK_FOUND}) {
    reader->MayMatch(Slice("row\0\1column", 11));
    statistics->recordTick(ticker, 1);
  }
  statistics->recordInHistogram(0, 1);
  EXPECT_FALSE(FailingNew::HasFailed());
}

}  // namespace
}  // namespace rowbloom

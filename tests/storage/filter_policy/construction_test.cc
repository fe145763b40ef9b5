// Filter construction finds bits that are corrupted on the way, and charges the
// memory that it needs meanwhile to the block cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/kernels/kernel.h"
#include "rocksdb/cache.h"
#include "storage/filter_policy/cache_charge.h"
#include "storage/filter_policy/filter_bits.h"
#include "storage/filter_policy/usable_bytes.h"
#include "tests/storage/filter_policy/features.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;
using test::ExpectOk;
using test::Features;
using test::StatsOf;

constexpr size_t kStep = CacheCharge::kStepBytes;

// Hands over to a builder, and calls `hook` after each step: with the finished
// block after Finish, with nothing after AddKey.
class HookedBuilder final : public rocksdb::FilterBitsBuilder {
 public:
  using Hook = std::function<void(char* block, size_t bytes)>;
  HookedBuilder(rocksdb::FilterBitsBuilder* owned, Hook hook)
      : builder_(owned), hook_(std::move(hook)) {}
  void AddKey(const Slice& key) override {
    builder_->AddKey(key);
    hook_(nullptr, 0);
  }
#if ROWBLOOM_FILTER_INTERFACE >= 906
  void AddKeyAndAlt(const Slice& key, const Slice& alt) override {
    builder_->AddKeyAndAlt(key, alt);
    hook_(nullptr, 0);
  }
#endif
  size_t EstimateEntriesAdded() override {
    return builder_->EstimateEntriesAdded();
  }
  Slice Finish(std::unique_ptr<const char[]>* buf) override {
    return Finish(buf, nullptr);
  }
  Slice Finish(std::unique_ptr<const char[]>* buf, Status* status) override {
    const Slice filter = builder_->Finish(buf, status);
    hook_(const_cast<char*>(buf->get()), filter.size());
    return filter;
  }
  Status MaybePostVerify(const Slice& filter) override {
    return builder_->MaybePostVerify(filter);
  }
  size_t ApproximateNumEntries(size_t bytes) override {
    return builder_->ApproximateNumEntries(bytes);
  }
#if ROWBLOOM_FILTER_INTERFACE >= 1009
  size_t CalculateSpace(size_t entries) override {
    return builder_->CalculateSpace(entries);
  }
  double EstimatedFpRate(size_t entries, size_t bytes) override {
    return builder_->EstimatedFpRate(entries, bytes);
  }
#endif

 private:
  std::unique_ptr<rocksdb::FilterBitsBuilder> builder_;
  Hook hook_;
};

// The policy with builders of the test's own; reads as the policy.
class TestPolicy final : public rocksdb::FilterPolicy {
 public:
  using MakeBuilder = std::function<std::unique_ptr<rocksdb::FilterBitsBuilder>(
      const rocksdb::FilterBuildingContext&)>;
  TestPolicy(std::shared_ptr<const rocksdb::FilterPolicy> policy,
             MakeBuilder make_builder)
      : policy_(std::move(policy)), make_builder_(std::move(make_builder)) {}
  const char* Name() const override { return "test"; }
  const char* CompatibilityName() const override {
    return policy_->CompatibilityName();
  }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return make_builder_(context).release();
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(
      const Slice& contents) const override {
    return policy_->GetFilterBitsReader(contents);
  }

 private:
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  MakeBuilder make_builder_;
};

// Changes a hash that the builder holds.
const Kernel kDamagesHashes = [] {
  Kernel kernel = kScalarKernel;
  kernel.add = [](const BloomBlocks& blocks, std::byte* data,
                  const uint64_t* hashes, size_t count) {
    const_cast<uint64_t*>(hashes)[count - 1] ^= 1;
    AddScalar(blocks, data, hashes, count);
  };
  return kernel;
}();

class Construction : public Features {
 protected:
  TestPolicy::MakeBuilder WithDamagedBlocks() {
    return [this](const rocksdb::FilterBuildingContext& context) {
      return std::make_unique<HookedBuilder>(
          policy_->GetBuilderWithContext(context),
          [](char* block, size_t bytes) {
            if (block != nullptr) block[bytes / 3] ^= 8;
          });
    };
  }
  TestPolicy::MakeBuilder WithDamagedHashes() {
    return [this](const rocksdb::FilterBuildingContext& context) {
      return std::make_unique<HookedBuilder>(
          policy_->GetBuilderWithContext(context),
          [](char* block, size_t /*bytes*/) {
            const bool finished = block != nullptr;
            UseKernel(finished ? UsableKernels().front() : kDamagesHashes);
          });
    };
  }
  // A new database; *damaging says whether its filters are built with a fault.
  void OpenDamaged(const TestPolicy::MakeBuilder& make_builder,
                   const bool* damaging, bool partitioned, bool detect) {
    const auto policy = std::make_shared<TestPolicy>(
        policy_, [=, this](const rocksdb::FilterBuildingContext& context) {
          return *damaging ? make_builder(context)
                           : std::unique_ptr<rocksdb::FilterBitsBuilder>(
                                 policy_->GetBuilderWithContext(context));
        });
    rocksdb::Options options = Options(partitioned);
    Table(&options)->filter_policy = policy;
    Table(&options)->detect_filter_construct_corruption = detect;
    Remove();
    Open(options);
  }
  size_t LiveFiles() const {
    std::vector<rocksdb::LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    return files.size();
  }
};

TEST_F(Construction, CorruptedFilterIsNeverInstalled) {
  const std::pair<const char*, TestPolicy::MakeBuilder> faults[] = {
      {"block", WithDamagedBlocks()}, {"hash", WithDamagedHashes()}};
  for (const auto& [name, fault] : faults) {
    for (const bool partitioned : {false, true}) {
      SCOPED_TRACE(std::string(name) + (partitioned ? ", partitioned" : ""));
      bool damaging = false;
      OpenDamaged(fault, &damaging, partitioned, true);
      WriteFiles();
      ASSERT_EQ(LiveFiles(), size_t{test::kFiles});
      ExpectCellsAndSkips(db_.get());

      damaging = true;
      const Status compacted = db_->CompactRange({}, nullptr, nullptr);
      EXPECT_TRUE(compacted.IsCorruption()) << compacted.ToString();
      EXPECT_NE(compacted.ToString().find("filter block"), std::string::npos)
          << compacted.ToString();
      EXPECT_EQ(LiveFiles(), size_t{test::kFiles}) << "the old ones";
      ExpectCellsAndSkips(db_.get());

      OpenDamaged(fault, &damaging, partitioned, true);
      ExpectOk(db_->Put({}, "a:x", "v"));
      const Status flushed = db_->Flush({});
      EXPECT_TRUE(flushed.IsCorruption()) << flushed.ToString();
      EXPECT_EQ(LiveFiles(), 0u);
      std::string value;
      ExpectOk(db_->Get({}, "a:x", &value));
    }
  }
}

// Without the option a file with a damaged hash is installed and loses a key.
TEST_F(Construction, WithoutDetectionADamagedHashGoesUnnoticed) {
  const bool damaging = true;
  OpenDamaged(WithDamagedHashes(), &damaging, false, false);
  WriteFiles();
  EXPECT_EQ(LiveFiles(), size_t{test::kFiles});
  int lost = 0;
  std::string value;
  for (int row = 0; row < test::kRows; ++row) {
    for (const char* column : {"a", "b"}) {
      const Status s = db_->Get({}, test::Key(row, column), &value);
      if (s.IsNotFound()) ++lost;
    }
  }
  EXPECT_GT(lost, 0);
}

TEST_F(Construction, DetectionBuildsTheSameFilters) {
  std::vector<FilterStats> stats;
  for (const bool detect : {false, true}) {
    const FilterStats before = StatsOf(*policy_);
    rocksdb::Options options = Options();
    Table(&options)->detect_filter_construct_corruption = detect;
    Remove();
    Open(options);
    WriteFiles();
    ExpectCellsAndSkips(db_.get());
    FilterStats after = StatsOf(*policy_);
    after.bytes_built -= before.bytes_built;
    after.row.skipped -= before.row.skipped;
    after.row_col.skipped -= before.row_col.skipped;
    stats.push_back(after);
  }
  EXPECT_EQ(stats[0].bytes_built, stats[1].bytes_built);
  EXPECT_EQ(stats[0].row.skipped, stats[1].row.skipped);
  EXPECT_EQ(stats[0].row_col.skipped, stats[1].row_col.skipped);
}

// This process's allocator, whichever it is, has as much for the block that
// fills it; glibc's takes a page more for a block that has pages of its own.
TEST(UsableBytes, ABlockOfSoManyTakesAPageMoreAtMost) {
  constexpr size_t kPageBytes = 4096;
  for (size_t bytes = 1; bytes < 3'000'000; bytes += 1 + bytes / 7) {
    const size_t usable = UsableBlockBytes(bytes);
    ASSERT_GE(usable, bytes);
    ASSERT_LE(UsableBlockBytes(usable), usable + kPageBytes) << bytes;
  }
}

TEST(CacheCharge, GrowsAndShrinksInStepsAndEndsAtNothing) {
  const auto cache = rocksdb::NewLRUCache(64 << 20, 0);
  const size_t before = cache->GetUsage();
  {
    CacheCharge charge(cache);
    EXPECT_EQ(cache->GetUsage(), before);
    charge.Set(1);
    EXPECT_EQ(charge.charged_bytes(), kStep);
    EXPECT_GE(cache->GetPinnedUsage(), kStep);
    charge.Set(kStep);
    EXPECT_EQ(charge.charged_bytes(), kStep);
    charge.Set(10 * kStep + 1);
    EXPECT_EQ(charge.charged_bytes(), 11 * kStep);
    EXPECT_GE(cache->GetPinnedUsage(), 11 * kStep);
    charge.Set(3 * kStep);
    EXPECT_EQ(charge.charged_bytes(), 3 * kStep);
    EXPECT_LT(cache->GetPinnedUsage(), 4 * kStep);
    charge.Set(0);
    EXPECT_EQ(cache->GetUsage(), before);
    charge.Set(5 * kStep);
  }
  EXPECT_EQ(cache->GetUsage(), before);
}

TEST(CacheCharge, ChargesOfSeveralBuildersAddUp) {
  const auto cache = rocksdb::NewLRUCache(64 << 20, 0);
  CacheCharge first(cache);
  CacheCharge second(cache);
  first.Set(3 * kStep);
  second.Set(4 * kStep);
  EXPECT_GE(cache->GetPinnedUsage(), 7 * kStep);
  first.Set(0);
  EXPECT_GE(cache->GetPinnedUsage(), 4 * kStep);
  EXPECT_LT(cache->GetPinnedUsage(), 5 * kStep);
}

TEST(CacheCharge, RefusedStepsAreTriedAgainLater) {
  const auto cache =
      rocksdb::NewLRUCache(4 * kStep, 0, /*strict_capacity_limit=*/true);
  CacheCharge charge(cache);
  charge.Set(20 * kStep);
  EXPECT_LE(charge.charged_bytes(), 4 * kStep);
  EXPECT_GE(charge.charged_bytes(), 3 * kStep);
  cache->SetCapacity(40 * kStep);
  charge.Set(21 * kStep);
  EXPECT_EQ(charge.charged_bytes(), 21 * kStep);
}

TEST(CacheCharge, OtherCachesAndNoneWork) {
  CacheCharge none(nullptr);
  none.Set(100 * kStep);
  EXPECT_EQ(none.charged_bytes(), 0u);
  const auto cache =
      rocksdb::HyperClockCacheOptions(64 << 20, 4096).MakeSharedCache();
  {
    CacheCharge charge(cache);
    charge.Set(5 * kStep);
    EXPECT_EQ(charge.charged_bytes(), 5 * kStep);
    EXPECT_GE(cache->GetPinnedUsage(), 5 * kStep);
  }
  EXPECT_EQ(cache->GetPinnedUsage(), 0u);
}

TEST(CacheCharge, OptionsSayWhetherAndWhere) {
  using Decision = rocksdb::CacheEntryRoleOptions::Decision;
  constexpr auto kRole = rocksdb::CacheEntryRole::kFilterConstruction;
  rocksdb::BlockBasedTableOptions options;
  options.block_cache = rocksdb::NewLRUCache(1 << 20);
  EXPECT_EQ(CacheToCharge(options), nullptr);
  options.cache_usage_options.options.charged = Decision::kEnabled;
  EXPECT_EQ(CacheToCharge(options), options.block_cache);
  options.cache_usage_options.options_overrides[kRole].charged =
      Decision::kDisabled;
  EXPECT_EQ(CacheToCharge(options), nullptr);
  options.cache_usage_options.options_overrides[kRole].charged =
      Decision::kFallback;
  EXPECT_EQ(CacheToCharge(options), options.block_cache);
  options.block_cache = nullptr;
  EXPECT_EQ(CacheToCharge(options), nullptr);
}

// Looks at the cache at each step of a file's builder.
class ChargedFlush : public Features {
 protected:
  static constexpr int kKeys = 300'000;

  // Writes and flushes many keys, and returns the most that was pinned in the
  // cache meanwhile.
  size_t PeakWhileFlushing(bool charged, bool partitioned, bool detect,
                           const std::shared_ptr<rocksdb::Cache>& cache) {
    size_t peak = 0;
    const auto policy = std::make_shared<TestPolicy>(
        policy_, [&](const rocksdb::FilterBuildingContext& context) {
          return std::make_unique<HookedBuilder>(
              policy_->GetBuilderWithContext(context), [&](char*, size_t) {
                peak = std::max(peak, cache->GetPinnedUsage());
              });
        });
    rocksdb::Options options = Options(partitioned);
    options.write_buffer_size = size_t{256} << 20;
    rocksdb::BlockBasedTableOptions* table = Table(&options);
    table->filter_policy = policy;
    table->metadata_block_size = 4096;
    // RocksDB cuts filters where it cuts the index.
    table->block_size = partitioned ? 256 : 4096;
    table->block_cache = cache;
    table->detect_filter_construct_corruption = detect;
    table->cache_usage_options
        .options_overrides[rocksdb::CacheEntryRole::kFilterConstruction]
        .charged = charged
                       ? rocksdb::CacheEntryRoleOptions::Decision::kEnabled
                       : rocksdb::CacheEntryRoleOptions::Decision::kDisabled;
    Open(options);
    rocksdb::WriteOptions no_log;
    no_log.disableWAL = true;
    rocksdb::WriteBatch batch;
    for (int i = 0; i < kKeys; ++i) {
      batch.Put(KeyAt(i), "v");
      if (batch.Count() == 1000) {
        ExpectOk(db_->Write(no_log, &batch));
        batch.Clear();
      }
    }
    ExpectOk(db_->Write(no_log, &batch));
    ExpectOk(db_->Flush({}));
    return peak;
  }
  static std::string KeyAt(int i) {
    return "row" + std::to_string(1'000'000 + i / 10) + ":" +
           std::to_string(i % 10);
  }
  void ExpectKeys() {
    std::string value;
    const FilterStats before = StatsOf(*policy_);
    for (int i = 0; i < kKeys; i += 101) {
      ExpectOk(db_->Get({}, KeyAt(i), &value));
      EXPECT_TRUE(db_->Get({}, KeyAt(i) + "x", &value).IsNotFound());
    }
    EXPECT_GT(StatsOf(*policy_).row_col.skipped - before.row_col.skipped,
              kKeys / 101 * 9u / 10);
  }
};

// 330,000 hashes of 8 bytes, and the block of 1.24 bytes for each.
TEST_F(ChargedFlush, CacheHoldsTheChargeWhileTheFilterIsBuilt) {
  const auto cache = rocksdb::NewLRUCache(64 << 20, 0);
  const size_t peak = PeakWhileFlushing(true, false, false, cache);
  EXPECT_GE(peak, 330'000u * 8);
  EXPECT_LE(peak, 330'000u * 8 + 4 * kStep);
  EXPECT_LT(cache->GetPinnedUsage(), kStep) << "all given back";
  ExpectKeys();
}

// The partitions of a file stay in memory until all of them are written.
TEST_F(ChargedFlush, PartitionsCountUntilTheFileIsWritten) {
  const auto cache = rocksdb::NewLRUCache(64 << 20, 0);
  const FilterStats before = StatsOf(*policy_);
  const size_t peak = PeakWhileFlushing(true, true, false, cache);
  const uint64_t blocks = StatsOf(*policy_).bytes_built - before.bytes_built;
  EXPECT_GE(peak + kStep, blocks);
  EXPECT_LE(peak, blocks + 2 * kStep) << "hashes of one partition only";
  EXPECT_LT(cache->GetPinnedUsage(), kStep);
  ExpectKeys();
}

TEST_F(ChargedFlush, NothingIsChargedUnlessAskedFor) {
  const auto cache = rocksdb::NewLRUCache(64 << 20, 0);
  EXPECT_LT(PeakWhileFlushing(false, false, false, cache), kStep);
}

// The hashes stay until the block is verified: with it in memory at the peak.
TEST_F(ChargedFlush, DetectionKeepsTheHashesLonger) {
  const auto cache = rocksdb::NewLRUCache(64 << 20, 0);
  EXPECT_GE(PeakWhileFlushing(true, false, true, cache),
            330'000u * 8 + 330'000u * 12 / 10);
}

// A full cache loses the charge but no key, as with RocksDB's own Bloom filter.
TEST_F(ChargedFlush, FullCacheWithAStrictLimitLosesNoKey) {
  const auto cache =
      rocksdb::NewLRUCache(2 * kStep + kStep / 2, 0, /*strict=*/true);
  const size_t peak = PeakWhileFlushing(true, false, false, cache);
  EXPECT_GE(peak, kStep);
  EXPECT_LE(peak, cache->GetCapacity());
  ExpectKeys();
  EXPECT_EQ(StatsOf(*policy_).blocks_failed, 0u);
}

}  // namespace
}  // namespace rowbloom

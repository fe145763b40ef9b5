#include "storage/filter_policy/filter_bits.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

#include "lib/block/parsed_block.h"
#include "lib/kernels/kernel.h"
#include "storage/filter_policy/cache_charge.h"
#include "storage/filter_policy/ids.h"
#include "storage/filter_policy/loaded_block.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;
using std::string_view_literals::operator""sv;

// The block to write if one cannot be built. It starts and ends as ours do and
// has version 0, so that every reader answers "may match".
constexpr std::string_view kAnswersMayMatch =
    "ROWBLOOM\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x9cRWBL"sv;

class Builder final : public rocksdb::FilterBitsBuilder {
 public:
  Builder(const FilterBlockOptions& options,
          std::shared_ptr<FilterCounters> counters,
          std::shared_ptr<rocksdb::Cache> charged_cache)
      : builder_(options),
        verify_(options.verify),
        counters_(std::move(counters)),
        level_(counters_->At(options.origin.level)),
        summary_(std::make_shared<FilterSummary>(FilterSummary{
            options.bloom_type, options.kind, options.key_layout.ToString()})),
        charge_(std::move(charged_cache)) {
    OfferToCollector(summary_);
  }

  void AddKey(const Slice& key) override {
    if (!builder_.TryAddKey(key.ToStringView())) AddKeyWithCare(key);
  }

#if ROWBLOOM_FILTER_INTERFACE >= 906
  void AddKeyAndAlt(const Slice& key, const Slice& alt) override {
    AddKey(key);
    try {
      builder_.AddPrefix(alt.ToStringView());
    } catch (...) {
      failed_ = true;
    }
    Charge(0);
  }
#endif

  size_t EstimateEntriesAdded() override {
    return failed_ ? std::max<size_t>(1, builder_.EstimateEntries())
                   : builder_.EstimateEntries();
  }

  Slice Finish(std::unique_ptr<const char[]>* buf) override {
    return Finish(buf, nullptr);
  }

  Slice Finish(std::unique_ptr<const char[]>* buf, Status* status) override {
    if (status != nullptr) *status = Status::OK();
    const auto start = std::chrono::steady_clock::now();
    try {
      if (!std::exchange(failed_, false) &&
          extractor_failures_ == ExtractorFailures()) {
        // The block and the copy that RocksDB gets.
        Charge(2 * builder_.SpaceFor(builder_.EstimateEntries()));
        const std::string block = builder_.Finish();
        auto bytes = std::make_unique_for_overwrite<char[]>(block.size());
        std::memcpy(bytes.get(), block.data(), block.size());
        const Slice filter(bytes.get(), block.size());
        *buf = std::move(bytes);
        summary_->Add(builder_.finished_sections(), filter.size());
        level_->CountBuilt(filter.size(),
                           std::chrono::steady_clock::now() - start);
        finished_bytes_ += filter.size();
        Charge(0);
        return filter;
      }
    } catch (...) {
    }
    builder_.Reset();
    Charge(0);
    level_->CountFailed();
    buf->reset();
    return Slice(kAnswersMayMatch.data(), kAnswersMayMatch.size());
  }

  Status MaybePostVerify(const Slice& filter_content) override {
    // The substitute for a block that could not be built has no keys to check.
    if (!verify_ || filter_content.data() == kAnswersMayMatch.data()) {
      return Status::OK();
    }
    try {
      const std::string problem =
          builder_.Verify(filter_content.ToStringView());
      Charge(0);
      if (!problem.empty()) return Status::Corruption(problem);
    } catch (...) {
      // Builds of RocksDB with assertions abort on other codes. A text would
      // need memory.
      return Status::Corruption(Status::kMemoryLimit);
    }
    return Status::OK();
  }

  size_t ApproximateNumEntries(size_t bytes) override {
    return builder_.EntriesThatFit(bytes);
  }

#if ROWBLOOM_FILTER_INTERFACE >= 1009
  size_t CalculateSpace(size_t num_entries) override {
    return builder_.SpaceFor(num_entries);
  }
  double EstimatedFpRate(size_t num_entries, size_t bytes) override {
    return builder_.RateOf(num_entries, bytes);
  }
#endif

 private:
  // Adds a key that may need memory. If there is none, or a custom layout
  // throws, the key may be missing, so the block answers "may match" to every
  // lookup.
  [[gnu::noinline]] void AddKeyWithCare(const Slice& key) {
    // The file's collectors are made before its first key: if there is none of
    // ours, the summary must not go to that of another file.
    OfferToCollector(nullptr);
    try {
      builder_.AddKey(key.ToStringView());
    } catch (...) {
      failed_ = true;
    }
    Charge(0);
  }

  // Charges the builder's memory and `more` bytes. Finished blocks count until
  // the builder is destroyed: RocksDB keeps the partitions of a file as long.
  void Charge(size_t more) noexcept {
    if (!charge_.active()) return;
    charge_.Set(builder_.MemoryBytes() + finished_bytes_ + more);
  }

  FilterBlockBuilder builder_;
  bool verify_;
  bool failed_ = false;
  // The failures before this file. A later one may be of a key of this file,
  // whose prefix is then missing.
  const uint64_t extractor_failures_ = ExtractorFailures();
  std::shared_ptr<FilterCounters> counters_;
  LevelCounters* level_;  // one of counters_
  std::shared_ptr<FilterSummary> summary_;
  CacheCharge charge_;
  size_t finished_bytes_ = 0;
};

// Answers lookups in one block, which counts as loaded while the reader exists.
class Reader final : public rocksdb::FilterBitsReader {
 public:
  Reader(ParsedBlock block, std::string_view contents,
         std::shared_ptr<FilterCounters> counters)
      : lookup_(std::move(block.lookup)),
        shown_(contents, &lookup_.row_col()),
        level_(counters->At(block.origin.level)),
        counters_(std::move(counters)),
        block_bytes_(contents.size()) {
    level_->CountOpened(block.problem.empty(), block_bytes_);
  }
  ~Reader() override { level_->CountClosed(block_bytes_); }

  [[gnu::flatten]] bool MayMatch(const Slice& entry) override {
    MatchResult result;
    try {
      result = lookup_.MayMatch(entry.ToStringView());
    } catch (...) {  // a custom layout may throw
      result = MatchResult(Verdict::kUnusable);
    }
    // This is a branch, not a value computed from the filter's bytes: a CPU
    // predicts it and continues before they are loaded.
    if (result.may_match()) {
      level_->CountAnswer(lookup_, result);
      __asm__ volatile("");
      return true;
    }
    level_->CountAnswer(lookup_, result);
    return false;
  }

  void MayMatch(int num_keys, Slice** keys, bool* may_match) override {
    constexpr int kBatch = Kernel::kMaxMany;
    for (int start = 0; start < num_keys; start += kBatch) {
      const int count = std::min(kBatch, num_keys - start);
      try {
        const BatchAnswers answers =
            lookup_.MayMatch(count, [batch = keys + start](size_t i) {
              return batch[i]->ToStringView();
            });
        const uint32_t ruled_out = answers.RuledOut();
        for (int i = 0; i < count; ++i) {
          may_match[start + i] = (ruled_out >> i & 1) == 0;
        }
        level_->CountAnswers(lookup_, answers, count);
      } catch (...) {  // a custom layout may throw, for any of the keys
        for (int i = 0; i < count; ++i) {
          may_match[start + i] = MayMatch(*keys[start + i]);
        }
      }
    }
  }

 private:
  const Lookup lookup_;
  const LoadedBlock::Shown shown_;
  LevelCounters* const level_;  // one of counters_
  const std::shared_ptr<FilterCounters> counters_;
  const size_t block_bytes_;
};

}  // namespace

std::unique_ptr<rocksdb::FilterBitsBuilder> NewFilterBitsBuilder(
    const FilterBlockOptions& options, std::shared_ptr<FilterCounters> counters,
    std::shared_ptr<rocksdb::Cache> charged_cache) {
  return std::make_unique<Builder>(options, std::move(counters),
                                   std::move(charged_cache));
}

std::unique_ptr<rocksdb::FilterBitsReader> NewFilterBitsReader(
    const Slice& contents, std::shared_ptr<FilterCounters> counters) {
  const std::string_view bytes = contents.ToStringView();
  return std::make_unique<Reader>(ParseFilterBlock(bytes), bytes,
                                  std::move(counters));
}

}  // namespace rowbloom

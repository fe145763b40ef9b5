#include "storage/filter_policy/filter_bits.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "lib/block/key_entries.h"
#include "lib/kernels/kernel.h"
#include "rowbloom/bloom_math.h"
#include "storage/filter_policy/cache_charge.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;
using std::string_view_literals::operator""sv;

std::string_view View(const Slice& slice) {
  return {slice.data(), slice.size()};
}

// Written when a block could not be built: it starts and ends as ours do and
// has version 0, so that every reader answers "may match".
constexpr std::string_view kAnswersMayMatch =
    "ROWBLOOM\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x9cRWBL"sv;

uint64_t NanosSince(std::chrono::steady_clock::time_point start) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::steady_clock::now() - start)
          .count());
}

// Counts one block as loaded for as long as it lives, and knows where its
// answers are counted.
struct Counting {
  Counting(const FilterBlock& block, bool count_questions,
           std::shared_ptr<FilterCounters> all)
      : questions(count_questions),
        block_bytes(block.size_bytes()),
        counters(std::move(all)),
        origin(counters->Of(block.origin())) {
    origin->CountOpened(block.usable(), block_bytes);
  }
  Counting(Counting&&) = default;
  ~Counting() {
    if (counters != nullptr) origin->CountClosed(block_bytes);
  }

  bool questions;
  size_t block_bytes;
  std::shared_ptr<FilterCounters> counters;
  OriginCounters* origin;  // of counters
};

class Builder : public rocksdb::FilterBitsBuilder {
 public:
  Builder(const FilterBlockOptions& options,
          std::shared_ptr<FilterCounters> counters,
          std::shared_ptr<rocksdb::Cache> charged_cache)
      : builder_(options),
        verify_(options.verify),
        counters_(std::move(counters)),
        origin_(counters_->Of(options.origin)),
        summary_(std::make_shared<FilterSummary>(
            options.bloom_type, options.kind, options.key_layout.ToString())),
        charge_(std::move(charged_cache)) {
    OfferToCollector(summary_);
  }

  void AddKey(const Slice& key) override { AddKeyWithCare(key); }

#if ROWBLOOM_FILTER_INTERFACE >= 906
  void AddKeyAndAlt(const Slice& key, const Slice& alt) override {
    AddKey(key);
    try {
      builder_.AddPrefix(View(alt));
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
      if (!std::exchange(failed_, false)) {
        // The block and the copy that RocksDB gets.
        Charge(2 * builder_.SpaceFor(builder_.EstimateEntries()));
        const std::string block = builder_.Finish();
        auto bytes = std::make_unique_for_overwrite<char[]>(block.size());
        std::memcpy(bytes.get(), block.data(), block.size());
        const Slice filter(bytes.get(), block.size());
        *buf = std::move(bytes);
        summary_->Add(builder_.finished_sections(), filter.size());
        origin_->CountBuilt(filter.size(), NanosSince(start));
        finished_bytes_ += filter.size();
        Charge(0);
        return filter;
      }
    } catch (...) {
    }
    builder_.Reset();
    Charge(0);
    origin_->CountFailed();
    buf->reset();
    return Slice(kAnswersMayMatch.data(), kAnswersMayMatch.size());
  }

  Status MaybePostVerify(const Slice& filter_content) override {
    // A block that could not be built is as it should be.
    if (!verify_ || filter_content.data() == kAnswersMayMatch.data()) {
      return Status::OK();
    }
    try {
      const std::string problem = builder_.Verify(View(filter_content));
      Charge(0);
      if (!problem.empty()) return Status::Corruption(problem);
    } catch (...) {
      return Status::MemoryLimit();  // a text would need memory
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
    if (num_entries == 0) return 0;
    const size_t overhead = builder_.SpaceFor(0);
    if (bytes <= overhead) return 1;
    return FalsePositiveRate(8.0 * static_cast<double>(bytes - overhead) /
                             static_cast<double>(num_entries));
  }
#endif

 protected:
  KeyEntries& entries() { return builder_.entries(); }

  // For keys that may take memory. Without it, or after an exception of a
  // custom layout, the block answers "may match" to everything, since a key may
  // be missing in it.
  [[gnu::noinline]] void AddKeyWithCare(const Slice& key) {
    try {
      builder_.AddKey(View(key));
    } catch (...) {
      failed_ = true;
    }
    Charge(0);
  }

 private:
  // Charges what the builder holds, and `more` bytes. Finished blocks count
  // until the builder goes: RocksDB keeps the partitions of a file so long.
  void Charge(size_t more) noexcept {
    if (!charge_.active()) return;
    charge_.Set(builder_.MemoryBytes() + finished_bytes_ + more);
  }

  FilterBlockBuilder builder_;
  bool verify_;
  bool failed_ = false;
  std::shared_ptr<FilterCounters> counters_;
  OriginCounters* origin_;  // of counters_
  std::shared_ptr<FilterSummary> summary_;
  CacheCharge charge_;
  size_t finished_bytes_ = 0;
};

// For keys of one kind of layout, most of which need no call.
template <KeyLayout::Kind kKind>
class PlainBuilder final : public Builder {
 public:
  using Builder::Builder;

  void AddKey(const Slice& key) override {
    if (!entries().template TryAddKey<kKind>(View(key))) AddKeyWithCare(key);
  }
};

template <typename OneBuilder>
std::unique_ptr<rocksdb::FilterBitsBuilder> NewBuilder(
    const FilterBlockOptions& options, std::shared_ptr<FilterCounters> counters,
    std::shared_ptr<rocksdb::Cache> charged_cache) {
  return std::make_unique<OneBuilder>(options, std::move(counters),
                                      std::move(charged_cache));
}

auto* BuilderFor(const FilterBlockOptions& options) {
  using Kind = KeyLayout::Kind;
  const Kind kind =
      KeyEntries::IsPlain(options) ? options.key_layout.kind() : Kind::kCustom;
  switch (kind) {
    case Kind::kEscaped:
      return NewBuilder<PlainBuilder<Kind::kEscaped>>;
    case Kind::kFixed:
      return NewBuilder<PlainBuilder<Kind::kFixed>>;
    case Kind::kDelimited:
      return NewBuilder<PlainBuilder<Kind::kDelimited>>;
    case Kind::kLengthPrefixed:
      return NewBuilder<PlainBuilder<Kind::kLengthPrefixed>>;
    case Kind::kCustom:
      break;
  }
  return NewBuilder<Builder>;
}

Matcher WithCounters(Matcher matcher, StripedCounters* counters) {
  matcher.counters = counters;
  return matcher;
}

// A kernel takes a Slice for a KeyView.
static_assert(sizeof(Slice) == sizeof(KeyView) &&
              std::is_standard_layout_v<Slice> &&
              offsetof(Slice, data_) == offsetof(KeyView, data) &&
              offsetof(Slice, size_) == offsetof(KeyView, size));

// For blocks that a kernel can answer for: the usual ones.
class KernelReader : public rocksdb::FilterBitsReader {
 public:
  // REQUIRES block.matcher().
  KernelReader(const FilterBlock& block, Counting counting)
      : matcher_(WithCounters(*block.matcher(), counting.origin->answers())),
        functions_(ActiveKernel().MatchFor(matcher_)),
        shared_matcher_(block.matcher()),
        counting_(std::move(counting)) {}

  bool MayMatch(const Slice& entry) override {
    const Answer answer = functions_.match(matcher_, &entry);
    if (counting_.questions) {
      counting_.origin->CountAnswer(answer, matcher_.has_row_col);
    }
    return answer != Answer::kRowNo && answer != Answer::kRowColNo;
  }

  void MayMatch(int num_keys, Slice** keys, bool* may_match) override {
    constexpr int kBatch = BatchAnswers::kMaxKeys;
    for (int start = 0; start < num_keys; start += kBatch) {
      const int count = std::min(kBatch, num_keys - start);
      BatchAnswers answers;
      functions_.match_batch(matcher_, keys + start, static_cast<size_t>(count),
                             &answers);
      const uint32_t no = answers.row_no | answers.row_col_no;
      for (int i = 0; i < count; ++i) may_match[start + i] = (no >> i & 1) == 0;
      if (counting_.questions) {
        counting_.origin->CountAnswers(answers, count, matcher_.has_row_col);
      }
    }
  }

 protected:
  // What a question needs comes first.
  const Matcher matcher_;
  const MatchFunctions functions_;

 private:
  std::shared_ptr<const Matcher> shared_matcher_;  // keeps what is pointed to
  Counting counting_;
};

// Where nobody observes and questions are counted, the kernel counts them, and
// is the last call: questions that wait for memory then tie up so little of a
// CPU that more of them are under way.
class CountingKernelReader final : public KernelReader {
 public:
  using KernelReader::KernelReader;
  using KernelReader::MayMatch;

  bool MayMatch(const Slice& entry) override {
    return functions_.may_match(matcher_, &entry);
  }
};

// For all others: custom layouts, ROWPREFIX sections, damage.
class BlockReader final : public rocksdb::FilterBitsReader {
 public:
  BlockReader(FilterBlock block, Counting counting)
      : block_(std::move(block)),
        has_row_col_(block_.HasSection(SectionType::kRowCol)),
        counting_(std::move(counting)) {}

  bool MayMatch(const Slice& entry) override {
    MatchResult result;
    try {
      result = block_.MayMatch(View(entry));
    } catch (...) {  // of a custom layout
      result = {.row = Verdict::kUnusable};
    }
    if (counting_.questions) {
      counting_.origin->CountAnswer(result, has_row_col_);
    }
    return result.may_match;
  }

  void MayMatch(int num_keys, Slice** keys, bool* may_match) override {
    constexpr int kBatch = 32;
    std::array<std::string_view, kBatch> views;
    std::array<MatchResult, kBatch> results;
    for (int start = 0; start < num_keys; start += kBatch) {
      const int count = std::min(kBatch, num_keys - start);
      for (int i = 0; i < count; ++i) views[i] = View(*keys[start + i]);
      try {
        block_.MayMatch(std::span(views).first(count), results);
      } catch (...) {
        results.fill({.row = Verdict::kUnusable});
      }
      for (int i = 0; i < count; ++i) {
        may_match[start + i] = results[i].may_match;
      }
      if (counting_.questions) {
        counting_.origin->CountAnswers(results.data(), count, has_row_col_);
      }
    }
  }

 private:
  FilterBlock block_;
  bool has_row_col_;
  Counting counting_;
};

}  // namespace

std::unique_ptr<rocksdb::FilterBitsBuilder> NewFilterBitsBuilder(
    const FilterBlockOptions& options, bool verify,
    std::shared_ptr<FilterCounters> counters,
    std::shared_ptr<rocksdb::Cache> charged_cache) {
  FilterBlockOptions block = options;
  block.verify = verify;
  return BuilderFor(block)(block, std::move(counters),
                           std::move(charged_cache));
}

std::unique_ptr<rocksdb::FilterBitsReader> NewFilterBitsReader(
    const Slice& contents, bool count_questions,
    std::shared_ptr<FilterCounters> counters) {
  FilterBlock block = FilterBlock::Open(View(contents));
  Counting counting(block, count_questions, std::move(counters));
  if (block.matcher() != nullptr) {
    if (count_questions && !OriginCounters::Observed()) {
      return std::make_unique<CountingKernelReader>(block, std::move(counting));
    }
    return std::make_unique<KernelReader>(block, std::move(counting));
  }
  return std::make_unique<BlockReader>(std::move(block), std::move(counting));
}

}  // namespace rowbloom

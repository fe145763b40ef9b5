// Learns from RocksDB's tickers whether the answers of filters were right.
// RocksDB ticks on the thread of the lookup, right after it:
//
//   get      lookup, USEFUL | FULL_POSITIVE [, FULL_TRUE_POSITIVE],
//            again for the next file, ..., NUMBER_KEYS_READ
//            without whole keys, since 8.3:
//            lookup, PREFIX_CHECKED [, PREFIX_TRUE_POSITIVE]
//   seek     lookup, PREFIX_CHECKED [, PREFIX_USEFUL]          (before 8.3)
//            lookup, SEEK_FILTERED | SEEK_FILTER_MATCH         (since 8.3)
//            again for each file, ..., NUMBER_DB_SEEK [, NUMBER_DB_SEEK_FOUND]
//
// A seek that found nothing in the whole database resolves the answers of all
// its files: a "may match" was false, a "no" true. A seek that found something
// resolves only a single "may match", which was true.
#include <array>
#include <span>
#include <utility>

#include "rocksdb/statistics.h"
#include "rocksdb/version.h"
#include "rowbloom/filter_policy.h"
#include "storage/filter_policy/filter_counters.h"

namespace rowbloom {
namespace {

using rocksdb::Statistics;
using LastAnswer = LevelCounters::LastAnswer;

// The answers that one seek got.
class SeekAnswers {
 public:
  // Adds the last answer of this thread, if no ticker has taken it yet.
  void AddLast() {
    LastAnswer& last = LevelCounters::ThreadLastAnswer();
    if (last.counters == nullptr) return;
    if (count_ < kMaxAnswers) answers_[count_] = last;
    ++count_;
    last.counters = nullptr;
  }

  void Clear() { count_ = 0; }

  // Counts the outcome of the answers, unless too many, and clears them.
  void Resolve(bool found) {
    if (count_ <= kMaxAnswers) found ? ResolveFound() : ResolveFruitless();
    Clear();
  }

 private:
  // Files of one seek: enough for 64 overlapping files and levels.
  static constexpr size_t kMaxAnswers = 64;

  void ResolveFruitless() const {
    for (const LastAnswer& answer : std::span(answers_).first(count_)) {
      answer.counters->CountObservation(
          /*row_col=*/false,
          {.opened = answer.row.may, .true_negatives = answer.row.no});
    }
  }

  void ResolveFound() const {
    LevelCounters* only = nullptr;
    for (const LastAnswer& answer : std::span(answers_).first(count_)) {
      if (answer.row.may == 0) continue;
      if (only != nullptr) return;
      only = answer.counters;
    }
    if (only == nullptr) return;
    only->CountObservation(/*row_col=*/false,
                           {.opened = 1, .true_positives = 1});
  }

  std::array<LastAnswer, kMaxAnswers> answers_;
  size_t count_ = 0;  // those beyond kMaxAnswers are not kept
};

// The reads of one thread.
struct ThreadReads {
  // The counters of the last "may match" of the get under way, for which the
  // ticker of a true positive may follow.
  LevelCounters* opened = nullptr;
  bool opened_by_row_col = false;

  SeekAnswers seek;  // for the seek under way
  SeekAnswers done;  // for the one before; its result is not known yet
};

constinit thread_local ThreadReads thread_reads;

// Counts the last answer of a get for ROWCOL if the block has that section,
// else for the row. If ROW excluded the file before ROWCOL was probed, as in
// most files, nothing is counted.
void OnGetAnswer() {
  LastAnswer& last = LevelCounters::ThreadLastAnswer();
  LevelCounters* const counters = std::exchange(last.counters, nullptr);
  const LastAnswer::OfSection answers =
      last.row_col_block ? last.row_col : last.row;
  if (counters == nullptr || (answers.may == 0 && answers.no == 0)) return;
  // The file may have keys of a MultiGet that this section did not answer, such
  // as bare rows. A ticker does not tell which keys are meant.
  if (last.passed != answers.may) return;
  counters->CountObservation(
      last.row_col_block,
      {.opened = answers.may, .true_negatives = answers.no});
  if (answers.may == 0) return;
  ThreadReads& reads = thread_reads;
  reads.opened = counters;
  reads.opened_by_row_col = last.row_col_block;
}

void Observe(uint32_t ticker) {
  ThreadReads& reads = thread_reads;
  switch (ticker) {
    case rocksdb::BLOOM_FILTER_FULL_POSITIVE:
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 803
    case rocksdb::BLOOM_FILTER_PREFIX_CHECKED:
#endif
      // The answer may be that of another filter than rowbloom's.
      reads.opened = nullptr;
      OnGetAnswer();
      break;
    case rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE:
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 803
    case rocksdb::BLOOM_FILTER_PREFIX_TRUE_POSITIVE:
#endif
      if (reads.opened != nullptr) {
        reads.opened->CountObservation(reads.opened_by_row_col,
                                       {.true_positives = 1});
      }
      break;
    case rocksdb::NUMBER_KEYS_READ:
    case rocksdb::NUMBER_MULTIGET_CALLS:
      reads.opened = nullptr;
      // Before 8.3, a MultiGet without whole keys adds answers here.
      reads.seek.Clear();
      reads.done.Resolve(false);
      break;
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 803
    case rocksdb::LAST_LEVEL_SEEK_FILTERED:
    case rocksdb::LAST_LEVEL_SEEK_FILTER_MATCH:
    case rocksdb::NON_LAST_LEVEL_SEEK_FILTERED:
    case rocksdb::NON_LAST_LEVEL_SEEK_FILTER_MATCH:
#else
    case rocksdb::BLOOM_FILTER_PREFIX_CHECKED:
#endif
      reads.seek.AddLast();
      break;
    // An iterator's step that seeks internally is no seek of a user.
    case rocksdb::NUMBER_OF_RESEEKS_IN_ITERATION:
      reads.seek.Clear();
      break;
    case rocksdb::NUMBER_DB_SEEK:
      reads.done.Resolve(false);
      std::swap(reads.done, reads.seek);
      break;
    case rocksdb::NUMBER_DB_SEEK_FOUND:
      reads.done.Resolve(true);
      break;
    default:
      break;
  }
}

class FilterStatistics final : public Statistics {
 public:
  explicit FilterStatistics(std::shared_ptr<Statistics> inner)
      : inner_(std::move(inner)) {
    // Without an inner object RocksDB need not read the clock.
    set_stats_level(inner_ ? inner_->get_stats_level()
                           : rocksdb::kExceptHistogramOrTimers);
  }

  const char* Name() const override { return "rowbloom.FilterStatistics"; }
  const Customizable* Inner() const override { return inner_.get(); }

  void recordTick(uint32_t ticker, uint64_t count) override {
    // The most frequent ticker by far is tested first.
    if (ticker == rocksdb::BLOOM_FILTER_USEFUL) {
      OnGetAnswer();
    } else {
      Observe(ticker);
    }
    if (inner_) inner_->recordTick(ticker, count);
  }
  void recordInHistogram(uint32_t histogram, uint64_t value) override {
    if (inner_) inner_->recordInHistogram(histogram, value);
  }
  bool HistEnabledForType(uint32_t type) const override {
    return inner_ != nullptr && inner_->HistEnabledForType(type);
  }

  uint64_t getTickerCount(uint32_t ticker) const override {
    return inner_ ? inner_->getTickerCount(ticker) : 0;
  }
  void setTickerCount(uint32_t ticker, uint64_t count) override {
    if (inner_) inner_->setTickerCount(ticker, count);
  }
  uint64_t getAndResetTickerCount(uint32_t ticker) override {
    return inner_ ? inner_->getAndResetTickerCount(ticker) : 0;
  }
  bool getTickerMap(std::map<std::string, uint64_t>* tickers) const override {
    return inner_ != nullptr && inner_->getTickerMap(tickers);
  }
  void histogramData(uint32_t type,
                     rocksdb::HistogramData* data) const override {
    if (inner_) {
      inner_->histogramData(type, data);
    } else {
      *data = {};
    }
  }
  std::string getHistogramString(uint32_t type) const override {
    return inner_ ? inner_->getHistogramString(type) : "";
  }
  rocksdb::Status Reset() override {
    return inner_ ? inner_->Reset() : rocksdb::Status::OK();
  }
  using Statistics::ToString;
  std::string ToString() const override {
    return inner_ ? inner_->ToString() : "";
  }

 private:
  std::shared_ptr<Statistics> inner_;
  const LevelCounters::Observer observer_;
};

}  // namespace

std::shared_ptr<Statistics> NewFilterStatistics(
    std::shared_ptr<Statistics> inner) {
  return std::make_shared<FilterStatistics>(std::move(inner));
}

}  // namespace rowbloom

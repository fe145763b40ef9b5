#include "storage/filter_policy/filter_counters.h"

#include <bit>
#include <new>
#include <numeric>
#include <utility>

namespace rowbloom {
namespace {

void CountVerdict(Verdict verdict, uint64_t times, SectionStats* stats) {
  switch (verdict) {
    case Verdict::kNotAsked:
      break;
    case Verdict::kNoMatch:
      stats->checked += times;
      stats->skipped += times;
      break;
    case Verdict::kMayMatch:
      stats->checked += times;
      break;
    case Verdict::kUnusable:
      stats->unusable += times;
      break;
  }
}

// Counters that no policy uses. A thread may still name them in its last
// answer, so they are never freed; there are as many as were in use at once.
class Pool {
 public:
  static Pool& Get() {
    static Pool& pool = *new Pool;  // outlives every thread
    return pool;
  }

  OriginCounters* Take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      all_.push_back(std::make_unique<OriginCounters>());
      free_.reserve(all_.capacity());  // so that Give does not throw
      return all_.back().get();
    }
    OriginCounters* counters = free_.back();
    free_.pop_back();
    return counters;
  }

  void Give(OriginCounters* counters) {
    counters->Reset();
    const std::lock_guard lock(mutex_);
    free_.push_back(counters);
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<OriginCounters>> all_;
  std::vector<OriginCounters*> free_;
};

}  // namespace

constinit thread_local OriginCounters::ThreadState OriginCounters::thread_;

constexpr std::array<LastWords, kOutcomes> OriginCounters::MakeLastWords() {
  std::array<LastWords, kOutcomes> words{};
  using enum Verdict;
  words[OutcomeIndex({.row = kNoMatch})].row_no = 1;
  words[OutcomeIndex({.row = kMayMatch})].row_may = 1;
  for (const Verdict row : {kMayMatch, kUnusable, kNotAsked}) {
    words[OutcomeIndex({.row = row, .row_col = kNoMatch})].row_col_no = 1;
    words[OutcomeIndex({.row = row, .row_col = kMayMatch})].row_col_may = 1;
  }
  return words;
}

constinit const std::array<LastWords, kOutcomes> OriginCounters::kLastWords =
    OriginCounters::MakeLastWords();

void OriginCounters::CountAnswers(const MatchResult* results, size_t count,
                                  bool row_col_block) {
  LastWords sum;
  for (size_t i = 0; i < count; ++i) {
    const size_t index = OutcomeIndex(results[i]);
    const LastWords& words = kLastWords[index];
    sum.row_no += words.row_no;
    sum.row_may += words.row_may;
    sum.row_col_no += words.row_col_no;
    sum.row_col_may += words.row_col_may;
    Count(&Stripe::outcomes, index, 1);
  }
  thread_.last = {this, sum, row_col_block};
}

void OriginCounters::CountAnswers(const BatchAnswers& answers, size_t keys,
                                  bool row_col_block) {
  const auto count = [this](uint32_t mask, Answer answer) {
    const auto times = static_cast<uint16_t>(std::popcount(mask));
    if (times > 0) {
      Count(&Stripe::outcomes, kOutcomeOfAnswer[static_cast<size_t>(answer)],
            times);
    }
    return times;
  };
  LastAnswer& last = thread_.last;
  last.counters = this;
  last.words = {.row_no = count(answers.row_no, Answer::kRowNo),
                .row_may = count(answers.row_may, Answer::kRowMay),
                .row_col_no = count(answers.row_col_no, Answer::kRowColNo),
                .row_col_may = count(answers.row_col_may, Answer::kRowColMay)};
  last.row_col_block = row_col_block;
  const size_t inside = size_t{last.words.row_no} + last.words.row_may +
                        last.words.row_col_no + last.words.row_col_may;
  if (inside < keys) Count(&Stripe::outcomes, OutcomeIndex({}), keys - inside);
}

void OriginCounters::CountObservation(size_t section, const Observation& seen) {
  if (seen.opened > 0) {
    Count(&Stripe::observed, section * 3, seen.opened);
  }
  if (seen.true_positives > 0) {
    Count(&Stripe::observed, section * 3 + 1, seen.true_positives);
  }
  if (seen.true_negatives > 0) {
    Count(&Stripe::observed, section * 3 + 2, seen.true_negatives);
  }
}

// Once per thread.
size_t OriginCounters::TakeStripe() noexcept {
  struct FreeStripes {
    std::mutex mutex;
    std::array<size_t, kOwnedStripes> stripes;
    size_t count = kOwnedStripes;
    FreeStripes() { std::iota(stripes.rbegin(), stripes.rend(), size_t{0}); }
  };
  static FreeStripes free;
  // Gives the stripe back when the thread ends. What the thread counts after
  // that goes to the shared one.
  struct Owner {
    ~Owner() {
      const size_t stripe = std::exchange(thread_.stripe, kSharedStripe);
      if (stripe == kSharedStripe) return;
      const std::lock_guard lock(free.mutex);
      free.stripes[free.count++] = stripe;
    }
  };
  thread_local const Owner owner;
  const std::lock_guard lock(free.mutex);
  thread_.stripe = free.count > 0 ? free.stripes[--free.count] : kSharedStripe;
  return thread_.stripe;
}

OriginCounters::Stripe* OriginCounters::MakeStripe(size_t number) noexcept {
  auto* made = new (std::nothrow) Stripe;
  Stripe* found = nullptr;
  if (made == nullptr || stripes_[number].compare_exchange_strong(
                             found, made, std::memory_order_acq_rel)) {
    return made;
  }
  delete made;  // another thread was first at the shared one
  return found;
}

FilterStats OriginCounters::Read() const {
  const auto get = [](const Counter& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  FilterStats stats;
  for (const auto& slot : stripes_) {
    const Stripe* stripe = slot.load(std::memory_order_acquire);
    if (stripe == nullptr) continue;
    for (size_t i = 0; i < kOutcomes; ++i) {
      const uint64_t times = get(stripe->outcomes[i]);
      const auto row = static_cast<Verdict>(i / kVerdicts);
      const auto row_col = static_cast<Verdict>(i % kVerdicts);
      stats.asked += times;
      if (row != Verdict::kNoMatch && row_col != Verdict::kNoMatch) {
        stats.may_match += times;
      }
      CountVerdict(row, times, &stats.row);
      CountVerdict(row_col, times, &stats.row_col);
    }
    size_t next = 0;
    for (SectionStats* section : {&stats.row, &stats.row_col}) {
      const uint64_t opened = get(stripe->observed[next++]);
      const uint64_t true_positives = get(stripe->observed[next++]);
      section->true_positives += true_positives;
      // While reads are under way the two may be out of step.
      if (opened > true_positives) {
        section->false_positives += opened - true_positives;
      }
      section->true_negatives += get(stripe->observed[next++]);
    }
  }
  stats.blocks_built = get(blocks_built_);
  stats.blocks_failed = get(blocks_failed_);
  stats.bytes_built = get(bytes_built_);
  stats.build_nanos = get(build_nanos_);
  stats.blocks_opened = get(blocks_opened_);
  stats.blocks_unusable = get(blocks_unusable_);
  stats.bytes_loaded = get(bytes_loaded_);
  stats.builtin_blocks_opened = get(builtin_blocks_opened_);
  return stats;
}

void OriginCounters::Reset() {
  const auto clear = [](Counter* counter) {
    counter->store(0, std::memory_order_relaxed);
  };
  for (const auto& slot : stripes_) {
    Stripe* stripe = slot.load(std::memory_order_acquire);
    if (stripe == nullptr) continue;
    for (Counter& counter : stripe->outcomes) clear(&counter);
    for (Counter& counter : stripe->observed) clear(&counter);
  }
  for (Counter* counter : {&blocks_built_, &blocks_failed_, &bytes_built_,
                           &build_nanos_, &blocks_opened_, &blocks_unusable_,
                           &bytes_loaded_, &builtin_blocks_opened_}) {
    clear(counter);
  }
}

void FilterCounters::GiveBack::operator()(OriginCounters* counters) const {
  Pool::Get().Give(counters);
}

OriginCounters* FilterCounters::Of(const FileOrigin& origin) {
  const std::lock_guard lock(mutex_);
  const FileOrigin known =
      origins_.size() < kMaxOrigins || origins_.contains(origin) ? origin
                                                                 : FileOrigin();
  auto found = origins_.find(known);
  if (found == origins_.end()) {
    found = origins_.emplace(known, Owned(Pool::Get().Take())).first;
  }
  return found->second.get();
}

std::vector<LevelFilterStats> FilterCounters::Read() const {
  const std::lock_guard lock(mutex_);
  std::vector<LevelFilterStats> all;
  for (const auto& [origin, counters] : origins_) {
    all.push_back({origin.column_family, origin.level, counters->Read()});
  }
  return all;
}

}  // namespace rowbloom

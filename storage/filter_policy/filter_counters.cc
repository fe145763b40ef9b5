#include "storage/filter_policy/filter_counters.h"

#include <array>
#include <bit>

namespace rowbloom {
namespace {

void AddVerdict(Verdict verdict, uint64_t times, SectionStats* stats) {
  if (verdict == Verdict::kUnusable) stats->unusable += times;
  if (verdict == Verdict::kNoMatch) stats->skipped += times;
  if (verdict == Verdict::kNoMatch || verdict == Verdict::kMayMatch) {
    stats->checked += times;
  }
}

// The sums of the members, all of which are counters.
template <typename Stats>
Stats Sum(const Stats& a, const Stats& b) {
  using Counters = std::array<uint64_t, sizeof(Stats) / sizeof(uint64_t)>;
  auto sums = std::bit_cast<Counters>(a);
  const auto more = std::bit_cast<Counters>(b);
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
  return std::bit_cast<Stats>(sums);
}

// Counters that no policy uses. A thread may still name them in its last
// answer, so they are never freed; there are as many as were in use at once.
class Pool {
 public:
  static Pool& Get() {
    static Pool& pool = *new Pool;  // outlives every thread
    return pool;
  }

  LevelCounters* Take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      all_.push_back(std::make_unique<LevelCounters>());
      free_.reserve(all_.capacity());  // so that Give does not throw
      return all_.back().get();
    }
    LevelCounters* counters = free_.back();
    free_.pop_back();
    return counters;
  }

  void Give(LevelCounters* counters) {
    counters->Reset();
    const std::lock_guard lock(mutex_);
    free_.push_back(counters);
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<LevelCounters>> all_;
  std::vector<LevelCounters*> free_;
};

}  // namespace

constinit thread_local LevelCounters::LastAnswer LevelCounters::last_;
constinit std::atomic<int> LevelCounters::observers_{0};

void LevelCounters::LastAnswer::Add(MatchResult result, int times) {
  const bool by_row_col = result.row_col() != Verdict::kNotProbed;
  OfSection& section = by_row_col ? row_col : row;
  const Verdict verdict = by_row_col ? result.row_col() : result.row();
  if (verdict == Verdict::kMayMatch) section.may += times;
  if (verdict == Verdict::kNoMatch) section.no += times;
}

void LevelCounters::Remember(const Lookup& lookup, MatchResult result) {
  last_ = {.counters = this, .row_col_block = lookup.has_row_col()};
  last_.Add(result, 1);
}

void LevelCounters::CountAnswers(const Lookup& lookup,
                                 const BatchAnswers& answers, int count) {
  const bool observed = Observed();
  if (observed) {
    last_ = {.counters = this, .row_col_block = lookup.has_row_col()};
  }
  for (uint64_t left = (uint64_t{1} << count) - 1; left != 0;) {
    const auto key = static_cast<size_t>(std::countr_zero(left));
    const uint64_t same = answers.SameAs(key) & left;
    const MatchResult result = lookup.ResultOf(answers, key);
    answers_.Add(result.code(), static_cast<uint64_t>(std::popcount(same)));
    if (observed) last_.Add(result, std::popcount(same));
    left &= ~same;
  }
}

void LevelCounters::CountObservation(size_t slot, const Observation& seen) {
  for (const uint64_t times :
       {seen.opened, seen.true_positives, seen.true_negatives}) {
    if (times > 0) answers_.Add(slot, times);
    ++slot;
  }
}

void LevelCounters::ReadObservation(size_t slot, SectionStats* section) const {
  const uint64_t opened = answers_.Sum(slot);
  section->true_positives = answers_.Sum(slot + 1);
  // While reads are under way the two may be out of step.
  if (opened > section->true_positives) {
    section->false_positives = opened - section->true_positives;
  }
  section->true_negatives = answers_.Sum(slot + 2);
}

FilterStats LevelCounters::Read() const {
  FilterStats stats;
  for (size_t slot = 0; slot < kRowAt; ++slot) {
    const MatchResult result = MatchResult::FromCode(slot);
    const uint64_t times = answers_.Sum(slot);
    stats.asked += times;
    if (result.may_match()) stats.may_match += times;
    AddVerdict(result.row(), times, &stats.row);
    AddVerdict(result.row_col(), times, &stats.row_col);
  }
  ReadObservation(kRowAt, &stats.row);
  ReadObservation(kRowColAt, &stats.row_col);
  const auto get = [](const Counter& counter) {
    return counter.load(std::memory_order_relaxed);
  };
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

void LevelCounters::Reset() {
  answers_.Reset();
  for (Counter* counter : {&blocks_built_, &blocks_failed_, &bytes_built_,
                           &build_nanos_, &blocks_opened_, &blocks_unusable_,
                           &bytes_loaded_, &builtin_blocks_opened_}) {
    counter->store(0, std::memory_order_relaxed);
  }
}

void FilterCounters::GiveBack::operator()(LevelCounters* counters) const {
  Pool::Get().Give(counters);
}

LevelCounters* FilterCounters::At(int level) {
  const std::lock_guard lock(mutex_);
  auto found = levels_.find(level);
  if (found == levels_.end()) {
    found = levels_.emplace(level, Owned(Pool::Get().Take())).first;
  }
  return found->second.get();
}

std::vector<LevelFilterStats> FilterCounters::Read() const {
  const std::lock_guard lock(mutex_);
  std::vector<LevelFilterStats> all;
  for (const auto& [level, counters] : levels_) {
    all.push_back({level, counters->Read()});
  }
  return all;
}

double SectionStats::FalsePositiveRate() const {
  const uint64_t absent = false_positives + true_negatives;
  if (absent == 0) return 0;
  return static_cast<double>(false_positives) / static_cast<double>(absent);
}

SectionStats& SectionStats::operator+=(const SectionStats& other) {
  return *this = Sum(*this, other);
}

FilterStats& FilterStats::operator+=(const FilterStats& other) {
  return *this = Sum(*this, other);
}

}  // namespace rowbloom

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

constexpr std::array<MatchResult, kAnswers> MakeResults() {
  std::array<MatchResult, kAnswers> results{};
  const auto of = [&results](Answer answer) -> MatchResult& {
    return results[static_cast<size_t>(answer)];
  };
  using enum Verdict;
  of(Answer::kRowNo) = {.row = kNoMatch};
  of(Answer::kRowMay) = {.row = kMayMatch};
  of(Answer::kRowColNo) = {.row = kMayMatch, .row_col = kNoMatch};
  of(Answer::kRowColMay) = {.row = kMayMatch, .row_col = kMayMatch};
  of(Answer::kCellNo) = {.row_col = kNoMatch};
  return results;
}
constexpr std::array<MatchResult, kAnswers> kResults = MakeResults();

constexpr std::array<LastWords, kOutcomes> MakeLastWords() {
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
constexpr std::array<LastWords, kOutcomes> kLastWords = MakeLastWords();

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

constinit thread_local OriginCounters::LastAnswer OriginCounters::last_;
constinit std::atomic<int> OriginCounters::observers_{0};

void OriginCounters::CountAnswer(const MatchResult& result,
                                 bool row_col_block) {
  const size_t index = OutcomeIndex(result);
  Remember(kLastWords[index], row_col_block);
  AddOther(index, 1);
}

void OriginCounters::CountAnswer(Answer answer, bool row_col_block) {
  const auto index = static_cast<size_t>(answer);
  Remember(kLastWords[OutcomeIndex(kResults[index])], row_col_block);
  answers_.Add(index, 1);
}

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
    AddOther(index, 1);
  }
  Remember(sum, row_col_block);
}

void OriginCounters::CountAnswers(const BatchAnswers& answers, size_t keys,
                                  bool row_col_block) {
  const auto count = [this](uint32_t mask, Answer answer) {
    const auto times = static_cast<uint16_t>(std::popcount(mask));
    if (times > 0) answers_.Add(static_cast<size_t>(answer), times);
    return times;
  };
  const LastWords words = {
      .row_no = count(answers.row_no, Answer::kRowNo),
      .row_may = count(answers.row_may, Answer::kRowMay),
      .row_col_no = count(answers.row_col_no, Answer::kRowColNo),
      .row_col_may = count(answers.row_col_may, Answer::kRowColMay)};
  Remember(words, row_col_block);
  const size_t inside = size_t{words.row_no} + words.row_may +
                        words.row_col_no + words.row_col_may;
  if (inside < keys) {
    answers_.Add(static_cast<size_t>(Answer::kOutside), keys - inside);
  }
}

void OriginCounters::CountObservation(size_t section, const Observation& seen) {
  size_t slot = kObservedAt + section * kObservedOfSection;
  for (const uint64_t times :
       {seen.opened, seen.true_positives, seen.true_negatives}) {
    if (times > 0) AddOther(slot, times);
    ++slot;
  }
}

void OriginCounters::AddOther(size_t slot, uint64_t times) {
  Others* others = others_.load(std::memory_order_acquire);
  if (others == nullptr) {
    auto* made = new (std::nothrow) Others;
    if (made == nullptr) return;
    if (others_.compare_exchange_strong(others, made,
                                        std::memory_order_acq_rel)) {
      others = made;
    } else {
      delete made;  // another thread was first
    }
  }
  others->counters[slot / Others::kSlots].Add(slot % Others::kSlots, times);
}

uint64_t OriginCounters::SumOfOther(size_t slot) const {
  const Others* others = others_.load(std::memory_order_acquire);
  if (others == nullptr) return 0;
  return others->counters[slot / Others::kSlots].Sum(slot % Others::kSlots);
}

FilterStats OriginCounters::Read() const {
  const auto get = [](const Counter& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  FilterStats stats;
  const auto add = [&stats](const MatchResult& result, uint64_t times) {
    stats.asked += times;
    if (result.row != Verdict::kNoMatch &&
        result.row_col != Verdict::kNoMatch) {
      stats.may_match += times;
    }
    CountVerdict(result.row, times, &stats.row);
    CountVerdict(result.row_col, times, &stats.row_col);
  };
  for (size_t i = 0; i < kAnswers; ++i) add(kResults[i], answers_.Sum(i));
  for (size_t i = 0; i < kOutcomes; ++i) {
    add({.row = static_cast<Verdict>(i / kVerdicts),
         .row_col = static_cast<Verdict>(i % kVerdicts)},
        SumOfOther(i));
  }
  size_t next = kObservedAt;
  for (SectionStats* section : {&stats.row, &stats.row_col}) {
    const uint64_t opened = SumOfOther(next++);
    section->true_positives = SumOfOther(next++);
    // While reads are under way the two may be out of step.
    if (opened > section->true_positives) {
      section->false_positives = opened - section->true_positives;
    }
    section->true_negatives = SumOfOther(next++);
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
  answers_.Reset();
  if (Others* others = others_.load(std::memory_order_acquire)) {
    for (StripedCounters& counters : others->counters) counters.Reset();
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

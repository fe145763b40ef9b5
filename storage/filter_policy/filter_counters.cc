#include "storage/filter_policy/filter_counters.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

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

// The list of counters that no policy uses. A thread's last answer may still
// point to them, so they are never freed. There are never more counters than
// were in use at one time.
constinit LevelCounters* unused = nullptr;
std::mutex& UnusedMutex() {
  static std::mutex& mutex = *new std::mutex;  // outlives every policy
  return mutex;
}

}  // namespace

constinit thread_local LevelCounters::LastAnswer LevelCounters::last_;
constinit std::atomic<int> LevelCounters::observers_{0};

LevelCounters* LevelCounters::Take() {
  const std::lock_guard lock(UnusedMutex());
  if (unused == nullptr) return new LevelCounters;
  return std::exchange(unused, unused->next_unused_);
}

void LevelCounters::GiveBack() {
  counters_.Reset();
  const std::lock_guard lock(UnusedMutex());
  next_unused_ = std::exchange(unused, this);
}

void LevelCounters::LastAnswer::Add(MatchResult result) {
  const bool by_row_col = result.row_col() != Verdict::kNotProbed;
  OfSection& section = by_row_col ? row_col : row;
  const Verdict verdict = by_row_col ? result.row_col() : result.row();
  if (verdict == Verdict::kMayMatch) ++section.may;
  if (verdict == Verdict::kNoMatch) ++section.no;
  if (result.may_match()) ++passed;
}

void LevelCounters::Remember(const Lookup& lookup, MatchResult result) {
  last_ = {.counters = this, .row_col_block = lookup.has_row_col()};
  last_.Add(result);
}

void LevelCounters::CountAnswers(const Lookup& lookup,
                                 const BatchAnswers& answers, int count) {
  const bool observed = Observed();
  // RocksDB ticks once for a MultiGet in a file, whose filter may have several
  // blocks: the answers of those before are still to be taken.
  if (observed && last_.counters != this) {
    last_ = {.counters = this, .row_col_block = lookup.has_row_col()};
  }
  for (int i = 0; i < count; ++i) {
    const MatchResult result = lookup.ResultOf(answers, i);
    counters_.Add(result.code(), 1);
    if (observed) last_.Add(result);
  }
}

void LevelCounters::CountObservation(bool row_col, const Observation& seen) {
  size_t slot = row_col ? kRowCol : kRow;
  for (const uint64_t times :
       {seen.opened, seen.true_positives, seen.true_negatives}) {
    if (times > 0) counters_.Add(slot, times);
    ++slot;
  }
}

// Returns the difference of two counters, or 0 if `less` is larger, as it may
// be while reads are under way.
uint64_t LevelCounters::Difference(size_t more, size_t less) const {
  const uint64_t taken = counters_.Sum(less);
  return std::max(counters_.Sum(more), taken) - taken;
}

void LevelCounters::ReadObservation(size_t slot, SectionStats* section) const {
  section->true_positives = counters_.Sum(slot + 1);
  section->false_positives = Difference(slot, slot + 1);
  section->true_negatives = counters_.Sum(slot + 2);
}

FilterStats LevelCounters::Read() const {
  FilterStats stats;
  for (size_t code = 0; code < MatchResult::kCodes; ++code) {
    const MatchResult result = MatchResult::FromCode(code);
    const uint64_t times = counters_.Sum(code);
    stats.asked += times;
    if (result.may_match()) stats.may_match += times;
    AddVerdict(result.row(), times, &stats.row);
    AddVerdict(result.row_col(), times, &stats.row_col);
  }
  ReadObservation(kRow, &stats.row);
  ReadObservation(kRowCol, &stats.row_col);
  stats.blocks_built = counters_.Sum(kBlocksBuilt);
  stats.blocks_failed = counters_.Sum(kBlocksFailed);
  stats.bytes_built = counters_.Sum(kBytesBuilt);
  stats.build_nanos = counters_.Sum(kBuildNanos);
  stats.blocks_opened = counters_.Sum(kBlocksOpened);
  stats.blocks_unusable = counters_.Sum(kBlocksUnusable);
  stats.bytes_loaded = Difference(kBytesOpened, kBytesClosed);
  stats.builtin_blocks_opened = counters_.Sum(kBuiltinBlocksOpened);
  return stats;
}

LevelCounters* FilterCounters::At(int level) {
  const std::lock_guard lock(mutex_);
  auto found = levels_.find(level);
  if (found == levels_.end()) {
    found = levels_.emplace(level, Owned(LevelCounters::Take())).first;
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

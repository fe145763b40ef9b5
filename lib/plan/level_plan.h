// The false positive rate of each level of a tree. doc/planning.md has the
// model. All functions are pure and thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rowbloom/filter_spec.h"

namespace rowbloom {

// The entries of a sorted run of each level from 0 to the last, which has 1.
// Level 0 has as many runs as files. REQUIRES Problem(shape).empty().
std::vector<double> LevelEntries(const LevelShape& shape);

// The number of the level that is the index-th of the shape, level 0 being 0,
// in a tree of `num_levels`.
int LevelAt(const LevelShape& shape, size_t index, int num_levels);

// Sorted runs of one size and kind.
struct SortedRuns {
  double entries = 0;  // each run's; only their proportions matter
  FilterKind kind = FilterKind::kBloom;
  double count = 1;
};

struct RateLimits {
  double lowest = 0;
  double highest = 1;
};

// The false positive rates within `limits` with the least sum whose filters
// take as many bits together as with `uniform_rate` for all, within 1 %. Where
// kinds differ, the rate of a run is in proportion to its entries times the
// bits that half the rate costs its kind. Every run gets a rate that filters
// can have. Some bits are left where the limits do not let all of them be
// spent. REQUIRES IsFalsePositiveRate(uniform_rate),
// limits.highest >= uniform_rate, no negative number of entries, and a positive
// one.
std::vector<double> OptimalRates(std::span<const SortedRuns> runs,
                                 double uniform_rate,
                                 const RateLimits& limits = {});

// The rate of each file, by what is known when it is written.
class LevelPlan {
 public:
  // No filter has more than this many times the bits of the uniform rate, so
  // that files that RocksDB moves down with their filters do not cost more.
  static constexpr double kMaxBitsFactor = 2;

  // No filter of kRowCol has more than this many times the uniform rate, so
  // that gets of absent columns do not get worse.
  static constexpr double kMaxRateFactor = 1.05;

  // A tree of the shape has as many bits in filters of these kinds, by level as
  // rates(), as with `uniform_rate` everywhere. REQUIRES
  // Problem(shape).empty(), levels + 1 kinds and
  // IsFalsePositiveRate(uniform_rate).
  LevelPlan(const LevelShape& shape, BloomType bloom_type,
            std::span<const FilterKind> kinds, double uniform_rate);

  // The same with one kind at all levels.
  LevelPlan(const LevelShape& shape, BloomType bloom_type, FilterKind kind,
            double uniform_rate);

  // Level 0, then the levels that hold data from the first to the last. Level 0
  // has as many runs as files, with this rate each.
  const std::vector<double>& rates() const { return rates_; }

  // The index in rates() of a file that is made for `level`, 0 and up, of
  // `num_levels`. Files with nothing below them (`is_bottommost`) belong to the
  // last level wherever they are. Others are counted from the last level, which
  // dynamic_level_bytes or the number of levels tells; those that the shape has
  // no level for belong to its first one, or the last but one.
  size_t Index(int level, int num_levels, bool is_bottommost) const;

 private:
  LevelShape shape_;
  std::vector<double> rates_;
};

}  // namespace rowbloom

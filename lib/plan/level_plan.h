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

// The index of a file that is made for `level`, 0 and up, of `num_levels`.
// Files with nothing below them (`is_bottommost`) belong to the last level
// wherever they are. Others are counted from the last level, which
// dynamic_level_bytes or the number of levels tells; those that the shape has
// no level for belong to its first one, or the last but one.
size_t LevelIndex(const LevelShape& shape, int level, int num_levels,
                  bool is_bottommost);

// No filter has more than this many times the bits of the uniform rate, so that
// files that RocksDB moves down with their filters do not cost more.
inline constexpr double kMaxBitsFactor = 2;

// No filter of kRowCol has more than this many times the uniform rate, so that
// gets of absent columns do not get worse.
inline constexpr double kMaxRateFactor = 1.05;

// The rates of the levels, by index, with the least sum over all sorted runs
// whose filters take as many bits together as with `uniform_rate` for all,
// within 1 %. Level 0 has as many runs as files, with its rate each. Where
// kinds differ, the rate of a run is in proportion to its entries times the
// bits that half the rate costs its kind. Every rate is one that filters can
// have. Some bits are left where the limits do not let all of them be spent.
// `kinds` are those of the levels; the last one is that of all further levels,
// too. REQUIRES Problem(shape).empty(), a kind and
// IsFalsePositiveRate(uniform_rate).
std::vector<double> LevelRates(const LevelShape& shape, BloomType bloom_type,
                               std::span<const FilterKind> kinds,
                               double uniform_rate);

}  // namespace rowbloom

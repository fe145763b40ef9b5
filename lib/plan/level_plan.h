// The false positive rate of each level of a tree. doc/planning.md has the
// model. All functions are pure and thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rowbloom/filter_spec.h"

namespace rowbloom {

// Returns the entries of one sorted run for each level from 0 to the last,
// relative to the last level. On level 0 each file is a run. REQUIRES
// Problem(shape).empty().
std::vector<double> LevelEntries(const LevelShape& shape);

// Returns the number that level `index` of the shape has in a tree of
// `num_levels`. Index 0 is level 0.
int LevelAt(const LevelShape& shape, size_t index, int num_levels);

// Returns the index for a file that is made for `level`, 0 and up, of
// `num_levels`. A file with nothing below it (`is_bottommost`) belongs to the
// last level, whatever its own. Other levels are counted from the last one,
// which is num_levels - 1 with dynamic_level_bytes, else shape.levels. A level
// that the shape does not have counts as its first one, or as the last but one.
size_t LevelIndex(const LevelShape& shape, int level, int num_levels,
                  bool is_bottommost);

// No filter has more than this many times the bits of the uniform rate. This
// limits the cost of files that RocksDB moves down with their filters.
inline constexpr double kMaxBitsFactor = 2;

// No filter of kRowCol has more than this many times the uniform rate, so that
// gets of absent columns do not get worse.
inline constexpr double kMaxRateFactor = 1.05;

// Returns the rates of the levels, by index. All filters together take as many
// bits as with `uniform_rate` for all, within 1 %, and the sum of the rates
// over all sorted runs is the least. Each file of level 0 is a run with the
// rate of that level. If kinds differ, the rate of a run is in proportion to
// its entries times the bits that halving the rate costs its kind. Filters can
// have each of these rates. The limits above may leave some bits unspent.
// `kinds` are those of the levels; the last one is that of all further levels,
// too. REQUIRES Problem(shape).empty(), a kind and
// IsFalsePositiveRate(uniform_rate).
std::vector<double> LevelRates(const LevelShape& shape, BloomType bloom_type,
                               std::span<const FilterKind> kinds,
                               double uniform_rate);

}  // namespace rowbloom

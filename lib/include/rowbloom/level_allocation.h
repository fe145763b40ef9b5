// How to spread filter bits over the levels of an LSM tree.
//
// A read of what does not exist opens a file in vain at each sorted run whose
// filter errs, so that it costs the sum of the runs' false positive rates,
// however large the runs are. A rate costs bits for each entry. A few bits more
// for the small runs at the top are cheap, and pay for one bit less at the
// bottom: for a given total of bits the sum is least where the rate of a run is
// proportional to its entries (N. Dayan, M. Athanassoulis, S. Idreos, "Monkey:
// Optimal Navigable Key-Value Store", SIGMOD 2017, section 4.1).
//
// With the size ratio T and the rate p at the last level, the level d above it
// gets p / T^d, and all of them together less than p T / (T - 1): a read costs
// about the same in a tree of any depth.
//
// A cell that an existing row lacks is another matter: ROW cannot rule out the
// file that has the row, and a get costs at least the rate c of its ROWCOL
// section there. Most rows are at the last level, where the optimum has a rate
// 1.2 to 1.3 times the uniform one of the same bytes; so much worse are these
// gets. A filter of two sections has therefore a limit: the least sum with no
// rate above kMaxRateFactor times the uniform rate u. By the conditions of
// Karush, Kuhn and Tucker for
//
//   least sum of p_i   with   sum of n_i bits(p_i) = sum of n_i bits(u)
//                      and    p_i <= kMaxRateFactor u
//
// the rates are min(kMaxRateFactor u, l n_i) with one l for all runs. Whichever
// run has the row, the get then opens at most kMaxRateFactor times as many
// files in vain as with the uniform rate, within 1 %. In a tree of five levels,
// a ratio of 10 and four files at level 0, at u = 0.01, these shares of the
// wrong opens of the uniform rate are left; beside them those of the optimum
// without limit, and of ROW without limit with ROWCOL at u:
//
//   scans of absent rows, the sum of p                0.25   0.19   0.19
//   gets of absent rows, the sum of p^2               0.23   0.21   0.19
//   absent columns of a row of the last level alone   0.99   1.21   0.94
//   absent columns of a row of all levels             0.25   0.19   1.00
//
// The limit loses little in each, and no kind of read is worse than before.
//
// Bits are (ln 1/p) / (ln 2)^2 for each entry of a plain Bloom filter and a
// little over log2 1/p of a ribbon; blocked Bloom filters need more for small
// rates, so that the bits of the kind at hand are counted.
//
// All functions are pure and thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rowbloom/bloom_type.h"

namespace rowbloom {

// The tree that a plan is made for: as leveled compaction keeps it.
struct LevelShape {
  static constexpr uint32_t kMaxLevels = 63;
  static constexpr double kMaxSizeRatio = 1000;
  static constexpr uint32_t kMaxLevel0Files = 1000;

  // That hold data, below level 0; 1 to kMaxLevels. Four, at a ratio of 10, are
  // those of a few hundred gigabytes.
  uint32_t levels = 4;

  // Of a level to the one above it; 1 to kMaxSizeRatio. RocksDB's
  // max_bytes_for_level_multiplier.
  double size_ratio = 10;

  // Together as large as the first level below; 1 to kMaxLevel0Files. RocksDB's
  // level0_file_num_compaction_trigger.
  uint32_t level0_files = 4;

  // Whether the levels that hold data are the last ones that the tree has
  // (RocksDB's level_compaction_dynamic_level_bytes, on by default from 8.4),
  // or the first ones.
  bool dynamic_level_bytes = true;

  bool operator==(const LevelShape&) const = default;
};

// What is out of its range in `shape`, as a sentence, or "".
std::string Problem(const LevelShape& shape);

// The entries of each sorted run of the tree, the files of level 0 first, with
// 1 at the last level. REQUIRES Problem(shape).empty().
std::vector<double> RunEntries(const LevelShape& shape);

// The number of the level that is the index-th of the shape, level 0 being 0,
// in a tree of `num_levels`.
int LevelAt(const LevelShape& shape, size_t index, int num_levels);

struct SortedRun {
  double entries = 0;  // only their proportions matter
  FilterKind kind = FilterKind::kBloom;
};

// What the rates of a plan may be.
struct RateLimits {
  double lowest = 0;
  double highest = 1;
};

// The false positive rates within `limits` with the least sum whose filters
// take as many bits together as with `uniform_rate` for all, within 1 %. Where
// kinds differ the rate of a run is in proportion to its entries, times the
// bits that half the rate costs its kind. None is lower or higher than what
// filters can have: each run gets one. Where the limits do not let all bits be
// spent, some are left. REQUIRES IsFalsePositiveRate(uniform_rate),
// limits.highest >= uniform_rate, no negative number of entries, and a positive
// one.
std::vector<double> OptimalRates(std::span<const SortedRun> runs,
                                 double uniform_rate,
                                 const RateLimits& limits = {});

// The false positive rate of each file, by what is known when it is written.
//
// RocksDB moves a file to the next level as it is when nothing there overlaps
// it. It keeps its filter, with the lower rate of the level that it was made
// for, until it is compacted: reads are no worse than planned, and the bytes
// are more. Keys that are written in order are moved all the way down. To bound
// what that costs no filter has more than kMaxBitsFactor times the bits of the
// uniform rate, which the smallest levels would have in the optimum; without a
// highest rate the sum of the rates grows by 6 % for it at 1 %.
class LevelPlan {
 public:
  static constexpr double kMaxBitsFactor = 2;

  // Of kRowCol, see above: what gets of absent columns may lose.
  static constexpr double kMaxRateFactor = 1.05;

  // A tree of the shape has as many bits in filters of these kinds, by level as
  // rates(), as with `uniform_rate` everywhere. REQUIRES
  // Problem(shape).empty(), levels + 1 kinds and
  // IsFalsePositiveRate(uniform_rate).
  LevelPlan(const LevelShape& shape, BloomType bloom_type,
            std::span<const FilterKind> kinds, double uniform_rate);

  // Of one kind at all levels.
  LevelPlan(const LevelShape& shape, BloomType bloom_type, FilterKind kind,
            double uniform_rate);

  // Level 0, then the levels that hold data from the first to the last. Level 0
  // has as many runs as files, with this rate each.
  const std::vector<double>& rates() const { return rates_; }

  // Where in rates() a file is that is made for `level`, 0 and up, of
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

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
// What is read and is there, or is ruled out at one level alone, gains nothing:
// a cell that an existing row lacks costs the rate of the files that have the
// row. Where each row is in one file, most often of the last level, that is p,
// 1.2 to 1.3 times the uniform rate of the same bytes; where a row has cells at
// all levels it is the sum.
//
// Bits are (ln 1/p) / (ln 2)^2 for each entry of a plain Bloom filter; blocked
// ones need more for small rates, so that p is found with the arithmetic of
// bloom_math.h.
//
// All functions are pure and thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

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

// For sorted runs of so many entries each (only their proportions matter) the
// false positive rates with the least sum that cost as many bits together as
// `uniform_rate` for all, within 1 %. Each run has at least kMinBitsPerKey, so
// that none goes without a filter, and at most `max_bits_per_key`, which may
// leave some of the bits unspent. REQUIRES IsFalsePositiveRate(uniform_rate),
// no negative number of entries, and a positive one.
std::vector<double> OptimalRates(std::span<const double> entries,
                                 double uniform_rate, double max_bits_per_key);

// The false positive rate of each file, by what is known when it is written.
//
// RocksDB moves a file to the next level as it is when nothing there overlaps
// it. It keeps its filter, with the lower rate of the level that it was made
// for, until it is compacted: reads are no worse than planned, and the bytes
// are more. Keys that are written in order are moved all the way down. To bound
// what that costs no filter has more than kMaxBitsFactor times the bits of the
// uniform rate, which the smallest levels would have in the optimum; the sum of
// the rates grows by 6 % for it at 1 %.
class LevelPlan {
 public:
  static constexpr double kMaxBitsFactor = 2;

  // A tree of the shape has as many filter bits as with `uniform_rate`
  // everywhere. REQUIRES Problem(shape).empty() and
  // IsFalsePositiveRate(uniform_rate).
  LevelPlan(const LevelShape& shape, double uniform_rate);

  // Level 0, then the levels that hold data from the first to the last.
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

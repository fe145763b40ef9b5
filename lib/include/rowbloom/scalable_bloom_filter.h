// ScalableBloomFilter: a Bloom filter that grows, for sets whose size is not
// known beforehand.
//
//   auto seen = ScalableBloomFilter::Reserve(100'000, 0.001);
//   if (!seen) return Fail(seen.error());
//   if (seen->Add(url)) Fetch(url);  // surely new
//
// After P. S. Almeida, C. Baquero, N. Preguica, D. Hutchison, "Scalable Bloom
// Filters", 2007; the BF commands of RedisBloom and TairBloom do the same. The
// filter is a list of plain filters, its stages. Keys are added to the last
// stage and looked up in all. When the last stage has the keys that it was made
// for, a larger one with a lower rate follows, so that the compound rate stays
// below the target: lib/standalone/FORMAT.md has the rates.
//
// Each stage costs lookups another cache miss, and its keys more bits than
// those of the stages before: reserve the capacity that is likely. With the
// growth 2 a filter of 1 % takes 11 bits for each key at its reserve, 18 at 127
// times that, when its stages are full, and up to 37 just after it grew.
//
// Thread safety: const methods may run at the same time, others not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/bloom_shape.h"
#include "rowbloom/filter_form.h"
#include "rowbloom/result.h"

namespace rowbloom {

struct Hash128;

struct ScalableOptions {
  // The capacity of each stage over that of the one before, 2 to 64:
  // RedisBloom's EXPANSION.
  uint32_t growth = 2;
  // The rate of each stage over that of the one before, 0.01 to 0.99.
  // RedisBloom has 0.5; the paper recommends 0.8 to 0.9 for filters that grow
  // far.
  double tightening = 0.5;
  std::optional<FilterSecret> secret;
};

struct ScalableInfo {
  uint64_t keys = 0;      // those that were new when they were added
  uint64_t capacity = 0;  // all stages' keys; a stage is added beyond it
  uint64_t size_bytes = 0;
  size_t stages = 0;
  uint32_t growth = 0;
  double tightening = 0;
  double target_rate = 0;
  // The rate of the filter as it is: 1 - (1 - p1)(1 - p2)... over its stages.
  double expected_rate = 0;
};

class ScalableBloomFilter {
 public:
  // The lowest target rate.
  static constexpr double kMinRate = 1e-9;

  // A filter with one stage, for `capacity` keys (0 counts as 1). Error: a rate
  // outside [kMinRate, 1), an option out of its range, or that of
  // BloomShapeFor. May throw std::bad_alloc.
  static Result<ScalableBloomFilter> Reserve(
      uint64_t capacity, double false_positive_rate,
      const ScalableOptions& options = {});

  // Adds a key. True: it is new. False: it was added before, or is a false
  // positive. May throw std::bad_alloc, with the filter as it was.
  bool Add(std::string_view key);

  // False: the key was never added. True: it was, or is a false positive.
  bool Contains(std::string_view key) const;

  // Takes time in proportion to the stages.
  ScalableInfo Info() const;

  // See filter_form.h.
  std::string Serialize() const;
  static Result<ScalableBloomFilter> Parse(
      std::string_view bytes,
      const std::optional<FilterSecret>& secret = std::nullopt);

 private:
  struct Stage {
    Stage(const BloomShape& stage_shape, uint64_t stage_capacity)
        : shape(stage_shape),
          capacity(stage_capacity),
          words(stage_shape.bits / 64) {}

    BloomShape shape;
    uint64_t capacity;
    uint64_t keys = 0;
    std::vector<uint64_t> words;
  };

  ScalableBloomFilter(double target_rate, const ScalableOptions& options)
      : target_rate_(target_rate), options_(options) {}

  bool Contains(const Hash128& hash) const;
  void AddStage();

  double target_rate_;
  ScalableOptions options_;
  std::vector<Stage> stages_;  // never empty
};

}  // namespace rowbloom

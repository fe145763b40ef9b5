// CountingBloomFilter: a Bloom filter from which keys can be removed, as each
// of its places is a counter of 4 bits. It takes four times the bytes of a
// plain filter. CuckooFilter takes fewer at low rates, but can be full.
//
// After L. Fan, P. Cao, J. Almeida, A. Z. Broder, "Summary Cache", 2000. A
// counter that has reached 15 stays at 15, as its true count is not known: its
// keys are never lost, and the place is taken for good. In a filter with the
// keys that it was made for, at a rate of 0.3 or less, the probability of that
// is below 10^-13 for each counter. Keys are counted: a key that was added
// twice has to be removed twice.
//
// Thread safety: const methods may run at the same time, others not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/bloom_shape.h"
#include "rowbloom/filter_form.h"
#include "rowbloom/result.h"

namespace rowbloom {

class CountingBloomFilter {
 public:
  static constexpr int kMaxCount = 15;

  // An empty filter whose rate stays at or below `false_positive_rate` while it
  // has no more than `expected_keys`, with BloomShapeFor(...).bits counters of
  // half a byte. Error: that of BloomShapeFor. May throw std::bad_alloc.
  static Result<CountingBloomFilter> Create(
      uint64_t expected_keys, double false_positive_rate,
      const std::optional<FilterSecret>& secret = std::nullopt);

  void Add(std::string_view key);

  // Undoes one Add of the key. False, and nothing is changed: the key is not in
  // the filter. Remove only keys that were added: a false positive that is
  // removed subtracts from the counters of other keys, which Contains may then
  // miss.
  bool Remove(std::string_view key);

  // False: the key is not in the filter. True: it is, or is a false positive.
  bool Contains(std::string_view key) const;

  // The number of counters that have reached kMaxCount and stay there. Many of
  // them mean that the filter has more keys, or more repeated keys, than it was
  // made for.
  uint64_t stuck_counters() const { return stuck_; }

  // The number of Adds minus that of removals.
  uint64_t keys() const { return keys_; }
  uint64_t counters() const { return shape_.bits; }
  int hashes() const { return shape_.hashes; }
  uint64_t size_bytes() const { return words_.size() * 8; }
  // The false positive rate that follows from keys(), if they are distinct.
  double ExpectedRate() const { return FalsePositiveRate(shape_, keys_); }

  // See filter_form.h.
  std::string Serialize() const;
  static Result<CountingBloomFilter> Parse(
      std::string_view bytes,
      const std::optional<FilterSecret>& secret = std::nullopt);

 private:
  CountingBloomFilter(const BloomShape& shape,
                      const std::optional<FilterSecret>& secret)
      : shape_(shape), secret_(secret), words_(shape.bits / 16) {}

  uint64_t CountAt(uint64_t place) const {
    return words_[place / 16] >> 4 * (place % 16) & kMaxCount;
  }

  BloomShape shape_;
  std::optional<FilterSecret> secret_;
  uint64_t keys_ = 0;
  uint64_t stuck_ = 0;
  std::vector<uint64_t> words_;  // 16 counters each, lowest bits first
};

}  // namespace rowbloom

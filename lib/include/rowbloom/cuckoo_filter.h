// CuckooFilter: a filter from which keys can be removed, from 100,000 keys
// on and at rates up to 0.04 in less than a third of CountingBloomFilter's
// bytes. It can be full; Add then returns kFull.
//
// After B. Fan, D. G. Andersen, M. Kaminsky, M. D. Mitzenmacher, "Cuckoo
// Filter: Practically Better Than Bloom", 2014, but for any number of buckets:
// the two of a fingerprint add up to a number that follows from it.
//
// Keys are counted: a key that was added twice is there twice and has to be
// removed twice. The buckets have room for 8 of one key or, in a filter of few
// buckets, where both may be the same one, for 4.
//
// Thread safety: const methods may run at the same time, others not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/filter_form.h"
#include "rowbloom/result.h"

namespace rowbloom {

struct CuckooShape {
  uint64_t buckets = 0;  // each has kCuckooBucketSlots slots
  int fingerprint_bits = 0;
};

inline constexpr int kCuckooBucketSlots = 4;
inline constexpr int kMinFingerprintBits = 8;
inline constexpr int kMaxFingerprintBits = 32;
// The share of slots that a filter fills with the keys that it was made for.
inline constexpr double kCuckooLoad = 0.95;

// The buckets for `capacity` keys (0 counts as 1) at kCuckooLoad, a few more
// for small filters, and the fewest bits that keep the rate. Error: a rate
// outside [8 / (2^32 - 1), 1), or more than 2^37 slots.
Result<CuckooShape> CuckooShapeFor(uint64_t capacity,
                                   double false_positive_rate);

// The highest rate with the share `load` of slots in use:
// 1 - (1 - 1/(2^f - 1))^(8 load) for fingerprints of f bits.
double FalsePositiveRate(const CuckooShape& shape, double load);

class CuckooFilter {
 public:
  enum class [[nodiscard]] AddOutcome{
      kAdded,
      kFull,  // the key is not in the filter, which is as it was
  };

  // An empty filter that takes `capacity` keys, and a few more, at no more than
  // the rate. A fingerprint has 8 bits for a rate of 0.031 and above, and one
  // more for each half of it. Error: that of CuckooShapeFor. May throw
  // std::bad_alloc.
  static Result<CuckooFilter> Create(
      uint64_t capacity, double false_positive_rate,
      const std::optional<FilterSecret>& secret = std::nullopt);

  // kFull: both buckets of the key are full, and 500 moves of other
  // fingerprints made no room; or the key fills its buckets by itself.
  AddOutcome Add(std::string_view key);

  // Undoes one Add of the key. False, and nothing is changed: the key is not in
  // the filter. Remove only keys that were added: a false positive that is
  // removed takes the key with it that has its fingerprint.
  bool Remove(std::string_view key);

  // False: the key is not in the filter. True: it is, or is a false positive.
  bool Contains(std::string_view key) const;

  // The number of Adds minus that of removals.
  uint64_t keys() const { return keys_; }
  uint64_t slots() const { return shape_.buckets * kCuckooBucketSlots; }
  double load() const {
    return static_cast<double>(keys_) / static_cast<double>(slots());
  }
  const CuckooShape& shape() const { return shape_; }
  uint64_t size_bytes() const;
  // The false positive rate that follows from keys().
  double ExpectedRate() const { return FalsePositiveRate(shape_, load()); }

  // See filter_form.h.
  std::string Serialize() const;
  static Result<CuckooFilter> Parse(
      std::string_view bytes,
      const std::optional<FilterSecret>& secret = std::nullopt);

 private:
  // The fingerprint of a key, and the two buckets that it may stand in.
  struct Home {
    uint32_t fingerprint;
    uint64_t bucket;
    uint64_t partner;
  };

  CuckooFilter(const CuckooShape& shape,
               const std::optional<FilterSecret>& secret);

  Home HomeOf(std::string_view key) const;
  uint64_t PartnerOf(uint64_t bucket, uint32_t fingerprint) const;
  uint32_t Get(uint64_t slot) const;
  void Set(uint64_t slot, uint32_t fingerprint);
  // The first slot of the bucket with this fingerprint, 0 for a free one.
  std::optional<uint64_t> Find(uint64_t bucket, uint32_t fingerprint) const;
  // The same in both buckets.
  std::optional<uint64_t> Find(const Home& home, uint32_t fingerprint) const;
  // Moves fingerprints until one bucket has room. False: none had, and all are
  // back in their slots.
  bool MoveOthers(uint32_t fingerprint, uint64_t bucket);

  CuckooShape shape_;
  std::optional<FilterSecret> secret_;
  uint64_t keys_ = 0;
  uint64_t random_ = 0;       // chooses the fingerprint that moves
  std::vector<char> packed_;  // slots of fingerprint_bits, lowest bits first
};

}  // namespace rowbloom

// CuckooFilter: a filter from which keys can be removed, in less than a third
// of CountingBloomFilter's bytes. It can be full, and then says so.
//
// B. Fan, D. G. Andersen, M. Kaminsky, M. D. Mitzenmacher, "Cuckoo Filter:
// Practically Better Than Bloom", 2014. Of each key a fingerprint of f bits
// stands in one of two buckets of 4. An absent key meets at most 8
// fingerprints, each of which is its own with the probability 1 / (2^f - 1), so
// the rate is at most 1 - (1 - 1/(2^f - 1))^8. A bucket's partner follows from
// the bucket and the fingerprint alone, so that those in the way can move
// there.
//
// Where the paper takes the exclusive or of the two, which needs a power of two
// of buckets, here the two buckets of a fingerprint add up to a number that it
// gives, modulo the number of buckets: any number does.
//
// Counts: a key that was added twice is there twice and has to be removed
// twice; the buckets have room for 8 of one key.
//
// Thread safety: const methods may run at the same time, others not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/filter_secret.h"
#include "rowbloom/result.h"

namespace rowbloom {

struct CuckooShape {
  uint64_t buckets = 0;  // of kCuckooBucketSlots
  int fingerprint_bits = 0;
};

inline constexpr int kCuckooBucketSlots = 4;
inline constexpr int kMinFingerprintBits = 8;
inline constexpr int kMaxFingerprintBits = 32;
// The share of slots that a filter fills with the keys that it was made for.
inline constexpr double kCuckooLoad = 0.95;

// The buckets for `capacity` keys (0 counts as 1) at kCuckooLoad, a few more
// for small filters, and the least bits that keep the rate. Error: a rate
// outside [8 / (2^32 - 1), 1), or more than 2^37 slots.
Result<CuckooShape> CuckooShapeFor(uint64_t capacity,
                                   double false_positive_rate);

// The bound above, for a share of slots that are in use.
double FalsePositiveRate(const CuckooShape& shape, double load);

class CuckooFilter {
 public:
  enum class [[nodiscard]] AddOutcome{
      kAdded,
      kFull,  // the key is not in the filter, which is as it was
  };

  // An empty filter that takes `capacity` keys, and a few more, at no more than
  // the rate. The rate decides the fingerprint's bits: 8 for 0.031 and above,
  // another for each half. Error: as CuckooShapeFor. May throw std::bad_alloc.
  static Result<CuckooFilter> Create(
      uint64_t capacity, double false_positive_rate,
      const std::optional<FilterSecret>& secret = std::nullopt);

  // kFull: both buckets are, and no fingerprint in the way could be moved in
  // 500 steps; or the key is there 8 times.
  AddOutcome Add(std::string_view key);

  // Takes back one Add of the key. False, and nothing is changed: the key is
  // surely not in the filter. A key that was never added, and that the filter
  // takes for one of its own, takes that one with it: remove only what was
  // added.
  bool Remove(std::string_view key);

  // False: the key is not in the filter. True: it is, or this is one of the
  // false_positive_rate of others.
  bool Contains(std::string_view key) const;

  // Adds less removals.
  uint64_t keys() const { return keys_; }
  uint64_t slots() const { return shape_.buckets * kCuckooBucketSlots; }
  double load() const {
    return static_cast<double>(keys_) / static_cast<double>(slots());
  }
  const CuckooShape& shape() const { return shape_; }
  uint64_t size_bytes() const;
  // Follows from keys().
  double ExpectedRate() const { return FalsePositiveRate(shape_, load()); }

  // With a version and a checksum; the secret is not in it but is checked.
  // lib/standalone/FORMAT.md has the bytes. May throw std::bad_alloc.
  std::string Serialize() const;

  // Inverse of Serialize, with the secret of Create. Error: damaged bytes,
  // another version, or another secret. May throw std::bad_alloc.
  static Result<CuckooFilter> Parse(
      std::string_view bytes,
      const std::optional<FilterSecret>& secret = std::nullopt);

 private:
  // Where a key may be.
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
  // Moves fingerprints until one bucket has room. False: as it was.
  bool MoveOthers(uint32_t fingerprint, uint64_t bucket);

  CuckooShape shape_;
  std::optional<FilterSecret> secret_;
  uint64_t keys_ = 0;
  uint64_t random_ = 0;       // which fingerprint moves
  std::vector<char> packed_;  // slots of fingerprint_bits, lowest bits first
};

}  // namespace rowbloom

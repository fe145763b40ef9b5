// ClassicBloomFilter: the Bloom filter of Guava (com.google.common.hash
// .BloomFilter), bit for bit, so that a JVM service and a C++ one can read each
// other's. For a set whose size is known beforehand and that only grows.
//
//   Result<ClassicBloomFilter> filter =
//       ClassicBloomFilter::Create(1'000'000, 0.01);
//   if (!filter) return Fail(filter.error());
//   filter->Put("https://example.org/");
//   if (!filter->MightContain(url)) { /* never put */ }
//
// Keys are bytes: those that Guava's funnel gives to its hash. That is
// Funnels.byteArrayFunnel() for bytes, and stringFunnel(UTF_8) for text;
// unencodedCharsFunnel() gives UTF-16, integerFunnel() and longFunnel() 4 and 8
// bytes, all of them little-endian.
//
// Formulas, of n keys and the rate p, as of Guava 31 (B. H. Bloom, "Space/Time
// Trade-offs in Hash Coding with Allowable Errors", 1970): bits m =
// trunc(-n ln p / (ln 2)^2), rounded up to a multiple of 64 as they are
// allocated; hashes k = max(1, round(m / n ln 2)), m before that. Later
// releases of Guava take k from p alone, which differs for a few keys only; k
// is stored, so that all of them read each other's filters.
//
// Hashes: MurmurHash3 x64-128, and the i-th place from its two halves (A.
// Kirsch, M. Mitzenmacher, "Less Hashing, Same Performance", 2008).
//
// Thread safety: any number of threads may call any method at the same time,
// without locks; a key is found by whoever knows, by other means, that Put
// returned. Parse, Create and moving an object are for one thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rowbloom/filter_secret.h"
#include "rowbloom/result.h"

namespace rowbloom {

struct Hash128;

// How the places of a key follow from its hash. Guava's ordinals, which are on
// disk.
enum class ClassicStrategy : uint8_t {
  // From 64 bits of the hash: places below 2^31, for filters of up to 256 MiB.
  kMurmur128Mitz32 = 0,
  // From all 128 bits: what Guava makes since release 17.
  kMurmur128Mitz64 = 1,
};

// "MURMUR128_MITZ_32", "MURMUR128_MITZ_64".
std::string_view ToString(ClassicStrategy strategy);

class ClassicBloomFilter {
 public:
  // Of one filter: as many as Guava can have, 16 GiB.
  static constexpr uint64_t kMaxBits = (uint64_t{1} << 31) * 64 - 64;
  static constexpr int kMaxHashes = 255;

  // Guava's formulas, above; `expected_insertions` of 0 count as 1. OptimalBits
  // gives UINT64_MAX for what does not fit. REQUIRES
  // IsFalsePositiveRate(rate); bits > 0.
  static uint64_t OptimalBits(uint64_t expected_insertions, double rate);
  static int OptimalHashes(uint64_t expected_insertions, uint64_t bits);

  // An empty filter. With a secret it is one of rowbloom's alone, which
  // SerializeChecked writes; see filter_secret.h. Error: a rate outside (0, 1),
  // or more than kMaxBits or kMaxHashes. May throw std::bad_alloc.
  static Result<ClassicBloomFilter> Create(
      uint64_t expected_insertions, double false_positive_rate = 0.03,
      ClassicStrategy strategy = ClassicStrategy::kMurmur128Mitz64,
      const std::optional<FilterSecret>& secret = std::nullopt);

  ClassicBloomFilter(ClassicBloomFilter&&) noexcept = default;
  ClassicBloomFilter& operator=(ClassicBloomFilter&&) noexcept = default;

  // Adds a key. True: a bit changed, so that this is surely the first time.
  // False: it was put before, or looks as if. Of threads that put the same key
  // at once, each may see a bit change.
  bool Put(std::string_view key);

  // False: the key was never put. True: it was, or this is one of the
  // false_positive_rate of keys that were not.
  bool MightContain(std::string_view key) const;

  // Whether PutAll takes `other`: the same bits, hashes, strategy and secret,
  // and another object.
  bool IsCompatible(const ClassicBloomFilter& other) const;

  // Adds all keys of `other`. False, and nothing is changed, unless
  // IsCompatible(other).
  [[nodiscard]] bool PutAll(const ClassicBloomFilter& other);

  // The probability that a key that was not put passes: the share of bits that
  // are set, to the power of the hashes. Counts all bits.
  double ExpectedFpp() const;

  // About how many distinct keys were put: -m/k ln(1 - set/m), rounded.
  // UINT64_MAX if all bits are set. Counts all bits.
  uint64_t ApproximateElementCount() const;

  uint64_t bits() const { return word_count_ * 64; }
  uint64_t size_bytes() const { return word_count_ * 8; }
  uint64_t CountSetBits() const;
  int hashes() const { return hashes_; }
  ClassicStrategy strategy() const { return strategy_; }
  bool has_secret() const { return secret_.has_value(); }

  // What Guava's writeTo writes and its readFrom reads, byte for byte; it has
  // no checksum. Error: the filter has a secret, which Guava knows nothing of.
  // May throw std::bad_alloc.
  Result<std::string> Serialize() const;

  // Inverse of Serialize. Error: a strategy or number of hashes that Guava does
  // not have, or another length than the head says. May throw std::bad_alloc.
  static Result<ClassicBloomFilter> Parse(std::string_view bytes);

  // rowbloom's own form, with a version and a checksum; a secret is not in it
  // but is checked. lib/standalone/FORMAT.md has the bytes. May throw
  // std::bad_alloc.
  std::string SerializeChecked() const;

  // Inverse of SerializeChecked, with the secret of Create. Error: damaged
  // bytes, another version, or another secret. May throw std::bad_alloc.
  static Result<ClassicBloomFilter> ParseChecked(
      std::string_view bytes,
      const std::optional<FilterSecret>& secret = std::nullopt);

 private:
  using Word = std::atomic<uint64_t>;

  ClassicBloomFilter(uint64_t word_count, int hashes, ClassicStrategy strategy,
                     const std::optional<FilterSecret>& secret)
      : words_(std::make_unique<Word[]>(word_count)),
        word_count_(word_count),
        hashes_(hashes),
        strategy_(strategy),
        secret_(secret) {}

  Hash128 HashOf(std::string_view key) const;
  uint64_t LoadWordAt(uint64_t index) const {
    return words_[index].load(std::memory_order_relaxed);
  }

  std::unique_ptr<Word[]> words_;
  uint64_t word_count_;
  int hashes_;
  ClassicStrategy strategy_;
  std::optional<FilterSecret> secret_;
};

}  // namespace rowbloom

// ClassicBloomFilter: the Bloom filter of Guava (com.google.common.hash
// .BloomFilter), bit for bit, so that a JVM service and a C++ one can read each
// other's. It suits a set whose size is known beforehand and that only grows.
//
//   Result<ClassicBloomFilter> filter =
//       ClassicBloomFilter::Create(1'000'000, 0.01);
//   if (!filter) return Fail(filter.error());
//   filter->Put("https://example.org/");
//   if (!filter->MightContain(url)) { /* never put */ }
//
// Keys are the bytes that Guava's funnel gives to its hash: the bytes
// themselves with Funnels.byteArrayFunnel(), UTF-8 with stringFunnel(UTF_8),
// and little-endian UTF-16, 4 and 8 bytes with unencodedCharsFunnel(),
// integerFunnel() and longFunnel().
//
// The sizes are those of Guava 31: for n keys and the rate p there are
// m = trunc(-n ln p / (ln 2)^2) bits and k = max(1, round(m / n ln 2)) hashes;
// m is then rounded up to a multiple of 64. Later releases of Guava take k from
// p alone, which differs for a few keys only. k is stored, so that all releases
// read each other's filters.
//
// Thread safety: any number of threads may call any method at the same time,
// without locks. A thread finds a key once it knows, by other means, that Put
// returned. Parse, Create and moving an object are for one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rowbloom/filter_form.h"
#include "rowbloom/result.h"

namespace rowbloom {

struct Hash128;

// The way from the hash of a key to its places. The values are Guava's ordinals
// and on disk.
enum class ClassicStrategy : uint8_t {
  // Places come from 64 bits of the hash. They are below 2^31, for filters of
  // up to 256 MiB.
  kMurmur128Mitz32 = 0,
  // Places come from all 128 bits; Guava's strategy since release 17.
  kMurmur128Mitz64 = 1,
};

// "MURMUR128_MITZ_32", "MURMUR128_MITZ_64".
std::string_view ToString(ClassicStrategy strategy);

class ClassicBloomFilter {
 public:
  // The most that a filter of Guava can have, 16 GiB of bits.
  static constexpr uint64_t kMaxBits = (uint64_t{1} << 31) * 64 - 64;
  static constexpr int kMaxHashes = 255;

  // Guava's formulas, above. An `expected_insertions` of 0 counts as 1.
  // OptimalBits returns UINT64_MAX for a number that does not fit. REQUIRES
  // IsFalsePositiveRate(rate); bits > 0.
  static uint64_t OptimalBits(uint64_t expected_insertions, double rate);
  static int OptimalHashes(uint64_t expected_insertions, uint64_t bits);

  // An empty filter. Only rowbloom reads a filter with a secret, in the form of
  // SerializeChecked; see filter_form.h. Error: a rate outside (0, 1), no
  // bits (few keys at a rate near 1), or more than kMaxBits or kMaxHashes; with
  // kMurmur128Mitz32, more than 2^31 bits. May throw std::bad_alloc.
  static Result<ClassicBloomFilter> Create(
      uint64_t expected_insertions, double false_positive_rate = 0.03,
      ClassicStrategy strategy = ClassicStrategy::kMurmur128Mitz64,
      const std::optional<FilterSecret>& secret = std::nullopt);

  ClassicBloomFilter(ClassicBloomFilter&&) noexcept = default;
  ClassicBloomFilter& operator=(ClassicBloomFilter&&) noexcept = default;

  // Adds a key. True: a bit changed, so that the key was never put before.
  // False: it was put before, or is a false positive. Threads that put the same
  // key at once may all get true.
  bool Put(std::string_view key);

  // False: the key was never put. True: it was put, or is a false positive.
  bool MightContain(std::string_view key) const;

  // Adds all keys of `other`. False, and nothing is changed, unless that is
  // another object with the same bits, hashes, strategy and secret.
  [[nodiscard]] bool PutAll(const ClassicBloomFilter& other);

  // The false positive rate of the filter as it is: the share of bits that are
  // set, to the power of the hashes. Counts all bits.
  double ExpectedFpp() const;

  // An estimate of how many distinct keys were put: -m/k ln(1 - set/m),
  // rounded. UINT64_MAX if all bits are set. Counts all bits.
  uint64_t ApproximateElementCount() const;

  uint64_t bits() const { return word_count_ * 64; }
  uint64_t size_bytes() const { return word_count_ * 8; }
  uint64_t CountSetBits() const;
  int hashes() const { return hashes_; }
  ClassicStrategy strategy() const { return strategy_; }
  bool has_secret() const { return secret_.has_value(); }

  // The bytes that Guava's writeTo writes and its readFrom reads. They have no
  // checksum. Error: the filter has a secret, which Guava does not support. May
  // throw std::bad_alloc.
  Result<std::string> Serialize() const;

  // Inverse of Serialize. Error: a strategy or number of hashes that Guava does
  // not have, or a length that differs from the head. May throw std::bad_alloc.
  static Result<ClassicBloomFilter> Parse(std::string_view bytes);

  // rowbloom's own form: see filter_form.h.
  std::string SerializeChecked() const;
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

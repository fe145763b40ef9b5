// RocksDB's own filters: their parameters, and the answers of RocksDB's reader.
// A block ends with five bytes that say what it is:
//
//   at   Bloom                        Ribbon                   legacy Bloom
//   0    ff                           fe                       probes, 1 to 127
//   1    0: 64-byte blocks            ordinal seed             lines, 4 bytes,
//   2    probes, low 5 bits           blocks of 128 slots,     little-endian
//   3    0                            3 bytes, little-endian
//   4    0
//
// Up to five bytes are the filter of no keys: nothing matches. Everything else
// is reserved and matches. Source: RocksDB 7.8.3,
// table/block_based/filter_policy.cc, util/{bloom,ribbon}_impl.h and
// util/ribbon_alg.h; unchanged in 9.10.0 and 10.9.1.
//
//   const StockFilter filter = StockFilter::Open(contents);
//   if (!filter.MayMatch(key)) { /* RocksDB skips the file */ }
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rocksdb {
class FilterBitsReader;
}

namespace rowbloom::sst {

// The CompatibilityName() of RocksDB's policies.
inline constexpr std::string_view kStockPolicyName =
    "rocksdb.BuiltinBloomFilter";

enum class StockFilterKind : uint8_t {
  kBloom,        // since format_version 5
  kRibbon,       // standard, 128 bits wide
  kLegacyBloom,  // up to format_version 4
  kNoKeys,       // nothing matches
  kReserved,     // everything matches; problem() says why
};

// A view of one filter block of RocksDB's. Does not own the bytes, which must
// outlive it; they need no alignment. Any bytes are safe, up to kMaxBlockBytes:
// RocksDB's reader is made only for parameters that stay within them. Immutable
// and safe to share between threads.
class StockFilter {
 public:
  static StockFilter Open(std::string_view contents);

  StockFilterKind kind() const { return kind_; }
  // The first of the five bytes; 0 for StockFilterKind::kNoKeys.
  int marker() const { return marker_; }
  // The text of what was expected and found, for kReserved; else empty.
  const std::string& problem() const { return problem_; }

  // The answer of RocksDB's reader for a whole key or a prefix (without a
  // timestamp).
  bool MayMatch(std::string_view key) const;
  // The same for several, in less time. REQUIRES may_match.size() >=
  // keys.size().
  void MayMatch(std::span<const std::string_view> keys,
                std::span<bool> may_match) const;

  // Bytes without the last five.
  size_t size_bytes() const { return bits_.size(); }

  // The number of probes of a key, for both kinds of Bloom.
  int probes() const { return probes_; }
  // The slots of Ribbon.
  uint64_t slots() const;

  // "lines of 64 bytes", or "1024 slots, 7 result bits, seed 0".
  std::string ParametersText() const;

  struct Estimates {
    // For both kinds of Bloom: the share of bits that are set, and the number
    // of entries that set them, within a few percent but for full filters.
    std::optional<double> fill_ratio;
    std::optional<double> entries;
    // The rate at which an absent key matches. For Bloom it is the mean over
    // its lines of the chance to hit bits that are set, to which the legacy
    // kind adds what RocksDB estimates for probes that repeat. For Ribbon it is
    // what its columns give.
    double false_positive_rate = 1;
  };
  // Reads all bits of a Bloom filter.
  Estimates Estimate() const;

 private:
  void OpenBloom(std::string_view tail);
  void OpenRibbon(std::string_view tail);
  void OpenLegacyBloom(std::string_view tail);
  void Reserve(std::string problem);
  Estimates EstimateBloom() const;

  StockFilterKind kind_ = StockFilterKind::kNoKeys;
  int marker_ = 0;
  std::string problem_;
  std::string_view bits_;
  // Null without keys, and where nothing can be trusted.
  std::shared_ptr<rocksdb::FilterBitsReader> reader_;
  int probes_ = 0;
  size_t line_bytes_ = 0;
  uint64_t lines_ = 0;
  int seed_ = 0;
  uint32_t blocks_ = 0;  // Ribbon only
  int columns_ = 0;
  uint64_t upper_start_ = 0;  // the first block with all columns
};

}  // namespace rowbloom::sst

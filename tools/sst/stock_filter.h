// RocksDB's own filters: their parameters, and the answers of RocksDB's reader.
// The last five bytes of a block tell its kind:
//
//   at   Bloom                        Ribbon                   legacy Bloom
//   0    ff                           fe                       probes, 1 to 127
//   1    0: 64-byte blocks            ordinal seed             lines, 4 bytes,
//   2    probes, low 5 bits           blocks of 128 slots,     little-endian
//   3    0                            3 bytes, little-endian
//   4    0
//
// A block of one to five bytes has no keys: nothing matches. All other blocks
// are reserved: everything matches. RocksDB writes one of no bytes for a
// partition without entries, and up to 5.12 for a file without them, too.
// Source: RocksDB 7.8.3, table/block_based/filter_policy.cc and
// parsed_full_filter_block.cc, util/{bloom,ribbon}_impl.h and
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

// The names of RocksDB's policies in its files: their CompatibilityName(), and
// those of RocksDB 7.0.0 to 7.0.2.
inline constexpr std::string_view kStockPolicyNames[] = {
    "rocksdb.BuiltinBloomFilter", "bloomfilter", "ribbonfilter"};

enum class StockFilterKind : uint8_t {
  kBloom,        // since format_version 5
  kRibbon,       // standard, 128 bits wide
  kLegacyBloom,  // up to format_version 4
  kNoKeys,       // nothing matches
  kReserved,     // everything matches; problem() says why
};

// A view of one filter block of RocksDB. The bytes must outlive it, and need no
// alignment. Any bytes are safe, up to kMaxBlockBytes: RocksDB's reader is
// created only for parameters with which it stays within them. Immutable and
// safe to share between threads.
class StockFilter {
 public:
  static StockFilter Open(std::string_view contents);

  StockFilterKind kind() const { return kind_; }
  // The first of the five bytes; 0 for StockFilterKind::kNoKeys.
  int marker() const { return marker_; }
  // The reason for kReserved, as expected and found; else empty.
  const std::string& problem() const { return problem_; }

  // Returns the answer of RocksDB's reader for a whole key or a prefix (without
  // a timestamp).
  bool MayMatch(std::string_view key) const;
  // Answers for several keys in less time. REQUIRES may_match.size() >=
  // keys.size().
  void MayMatch(std::span<const std::string_view> keys,
                std::span<bool> may_match) const;

  // The size without the last five bytes.
  size_t size_bytes() const { return bits_.size(); }

  // The number of probes of a key, for both kinds of Bloom.
  int probes() const { return probes_; }
  // The slots of Ribbon.
  uint64_t slots() const;

  // "lines of 64 bytes", or "1024 slots, 7 result bits, seed 0".
  std::string ParametersText() const;

  struct Estimates {
    // For both kinds of Bloom: the share of bits that are set, and the number
    // of entries that set them, within a few percent unless the filter is full.
    std::optional<double> fill_ratio;
    std::optional<double> entries;
    // The predicted rate of false positives. For Bloom it is the mean, over the
    // lines, of the probability that all probes hit set bits. The legacy kind
    // adds RocksDB's estimate for probes that repeat. For Ribbon the number of
    // columns gives it.
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
  // Null for kNoKeys and kReserved.
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

#include "tools/sst/stock_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "lib/bytes/bits_set.h"
#include "lib/bytes/high_product.h"
#include "storage/format/coding.h"
#include "tools/sst/stock_hash.h"

namespace rowbloom::sst {
namespace {

__extension__ using Word128 = unsigned __int128;

constexpr size_t kTailBytes = 5;
constexpr int kBloomMarker = -1;
constexpr int kRibbonMarker = -2;

constexpr size_t kBloomLineBytes = 64;
constexpr int kMaxBloomProbes = 30;
// The factor that the second hash is multiplied with for each next probe.
constexpr uint32_t kBloomStep = 0x9e3779b9;

// Ribbon: bits of a coefficient row, and slots of a block.
constexpr uint64_t kRibbonWidth = 128;
constexpr size_t kSegmentBytes = kRibbonWidth / 8;
constexpr uint64_t kMaxColumns = 32;
constexpr uint64_t kSeedFactor = 0xc78219a23eeadd03;
constexpr uint64_t kSeedMask = 0xf0f0f0f0f0f0f0f0;
constexpr uint64_t kRehashFactor = 0x6193d459236a3a0d;
constexpr uint64_t kCoefficientFactor = 0xc28f82822b650bed;
constexpr uint64_t kCoefficientXor = 0xc367844a6e52731d;

// `hash` scaled down to [0, range).
uint32_t Scale32(uint32_t hash, uint32_t range) {
  return static_cast<uint32_t>(uint64_t{hash} * range >> 32);
}

bool BitAt(std::string_view bits, uint64_t at) {
  return (static_cast<unsigned char>(bits[at / 8]) >> (at % 8) & 1) != 0;
}

bool Parity(Word128 bits) {
  return (std::popcount(static_cast<uint64_t>(bits)) +
          std::popcount(static_cast<uint64_t>(bits >> 64))) %
             2 !=
         0;
}

Word128 SegmentAt(std::string_view bits, uint64_t segment) {
  std::string_view in = bits.substr(segment * kSegmentBytes);
  uint64_t low = 0;
  uint64_t high = 0;
  if (!GetFixed(&in, &low) || !GetFixed(&in, &high)) return 0;
  return Word128{high} << 64 | low;
}

unsigned char ByteAt(std::string_view bytes, size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

}  // namespace

std::string_view ToString(StockFilterKind kind) {
  switch (kind) {
    case StockFilterKind::kBloom:
      return "Bloom";
    case StockFilterKind::kRibbon:
      return "Ribbon";
    case StockFilterKind::kLegacyBloom:
      return "legacy Bloom";
    case StockFilterKind::kNoKeys:
      return "no keys";
    case StockFilterKind::kReserved:
      return "unusable";
  }
  return "unusable";
}

StockFilter StockFilter::Open(std::string_view contents) {
  StockFilter filter;
  if (contents.size() <= kTailBytes) return filter;
  const std::string_view tail = contents.substr(contents.size() - kTailBytes);
  filter.bits_ = contents.substr(0, contents.size() - kTailBytes);
  filter.marker_ = static_cast<signed char>(tail[0]);
  if (filter.marker_ > 0) {
    filter.OpenLegacyBloom(tail);
  } else if (filter.marker_ == kBloomMarker) {
    filter.OpenBloom(tail);
  } else if (filter.marker_ == kRibbonMarker) {
    filter.OpenRibbon(tail);
  } else {
    filter.Reserve(fmt::format("marker -1, -2 or 1 to 127 expected, found {}",
                               filter.marker_));
  }
  return filter;
}

void StockFilter::Reserve(std::string problem) {
  kind_ = StockFilterKind::kReserved;
  problem_ = std::move(problem);
}

void StockFilter::OpenBloom(std::string_view tail) {
  kind_ = StockFilterKind::kBloom;
  probes_ = ByteAt(tail, 2) & 31;
  const int block_size = ByteAt(tail, 2) >> 5;
  line_bytes_ = kBloomLineBytes;
  lines_ = bits_.size() / kBloomLineBytes;
  if (tail[1] != 0 || block_size != 0 || tail[3] != 0 || tail[4] != 0) {
    Reserve(fmt::format(
        "Bloom of a kind that is reserved: expected "
        "implementation, block size and seed 0, found {}, {} "
        "and {}",
        ByteAt(tail, 1), block_size, ByteAt(tail, 3) | ByteAt(tail, 4) << 8));
  } else if (probes_ < 1 || probes_ > kMaxBloomProbes) {
    Reserve(fmt::format("Bloom of {} probes, expected 1 to {}", probes_,
                        kMaxBloomProbes));
  } else if (lines_ < 1) {
    Reserve(fmt::format("Bloom of {} bytes, expected at least {}", bits_.size(),
                        kBloomLineBytes));
  }
}

void StockFilter::OpenRibbon(std::string_view tail) {
  kind_ = StockFilterKind::kRibbon;
  seed_ = ByteAt(tail, 1);
  blocks_ = ByteAt(tail, 2) | uint32_t{ByteAt(tail, 3)} << 8 |
            uint32_t{ByteAt(tail, 4)} << 16;
  if (blocks_ < 2) {
    Reserve(fmt::format("Ribbon of {} blocks, expected at least 2", blocks_));
    return;
  }
  const uint64_t segments = bits_.size() / kSegmentBytes;
  const uint64_t columns = (segments + blocks_ - 1) / blocks_;
  if (columns > kMaxColumns) {
    columns_ = static_cast<int>(kMaxColumns);
    upper_start_ = 0;
  } else {
    columns_ = static_cast<int>(columns);
    upper_start_ = columns * blocks_ - segments;
  }
}

void StockFilter::OpenLegacyBloom(std::string_view tail) {
  kind_ = StockFilterKind::kLegacyBloom;
  probes_ = marker_;
  std::string_view in = tail.substr(1);
  uint32_t lines = 0;
  if (!GetFixed(&in, &lines) || lines == 0 || bits_.size() % lines != 0 ||
      !std::has_single_bit(bits_.size() / lines)) {
    Reserve(
        fmt::format("legacy Bloom of {} bytes in {} lines, expected lines "
                    "of a power of two of bytes",
                    bits_.size(), lines));
    return;
  }
  lines_ = lines;
  line_bytes_ = bits_.size() / lines;
}

uint64_t StockFilter::slots() const { return blocks_ * kRibbonWidth; }

std::string StockFilter::ParametersText() const {
  switch (kind_) {
    case StockFilterKind::kBloom:
    case StockFilterKind::kLegacyBloom:
      return fmt::format("lines of {} bytes", line_bytes_);
    case StockFilterKind::kRibbon:
      return fmt::format("{} slots, {} result bits, seed {}", slots(), columns_,
                         seed_);
    case StockFilterKind::kNoKeys:
    case StockFilterKind::kReserved:
      break;
  }
  return "";
}

bool StockFilter::MayMatch(std::string_view key) const {
  return HashMayMatch(HashOf(key));
}

void StockFilter::MayMatch(std::span<const std::string_view> keys,
                           std::span<bool> may_match) const {
  std::array<uint64_t, 64> hashes;
  for (size_t start = 0; start < keys.size(); start += hashes.size()) {
    const size_t count = std::min(hashes.size(), keys.size() - start);
    for (size_t i = 0; i < count; ++i) {
      hashes[i] = HashOf(keys[start + i]);
      Prefetch(hashes[i]);
    }
    for (size_t i = 0; i < count; ++i) {
      may_match[start + i] = HashMayMatch(hashes[i]);
    }
  }
}

inline uint64_t StockFilter::HashOf(std::string_view key) const {
  switch (kind_) {
    case StockFilterKind::kBloom:
      return StockHash64(key);
    case StockFilterKind::kRibbon: {
      uint64_t raw_seed = static_cast<uint64_t>(seed_) * kSeedFactor;
      raw_seed ^= (raw_seed & kSeedMask) >> 4;
      return (StockHash64(key) ^ static_cast<uint32_t>(raw_seed)) *
             kRehashFactor;
    }
    case StockFilterKind::kLegacyBloom:
      return StockLegacyHash(key);
    case StockFilterKind::kNoKeys:
    case StockFilterKind::kReserved:
      break;
  }
  return 0;
}

inline uint64_t StockFilter::PlaceOf(uint64_t hash) const {
  switch (kind_) {
    case StockFilterKind::kBloom:
      return Scale32(static_cast<uint32_t>(hash),
                     static_cast<uint32_t>(lines_));
    case StockFilterKind::kRibbon:
      return HighProduct(hash, slots() - kRibbonWidth + 1);
    case StockFilterKind::kLegacyBloom:
      return hash % lines_;
    case StockFilterKind::kNoKeys:
    case StockFilterKind::kReserved:
      break;
  }
  return 0;
}

inline void StockFilter::Prefetch(uint64_t hash) const {
  uint64_t at = PlaceOf(hash) * line_bytes_;
  uint64_t bytes = line_bytes_;
  if (kind_ == StockFilterKind::kRibbon) {
    bytes = static_cast<uint64_t>(columns_) * kSegmentBytes;
    at = PlaceOf(hash) / kRibbonWidth * bytes;
  }
  // The filter need not be aligned as the cache is.
  const uint64_t last = at + bytes - 1;
  if (last >= bits_.size()) return;
  __builtin_prefetch(bits_.data() + at);
  __builtin_prefetch(bits_.data() + last);
}

bool StockFilter::HashMayMatch(uint64_t hash) const {
  switch (kind_) {
    case StockFilterKind::kBloom:
      return BloomMatches(hash);
    case StockFilterKind::kRibbon:
      return RibbonMatches(hash);
    case StockFilterKind::kLegacyBloom:
      return LegacyBloomMatches(hash);
    case StockFilterKind::kNoKeys:
      return false;
    case StockFilterKind::kReserved:
      break;
  }
  return true;
}

inline bool StockFilter::BloomMatches(uint64_t hash) const {
  const std::string_view bits =
      bits_.substr(PlaceOf(hash) * kBloomLineBytes, kBloomLineBytes);
  auto h = static_cast<uint32_t>(hash >> 32);
  for (int i = 0; i < probes_; ++i, h *= kBloomStep) {
    if (!BitAt(bits, h >> (32 - 9))) return false;
  }
  return true;
}

bool StockFilter::LegacyBloomMatches(uint64_t hash) const {
  auto h = static_cast<uint32_t>(hash);
  const std::string_view bits =
      bits_.substr(PlaceOf(hash) * line_bytes_, line_bytes_);
  const uint32_t delta = std::rotr(h, 17);
  const uint64_t line_bits = 8 * uint64_t{line_bytes_};
  for (int i = 0; i < probes_; ++i, h += delta) {
    if (!BitAt(bits, h & (line_bits - 1))) return false;
  }
  return true;
}

// The solution is stored by blocks of 128 slots, of each block its columns one
// after the other. A key's result bit of a column is the parity of its
// coefficients with the 128 bits from its start on, which lie in two blocks
// unless it starts where one does.
bool StockFilter::RibbonMatches(uint64_t hash) const {
  const uint64_t start = PlaceOf(hash);
  const uint64_t mixed = hash * kCoefficientFactor;
  const Word128 coefficients =
      (Word128{mixed} << 64 ^ (mixed ^ kCoefficientXor)) | 1;
  const auto expected = static_cast<uint32_t>(__builtin_bswap64(mixed));

  const uint64_t block = start / kRibbonWidth;
  const auto shift = static_cast<unsigned>(start % kRibbonWidth);
  const auto all = static_cast<uint64_t>(columns_);
  const uint64_t segment = block * all - std::min(block, upper_start_);
  const uint64_t columns = all - (block < upper_start_ ? 1 : 0);
  for (uint64_t i = 0; i < columns; ++i) {
    Word128 found = SegmentAt(bits_, segment + i) & coefficients << shift;
    if (shift != 0) {
      // As RocksDB does, the columns of the next block are taken to start right
      // after these. If it has one more, its last is not probed.
      found ^= SegmentAt(bits_, segment + columns + i) &
               coefficients >> (kRibbonWidth - shift);
    }
    if (Parity(found) != ((expected >> i & 1) != 0)) return false;
  }
  return true;
}

std::unordered_map<uint64_t, uint64_t> StockFilter::LinesByWeight() const {
  std::unordered_map<uint64_t, uint64_t> lines;
  for (uint64_t line = 0; line < lines_; ++line) {
    ++lines[BitsSet(bits_.substr(line * line_bytes_, line_bytes_))];
  }
  return lines;
}

std::optional<double> StockFilter::FillRatio() const {
  if (kind_ != StockFilterKind::kBloom &&
      kind_ != StockFilterKind::kLegacyBloom) {
    return std::nullopt;
  }
  return static_cast<double>(BitsSet(bits_.substr(0, lines_ * line_bytes_))) /
         (8.0 * static_cast<double>(lines_) * static_cast<double>(line_bytes_));
}

std::optional<double> StockFilter::EstimatedEntries() const {
  if (kind_ != StockFilterKind::kBloom &&
      kind_ != StockFilterKind::kLegacyBloom) {
    return std::nullopt;
  }
  // Each entry of a line leaves a bit clear with the same chance, so that their
  // number follows from the bits that are clear; a full line has at least as
  // many as make its last bit likely.
  const double line_bits = 8.0 * static_cast<double>(line_bytes_);
  const double per_entry = probes_ * std::log1p(-1 / line_bits);
  double entries = 0;
  for (const auto& [weight, lines] : LinesByWeight()) {
    const double clear = std::max(0.5, line_bits - static_cast<double>(weight));
    entries +=
        static_cast<double>(lines) * std::log(clear / line_bits) / per_entry;
  }
  return entries;
}

double StockFilter::ExpectedFalsePositiveRate() const {
  switch (kind_) {
    case StockFilterKind::kNoKeys:
      return 0;
    case StockFilterKind::kReserved:
      return 1;
    case StockFilterKind::kRibbon: {
      const double starts = static_cast<double>(slots() - kRibbonWidth + 1);
      const double lower =
          static_cast<double>(upper_start_ * kRibbonWidth) / starts;
      return lower * std::pow(0.5, columns_ - 1) +
             (1 - lower) * std::pow(0.5, columns_);
    }
    case StockFilterKind::kBloom:
    case StockFilterKind::kLegacyBloom:
      break;
  }
  const double line_bits = 8.0 * static_cast<double>(line_bytes_);
  double sum = 0;
  for (const auto& [weight, lines] : LinesByWeight()) {
    sum += static_cast<double>(lines) *
           std::pow(static_cast<double>(weight) / line_bits, probes_);
  }
  const double rate = std::min(1.0, sum / static_cast<double>(lines_));
  if (kind_ != StockFilterKind::kLegacyBloom) return rate;
  const double entries = EstimatedEntries().value_or(0);
  if (entries < 1) return rate;
  // Its probes repeat: RocksDB's own estimate of what that costs
  // (LegacyLocalityBloomImpl::EstimatedFpRate).
  const double bits_per_entry = 8 * static_cast<double>(bits_.size()) / entries;
  return std::min(1.0, rate + 0.1 / (0.75 * bits_per_entry + 22));
}

}  // namespace rowbloom::sst

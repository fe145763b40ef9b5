#include "tools/sst/stock_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "lib/bytes/integers.h"
#include "rocksdb/filter_policy.h"
#include "storage/filter_policy/rocksdb_filter_interface.h"
#include "storage/format/coding.h"

namespace rowbloom::sst {
namespace {

constexpr size_t kTailBytes = 5;
constexpr int kBloomMarker = -1;
constexpr int kRibbonMarker = -2;

constexpr size_t kBloomLineBytes = 64;
constexpr int kMaxBloomProbes = 30;

// The bits of a Ribbon's coefficient row, and the slots of a block.
constexpr uint64_t kRibbonWidth = 128;
constexpr size_t kSegmentBytes = kRibbonWidth / 8;
constexpr uint64_t kMaxColumns = 32;

unsigned char ByteAt(std::string_view bytes, size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

// Creates RocksDB's reader. REQUIRES that the last five bytes were checked: the
// reader trusts them.
std::shared_ptr<rocksdb::FilterBitsReader> NewReader(
    std::string_view contents) {
  // Each of RocksDB's policies reads the filters of all of them.
  static const rocksdb::FilterPolicy* const policy =
      rocksdb::NewBloomFilterPolicy(10);
  return std::shared_ptr<rocksdb::FilterBitsReader>(
      policy->GetFilterBitsReader({contents.data(), contents.size()}));
}

}  // namespace

StockFilter StockFilter::Open(std::string_view contents) {
  StockFilter filter;
  // RocksDB makes no reader of an empty block, and so excludes no key.
  if (contents.empty()) filter.Reserve("a block of 0 bytes");
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
  if (filter.problem_.empty()) filter.reader_ = NewReader(contents);
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
        ByteAt(tail, 1), block_size, LoadFixed<uint16_t>(tail.data() + 3)));
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
  blocks_ = static_cast<uint32_t>(LoadBytes(tail.data() + 2, 3));
  if (blocks_ < 2) {
    Reserve(fmt::format("Ribbon of {} blocks, expected at least 2", blocks_));
    return;
  }
  const uint64_t segments = bits_.size() / kSegmentBytes;
  // With fewer segments RocksDB would read beyond the filter.
  if (segments < blocks_) {
    Reserve(fmt::format("Ribbon of {} bytes in {} blocks, expected at least {}",
                        bits_.size(), blocks_, blocks_ * kSegmentBytes));
    return;
  }
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
  const auto lines = LoadFixed<uint32_t>(tail.data() + 1);
  if (lines == 0 || bits_.size() % lines != 0 ||
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
  if (reader_) return reader_->MayMatch({key.data(), key.size()});
  return kind_ != StockFilterKind::kNoKeys;
}

void StockFilter::MayMatch(std::span<const std::string_view> keys,
                           std::span<bool> may_match) const {
  // RocksDB's reader takes at most 32 keys at once.
  std::array<rocksdb::Slice, 32> slices;
  std::array<rocksdb::Slice*, slices.size()> pointers;
  for (size_t start = 0; start < keys.size(); start += slices.size()) {
    const size_t count = std::min(slices.size(), keys.size() - start);
    for (size_t i = 0; i < count; ++i) {
      slices[i] = {keys[start + i].data(), keys[start + i].size()};
      pointers[i] = &slices[i];
      may_match[start + i] = kind_ != StockFilterKind::kNoKeys;
    }
    if (reader_) {
      reader_->MayMatch(static_cast<int>(count), pointers.data(),
                        &may_match[start]);
    }
  }
}

StockFilter::Estimates StockFilter::Estimate() const {
  switch (kind_) {
    case StockFilterKind::kNoKeys:
      return {.false_positive_rate = 0};
    case StockFilterKind::kReserved:
      return {};
    case StockFilterKind::kRibbon: {
      const double starts = static_cast<double>(slots() - kRibbonWidth + 1);
      const double lower =
          static_cast<double>(upper_start_ * kRibbonWidth) / starts;
      return {.false_positive_rate = lower * std::pow(0.5, columns_ - 1) +
                                     (1 - lower) * std::pow(0.5, columns_)};
    }
    case StockFilterKind::kBloom:
    case StockFilterKind::kLegacyBloom:
      break;
  }
  return EstimateBloom();
}

StockFilter::Estimates StockFilter::EstimateBloom() const {
  // The number of lines by their number of set bits. It is a map because a
  // legacy filter may consist of one very long line.
  std::unordered_map<uint64_t, uint64_t> lines_by_weight;
  for (uint64_t line = 0; line < lines_; ++line) {
    ++lines_by_weight[BitsSet(bits_.substr(line * line_bytes_, line_bytes_))];
  }
  // Each entry of a line leaves a bit clear with the same probability, so the
  // share of clear bits gives the number of entries. A full line does not tell
  // its number.
  const double line_bits = 8.0 * static_cast<double>(line_bytes_);
  const double per_entry = probes_ * std::log1p(-1 / line_bits);
  double fill = 0;
  double entries = 0;
  double rate = 0;
  for (const auto& [weight, line_count] : lines_by_weight) {
    const auto lines = static_cast<double>(line_count);
    const double set = static_cast<double>(weight) / line_bits;
    const double clear = std::max(0.5 / line_bits, 1 - set);
    fill += lines * set;
    entries += lines * std::log(clear) / per_entry;
    rate += lines * std::pow(set, probes_);
  }
  const auto all_lines = static_cast<double>(lines_);
  rate = std::min(1.0, rate / all_lines);
  if (kind_ == StockFilterKind::kLegacyBloom && entries >= 1) {
    // Its probes may repeat. The second term is RocksDB's own estimate of their
    // false positives (LegacyLocalityBloomImpl::EstimatedFpRate).
    const double bits_per_entry =
        8 * static_cast<double>(bits_.size()) / entries;
    rate = std::min(1.0, rate + 0.1 / (0.75 * bits_per_entry + 22));
  }
  return {fill / all_lines, entries, rate};
}

}  // namespace rowbloom::sst

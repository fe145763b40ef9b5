#include "lib/filters/ribbon.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "lib/block/format.h"

namespace rowbloom {
namespace {

constexpr size_t kHeaderBytes = 4;
constexpr size_t kLayerHeaderBytes = 8;
constexpr int kMaxColumns = kFingerprintBits - 1;  // of narrow blocks

// Slots for each key of a layer that may send keys on. With fewer, more keys go
// on; with more, slots stay empty. 0.98 gave the smallest filters.
constexpr double kSlotsPerKey = 0.98;
// Fewer keys go into one system that sends none on.
constexpr size_t kLastLayerKeys = 800;
constexpr uint32_t kSeeds = 4;
// Of the last layer, in slots for each key: beyond, no number of slots helps.
constexpr size_t kMaxLastSlotsPerKey = 4;

// Columns, and the share of blocks that have no more than these, so that the
// mean rate is the one asked for.
struct Columns {
  int narrow;
  double narrow_share;
};

Columns ColumnsFor(double rate) {
  const double bits = -std::log2(rate);
  const int narrow =
      std::clamp(static_cast<int>(std::floor(bits)), 1, kMaxColumns);
  const double narrow_rate = std::ldexp(1.0, -narrow);
  const double wide_rate = narrow_rate / 2;
  return {narrow,
          std::clamp((rate - wide_rate) / (narrow_rate - wide_rate), 0.0, 1.0)};
}

uint64_t WordsOf(const RibbonLayer& layer, int columns) {
  return WordsBefore(layer, columns, layer.blocks);
}

// Bytes of the limits of a layer that is not the last.
uint64_t LimitBytes(uint32_t blocks) {
  const uint64_t slots = uint64_t{blocks} * kSlotsOfBlock;
  const uint64_t buckets = (slots + kSlotsOfBucket - 1) / kSlotsOfBucket;
  return (buckets + 3) / 4;
}

// A system in echelon form: the row of a slot, if any, starts with it.
class System {
 public:
  System(uint32_t blocks, uint32_t fingerprint_mask)
      : mask_(fingerprint_mask),
        coefficients_(size_t{blocks} * kSlotsOfBlock),
        fingerprints_(coefficients_.size()) {}

  // Adds the equation of a hash. Its slot if it took one, kRedundant if it
  // followed from others, kContradicts if no solution has it.
  static constexpr size_t kRedundant = std::numeric_limits<size_t>::max();
  static constexpr size_t kContradicts = kRedundant - 1;
  size_t Add(uint64_t hash, size_t slot) {
    uint64_t coefficients = Coefficients(hash);
    uint32_t fingerprint = Fingerprint(hash) & mask_;
    while (coefficients_[slot] != 0) {
      coefficients ^= coefficients_[slot];
      fingerprint ^= fingerprints_[slot];
      if (coefficients == 0)
        return fingerprint == 0 ? kRedundant : kContradicts;
      const int zeros = std::countr_zero(coefficients);
      slot += static_cast<size_t>(zeros);
      coefficients >>= zeros;
    }
    coefficients_[slot] = coefficients;
    fingerprints_[slot] = fingerprint;
    return slot;
  }

  // Takes back an equation that nothing was added after but what is taken back,
  // too.
  void Remove(size_t slot) { coefficients_[slot] = 0; }

  // Appends the solution. Slots without a row are zero.
  void AppendSolution(const RibbonLayer& layer, int columns,
                      std::string* out) const {
    const size_t start = out->size();
    out->resize(start + 8 * WordsOf(layer, columns));
    char* end = out->data() + out->size();
    // Bit k of a column: its unknown of the slot k after the current one.
    std::array<uint64_t, kFingerprintBits> window{};
    for (uint32_t block = layer.blocks; block-- > 0;) {
      const int count = columns + (block >= layer.first_wide ? 1 : 0);
      for (size_t slot = size_t{block + 1} * kSlotsOfBlock;
           slot-- > size_t{block} * kSlotsOfBlock;) {
        const uint64_t row = coefficients_[slot];
        const uint32_t fingerprint = row == 0 ? 0 : fingerprints_[slot];
        for (int i = 0; i < count; ++i) {
          const uint64_t known = window[i] << 1;
          const auto sum =
              static_cast<uint32_t>(__builtin_parityll(known & row));
          window[i] = known | ((sum ^ fingerprint >> i) & 1);
        }
      }
      for (int i = count; i-- > 0;) {
        end -= 8;
        StoreWord(window[i], end);
      }
    }
  }

 private:
  static void StoreWord(uint64_t word, char* to) {
    if constexpr (std::endian::native == std::endian::big) {
      word = __builtin_bswap64(word);
    }
    __builtin_memcpy(to, &word, sizeof(word));
  }

  uint32_t mask_;
  std::vector<uint64_t> coefficients_;
  std::vector<uint32_t> fingerprints_;
};

// Sorts by `bucket(hash)`, a number below `buckets`. Returns where each bucket
// starts, and the end.
template <typename Bucket>
std::vector<uint32_t> SortByBucket(std::span<const uint64_t> hashes,
                                   size_t buckets, const Bucket& bucket,
                                   uint64_t* sorted) {
  std::vector<uint32_t> starts(buckets + 1);
  for (const uint64_t hash : hashes) ++starts[bucket(hash) + 1];
  for (size_t i = 0; i < buckets; ++i) starts[i + 1] += starts[i];
  std::vector<uint32_t> next(starts.begin(), starts.end() - 1);
  for (const uint64_t hash : hashes) sorted[next[bucket(hash)]++] = hash;
  return starts;
}

// Fills a system, bucket by bucket; within one, from its end to its start,
// since the equations of the bucket before reach into its start. The slots
// between two limits are filled as a whole or left to the next layer, with all
// before them.
class LayerFiller {
 public:
  LayerFiller(uint32_t blocks, uint32_t fingerprint_mask)
      : blocks_(blocks),
        system_(blocks, fingerprint_mask),
        limits_(LimitBytes(blocks), 0) {}

  // Appends the hashes that go on to `next`.
  void Fill(std::span<const uint64_t> hashes, std::vector<uint64_t>* next) {
    const size_t slots = size_t{blocks_} * kSlotsOfBlock;
    const size_t buckets = (slots + kSlotsOfBucket - 1) / kSlotsOfBucket;
    std::vector<uint64_t> sorted(hashes.size());
    const std::vector<uint32_t> starts = SortByBucket(
        hashes, buckets,
        [this](uint64_t hash) {
          return FirstSlot(hash, blocks_) / kSlotsOfBucket;
        },
        sorted.data());
    for (size_t bucket = 0; bucket < buckets; ++bucket) {
      const uint32_t limit =
          FillBucket(std::span(sorted).subspan(
                         starts[bucket], starts[bucket + 1] - starts[bucket]),
                     next);
      limits_[bucket / 4] |= static_cast<char>(limit << bucket % 4 * 2);
    }
  }

  const System& system() const { return system_; }
  const std::string& limits() const { return limits_; }

 private:
  // The number of the limit from which on the bucket has its keys.
  uint32_t FillBucket(std::span<const uint64_t> hashes,
                      std::vector<uint64_t>* next) {
    // By place in the bucket, the last first.
    std::array<uint32_t, kSlotsOfBucket + 1> starts{};
    const auto place = [this](uint64_t hash) {
      return kSlotsOfBucket - 1 - FirstSlot(hash, blocks_) % kSlotsOfBucket;
    };
    for (const uint64_t hash : hashes) ++starts[place(hash) + 1];
    for (uint32_t i = 0; i < kSlotsOfBucket; ++i) starts[i + 1] += starts[i];
    std::array<uint32_t, std::size(kLimits)> ends;
    for (size_t i = 0; i < ends.size(); ++i) {
      ends[i] = starts[kSlotsOfBucket - kLimits[i]];
    }
    ordered_.resize(hashes.size());
    for (const uint64_t hash : hashes) ordered_[starts[place(hash)]++] = hash;

    uint32_t limit = std::size(kLimits) - 1;
    for (; limit > 0; --limit) {
      if (!AddAll(std::span(ordered_).subspan(ends[limit],
                                              ends[limit - 1] - ends[limit]))) {
        break;
      }
    }
    next->insert(next->end(), ordered_.begin() + ends[limit], ordered_.end());
    return limit;
  }

  bool AddAll(std::span<const uint64_t> hashes) {
    taken_.clear();
    for (const uint64_t hash : hashes) {
      const size_t slot = system_.Add(hash, FirstSlot(hash, blocks_));
      if (slot == System::kContradicts) {
        for (const size_t added : taken_) system_.Remove(added);
        return false;
      }
      if (slot != System::kRedundant) taken_.push_back(slot);
    }
    return true;
  }

  uint32_t blocks_;
  System system_;
  std::string limits_;
  std::vector<uint64_t> ordered_;
  std::vector<size_t> taken_;
};

uint32_t BlocksFor(double slots) {
  return static_cast<uint32_t>(std::max(1.0, std::ceil(slots / kSlotsOfBlock)));
}

// Appends the solution of all hashes. Returns the seed, or nullopt.
std::optional<uint8_t> AppendLastLayer(std::span<const uint64_t> hashes,
                                       const Columns& columns, uint32_t mask,
                                       RibbonLayer* layer, std::string* out) {
  const auto keys = static_cast<double>(hashes.size());
  const uint32_t most = BlocksFor(keys * kMaxLastSlotsPerKey) + 1;
  std::vector<uint64_t> seeded(hashes.size());
  for (uint32_t blocks = BlocksFor(keys * 1.02); blocks <= most; ++blocks) {
    for (uint32_t seed = 0; seed < kSeeds; ++seed) {
      std::ranges::transform(hashes, seeded.begin(),
                             [&](uint64_t hash) { return Remix(hash, seed); });
      System system(blocks, mask);
      const bool solved = std::ranges::all_of(seeded, [&](uint64_t hash) {
        return system.Add(hash, FirstSlot(hash, blocks)) !=
               System::kContradicts;
      });
      if (!solved) continue;
      layer->blocks = blocks;
      layer->first_wide = static_cast<uint32_t>(blocks * columns.narrow_share);
      system.AppendSolution(*layer, columns.narrow, out);
      return static_cast<uint8_t>(seed);
    }
  }
  return std::nullopt;
}

}  // namespace

double RibbonBitsPerKey(double false_positive_rate) {
  const Columns columns = ColumnsFor(false_positive_rate);
  constexpr double kLimitBits = 2.0 / kSlotsOfBucket;
  return 1.002 * (columns.narrow + 1 - columns.narrow_share) + kLimitBits;
}

bool AppendRibbon(std::vector<uint64_t> hashes, double false_positive_rate,
                  size_t max_bytes, std::string* out) {
  const Columns columns = ColumnsFor(false_positive_rate);
  const uint32_t mask = (uint32_t{1} << (columns.narrow + 1)) - 1;
  if (static_cast<double>(hashes.size()) * columns.narrow / 8 >
      static_cast<double>(max_bytes)) {
    return false;
  }

  std::vector<RibbonLayer> layers;
  std::string body;
  std::vector<uint64_t> next;
  while (hashes.size() > kLastLayerKeys &&
         layers.size() + 1 < RibbonFilter::kMaxLayers) {
    RibbonLayer layer;
    layer.blocks = std::max(
        2U, BlocksFor(static_cast<double>(hashes.size()) * kSlotsPerKey));
    layer.first_wide =
        static_cast<uint32_t>(layer.blocks * columns.narrow_share);
    LayerFiller filler(layer.blocks, mask);
    next.clear();
    filler.Fill(hashes, &next);
    hashes.clear();
    hashes.shrink_to_fit();
    filler.system().AppendSolution(layer, columns.narrow, &body);
    body += filler.limits();
    layers.push_back(layer);
    hashes = next;
    for (uint64_t& hash : hashes) hash = Remix(hash, kNextLayer);
  }
  RibbonLayer last;
  const auto seed = AppendLastLayer(hashes, columns, mask, &last, &body);
  if (!seed) return false;
  layers.push_back(last);

  const size_t bytes =
      kHeaderBytes + kLayerHeaderBytes * layers.size() + body.size();
  if (bytes > max_bytes) return false;
  out->reserve(out->size() + bytes);
  format::PutFixed(out, static_cast<uint64_t>(columns.narrow), 1);
  format::PutFixed(out, layers.size(), 1);
  format::PutFixed(out, *seed, 1);
  format::PutFixed(out, 0, 1);
  for (const RibbonLayer& layer : layers) {
    format::PutFixed(out, layer.blocks, 4);
    format::PutFixed(out, layer.first_wide, 4);
  }
  *out += body;
  return true;
}

std::optional<RibbonFilter> ParseRibbon(std::string_view payload,
                                        std::string* problem) {
  const auto wrong = [problem](const std::string& what) {
    *problem = "ribbon: " + what;
    return std::nullopt;
  };
  if (payload.size() < kHeaderBytes) {
    return wrong(std::to_string(payload.size()) + " bytes, expected at least " +
                 std::to_string(kHeaderBytes));
  }
  RibbonFilter filter;
  filter.payload = reinterpret_cast<const std::byte*>(payload.data());
  filter.columns = static_cast<uint8_t>(format::GetFixed(payload, 0, 1));
  filter.layer_count = static_cast<uint8_t>(format::GetFixed(payload, 1, 1));
  filter.seed = static_cast<uint8_t>(format::GetFixed(payload, 2, 1));
  if (filter.columns < 1 || filter.columns > kMaxColumns) {
    return wrong(std::to_string(filter.columns) + " columns, expected 1 to " +
                 std::to_string(kMaxColumns));
  }
  if (filter.layer_count < 1 || filter.layer_count > RibbonFilter::kMaxLayers) {
    return wrong(std::to_string(filter.layer_count) +
                 " layers, expected 1 to " +
                 std::to_string(RibbonFilter::kMaxLayers));
  }
  uint64_t at = kHeaderBytes + kLayerHeaderBytes * filter.layer_count;
  if (payload.size() < at) {
    return wrong(std::to_string(payload.size()) + " bytes for the header of " +
                 std::to_string(filter.layer_count) + " layers, expected " +
                 std::to_string(at));
  }
  for (uint8_t i = 0; i < filter.layer_count; ++i) {
    RibbonLayer& layer = filter.layers[i];
    const size_t header_at = kHeaderBytes + kLayerHeaderBytes * i;
    layer.blocks =
        static_cast<uint32_t>(format::GetFixed(payload, header_at, 4));
    layer.first_wide =
        static_cast<uint32_t>(format::GetFixed(payload, header_at + 4, 4));
    const std::string name = "layer " + std::to_string(i) + ": ";
    // Each block has 8 bytes at least, so no sum below can overflow.
    if (layer.blocks < 1 || layer.blocks > payload.size() / 8 ||
        layer.first_wide > layer.blocks) {
      return wrong(name + std::to_string(layer.first_wide) + " narrow of " +
                   std::to_string(layer.blocks) + " blocks in " +
                   std::to_string(payload.size()) + " bytes");
    }
    layer.words_at = static_cast<uint32_t>(at);
    at += 8 * WordsOf(layer, filter.columns);
    layer.limits_at = static_cast<uint32_t>(at);
    if (i + 1 < filter.layer_count) at += LimitBytes(layer.blocks);
    if (at > payload.size()) break;
  }
  if (at != payload.size() || at > std::numeric_limits<uint32_t>::max()) {
    return wrong("layers of " + std::to_string(at) + " bytes or more, found " +
                 std::to_string(payload.size()));
  }
  return filter;
}

double RibbonFalsePositiveRate(const RibbonFilter& filter) {
  const RibbonLayer& layer = filter.layers[0];
  const double narrow = std::ldexp(1.0, -filter.columns);
  const double share = static_cast<double>(layer.first_wide) / layer.blocks;
  return narrow * share + narrow / 2 * (1 - share);
}

}  // namespace rowbloom

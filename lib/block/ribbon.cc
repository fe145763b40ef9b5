#include "lib/block/ribbon.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "lib/bytes/integers.h"
#include "lib/bytes/text.h"
#include "lib/plan/kind_bits.h"

namespace rowbloom {
namespace {

constexpr size_t kHeaderBytes = 4;
constexpr size_t kLayerHeaderBytes = 8;
static_assert(kMaxRibbonColumns == kFingerprintBits - 1);

// Up to this many keys go into the last layer, which passes none on.
constexpr size_t kLastLayerKeys = 800;
constexpr uint32_t kSeeds = 4;
// The most slots for each key of the last layer: more do not help.
constexpr size_t kMaxLastSlotsPerKey = 4;

// The size of a layer.
struct RibbonShape {
  uint32_t blocks = 0;      // 64 slots each
  uint32_t first_wide = 0;  // blocks from here on have one more column
};

uint64_t WordsOf(const RibbonShape& layer, int columns) {
  uint64_t is_wide = 0;
  return WordsBefore(layer.first_wide, static_cast<uint64_t>(columns),
                     layer.blocks, &is_wide);
}

uint64_t BucketsOf(uint64_t slots) {
  return (slots + kSlotsOfBucket - 1) / kSlotsOfBucket;
}

// Bytes of the limits of a layer that is not the last.
uint64_t LimitBytes(uint64_t buckets) { return (buckets + 3) / 4; }

// The equation of a key: the exclusive or of some of the 64 slots from `slot`
// on. The lowest bit of the coefficients is for `slot` itself.
struct Equation {
  uint64_t coefficients = 0;
  uint32_t fingerprint = 0;
  size_t slot = 0;
};

// A system in echelon form: the row of a slot, if any, starts with that slot. A
// slot without a row has zeros as coefficients and fingerprint.
class System {
 public:
  System(uint32_t blocks, uint32_t fingerprint_mask)
      : starts_(Starts(blocks)),
        mask_(fingerprint_mask),
        coefficients_(size_t{blocks} * kSlotsOfBlock),
        fingerprints_(coefficients_.size()) {}

  size_t slots() const { return coefficients_.size(); }
  size_t FirstSlotOf(uint64_t hash) const { return FirstSlot(hash, starts_); }

  Equation EquationOf(uint64_t hash) const {
    return {Coefficients(hash), Fingerprint(hash) & mask_, FirstSlotOf(hash)};
  }

  // Eliminates the slot of an equation by the row of that slot. False: the slot
  // has no row, or the coefficients of the equation have become zero.
  [[gnu::always_inline]] bool Reduce(Equation* equation) const {
    const uint64_t row = coefficients_[equation->slot];
    if (row == 0) return false;
    const uint64_t left = equation->coefficients ^ row;
    equation->fingerprint ^= fingerprints_[equation->slot];
    equation->coefficients = left;
    if (left == 0) return false;
    const int zeros = std::countr_zero(left);
    equation->slot += static_cast<size_t>(zeros);
    equation->coefficients = left >> zeros;
    return true;
  }

  // Puts a reduced equation into its slot, which is free.
  void Place(const Equation& equation) {
    coefficients_[equation.slot] = equation.coefficients;
    fingerprints_[equation.slot] = equation.fingerprint;
  }

  // Removes an equation. REQUIRES that all equations added after it are
  // removed, too.
  void Remove(size_t slot) { coefficients_[slot] = fingerprints_[slot] = 0; }

  const uint64_t* coefficients() const { return coefficients_.data(); }
  const uint32_t* fingerprints() const { return fingerprints_.data(); }

 private:
  uint64_t starts_;
  uint32_t mask_;
  std::vector<uint64_t> coefficients_;
  std::vector<uint32_t> fingerprints_;
};

// Appends the solution of a layer's system; narrow blocks have `columns`. Back
// substitution goes from the last slot to the first, since the row of a slot
// has coefficients for it and the next 63. Registers hold some columns at a
// time.
void AppendSolution(const System& system, const RibbonShape& layer, int columns,
                    std::string* out) {
  const size_t start = out->size();
  out->resize(start + 8 * WordsOf(layer, columns));
  char* const words = out->data() + start;
  const uint64_t* const coefficients = system.coefficients();
  const uint32_t* const fingerprints = system.fingerprints();
  constexpr int kTogether = 4;
  const int most = columns + (layer.first_wide < layer.blocks ? 1 : 0);
  for (int first = 0; first < most; first += kTogether) {
    // Bit k: the solution of the k-th slot after the one just solved.
    uint64_t known[kTogether] = {};
    for (uint32_t block = layer.blocks; block-- > 0;) {
      const size_t begin = size_t{block} * kSlotsOfBlock;
      for (size_t slot = begin + kSlotsOfBlock; slot-- > begin;) {
        const uint64_t others = coefficients[slot] >> 1;
        const uint32_t fingerprint = fingerprints[slot] >> first;
        for (int i = 0; i < kTogether; ++i) {
          const auto sum =
              static_cast<uint32_t>(__builtin_parityll(known[i] & others));
          known[i] = known[i] << 1 | ((sum ^ fingerprint >> i) & 1);
        }
      }
      uint64_t is_wide = 0;
      char* to = words + 8 * WordsBefore(layer.first_wide,
                                         static_cast<uint64_t>(columns), block,
                                         &is_wide);
      const int count = columns + static_cast<int>(is_wide);
      for (int i = 0; i < kTogether && first + i < count; ++i) {
        StoreWord(known[i], to + 8 * (first + i));
      }
    }
  }
}

using Chunks = std::span<const std::span<const uint64_t>>;

size_t CountOf(Chunks chunks) {
  size_t count = 0;
  for (const std::span<const uint64_t> chunk : chunks) count += chunk.size();
  return count;
}

// The hashes of a layer in the order of their buckets.
class SortedHashes {
 public:
  SortedHashes(Chunks chunks, const System& system)
      : hashes_(std::make_unique_for_overwrite<uint64_t[]>(CountOf(chunks))),
        starts_(BucketsOf(system.slots()) + 2) {
    const auto bucket = [&system](uint64_t hash) {
      return system.FirstSlotOf(hash) / kSlotsOfBucket;
    };
    // Each start is kept one place late: filling its bucket moves it to the
    // start of the next bucket.
    for (const std::span<const uint64_t> chunk : chunks) {
      for (const uint64_t hash : chunk) ++starts_[bucket(hash) + 2];
    }
    for (size_t i = 2; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
    for (const std::span<const uint64_t> chunk : chunks) {
      for (const uint64_t hash : chunk) {
        hashes_[starts_[bucket(hash) + 1]++] = hash;
      }
    }
  }

  size_t buckets() const { return starts_.size() - 2; }

  std::span<const uint64_t> Bucket(size_t bucket) const {
    return {hashes_.get() + starts_[bucket],
            starts_[bucket + 1] - starts_[bucket]};
  }

 private:
  std::unique_ptr<uint64_t[]> hashes_;
  std::vector<uint32_t> starts_;  // by bucket
};

// Adds the keys of neighbouring buckets to a system, one after the other and an
// equation at a time, so that several fillers can take turns: each step waits
// for the one before it, and for memory, but not for the steps of other
// fillers.
//
// A bucket is filled from its end to its start, since the equations of the
// bucket before reach into its start. The keys between two limits are all
// added, or go to the next layer with all keys before them.
class BucketFiller {
 public:
  // Fills the buckets from `first` up to `end`. It uses only slots below
  // `end_slot`: a key whose equation needs others goes to the next layer.
  BucketFiller(System* system, const SortedHashes& sorted, size_t first,
               size_t end, size_t end_slot, std::string* limits,
               std::vector<uint64_t>* next_layer)
      : system_(system),
        sorted_(sorted),
        bucket_(first),
        end_(end),
        end_slot_(end_slot),
        limits_(limits),
        next_layer_(next_layer) {}

  // Sets the first equation. False: there is none.
  bool Start(Equation* equation) {
    if (bucket_ == end_) return false;
    OpenBucket();
    return NextEquation(equation);
  }

  // Takes an equation that is reduced, and sets the next one. False: all
  // buckets are filled.
  [[gnu::noinline]] bool Settle(Equation* equation) {
    if (equation->slot >= end_slot_ ||
        (equation->coefficients == 0 && equation->fingerprint != 0)) {
      while (taken_count_ > 0) system_->Remove(taken_[--taken_count_]);
      CloseBucket();
      if (bucket_ == end_) return false;
    } else {
      if (equation->coefficients != 0) {
        system_->Place(*equation);
        taken_[taken_count_++] = equation->slot;
      }
      ++at_;
    }
    return NextEquation(equation);
  }

 private:
  void OpenBucket() {
    const std::span<const uint64_t> hashes = sorted_.Bucket(bucket_);
    // The start of each place in the bucket, the last place first.
    std::array<uint32_t, kSlotsOfBucket + 1> starts{};
    const auto place = [this](uint64_t hash) {
      return kSlotsOfBucket - 1 - system_->FirstSlotOf(hash) % kSlotsOfBucket;
    };
    for (const uint64_t hash : hashes) ++starts[place(hash) + 1];
    for (uint32_t i = 0; i < kSlotsOfBucket; ++i) starts[i + 1] += starts[i];
    for (size_t i = 0; i < ends_.size(); ++i) {
      ends_[i] = starts[kSlotsOfBucket - kLimits[i]];
    }
    ordered_.resize(hashes.size());
    taken_.resize(hashes.size());
    for (const uint64_t hash : hashes) ordered_[starts[place(hash)]++] = hash;
    at_ = 0;
    OpenLimit(std::size(kLimits) - 1);
  }

  void OpenLimit(uint32_t limit) {
    limit_ = limit;
    limit_end_ = limit == 0 ? 0 : ends_[limit - 1];
    taken_count_ = 0;
  }

  // Passes keys that are not in the system to the next layer.
  void CloseBucket() {
    next_layer_->insert(next_layer_->end(), ordered_.begin() + ends_[limit_],
                        ordered_.end());
    (*limits_)[bucket_ / 4] |= static_cast<char>(limit_ << bucket_ % 4 * 2);
    if (++bucket_ < end_) OpenBucket();
  }

  bool NextEquation(Equation* equation) {
    while (at_ >= limit_end_) {
      OpenLimit(limit_ - 1);
      if (limit_ > 0) continue;
      CloseBucket();
      if (bucket_ == end_) return false;
    }
    *equation = system_->EquationOf(ordered_[at_]);
    return true;
  }

  System* system_;
  const SortedHashes& sorted_;
  size_t bucket_;
  size_t end_;
  size_t end_slot_;
  std::string* limits_;
  std::vector<uint64_t>* next_layer_;

  // The bucket being filled.
  std::vector<uint64_t> ordered_;
  // The ends of the keys above each limit.
  std::array<uint32_t, std::size(kLimits)> ends_{};
  uint32_t limit_ = 0;  // keys from this limit on are in the system
  size_t at_ = 0;
  // The limit being tried.
  size_t limit_end_ = 0;
  std::vector<size_t> taken_;  // slots
  size_t taken_count_ = 0;
};

// Fills buckets by fillers that share no slots. The steps of one filler wait
// for memory and leave most of a CPU idle: several fillers take half the time
// of one.
template <size_t... kFiller>
void FillInTurns(const System& system, std::vector<BucketFiller>* fillers,
                 std::index_sequence<kFiller...>) {
  // These stay in registers, as only constants index them.
  std::array<Equation, sizeof...(kFiller)> equations;
  std::array<bool, sizeof...(kFiller)> more;
  const auto start = [&](size_t i) __attribute__((always_inline)) {
    Equation first;
    more[i] = (*fillers)[i].Start(&first);
    equations[i] = first;
    return more[i];
  };
  const auto turn = [&](size_t i) __attribute__((always_inline)) {
    if (system.Reduce(&equations[i])) [[likely]]
      return true;
    Equation settled = equations[i];
    more[i] = (*fillers)[i].Settle(&settled);
    equations[i] = settled;
    return more[i];
  };
  bool all = true;
  ((all = start(kFiller) && all), ...);
  while (all) ((all = turn(kFiller) && all), ...);
  const auto finish = [&](size_t i) __attribute__((always_inline)) {
    while (more[i]) turn(i);
  };
  (finish(kFiller), ...);
}

// Fills a system with those of the hashes that it can take, and appends the
// others to *next_layer. Returns the limits.
std::string FillLayer(Chunks hashes, System* system,
                      std::vector<uint64_t>* next_layer) {
  const SortedHashes sorted(hashes, *system);
  const size_t buckets = sorted.buckets();
  std::string limits(LimitBytes(buckets), 0);
  std::vector<BucketFiller> fillers;
  const auto add_filler = [&](size_t first, size_t end, size_t end_slot) {
    fillers.emplace_back(system, sorted, first, end, end_slot, &limits,
                         next_layer);
  };
  // Some 30 slots stay empty where parts meet: too many for small parts.
  const size_t parts = buckets >= 512 ? 4 : buckets >= 64 ? 2 : 1;
  const size_t part = buckets / parts;
  // The last buckets of a part reach into the next part, and are filled last.
  const size_t seam = parts == 1 ? 0 : 4;
  for (size_t i = 1; i <= parts; ++i) {
    add_filler((i - 1) * part, i * part - seam, i * part * kSlotsOfBucket);
  }
  if (parts == 4) {
    FillInTurns(*system, &fillers, std::make_index_sequence<4>());
  } else if (parts == 2) {
    FillInTurns(*system, &fillers, std::make_index_sequence<2>());
  } else {
    FillInTurns(*system, &fillers, std::make_index_sequence<1>());
  }
  for (size_t i = 1; i <= parts; ++i) {
    fillers.clear();
    add_filler(i * part - seam, i < parts ? i * part : buckets,
               system->slots());
    FillInTurns(*system, &fillers, std::make_index_sequence<1>());
  }
  return limits;
}

uint32_t BlocksFor(double slots) {
  return static_cast<uint32_t>(std::max(1.0, std::ceil(slots / kSlotsOfBlock)));
}

// Adds the equations of all hashes. False: two of them contradict each other.
bool PlaceAll(std::span<const uint64_t> hashes, System* system) {
  return std::ranges::all_of(hashes, [system](uint64_t hash) {
    Equation equation = system->EquationOf(hash);
    while (system->Reduce(&equation)) {
    }
    if (equation.coefficients != 0) system->Place(equation);
    return equation.coefficients != 0 || equation.fingerprint == 0;
  });
}

// Appends the solution of all hashes. Returns the seed, or nullopt if the
// system is not solved by `max_tried_hashes`.
std::optional<uint8_t> AppendLastLayer(Chunks hashes,
                                       const RibbonColumns& columns,
                                       uint32_t mask, size_t max_tried_hashes,
                                       RibbonShape* layer, std::string* out) {
  const size_t count = CountOf(hashes);
  size_t tries = max_tried_hashes / std::max<size_t>(1, count);
  if (tries == 0) return std::nullopt;
  std::vector<uint64_t> seeded(count);
  const auto keys = static_cast<double>(seeded.size());
  const uint32_t most = BlocksFor(keys * kMaxLastSlotsPerKey) + 1;
  for (uint32_t blocks = BlocksFor(keys * 1.02); blocks <= most; ++blocks) {
    for (uint32_t seed = 0; seed < kSeeds; ++seed) {
      if (tries-- == 0) return std::nullopt;
      auto to = seeded.begin();
      for (const std::span<const uint64_t> chunk : hashes) {
        for (const uint64_t hash : chunk) *to++ = Remix(hash, seed);
      }
      // Equations take the fewest steps in the order of their slots.
      std::ranges::sort(seeded);
      System system(blocks, mask);
      if (!PlaceAll(seeded, &system)) continue;
      layer->blocks = blocks;
      layer->first_wide = static_cast<uint32_t>(blocks * columns.narrow_share);
      AppendSolution(system, *layer, columns.narrow, out);
      return static_cast<uint8_t>(seed);
    }
  }
  return std::nullopt;
}

}  // namespace

bool AppendRibbon(Chunks hashes, double false_positive_rate, size_t max_bytes,
                  std::string* out, double slots_per_key,
                  size_t max_tried_hashes) {
  const RibbonColumns columns = RibbonColumnsFor(false_positive_rate);
  const uint32_t mask = (uint32_t{1} << (columns.narrow + 1)) - 1;
  size_t count = CountOf(hashes);
  if (count > std::numeric_limits<uint32_t>::max() ||
      static_cast<double>(count) * columns.narrow / 8 >
          static_cast<double>(max_bytes)) {
    return false;
  }

  std::vector<RibbonShape> layers;
  std::string body;
  // The hashes that the layer before passed on.
  std::vector<uint64_t> left;
  std::span<const uint64_t> left_chunk;
  while (count > kLastLayerKeys &&
         layers.size() + 1 < RibbonFilter::kMaxLayers) {
    RibbonShape layer;
    layer.blocks =
        std::max(2U, BlocksFor(static_cast<double>(count) * slots_per_key));
    layer.first_wide =
        static_cast<uint32_t>(layer.blocks * columns.narrow_share);
    System system(layer.blocks, mask);
    std::vector<uint64_t> next;
    const std::string limits = FillLayer(hashes, &system, &next);
    AppendSolution(system, layer, columns.narrow, &body);
    body += limits;
    layers.push_back(layer);
    for (uint64_t& hash : next) hash = Remix(hash, kNextLayer);
    left.swap(next);
    left_chunk = left;
    hashes = {&left_chunk, 1};
    count = left.size();
  }
  RibbonShape last;
  const auto seed =
      AppendLastLayer(hashes, columns, mask, max_tried_hashes, &last, &body);
  if (!seed) return false;
  layers.push_back(last);

  const size_t bytes =
      kHeaderBytes + kLayerHeaderBytes * layers.size() + body.size();
  if (bytes > max_bytes) return false;
  out->reserve(out->size() + bytes);
  PutFixed(out, static_cast<uint64_t>(columns.narrow), 1);
  PutFixed(out, layers.size(), 1);
  PutFixed(out, *seed, 1);
  PutFixed(out, 0, 1);
  for (const RibbonShape& layer : layers) {
    PutFixed(out, layer.blocks, 4);
    PutFixed(out, layer.first_wide, 4);
  }
  *out += body;
  return true;
}

std::optional<RibbonFilter> ParseRibbon(std::string_view payload,
                                        std::string* problem) {
  const auto wrong = [problem](const auto&... parts) {
    *problem = Concat("ribbon: ", parts...);
    return std::nullopt;
  };
  if (payload.size() < kHeaderBytes) {
    return wrong(payload.size(), " bytes, expected at least ", kHeaderBytes);
  }
  RibbonFilter filter;
  const auto* const bytes = reinterpret_cast<const std::byte*>(payload.data());
  filter.columns = GetFixed(payload, 0, 1);
  filter.layer_count = static_cast<uint8_t>(GetFixed(payload, 1, 1));
  filter.seed = static_cast<uint8_t>(GetFixed(payload, 2, 1));
  if (filter.columns < 1 || filter.columns > kMaxRibbonColumns) {
    return wrong(filter.columns, " columns, expected 1 to ", kMaxRibbonColumns);
  }
  if (filter.layer_count < 1 || filter.layer_count > RibbonFilter::kMaxLayers) {
    return wrong(filter.layer_count, " layers, expected 1 to ",
                 RibbonFilter::kMaxLayers);
  }
  uint64_t at = kHeaderBytes + kLayerHeaderBytes * filter.layer_count;
  if (payload.size() < at) {
    return wrong(payload.size(), " bytes for the header of ",
                 filter.layer_count, " layers, expected ", at);
  }
  for (uint8_t i = 0; i < filter.layer_count; ++i) {
    const size_t header_at = kHeaderBytes + kLayerHeaderBytes * i;
    const RibbonShape shape{
        static_cast<uint32_t>(GetFixed(payload, header_at, 4)),
        static_cast<uint32_t>(GetFixed(payload, header_at + 4, 4))};
    // Each block has 8 bytes at least, so no sum below can overflow.
    if (shape.blocks < 1 || shape.blocks > payload.size() / 8 ||
        shape.first_wide > shape.blocks) {
      return wrong("layer ", i, ": ", shape.first_wide, " narrow of ",
                   shape.blocks, " blocks in ", payload.size(), " bytes");
    }
    RibbonLayer& layer = filter.layers[i];
    layer.starts = Starts(shape.blocks);
    layer.first_wide = shape.first_wide;
    layer.words = bytes + at;
    at += 8 * WordsOf(shape, static_cast<int>(filter.columns));
    if (at > payload.size()) break;
    if (i + 1 < filter.layer_count) {
      layer.limits = bytes + at;
      at += LimitBytes(BucketsOf(uint64_t{shape.blocks} * kSlotsOfBlock));
    }
    if (at > payload.size()) break;
  }
  if (at != payload.size()) {
    return wrong("layers of ", at, " bytes or more, found ", payload.size());
  }
  return filter;
}

double RibbonFalsePositiveRate(const RibbonFilter& filter) {
  const RibbonLayer& layer = filter.layers[0];
  const auto blocks = (layer.starts + kSlotsOfBlock - 1) / kSlotsOfBlock;
  const double narrow_share =
      static_cast<double>(layer.first_wide) / static_cast<double>(blocks);
  return std::ldexp(1 + narrow_share, -static_cast<int>(filter.columns) - 1);
}

}  // namespace rowbloom

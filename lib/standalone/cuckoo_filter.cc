#include "rowbloom/cuckoo_filter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "lib/bytes/integers.h"
#include "lib/bytes/text.h"
#include "lib/standalone/frame.h"
#include "lib/standalone/key_hash.h"
#include "rowbloom/bloom_shape.h"

namespace rowbloom {
namespace {

constexpr uint64_t kSlots = kCuckooBucketSlots;
// The paper's MaxNumKicks.
constexpr int kMaxMoves = 500;
// A slot is read and written with the 8 bytes from its first byte on.
constexpr size_t kPaddingBytes = 7;

uint64_t MaxFingerprint(int bits) { return (uint64_t{1} << bits) - 1; }

// The bytes of all slots, without padding.
uint64_t PackedBytes(const CuckooShape& shape) {
  const uint64_t bits =
      shape.buckets * kSlots * static_cast<uint64_t>(shape.fingerprint_bits);
  return (bits + 7) / 8;
}

}  // namespace

Result<CuckooShape> CuckooShapeFor(uint64_t capacity,
                                   double false_positive_rate) {
  CuckooShape shape{.fingerprint_bits = kMinFingerprintBits};
  // NaN is refused, too.
  if (!(false_positive_rate < 1)) {
    return Error{Concat("false positive rate ", false_positive_rate,
                        ", expected one below 1")};
  }
  while (FalsePositiveRate(shape, 1) > false_positive_rate) {
    if (++shape.fingerprint_bits > kMaxFingerprintBits) {
      return Error{Concat("false positive rate ", false_positive_rate,
                          ", expected at least 1.9e-9 of a cuckoo filter")};
    }
  }
  // The load that a filter can reach varies more if the filter is small.
  const double keys = static_cast<double>(std::max<uint64_t>(capacity, 1));
  const double slots =
      (keys + 3 * std::sqrt(std::min(keys, 1e4)) + 3) / kCuckooLoad;
  if (slots > static_cast<double>(kMaxFilterPlaces)) {
    return Error{Concat("a cuckoo filter of ", slots,
                        " slots, expected at most ", kMaxFilterPlaces)};
  }
  shape.buckets = static_cast<uint64_t>(std::ceil(slots / kSlots));
  return shape;
}

double FalsePositiveRate(const CuckooShape& shape, double load) {
  const double one =
      1 / static_cast<double>(MaxFingerprint(shape.fingerprint_bits));
  return -std::expm1(2 * kCuckooBucketSlots * load * std::log1p(-one));
}

CuckooFilter::CuckooFilter(const CuckooShape& shape,
                           const std::optional<FilterSecret>& secret)
    : shape_(shape),
      secret_(secret),
      packed_(PackedBytes(shape) + kPaddingBytes) {}

Result<CuckooFilter> CuckooFilter::Create(
    uint64_t capacity, double false_positive_rate,
    const std::optional<FilterSecret>& secret) {
  const Result<CuckooShape> shape =
      CuckooShapeFor(capacity, false_positive_rate);
  if (!shape) return Error{shape.error()};
  return CuckooFilter(*shape, secret);
}

CuckooFilter::Home CuckooFilter::HomeOf(std::string_view key) const {
  const Hash128 hash = HashKey(secret_, key);
  Home home;
  home.fingerprint = static_cast<uint32_t>(
      1 + HighProduct(hash.high, MaxFingerprint(shape_.fingerprint_bits)));
  home.bucket = HighProduct(hash.low, shape_.buckets);
  home.partner = PartnerOf(home.bucket, home.fingerprint);
  return home;
}

uint64_t CuckooFilter::PartnerOf(uint64_t bucket, uint32_t fingerprint) const {
  // The golden ratio spreads the few fingerprints over all buckets.
  const uint64_t sum =
      HighProduct(fingerprint * uint64_t{0x9e3779b97f4a7c15}, shape_.buckets);
  return sum >= bucket ? sum - bucket : sum + shape_.buckets - bucket;
}

uint32_t CuckooFilter::Get(uint64_t slot) const {
  const uint64_t bit = slot * static_cast<uint64_t>(shape_.fingerprint_bits);
  return static_cast<uint32_t>(LoadWord(&packed_[bit / 8]) >> bit % 8 &
                               MaxFingerprint(shape_.fingerprint_bits));
}

void CuckooFilter::Set(uint64_t slot, uint32_t fingerprint) {
  const uint64_t bit = slot * static_cast<uint64_t>(shape_.fingerprint_bits);
  char* at = &packed_[bit / 8];
  const uint64_t mask = MaxFingerprint(shape_.fingerprint_bits) << bit % 8;
  StoreWord((LoadWord(at) & ~mask) | uint64_t{fingerprint} << bit % 8, at);
}

std::optional<uint64_t> CuckooFilter::Find(uint64_t bucket,
                                           uint32_t fingerprint) const {
  for (uint64_t slot = bucket * kSlots; slot < (bucket + 1) * kSlots; ++slot) {
    if (Get(slot) == fingerprint) return slot;
  }
  return std::nullopt;
}

std::optional<uint64_t> CuckooFilter::Find(const Home& home,
                                           uint32_t fingerprint) const {
  const auto slot = Find(home.bucket, fingerprint);
  return slot ? slot : Find(home.partner, fingerprint);
}

CuckooFilter::AddOutcome CuckooFilter::Add(std::string_view key) {
  const Home home = HomeOf(key);
  if (const auto free = Find(home, 0)) {
    Set(*free, home.fingerprint);
  } else if (!MoveOthers(home.fingerprint, home.bucket)) {
    return AddOutcome::kFull;
  }
  ++keys_;
  return AddOutcome::kAdded;
}

// A random walk, as in the paper. A walk that finds no room is undone.
bool CuckooFilter::MoveOthers(uint32_t fingerprint, uint64_t bucket) {
  std::array<uint64_t, kMaxMoves> path;
  for (int moves = 0; moves < kMaxMoves; ++moves) {
    random_ = random_ * 0xd1342543de82ef95 + 1;
    const uint64_t slot = bucket * kSlots + (random_ >> 62);
    path[moves] = slot;
    const uint32_t moved = Get(slot);
    Set(slot, fingerprint);
    fingerprint = moved;
    bucket = PartnerOf(bucket, fingerprint);
    if (const auto free = Find(bucket, 0)) {
      Set(*free, fingerprint);
      return true;
    }
  }
  for (auto slot = path.rbegin(); slot != path.rend(); ++slot) {
    const uint32_t moved = Get(*slot);
    Set(*slot, fingerprint);
    fingerprint = moved;
  }
  return false;
}

bool CuckooFilter::Remove(std::string_view key) {
  const Home home = HomeOf(key);
  const auto slot = Find(home, home.fingerprint);
  if (!slot) return false;
  Set(*slot, 0);
  --keys_;
  return true;
}

bool CuckooFilter::Contains(std::string_view key) const {
  const Home home = HomeOf(key);
  return Find(home, home.fingerprint).has_value();
}

uint64_t CuckooFilter::size_bytes() const { return PackedBytes(shape_); }

std::string CuckooFilter::Serialize() const {
  const uint64_t bytes = size_bytes();
  std::string out = frame::Begin(FilterForm::kCuckoo, secret_, 17 + bytes);
  PutFixed(&out, static_cast<uint64_t>(shape_.fingerprint_bits), 1);
  PutFixed(&out, shape_.buckets, 8);
  PutFixed(&out, keys_, 8);
  out.append(packed_.data(), bytes);
  return frame::Finish(std::move(out));
}

Result<CuckooFilter> CuckooFilter::Parse(
    std::string_view bytes, const std::optional<FilterSecret>& secret) {
  auto in = frame::Reader::Open(bytes, FilterForm::kCuckoo, secret);
  if (!in) return Error{in.error()};
  CuckooShape shape;
  shape.fingerprint_bits = static_cast<int>(in->Number(1, "fingerprint bits"));
  shape.buckets = in->Number(8, "buckets");
  const uint64_t keys = in->Number(8, "keys");
  if (shape.fingerprint_bits < kMinFingerprintBits ||
      shape.fingerprint_bits > kMaxFingerprintBits) {
    in->Refuse(Concat("fingerprints of ", shape.fingerprint_bits,
                      " bits, expected 8 to 32"));
  }
  if (shape.buckets == 0 || shape.buckets > kMaxFilterPlaces / kSlots) {
    in->Refuse(Concat(shape.buckets, " buckets, expected 1 to ",
                      kMaxFilterPlaces / kSlots));
  }
  if (!in->ok()) return *in->Finish();
  const std::string_view packed = in->Bytes(PackedBytes(shape), "slots");
  if (const auto error = in->Finish()) return *error;
  CuckooFilter filter(shape, secret);
  std::copy(packed.begin(), packed.end(), filter.packed_.begin());
  uint64_t found = 0;
  for (uint64_t slot = 0; slot < filter.slots(); ++slot) {
    if (filter.Get(slot) != 0) ++found;
  }
  // 4 slots of f bits can end within a byte.
  const uint64_t used_bits =
      filter.slots() * static_cast<uint64_t>(shape.fingerprint_bits) % 8;
  if (used_bits != 0 && static_cast<uint8_t>(packed.back()) >> used_bits != 0) {
    in->Refuse("bits are set after the last slot");
  }
  if (found != keys) {
    in->Refuse(Concat(keys, " keys, found ", found));
  }
  if (const auto error = in->Finish()) return *error;
  filter.keys_ = keys;
  return filter;
}

}  // namespace rowbloom

#include "tools/sst/stock_hash.h"

#include <array>
#include <cstddef>

#include "storage/format/coding.h"

namespace rowbloom::sst {
namespace {

constexpr uint64_t kPrime32x1 = 0x9e3779b1;
constexpr uint64_t kPrime32x2 = 0x85ebca77;
constexpr uint64_t kPrime32x3 = 0xc2b2ae3d;
constexpr uint64_t kPrime64x1 = 0x9e3779b185ebca87;
constexpr uint64_t kPrime64x2 = 0xc2b2ae3d27d4eb4f;
constexpr uint64_t kPrime64x3 = 0x165667b19e3779f9;
constexpr uint64_t kPrime64x4 = 0x85ebca77c2b2ae63;
constexpr uint64_t kPrime64x5 = 0x27d4eb2f165667c5;

// The secret that the input is mixed with: XXH3's default.
constexpr std::array<unsigned char, 192> kSecret = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c,
    0xf7, 0x21, 0xad, 0x1c, 0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb,
    0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79, 0xe6, 0x4e,
    0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6,
    0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb,
    0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97,
    0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7,
    0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31,
    0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64, 0xea, 0xc5, 0xac, 0x83,
    0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26,
    0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc,
    0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f,
    0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e};

// Long inputs: stripes of 64 bytes into eight lanes; each stripe takes the
// secret 8 bytes further on, and after a block of stripes the lanes are
// scrambled.
constexpr size_t kLanes = 8;
constexpr size_t kStripeBytes = 64;
constexpr size_t kSecretStep = 8;
constexpr size_t kStripesPerBlock =
    (kSecret.size() - kStripeBytes) / kSecretStep;
constexpr size_t kBlockBytes = kStripeBytes * kStripesPerBlock;
constexpr size_t kLastStripeSecret = kSecret.size() - kStripeBytes - 7;
constexpr size_t kMergeSecret = 11;

// Inputs of 129 to 240 bytes.
constexpr size_t kMidMaxBytes = 240;
constexpr size_t kMidRoundSecret = 3;
constexpr size_t kMidLastSecret = 136 - 17;

__extension__ using Word128 = unsigned __int128;
using Lanes = std::array<uint64_t, kLanes>;

// Little-endian, as is all that the hash reads.
template <typename T>
T Load(const unsigned char* at) {
  return LoadFixed<T>(reinterpret_cast<const char*>(at));
}

uint64_t Secret64(size_t at) { return Load<uint64_t>(&kSecret[at]); }

// Folds both halves of the product into one.
uint64_t MultiplyAndFold(uint64_t a, uint64_t b) {
  const auto product = Word128{a} * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t Avalanche(uint64_t hash) {
  hash ^= hash >> 37;
  hash *= kPrime64x3;
  return hash ^ (hash >> 32);
}

inline uint64_t Mix16(const unsigned char* in, size_t secret_at) {
  return MultiplyAndFold(Load<uint64_t>(in) ^ Secret64(secret_at),
                         Load<uint64_t>(in + 8) ^ Secret64(secret_at + 8));
}

uint64_t HashUpTo16(const unsigned char* in, size_t size) {
  if (size > 8) {
    const uint64_t low = Load<uint64_t>(in) ^ Secret64(0);
    const uint64_t high = Load<uint64_t>(in + size - 8) ^ Secret64(8);
    return Avalanche(size + low + high + MultiplyAndFold(low, high));
  }
  if (size >= 4) {
    const uint64_t low = Load<uint32_t>(in);
    const uint64_t high = Load<uint32_t>(in + size - 4);
    const uint64_t keyed = (low | high << 32) ^ Secret64(0);
    const uint64_t mixed = size + (keyed ^ (keyed >> 51)) * kPrime32x1;
    return Avalanche((mixed ^ (mixed >> 47)) * kPrime64x2);
  }
  if (size > 0) {
    const uint64_t combined = in[0] | uint64_t{in[size >> 1]} << 8 |
                              uint64_t{in[size - 1]} << 16 |
                              uint64_t{size} << 24;
    return Avalanche((combined ^ Load<uint32_t>(kSecret.data())) * kPrime64x1);
  }
  return MultiplyAndFold(Secret64(0), kPrime64x2);
}

inline uint64_t HashUpTo128(const unsigned char* in, size_t size) {
  uint64_t hash = size * kPrime64x1;
  // The bytes are mixed from both ends inwards.
  const size_t pairs = (size - 1) / 32 + 1;
  for (size_t i = 0; i < pairs; ++i) {
    hash += Mix16(in + 16 * i, 32 * i);
    hash += Mix16(in + size - 16 * (i + 1), 32 * i + 16);
  }
  return Avalanche(hash);
}

uint64_t HashUpTo240(const unsigned char* in, size_t size) {
  constexpr size_t kFirstRounds = 8;
  uint64_t hash = size * kPrime64x1;
  for (size_t i = 0; i < kFirstRounds; ++i) hash += Mix16(in + 16 * i, 16 * i);
  hash = Avalanche(hash);
  for (size_t i = kFirstRounds; i < size / 16; ++i) {
    hash += Mix16(in + 16 * i, 16 * (i - kFirstRounds) + kMidRoundSecret);
  }
  return Avalanche(hash + Mix16(in + size - 16, kMidLastSecret));
}

void Accumulate(const unsigned char* in, size_t secret_at, Lanes* lanes) {
  for (size_t i = 0; i < kLanes; ++i) {
    const uint64_t data = Load<uint64_t>(in + 8 * i);
    const uint64_t keyed = data ^ Secret64(secret_at + 8 * i);
    (*lanes)[i] += data + (keyed & 0xffffffff) * (keyed >> 32);
  }
}

void Scramble(Lanes* lanes) {
  for (size_t i = 0; i < kLanes; ++i) {
    uint64_t& lane = (*lanes)[i];
    lane ^= lane >> 47;
    lane ^= Secret64(kSecret.size() - kStripeBytes + 8 * i);
    lane *= kPrime32x1;
  }
}

uint64_t HashLong(const unsigned char* in, size_t size) {
  Lanes lanes = {kPrime32x3, kPrime64x1, kPrime64x2, kPrime64x3,
                 kPrime64x4, kPrime32x2, kPrime64x5, kPrime32x1};
  size_t at = 0;
  for (; at + kBlockBytes <= size; at += kBlockBytes) {
    for (size_t i = 0; i < kStripesPerBlock; ++i) {
      Accumulate(in + at + i * kStripeBytes, i * kSecretStep, &lanes);
    }
    Scramble(&lanes);
  }
  for (size_t i = 0; at + kStripeBytes <= size; ++i, at += kStripeBytes) {
    Accumulate(in + at, i * kSecretStep, &lanes);
  }
  if (size % kStripeBytes != 0) {
    Accumulate(in + size - kStripeBytes, kLastStripeSecret, &lanes);
  }
  uint64_t hash = size * kPrime64x1;
  for (size_t i = 0; i < kLanes; i += 2) {
    hash += MultiplyAndFold(lanes[i] ^ Secret64(kMergeSecret + 8 * i),
                            lanes[i + 1] ^ Secret64(kMergeSecret + 8 * i + 8));
  }
  return Avalanche(hash);
}

}  // namespace

uint64_t StockHash64(std::string_view key) {
  const auto* in = reinterpret_cast<const unsigned char*>(key.data());
  if (key.size() <= 16) return HashUpTo16(in, key.size());
  if (key.size() <= 128) return HashUpTo128(in, key.size());
  if (key.size() <= kMidMaxBytes) return HashUpTo240(in, key.size());
  return HashLong(in, key.size());
}

uint32_t StockLegacyHash(std::string_view key) {
  constexpr uint32_t kSeed = 0xbc9f1d34;
  constexpr uint32_t kFactor = 0xc6a4a793;
  uint32_t hash = kSeed ^ static_cast<uint32_t>(key.size() * kFactor);
  uint32_t word = 0;
  while (GetFixed(&key, &word)) {
    hash = (hash + word) * kFactor;
    hash ^= hash >> 16;
  }
  if (key.empty()) return hash;
  // The bytes that are left count as signed.
  for (size_t i = 0; i < key.size(); ++i) {
    hash += static_cast<uint32_t>(static_cast<signed char>(key[i])) << (8 * i);
  }
  hash *= kFactor;
  return hash ^ (hash >> 24);
}

}  // namespace rowbloom::sst

#include "storage/hfile/bloom_chunk.h"

#include <cmath>
#include <cstdlib>

#include "storage/hfile/bloom_hash.h"

namespace rowbloom::hfile {
namespace {

// Calls `visit(byte, mask)` for each bit of the key until it returns false.
template <typename Visit>
void ForEachBit(HFileHash hash, uint32_t hash_count, std::string_view key,
                uint64_t chunk_bytes, const Visit& visit) {
  const uint32_t first = BloomHash(hash, key, 0);
  const uint32_t step = BloomHash(hash, key, first);
  const auto bits = static_cast<int32_t>(chunk_bytes * 8);
  uint32_t at = first;
  for (uint32_t i = 0; i < hash_count; ++i, at += step) {
    // The remainder has the sign of the dividend, as in Java.
    const auto bit =
        static_cast<uint32_t>(std::abs(static_cast<int32_t>(at) % bits));
    if (!visit(bit >> 3, static_cast<uint8_t>(1U << (bit & 7)))) return;
  }
}

}  // namespace

ChunkSizing SizeChunk(uint64_t bytes_hint, double error_rate,
                      uint32_t max_fold) {
  const double ln2 = std::log(2.0);
  ChunkSizing sizing;
  const uint64_t unit = uint64_t{1} << max_fold;
  sizing.bytes = (bytes_hint & (unit - 1)) == 0
                     ? bytes_hint
                     : ((bytes_hint >> max_fold) + 1) << max_fold;
  const uint64_t bits = sizing.bytes * 8;
  const auto exact_bits = static_cast<double>(bits);
  sizing.ideal_keys =
      static_cast<uint64_t>(exact_bits * ((ln2 * ln2) / -std::log(error_rate)));
  // A whole number of bits per key.
  const uint64_t bits_per_key =
      sizing.ideal_keys == 0 ? bits : bits / sizing.ideal_keys;
  sizing.hash_count =
      static_cast<uint32_t>(std::ceil(ln2 * static_cast<double>(bits_per_key)));
  if (sizing.hash_count == 0) return sizing;  // less than a bit per key
  const double hashes = sizing.hash_count;
  sizing.max_keys = static_cast<uint64_t>(
      -exact_bits * 1.0 / hashes *
      std::log(1.0 - std::exp(std::log(error_rate) / hashes)));
  return sizing;
}

float ChunkErrorRate(BloomType type, float error_rate) {
  if (type != BloomType::kRowCol) return error_rate;
  return static_cast<float>(1.0 -
                            std::sqrt(static_cast<double>(1.0F - error_rate)));
}

bool ChunkMayContain(std::string_view bits, HFileHash hash, uint32_t hash_count,
                     std::string_view key) {
  bool may = true;
  ForEachBit(hash, hash_count, key, bits.size(),
             [&](uint32_t byte, uint8_t mask) {
               may = (static_cast<uint8_t>(bits[byte]) & mask) != 0;
               return may;
             });
  return may;
}

BloomChunk::BloomChunk(const ChunkSizing& sizing, HFileHash hash)
    : hash_(hash),
      hash_count_(sizing.hash_count),
      max_keys_(sizing.max_keys),
      bits_(sizing.bytes, '\0') {}

void BloomChunk::Add(std::string_view key) {
  ForEachBit(hash_, hash_count_, key, bits_.size(),
             [this](uint32_t byte, uint8_t mask) {
               bits_[byte] =
                   static_cast<char>(static_cast<uint8_t>(bits_[byte]) | mask);
               return true;
             });
  ++key_count_;
}

void BloomChunk::Fold() {
  size_t folded_bytes = bits_.size();
  while (folded_bytes % 2 == 0 && max_keys_ > 2 * key_count_) {
    folded_bytes /= 2;
    max_keys_ /= 2;
  }
  for (size_t at = folded_bytes; at < bits_.size(); ++at) {
    bits_[at % folded_bytes] =
        static_cast<char>(static_cast<uint8_t>(bits_[at % folded_bytes]) |
                          static_cast<uint8_t>(bits_[at]));
  }
  bits_.resize(folded_bytes);
}

}  // namespace rowbloom::hfile

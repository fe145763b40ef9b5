// One chunk of a compound Bloom filter: an array of bits, and the mapping of
// keys to bits. FORMAT.md has the arithmetic, which equals HBase's to the bit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rowbloom/bloom_type.h"
#include "rowbloom/hfile_format.h"

namespace rowbloom::hfile {

// The largest chunk, as a Java int counts its bits.
inline constexpr uint64_t kMaxChunkBytes = (uint64_t{1} << 28) - 1;

struct ChunkSizing {
  uint64_t bytes = 0;
  uint64_t ideal_keys = 0;  // by the filter's theory
  uint64_t max_keys = 0;    // the capacity of a chunk
  uint32_t hash_count = 0;
};

// Sizes a chunk of about `bytes_hint` bytes for an error rate in (0, 1). The
// size can be halved `max_fold` times.
ChunkSizing SizeChunk(uint64_t bytes_hint, double error_rate,
                      uint32_t max_fold);

// Returns the error rate that chunks of a filter of `type` are sized for. A
// lookup in a ROWCOL filter takes two probes.
float ChunkErrorRate(BloomType type, float error_rate);

// Tells whether the chunk may have the key. REQUIRES 1 to kMaxChunkBytes bytes
// of bits.
bool ChunkMayContain(std::string_view bits, HFileHash hash, uint32_t hash_count,
                     std::string_view key);

// A chunk that is being filled.
class BloomChunk {
 public:
  BloomChunk(const ChunkSizing& sizing, HFileHash hash);

  void Add(std::string_view key);
  bool full() const { return key_count_ >= max_keys_; }

  // Halves the chunk while it has room for more than twice its keys.
  void Fold();

  const std::string& bits() const { return bits_; }
  uint64_t key_count() const { return key_count_; }
  uint64_t max_keys() const { return max_keys_; }

 private:
  const HFileHash hash_;
  const uint32_t hash_count_;
  uint64_t key_count_ = 0;
  uint64_t max_keys_;
  std::string bits_;
};

}  // namespace rowbloom::hfile

// The hashes of one section while its block is built: 8 bytes for each and at
// most one chunk more, since growing copies no more than the first chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowbloom {

class HashList {
 public:
  // 256 KiB.
  static constexpr size_t kChunkHashes = size_t{1} << 15;

  // Adds a hash, unless it is the one added last.
  void Add(uint64_t hash) {
    if (size_ > 0 && hash == last_) return;
    if (chunks_.empty()) {
      chunks_.emplace_back();  // small lists stay small
    } else if (chunks_.back().size() == kChunkHashes) {
      chunks_.emplace_back().reserve(kChunkHashes);
    }
    chunks_.back().push_back(hash);
    last_ = hash;
    checksum_ = Extend(checksum_, hash);
    ++size_;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // All hashes, in the order of Add.
  const std::vector<std::vector<uint64_t>>& chunks() const { return chunks_; }

  // The same in one piece.
  std::vector<uint64_t> Copy() const {
    std::vector<uint64_t> all;
    all.reserve(size_);
    for (const std::vector<uint64_t>& chunk : chunks_) {
      all.insert(all.end(), chunk.begin(), chunk.end());
    }
    return all;
  }

  size_t MemoryBytes() const {
    if (chunks_.empty()) return 0;
    return ((chunks_.size() - 1) * kChunkHashes + chunks_.back().capacity()) *
           sizeof(uint64_t);
  }

  // Whether the hashes are still those that were added.
  bool Intact() const {
    uint64_t checksum = 0;
    size_t count = 0;
    for (const std::vector<uint64_t>& chunk : chunks_) {
      for (const uint64_t hash : chunk) checksum = Extend(checksum, hash);
      count += chunk.size();
    }
    return checksum == checksum_ && count == size_;
  }

  // Gives all memory back.
  void Clear() { *this = HashList(); }

 private:
  // By place, so that equal damage to two hashes does not cancel out. Never
  // stored.
  static uint64_t Extend(uint64_t checksum, uint64_t hash) {
    return checksum * 0x9e3779b97f4a7c15 + hash;
  }

  std::vector<std::vector<uint64_t>> chunks_;
  size_t size_ = 0;
  uint64_t last_ = 0;
  uint64_t checksum_ = 0;
};

}  // namespace rowbloom

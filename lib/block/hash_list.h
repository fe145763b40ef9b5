// The hashes of one section while its block is built: 8 bytes for each, in
// chunks, so that growing copies nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rowbloom {

// A list that was moved from can be cleared, or assigned to.
class HashList {
 public:
  // 16 KiB: small beside any file, and too small for malloc to take each chunk
  // from the operating system.
  static constexpr size_t kChunkHashes = 2048;

  // With `sums`, Intact tells whether the hashes changed in memory.
  explicit HashList(bool sums = false) : sums_(sums) {}

  // Adds a hash, unless it is the one added last.
  void Add(uint64_t hash) {
    if (hash == last_ && !empty()) return;
    if (!HasRoom()) MakeRoom();
    Append(hash);
    if (sums_) sum_ = Extend(sum_, hash);
  }

  // Tells whether another hash fits without new memory; false for an empty
  // list.
  bool HasRoom() const { return at_ != end_; }

  // Adds a hash as Add does, to a list without sums. REQUIRES HasRoom().
  void AddToRoom(uint64_t hash) {
    if (hash != last_) Append(hash);
  }

  size_t size() const {
    return chunks_.size() * kChunkHashes - static_cast<size_t>(end_ - at_);
  }
  bool empty() const { return at_ == nullptr; }

  // All hashes, in the order of Add; valid until the list changes.
  std::vector<std::span<const uint64_t>> chunks() const {
    std::vector<std::span<const uint64_t>> all;
    all.reserve(chunks_.size());
    for (const Chunk& chunk : chunks_)
      all.emplace_back(chunk.get(), kChunkHashes);
    if (!all.empty()) {
      all.back() =
          all.back().first(kChunkHashes - static_cast<size_t>(end_ - at_));
    }
    return all;
  }

  size_t MemoryBytes() const {
    return chunks_.size() * kChunkHashes * sizeof(uint64_t);
  }

  // Tells whether the hashes are still those that were added. REQUIRES `sums`.
  bool Intact() const {
    uint64_t sum = 0;
    for (const std::span<const uint64_t> chunk : chunks()) {
      for (const uint64_t hash : chunk) sum = Extend(sum, hash);
    }
    return sum == sum_;
  }

  // Frees all memory.
  void Clear() { *this = HashList(sums_); }

 private:
  using Chunk = std::unique_ptr<uint64_t[]>;

  // The sum depends on the place, so equal damage to two hashes does not cancel
  // out. It is never stored.
  static uint64_t Extend(uint64_t sum, uint64_t hash) {
    return sum * 0x9e3779b97f4a7c15 + hash;
  }

  void Append(uint64_t hash) {
    *at_++ = hash;
    last_ = hash;
  }

  void MakeRoom() {
    chunks_.push_back(std::make_unique_for_overwrite<uint64_t[]>(kChunkHashes));
    at_ = chunks_.back().get();
    end_ = at_ + kChunkHashes;
  }

  uint64_t* at_ = nullptr;  // the next hash's place; null: no hash yet
  uint64_t* end_ = nullptr;
  uint64_t last_ = 0;
  bool sums_;
  uint64_t sum_ = 0;
  std::vector<Chunk> chunks_;
};

}  // namespace rowbloom

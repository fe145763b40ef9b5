#include "bench/memory_floor.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rowbloom::bench {
namespace {

using rocksdb::Slice;

constexpr size_t kLineBytes = 64;

class MemoryFloor final : public rocksdb::FilterBitsReader {
 public:
  explicit MemoryFloor(const Slice& bytes)
      : start_(bytes.data()), lines_(bytes.size() / kLineBytes) {}

  bool MayMatch(const Slice& key) override { return *LineOf(key) == kFound; }

  void MayMatch(int num_keys, Slice** keys, bool* may_match) override {
    constexpr int kBatch = 32;
    std::array<const char*, kBatch> lines;
    for (int start = 0; start < num_keys; start += kBatch) {
      const int count = std::min(kBatch, num_keys - start);
      for (int i = 0; i < count; ++i) {
        lines[i] = LineOf(*keys[start + i]);
        __builtin_prefetch(lines[i]);
      }
      for (int i = 0; i < count; ++i) {
        may_match[start + i] = *lines[i] == kFound;
      }
    }
  }

 private:
  static constexpr char kFound = 0x5a;

  const char* LineOf(const Slice& key) const {
    uint64_t word;
    std::memcpy(&word, key.data(), sizeof(word));
    __extension__ using Wide = unsigned __int128;
    const auto line =
        static_cast<uint64_t>(Wide{word * 0x9e3779b97f4a7c15} * lines_ >> 64);
    return start_ + line * kLineBytes;
  }

  const char* start_;
  uint64_t lines_;
};

}  // namespace

std::unique_ptr<rocksdb::FilterBitsReader> NewMemoryFloor(const Slice& bytes) {
  return std::make_unique<MemoryFloor>(bytes);
}

}  // namespace rowbloom::bench

// The memory that a front filter takes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "rocksdb/cache.h"
#include "storage/filter_policy/cache_charge.h"

namespace rowbloom::front_filter {

// Counts bytes by their purpose, bounds them and charges them to a cache.
// Thread-safe.
class Memory {
 public:
  enum Purpose : uint8_t {
    kRows,
    kCells,
    kMemtables
  };  // kMemtables: their filters

  // The limits are for kRows and kCells; there is none for kMemtables. A null
  // `cache` is not charged.
  Memory(uint64_t row_limit_bytes, uint64_t cell_limit_bytes,
         std::shared_ptr<rocksdb::Cache> cache);

  uint64_t used_bytes(Purpose purpose) const;
  bool HasRoomFor(Purpose purpose, uint64_t bytes) const;
  // Returns false, and takes nothing, if that would be beyond the limit.
  bool Take(Purpose purpose, uint64_t bytes);
  void GiveBack(Purpose purpose, uint64_t bytes);

 private:
  struct Use {
    uint64_t limit_bytes;
    uint64_t used_bytes = 0;
  };
  void Charge();

  mutable std::mutex mutex_;
  std::array<Use, 3> uses_;
  CacheCharge charge_;
};

// Bytes that were taken, which the destructor gives back.
class TakenMemory {
 public:
  TakenMemory() = default;
  // REQUIRES that Take returned true for these bytes.
  TakenMemory(std::shared_ptr<Memory> memory, Memory::Purpose purpose,
              uint64_t bytes)
      : memory_(std::move(memory)), purpose_(purpose), bytes_(bytes) {}
  ~TakenMemory() {
    if (memory_ != nullptr) memory_->GiveBack(purpose_, bytes_);
  }
  TakenMemory(TakenMemory&& other) noexcept { *this = std::move(other); }
  TakenMemory& operator=(TakenMemory&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(purpose_, other.purpose_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  uint64_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<Memory> memory_;
  Memory::Purpose purpose_ = Memory::kRows;
  uint64_t bytes_ = 0;
};

}  // namespace rowbloom::front_filter

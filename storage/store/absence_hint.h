// Whether it pays to find out first that a row is absent, before its columns
// are looked up: it saves a lookup of each when it is, and is one for nothing
// when it is not.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rowbloom {

// Thread-safe. A hint: families may share their luck.
class AbsenceHint {
 public:
  AbsenceHint() {
    for (std::atomic<int>& luck : luck_) luck = kAtFirst;
  }

  // True while rows of the family were absent often enough, and sometimes
  // otherwise, to learn when that changes.
  bool IsWorthALook(uint32_t family) const {
    if (LuckOf(family).load(std::memory_order_relaxed) > 0) return true;
    thread_local uint32_t times = 0;
    return ++times % kSometimes == 0;
  }

  void Saw(uint32_t family, bool absent) {
    std::atomic<int>& luck = luck_[family % kFamilies];
    const int before = luck.load(std::memory_order_relaxed);
    // An absent row saves more than a present one costs.
    const int after = std::clamp(before + (absent ? 2 : -1), 0, kMost);
    if (after != before) luck.store(after, std::memory_order_relaxed);
  }

 private:
  static constexpr size_t kFamilies = 64;
  static constexpr int kAtFirst = 8;
  static constexpr int kMost = 32;
  static constexpr uint32_t kSometimes = 16;

  const std::atomic<int>& LuckOf(uint32_t family) const {
    return luck_[family % kFamilies];
  }

  std::array<std::atomic<int>, kFamilies> luck_;
};

}  // namespace rowbloom

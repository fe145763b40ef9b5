#include "storage/store/cache_statistics.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "storage/store/thread_slot.h"

namespace rowbloom {
namespace {

constexpr std::array<uint32_t, 6> kCounted = {
    rocksdb::BLOCK_CACHE_DATA_HIT,   rocksdb::BLOCK_CACHE_DATA_MISS,
    rocksdb::BLOCK_CACHE_INDEX_HIT,  rocksdb::BLOCK_CACHE_INDEX_MISS,
    rocksdb::BLOCK_CACHE_FILTER_HIT, rocksdb::BLOCK_CACHE_FILTER_MISS};

class CacheStatistics final : public rocksdb::Statistics {
 public:
  CacheStatistics() { set_stats_level(rocksdb::kExceptHistogramOrTimers); }

  const char* Name() const override { return "rowbloom.CacheStatistics"; }

  void recordTick(uint32_t ticker, uint64_t count) override {
    const size_t place = PlaceOf(ticker);
    if (place == kCounted.size()) return;
    slots_[ThreadSlot()].counts[place].fetch_add(count,
                                                 std::memory_order_relaxed);
  }

  uint64_t getTickerCount(uint32_t ticker) const override {
    const size_t place = PlaceOf(ticker);
    if (place == kCounted.size()) return 0;
    uint64_t sum = 0;
    for (const Slot& slot : slots_) {
      sum += slot.counts[place].load(std::memory_order_relaxed);
    }
    return sum;
  }

  // RocksDB itself calls none of these.
  void setTickerCount(uint32_t /*ticker*/, uint64_t /*count*/) override {}
  uint64_t getAndResetTickerCount(uint32_t ticker) override {
    return getTickerCount(ticker);
  }
  void histogramData(uint32_t /*type*/,
                     rocksdb::HistogramData* data) const override {
    *data = {};
  }

  void recordInHistogram(uint32_t /*type*/, uint64_t /*value*/) override {}
  bool HistEnabledForType(uint32_t /*type*/) const override { return false; }

 private:
  struct alignas(kCacheLineBytes) Slot {
    std::array<std::atomic<uint64_t>, kCounted.size()> counts{};
  };

  static size_t PlaceOf(uint32_t ticker) {
    return static_cast<size_t>(
        std::find(kCounted.begin(), kCounted.end(), ticker) - kCounted.begin());
  }

  std::array<Slot, kThreadSlots> slots_;
};

}  // namespace

std::shared_ptr<rocksdb::Statistics> NewCacheStatistics() {
  return std::make_shared<CacheStatistics>();
}

CacheStats CacheStatsOf(const rocksdb::Statistics& statistics) {
  const auto lookups = [&statistics](uint32_t hit, uint32_t miss) {
    return CacheStats::Lookups{statistics.getTickerCount(hit),
                               statistics.getTickerCount(miss)};
  };
  return {
      lookups(rocksdb::BLOCK_CACHE_DATA_HIT, rocksdb::BLOCK_CACHE_DATA_MISS),
      lookups(rocksdb::BLOCK_CACHE_INDEX_HIT, rocksdb::BLOCK_CACHE_INDEX_MISS),
      lookups(rocksdb::BLOCK_CACHE_FILTER_HIT,
              rocksdb::BLOCK_CACHE_FILTER_MISS)};
}

double CacheStats::Lookups::HitRate() const {
  const uint64_t all = hits + misses;
  return all == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(all);
}

}  // namespace rowbloom

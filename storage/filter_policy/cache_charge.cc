#include "storage/filter_policy/cache_charge.h"

#include <array>
#include <cstdint>

namespace rowbloom {
using rocksdb::CacheEntryRole;

std::shared_ptr<rocksdb::Cache> CacheToCharge(
    const rocksdb::BlockBasedTableOptions& options) {
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 703
  using Decision = rocksdb::CacheEntryRoleOptions::Decision;
  const rocksdb::CacheUsageOptions& usage = options.cache_usage_options;
  Decision decision = usage.options.charged;
  const auto own =
      usage.options_overrides.find(CacheEntryRole::kFilterConstruction);
  if (own != usage.options_overrides.end() &&
      own->second.charged != Decision::kFallback) {
    decision = own->second.charged;
  }
  return decision == Decision::kEnabled ? options.block_cache : nullptr;
#else
  (void)options;
  return nullptr;
#endif
}

void CacheCharge::Set(size_t bytes) noexcept {
  if (cache_ == nullptr) return;
  const size_t steps = (bytes + kStepBytes - 1) / kStepBytes;
  if (steps == wanted_steps_) return;
  wanted_steps_ = steps;
  while (handles_.size() > steps) {
    cache_->Release(handles_.back(), /*erase_if_last_ref=*/true);
    handles_.pop_back();
  }
  try {
    while (handles_.size() < steps && Insert()) {
    }
  } catch (...) {  // out of memory: as if refused
  }
}

bool CacheCharge::Insert() {
  handles_.reserve(handles_.size() + 1);  // before there is a handle to lose
  // Some caches take only keys of 16 bytes. RocksDB makes the keys of its own
  // charges in the same way: zero, and a number of this counter plus one.
  const std::array<uint64_t, 2> key = {0, cache_->NewId() + 1};
  const rocksdb::Slice name(reinterpret_cast<const char*>(key.data()), 16);
  rocksdb::Cache::Handle* handle = nullptr;
// Since RocksDB 7.10 an entry names its role.
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 710
  static const rocksdb::Cache::CacheItemHelper kHelper(
      CacheEntryRole::kFilterConstruction);
  const auto status =
      cache_->Insert(name, nullptr, &kHelper, kStepBytes, &handle);
#else
  const auto status = cache_->Insert(
      name, nullptr, kStepBytes, [](const rocksdb::Slice&, void*) {}, &handle);
#endif
  if (!status.ok() || handle == nullptr) return false;
  handles_.push_back(handle);
  return true;
}

}  // namespace rowbloom

#include "storage/hfile/block_cache.h"

namespace rowbloom {

uint64_t HFileBlockCache::NewFileId() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return next_file_id_++;
}

std::shared_ptr<const hfile::Block> HFileBlockCache::Find(uint64_t file_id,
                                                          uint64_t offset) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = entries_.find({file_id, offset});
  if (found == entries_.end()) return nullptr;
  newest_first_.splice(newest_first_.begin(), newest_first_, found->second);
  return found->second->block;
}

void HFileBlockCache::Insert(uint64_t file_id,
                             const std::shared_ptr<const hfile::Block>& block) {
  // The rough size of a list node, a map node and the block's own fields.
  constexpr size_t kOverheadBytes = 256;
  const size_t charge = block->buffer.capacity() + kOverheadBytes;
  if (charge > capacity_bytes_) return;
  const Key key{file_id, block->offset};
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = entries_.find(key); found != entries_.end()) {
    Remove(found->second);
  }
  while (used_bytes_ + charge > capacity_bytes_) {
    Remove(std::prev(newest_first_.end()));
  }
  // If there is no memory for the entry, the cache stays consistent.
  List entry;
  entry.push_front({key, block, charge});
  entries_.emplace(key, entry.begin());
  newest_first_.splice(newest_first_.begin(), entry);
  used_bytes_ += charge;
}

void HFileBlockCache::Erase(uint64_t file_id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto entry = newest_first_.begin(); entry != newest_first_.end();) {
    const auto next = std::next(entry);
    if (entry->key.file_id == file_id) Remove(entry);
    entry = next;
  }
}

size_t HFileBlockCache::used_bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return used_bytes_;
}

void HFileBlockCache::Remove(List::iterator entry) {
  used_bytes_ -= entry->charge_bytes;
  entries_.erase(entry->key);
  newest_first_.erase(entry);
}

std::shared_ptr<HFileBlockCache> NewHFileBlockCache(size_t capacity_bytes) {
  return std::make_shared<HFileBlockCache>(capacity_bytes);
}

}  // namespace rowbloom

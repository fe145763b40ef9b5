#include "storage/hfile/block_cache.h"

namespace rowbloom {

uint64_t HFileBlockCache::NewFileId() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return next_file_id_++;
}

std::shared_ptr<const hfile::Block> HFileBlockCache::Find(uint64_t file_id,
                                                          uint64_t offset) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto file = files_.find(file_id);
  if (file == files_.end()) return nullptr;
  const auto found = file->second.find(offset);
  if (found == file->second.end()) return nullptr;
  newest_first_.splice(newest_first_.begin(), newest_first_, found->second);
  return found->second->block;
}

void HFileBlockCache::Insert(uint64_t file_id,
                             const std::shared_ptr<const hfile::Block>& block) {
  // The rough size of a list node, a map node and the block's own fields.
  constexpr size_t kOverheadBytes = 256;
  const size_t charge = block->buffer.capacity() + kOverheadBytes;
  if (charge > capacity_bytes_) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto file = files_.find(file_id); file != files_.end()) {
    const auto found = file->second.find(block->offset);
    if (found != file->second.end()) Remove(found->second);
  }
  while (used_bytes_ + charge > capacity_bytes_) {
    Remove(std::prev(newest_first_.end()));
  }
  // If there is no memory for the entry, the cache stays consistent.
  List entry;
  entry.push_front({file_id, block, charge});
  files_[file_id].emplace(block->offset, entry.begin());
  newest_first_.splice(newest_first_.begin(), entry);
  used_bytes_ += charge;
}

void HFileBlockCache::Erase(uint64_t file_id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto file = files_.find(file_id);
  if (file == files_.end()) return;
  for (const auto& [offset, entry] : file->second) {
    used_bytes_ -= entry->charge_bytes;
    newest_first_.erase(entry);
  }
  files_.erase(file);
}

size_t HFileBlockCache::used_bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return used_bytes_;
}

void HFileBlockCache::Remove(List::iterator entry) {
  used_bytes_ -= entry->charge_bytes;
  const auto file = files_.find(entry->file_id);
  file->second.erase(entry->block->offset);
  if (file->second.empty()) files_.erase(file);
  newest_first_.erase(entry);
}

std::shared_ptr<HFileBlockCache> NewHFileBlockCache(size_t capacity_bytes) {
  return std::make_shared<HFileBlockCache>(capacity_bytes);
}

}  // namespace rowbloom

#include "storage/filter_policy/loaded_block.h"

#include <sys/random.h>

#include <thread>
#include <unordered_map>

#include "lib/block/hash.h"

namespace rowbloom {
namespace {

struct Blocks {
  std::mutex mutex;
  std::unordered_map<uint64_t, std::weak_ptr<LoadedBlock>> by_digest;
};

// Never destroyed: RocksDB may free blocks when the program ends.
Blocks& AllBlocks() {
  static auto* const blocks = new Blocks;
  return *blocks;
}

// Returns a hash of the block. Its seed is random: with a known one, a file
// could be made whose block has the hash of another file's.
uint64_t DigestOf(std::string_view block) {
  static const uint64_t seed = [] {
    uint64_t value = 0;
    [[maybe_unused]] const ssize_t bytes = getrandom(&value, sizeof(value), 0);
    return value;
  }();
  return Checksum(block, seed);
}

}  // namespace

constinit std::atomic<size_t> LoadedBlock::wanted_{0};

std::shared_ptr<LoadedBlock> LoadedBlock::OfBytes(std::string_view bytes) {
  const uint64_t digest = DigestOf(bytes);
  Blocks& blocks = AllBlocks();
  const std::lock_guard lock(blocks.mutex);
  std::weak_ptr<LoadedBlock>& known = blocks.by_digest[digest];
  std::shared_ptr<LoadedBlock> block = known.lock();
  if (block == nullptr) {
    block = std::make_shared<LoadedBlock>(digest);
    known = block;
  }
  return block;
}

LoadedBlock::~LoadedBlock() {
  Blocks& blocks = AllBlocks();
  const std::lock_guard lock(blocks.mutex);
  const auto found = blocks.by_digest.find(digest_);
  // OfBytes may have made another one since.
  if (found != blocks.by_digest.end() && found->second.expired()) {
    blocks.by_digest.erase(found);
  }
}

LoadedBlock::Shown::Shown(std::string_view block, const SectionProbe* row_col)
    : row_col_(row_col) {
  if (wanted_.load(std::memory_order_relaxed) == 0 || !row_col->present()) {
    return;
  }
  block_ = OfBytes(block);
  const std::lock_guard lock(block_->mutex_);
  block_->shown_.push_back(row_col);
  block_->row_col_.store(block_->shown_.front(), std::memory_order_seq_cst);
}

LoadedBlock::Shown::~Shown() {
  if (block_ == nullptr) return;
  LoadedBlock& block = *block_;
  const std::lock_guard lock(block.mutex_);
  std::erase(block.shown_, row_col_);
  if (block.row_col_.load(std::memory_order_relaxed) != row_col_) return;
  block.row_col_.store(nullptr, std::memory_order_seq_cst);
  for (const Slot& probing : block.probing_) {
    while (probing.count.load(std::memory_order_seq_cst) != 0) {
      std::this_thread::yield();
    }
  }
  if (!block.shown_.empty()) {
    block.row_col_.store(block.shown_.front(), std::memory_order_seq_cst);
  }
}

}  // namespace rowbloom

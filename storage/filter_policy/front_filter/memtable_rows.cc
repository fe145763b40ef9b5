#include "storage/filter_policy/front_filter/memtable_rows.h"

#include <cstdlib>
#include <new>
#include <utility>

#include "lib/bytes/integers.h"
#include "lib/kernels/bloom_block.h"

namespace rowbloom::front_filter {
namespace {

constexpr size_t kBlockWords = kBlockBytes / sizeof(uint64_t);
constexpr size_t kFirstBlocks = 64;
constexpr size_t kGrowth = 8;
constexpr size_t kBitsPerRow = 16;
constexpr int kRowProbes = 6;

}  // namespace

// Words are read and written by relaxed atomic operations. Bits are never
// cleared: if one read saw a bit, every read that happens after it sees the
// bit, too.
class MemtableRows::Segment {
 public:
  // Throws std::bad_alloc. Memory comes from calloc, which does not touch large
  // pieces before they are used.
  explicit Segment(size_t blocks)
      : blocks_(blocks),
        memory_(std::calloc(blocks + 1, kBlockBytes)),
        capacity_(blocks * kBlockBytes * 8 / kBitsPerRow) {
    if (memory_ == nullptr) throw std::bad_alloc();
    void* first = memory_;
    size_t room = (blocks + 1) * kBlockBytes;
    words_ = static_cast<uint64_t*>(
        std::align(kBlockBytes, blocks * kBlockBytes, first, room));
  }
  ~Segment() { std::free(memory_); }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  size_t blocks() const { return blocks_; }
  uint64_t bytes() const { return (blocks_ + 1) * kBlockBytes; }

  void Prefetch(uint64_t hash) const { __builtin_prefetch(BlockOf(hash)); }

  // There is no branch on the bits: a CPU cannot predict them.
  bool Has(uint64_t hash) const {
    uint64_t* const block = BlockOf(hash);
    uint64_t found = 1;
    for (int probe = 0; probe < kRowProbes; ++probe) {
      const uint32_t bit = BitOf(hash, probe);
      found &=
          std::atomic_ref(block[bit / 64]).load(std::memory_order_relaxed) >>
          bit % 64;
    }
    return found != 0;
  }

  // Adds a row, and returns whether the segment is full.
  bool Add(uint64_t hash, Writers writers) {
    uint64_t* const block = BlockOf(hash);
    for (int probe = 0; probe < kRowProbes; ++probe) {
      const uint32_t bit = BitOf(hash, probe);
      Or(std::atomic_ref(block[bit / 64]), uint64_t{1} << bit % 64, writers);
    }
    if (writers == Writers::kMany) {
      return rows_.fetch_add(1, std::memory_order_relaxed) + 1 >= capacity_;
    }
    const uint64_t rows = rows_.load(std::memory_order_relaxed) + 1;
    rows_.store(rows, std::memory_order_relaxed);
    return rows >= capacity_;
  }

 private:
  uint64_t* BlockOf(uint64_t hash) const {
    return words_ + HighProduct(hash, blocks_) * kBlockWords;
  }
  static void Or(std::atomic_ref<uint64_t> word, uint64_t bit,
                 Writers writers) {
    if (writers == Writers::kMany) {
      word.fetch_or(bit, std::memory_order_relaxed);
    } else {
      word.store(word.load(std::memory_order_relaxed) | bit,
                 std::memory_order_relaxed);
    }
  }

  const size_t blocks_;
  void* const memory_;
  uint64_t* words_;
  const uint64_t capacity_;
  std::atomic<uint64_t> rows_{0};
};

MemtableRows::MemtableRows(std::shared_ptr<Memory> memory)
    : memory_(std::move(memory)) {}

MemtableRows::~MemtableRows() {
  memory_->GiveBack(Memory::kMemtables, bytes());
}

void MemtableRows::Grow(size_t segments) {
  const std::lock_guard lock(grow_mutex_);
  if (segment_count_.load(std::memory_order_relaxed) != segments) return;
  if (segments == kMostSegments) return AddEverything();
  segments_[segments] = std::make_unique<Segment>(
      segments == 0 ? kFirstBlocks
                    : segments_[segments - 1]->blocks() * kGrowth);
  memory_->Take(Memory::kMemtables, segments_[segments]->bytes());
  segment_count_.store(segments + 1, std::memory_order_release);
}

void MemtableRows::Add(uint64_t row_hash, Writers writers) noexcept {
  size_t count = segment_count_.load(std::memory_order_acquire);
  for (size_t i = count; i-- > 0;) {
    if (segments_[i]->Has(row_hash)) return;
  }
  try {
    if (count == 0) Grow(count++);
    if (segments_[count - 1]->Add(row_hash, writers)) Grow(count);
  } catch (...) {
    AddEverything();
  }
}

void MemtableRows::Prefetch(uint64_t row_hash) const {
  const size_t count = segment_count_.load(std::memory_order_acquire);
  for (size_t i = 0; i < count; ++i) segments_[i]->Prefetch(row_hash);
}

bool MemtableRows::MayHave(uint64_t row_hash) const {
  const size_t count = segment_count_.load(std::memory_order_acquire);
  for (size_t i = count; i-- > 0;) {
    if (segments_[i]->Has(row_hash)) return true;
  }
  return everything_.load(std::memory_order_acquire);
}

uint64_t MemtableRows::bytes() const {
  uint64_t bytes = 0;
  const size_t count = segment_count_.load(std::memory_order_acquire);
  for (size_t i = 0; i < count; ++i) bytes += segments_[i]->bytes();
  return bytes;
}

}  // namespace rowbloom::front_filter

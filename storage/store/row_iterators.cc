#include "storage/store/row_iterators.h"

#include <algorithm>
#include <utility>

#include "rocksdb/options.h"
#include "rocksdb/version.h"

namespace rowbloom {
namespace {

using rocksdb::Iterator;

// Before 7.8 an iterator that is refreshed where ranges were deleted keeps all
// tombstones that it ever saw; that of 7.7.0 may read freed memory (RocksDB
// #10739).
constexpr bool kCanRefresh = ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 708;

class FileWatcher final : public rocksdb::EventListener {
 public:
  explicit FileWatcher(std::shared_ptr<RowIterators> iterators)
      : iterators_(std::move(iterators)) {}

  const char* Name() const override { return "rowbloom.FileWatcher"; }

  void OnFlushCompleted(rocksdb::DB* /*database*/,
                        const rocksdb::FlushJobInfo& /*info*/) override {
    iterators_->Forget();
  }
  void OnCompactionCompleted(
      rocksdb::DB* /*database*/,
      const rocksdb::CompactionJobInfo& /*info*/) override {
    iterators_->Forget();
  }
  void OnExternalFileIngested(
      rocksdb::DB* /*database*/,
      const rocksdb::ExternalFileIngestionInfo& /*info*/) override {
    iterators_->Forget();
  }

 private:
  const std::shared_ptr<RowIterators> iterators_;
};

}  // namespace

RowIterators::Lease::~Lease() {
  if (it_ != nullptr) iterators_->Keep(this);
}

RowIterators::Lease RowIterators::Take(rocksdb::DB* database,
                                       rocksdb::ColumnFamilyHandle* family,
                                       Reach reach) {
  Lease lease;
  lease.iterators_ = this;
  lease.family_ = family->GetID();
  lease.reach_ = reach;
  // Before the iterator looks at the files: a change after this drops it.
  lease.generation_ = generation_;
  {
    Slot& slot = slots_[ThreadSlot()];
    const std::lock_guard lock(slot.mutex);
    const auto found = std::find_if(
        slot.idle.rbegin(), slot.idle.rend(), [&lease](const Idle& idle) {
          return idle.family == lease.family_ && idle.reach == lease.reach_;
        });
    if (found != slot.idle.rend()) {
      lease.it_ = std::move(found->it);
      slot.idle.erase(std::prev(found.base()));
    }
  }
  // A database that is open for reading only refreshes none.
  if (lease.it_ != nullptr && lease.it_->Refresh().ok()) return lease;
  rocksdb::ReadOptions options;
  options.prefix_same_as_start = true;
  if (reach == Reach::kMemory) options.read_tier = rocksdb::kBlockCacheTier;
  lease.it_.reset(database->NewIterator(options, family));
  return lease;
}

void RowIterators::Keep(Lease* lease) {
  std::unique_ptr<Iterator> surplus;
  Slot& slot = slots_[ThreadSlot()];
  const std::lock_guard lock(slot.mutex);
  const rocksdb::Status status = lease->it_->status();
  // Forget counts before it looks into the slots, so that none slips through.
  if (!kCanRefresh || lease->generation_ != generation_ ||
      (!status.ok() && !status.IsIncomplete())) {
    surplus = std::move(lease->it_);
    return;
  }
  if (slot.idle.size() == kIdleInSlot) {
    surplus = std::move(slot.idle.front().it);
    slot.idle.erase(slot.idle.begin());
  }
  slot.idle.push_back({lease->family_, lease->reach_, std::move(lease->it_)});
}

void RowIterators::Forget() {
  ++generation_;
  for (Slot& slot : slots_) {
    std::vector<Idle> forgotten;
    const std::lock_guard lock(slot.mutex);
    forgotten.swap(slot.idle);
  }
}

std::shared_ptr<rocksdb::EventListener> WatchFiles(
    std::shared_ptr<RowIterators> iterators) {
  return std::make_shared<FileWatcher>(std::move(iterators));
}

}  // namespace rowbloom

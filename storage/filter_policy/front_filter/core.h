// All families of one database, and the worker that keeps their views small.
#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/listener.h"
#include "rowbloom/front_filter.h"
#include "storage/filter_policy/front_filter/family.h"
#include "storage/filter_policy/loaded_block.h"
#include "storage/format/thread_slot.h"

namespace rowbloom::front_filter {

// Thread-safe.
class Core {
 public:
  // The highest id of a family with a filter. RocksDB numbers the families that
  // a database ever had, and the table of them takes 8 bytes for each id: that
  // of a hostile MANIFEST would take 32 GiB.
  static constexpr uint32_t kMaxId = (uint32_t{1} << 20) - 1;

  // Throws std::bad_alloc.
  explicit Core(const FrontFilterOptions& options);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // The family of this id, or null. For readers: takes no lock.
  Family* Find(uint32_t id) const {
    return id < slot_count_.load(std::memory_order_acquire)
               ? slots_.load(std::memory_order_acquire)[id].load(
                     std::memory_order_acquire)
               : nullptr;
  }
  // False: the filter gives no answers, and each row may exist.
  bool answers() const { return !off_.load(std::memory_order_acquire); }
  // The family of this id, to look rows up in; null if there is none, or if the
  // filter gives no answers.
  Family* FindToProbe(uint32_t id) const {
    return answers() ? Find(id) : nullptr;
  }

  // The family of this id, made if there is none. REQUIRES id <= kMaxId. Throws
  // std::bad_alloc.
  Family* FindOrMake(uint32_t id, const FamilyRules& rules);

  // Ends all answers and disarms all families, for good: there is a memtable
  // whose rows are not known. `why` is the reason, a literal.
  void GiveUp(const char* why) noexcept;

  rocksdb::Status Attach(
      rocksdb::DB* database,
      const std::vector<rocksdb::ColumnFamilyHandle*>& handles);
  void Detach() noexcept;
  // Forgets the family of a handle that is about to be destroyed, but for its
  // counts.
  void ForgetHandle(const rocksdb::ColumnFamilyHandle* handle) noexcept;
  void WaitUntilArmed() const;

  void SetEnabled(bool enabled);

  // Asks the worker to reconcile the family. Takes one lock that is held for
  // short times.
  void Wake(Family* family) noexcept;

  // Calls do(family) for each family.
  template <typename Do>
  void ForEach(const Do& what) const {
    const size_t count = slot_count_.load(std::memory_order_acquire);
    for (uint32_t id = 0; id < count; ++id) {
      if (Family* const family = Find(id); family != nullptr) what(family);
    }
  }

  FrontFilterStats Stats() const;

 private:
  using Table = std::vector<std::atomic<Family*>>;  // by id; null: none

  void Work();

  // The members that Find reads share one cache line: a get of a row that
  // exists waits for each line. slots_ has those of tables_.back(), which are
  // at least slot_count_.
  alignas(kCacheLineBytes) std::atomic<bool> off_;
  std::atomic<size_t> slot_count_{0};
  std::atomic<const std::atomic<Family*>*> slots_{nullptr};

  ReaderSlots readers_;  // outlives the families
  const std::shared_ptr<Memory> memory_;

  const LoadedBlock::Wanted blocks_wanted_;
  const bool bypass_;         // from the options
  mutable std::mutex mutex_;  // guards the members below; held for short times
  std::list<std::unique_ptr<Family>> families_;
  // Families whose handles were destroyed, which readers may still use, and the
  // sum of their counts.
  std::list<std::unique_ptr<Family>> forgotten_;
  FrontFilterCounts forgotten_counts_;
  std::vector<std::unique_ptr<Table>> tables_;  // old ones may be in use
  rocksdb::DB* root_ = nullptr;                 // set by the first Attach
  bool enabled_;
  const char* given_up_ = nullptr;  // the reason, if it has
  bool detached_ = false;
  // Attached families that have no filter.
  std::map<const rocksdb::ColumnFamilyHandle*, FrontFilterFamilyStats> without_;

  std::mutex attach_mutex_;  // one Attach at a time; taken before the others

  std::mutex work_mutex_;  // guards the members below; held for short times
  std::condition_variable work_arrived_;
  std::set<Family*> to_reconcile_;
  std::atomic<bool> stop_ = false;  // also read without the mutex
  std::thread worker_;              // guarded by attach_mutex_
};

// The listener that wakes the worker.
std::shared_ptr<rocksdb::EventListener> NewListener(std::shared_ptr<Core> core);
// Tells whether it is one for this core.
bool IsListenerOf(const rocksdb::EventListener& listener, const Core& core);

}  // namespace rowbloom::front_filter

// All families of one database, and the worker that keeps their views small.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "lib/block/hash.h"
#include "rocksdb/db.h"
#include "rocksdb/listener.h"
#include "rowbloom/front_filter.h"
#include "storage/filter_policy/front_filter/family.h"
#include "storage/filter_policy/thread_counters.h"

namespace rowbloom::front_filter {

// Counters, by the number of their slot in ThreadCounters.
enum class Count : size_t { kAsked, kAnswered, kPassedFound, kPassedWasted };

// Thread-safe.
class Core {
 public:
  // Throws std::bad_alloc.
  explicit Core(const FrontFilterOptions& options);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // The family of this id, or null. For readers: takes no lock.
  Family* Find(uint32_t id) const {
    const Table* const table = table_.load(std::memory_order_acquire);
    return table != nullptr && id < table->size()
               ? (*table)[id].load(std::memory_order_acquire)
               : nullptr;
  }
  // The family of this id to ask for rows, or null if rows are not answered
  // for.
  Family* FindToAsk(uint32_t id) const {
    return off_.load(std::memory_order_acquire) ? nullptr : Find(id);
  }

  // The family of this id, made if there is none. Throws std::bad_alloc.
  Family* FindOrMake(uint32_t id, const FamilyRules& rules);

  // A memtable is constructed that nothing is known of: no row is answered for
  // any more.
  void GiveUp() noexcept;

  rocksdb::Status Attach(
      rocksdb::DB* database,
      const std::vector<rocksdb::ColumnFamilyHandle*>& handles);
  void Detach() noexcept;

  void SetEnabled(bool enabled);

  // Something happened that Reconcile would find. Takes one lock that is held
  // for short times.
  void Wake(Family* family) noexcept;

  // Calls do(family) for each family.
  template <typename Do>
  void ForEach(const Do& what) const {
    const Table* const table = table_.load(std::memory_order_acquire);
    if (table == nullptr) return;
    for (const auto& slot : *table) {
      Family* const family = slot.load(std::memory_order_acquire);
      if (family != nullptr) what(family);
    }
  }

  // Looks up rows: row_of(i) gives row i of `count`, or nullopt for one that is
  // not looked up, and absent(i) is called for each that does not exist. All
  // answers are of one time.
  template <typename RowOf, typename Absent>
  void AskAll(const Family& family, size_t count, const RowOf& row_of,
              const Absent& absent);

  void Add(Count count, uint64_t times = 1) {
    counters_.Add(static_cast<size_t>(count), times);
  }
  FrontFilterStats Stats() const;

 private:
  using Table = std::vector<std::atomic<Family*>>;  // by id; null: none

  void Work();

  ReaderSlots readers_;  // outlives the families
  const std::shared_ptr<Budget> budget_;
  ThreadCounters counters_;

  std::atomic<bool> off_;
  std::atomic<const Table*> table_{nullptr};  // the last of tables_

  mutable std::mutex mutex_;  // of what follows; held for short times
  std::vector<std::unique_ptr<Family>> families_;
  std::vector<std::unique_ptr<Table>> tables_;  // readers may have any
  bool enabled_;
  bool given_up_ = false;
  rocksdb::DB* root_ = nullptr;  // set by the first Attach
  bool detached_ = false;
  // Attached families that have no filter, by id.
  std::map<uint32_t, FrontFilterFamilyStats> without_;

  std::mutex attach_mutex_;  // one Attach at a time; before the others

  std::mutex work_mutex_;  // of what follows; held for short times
  std::condition_variable work_arrived_;
  std::set<Family*> to_reconcile_;
  bool stop_ = false;
  std::thread worker_;  // of attach_mutex_
};

template <typename RowOf, typename Absent>
void Core::AskAll(const Family& family, size_t count, const RowOf& row_of,
                  const Absent& absent) {
  const Family::Asking asking(family);
  if (!asking.armed()) return;
  if (count == 1) {
    const std::optional<std::string_view> row = row_of(0);
    if (!row) return;
    Add(Count::kAsked);
    if (asking.view().MayHave({.bytes = *row, .hash = HashRow(*row)})) return;
    Add(Count::kAnswered);
    return absent(0);
  }
  std::array<Row, Kernel::kMaxMany> rows;
  std::array<size_t, Kernel::kMaxMany> places;
  uint64_t asked = 0;
  uint64_t answered = 0;
  for (size_t next = 0; next < count;) {
    size_t many = 0;
    for (; next < count && many < rows.size(); ++next) {
      const std::optional<std::string_view> row = row_of(next);
      if (!row) continue;
      rows[many] = {.bytes = *row, .hash = HashRow(*row)};
      places[many++] = next;
    }
    if (many == 0) continue;
    asked += many;
    for (uint32_t left = asking.view().Absent({rows.data(), many}); left != 0;
         left &= left - 1) {
      absent(places[static_cast<size_t>(std::countr_zero(left))]);
      ++answered;
    }
  }
  if (asked > 0) Add(Count::kAsked, asked);
  if (answered > 0) Add(Count::kAnswered, answered);
}

// The listener that wakes the worker.
std::shared_ptr<rocksdb::EventListener> NewListener(std::shared_ptr<Core> core);
// Tells whether it is one for this core.
bool IsListenerOf(const rocksdb::EventListener& listener, const Core& core);

}  // namespace rowbloom::front_filter

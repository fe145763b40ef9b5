// The state of one column family. README.md has the rule that it keeps.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/block/hash.h"
#include "rocksdb/db.h"
#include "rowbloom/front_filter.h"
#include "storage/filter_policy/front_filter/bypass.h"
#include "storage/filter_policy/front_filter/family_rules.h"
#include "storage/filter_policy/front_filter/file_rows.h"
#include "storage/filter_policy/front_filter/memtable_rows.h"
#include "storage/filter_policy/front_filter/reader_slots.h"
#include "storage/filter_policy/front_filter/view.h"
#include "storage/filter_policy/thread_counters.h"
#include "storage/format/thread_slot.h"

namespace rowbloom::front_filter {

// The files of one call of ingestion.
struct Announcement {
  std::vector<std::string> paths;
  std::vector<std::shared_ptr<const FileRows>> rows;  // the known ones
  bool finished = false;  // RocksDB returned; of the family's mutex
};

// Counters, by the number of their slot in ThreadCounters.
enum class Count : size_t {
  kAnswered,
  kPassed,  // looked up, and may exist
  kPassedFound,
  kPassedWasted,
  kBypassed
};

// The outcome of lookups, in rows.
struct Outcome {
  uint64_t passed = 0;  // may exist
  uint64_t absent = 0;
};

// Thread-safe. Functions that are not noexcept may throw
// std::bad_alloc, and then have no effect.
class Family {
 public:
  Family(uint32_t id, FamilyRules rules, ReaderSlots* readers,
         std::shared_ptr<Memory> memory, bool bypass)
      : id_(id),
        rules_(std::move(rules)),
        readers_(readers),
        memory_(std::move(memory)),
        bypass_(bypass) {}

  uint32_t id() const { return id_; }
  const FamilyRules& rules() const { return rules_; }

  // Lookups in the view of one time.
  class Lookup {
   public:
    explicit Lookup(const Family& family)
        : family_(family),
          reading_(family.readers_),
          view_(family.view_.load(std::memory_order_seq_cst)) {}

    // False: there is no view, and each row may exist.
    bool armed() const { return view_ != nullptr; }
    const View& view() const { return *view_; }
    // Tells whether no other view came since this one was loaded.
    bool IsCurrent() const {
      return family_.view_.load(std::memory_order_seq_cst) == view_;
    }

   private:
    const Family& family_;
    const ReaderSlots::Reading reading_;
    const View* const view_;
  };

  // The view that was current from before make() is called until it has
  // returned, which has all rows that make() could see. Null: there was none,
  // or it was replaced meanwhile.
  template <typename Make>
  std::shared_ptr<const View> ViewDuring(const Make& make) const {
    const Lookup lookup(*this);
    make();
    if (!lookup.armed() || !lookup.IsCurrent()) return nullptr;
    return lookup.view().shared_from_this();
  }

  // Looks up rows, or of each the one key of a qualifier: row_of(i) gives the
  // KeyParts of number i of `count`, or nullopt for one that is not looked up,
  // and absent(i) is called for each that does not exist. All answers are of
  // one time.
  template <typename RowOf, typename Absent>
  void LookUp(size_t count, const RowOf& row_of, const Absent& absent) const {
    const Lookup lookup(*this);
    if (lookup.armed()) Add(LookUp(lookup.view(), count, row_of, absent));
  }
  // The same in this view of the family; counts nothing.
  template <typename RowOf, typename Absent>
  Outcome LookUp(const View& view, size_t count, const RowOf& row_of,
                 const Absent& absent) const;

  // Decides which gets look their rows up.
  Bypass& bypass() const { return bypass_; }
  void Add(Count count, uint64_t times = 1) const {
    counters_.Add(static_cast<size_t>(count), times);
  }
  void Add(const Outcome& outcome) const {
    if (outcome.passed > 0) Add(Count::kPassed, outcome.passed);
    if (outcome.absent > 0) Add(Count::kAnswered, outcome.absent);
  }

  // Tells whether the prefixes of keys, as the database sees them, are rows.
  bool prefixes_are_rows() const {
    return prefixes_.load(std::memory_order_seq_cst) == Prefixes::kRows;
  }
  // The prefix extractor of the family's options when it is attached; may be
  // null.
  void LearnPrefixes(const rocksdb::SliceTransform* extractor);
  // Call this before the prefix extractor is changed.
  void OnNewPrefixes() {
    prefixes_.store(Prefixes::kOther, std::memory_order_seq_cst);
  }

  // A filter for a memtable that is being constructed; null: the family is
  // disarmed.
  std::shared_ptr<MemtableRows> AddMemtable();
  // Disarms the family if RocksDB has sealed memtables that did not enter here:
  // those of IngestWriteBatchWithIndex, and of transactions that bypass
  // memtables. Call this when it is attached and whenever a memtable was
  // sealed, which is before readers see such rows.
  void CheckMemtables() noexcept;

  // Takes the handle by which Reconcile lists files. False: it has or had one,
  // or the family is disarmed.
  bool Attach(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* handle);
  // Disarms the family and forgets its handle and files, if it is this handle
  // or null. Waits for a Reconcile under way, which ends after the file that it
  // is reading. Returns whether it had such a handle.
  bool ForgetHandle(const rocksdb::ColumnFamilyHandle* handle) noexcept;

  // Waits until the family is armed or disarmed, if it has a handle.
  void WaitUntilArmed() const;

  // Brings the view to what RocksDB has now. The first call after Attach arms
  // the family. Calls RocksDB and reads files: not to be called by a callback
  // of RocksDB.
  void Reconcile();

  // Tells whether Reconcile would read a file for whose section there was no
  // room before.
  bool CanReadMore();

  // Every row may exist from now on, for good. A Reconcile under way ends after
  // the file that it is reading.
  void Disarm(std::string_view why) noexcept;
  // There was no memory for a Reconcile: disarms the family if it is the first.
  // A view that there is stays larger than it has to be.
  void OnNoMemory() noexcept;

  // Announce comes before RocksDB ingests files, which `env` has, and Finish
  // after it. Reconcile has to follow. The family may be attached meanwhile.
  // Null: it is disarmed.
  std::shared_ptr<Announcement> Announce(rocksdb::Env* env,
                                         std::vector<std::string> paths);
  void Finish(const std::shared_ptr<Announcement>& announcement) noexcept;
  // Tells whether it is attached, by this name.
  bool IsNamed(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    return handle_ != nullptr && name_ == name;
  }
  // The database `root` has ingested a file into its family `name`: disarms
  // this family if it is that one and the file was not announced, and returns
  // whether it is that one and disarmed.
  bool OnIngested(const rocksdb::DB* root, std::string_view name,
                  const std::string& path) noexcept;

  // Tells whether the file is one of the last listing, or may be one of the
  // first, which has not ended.
  bool Lists(uint64_t number) const;

  // True: RocksDB's recovery made the family and dropped it again, and nobody
  // has a handle of it.
  bool IsGone() const;

  FrontFilterCounts Counts() const noexcept;
  FrontFilterFamilyStats Stats() const;

 private:
  struct KnownFile {
    std::shared_ptr<const FileRows> rows;
    uint64_t bytes_beyond_limit = 0;
  };

  FrontFilterState state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  // Tells whether there was no room for the file's section, and now is.
  bool HasRoomNow(const KnownFile& file) const {
    return file.bytes_beyond_limit != 0 &&
           memory_->HasRoomFor(Memory::kRows, file.bytes_beyond_limit);
  }
  std::vector<ListedFile> LoadListed(
      const rocksdb::ColumnFamilyMetaData& listing, rocksdb::DB* db);
  // Adds the files of `before` that are not listed any more, but that readers
  // may still have. REQUIRES reconcile_mutex_.
  void KeepUnlisted(const FileSet& before, rocksdb::DB* db,
                    rocksdb::ColumnFamilyHandle* handle,
                    std::vector<ListedFile>* files) const;
  std::vector<std::shared_ptr<MemtableRows>> SealedMemtables() const;
  // REQUIRES mutex_.
  void DisarmLocked(std::string_view why) noexcept;
  // REQUIRES mutex_. Publishes the memtables, announcements and files that are
  // given.
  void Publish(std::vector<std::shared_ptr<MemtableRows>> memtables,
               std::vector<std::shared_ptr<Announcement>> announced,
               std::shared_ptr<const FileSet> files);

  enum class Prefixes : uint8_t { kUnknown, kRows, kOther };

  const uint32_t id_;
  const FamilyRules rules_;
  ReaderSlots* const readers_;
  const std::shared_ptr<Memory> memory_;

  // The members up to view_ are all that a get reads of those that follow.
  alignas(kCacheLineBytes) mutable Bypass bypass_;
  mutable ThreadCounters counters_;
  std::atomic<Prefixes> prefixes_{Prefixes::kUnknown};

  // The view that readers probe; null unless the family is armed.
  std::atomic<const View*> view_{nullptr};

  // Held by CheckMemtables, which needs the handle. Before mutex_.
  std::mutex check_mutex_;
  // Held by Reconcile from its beginning to its end. Before mutex_.
  std::mutex reconcile_mutex_;
  std::map<uint64_t, KnownFile> known_files_;  // by number

  // Held for short times, and never while RocksDB is called.
  mutable std::mutex mutex_;
  rocksdb::DB* db_ = nullptr;
  rocksdb::ColumnFamilyHandle* handle_ = nullptr;  // null: not attached
  FrontFilterState state_ = FrontFilterState::kArming;
  mutable std::condition_variable not_arming_;
  std::string why_;
  const rocksdb::DB* root_ = nullptr;  // once attached, as the name
  std::string name_;
  std::vector<std::shared_ptr<MemtableRows>> memtables_;
  std::vector<std::shared_ptr<Announcement>> announced_;
  std::shared_ptr<const FileSet> files_;  // null before the first listing
  std::shared_ptr<const View> owner_;     // owns *view_
  uint64_t reconciled_ = 0;
};

template <typename RowOf, typename Absent>
Outcome Family::LookUp(const View& view, size_t count, const RowOf& row_of,
                       const Absent& absent) const {
  if (count == 1) {
    const std::optional<KeyParts> key = row_of(0);
    if (!key) return {};
    if (view.MayHave({.bytes = key->row,
                      .hash = HashRow(key->row),
                      .qualifier = key->qualifier})) {
      return {.passed = 1};
    }
    absent(0);
    return {.absent = 1};
  }
  std::array<Row, Kernel::kMaxMany> rows;
  std::array<uint64_t, Kernel::kMaxMany> hashes;
  std::array<size_t, Kernel::kMaxMany> places;
  Outcome outcome;
  for (size_t next = 0; next < count;) {
    size_t many = 0;
    for (; next < count && many < rows.size(); ++next) {
      const std::optional<KeyParts> key = row_of(next);
      if (!key) continue;
      hashes[many] = HashRow(key->row);
      rows[many] = {
          .bytes = key->row, .hash = hashes[many], .qualifier = key->qualifier};
      places[many++] = next;
    }
    if (many == 0) continue;
    outcome.passed += many;
    for (uint32_t left =
             view.Absent({std::span(rows).first(many), hashes.data()});
         left != 0; left &= left - 1) {
      absent(places[static_cast<size_t>(std::countr_zero(left))]);
      ++outcome.absent;
    }
  }
  outcome.passed -= outcome.absent;
  return outcome;
}

}  // namespace rowbloom::front_filter

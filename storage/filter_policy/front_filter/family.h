// The state of one column family. DESIGN.md has the rule that it keeps.
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
  std::vector<std::string> paths;                     // sorted
  std::vector<std::shared_ptr<const FileRows>> rows;  // the known ones
  bool finished = false;  // RocksDB returned; guarded by the family's mutex
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

  // Lookups in one view, which is not freed while this exists.
  class Lookup {
   public:
    explicit Lookup(const Family& family)
        : family_(family),
          reading_(family.readers_),
          view_(family.view_.load(std::memory_order_seq_cst)) {}

    // False: there is no view, and each row may exist.
    bool armed() const { return view_ != nullptr; }
    const View& view() const { return *view_; }
    // Tells whether this view has not been replaced since it was loaded.
    bool IsCurrent() const {
      return family_.view_.load(std::memory_order_seq_cst) == view_;
    }

   private:
    const Family& family_;
    const ReaderSlots::Reading reading_;
    const View* const view_;
  };

  // Calls make(), and returns the view that was current from before the call
  // until after it. It has all rows that make() could see. Null: there was
  // none, or it was replaced meanwhile.
  template <typename Make>
  std::shared_ptr<const View> ViewDuring(const Make& make) const {
    const Lookup lookup(*this);
    make();
    if (!lookup.armed() || !lookup.IsCurrent()) return nullptr;
    return lookup.view().shared_from_this();
  }

  // Looks up `count` rows, or in each row the key with one qualifier. row_of(i)
  // returns the KeyParts of row i, or nullopt to skip it. absent(i) is called
  // for each row or key that does not exist. All answers are of one time.
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

  // Tells whether the prefixes of the family's prefix extractor are rows.
  bool prefixes_are_rows() const {
    return prefixes_.load(std::memory_order_seq_cst) == Prefixes::kRows;
  }
  // Learns the prefix extractor of the family's options, which may be null.
  // Call this when the family is attached.
  void LearnPrefixes(const rocksdb::SliceTransform* extractor);
  // Call this before the prefix extractor is changed.
  void OnNewPrefixes() {
    prefixes_.store(Prefixes::kOther, std::memory_order_seq_cst);
  }

  // Adds and returns the filter of a memtable that is being constructed. Null:
  // the family is disarmed.
  std::shared_ptr<MemtableRows> AddMemtable();
  // Disarms the family if RocksDB has sealed memtables that AddMemtable did not
  // add: those of IngestWriteBatchWithIndex, and of transactions that bypass
  // memtables. Call this when the family is attached, whenever a memtable was
  // sealed, as readers do not see the rows of such memtables before, and
  // whenever a flush begins, after which RocksDB counts its memtables no more.
  void CheckMemtables() noexcept;

  // Sets the handle by which Reconcile lists files. False: the family has or
  // had a handle, or is disarmed.
  bool Attach(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* handle);
  // Disarms the family and forgets its handle and files, if `handle` is that
  // handle or null. Waits for a Reconcile under way, which ends after the file
  // that it is reading. Returns whether the family had such a handle.
  bool ForgetHandle(const rocksdb::ColumnFamilyHandle* handle) noexcept;

  // Waits until the family is armed or disarmed, if it has a handle.
  void WaitUntilArmed() const;

  // Updates the view to the rows that RocksDB has now. The first call after
  // Attach arms the family. Calls RocksDB and reads files: must not be called
  // by a callback of RocksDB.
  void Reconcile();

  // Tells whether Reconcile would read a section for which there was no room
  // before.
  bool CanReadMore();

  // Removes the view, for good: every row may exist from now on. A Reconcile
  // under way ends after the file that it is reading.
  void Disarm(std::string_view why) noexcept;
  // Disarms the family if its first Reconcile had no memory. If a later one had
  // none, the view stays larger than it has to be.
  void OnNoMemory() noexcept;

  // Announce must be called before RocksDB ingests the files, which are in
  // `env`, Finish afterwards, and Reconcile after that. The family may be
  // attached in between. Null: the family is disarmed.
  std::shared_ptr<Announcement> Announce(rocksdb::Env* env,
                                         std::vector<std::string> paths);
  void Finish(const std::shared_ptr<Announcement>& announcement) noexcept;
  // Tells whether the family is attached and has this name.
  bool IsNamed(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    return handle_ != nullptr && name_ == name;
  }
  // Must be called when the database `root` has ingested a file into its family
  // `name`. If that is this family and the file was not announced, disarms it
  // and returns true.
  bool OnIngested(const rocksdb::DB* root, std::string_view name,
                  const std::string& path) noexcept;

  // Tells whether the last listing has the file; true while the family is
  // arming.
  bool Lists(uint64_t number) const;

  // True: RocksDB's recovery made the family and dropped it again, and no
  // handle of it exists.
  bool IsGone() const;

  FrontFilterCounts Counts() const noexcept;
  FrontFilterFamilyStats Stats() const;

 private:
  struct KnownFile {
    std::shared_ptr<const FileRows> rows;
    FileRows::Problem problem;
  };

  FrontFilterState state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  // Tells whether there was no room for the file's section, and now is.
  bool HasRoomNow(const KnownFile& file) const {
    const uint64_t bytes = file.problem.bytes_beyond_limit;
    return bytes != 0 && memory_->HasRoomFor(Memory::kRows, bytes);
  }
  std::vector<ListedFile> LoadListed(
      const rocksdb::ColumnFamilyMetaData& listing, rocksdb::DB* db,
      rocksdb::ColumnFamilyHandle* handle);
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

  // A get reads only the members from here up to view_.
  alignas(kCacheLineBytes) mutable Bypass bypass_;
  mutable ThreadCounters counters_;
  std::atomic<Prefixes> prefixes_{Prefixes::kUnknown};

  // The view that readers probe; null unless the family is armed.
  std::atomic<const View*> view_{nullptr};

  // Held by CheckMemtables while it uses the handle. Taken before mutex_.
  std::mutex check_mutex_;
  // Held by Reconcile from its beginning to its end. Taken before mutex_.
  std::mutex reconcile_mutex_;
  std::map<uint64_t, KnownFile> known_files_;  // by number

  // Held for short times, and never while RocksDB is called.
  mutable std::mutex mutex_;
  rocksdb::DB* db_ = nullptr;
  rocksdb::ColumnFamilyHandle* handle_ = nullptr;  // null: not attached
  FrontFilterState state_ = FrontFilterState::kArming;
  mutable std::condition_variable not_arming_;
  std::string why_;
  const rocksdb::DB* root_ = nullptr;  // set by Attach, as name_ is
  std::string name_;
  std::vector<std::shared_ptr<MemtableRows>> memtables_;
  std::vector<std::shared_ptr<Announcement>> announced_;
  std::shared_ptr<const FileSet> files_;  // null before the first listing
  std::string why_unknown_;               // of the first unknown file in them
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

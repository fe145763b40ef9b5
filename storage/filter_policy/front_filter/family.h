// The state of one column family. README.md has the rule that it keeps.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/db.h"
#include "rowbloom/front_filter.h"
#include "storage/filter_policy/front_filter/family_rules.h"
#include "storage/filter_policy/front_filter/file_rows.h"
#include "storage/filter_policy/front_filter/memtable_rows.h"
#include "storage/filter_policy/front_filter/reader_slots.h"
#include "storage/filter_policy/front_filter/view.h"

namespace rowbloom::front_filter {

// The files of one call of ingestion.
struct Announcement {
  std::vector<std::string> paths;
  std::vector<std::shared_ptr<const FileRows>> rows;  // the known ones
  bool finished = false;  // RocksDB returned; of the family's mutex
};

// Thread-safe. Functions that are not noexcept may throw
// std::bad_alloc, and then have no effect.
class Family {
 public:
  Family(uint32_t id, FamilyRules rules, ReaderSlots* readers,
         std::shared_ptr<Budget> budget)
      : id_(id),
        rules_(std::move(rules)),
        readers_(readers),
        budget_(std::move(budget)) {}

  uint32_t id() const { return id_; }
  const FamilyRules& rules() const { return rules_; }

  // Lookups in the view of one time.
  class Asking {
   public:
    explicit Asking(const Family& family)
        : reading_(family.readers_),
          view_(family.view_.load(std::memory_order_seq_cst)) {}

    // False: there is no view, and each row may exist.
    bool armed() const { return view_ != nullptr; }
    const View& view() const { return *view_; }

   private:
    const ReaderSlots::Reading reading_;
    const View* const view_;
  };

  // A filter for a memtable that is being constructed.
  std::shared_ptr<MemtableRows> AddMemtable();

  // Takes the handle by which Reconcile lists files. False: it has one.
  bool Attach(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* handle);
  // Forgets the handle, if it is this one or null, after waiting for a
  // Reconcile under way.
  void ForgetHandle(const rocksdb::ColumnFamilyHandle* handle) noexcept;

  // Brings the view to what RocksDB has now. The first call after Attach arms
  // the family. Calls RocksDB and reads files: not to be called by a callback
  // of RocksDB.
  void Reconcile();

  // Every row may exist from now on, for good.
  void Disarm(std::string_view why) noexcept;

  // Before and after RocksDB is asked to ingest files. Reconcile has to follow.
  std::shared_ptr<Announcement> Announce(std::vector<std::string> paths);
  void Finish(const std::shared_ptr<Announcement>& announcement) noexcept;
  // The database `root` has ingested a file into its family `name`: disarms
  // this family if it is that one and the file was not announced.
  void OnIngested(const rocksdb::DB* root, std::string_view name,
                  const std::string& path) noexcept;

  // Tells whether the file is one of the last listing.
  bool Lists(uint64_t number) const;

  FrontFilterFamilyStats Stats() const;

 private:
  struct KnownFile {
    std::shared_ptr<const FileRows> rows;
    uint64_t bytes_beyond_budget = 0;
  };

  std::vector<ListedFile> LoadListed(
      const rocksdb::ColumnFamilyMetaData& listing);
  // REQUIRES mutex_. Publishes the memtables, announcements and files that are
  // given.
  void Publish(std::vector<std::shared_ptr<MemtableRows>> memtables,
               std::vector<std::shared_ptr<Announcement>> announced,
               std::shared_ptr<const FileSet> files);

  const uint32_t id_;
  const FamilyRules rules_;
  ReaderSlots* const readers_;
  const std::shared_ptr<Budget> budget_;

  // The view that readers ask; null unless the family is armed.
  std::atomic<const View*> view_{nullptr};

  // Held by Reconcile from its beginning to its end. Before mutex_.
  std::mutex reconcile_mutex_;
  rocksdb::DB* db_ = nullptr;
  rocksdb::ColumnFamilyHandle* handle_ = nullptr;  // null: not attached
  std::map<uint64_t, KnownFile> known_files_;      // by number

  // Held for short times, and never while RocksDB is called.
  mutable std::mutex mutex_;
  FrontFilterState state_ = FrontFilterState::kArming;
  std::string why_;
  const rocksdb::DB* root_ = nullptr;  // once attached, as the name
  std::string name_;
  std::vector<std::shared_ptr<MemtableRows>> memtables_;
  std::vector<std::shared_ptr<Announcement>> announced_;
  std::shared_ptr<const FileSet> files_;  // null before the first listing
  std::shared_ptr<const View> owner_;     // of *view_
  uint64_t reconciled_ = 0;
};

}  // namespace rowbloom::front_filter

// The front filter tells, before RocksDB is entered, that a row does not exist,
// with one lookup however many files there are.
//
//   rocksdb::Options options;
//   rocksdb::Status s = rowbloom::ConfigureRowFilters(
//       {.key_layout = rowbloom::KeyLayout::Delimited(':')}, &options);
//   std::unique_ptr<rowbloom::FrontFilterDB> db;
//   if (s.ok()) s = rowbloom::OpenWithFrontFilter({}, options, path, &db);
//   std::string mail;  // NotFound, no file is read:
//   if (s.ok()) s = db->Get({}, "user_1002:mail", &mail);
//
// It holds the ROW sections of all files, and the rows of all memtables, in
// memory. It is never wrong about an absent row: after a change that it cannot
// follow it answers "may exist" for the column family, for good, and the
// statistics say why. It keeps nothing on disk. doc/front_filter.md is the
// guide.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"
#include "rocksdb/utilities/stackable_db.h"
#include "rocksdb/version.h"

namespace rowbloom {

namespace front_filter {
class Core;
}  // namespace front_filter

struct FrontFilterOptions {
  // The limit for the ROW sections of files, in bytes. A file whose section
  // would exceed it may have each row between its smallest and largest key. The
  // filters of memtables, 2 bytes or more for each row, are not in the limit.
  uint64_t memory_limit_bytes = std::numeric_limits<uint64_t>::max();
  // The limit for ROWCOL sections that are kept, in bytes, in addition. With
  // ROWCOL sections, gets of absent columns in rows that exist are answered,
  // and almost no get of an absent row passes. A section that is not kept is
  // probed while RocksDB has it in memory. 0: none are kept.
  uint64_t cell_memory_limit_bytes = 0;
  // The block cache that all of this memory is charged to, in steps of 256 KiB.
  // A full cache with a strict limit refuses steps, which are then not charged,
  // and RocksDB's reads of blocks that it does not have fail. Null: none.
  std::shared_ptr<rocksdb::Cache> charged_cache;
  // True: reads of absent rows are answered; FrontFilter::SetEnabled changes
  // it.
  bool enabled = true;
  // True: while fewer than 1 in 32 rows that are looked up are absent, only 1
  // in 64 of the gets of a FrontFilterDB looks its row up. MayHaveRow,
  // MayHaveRows, RowExists and seeks always do.
  bool bypass = true;
};

// The SST property with a filter of the file's bare rows, which are keys
// without a qualifier. Its value is a filter block of type ROW over them alone.
// A TablePropertiesCollector of the application makes it, as the store's does.
// Gets of bare rows have the false positive rate of rows then. Its bytes count
// as those of the ROW section, in limits and statistics.
inline constexpr char kBareRowsProperty[] = "rowbloom.bare_rows";

enum class FrontFilterState : uint8_t {
  kArming,    // its files are being read: each row may exist
  kArmed,     // reads of absent rows are answered
  kDisarmed,  // each row may exist, for good
};

// "arming", "armed", "disarmed".
std::string_view ToString(FrontFilterState state);

struct FrontFilterCounts {
  uint64_t asked = 0;     // rows that were looked up in armed families
  uint64_t answered = 0;  // those whose row or column was absent
  // Gets and seeks through a FrontFilterDB whose row may exist: those that
  // found a key, and those that did not: an absent column, or a false positive.
  // KeyMayExist and RowExists count in neither.
  uint64_t passed_found = 0;
  uint64_t passed_wasted = 0;
  uint64_t bypassed = 0;  // gets that did not look their row up
};

// One column family.
struct FrontFilterFamilyStats : FrontFilterCounts {
  uint32_t id = 0;
  std::string name;  // empty before it is attached
  FrontFilterState state = FrontFilterState::kArming;
  std::string why;          // set for kDisarmed: the reason, one sentence
  uint64_t reconciled = 0;  // the number of listings of its files
  uint64_t memtables = 0;
  uint64_t memtable_bytes = 0;  // the filters of memtables
  uint64_t files_known = 0;
  uint64_t files_unknown = 0;     // each row in their ranges may exist
  std::string why_unknown;        // names one of them and the reason
  uint64_t files_with_cells = 0;  // those whose ROWCOL section is kept
  uint64_t row_bytes = 0;         // the ROW sections of its files
};

// The counts of all families together, and of each.
struct FrontFilterStats : FrontFilterCounts {
  uint64_t bytes = 0;       // the ROW sections of files
  uint64_t cell_bytes = 0;  // their ROWCOL sections
  // Families by id. Those whose handles were destroyed are in the counts alone.
  std::vector<FrontFilterFamilyStats> families;
};

// The front filter of one database, for one opening of it. OpenWithFrontFilter
// serves the usual case; this is for TransactionDB, OptimisticTransactionDB,
// read-only and other ways of opening:
//
//   Create; Prepare with the options of each family; open; Attach.
//
// Thread-safe after Attach.
class FrontFilter {
 public:
  // Makes one that has no family yet. MemoryLimit: there is no memory.
  // NotSupported: the RocksDB library loaded at run time has another minor
  // version than the headers.
  static rocksdb::Status Create(const FrontFilterOptions& options,
                                std::shared_ptr<FrontFilter>* filter);
  ~FrontFilter();
  FrontFilter(const FrontFilter&) = delete;
  FrontFilter& operator=(const FrontFilter&) = delete;

  // Adds the sources of the filter to the options, before the database is
  // opened: a listener, and a factory that wraps the family's memtable_factory
  // under the same Name(). Call it for each family that is to have a filter. A
  // family that cannot have one is left unchanged, and Stats says why, once it
  // is attached.
  // `database` may be null for a family that is created later. Attach disarms a
  // family that is opened without the listener, or without this factory. A
  // factory that wraps this one has to return it from Inner().
  rocksdb::Status Prepare(rocksdb::DBOptions* database,
                          rocksdb::ColumnFamilyOptions* family);

  // Arms these families and the default one: a thread of the filter reads the
  // sections of their files, and until it has, each row may exist. A file that
  // cannot be read may have each row of its range. `database` is what was
  // opened, or a StackableDB on it, and must not be closed while this runs. May
  // be called again for families made later. Families are forgotten when their
  // handles are destroyed, which waits for the reading of one file at most.
  //   InvalidArgument  another database was attached, or this one is detached
  //   NotSupported     a secondary or follower: its files change without notice
  rocksdb::Status Attach(
      rocksdb::DB* database,
      const std::vector<rocksdb::ColumnFamilyHandle*>& families = {});

  // Waits until each family that was attached is armed, or disarmed. Reads are
  // right before that, too; those of absent rows then read files. Must not be
  // called from a callback of RocksDB.
  void WaitUntilArmed() const;

  // Ends the answers: each row may exist. Waits for the reading of one file at
  // most. Call it before the database is closed, unless all handles are
  // destroyed first.
  void Detach();

  // False: no key of the row is in the family, at some time during the call.
  // `row` has the bytes that keys begin with, end mark included; bytes that are
  // not one row of the layout may exist. REQUIRES a family of the database to
  // which the filter is attached: it knows families by their ids.
  bool MayHaveRow(const rocksdb::ColumnFamilyHandle* family,
                  std::string_view row) const;
  // The same for many rows, which is faster; all answers are of one time.
  // REQUIRES may_have.size() >= rows.size().
  void MayHaveRows(const rocksdb::ColumnFamilyHandle* family,
                   std::span<const std::string_view> rows,
                   std::span<bool> may_have) const;

  // Adds the rows of the files to the filter, then ingests the files through
  // `database`. A family is disarmed if files are ingested without this.
  rocksdb::Status IngestExternalFiles(
      rocksdb::DB* database,
      const std::vector<rocksdb::IngestExternalFileArg>& files);

  // While not enabled, each row may exist. The filter is kept up to date.
  void SetEnabled(bool enabled);

  FrontFilterStats Stats() const;

 private:
  friend class FrontFilterDB;

  explicit FrontFilter(std::shared_ptr<front_filter::Core> core);

  std::shared_ptr<front_filter::Core> core_;
};

// A database with a front filter, which answers Get, MultiGet and KeyMayExist
// of absent rows with RocksDB's own status. RocksDB answers everything else,
// and reads with timestamps.
//
// An iterator of NewIterator with prefix_same_as_start, and without
// total_order_seek, auto_prefix_mode and tailing, answers Seek to an absent
// row: it is not Valid, and its status is OK. The rows are those of the time
// when it was made or refreshed. The prefix extractor of the family has to be
// NewRowPrefixExtractor of its layout; change it by SetOptions of this class
// alone.
//
// A MultiGet without a snapshot answers all keys of one family as of one time,
// as RocksDB does: if only some of its rows are absent it takes a snapshot.
// RocksDB answers a MultiGet of several families, with a deadline or with a
// limit of bytes.
class FrontFilterDB final : public rocksdb::StackableDB {
 public:
  // Takes over the database, to which the filter is attached.
  FrontFilterDB(std::unique_ptr<rocksdb::DB> db,
                std::shared_ptr<FrontFilter> filter) noexcept;
  ~FrontFilterDB() override;

  FrontFilter* front_filter() const { return filter_.get(); }

  // Tells exactly whether the family has a key of the row: the filter first,
  // then a seek. `row` as in FrontFilter::MayHaveRow; bounds in `options`
  // should include the row.
  //   InvalidArgument  `row` is not one row of the family's layout
  //   NotSupported     the keys of the family are not in bytewise order or its
  //                    reverse, or the family has no front filter at all
  rocksdb::Status RowExists(const rocksdb::ReadOptions& options,
                            rocksdb::ColumnFamilyHandle* family,
                            std::string_view row, bool* exists);

  rocksdb::Status Close() override;

  // Families made here have the filter, too, unless it is detached.
  rocksdb::Status CreateColumnFamily(
      const rocksdb::ColumnFamilyOptions& options, const std::string& name,
      rocksdb::ColumnFamilyHandle** handle) override;
  rocksdb::Status CreateColumnFamilies(
      const rocksdb::ColumnFamilyOptions& options,
      const std::vector<std::string>& names,
      std::vector<rocksdb::ColumnFamilyHandle*>* handles) override;
  rocksdb::Status CreateColumnFamilies(
      const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
      std::vector<rocksdb::ColumnFamilyHandle*>* handles) override;
  using StackableDB::CreateColumnFamilyWithImport;
  rocksdb::Status CreateColumnFamilyWithImport(
      const rocksdb::ColumnFamilyOptions& options, const std::string& name,
      const rocksdb::ImportColumnFamilyOptions& import_options,
      const rocksdb::ExportImportFilesMetaData& metadata,
      rocksdb::ColumnFamilyHandle** handle) override;

#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 804
  rocksdb::Status CreateColumnFamilyWithImport(
      const rocksdb::ColumnFamilyOptions& options, const std::string& name,
      const rocksdb::ImportColumnFamilyOptions& import_options,
      const std::vector<const rocksdb::ExportImportFilesMetaData*>& metadata,
      rocksdb::ColumnFamilyHandle** handle) override;
#endif

  using StackableDB::IngestExternalFile;
  rocksdb::Status IngestExternalFile(
      rocksdb::ColumnFamilyHandle* family,
      const std::vector<std::string>& files,
      const rocksdb::IngestExternalFileOptions& options) override;
  rocksdb::Status IngestExternalFiles(
      const std::vector<rocksdb::IngestExternalFileArg>& files) override;
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1105
  // The handles of the second are those that the first has made.
  using StackableDB::PrepareFileIngestion;
  rocksdb::Status PrepareFileIngestion(
      const std::vector<rocksdb::IngestExternalFileArg>& files,
      std::unique_ptr<rocksdb::FileIngestionHandle>* handle) override;
  using StackableDB::CommitFileIngestionHandles;
  rocksdb::Status CommitFileIngestionHandles(
      std::vector<std::unique_ptr<rocksdb::FileIngestionHandle>> handles)
      override;
#endif

  using StackableDB::Get;
  using StackableDB::KeyMayExist;
  using StackableDB::MultiGet;
#if ROCKSDB_MAJOR < 9
  rocksdb::Status Get(const rocksdb::ReadOptions& options,
                      rocksdb::ColumnFamilyHandle* family,
                      const rocksdb::Slice& key,
                      rocksdb::PinnableSlice* value) override;
  std::vector<rocksdb::Status> MultiGet(
      const rocksdb::ReadOptions& options,
      const std::vector<rocksdb::ColumnFamilyHandle*>& families,
      const std::vector<rocksdb::Slice>& keys,
      std::vector<std::string>* values) override;
  std::vector<rocksdb::Status> MultiGet(
      const rocksdb::ReadOptions& options,
      const std::vector<rocksdb::ColumnFamilyHandle*>& families,
      const std::vector<rocksdb::Slice>& keys, std::vector<std::string>* values,
      std::vector<std::string>* timestamps) override;
  void MultiGet(const rocksdb::ReadOptions& options,
                rocksdb::ColumnFamilyHandle* family, size_t count,
                const rocksdb::Slice* keys, rocksdb::PinnableSlice* values,
                rocksdb::Status* statuses, bool sorted_input = false) override;
  void MultiGet(const rocksdb::ReadOptions& options,
                rocksdb::ColumnFamilyHandle* family, size_t count,
                const rocksdb::Slice* keys, rocksdb::PinnableSlice* values,
                std::string* timestamps, rocksdb::Status* statuses,
                bool sorted_input = false) override;
  void MultiGet(const rocksdb::ReadOptions& options, size_t count,
                rocksdb::ColumnFamilyHandle** families,
                const rocksdb::Slice* keys, rocksdb::PinnableSlice* values,
                rocksdb::Status* statuses, bool sorted_input = false) override;
#endif
  rocksdb::Status Get(const rocksdb::ReadOptions& options,
                      rocksdb::ColumnFamilyHandle* family,
                      const rocksdb::Slice& key, rocksdb::PinnableSlice* value,
                      std::string* timestamp) override;
  void MultiGet(const rocksdb::ReadOptions& options, size_t count,
                rocksdb::ColumnFamilyHandle** families,
                const rocksdb::Slice* keys, rocksdb::PinnableSlice* values,
                std::string* timestamps, rocksdb::Status* statuses,
                bool sorted_input = false) override;
  bool KeyMayExist(const rocksdb::ReadOptions& options,
                   rocksdb::ColumnFamilyHandle* family,
                   const rocksdb::Slice& key, std::string* value,
                   bool* value_found = nullptr) override;
  bool KeyMayExist(const rocksdb::ReadOptions& options,
                   rocksdb::ColumnFamilyHandle* family,
                   const rocksdb::Slice& key, std::string* value,
                   std::string* timestamp,
                   bool* value_found = nullptr) override;

  using StackableDB::NewIterator;
  rocksdb::Iterator* NewIterator(const rocksdb::ReadOptions& options,
                                 rocksdb::ColumnFamilyHandle* family) override;
  // Ends the answers to seeks if it sets the prefix extractor.
  using StackableDB::SetOptions;
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1011
  rocksdb::Status SetOptions(
      const std::unordered_map<rocksdb::ColumnFamilyHandle*,
                               std::unordered_map<std::string, std::string>>&
          options_of_families) override;
#else
  rocksdb::Status SetOptions(
      rocksdb::ColumnFamilyHandle* family,
      const std::unordered_map<std::string, std::string>& options) override;
#endif

  // RocksDB's, which a StackableDB does not hand on in all versions.
  using StackableDB::DeleteRange;
  rocksdb::Status DeleteRange(const rocksdb::WriteOptions& options,
                              rocksdb::ColumnFamilyHandle* family,
                              const rocksdb::Slice& begin,
                              const rocksdb::Slice& end,
                              const rocksdb::Slice& timestamp) override {
    return db_->DeleteRange(options, family, begin, end, timestamp);
  }
  using StackableDB::Merge;
  rocksdb::Status Merge(const rocksdb::WriteOptions& options,
                        rocksdb::ColumnFamilyHandle* family,
                        const rocksdb::Slice& key,
                        const rocksdb::Slice& timestamp,
                        const rocksdb::Slice& value) override {
    return db_->Merge(options, family, key, timestamp, value);
  }
  rocksdb::Status Resume() override { return db_->Resume(); }
  void GetAllColumnFamilyMetaData(
      std::vector<rocksdb::ColumnFamilyMetaData>* metadata) override {
    db_->GetAllColumnFamilyMetaData(metadata);
  }
  rocksdb::Status GetStatsHistory(
      uint64_t start_time, uint64_t end_time,
      std::unique_ptr<rocksdb::StatsHistoryIterator>* iterator) override {
    return db_->GetStatsHistory(start_time, end_time, iterator);
  }
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 809 && \
    ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR < 902
  using StackableDB::GetEntity;
  rocksdb::Status GetEntity(const rocksdb::ReadOptions& options,
                            const rocksdb::Slice& key,
                            rocksdb::PinnableAttributeGroups* groups) override {
    return db_->GetEntity(options, key, groups);
  }
#endif
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 808 && \
    ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR < 902
  using StackableDB::MultiGetEntity;
  void MultiGetEntity(const rocksdb::ReadOptions& options, size_t count,
                      const rocksdb::Slice* keys,
                      rocksdb::PinnableAttributeGroups* groups) override {
    db_->MultiGetEntity(options, count, keys, groups);
  }
#endif
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 904
  rocksdb::Status WriteWithCallback(
      const rocksdb::WriteOptions& options, rocksdb::WriteBatch* batch,
      rocksdb::UserWriteCallback* callback) override {
    return db_->WriteWithCallback(options, batch, callback);
  }
#endif
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 910 && \
    ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR < 1001
  rocksdb::Status GetPropertiesOfTablesForLevels(
      rocksdb::ColumnFamilyHandle* family,
      std::vector<std::unique_ptr<rocksdb::TablePropertiesCollection>>* levels)
      override {
    return db_->GetPropertiesOfTablesForLevels(family, levels);
  }
#endif

 private:
  const std::shared_ptr<FrontFilter> filter_;
  front_filter::Core* const core_;  // filter_'s, one cache line nearer to a get
};

// Opens a database with a front filter, which is armed some time after this has
// returned (FrontFilter::WaitUntilArmed). The key layout of a family is that of
// its filter policy; a family without one of rowbloom's has no front filter.
// On error the outputs are as DB::Open leaves them, and *db as it was.
rocksdb::Status OpenWithFrontFilter(
    const FrontFilterOptions& filter_options,
    const rocksdb::DBOptions& db_options, const std::string& path,
    const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
    std::vector<rocksdb::ColumnFamilyHandle*>* handles,
    std::unique_ptr<FrontFilterDB>* db);
// The same with the default family alone.
rocksdb::Status OpenWithFrontFilter(const FrontFilterOptions& filter_options,
                                    const rocksdb::Options& options,
                                    const std::string& path,
                                    std::unique_ptr<FrontFilterDB>* db);

}  // namespace rowbloom

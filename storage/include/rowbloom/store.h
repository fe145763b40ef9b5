// An embedded wide-column store on RocksDB: cells addressed by row, family,
// qualifier and timestamp, in a directory. Each family is a RocksDB column
// family with its own filter policy, so that reads skip the files that cannot
// hold the answer.
//
//   std::unique_ptr<rowbloom::Store> store;
//   rocksdb::Status s = rowbloom::Store::Open({}, "users.db",
//                                             {{"info", {}}}, &store);
//   if (s.ok()) s = store->Put("user_1001", "info", "mail", "ada@example.org");
//   std::optional<std::string> value;
//   if (s.ok()) s = store->Get("user_1001", "info", "mail", &value);
//   if (s.ok() && value) ...
//
// A function that may fail returns a status and gives its result through a
// pointer. An absent cell or row is no failure: the read is OK and gives no
// value, no cell or no row. ReadOptions, WriteOptions, WriteBatch, Snapshot and
// Transaction are names of RocksDB, too: a source that uses both names their
// namespaces.
//
// Names of rows and qualifiers are any bytes; cell.h has the limits.
// storage/store/FORMAT.md describes every byte on disk. doc/store.md says what
// the data model has of HBase's, and where it differs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/backup.h"
#include "rowbloom/bulk_load.h"
#include "rowbloom/cell.h"
#include "rowbloom/cell_iterator.h"
#include "rowbloom/change_stream.h"
#include "rowbloom/pinnable_cell.h"
#include "rowbloom/read_options.h"
#include "rowbloom/row_scanner.h"
#include "rowbloom/store_copy.h"
#include "rowbloom/store_options.h"
#include "rowbloom/store_stats.h"
#include "rowbloom/transaction.h"
#include "rowbloom/verify.h"
#include "rowbloom/write_batch.h"

namespace rocksdb {
class Env;
}  // namespace rocksdb

namespace rowbloom {

// The families and rows to compact.
struct CompactOptions {
  std::string family;     // empty: all
  std::string start_row;  // the first, inclusive; empty: from the beginning
  std::string stop_row;   // the end, exclusive; empty: to the end
};

// A condition on the newest value that a cell has in the time range. A cell
// without a value there is absent, and meets only kAbsent.
struct Condition {
  // The cell's value compared with `value`, by bytes. kAbsent and kPresent do
  // not use `value`. Three bits: less, equal, greater.
  enum class Comparison : uint8_t {
    kAbsent = 0,
    kLess = 1,
    kEqual = 2,
    kAtMost = kLess | kEqual,
    kGreater = 4,
    kNotEqual = kLess | kGreater,
    kAtLeast = kEqual | kGreater,
    kPresent = kLess | kEqual | kGreater,
  };

  std::string_view family;
  std::string_view qualifier;
  Comparison comparison = Comparison::kPresent;
  std::string_view value = {};
  TimeRange time_range = TimeRange::All();

  // The cell has this value; nullopt: it is absent.
  static Condition Equal(std::string_view family, std::string_view qualifier,
                         std::optional<std::string_view> expected) {
    return {family, qualifier,
            expected ? Comparison::kEqual : Comparison::kAbsent,
            expected.value_or("")};
  }
};

// An open store; destroying it closes it. All functions are safe to call from
// any thread. Writes of one row wait for each other, so that they are atomic
// and get their timestamps in their order; writes of other rows share RocksDB's
// log, and its syncs. Errors:
//   InvalidArgument  a name, value or timestamp out of its limits, an unknown
//                    family, a timestamp for a family that takes none; the
//                    message says which. Nothing was written.
//   NotSupported     a change of a read-only store
//   Corruption       a stored value is not in the format of FORMAT.md
//   Aborted          out of memory (subcode kMemoryLimit), or an exception or
//                    a state of RocksDB that should not be; the message says
//   others           as RocksDB reports them, naming the file. After an error
//                    of a flush or compaction, all changes return it until the
//                    store is opened again
// On failure outputs are unspecified.
class Store {
 public:
  // Opens the store at `path`, creating it and the families as the options
  // say. Families of the store that are not listed are opened too, with their
  // kept options. An interrupted creation is completed by the next call that
  // may write. REQUIRES, for a relative path, that the process keeps its
  // working directory until the store is closed. Errors beside RocksDB's,
  // nothing being changed on disk:
  //   Busy             the store is open for writing already, in this process
  //                    or another one
  //   InvalidArgument  `path` holds something that is no store; another key
  //                    layout; a family has other options, or is not in a
  //                    read-only store; an option out of range; a
  //                    family that is listed twice or whose name is empty, over
  //                    255 bytes, has ':', spaces or bytes other than printable
  //                    ASCII, starts with '.', or is "default" (RocksDB's own)
  //   NotFound         no store at `path`, and it may not be created
  //   NotSupported     the store was written in a format of a later version;
  //                    the RocksDB library loaded at run time has another minor
  //                    version than the headers
  //   TryAgain         (read_only) another process kept changing the files
  static rocksdb::Status Open(const StoreOptions& options,
                              const std::string& path,
                              const std::vector<FamilyDescriptor>& families,
                              std::unique_ptr<Store>* store);
  // Closes the store. REQUIRES that no call is under way, and that its
  // snapshots, iterators, scanners, loads and transactions are destroyed.
  // In a process that was forked from the one that opened it, all changes are
  // NotSupported, reads may wait for ever, as may the destructors of snapshots,
  // iterators, scanners, cells and transactions, and this does nothing: such a
  // process can open the store for reading. A store must not be a static
  // variable: it would outlive RocksDB's own, and the process would crash at
  // its end.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Writes one change, or all of a batch or none. WriteBatch says what each
  // change does.
  rocksdb::Status Write(const Change& change, const WriteOptions& options = {});
  rocksdb::Status Write(const WriteBatch& batch,
                        const WriteOptions& options = {});
  // A transaction is written by its Commit, which checks what it has read.
  rocksdb::Status Write(const Transaction& transaction,
                        const WriteOptions& options = {}) = delete;

  rocksdb::Status Put(std::string_view row, std::string_view family,
                      std::string_view qualifier, std::string_view value,
                      const WriteOptions& options = {}) {
    return Write({ChangeType::kPut, row, family, qualifier, value}, options);
  }
  rocksdb::Status Delete(std::string_view row, std::string_view family,
                         std::string_view qualifier,
                         const WriteOptions& options = {}) {
    return Write({ChangeType::kDelete, row, family, qualifier, {}}, options);
  }
  // REQUIRES options.timestamp_ms, else InvalidArgument.
  rocksdb::Status DeleteVersion(std::string_view row, std::string_view family,
                                std::string_view qualifier,
                                const WriteOptions& options) {
    return Write({ChangeType::kDeleteVersion, row, family, qualifier, {}},
                 options);
  }
  rocksdb::Status DeleteFamily(std::string_view row, std::string_view family,
                               const WriteOptions& options = {}) {
    return Write({ChangeType::kDeleteFamily, row, family, {}, {}}, options);
  }
  rocksdb::Status DeleteRow(std::string_view row,
                            const WriteOptions& options = {}) {
    return Write({ChangeType::kDeleteRow, row, {}, {}, {}}, options);
  }

  // Writes the changes if the row meets all conditions; *applied says whether
  // it did. No other write of the row comes in between. InvalidArgument: a
  // change of another row, or a condition that means nothing. REQUIRES that
  // `changes` is no Transaction, which its Commit writes.
  rocksdb::Status CheckAndWrite(std::string_view row,
                                std::span<const Condition> conditions,
                                const WriteBatch& changes, bool* applied,
                                const WriteOptions& options = {});

  rocksdb::Status CheckAndPut(std::string_view row, std::string_view family,
                              std::string_view qualifier,
                              std::optional<std::string_view> expected,
                              std::string_view value, bool* applied,
                              const WriteOptions& options = {}) {
    const Condition condition = Condition::Equal(family, qualifier, expected);
    const Change put{ChangeType::kPut, row, family, qualifier, value};
    return CheckAndWrite(row, {&condition, 1}, {&put, 1}, applied, options);
  }
  rocksdb::Status CheckAndDelete(std::string_view row, std::string_view family,
                                 std::string_view qualifier,
                                 std::optional<std::string_view> expected,
                                 bool* applied,
                                 const WriteOptions& options = {}) {
    const Condition condition = Condition::Equal(family, qualifier, expected);
    const Change del{ChangeType::kDelete, row, family, qualifier, {}};
    return CheckAndWrite(row, {&condition, 1}, {&del, 1}, applied, options);
  }

  // WriteBatch::Increment alone. *sum (may be nullptr) is the new value.
  rocksdb::Status Increment(std::string_view row, std::string_view family,
                            std::string_view qualifier, int64_t delta,
                            int64_t* sum, const WriteOptions& options = {});
  // WriteBatch::Append alone. *joined (may be nullptr) is the new value.
  rocksdb::Status Append(std::string_view row, std::string_view family,
                         std::string_view qualifier, std::string_view suffix,
                         std::string* joined, const WriteOptions& options = {});

  // A transaction, whose changes Commit writes. NotSupported: the store is open
  // without StoreOptions::transactions.
  rocksdb::Status Begin(std::unique_ptr<Transaction>* transaction);

  // The newest value of one cell, in the time range; nullopt: the cell is
  // absent.
  rocksdb::Status Get(std::string_view row, std::string_view family,
                      std::string_view qualifier,
                      std::optional<std::string>* value,
                      const ReadOptions& options = {});
  // The same with its timestamp, and without a copy. REQUIRES here and below
  // that no argument views into what the result had.
  rocksdb::Status Get(std::string_view row, std::string_view family,
                      std::string_view qualifier, PinnableCell* cell,
                      const ReadOptions& options = {});
  // Up to options.max_versions versions of one cell, newest first.
  rocksdb::Status GetVersions(std::string_view row, std::string_view family,
                              std::string_view qualifier,
                              std::vector<Cell>* cells,
                              const ReadOptions& options = {});
  // GetVersions of each address, in their order, with one RocksDB MultiGet, all
  // as of one snapshot.
  rocksdb::Status MultiGet(std::span<const CellAddress> addresses,
                           std::vector<std::vector<Cell>>* cells,
                           const ReadOptions& options = {});

  // The cells of the row, ordered as in Row; all as of one snapshot.
  rocksdb::Status GetRow(std::string_view row, std::vector<Cell>* cells,
                         const RowOptions& options = {});

  // Tells whether GetRow would give a cell, and reads no further than the first
  // one. options.columns can limit it to one column.
  rocksdb::Status Exists(std::string_view row, bool* exists,
                         const RowOptions& options = {});

  // The rows in a range, in the order of their bytes.
  rocksdb::Status Scan(const ScanOptions& options, RowScanner* rows);

  // Counts the rows and cells that Scan would give. Copies no value.
  rocksdb::Status Count(const ScanOptions& options, ScanCounts* counts);

  // An iterator over all cells that one family keeps. Errors are GetRow's.
  rocksdb::Status NewCellIterator(const CellIteratorOptions& options,
                                  std::unique_ptr<CellIterator>* iterator);

  // Takes a snapshot, for ReadOptions.
  rocksdb::Status GetSnapshot(std::unique_ptr<const Snapshot>* snapshot);

  // The number of the last change of the store (change_stream.h). Waits for a
  // change of families, and for a load that comes in.
  uint64_t LatestNumber() const;
  // The changes after that number, up to the present. InvalidArgument: a number
  // beyond the last one. Others are those of ChangeStream::status.
  rocksdb::Status GetUpdatesSince(uint64_t number,
                                  std::unique_ptr<ChangeStream>* stream);

  // A load of sorted cells. InvalidArgument: an option out of its range.
  rocksdb::Status NewBulkLoad(const BulkLoadOptions& options,
                              std::unique_ptr<BulkLoad>* load);

  // Writes all memtables to SSTs, with their filter blocks. Compactions then
  // remove expired deletes without regard to puts that are gone by now.
  rocksdb::Status Flush();

  // Merges the files of one family, or of all, that overlap the rows, and
  // reclaims the space of cells that no read can see any more.
  rocksdb::Status Compact(const CompactOptions& options = {});

  rocksdb::Status Stats(StoreStats* stats);

  // Looks for damage, and lists it in the report. Changes nothing. Changes of
  // families and deletions of files wait for it. Memory: a block of a file and
  // the versions of a cell; where cells cannot be read, the indexes of the
  // family's files. TryAgain: (read_only) the writer removed a file meanwhile;
  // the report is of what was left.
  rocksdb::Status Verify(const VerifyOptions& options, VerifyReport* report);

  // Warnings for an operator: the store's clock is more than a day ahead of the
  // machine's, or the block cache is smaller than the filters and indexes of
  // the store. Empty: there are none. Opening a store writes these to RocksDB's
  // info log, too.
  std::vector<std::string> Warnings() const;

  // Sets the store's clock back to the machine's clock, which was ahead for a
  // time. Puts and deletes with later timestamps stay. They hide new puts until
  // the clock has passed them, or a delete without a timestamp has taken them.
  // In a family with Timestamps::kClient such a delete does not take later
  // deletes; a removal (WriteBatch) does. After this call, for good, deletes
  // without a timestamp look cells up first, earlier builds refuse the store,
  // and a delete of a row frees no space of a `versioned` family.
  rocksdb::Status ResetClock();

  // The environment whose file system has the store's files: StoreOptions::env,
  // or rocksdb::Env::Default().
  rocksdb::Env* GetEnv() const;

  // The options that the store is open with; key_layout, block_cache and env
  // are set.
  const StoreOptions& Options() const;

  // The families of the store and their options.
  std::map<std::string, FamilyOptions> Families() const;

  // Families can be created, altered and dropped while the store is open. When
  // the call returns OK, the change is on the disk. After a crash or an error
  // of RocksDB, the store is unchanged or, from the next open on, has the whole
  // change. The call waits for writes, Flush, Compact, Checkpoint and Backup
  // that are under way, and keeps writes waiting for some milliseconds.
  // An AlterFamily that changes rules for versions waits for compactions of the
  // family, too, and keeps writes waiting after half a minute. Reads go on.

  // Adds a family. InvalidArgument: there is one of that name, or Open would
  // refuse the name or the options.
  rocksdb::Status CreateFamily(const std::string& name,
                               const FamilyOptions& options);
  // Adds families, all or none. Errors are those of CreateFamily.
  rocksdb::Status CreateFamilies(std::span<const FamilyDescriptor> families);
  // Removes a family with all its cells. Reads and scans that are under way
  // still see it, and its disk space is freed when they end. The Finish of a
  // load that has cells of it fails.
  rocksdb::Status DropFamily(const std::string& name);
  // Removes all cells of a family, which keeps its options. It does what
  // DropFamily and CreateFamily do, but a crash in between leaves the family
  // empty, not dropped. After an error of RocksDB the store refuses changes, or
  // the family is missing, until the next open.
  rocksdb::Status TruncateFamily(const std::string& name);
  // Gives a family other options. Rules for versions apply at once: versions
  // that they exclude become invisible, and versions that wider rules include
  // become visible again, unless a compaction has reclaimed them. Files keep
  // filter and compression until they are compacted (Compact does it now);
  // block_size_bytes applies to files written after the next opening.
  // A change from Timestamps::kClient to kStore has the effects of ResetClock
  // for good, as the application may have given later timestamps.
  // InvalidArgument, with nothing changed: an option is out of range, or stands
  // for another cell format (FamilyOptions) than the family's cells have.
  rocksdb::Status AlterFamily(const std::string& name,
                              const FamilyOptions& options);
  // The InvalidArgument with which AlterFamily would refuse now, for callers
  // that alter several families: then only errors such as the disk's can come
  // between two. Changes nothing.
  rocksdb::Status CheckAlterFamily(const std::string& name,
                                   const FamilyOptions& options) const;

  // Makes a second store at `directory`, which must not exist, with the state
  // of this one at a time during the call, memtables included. kSkipWal writes
  // go to the log meanwhile, as they do during Backup. The Finish of a bulk
  // load waits for it, as for Backup. Files are linked where the file system
  // can, else copied. They are collected in `directory`.checkpointing. If a
  // directory of that name is no remains of a checkpoint, the error is
  // InvalidArgument; if another call fills it, the error is Busy.
  rocksdb::Status Checkpoint(const std::string& directory);

  // Adds a backup of this store, memtables included, to a directory of backups
  // (backup.h), which is created if need be. Copies only files that the
  // directory does not have yet. *info may be nullptr.
  rocksdb::Status Backup(const std::string& directory,
                         BackupInfo* info = nullptr);

  // Makes a new store at `path`, which must not exist, of the cells of this one
  // (store_copy.h), as of one time. Versions and deletes keep their timestamps.
  // Versions that expire before their family is copied are left out.
  // A `latest` family (FamilyOptions) of the copy has the newest version of
  // each cell. A cell that is in a `latest` family here or in the copy gets the
  // time of the copy if its own is later.
  // The copy is made at `path`.copying, which is renamed to `path` as the last
  // step: an interrupted copy leaves no store at `path`, and can be repeated.
  // Errors beside those of Open, NewCellIterator and BulkLoad, which leave
  // nothing:
  //   InvalidArgument  a family that the store does not have; a timestamp of
  //                    the future that the application gave, in a `versioned`
  //                    family that has timestamps=store in the copy; `path`
  //                    exists, or `path`.copying, and no interrupted copy left
  //                    it
  //   Busy             another copy is being made at `path`.copying
  //   TryAgain         (read_only) a family was being truncated or created
  rocksdb::Status CopyTo(const std::string& path, const CopyOptions& options,
                         CopyReport* report);

  class Impl;
  // Open calls this.
  explicit Store(std::unique_ptr<Impl> impl);

 private:
  rocksdb::Status CheckAndWrite(std::string_view row,
                                std::span<const Condition> conditions,
                                std::span<const Change> changes, bool* applied,
                                const WriteOptions& options);

  std::unique_ptr<Impl> impl_;
};

}  // namespace rowbloom

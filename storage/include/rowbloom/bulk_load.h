// BulkLoad writes sorted cells straight into SSTs, past log and memtables.
//
//   std::unique_ptr<BulkLoad> load;
//   rocksdb::Status s = store->NewBulkLoad({}, &load);
//   while (s.ok() && ...) s = load->Add(row, family, qualifier, value);
//   if (s.ok()) s = load->Finish();
//
// Reads see nothing of a load before Finish, and all of it afterwards, even if
// the process ends in between. A load that is destroyed without Finish leaves
// nothing. Cells without a timestamp get the time of NewBulkLoad. Others keep
// their timestamps, from which ttl_ms counts. In a family whose timestamps are
// the store's (Timestamps), a cell's own timestamp must be before the time of
// NewBulkLoad, so that later puts are newer.
//
// A `latest` family (FamilyOptions) takes no deletes. There the last write of a
// cell counts, whatever the timestamps, and the cells of a load are written by
// Finish: they replace older and newer cells, and those that were written while
// the load was filled. A `versioned` family orders the versions and deletes of
// the load and of other writes by their timestamps. The deletes of a load apply
// before its puts: a version of the store that one takes does not count towards
// max_versions.
//
// Not thread-safe; loads and other writes may run at the same time. Finish is
// atomic with other writes of a row, CheckAndWrite, Increment and Append
// included. Finish waits for checkpoints and backups, and for running
// compactions of the loaded families: during one, RocksDB may not see that a
// file replaces older cells. Writes wait while the families are flushed, the
// rows of each kDeleteFamilyVersion are read and the files are added, and for
// compactions that begin just before or have not ended after half a minute.
// Snapshots wait while the files are added. Memory: for each family a block and
// the filter's hashes (some ten bytes a cell) of a file, and the data that its
// dictionary is made of (dictionary_bytes); the versions of one cell, and the
// row of each kDeleteFamilyVersion. A load must be destroyed before its store.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "rocksdb/status.h"
#include "rowbloom/write_batch.h"

namespace rowbloom {

struct BulkLoadOptions {
  // The approximate size of an SST, after which the next begins; at least 1.
  uint64_t file_bytes = uint64_t{64} << 20;
};

class BulkLoad {
 public:
  virtual ~BulkLoad() = default;
  BulkLoad(const BulkLoad&) = delete;
  BulkLoad& operator=(const BulkLoad&) = delete;

  // The time of NewBulkLoad by the store's clock, in milliseconds since 1970.
  virtual uint64_t timestamp_ms() const = 0;

  // Adds a put, or a delete of a version, a column or a family, which needs a
  // timestamp. The cells of one family must come by row, then by qualifier,
  // then newest first, as CellIterator gives them; families may alternate. A
  // delete takes versions of the load, of the store, and of later writes.
  // Errors are those of Store::Write, and InvalidArgument if a cell is out of
  // order or was added before, its family was created after NewBulkLoad, or the
  // versions of a cell have more than kMaxCellBytes; the load can continue
  // without that cell, but not after Aborted.
  virtual rocksdb::Status Add(const Change& change) = 0;
  rocksdb::Status Add(std::string_view row, std::string_view family,
                      std::string_view qualifier, std::string_view value,
                      std::optional<uint64_t> timestamp_ms = std::nullopt) {
    return Add({ChangeType::kPut, row, family, qualifier, value, timestamp_ms});
  }

  // The error that Add has for the change itself, whatever was added before.
  // Adds nothing.
  virtual rocksdb::Status Check(const Change& change) const = 0;

  // Adds the files to the store, all or none. InvalidArgument: a second call.
  // Aborted: the store's clock was reset during the load, or a
  // DeleteFamilyVersion was written to one of its families or removed from it;
  // load again. IOError: the cells are not in the store now, but all of them
  // may be once it is opened again; the message says if all or some of them are
  // visible.
  virtual rocksdb::Status Finish() = 0;

  // False: the store has no cell of the load, and will have none when it is
  // opened again. True: Finish may have added the cells, also if it failed.
  virtual bool MayBeLoaded() const = 0;

 protected:
  BulkLoad() = default;
};

}  // namespace rowbloom

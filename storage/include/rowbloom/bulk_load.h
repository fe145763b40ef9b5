// BulkLoad writes sorted cells straight into SSTs, past log and memtables.
//
//   std::unique_ptr<BulkLoad> load;
//   rocksdb::Status s = store->NewBulkLoad({}, &load);
//   while (s.ok() && ...) s = load->Add(row, family, qualifier, value);
//   if (s.ok()) s = load->Finish();
//
// Reads see nothing of a load before Finish, and all of it afterwards, even if
// the process ends in between. A load that is destroyed without Finish leaves
// nothing. Cells without a timestamp get that of NewBulkLoad; others keep their
// own, from which ttl_ms counts. In a family whose timestamps are the store's
// (Timestamps), a cell's own must be before that of NewBulkLoad, so that later
// puts are newer.
//
// A `latest` family (FamilyOptions) takes no deletes. The later of two writes
// of a cell there stays, whatever their timestamps, and a load arrives with
// Finish: it replaces what was there, newer cells too, and what is written
// while the load is filled. A `versioned` family orders the load's versions and
// deletes, and those of other writes, by their timestamps. A load's deletes
// come before its puts: a version of the store that one takes keeps no place
// among max_versions.
//
// Not thread-safe; loads and other writes may go on side by side. Finish and
// other writes of a row, CheckAndWrite, Increment and Append included, come one
// after the other. Finish waits for checkpoints and backups, and for
// compactions of the loaded families that run: beside one, RocksDB may not see
// that a file replaces older cells. Writes wait while the families are flushed,
// the rows of each kDeleteFamilyVersion are read and the files are added, and
// for compactions that begin just before or have not ended after half a minute.
// Snapshots wait while the files are added. Memory: a block and the filter's
// hashes (some ten bytes a cell) of a file per family, one cell's versions, and
// the row of each kDeleteFamilyVersion. Must be destroyed before its store.
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

  // Adds a put, or a delete of a version, a column or a family, which needs its
  // timestamp. The cells of one family come by row, then by qualifier, then
  // newest first, as CellIterator gives them; families may take turns. A delete
  // takes what the load and the store have, and what comes later. Errors are
  // Store::Write's, and InvalidArgument when a cell is out of order or was
  // added before, or the versions of a cell have more than kMaxCellBytes; the
  // load goes on without that cell.
  virtual rocksdb::Status Add(const Change& change) = 0;
  rocksdb::Status Add(std::string_view row, std::string_view family,
                      std::string_view qualifier, std::string_view value,
                      std::optional<uint64_t> timestamp_ms = std::nullopt) {
    return Add({ChangeType::kPut, row, family, qualifier, value, timestamp_ms});
  }

  // The errors that Add has for a change whatever was added before it. Adds
  // nothing.
  virtual rocksdb::Status Check(const Change& change) const = 0;

  // Adds the files to the store, all or none. InvalidArgument: a second call.
  // Aborted: the store's clock was reset during the load, or a
  // DeleteFamilyVersion was written to one of its families; load again.
  // IOError: the load is not there, but may be, whole, once the store has been
  // opened again; the message says if all or a part of it is there.
  virtual rocksdb::Status Finish() = 0;

  // False: the store has nothing of the load, nor will have when it is opened
  // again. True: after Finish, which may have failed.
  virtual bool MayBeLoaded() const = 0;

 protected:
  BulkLoad() = default;
};

}  // namespace rowbloom

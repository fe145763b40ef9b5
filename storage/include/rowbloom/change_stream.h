// ChangeStream gives what was written to a store since a number, cell by cell
// and in order, from the log that RocksDB keeps:
//
//   std::unique_ptr<ChangeStream> changes;
//   rocksdb::Status s = store->GetUpdatesSince(number, &changes);
//   for (; s.ok() && changes->Valid(); changes->Next()) {
//     Apply(changes->change());
//   }
//   if (s.ok()) s = changes->status();
//   number = changes->number();  // for the next call
//
// A store numbers its changes. A copy (Store::Checkpoint, Backup) has the
// numbers of its store up to the copy: opened for reading, its LatestNumber is
// where the changes of the store go on. The log is deleted when the cells in it
// are in files, unless StoreOptions::kept_log_seconds or kept_log_bytes says
// otherwise. Bulk loads are not in it, nor changes without a log
// (Durability::kSkipWal), except those made while a copy was. Numbers of writes
// that a crash lost are given again. A store that is open for reading has the
// changes before its opening. One that is open for writing marks in its log
// that a stream is begun, which takes a number and syncs the log.
//
// Not thread-safe; the store may be written to meanwhile. Memory: one batch, up
// to three times. Must be destroyed before its store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rocksdb/status.h"
#include "rowbloom/write_batch.h"

namespace rowbloom {

enum class ChangeKind : uint8_t {
  // A cell or a row was changed: `type` says how.
  kCell,
  // A family was created or altered, or dropped. Store::Families has it now.
  kFamilyKept,
  kFamilyDropped,
  // A bulk load was added to a family, unless it failed: its cells are not in
  // the stream. A copy takes the family anew: truncate it there, load the cells
  // of a later checkpoint (Store::NewCellIterator), and pass over the family's
  // changes up to the checkpoint's LatestNumber. A stream of a store that is
  // open for reading ends before a load that is the last change of the log.
  kBulkLoad,
};

// Owns its bytes.
struct StoreChange {
  uint64_t number = 0;  // rising; several changes may share one
  ChangeKind kind = ChangeKind::kCell;
  std::string family;

  // Set for a kCell. Deletes of rows come as a kDeleteFamily of each family.
  // A kRemove or kRemoveFamily comes where a store had to remove what its next
  // delete does not cover.
  ChangeType type = ChangeType::kPut;
  std::string row;
  std::string qualifier;
  // nullopt: a removal, or a delete in a `latest` family, which take all that
  // was written before, whatever its timestamp.
  std::optional<uint64_t> timestamp_ms;
  std::string value;               // a put's
  std::optional<uint64_t> ttl_ms;  // a put's own

  friend bool operator==(const StoreChange&, const StoreChange&) = default;
};

class ChangeStream {
 public:
  virtual ~ChangeStream() = default;
  ChangeStream(const ChangeStream&) = delete;
  ChangeStream& operator=(const ChangeStream&) = delete;

  virtual bool Valid() const = 0;
  // The change here. REQUIRES Valid().
  virtual const StoreChange& change() const = 0;
  // REQUIRES Valid().
  virtual void Next() = 0;
  // OK when the stream ended with the last change before GetUpdatesSince, or
  // the error that cut it short:
  //   NotFound    changes are not in the log; the message says which, and after
  //               which number the log goes on
  //   Corruption  a change is not in the format of FORMAT.md
  virtual const rocksdb::Status& status() const = 0;
  // The number from which a later stream goes on: that of the last change
  // before the one here, and at the end that of the last one.
  virtual uint64_t number() const = 0;

 protected:
  ChangeStream() = default;
};

}  // namespace rowbloom

// ChangeStream gives the changes that were written to a store after a number,
// cell by cell and in order, from the log that RocksDB keeps:
//
//   std::unique_ptr<ChangeStream> changes;
//   rocksdb::Status s = store->GetUpdatesSince(number, &changes);
//   for (; s.ok() && changes->Valid(); changes->Next()) {
//     Apply(changes->change());
//   }
//   if (s.ok()) {
//     number = changes->number();  // for the next call
//     s = changes->status();
//   }
//
// A store numbers its changes. A copy (Store::Checkpoint, Backup) has the
// numbers of its store up to the copy: if it is opened for reading, the changes
// of the store continue after its LatestNumber. The log is deleted when its
// cells are in files, unless StoreOptions::kept_log_seconds or kept_log_bytes
// keeps it. It has neither bulk loads nor kSkipWal writes (Durability), except
// those that were made during a copy. Numbers of writes that a crash lost are
// used again. A stream of a store that is open for reading, such as a
// Follower's, has the changes before the opening, with those that a power cut
// may still take back: copies on other machines need the writer's stream. A
// store that is open for writing records in its log that a stream begins, which
// takes a number and syncs the log.
//
// A copy has to take each change once: one that is made again may show a
// version that newer ones had pushed out. doc/store.md says how.
//
// Not thread-safe; the store may be written to meanwhile. Memory: one batch, up
// to three times, and up to 800 bytes for each of its changes. Must be
// destroyed before its store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rocksdb/status.h"
#include "rowbloom/store_options.h"
#include "rowbloom/write_batch.h"

namespace rowbloom {

enum class ChangeKind : uint8_t {
  // A cell or a row was changed: `type` says how.
  kCell,
  // A family was created or altered, or dropped.
  kFamilyKept,
  kFamilyDropped,
  // A bulk load was added to a family, unless it failed: its cells are not in
  // the stream. A copy takes the family anew: truncate it there, load the cells
  // and the deletes of a later checkpoint (Store::NewCellIterator), and pass
  // over the family's changes up to the checkpoint's LatestNumber. A stream of
  // a store that is open for reading ends before a load that is the last change
  // of the log.
  kBulkLoad,
};

// Owns its bytes.
struct StoreChange {
  uint64_t number = 0;  // rising; several changes may share one
  ChangeKind kind = ChangeKind::kCell;
  std::string family;

  // Set for a kCell. A delete of a row is given as a kDeleteFamily of each
  // family. A kRemove or kRemoveFamily stands before a delete that alone would
  // not take all that the store removed.
  ChangeType type = ChangeType::kPut;
  std::string row;
  std::string qualifier;
  // nullopt: a removal, or a delete in a `latest` family. Both take all that
  // was written before them, whatever its timestamp.
  std::optional<uint64_t> timestamp_ms;
  std::string value;               // a put's
  std::optional<uint64_t> ttl_ms;  // a put's own

  // Set for a kFamilyKept: the family's options from then on. Store::Families
  // may have later ones, or another family of that name.
  std::optional<FamilyOptions> options;

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
  // The number after which a later stream continues: that of the last change
  // before the current one, and at the end that of the last change.
  virtual uint64_t number() const = 0;

 protected:
  ChangeStream() = default;
};

}  // namespace rowbloom

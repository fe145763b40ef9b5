// The records that a store has about itself. They are in RocksDB's "default"
// column family, written as FORMAT.md says.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/status.h"
#include "rocksdb/write_batch.h"
#include "rowbloom/key_layout.h"
#include "rowbloom/store_options.h"
#include "storage/cells/cell_versions.h"

namespace rowbloom {

// The store's own record.
struct StoreRecord {
  KeyLayout key_layout = KeyLayout::Escaped();
  // The kinds of entries that may exist.
  RareKinds rare_kinds = kRowDeletes;
};

// A kDeleteFamilyVersion that a load of an earlier rowbloom did not apply to
// the columns of its row. The row may lack the delete.
struct PendingDelete {
  std::string key;  // the record's
  std::string family;
  std::string row;
  uint64_t timestamp_ms = 0;
};

struct Metadata {
  bool exists = false;  // false: the rest is for a new store
  StoreRecord store;
  std::map<std::string, FamilyOptions> families;
  // Families whose drop was not completed.
  std::map<std::string, FamilyOptions> dropped;
  // The numbers of SharedRules::SetMerged, by family; most have none.
  std::map<std::string, uint32_t> merged_versions;
  std::vector<PendingDelete> pending_deletes;
  uint64_t clock_bound_ms = 0;
};

// Names each option that differs, as `bloom_type ROW, not ROWCOL`: the kept
// value first. Empty: the options are equal.
std::string DescribeDifferences(const FamilyOptions& kept,
                                const FamilyOptions& given);

// Reads the records of the database at `path` (for messages). Without a store's
// own record there are none. Errors beside RocksDB's:
//   Corruption    a record is not what any version writes
//   NotSupported  a record is of a later version; the message says which
rocksdb::Status ReadMetadata(rocksdb::DB* db, const std::string& path,
                             Metadata* metadata);

// Adds the contents of one record. Ignores keys of other kinds. Errors are
// those of ReadMetadata, without the name of the record.
rocksdb::Status ReadRecord(std::string_view key, std::string_view value,
                           Metadata* metadata);

// Each adds a record to a batch, which has no limit of bytes. The record of a
// family in one state replaces that in the other.
void PutStoreRecord(const StoreRecord& record, rocksdb::WriteBatch* batch);
enum class FamilyState { kKept, kDropped };
void PutFamilyRecord(FamilyState state, const std::string& name,
                     const FamilyOptions& options, rocksdb::WriteBatch* batch);
// The record of SharedRules::SetMerged; 0 deletes it, as PutFamilyRecord does.
void PutMergedVersions(const std::string& name, uint32_t max_versions,
                       rocksdb::WriteBatch* batch);
// Puts the records of a family that loses its cells: it is dropped and kept
// again, and a stream of changes shows it so.
void PutTruncation(const std::string& name, const FamilyOptions& options,
                   rocksdb::WriteBatch* batch);
void DeleteDroppedRecord(const std::string& name, rocksdb::WriteBatch* batch);
void PutClockRecord(uint64_t bound_ms, rocksdb::WriteBatch* batch);

// Marks in the log that a load adds so many files to a family, by a delete of a
// record that never exists. False: the key of a delete is no mark.
void MarkLoad(const std::string& family, uint64_t files,
              rocksdb::WriteBatch* batch);
bool ReadLoadMark(std::string_view key, std::string* family, uint64_t* files);

// Marks in the log, right after a load, how many sequence numbers it took, by
// another such delete.
inline constexpr uint64_t kUnknownLoadNumbers = UINT32_MAX;
void MarkLoadEnd(uint64_t numbers, rocksdb::WriteBatch* batch);
bool ReadLoadEnd(std::string_view key, uint64_t* numbers);

// Marks in the log that a stream of changes was begun, or that the log was
// synced for a copy, by another such delete.
void MarkStream(rocksdb::WriteBatch* batch);

}  // namespace rowbloom

// The options of a store's family that keep what HBase's family does.
#pragma once

#include "rocksdb/status.h"
#include "rowbloom/store_options.h"
#include "storage/hfile_transfer/hbase_records.h"

namespace rowbloom::hfile_transfer {

// Timestamps are the client's, so that all versions keep theirs. NotSupported:
// a setting that changes which cells are shown, and that a store does not have;
// InvalidArgument: a value that the setting cannot have; Corruption: one that
// HBase always writes is missing. Thread-safe.
rocksdb::Status ToFamilyOptions(const FamilySchema& schema,
                                FamilyOptions* options);

}  // namespace rowbloom::hfile_transfer

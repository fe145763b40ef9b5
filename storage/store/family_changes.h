// Families come, change and go while the store is open: Store::CreateFamily,
// AlterFamily and DropFamily.
//
// Each change is a record, as one synced write, and a step of RocksDB's. The
// order makes sure that a crash between the two leaves something that the next
// open can complete:
//   create  the family's record, then the column family: a record without it is
//           a family to be created
//   drop    a record of the drop in place of the family's, then RocksDB's drop,
//           then the record goes: while it is there the drop is to be done
//   alter   the record alone, which says what the next open does
#pragma once

#include <string>

#include "rocksdb/status.h"
#include "storage/store/database.h"

namespace rowbloom {

// The steps of a drop after its first record. REQUIRES that the column family,
// if there is one, is open.
rocksdb::Status CompleteDrop(const std::string& name, Database* database);

}  // namespace rowbloom

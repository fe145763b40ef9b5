// Families come, change and go while the store is open.
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
#include "rowbloom/store_options.h"
#include "storage/store/database.h"
#include "storage/store/family_options.h"
#include "storage/store/opened_store.h"
#include "storage/store/writer.h"

namespace rowbloom {

// As in Store. REQUIRES a store that is writable.
rocksdb::Status CreateFamily(const std::string& name,
                             const FamilyOptions& options, OpenedStore* opened,
                             Writer* writer);
rocksdb::Status DropFamily(const std::string& name, OpenedStore* opened,
                           Writer* writer);
// The checks of AlterFamily, and the family as it would be.
rocksdb::Status PrepareAlter(const std::string& name,
                             const FamilyOptions& options,
                             const FamilyMap& families,
                             const OpenedStore& opened, FamilySetup* setup);
rocksdb::Status AlterFamily(const std::string& name,
                            const FamilyOptions& options, OpenedStore* opened,
                            Writer* writer);

// The steps of a drop after its first record. REQUIRES that the column family,
// if there is one, is open.
rocksdb::Status CompleteDrop(const std::string& name, Database* database);

}  // namespace rowbloom

// Opens, creates and, after a crash, completes a store. FORMAT.md has the order
// of the steps of a creation; the lock is taken after the first one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/store.h"
#include "storage/cells/clock.h"
#include "storage/store/database.h"

namespace rowbloom {

// Store::Open calls this with the machine's clock. May throw std::bad_alloc.
rocksdb::Status OpenStore(const StoreOptions& options, const std::string& path,
                          const std::vector<FamilyDescriptor>& families,
                          const WallClock& wall_clock,
                          std::unique_ptr<Store>* store);

// Performs the steps of a family's drop after its first record.
rocksdb::Status CompleteDrop(const std::string& name, Database* database);

}  // namespace rowbloom

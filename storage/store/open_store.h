// Opens, creates and, after a crash, completes a store. FORMAT.md has the order
// of the steps of a creation; the lock is taken after the first one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/status.h"
#include "rowbloom/store.h"
#include "storage/cells/clock.h"
#include "storage/store/database.h"

namespace rowbloom {

// The clock and the environment that a store takes from the machine; tests give
// it others.
struct Surroundings {
  WallClock wall_clock = SystemWallClock;
  rocksdb::Env* env = rocksdb::Env::Default();  // outlives the store
};

// Store::Open with other surroundings. May throw std::bad_alloc.
rocksdb::Status OpenStore(const StoreOptions& options, const std::string& path,
                          const std::vector<FamilyDescriptor>& families,
                          const Surroundings& surroundings,
                          std::unique_ptr<Store>* store);

// The steps of a family's drop after its first record.
rocksdb::Status CompleteDrop(const std::string& name, Database* database);

}  // namespace rowbloom

// Opens, creates and, after a crash, completes a store.
//
// Creation writes in this order, so that a crash between any two steps leaves
// something that the next call recognises:
//   1. the directory, and in it the file kCreationMark; then the lock
//   2. an empty RocksDB database
//   3. the store's record and its families' records, as one synced batch
//   4. the RocksDB column families
//   5. the mark is removed
// A directory with the mark and no store record holds nothing of anybody's. A
// family record without its column family is a family whose creation was cut
// short: it has no cells, and the next call that may write creates it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/status.h"
#include "rowbloom/store.h"
#include "storage/store/clock.h"
#include "storage/store/found_store.h"

namespace rowbloom {

// What a store takes from the machine; tests give it others.
struct Surroundings {
  WallClock wall_clock = SystemWallClock;
  rocksdb::Env* env = rocksdb::Env::Default();  // outlives the store
};

// Store::Open with other surroundings. May throw std::bad_alloc.
rocksdb::Status OpenStore(const StoreOptions& options, const std::string& path,
                          const std::vector<FamilyDescriptor>& families,
                          const Surroundings& surroundings,
                          std::unique_ptr<Store>* store);

}  // namespace rowbloom

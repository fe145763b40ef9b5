// RocksDB snapshots, counted (shared_state.h), and the store's over them.
#pragma once

#include "rocksdb/db.h"
#include "rowbloom/read_options.h"
#include "storage/store/opened_store.h"

namespace rowbloom {

// Holds a RocksDB snapshot. `opened` outlives it.
class CountedSnapshot {
 public:
  explicit CountedSnapshot(const OpenedStore& opened) : opened_(opened) {
    ++opened_.shared->snapshots_taken;
    ++opened_.shared->snapshots;
    snapshot_ = opened_.database->GetSnapshot();
  }
  ~CountedSnapshot() {
    opened_.database->ReleaseSnapshot(snapshot_);
    --opened_.shared->snapshots;
  }
  CountedSnapshot(const CountedSnapshot&) = delete;
  CountedSnapshot& operator=(const CountedSnapshot&) = delete;

  const rocksdb::Snapshot* get() const { return snapshot_; }

 private:
  const OpenedStore& opened_;
  const rocksdb::Snapshot* snapshot_ = nullptr;
};

class StoreSnapshot final : public Snapshot {
 public:
  explicit StoreSnapshot(const OpenedStore& opened) : snapshot_(opened) {}
  const rocksdb::Snapshot* get() const { return snapshot_.get(); }

 private:
  const CountedSnapshot snapshot_;
};

// For rocksdb::ReadOptions; nullptr for nullptr.
inline const rocksdb::Snapshot* RocksdbSnapshot(const Snapshot* snapshot) {
  if (snapshot == nullptr) return nullptr;
  return static_cast<const StoreSnapshot*>(snapshot)->get();
}

}  // namespace rowbloom

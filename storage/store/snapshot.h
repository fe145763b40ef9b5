// The store's snapshots: RocksDB's, counted (shared_state.h).
#pragma once

#include "rocksdb/db.h"
#include "rowbloom/read_options.h"
#include "storage/store/opened_store.h"

namespace rowbloom {

// `opened` outlives it.
class CountedSnapshot final : public Snapshot {
 public:
  explicit CountedSnapshot(const OpenedStore& opened) : opened_(opened) {
    ++opened_.shared->snapshots_taken;
    ++opened_.shared->snapshots;
    snapshot_ = opened_.database->GetSnapshot();
  }
  ~CountedSnapshot() override {
    opened_.database->ReleaseSnapshot(snapshot_);
    --opened_.shared->snapshots;
  }

  const rocksdb::Snapshot* get() const { return snapshot_; }

 private:
  const OpenedStore& opened_;
  const rocksdb::Snapshot* snapshot_ = nullptr;
};

// The snapshot for rocksdb::ReadOptions; nullptr for nullptr.
inline const rocksdb::Snapshot* RocksdbSnapshot(const Snapshot* snapshot) {
  if (snapshot == nullptr) return nullptr;
  return static_cast<const CountedSnapshot*>(snapshot)->get();
}

}  // namespace rowbloom

// StoreSnapshot is a RocksDB snapshot with the families of its time.
#pragma once

#include "rocksdb/db.h"
#include "rowbloom/read_options.h"
#include "storage/format/status_text.h"
#include "storage/store/opened_store.h"

namespace rowbloom {

// `opened` outlives it.
class StoreSnapshot final : public Snapshot {
 public:
  explicit StoreSnapshot(const OpenedStore& opened) : opened_(opened) {
    const std::unique_lock no_load(opened_.families->snapshot_mutex);
    do {
      families_ = opened_.families->Get();
      if (snapshot_ != nullptr) opened_.database->ReleaseSnapshot(snapshot_);
      snapshot_ = opened_.database->GetSnapshot();
    } while (!opened_.families->IsPresent(*families_));
  }
  ~StoreSnapshot() override { opened_.database->ReleaseSnapshot(snapshot_); }

  bool IsOf(const OpenedStore& opened) const { return &opened == &opened_; }
  const rocksdb::Snapshot* get() const { return snapshot_; }
  const SharedFamilies& families() const { return families_; }

 private:
  const OpenedStore& opened_;
  SharedFamilies families_;
  const rocksdb::Snapshot* snapshot_ = nullptr;
};

// The snapshot for rocksdb::ReadOptions; nullptr for nullptr.
inline const rocksdb::Snapshot* RocksdbSnapshot(const Snapshot* snapshot) {
  if (snapshot == nullptr) return nullptr;
  return static_cast<const StoreSnapshot*>(snapshot)->get();
}

// Sets *families to those of the read's snapshot, or else to the present ones.
// A family that was truncated since then has a new column family, in which the
// snapshot sees nothing. InvalidArgument: the snapshot is of another store.
inline rocksdb::Status FamiliesAt(const OpenedStore& opened,
                                  const Snapshot* snapshot,
                                  SharedFamilies* families) {
  const auto* const own = static_cast<const StoreSnapshot*>(snapshot);
  if (own != nullptr && !own->IsOf(opened)) {
    return InvalidArgument(opened.path,
                           ": the snapshot is one of another store");
  }
  *families = own == nullptr ? opened.families->Get() : own->families();
  return rocksdb::Status::OK();
}

}  // namespace rowbloom

#include "storage/store/compaction_pause.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "rocksdb/metadata.h"
#include "rocksdb/options.h"

namespace rowbloom {

using rocksdb::ColumnFamilyHandle;
using rocksdb::Status;

CompactionPause::~CompactionPause() {
  // RocksDB has the option in memory even if it cannot write it to a file.
  if (automatic_) SetAutomatic(true).PermitUncheckedError();
}

Status CompactionPause::Begin() {
  Status s = SetAutomatic(false);
  while (s.ok() && AnyRuns()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return s;
}

Status CompactionPause::Settle() {
  rocksdb::FlushOptions flush;
  flush.allow_write_stall = true;
  for (ColumnFamilyHandle* const family : families_) {
    if (Status s = database_->Flush(flush, family); !s.ok()) return s;
  }
  // RocksDB gives readers the newest files whenever options are set.
  return SetAutomatic(false);
}

Status CompactionPause::SetAutomatic(bool automatic) {
  for (ColumnFamilyHandle* const family : families_) {
    Status s = database_->SetOptions(
        family, {{"disable_auto_compactions", automatic ? "false" : "true"}});
    if (!s.ok()) return s;
  }
  return Status::OK();
}

// A file is marked from when a compaction takes it until readers have what
// comes of it (RocksDB 7 and 8), or the family has (9 and later).
bool CompactionPause::AnyRuns() const {
  return std::ranges::any_of(families_, [this](ColumnFamilyHandle* family) {
    rocksdb::ColumnFamilyMetaData files;
    database_->GetColumnFamilyMetaData(family, &files);
    return std::ranges::any_of(
        files.levels, [](const rocksdb::LevelMetaData& level) {
          return std::ranges::any_of(
              level.files, &rocksdb::SstFileMetaData::being_compacted);
        });
  });
}

}  // namespace rowbloom

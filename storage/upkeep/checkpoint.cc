// Store::Checkpoint and Store::Backup.
#include "rocksdb/utilities/checkpoint.h"

#include <memory>
#include <mutex>
#include <string>

#include "rocksdb/write_batch.h"
#include "rowbloom/store.h"
#include "storage/backup/backup_directory.h"
#include "storage/format/directory.h"
#include "storage/format/staging.h"
#include "storage/format/status_text.h"
#include "storage/store/metadata.h"
#include "storage/store/record_files.h"
#include "storage/store/store_impl.h"
#include "storage/upkeep/purge_waker.h"

namespace rowbloom {

using rocksdb::Status;

namespace {

// Checks the MANIFEST of a copy, which RocksDB copies without a checksum: an
// open database does not notice that its own was damaged. Then syncs the log,
// which RocksDB does not: after a power cut, the store would give the numbers
// of changes that the copy has to others.
Status CheckCopy(Store::Impl* store, const std::string& files) {
  const OpenedStore& opened = store->opened;
  std::string manifest;
  Status s = CheckManifest(opened.database->GetEnv(), files,
                           /*is_copy=*/true, &manifest);
  if (!s.ok()) return Prefixed(opened.path + ": the copy of its MANIFEST: ", s);
  s = opened.CheckWritable();
  if (!s.ok()) return s;
  s = opened.database->FlushWAL(/*sync=*/true);
  if (!s.IsNotSupported()) return s;
  // Some file systems cannot sync a log beside writes. A write syncs it.
  rocksdb::WriteBatch mark;
  MarkStream(&mark);
  const std::lock_guard no_records(store->writer.records_mutex);
  return opened.database.WriteSynced(&mark);
}

// Says where RocksDB found damage, if it was in a log: before 9.5 it reads the
// first record of each, and its error does not name the file.
Status Named(const OpenedStore& opened, Status s) {
  rocksdb::VectorLogPtr logs;
  if (!s.IsCorruption()) return s;
  const Status in_logs = opened.database->GetSortedWalFiles(logs);
  if (!in_logs.IsCorruption()) return s;
  return Prefixed(
      opened.path + ": the first record of a log, which LOG names: ", in_logs);
}

}  // namespace

Status Store::Checkpoint(const std::string& directory) {
  return impl_->Change([&]() -> Status {
    const std::string path = WithoutTrailingSlashes(directory);
    if (path.empty()) {
      return Status::InvalidArgument("the path of the checkpoint is empty");
    }
    if (FileExists(GetEnv(), path).ok()) {
      return InvalidArgument(path,
                             " exists: a checkpoint makes a new directory");
    }
    const std::shared_lock unchanged(impl_->opened.families->change_mutex);
    const std::shared_lock no_loads(impl_->opened.families->load_mutex);
    const Writer::LogsAll logs_all(&impl_->writer);
    const PurgeWaker waker(impl_->opened.database.get(), &impl_->compact_mutex);
    rocksdb::Checkpoint* made = nullptr;
    Status s = rocksdb::Checkpoint::Create(impl_->opened.database.get(), &made);
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
    Staging staging(GetEnv(), path, ".checkpointing");
    if (s.ok()) s = staging.Begin();
    if (s.ok()) {
      s = Named(impl_->opened,
                checkpoint->CreateCheckpoint(staging.contents()));
    }
    if (s.ok()) s = CheckCopy(impl_.get(), staging.contents());
    SetPermissions(staging.contents(),
                   PermissionsForCopyOf(impl_->opened.path));
    return s.ok() ? staging.Commit() : s;
  });
}

Status Store::Backup(const std::string& directory, BackupInfo* info) {
  return impl_->Change([&]() -> Status {
    const std::shared_lock unchanged(impl_->opened.families->change_mutex);
    const std::shared_lock no_loads(impl_->opened.families->load_mutex);
    const Writer::LogsAll logs_all(&impl_->writer);
    const PurgeWaker waker(impl_->opened.database.get(), &impl_->compact_mutex);
    const auto check = [this](const std::string& files) {
      return CheckCopy(impl_.get(), files);
    };
    return Named(impl_->opened, CreateBackup(impl_->opened.database.get(),
                                             directory, check, info));
  });
}

}  // namespace rowbloom

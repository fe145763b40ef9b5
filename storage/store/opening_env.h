// RocksDB gets these objects when a store is opened: a listener, the store's
// file system, and an Env with the lock that was taken before.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/listener.h"
#include "rocksdb/status.h"
#include "storage/format/directory.h"
#include "storage/format/held_lock.h"
#include "storage/store/found_store.h"

namespace rowbloom {

class Listener final : public rocksdb::EventListener {
 public:
  // Must be called before the database is opened for writing.
  void SetWrites() { writes_ = true; }
  bool writes() const { return writes_; }
  // Sets the database, which is open for writing.
  void SetDatabase(rocksdb::DB* database) { database_ = database; }

  // The number of memtables that were sealed. RocksDB deletes the log that it
  // writes to only after this has risen.
  uint64_t sealed() const { return sealed_; }
  // Tells whether a write of the MANIFEST may have failed. The MANIFEST may
  // then name files that RocksDB does not count as its own.
  bool lost_manifest() const { return lost_manifest_; }
  // Set while an opening calls CompactFiles, in its thread.
  static void SetCompactsFiles(bool compacts) {
    compacts_files_ = compacts;
    lacks_table_ = false;
  }
  // The error after which the store takes no more changes; OK: none.
  rocksdb::Status error() const {
    if (!is_stopped_) return rocksdb::Status::OK();
    const std::scoped_lock lock(mutex_);
    return error_;
  }

  // Stops the store. RocksDB would continue after some errors: after a
  // compaction ran out of space, writes that have to wait fail until it is
  // closed.
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason,
                         rocksdb::Status* error) override {
    using Reason = rocksdb::BackgroundErrorReason;
    const bool lacks_table = std::exchange(lacks_table_, false);
    // Otherwise each opening would stop changes, the family's drop included.
    if (reason == Reason::kCompaction && compacts_files_ &&
        (error->IsCorruption() || lacks_table)) {
      *error = rocksdb::Status::OK();
      return;
    }
    // A job that lacks a table has not come to the MANIFEST. RocksDB (10 to
    // 11.8.1) calls a failed write of it an error of the job if SetOptions ran
    // meanwhile, and (7.8.3 to 11.8.1) always after CompactFiles.
    const bool is_of_job = reason == Reason::kFlush ||
                           reason == Reason::kFlushNoWAL ||
                           reason == Reason::kCompaction;
    if (reason == Reason::kManifestWrite ||
        reason == Reason::kManifestWriteNoWAL || (is_of_job && !lacks_table)) {
      lost_manifest_ = true;
    }
    Stop(*error);
  }

  // RocksDB calls this for a table that could not be made, too, in the thread
  // of its compaction. A table without entries is no error of the disk.
  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override {
    lacks_table_ = info.status.IsIOError();
  }

  // Stops all changes of the store. The first error given stays its error.
  void Stop(const rocksdb::Status& error) {
    const std::scoped_lock lock(mutex_);
    if (!is_stopped_) error_ = error;
    is_stopped_ = true;
  }

  // Prevents RocksDB's recovery from a full disk, for which closing may wait
  // for ever (seen with 7.8.3). The options prevent recovery from other errors
  // (max_bgerror_resume_count).
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/,
                            rocksdb::Status /*error*/,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }

  // Syncs the old log. RocksDB switches to a new log before it syncs the old
  // one, so the disk may lack the end of the old one. The next opening would
  // not notice that, and continue with the new log. RocksDB calls this while no
  // write runs.
  void OnMemTableSealed(const rocksdb::MemTableInfo& /*info*/) override {
    ++sealed_;
    rocksdb::DB* const database = database_;
    if (database == nullptr) return;
    const rocksdb::Status s = database->SyncWAL();
    if (s.ok()) return;
    // RocksDB continues if the sync of the directory failed. If a log could not
    // be synced, the next sync of it fails an assertion (7.8.3).
    database_ = nullptr;
    if (!s.IsNotSupported()) Stop(s);
  }

 private:
  std::atomic<bool> writes_{false};
  std::atomic<rocksdb::DB*> database_{nullptr};
  std::atomic<uint64_t> sealed_{0};
  std::atomic<bool> lost_manifest_{false};
  static inline thread_local bool compacts_files_ = false;
  // The last table of the thread could not be written.
  static inline thread_local bool lacks_table_ = false;
  std::atomic<bool> is_stopped_{false};
  mutable std::mutex mutex_;  // guards error_
  rocksdb::Status error_;
};

// The file of RocksDB's info log keeps the lines before the first one that the
// disk refuses, and returns no error: after a failed write, the next one would
// fail an assertion (7.8.3 with assertions, as Debian's).
class LogFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::Append;
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;

  rocksdb::IOStatus Append(const rocksdb::Slice& lines,
                           const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    is_full_ = is_full_ ||
               !FSWritableFileOwnerWrapper::Append(lines, options, debug).ok();
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus Flush(const rocksdb::IOOptions& options,
                          rocksdb::IODebugContext* debug) override {
    FSWritableFileOwnerWrapper::Flush(options, debug).PermitUncheckedError();
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus Close(const rocksdb::IOOptions& options,
                          rocksdb::IODebugContext* debug) override {
    FSWritableFileOwnerWrapper::Close(options, debug).PermitUncheckedError();
    return rocksdb::IOStatus::OK();
  }

 private:
  bool is_full_ = false;
};

// A file that ends early.
class CutFile final : public rocksdb::FSSequentialFileOwnerWrapper {
 public:
  CutFile(std::unique_ptr<rocksdb::FSSequentialFile>&& file, uint64_t bytes)
      : FSSequentialFileOwnerWrapper(std::move(file)), left_(bytes) {}

  rocksdb::IOStatus Read(size_t bytes, const rocksdb::IOOptions& options,
                         rocksdb::Slice* result, char* scratch,
                         rocksdb::IODebugContext* debug) override {
    const rocksdb::IOStatus s = FSSequentialFileOwnerWrapper::Read(
        std::min<uint64_t>(bytes, left_), options, result, scratch, debug);
    if (s.ok()) left_ -= result->size();
    return s;
  }
  rocksdb::IOStatus Skip(uint64_t bytes) override {
    bytes = std::min(bytes, left_);
    left_ -= bytes;
    return FSSequentialFileOwnerWrapper::Skip(bytes);
  }

 private:
  uint64_t left_;
};

// The file system of an open store.
//
// A writer has an empty cut. After a failed write of the MANIFEST it deletes no
// SSTs and blob files. RocksDB (7.8.3 to 11.8.1) would delete the files of an
// ingestion or (7.8.3) of CompactFiles, which the MANIFEST may name: the
// database could not be opened again. The next opening deletes the files that
// the MANIFEST does not name.
//
// A reader sees the MANIFEST and the logs as of the beginning of the opening,
// while a writer continues. RocksDB reads the MANIFEST before the log. If a
// writer loaded a file and wrote in between, the database would have the write
// without the load. RocksDB's iterator over logs fails an assertion (7.8.3 with
// assertions, as Debian's) at a record that is newer than the database. It
// reaches that record if the logs lack the numbers before it. Tables and blob
// files need no cut, as RocksDB never changes one.
class StoreFiles final : public rocksdb::FileSystemWrapper {
 public:
  StoreFiles(const std::shared_ptr<rocksdb::FileSystem>& target,
             std::shared_ptr<const Listener> listener, StoreCut cut = {})
      : FileSystemWrapper(target),
        listener_(std::move(listener)),
        cut_(std::move(cut)) {}
  const char* Name() const override { return "rowbloom.StoreFiles"; }

  rocksdb::IOStatus NewWritableFile(
      const std::string& file, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSWritableFile>* opened,
      rocksdb::IODebugContext* debug) override {
    const rocksdb::IOStatus s =
        FileSystemWrapper::NewWritableFile(file, options, opened, debug);
    if (s.ok() && file.ends_with("/LOG")) {
      *opened = std::make_unique<LogFile>(std::move(*opened));
    }
    return s;
  }

  // A database that is open for reading deletes no files. At its end RocksDB
  // (11.1 to 11.5, before their last patches) would delete tables of families
  // that were not opened, as for the records, and all newer ones.
  rocksdb::IOStatus DeleteFile(const std::string& file,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    const bool is_table = file.ends_with(".sst") || file.ends_with(".blob");
    return !listener_->writes() || (is_table && listener_->lost_manifest())
               ? rocksdb::IOStatus::OK()
               : FileSystemWrapper::DeleteFile(file, options, debug);
  }

  // NotSupported: the file system has no hard links. RocksDB then copies the
  // files of checkpoints and loads, but does not know the codes EPERM and
  // ENOSYS (FUSE, such as sshfs) for that. Nor may a symbolic link be linked: a
  // copy would have the link alone.
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override {
    char first = 0;
    if (readlink(from.c_str(), &first, sizeof(first)) > 0) {
      return rocksdb::IOStatus::NotSupported(from, "a symbolic link");
    }
    rocksdb::IOStatus s = FileSystemWrapper::LinkFile(from, to, options, debug);
    if (!s.IsIOError()) return s;
    for (const int error : {EPERM, ENOSYS}) {
      const std::string has_none = std::generic_category().message(error);
      if (s.ToString().find(has_none) != std::string::npos) {
        return rocksdb::IOStatus::NotSupported(has_none);
      }
    }
    return s;
  }

  // Busy: the MANIFEST is newer than the cut.
  rocksdb::IOStatus NewSequentialFile(
      const std::string& file, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSSequentialFile>* opened,
      rocksdb::IODebugContext* debug) override {
    const auto end = cut_.EndOf(file.substr(file.rfind('/') + 1));
    if (!end) return rocksdb::IOStatus::Busy("CURRENT names a new MANIFEST");
    rocksdb::IOStatus s =
        FileSystemWrapper::NewSequentialFile(file, options, opened, debug);
    if (s.ok() && *end != UINT64_MAX) {
      *opened = std::make_unique<CutFile>(std::move(*opened), *end);
    }
    return s;
  }

 private:
  const std::shared_ptr<const Listener> listener_;
  const StoreCut cut_;
};

// The Env of an open store, which outlives the database. RocksDB takes the lock
// when it opens. It gets the one that was taken before the store was inspected,
// so that no other writer changes it in between. No file has a modification
// time in the future.
class StoreEnv final : public rocksdb::EnvWrapper {
 public:
  // The file system of an EnvWrapper calls that wrapper for each call. `path`
  // is RocksDB's, and so the beginning of all its paths.
  StoreEnv(rocksdb::Env* target, std::shared_ptr<rocksdb::FileSystem> files,
           std::shared_ptr<const Listener> listener, const std::string& path)
      : EnvWrapper(target),
        held_lock(target),
        listener_(std::move(listener)),
        archive_(path + "/archive") {
    file_system_ = std::move(files);
    system_clock_ = target->GetSystemClock();
  }
  const char* Name() const override { return "rowbloom.StoreEnv"; }

  rocksdb::Status NewLogger(const std::string& file,
                            std::shared_ptr<rocksdb::Logger>* log) override {
    return rocksdb::NewEnvLogger(file, this, log);
  }

  // These do nothing for a database that is open for reading. Its end
  // (StoreFiles::DeleteFile) would delete logs that its writer keeps, or move
  // them to the archive, and delete the file that is to become CURRENT.
  rocksdb::Status DeleteFile(const std::string& file) override {
    return listener_->writes() ? EnvWrapper::DeleteFile(file)
                               : rocksdb::Status::OK();
  }
  rocksdb::Status RenameFile(const std::string& from,
                             const std::string& to) override {
    return listener_->writes() ? EnvWrapper::RenameFile(from, to)
                               : rocksdb::Status::OK();
  }

  // RocksDB checks whether the archive of logs exists before it lists the logs.
  // At an error it fails an assertion or (7.8.3 without assertions) continues
  // as if there were no logs at all. So errors of the check are hidden, and
  // RocksDB reports that of the listing. Before RocksDB deletes old logs, it
  // lists the archive without a check, and an error stops it, too: that error
  // is hidden.
  rocksdb::Status FileExists(const std::string& file) override {
    rocksdb::Status s = rowbloom::FileExists(target(), file);
    if (file != archive_) return s;
    has_looked_ = !s.IsNotFound();
    return has_looked_ ? rocksdb::Status::OK() : s;
  }
  rocksdb::Status GetChildren(const std::string& directory,
                              std::vector<std::string>* children) override {
    rocksdb::Status s = EnvWrapper::GetChildren(directory, children);
    if (directory != archive_) return s;
    const bool reports = std::exchange(has_looked_, false) && !s.IsNotFound();
    return reports ? s : rocksdb::Status::OK();
  }

  // RocksDB (7.8.3 to 9.10) computes the age of a kept log as an unsigned
  // number, and deletes a log that was written after it read the clock. A clock
  // that is set back makes such logs, and so does the next second.
  rocksdb::Status GetFileModificationTime(const std::string& file,
                                          uint64_t* time_s) override {
    int64_t now_s = 0;
    rocksdb::Status s = GetCurrentTime(&now_s);
    if (s.ok()) s = EnvWrapper::GetFileModificationTime(file, time_s);
    if (!s.ok()) return s;
    const int64_t earlier_s = std::max<int64_t>(now_s - 2, 0);
    *time_s = std::min(*time_s, static_cast<uint64_t>(earlier_s));
    return s;
  }

  rocksdb::Status LockFile(const std::string& file,
                           rocksdb::FileLock** lock) override {
    *lock = held_lock.Release();
    return *lock != nullptr ? rocksdb::Status::OK()
                            : EnvWrapper::LockFile(file, lock);
  }

  // The database's lock. Unless RocksDB has taken it, this object releases it.
  HeldLock held_lock;

 private:
  const std::shared_ptr<const Listener> listener_;
  const std::string archive_;
  static inline thread_local bool has_looked_ = false;
};

}  // namespace rowbloom

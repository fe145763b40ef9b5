// The objects that RocksDB is given when a store is opened: a listener, the
// store's files, and an Env with the lock, which was taken before.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
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
  // Sets the database, which is open for writing.
  void SetDatabase(rocksdb::DB* database) { database_ = database; }

  // The number of memtables that were sealed. RocksDB deletes the log that it
  // writes to only after this has risen.
  uint64_t sealed() const { return sealed_; }
  // Tells whether a write of the MANIFEST failed, which may name files that
  // RocksDB does not count as its own.
  bool lost_manifest() const { return lost_manifest_; }
  // The error after which the store takes no more changes; OK: none.
  rocksdb::Status error() const {
    if (!is_stopped_) return rocksdb::Status::OK();
    const std::scoped_lock lock(mutex_);
    return error_;
  }

  // RocksDB would go on after some errors: after that of a compaction without
  // space it lets writes fail, until it is closed, that have to wait.
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason,
                         rocksdb::Status* error) override {
    using Reason = rocksdb::BackgroundErrorReason;
    if (reason == Reason::kManifestWrite ||
        reason == Reason::kManifestWriteNoWAL) {
      lost_manifest_ = true;
    }
    Stop(*error);
  }

  // Stops all changes of the store, whose error is the first one given.
  void Stop(const rocksdb::Status& error) {
    const std::scoped_lock lock(mutex_);
    if (!is_stopped_) error_ = error;
    is_stopped_ = true;
  }

  // From a full disk RocksDB would recover by itself, but closing may then wait
  // for that for ever (seen with 7.8.3). From other errors the options keep it
  // (max_bgerror_resume_count).
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/,
                            rocksdb::Status /*error*/,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }

  // RocksDB goes on in a new log before it syncs the old one, whose end the
  // disk may then lack. The next opening would not notice that, and go on with
  // the new log. RocksDB calls this while no write goes on.
  void OnMemTableSealed(const rocksdb::MemTableInfo& /*info*/) override {
    ++sealed_;
    rocksdb::DB* const database = database_;
    if (database == nullptr) return;
    const rocksdb::Status s = database->SyncWAL();
    if (s.ok()) return;
    // RocksDB goes on if the sync of the directory failed, and stops with an
    // assertion (7.8.3) when a log is synced again that could not be.
    database_ = nullptr;
    if (!s.IsNotSupported()) Stop(s);
  }

 private:
  std::atomic<rocksdb::DB*> database_{nullptr};
  std::atomic<uint64_t> sealed_{0};
  std::atomic<bool> lost_manifest_{false};
  std::atomic<bool> is_stopped_{false};
  mutable std::mutex mutex_;  // guards error_
  rocksdb::Status error_;
};

// The file of RocksDB's info log keeps the lines before the first one that the
// disk refuses. RocksDB stops with an assertion at a write after one that
// failed (7.8.3 with assertions, as Debian's).
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

// The files of an open store.
//
// A writer has an empty cut, and deletes no SSTs and blob files any more after
// a failed write of the MANIFEST. RocksDB (7.8.3 to 11.8.1) deletes the files
// of an ingestion then, which the MANIFEST may name: the database could not be
// opened again. The next opening deletes those that it does not name.
//
// A reader has the MANIFEST and the logs as they were when the opening began,
// beside a writer that goes on. RocksDB reads the MANIFEST before the log. If a
// writer loaded a file and wrote in between, the database would have the write
// without the load. RocksDB's iterator over logs stops with an assertion (7.8.3
// with assertions, as Debian's) at a record that is newer than the database,
// which it meets where numbers before that one are missing in the logs. Tables
// and blob files are as they are; RocksDB never changes one.
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

  rocksdb::IOStatus DeleteFile(const std::string& file,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    const bool is_table = file.ends_with(".sst") || file.ends_with(".blob");
    return is_table && listener_->lost_manifest()
               ? rocksdb::IOStatus::OK()
               : FileSystemWrapper::DeleteFile(file, options, debug);
  }

  // Busy: a MANIFEST that came after the cut.
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

// The Env of an open store, which outlives it. RocksDB, which takes the lock
// when it opens, is given the one that was taken before anything was looked at:
// nobody writes between the look and the opening. No file has a time of the
// future.
class StoreEnv final : public rocksdb::EnvWrapper {
 public:
  // The file system of an EnvWrapper calls that wrapper for each call.
  StoreEnv(rocksdb::Env* target, std::shared_ptr<rocksdb::FileSystem> files,
           const std::string& path)
      : EnvWrapper(target),
        held_lock(target),
        archive_(WithoutTrailingSlashes(path) + "/archive") {
    file_system_ = std::move(files);
    system_clock_ = target->GetSystemClock();
  }
  const char* Name() const override { return "rowbloom.StoreEnv"; }

  rocksdb::Status NewLogger(const std::string& file,
                            std::shared_ptr<rocksdb::Logger>* log) override {
    return rocksdb::NewEnvLogger(file, this, log);
  }

  // RocksDB looks whether the archive of logs is there before it lists the
  // logs. If it gets an error, it stops with an assertion or (7.8.3 without
  // assertions) goes on as if there were no logs at all. Here it lists the
  // archive, whose error it reports. Before it deletes old logs it lists the
  // archive without a look, and an error stops it, too: it finds none here.
  rocksdb::Status FileExists(const std::string& file) override {
    rocksdb::Status s = EnvWrapper::FileExists(file);
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

  // RocksDB (7.8.3 to 9.10) takes the age of a kept log for a number without
  // a sign, and deletes a log that was written after it took the present time.
  // Clocks that are set back make such logs, and so does the next second.
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

  // The database's. Unless RocksDB has taken it over, it goes with this object.
  HeldLock held_lock;

 private:
  const std::string archive_;
  static inline thread_local bool has_looked_ = false;
};

}  // namespace rowbloom

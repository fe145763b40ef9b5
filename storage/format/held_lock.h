// A lock file, which has one holder in all processes, also if they reach it by
// different paths.
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "rocksdb/env.h"
#include "rocksdb/status.h"
#include "storage/format/directory.h"

namespace rowbloom {

// The lock files that this process holds, by their directory and name. RocksDB
// compares only paths, so that a second path would give the same lock again.
// The system grants a process any lock that it already has, and releases the
// lock as soon as the process closes the file once. So a file that is held must
// not even be opened. Thread-safe.
class LocksOfProcess {
 public:
  using Inode = std::pair<dev_t, ino_t>;
  using Key = std::pair<Inode, std::string>;

  // Never destroyed: a store in a static object is closed while the process
  // ends.
  static LocksOfProcess& Get() {
    static auto* locks = new LocksOfProcess;
    return *locks;
  }

  // nullopt: the system has no such directory. Paths of an Env with other files
  // are taken for the system's: Take may return Busy for such a lock although
  // it is free.
  static std::optional<Key> KeyOf(const std::string& file) {
    const std::optional<Inode> directory = InodeOf(ParentOf(file));
    if (!directory) return std::nullopt;
    return Key(*directory, file.substr(file.find_last_of('/') + 1));
  }

  // nullopt: the system has no such file.
  static std::optional<Inode> InodeOf(const std::string& file) {
    struct stat found {};
    if (stat(file.c_str(), &found) != 0) return std::nullopt;
    return Inode(found.st_dev, found.st_ino);
  }

  // False: it is held.
  bool Add(const Key& key) {
    const std::lock_guard lock(mutex_);
    return held_.insert(key).second;
  }
  void Remove(const Key& key) {
    const std::lock_guard lock(mutex_);
    held_.erase(key);
  }

 private:
  std::mutex mutex_;
  std::set<Key> held_;
};

// A lock, which is released with this object.
class HeldLock {
 public:
  explicit HeldLock(rocksdb::Env* env) : env_(env) {}
  ~HeldLock() {
    if (lock_ != nullptr) env_->UnlockFile(lock_).PermitUncheckedError();
    if (key_) LocksOfProcess::Get().Remove(*key_);
  }
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;

  // Takes the lock, and creates the file if necessary. Busy, with `busy` as
  // message: this process or another one holds it. REQUIRES that this object
  // has none.
  rocksdb::Status Take(const std::string& file, const std::string& busy) {
    std::optional<LocksOfProcess::Key> key = LocksOfProcess::KeyOf(file);
    if (key && !LocksOfProcess::Get().Add(*key)) {
      return rocksdb::Status::Busy(busy);
    }
    key_ = std::move(key);
    // The file is created like others, so that syncing its directory keeps it.
    rocksdb::Status s = FileExists(env_, file);
    if (s.IsNotFound()) s = rocksdb::WriteStringToFile(env_, "", file);
    const std::optional<LocksOfProcess::Inode> locked =
        LocksOfProcess::InodeOf(file);
    if (s.ok()) s = env_->LockFile(file, &lock_);
    // The previous holder may have deleted the file: then the lock is on a file
    // that no other caller finds.
    if (s.ok() && LocksOfProcess::InodeOf(file) != locked) {
      env_->UnlockFile(std::exchange(lock_, nullptr)).PermitUncheckedError();
      s = rocksdb::Status::Busy(busy);
    }
    if (!s.ok() && key_) {
      LocksOfProcess::Get().Remove(*key_);
      key_.reset();
    }
    if (!s.IsIOError()) return s;
    // RocksDB has no code for a held lock. Its message says that this process
    // holds the lock, or is the system's for EAGAIN if another process does.
    const std::string message = s.ToString();
    const bool is_held =
        message.find("lock hold by current process") != message.npos ||
        message.find(std::generic_category().message(EAGAIN)) != message.npos;
    return is_held ? rocksdb::Status::Busy(busy) : s;
  }

  // Returns the lock, which the caller then owns; nullptr: it is not held. This
  // object has to outlive it: until then no other caller in this process gets
  // it. Threads may call this at once where the lock is not held.
  rocksdb::FileLock* Release() {
    return lock_ == nullptr ? nullptr : std::exchange(lock_, nullptr);
  }

 private:
  rocksdb::Env* const env_;
  rocksdb::FileLock* lock_ = nullptr;
  std::optional<LocksOfProcess::Key> key_;
};

}  // namespace rowbloom

// A lock file: one holder, in this process and all others, by whatever path it
// is reached.
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
// knows its own by their paths alone, so that a second path would lead to the
// same lock; the system gives a process any lock that it has, and takes it away
// when the process closes the file once. So a file that is held must not even
// be opened. Thread-safe.
class LocksOfProcess {
 public:
  using Inode = std::pair<dev_t, ino_t>;
  using Key = std::pair<Inode, std::string>;

  static LocksOfProcess& Get() {
    static LocksOfProcess locks;
    return locks;
  }

  // nullopt: the system has no such directory. A path of an Env that leads
  // elsewhere is taken for the system's: such a lock may be busy though nobody
  // has it.
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

// A lock, which is given up with this object.
class HeldLock {
 public:
  explicit HeldLock(rocksdb::Env* env) : env_(env) {}
  ~HeldLock() {
    if (lock_ != nullptr) env_->UnlockFile(lock_).PermitUncheckedError();
    if (key_) LocksOfProcess::Get().Remove(*key_);
  }
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;

  // Takes the lock, creating the file if need be. Busy, with `busy` as message:
  // somebody has it, in this process or another one. REQUIRES that this object
  // has none.
  rocksdb::Status Take(const std::string& file, const std::string& busy) {
    std::optional<LocksOfProcess::Key> key = LocksOfProcess::KeyOf(file);
    if (key && !LocksOfProcess::Get().Add(*key)) {
      return rocksdb::Status::Busy(busy);
    }
    // A file like others, which stays once its directory is synced.
    rocksdb::Status s = env_->FileExists(file);
    if (s.IsNotFound()) s = rocksdb::WriteStringToFile(env_, "", file);
    const std::optional<LocksOfProcess::Inode> locked =
        LocksOfProcess::InodeOf(file);
    if (s.ok()) s = env_->LockFile(file, &lock_);
    // The holder before may have deleted the file: the lock would be on one
    // that nobody else finds.
    if (s.ok() && LocksOfProcess::InodeOf(file) != locked) {
      env_->UnlockFile(std::exchange(lock_, nullptr)).PermitUncheckedError();
      s = rocksdb::Status::Busy(busy);
    }
    if (s.ok()) {
      key_ = std::move(key);
    } else if (key) {
      LocksOfProcess::Get().Remove(*key);
    }
    if (!s.IsIOError()) return s;
    // RocksDB has no code for it. It says in words that this process has the
    // lock, and gives the system's words for EAGAIN when another process does.
    const std::string message = s.ToString();
    const bool is_held =
        message.find("lock hold by current process") != message.npos ||
        message.find(std::generic_category().message(EAGAIN)) != message.npos;
    return is_held ? rocksdb::Status::Busy(busy) : s;
  }

  // The lock, which is the caller's from now on; nullptr: it is not held. This
  // object has to outlive it: until then nobody else in this process gets it.
  rocksdb::FileLock* Release() { return std::exchange(lock_, nullptr); }

 private:
  rocksdb::Env* const env_;
  rocksdb::FileLock* lock_ = nullptr;
  std::optional<LocksOfProcess::Key> key_;
};

}  // namespace rowbloom

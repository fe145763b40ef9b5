// The lock of a store, from before the first look at it until it is closed.
#pragma once

#include <string>

#include "rocksdb/env.h"
#include "rocksdb/status.h"
#include "storage/format/directory.h"

namespace rowbloom {

// The Env of a store that is open for writing, which outlives it. The lock is
// taken before anything is looked at; RocksDB, which takes the same one when it
// opens, is given this. So nobody writes between the look and the opening.
class LockingEnv final : public rocksdb::EnvWrapper {
 public:
  explicit LockingEnv(rocksdb::Env* target)
      : EnvWrapper(target), lock_(target) {
    // EnvWrapper's own would come back to it for each call.
    file_system_ = target->GetFileSystem();
    system_clock_ = target->GetSystemClock();
  }
  const char* Name() const override { return "rowbloom.LockingEnv"; }

  // HeldLock::Take. Unless RocksDB has taken it over, the lock goes with this
  // object.
  rocksdb::Status Take(const std::string& file, const std::string& busy) {
    file_ = file;
    return lock_.Take(file, busy);
  }

  rocksdb::Status LockFile(const std::string& file,
                           rocksdb::FileLock** lock) override {
    *lock = file == file_ ? lock_.Release() : nullptr;
    return *lock != nullptr ? rocksdb::Status::OK()
                            : EnvWrapper::LockFile(file, lock);
  }

 private:
  std::string file_;
  HeldLock lock_;
};

}  // namespace rowbloom

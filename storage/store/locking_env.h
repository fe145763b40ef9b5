// The lock of a store, from before the first look at it until it is closed.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "rocksdb/env.h"
#include "rocksdb/status.h"
#include "storage/format/directory.h"

namespace rowbloom {

// The Env of a store that is open for writing, which outlives it. The lock is
// taken before anything is looked at; RocksDB, which takes the same one when it
// opens, is given this. So nobody writes between the look and the opening.
class LockingEnv final : public rocksdb::EnvWrapper {
 public:
  explicit LockingEnv(rocksdb::Env* target) : EnvWrapper(target) {
    // EnvWrapper's own would come back to it for each call.
    file_system_ = target->GetFileSystem();
    system_clock_ = target->GetSystemClock();
  }
  ~LockingEnv() override {
    if (lock_ != nullptr) UnlockFile(lock_).PermitUncheckedError();
  }
  LockingEnv(const LockingEnv&) = delete;
  LockingEnv& operator=(const LockingEnv&) = delete;

  const char* Name() const override { return "rowbloom.LockingEnv"; }

  // TakeLock. Unless RocksDB has taken it over, the lock goes with this object.
  rocksdb::Status Take(const std::string& file, const std::string& busy) {
    file_ = file;
    return TakeLock(target(), file, busy, &lock_);
  }

  rocksdb::Status LockFile(const std::string& file,
                           rocksdb::FileLock** lock) override {
    if (lock_ == nullptr || file != file_) {
      return EnvWrapper::LockFile(file, lock);
    }
    *lock = std::exchange(lock_, nullptr);
    return rocksdb::Status::OK();
  }

 private:
  std::string file_;
  rocksdb::FileLock* lock_ = nullptr;
};

}  // namespace rowbloom

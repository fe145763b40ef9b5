// The objects that RocksDB is given when a store is opened: the lock, which was
// taken before, the info log, which begins when the store is accepted, and a
// listener.
#pragma once

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/listener.h"
#include "rocksdb/options.h"
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

// A log that keeps its lines in memory until it is started. RocksDB's own moves
// the old LOG away before it looks at the database, and a refused store stays
// as it is. Thread-safe.
class LateLog final : public rocksdb::Logger {
 public:
  using Logger::Logv;

  void Logv(const rocksdb::InfoLogLevel level, const char* format,
            va_list arguments) override {
    const std::scoped_lock lock(mutex_);
    if (target_ != nullptr) target_->Logv(level, format, arguments);
    if (started_) return;
    char line[kMaxLineBytes];
    std::vsnprintf(line, sizeof(line), format, arguments);
    early_.emplace_back(level, line);
  }

  void Flush() override {
    const std::scoped_lock lock(mutex_);
    if (target_ != nullptr) target_->Flush();
  }

  // Goes on in the options' info log, with the lines so far; if they have none,
  // in a LOG in the directory, as RocksDB would have with these options. If
  // that fails, RocksDB works without, as it would have.
  void Start(const std::string& directory, const rocksdb::DBOptions& options) {
    const std::scoped_lock lock(mutex_);
    target_ = options.info_log;
    if (target_ == nullptr) {
      rocksdb::CreateLoggerFromOptions(directory, options, &target_)
          .PermitUncheckedError();
    }
    started_ = true;
    for (const auto& [level, line] : std::exchange(early_, {})) {
      rocksdb::Log(level, target_, "%s", line.c_str());
    }
  }

 private:
  static constexpr size_t kMaxLineBytes = 1024;

  std::mutex mutex_;
  std::shared_ptr<rocksdb::Logger> target_;
  bool started_ = false;  // from then on without target_: no lines are kept
  std::vector<std::pair<rocksdb::InfoLogLevel, std::string>> early_;
};

class Listener final : public rocksdb::EventListener {
 public:
  // Sets the database, which is open for writing.
  void SetDatabase(rocksdb::DB* database) { database_ = database; }

  // After an error in the background RocksDB takes no more writes. From a full
  // disk it would recover by itself, but closing may then wait for that for
  // ever (seen with 7.8.3).
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/,
                            rocksdb::Status /*error*/,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }

  // RocksDB goes on in a new log before it syncs the old one, whose end the
  // disk may then lack. The next opening would not notice that, and go on with
  // the new log. RocksDB calls this while no write goes on.
  void OnMemTableSealed(const rocksdb::MemTableInfo& /*info*/) override {
    rocksdb::DB* const database = database_;
    // After an error RocksDB takes no more writes, and stops with an assertion
    // (7.8.3) when a log is synced again that could not be.
    if (database != nullptr && !database->SyncWAL().ok()) database_ = nullptr;
  }

 private:
  std::atomic<rocksdb::DB*> database_{nullptr};
};

}  // namespace rowbloom

// The Env of a store that is open for reading, whose logs end where the opening
// read them to.
//
// A writer goes on with its logs. RocksDB's iterator over them stops with an
// assertion (7.8.3 with assertions, as Debian's) at a record that is newer than
// the database that it belongs to, which it meets where numbers before that one
// are missing in the logs.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"

namespace rowbloom {

// Thread-safe.
class FrozenLogs final : public rocksdb::FileSystemWrapper {
 public:
  explicit FrozenLogs(const std::shared_ptr<rocksdb::FileSystem>& target)
      : FileSystemWrapper(target) {}
  const char* Name() const override { return "rowbloom.FrozenLogs"; }

  // From now on a log that was read has the bytes that were read of it, and a
  // newer log has none. Older ones are complete.
  void Freeze() {
    const std::lock_guard lock(mutex_);
    frozen_ = true;
  }

  rocksdb::IOStatus NewSequentialFile(
      const std::string& file, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSSequentialFile>* opened,
      rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus s =
        FileSystemWrapper::NewSequentialFile(file, options, opened, debug);
    if (s.ok() && file.ends_with(".log")) {
      std::string_view name = file;
      name.remove_prefix(name.rfind('/') + 1);
      uint64_t number = 0;
      std::from_chars(name.data(), name.data() + name.size(), number);
      Note(number, 0);
      *opened = std::make_unique<Log>(this, number, std::move(*opened));
    }
    return s;
  }

 private:
  class Log final : public rocksdb::FSSequentialFileOwnerWrapper {
   public:
    Log(FrozenLogs* logs, uint64_t number,
        std::unique_ptr<rocksdb::FSSequentialFile>&& file)
        : FSSequentialFileOwnerWrapper(std::move(file)),
          logs_(*logs),
          number_(number) {}

    rocksdb::IOStatus Read(size_t bytes, const rocksdb::IOOptions& options,
                           rocksdb::Slice* result, char* scratch,
                           rocksdb::IODebugContext* debug) override {
      const uint64_t end = logs_.EndOf(number_);
      bytes = std::min<uint64_t>(bytes, end - std::min(end, at_));
      const rocksdb::IOStatus s = FSSequentialFileOwnerWrapper::Read(
          bytes, options, result, scratch, debug);
      if (s.ok()) at_ += result->size();
      logs_.Note(number_, at_);
      return s;
    }
    rocksdb::IOStatus Skip(uint64_t bytes) override {
      at_ += bytes;
      return FSSequentialFileOwnerWrapper::Skip(bytes);
    }

   private:
    FrozenLogs& logs_;
    const uint64_t number_;
    uint64_t at_ = 0;
  };

  void Note(uint64_t number, uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (frozen_) return;
    uint64_t& read = read_[number];
    read = std::max(read, bytes);
  }
  uint64_t EndOf(uint64_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = read_.find(number);
    if (!frozen_) return UINT64_MAX;
    if (found != read_.end()) return found->second;
    const bool is_older = !read_.empty() && number < read_.rbegin()->first;
    return is_older ? UINT64_MAX : 0;
  }

  std::mutex mutex_;
  bool frozen_ = false;
  std::map<uint64_t, uint64_t> read_;  // bytes of logs, by number
};

class ReadingEnv final : public rocksdb::EnvWrapper {
 public:
  explicit ReadingEnv(rocksdb::Env* target)
      : EnvWrapper(target),
        logs_(std::make_shared<FrozenLogs>(target->GetFileSystem())) {
    file_system_ = logs_;
    system_clock_ = target->GetSystemClock();
  }
  const char* Name() const override { return "rowbloom.ReadingEnv"; }

  void FreezeLogs() { logs_->Freeze(); }

 private:
  const std::shared_ptr<FrozenLogs> logs_;
};

}  // namespace rowbloom

// RocksDB's info log of a store that is being opened.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/options.h"

namespace rowbloom {

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

  // Begins a LOG in the directory, with the lines so far, as RocksDB would have
  // with these options. If that fails, RocksDB works without, as it would have.
  void Start(const std::string& directory, rocksdb::DBOptions options) {
    const std::scoped_lock lock(mutex_);
    options.info_log = nullptr;
    rocksdb::CreateLoggerFromOptions(directory, options, &target_)
        .PermitUncheckedError();
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

}  // namespace rowbloom

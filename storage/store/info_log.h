// RocksDB's info log, LOG, as lines of a file. RocksDB's own logger stops the
// process with an assertion at the line after one that a full disk refused, if
// RocksDB was built with assertions, as Debian's 7.8.3 is.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "rocksdb/env.h"

namespace rowbloom {

// Thread-safe, throws nothing. Lines that cannot be written are dropped, and so
// are all that follow.
class InfoLog final : public rocksdb::Logger {
 public:
  explicit InfoLog(std::unique_ptr<rocksdb::WritableFile> file)
      : file_(std::move(file)) {}
  ~InfoLog() override { InfoLog::Flush(); }
  InfoLog(const InfoLog&) = delete;
  InfoLog& operator=(const InfoLog&) = delete;

  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    try {
      const std::string line = Now() + Formatted(format, arguments);
      const std::scoped_lock lock(mutex_);
      lines_ += line;
      if (lines_.back() != '\n') lines_.push_back('\n');
      if (lines_.size() >= kBufferBytes) Write();
    } catch (...) {
      // There was no memory for the line. RocksDB takes no exceptions.
    }
  }

  // RocksDB calls it when it has opened, flushed or compacted something.
  void Flush() override {
    const std::scoped_lock lock(mutex_);
    Write();
  }

 protected:
  rocksdb::Status CloseImpl() override {
    InfoLog::Flush();
    return rocksdb::Status::OK();
  }

 private:
  static constexpr size_t kBufferBytes = size_t{64} << 10;

  // The local time, as RocksDB's own lines begin, and the thread.
  static std::string Now() {
    rocksdb::Env* const env = rocksdb::Env::Default();
    const uint64_t now_us = env->NowMicros();
    char text[64];
    const int size =
        std::snprintf(text, sizeof(text), "%.19s.%06d %llu ",
                      env->TimeToString(now_us / 1'000'000).c_str(),
                      static_cast<int>(now_us % 1'000'000),
                      static_cast<unsigned long long>(env->GetThreadID()));
    return {text, static_cast<size_t>(size)};
  }

  static std::string Formatted(const char* format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    const int size = std::vsnprintf(nullptr, 0, format, again);
    va_end(again);
    if (size <= 0) return {};
    std::string text(static_cast<size_t>(size), '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, arguments);
    return text;
  }

  void Write() {
    if (file_ != nullptr && !file_->Append(lines_).ok()) file_.reset();
    lines_.clear();
  }

  std::mutex mutex_;  // guards these two
  std::unique_ptr<rocksdb::WritableFile> file_;
  std::string lines_;
};

}  // namespace rowbloom

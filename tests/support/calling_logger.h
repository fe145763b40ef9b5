// A logger that tells a test what RocksDB logs.
#pragma once

#include <array>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <string_view>
#include <utility>

#include "rocksdb/env.h"

namespace rowbloom::test {

// Calls back with each line, cut to 4 KiB, on the thread that logs it, which
// waits; several may at one time.
class CallingLogger final : public rocksdb::Logger {
 public:
  using Callback = std::function<void(std::string_view line)>;

  explicit CallingLogger(Callback on_line) : on_line_(std::move(on_line)) {}

  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    std::array<char, 4096> line{};
    std::vsnprintf(line.data(), line.size(), format, arguments);
    on_line_(line.data());
  }

 private:
  const Callback on_line_;
};

}  // namespace rowbloom::test

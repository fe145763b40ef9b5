// Functions that turn exceptions into statuses: none leaves the library.
#pragma once

#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "rocksdb/status.h"
#include "storage/format/status_text.h"

namespace rowbloom {

// Returns the status of `body`, or one for its exception. RocksDB throws
// nothing; our own code throws when memory runs out, a callback anything.
template <typename Body>
rocksdb::Status CatchExceptions(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return rocksdb::Status::MemoryLimit();  // a message would take memory
  } catch (const std::exception& error) {
    return rocksdb::Status::Aborted(error.what());
  } catch (...) {
    return rocksdb::Status::Aborted("an exception that is no std::exception");
  }
}

// Returns MemoryLimit, with the name of a file if there is memory for the name.
inline rocksdb::Status NoMemoryFor(std::string_view path) noexcept {
  try {
    return MemoryLimit(path, ": no memory");
  } catch (...) {
    return rocksdb::Status::MemoryLimit();
  }
}

// Returns the status of `body`, which reads or writes the file at `path`, or
// NoMemoryFor(path) if `body` has no memory.
template <typename Body>
rocksdb::Status CatchNoMemory(std::string_view path, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return NoMemoryFor(path);
  }
}

}  // namespace rowbloom

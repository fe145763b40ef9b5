// The edge of the library, which no exception crosses.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "rocksdb/status.h"

namespace rowbloom {

// Returns the status of `body`, or one that stands for its exception. RocksDB
// throws nothing; our own code throws when memory runs out.
template <typename Body>
rocksdb::Status CatchExceptions(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return rocksdb::Status::MemoryLimit();  // a message would take memory
  } catch (const std::exception& error) {
    return rocksdb::Status::Aborted(error.what());
  }
}

}  // namespace rowbloom

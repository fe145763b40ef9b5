// The parts of a Store, once it is open (open_store.h opens it).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "rowbloom/store.h"
#include "storage/format/no_exceptions.h"
#include "storage/store/opened_store.h"
#include "storage/store/writer.h"

namespace rowbloom {

class Store::Impl {
 public:
  explicit Impl(OpenedStore of_store)
      : opened(std::move(of_store)), writer(opened) {}

  // `body`, unless the store is open for reading only.
  template <typename Body>
  rocksdb::Status Change(Body body) {
    return CatchExceptions([&]() -> rocksdb::Status {
      rocksdb::Status s = opened.CheckWritable();
      return s.ok() ? body() : s;
    });
  }

  OpenedStore opened;
  std::atomic<uint64_t> next_load{0};
  // Held by each compaction that is asked for and by each load that waits for
  // compactions, before compact_mutex.
  std::mutex pause_mutex;
  std::mutex compact_mutex;  // held by each compaction that is asked for
  std::mutex flush_mutex;
  Writer writer;
};

}  // namespace rowbloom

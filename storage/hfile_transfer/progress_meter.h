// Counts what is transferred, and calls the callback with it.
#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/status.h"
#include "rowbloom/hfile_transfer.h"

namespace rowbloom::hfile_transfer {

class ProgressMeter {
 public:
  explicit ProgressMeter(const HFileProgressCallback& callback)
      : callback_(callback) {}

  void Expect(uint64_t cells) { progress_.expected_cells += cells; }

  // Both: Incomplete when the callback wants an end.
  rocksdb::Status CountCell(uint64_t bytes) {
    ++progress_.cells;
    progress_.cell_bytes += bytes;
    if (progress_.cells % kCellsPerCall != 0) return rocksdb::Status::OK();
    return Tell();
  }
  rocksdb::Status CountFile() {
    ++progress_.files;
    return Tell();
  }

 private:
  static constexpr uint64_t kCellsPerCall = 1000;

  rocksdb::Status Tell() const {
    if (!callback_ || callback_(progress_)) return rocksdb::Status::OK();
    return rocksdb::Status::Incomplete("stopped after " +
                                       std::to_string(progress_.cells) +
                                       " cells, on request");
  }

  const HFileProgressCallback& callback_;
  HFileProgress progress_;
};

}  // namespace rowbloom::hfile_transfer

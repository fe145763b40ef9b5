// HFiles beside RocksDB's SSTs: the same cells, written, walked through and
// asked for, in one run; beside them what memory and codec alone take; and
// HFiles in every encoding of data blocks, beside each other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cells.h"
#include "bench/comparison.h"
#include "rocksdb/status.h"

namespace rowbloom::bench {

enum class HFileBenchCodec : uint8_t { kNone, kLz4 };

struct HFileBenchOptions {
  HFileBenchCodec codec = HFileBenchCodec::kLz4;
  // Bloom questions of either kind, and seeks.
  uint64_t questions = 100'000;
  // Measuring time for each comparison.
  double seconds = 2;
  uint64_t seed = 1;
  // Only operations whose name has this in it.
  std::string only;
  // Exists; gets files.
  std::string dir;
  // Told what is being done, if set.
  std::function<void(std::string_view)> on_step;
};

struct HFileBenchResult {
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t hfile_bytes = 0;
  uint64_t sst_bytes = 0;
  std::vector<Comparison> comparisons;
};

// Blocks of 64 KiB on both sides, and a Bloom filter of rows at 1 %. The cells
// have one family and one timestamp, which SSTs keep in front of the value.
// Errors: Corruption when a file gives other cells or a filter denies a row
// that is there; others as RocksDB and the files report them.
rocksdb::Status BenchHFile(const Cells& cells, const HFileBenchOptions& options,
                           HFileBenchResult* result);

}  // namespace rowbloom::bench

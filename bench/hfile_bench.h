// HFiles beside RocksDB's SSTs: the same cells, written, walked through and
// asked for, in one run; beside them what memory and codec alone take; and
// HFiles in every encoding of data blocks, beside each other.
#pragma once

#include <cstdint>
#include <string>

#include "bench/cells.h"
#include "bench/comparison.h"
#include "rocksdb/status.h"

namespace rowbloom::bench {

enum class HFileBenchCodec : uint8_t { kNone, kLz4 };

struct HFileBenchOptions {
  HFileBenchCodec codec = HFileBenchCodec::kLz4;
  // Bloom lookups of either kind, and seeks.
  uint64_t questions = 100'000;
  uint64_t seed = 1;
  // Exists; gets files.
  std::string dir;
};

struct HFileBenchSizes {
  uint64_t hfile_bytes = 0;
  uint64_t sst_bytes = 0;
};

// Blocks of 64 KiB on both sides, and a Bloom filter of rows at 1 %. The cells
// have one family and one timestamp, which SSTs keep in front of the value.
// Errors: Corruption when a file gives other cells or a filter denies a row
// that is there; others as RocksDB and the files report them.
rocksdb::Status BenchHFile(const Cells& cells, const HFileBenchOptions& options,
                           Bench* bench, HFileBenchSizes* sizes);

}  // namespace rowbloom::bench

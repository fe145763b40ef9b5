// HFiles beside RocksDB's SSTs: the same cells are written, walked through and
// looked up in one run. Memory and codec alone stand beside them, and HFiles in
// every encoding of data blocks beside each other.
#pragma once

#include <cstdint>
#include <string>

#include "bench/cells.h"
#include "bench/comparison.h"
#include "rocksdb/status.h"
#include "rowbloom/hfile_format.h"

namespace rowbloom::bench {

struct HFileBenchOptions {
  HFileCompression codec = HFileCompression::kLz4;  // or kNone
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

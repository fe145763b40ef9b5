// The embedded store beside RocksDB used directly, in one run: the same cells
// under the same keys, in databases with the options that the store wrote down
// for its own. The difference is the work that the store adds: it turns names
// into keys, assigns timestamps, locks rows and hands cells over.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/cells.h"
#include "bench/comparison.h"
#include "rocksdb/status.h"

namespace rowbloom::bench {

struct StoreBenchOptions {
  // The number of files in level 0 in the tree of many files; rows are dealt
  // over them.
  uint64_t files = 16;
  // Operations drawn for each kind of read.
  uint64_t questions = 20'000;
  // Loads of each contender.
  uint64_t loads = 6;
  // Cells in the larger of two files that are asked for absent rows; at least
  // 100,000, those of the smaller one.
  uint64_t cells_in_file = 1'000'000;
  // Writes of one cell.
  uint64_t updates = 100'000;
  // Rows of the databases of the mixes, and operations drawn for each mix.
  uint64_t mix_rows = 100'000;
  uint64_t mix_operations = 200'000;
  uint64_t seed = 1;
  // Exists; gets directories of databases, which must not exist.
  std::string db_dir;

  // The path of a database of this name.
  std::string Path(const std::string& name) const {
    return (std::filesystem::path(db_dir) / name).string();
  }
};

// The memory that a load holds: the growth of the process's memory at its peak.
struct LoadMemory {
  uint64_t cells = 0;
  uint64_t cell_bytes = 0;             // rows, qualifiers and values
  std::optional<uint64_t> peak_bytes;  // nullopt: the system does not tell
};

// `cells` are those of `input`, in which order they are loaded. Errors:
//   InvalidArgument  fewer rows than files
//   Corruption       an answer was wrong; the message says which
//   others           as the store or RocksDB report them
// The directories that were made stay in every case.
rocksdb::Status BenchStore(const std::vector<InputCell>& input,
                           const Cells& cells, const StoreBenchOptions& options,
                           Bench* bench, std::vector<LoadMemory>* load_memory);

}  // namespace rowbloom::bench

// The embedded store beside RocksDB used directly: the same cells under the
// same keys, in databases with the options that the store wrote down for its
// own, in one run. What the store adds is then all that differs: names that
// become keys, timestamps, row locks, cells that are handed over.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
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
  // Measuring time for each comparison.
  double seconds = 2;
  // Loads of each contender.
  uint64_t loads = 5;
  // Cells in the larger of two files that are asked for absent rows; at least
  // 100,000, those of the smaller one.
  uint64_t cells_in_file = 1'000'000;
  // Writes of one cell.
  uint64_t updates = 100'000;
  uint64_t seed = 1;
  // Only operations whose name has this in it.
  std::string only;
  // Exists; gets directories of databases, which must not exist.
  std::string db_dir;
  // Told what is being done, if set.
  std::function<void(std::string_view)> on_step;

  bool Wants(std::string_view what) const {
    return what.find(only) != std::string_view::npos;
  }
  // The path of a database of this name.
  std::string Path(const std::string& name) const {
    return (std::filesystem::path(db_dir) / name).string();
  }
  void Step(std::string_view text) const {
    if (on_step) on_step(text);
  }
};

// The memory that a load holds: the growth of the process's memory at its peak.
struct LoadMemory {
  uint64_t cells = 0;
  uint64_t cell_bytes = 0;             // rows, qualifiers and values
  std::optional<uint64_t> peak_bytes;  // nullopt: the system does not tell
};

struct StoreBenchResult {
  uint64_t rows = 0;
  uint64_t cells = 0;
  std::vector<Comparison> comparisons;
  std::vector<LoadMemory> load_memory;
};

// `cells` are those of `input`, in which order they are loaded. Errors:
//   InvalidArgument  fewer rows than files
//   Corruption       an answer was wrong; the message says which
//   others           as the store or RocksDB report them
// The directories that were made stay in every case.
rocksdb::Status BenchStore(const std::vector<InputCell>& input,
                           const Cells& cells, const StoreBenchOptions& options,
                           StoreBenchResult* result);

}  // namespace rowbloom::bench

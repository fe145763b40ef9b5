// Compares filter settings of RocksDB on the same bytes.
//
// CompareFilters writes the cells that it is given into one database for each
// setting. The databases differ in nothing but the filter: the same keys in the
// same files, all in level 0, so that a get may have to ask every one of them.
// Then it runs the same operations on each, checks every answer, and counts how
// many files the filters skipped and how many they let be opened for nothing.
//
//   Comparison comparison;
//   rocksdb::Status s = CompareFilters(std::move(cells), {.db_dir = "/tmp/x"},
//                                      &comparison);
//
// One thread, everything in the block cache: the counts are exact and repeat
// with the seed, the times are those of a CPU-bound reader.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cells.h"
#include "rocksdb/status.h"

namespace rowbloom::bench {

enum class Setting : uint8_t {
  kNone,   // no filter
  kStock,  // RocksDB's Bloom filter, 10 bits per key, prefix + whole key
  kRow,    // rowbloom ROW, 10 bits per row
  // rowbloom ROWCOL, at most the bytes of kStock and close to them. Where files
  // are too small for that (some 100 cells), 10 bits per key.
  kRowCol,
};
inline constexpr std::array<Setting, 4> kAllSettings = {
    Setting::kNone, Setting::kStock, Setting::kRow, Setting::kRowCol};

// As the table prints it.
std::string_view ToString(Setting setting);

enum class Kind : uint8_t {
  kGetPresent,       // a cell that exists
  kGetAbsentRow,     // a cell of a row that does not exist
  kGetAbsentColumn,  // a cell that an existing row does not have
  kScanAbsentRow,    // all cells of a row that does not exist
};
inline constexpr std::array<Kind, 4> kAllKinds = {
    Kind::kGetPresent, Kind::kGetAbsentRow, Kind::kGetAbsentColumn,
    Kind::kScanAbsentRow};

std::string_view ToString(Kind kind);

struct CompareOptions {
  // Flushes, and so files, of each database. At least 1, at most the rows.
  size_t files = 8;
  // Deals the cells of each row over the files, instead of whole rows: the
  // worst case for filters by row.
  bool spread_rows = false;
  // The number of operations of each kind, by the kind's number; kinds with 0
  // are left out.
  std::array<uint64_t, kAllKinds.size()> operations = {50'000, 50'000, 50'000,
                                                       50'000};
  // Decides which row is in which file and which names are asked for.
  uint64_t seed = 1;
  // True if the operations are run a second time for their times.
  bool measure_times = true;
  // Each at most once. kRowCol REQUIRES kStock before it.
  std::vector<Setting> settings = {kAllSettings.begin(), kAllSettings.end()};
  // Exists; gets a directory for each setting, which must not exist.
  std::string db_dir;
  // Told what is being done, if set.
  std::function<void(std::string_view)> on_step;
};

// The result of one kind of operation under one setting.
struct KindResult {
  uint64_t operations = 0;
  uint64_t found = 0;
  // Files that an operation had to look at, unless a filter said no: those up
  // to the one with the answer. The same for all settings.
  uint64_t files_considered = 0;
  uint64_t files_skipped = 0;  // of these, ruled out by the filter
  uint64_t wrong_opens = 0;    // of these, opened without holding the answer
  double median_us = 0;        // 0 unless measure_times
  double p99_us = 0;

  double SkippedPercent() const {
    return files_considered == 0 ? 0
                                 : 100.0 * static_cast<double>(files_skipped) /
                                       static_cast<double>(files_considered);
  }
};

struct SettingResult {
  Setting setting{};
  double bits_per_key = 0;  // as set; 0 for kNone
  uint64_t filter_bytes = 0;
  uint64_t files = 0;
  uint64_t file_bytes = 0;
  std::array<KindResult, kAllKinds.size()> kinds;
  std::vector<std::string> sst_files;  // paths

  const KindResult& operator[](Kind kind) const {
    return kinds[static_cast<size_t>(kind)];
  }
};

struct Comparison {
  uint64_t rows = 0;
  uint64_t cells = 0;
  // Cells of the input that a later one of the same name replaced.
  uint64_t replaced = 0;
  std::vector<SettingResult> settings;  // in the order asked for
};

// Errors:
//   InvalidArgument  too few rows for so many files, settings that contradict
//                    each other, a row that is too long or an empty name
//   Corruption       an answer was wrong, or the settings were not asked the
//                    same question: the message says which
//   others           as RocksDB reports them
// The directories that were made stay in every case.
rocksdb::Status CompareFilters(std::vector<InputCell> input,
                               const CompareOptions& options,
                               Comparison* comparison);

}  // namespace rowbloom::bench

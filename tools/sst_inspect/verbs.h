// The verbs that tell about one file. Each prints what README.md says, and
// returns kFindings when the file is damaged, kUnreadable when it cannot be
// read or the request does not fit it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/report.h"
#include "tools/sst_inspect/table_file.h"

namespace rowbloom::sst_inspect {

// Prints the facts that the file gives about itself. Reads no data.
ExitCode PrintSummary(const TableFile& file, const Output& output);
// Its lines, "size" and "1.2 MiB (1258291 bytes)".
void ForEachSummaryLine(
    const TableFile& file,
    const std::function<void(std::string_view name, const std::string& text)>&
        line);

// Each property, numbers decoded.
struct PropsOptions {
  bool hex = false;
};
ExitCode PrintProps(const TableFile& file, const PropsOptions& options,
                    const Output& output);

// Each block of the file, with the verdict of its checksum.
ExitCode PrintLayout(const TableFile& file, const Output& output);

// Each entry of the index: the block, and the key up to which it goes.
struct IndexOptions {
  bool hex = false;
};
ExitCode PrintIndex(const TableFile& file, const IndexOptions& options,
                    const Output& output);

struct DataOptions {
  std::optional<std::string> row;   // as the application has it
  std::optional<std::string> from;  // keys as in the file, without timestamps
  std::optional<std::string> to;    // not included
  uint64_t limit = UINT64_MAX;
  std::string key_layout;  // empty: the file's
  bool raw = false;        // keys are not split
  bool hex = false;
};
// The cells, a line each, and the range deletions.
ExitCode PrintData(const TableFile& file, const DataOptions& options,
                   const Output& output);

struct VerifyOptions {
  std::string key_layout;  // empty: the file's
};
// Reads everything and checks each block, the order of keys, the index against
// the data, the properties against both, and the filter for each key and row.
ExitCode PrintVerify(const TableFile& file, const VerifyOptions& options,
                     const Output& output);

struct StatsOptions {
  std::string key_layout;  // empty: the file's
  size_t biggest = 10;     // rows to list
  bool hex = false;
};
// Counts, sizes and their histograms, the biggest rows.
ExitCode PrintStats(const TableFile& file, const StatsOptions& options,
                    const Output& output);

struct MeasureOptions {
  uint64_t count = 100'000;  // each kind of absent key
  uint64_t seed = 1;
  std::string key_layout;  // empty: the file's
};
// Asks the filter for keys that the file does not have, made of those that it
// has.
ExitCode PrintMeasure(const TableFile& file, const MeasureOptions& options,
                      const Output& output);

struct AdviseOptions {
  double false_positive_rate = 0.01;
  double files = 1;          // that a read considers
  double files_per_row = 0;  // 0: all of them
  std::string key_layout;    // empty: the file's
};
// Prints the filter that this data wants, and the cost of the present one.
ExitCode PrintAdvice(const TableFile& file, const AdviseOptions& options,
                     const Output& output);

struct DiffOptions {
  uint64_t limit = 20;  // differing cells to print; all are counted
  bool hex = false;
};
// Prints how two files differ, in properties and cells. kFindings if they do.
ExitCode PrintDiff(const TableFile& a, const TableFile& b,
                   const DiffOptions& options, const Output& output);

}  // namespace rowbloom::sst_inspect

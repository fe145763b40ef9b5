// The cost of filters, that of a file or of many: their bytes, and the files
// that reads open for nothing. `advise` prints it beside what it recommends.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/advise.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/table_file.h"

namespace rowbloom::sst_inspect {

// The filter that a file has. Its rates are weighted by the sizes of its
// partitions.
struct PresentFilter {
  std::string name = "none";
  uint64_t bytes = 0;
  // The rates of rowbloom's sections, or those of RocksDB's own filter for
  // prefixes and for whole keys.
  bool has_sections = false;
  SectionRates sections;
  double prefix = 1;
  double key = 1;

  // The wrong opens of the file, as PredictWrongOpens has them.
  WrongOpens Opens(double row_spread) const;
};

// Error: the filter cannot be read.
rocksdb::Status ReadPresentFilter(const TableFile& file, PresentFilter* filter);

struct FilterCost {
  std::string which;  // "present", "advised" or "alternative"
  std::string name;
  uint64_t bytes = 0;
  WrongOpens opens;  // per read, over all files that it considers
};

// `times` as many wrong opens.
WrongOpens Scaled(const WrongOpens& opens, double times);

// The advice for a file, or for a family of a database.
struct AdviceReport {
  std::string path;
  std::string family;  // empty: a file
  std::string layout;
  uint64_t rows = 0;
  uint64_t cells = 0;
  double files = 1;  // that a read considers
  const Advice& advice;
  std::vector<FilterCost> costs;  // the present one first
  // More lines of a family, names and texts; and members of its record.
  std::vector<std::pair<std::string, std::string>> lines;
  std::vector<std::pair<std::string, double>> members;
};

void Print(const AdviceReport& report, const Output& output);

}  // namespace rowbloom::sst_inspect

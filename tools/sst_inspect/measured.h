// The rates that `measure-fpr` finds, and how it prints them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/table_file.h"

namespace rowbloom::sst_inspect {

// The results for one kind of absent key.
struct Measured {
  std::string_view question;
  uint64_t asked = 0;
  uint64_t passed = 0;
  double predicted = 0;  // sum over all lookups
};

// A line for each, with the interval of its rate. REQUIRES that each was asked.
void PrintMeasured(const TableFile& file, uint64_t seed,
                   const std::vector<Measured>& results, const Output& output);

}  // namespace rowbloom::sst_inspect

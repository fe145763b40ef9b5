// The findings of a verb in a file, and the names of tools/cli for its output.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "tools/cli/output.h"
#include "tools/cli/record.h"
#include "tools/cli/report.h"
#include "tools/cli/table.h"
#include "tools/cli/text.h"
#include "tools/sst_inspect/model.h"

namespace rowbloom::sst_inspect {

using cli::Describe;
using cli::Diagnostics;
using cli::ExitCode;
using cli::Fail;
using cli::Grouped;
using cli::HumanBytes;
using cli::Judge;
using cli::Listing;
using cli::Output;
using cli::Percent;
using cli::PercentRange;
using cli::Prints;
using cli::Record;
using cli::Require;
using cli::Table;
using cli::WithoutControls;

// Prints the findings of a verb in a file one by one. Not thread-safe.
class PrintedFindings final : public Findings {
 public:
  // The path and the output must outlive it.
  PrintedFindings(const std::string& path, const Output& output,
                  uint64_t most_printed = UINT64_MAX)
      : path_(path), output_(output), most_printed_(most_printed) {}

  // Counts the problem, and prints the first `most_printed` of them.
  void Problem(std::string_view sentence) override;
  void MoreProblems(uint64_t count) override;
  void Failure(const rocksdb::Status& status) override { Failure(status, ""); }
  // Prints a problem with `place` before it.
  void Failure(const rocksdb::Status& status, std::string_view place);
  void Note(const std::string& sentence) override;
  bool all_is_well() const override { return worst_ == ExitCode::kOk; }

  ExitCode worst() const { return worst_; }
  uint64_t problems() const { return problems_; }

 private:
  void Print(std::string_view kind, std::string_view sentence) const;

  const std::string& path_;
  const Output& output_;
  const uint64_t most_printed_;
  ExitCode worst_ = ExitCode::kOk;
  uint64_t problems_ = 0;
  std::set<std::string> notes_;
};

}  // namespace rowbloom::sst_inspect

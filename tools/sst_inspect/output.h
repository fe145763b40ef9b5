// The streams and the form of a verb's output, what it finds in a file, and the
// parts of tools/cli that it is made of.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <set>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "tools/cli/record.h"
#include "tools/cli/report.h"
#include "tools/cli/text.h"

namespace rowbloom::sst_inspect {

using cli::Describe;
using cli::Diagnostics;
using cli::ExitCode;
using cli::Fail;
using cli::Grouped;
using cli::HumanAndExactBytes;
using cli::HumanBytes;
using cli::Judge;
using cli::Percent;
using cli::PercentRange;
using cli::Ratio;
using cli::Record;
using cli::Require;
using cli::Table;
using cli::ToHex;
using cli::UtcText;
using cli::WithoutControls;

struct Output {
  std::ostream& out;       // data
  const Diagnostics& err;  // diagnostics
  bool json = false;       // a Record for each thing, instead of tables
};

// Prints what a verb finds in a file as it comes. Not thread-safe.
class Findings {
 public:
  // The path and the output must outlive it.
  Findings(const std::string& path, const Output& output,
           uint64_t most_printed = UINT64_MAX)
      : path_(path), output_(output), most_printed_(most_printed) {}

  // Prints the sentence if it is among the first ones, and counts all.
  void Problem(std::string_view sentence);
  // The problems that were counted beyond those told.
  void MoreProblems(uint64_t count);
  // A problem, with its place before it, or an error of what could not be read.
  void Failure(const rocksdb::Status& status, std::string_view place = "");
  // Why something was not checked.
  void Note(const std::string& sentence);

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

// The text, cut to some 40 bytes: one that is longer leaves no table readable.
std::string Shortened(const std::string& text);

}  // namespace rowbloom::sst_inspect

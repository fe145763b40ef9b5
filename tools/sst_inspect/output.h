// The streams and the form of a verb's output, and the parts of tools/cli that
// it is made of.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

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

// Prints a "problem" or a "note", a sentence about the file of this path.
void PrintRemark(const Output& output, std::string_view path,
                 std::string_view kind, std::string_view sentence);

// The text, cut to some 40 bytes: one that is longer leaves no table readable.
std::string Shortened(const std::string& text);

}  // namespace rowbloom::sst_inspect

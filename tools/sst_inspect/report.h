// Exit codes, and the form of diagnostics: one line on standard error each.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "rocksdb/status.h"

namespace rowbloom::sst_inspect {

// The exit codes of the process. The greatest one met counts. Scripts rely on
// the numbers.
enum class ExitCode : int {
  kOk = 0,
  kFindings = 1,    // a table file is damaged
  kUnreadable = 2,  // wrong usage, or something that cannot be read at all
};

// Prints "sst_inspect: MESSAGE". Returns kUnreadable.
ExitCode ReportUsage(std::string_view message, std::ostream& err);

// Prints the message of a status that is not OK. Returns kFindings for
// Corruption, else kUnreadable.
ExitCode ReportStatus(const rocksdb::Status& status, std::ostream& err);

// The message of a status, fit for a terminal.
std::string MessageOf(const rocksdb::Status& status);

}  // namespace rowbloom::sst_inspect

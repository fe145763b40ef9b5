#include "tools/sst_inspect/report.h"

#include <ostream>
#include <string>

#include "tools/sst_inspect/text.h"

namespace rowbloom::sst_inspect {

ExitCode ReportUsage(std::string_view message, std::ostream& err) {
  err << "sst_inspect: " << message << "\n";
  return ExitCode::kUnreadable;
}

ExitCode ReportStatus(const rocksdb::Status& status, std::ostream& err) {
  err << "sst_inspect: " << MessageOf(status) << "\n";
  return status.IsCorruption() ? ExitCode::kFindings : ExitCode::kUnreadable;
}

std::string MessageOf(const rocksdb::Status& status) {
  const char* message = status.getState();
  return WithoutControls(message == nullptr ? status.ToString() : message);
}

}  // namespace rowbloom::sst_inspect

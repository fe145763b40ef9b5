#include "tools/rowbloom/report.h"

#include <ostream>

namespace rowbloom::cli {

ExitCode FailedBy(int signal) {
  constexpr int kSignalBase = 128;
  if (signal == 0) return ExitCode::kFailed;
  return static_cast<ExitCode>(kSignalBase + signal);
}

std::string Describe(const rocksdb::Status& status) {
  const bool speaks_for_itself = status.IsInvalidArgument() ||
                                 status.IsNotFound() || status.IsNotSupported();
  if (speaks_for_itself && status.getState() != nullptr) {
    return status.getState();
  }
  return status.ToString();
}

void Complain(std::ostream& err, std::string_view problem) {
  err << "rowbloom: " << problem << "\n";
}

ExitCode Fail(std::ostream& err, std::string_view problem) {
  Complain(err, problem);
  return ExitCode::kFailed;
}

ExitCode Fail(std::ostream& err, const rocksdb::Status& status) {
  return Fail(err, Describe(status));
}

}  // namespace rowbloom::cli

#include "tools/rowbloom/report.h"

#include <ostream>

namespace rowbloom::cli {

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

}  // namespace rowbloom::cli

#include "tools/sst_inspect/output.h"

#include <fmt/format.h>

#include <algorithm>

namespace rowbloom::sst_inspect {

void PrintedFindings::Problem(std::string_view sentence) {
  MoreProblems(1);
  if (problems_ <= most_printed_) Print("problem", sentence);
}

void PrintedFindings::MoreProblems(uint64_t count) {
  problems_ += count;
  if (count > 0) worst_ = std::max(worst_, ExitCode::kFinding);
}

void PrintedFindings::Failure(const rocksdb::Status& status,
                              std::string_view place) {
  if (status.IsCorruption()) {
    Problem(std::string(place) + Describe(status));
  } else {
    worst_ = std::max(worst_, Judge(output_.err, status));
  }
}

void PrintedFindings::Note(const std::string& sentence) {
  if (notes_.insert(sentence).second) Print("note", sentence);
}

void PrintedFindings::Print(std::string_view kind,
                            std::string_view sentence) const {
  if (output_.json) {
    output_.Print(Record(kind, path_).Text(kind, WithoutControls(sentence)));
  } else {
    output_.Line(fmt::format("  {}: {}", kind, sentence));
  }
}

}  // namespace rowbloom::sst_inspect

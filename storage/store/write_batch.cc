#include "rowbloom/write_batch.h"

namespace rowbloom {

void WriteBatch::Put(std::string_view row, std::string_view family,
                     std::string_view qualifier, std::string_view value,
                     OptionalTimestamp timestamp_ms) {
  changes_.push_back({ChangeType::kPut, std::string(row), std::string(family),
                      std::string(qualifier), std::string(value),
                      timestamp_ms});
}

void WriteBatch::Delete(std::string_view row, std::string_view family,
                        std::string_view qualifier,
                        OptionalTimestamp timestamp_ms) {
  changes_.push_back({ChangeType::kDelete, std::string(row),
                      std::string(family), std::string(qualifier), "",
                      timestamp_ms});
}

void WriteBatch::DeleteVersion(std::string_view row, std::string_view family,
                               std::string_view qualifier,
                               uint64_t timestamp_ms) {
  changes_.push_back({ChangeType::kDeleteVersion, std::string(row),
                      std::string(family), std::string(qualifier), "",
                      timestamp_ms});
}

void WriteBatch::DeleteFamily(std::string_view row, std::string_view family,
                              OptionalTimestamp timestamp_ms) {
  changes_.push_back({ChangeType::kDeleteFamily, std::string(row),
                      std::string(family), "", "", timestamp_ms});
}

void WriteBatch::DeleteRow(std::string_view row,
                           OptionalTimestamp timestamp_ms) {
  changes_.push_back(
      {ChangeType::kDeleteRow, std::string(row), "", "", "", timestamp_ms});
}

}  // namespace rowbloom

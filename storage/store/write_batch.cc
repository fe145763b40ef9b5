#include "rowbloom/store.h"

namespace rowbloom {

void WriteBatch::Put(std::string_view row, std::string_view family,
                     std::string_view qualifier, std::string_view value) {
  changes_.push_back({ChangeType::kPut, std::string(row), std::string(family),
                      std::string(qualifier), std::string(value)});
}

void WriteBatch::Delete(std::string_view row, std::string_view family,
                        std::string_view qualifier) {
  changes_.push_back({ChangeType::kDelete,
                      std::string(row),
                      std::string(family),
                      std::string(qualifier),
                      {}});
}

void WriteBatch::DeleteRow(std::string_view row) {
  changes_.push_back({ChangeType::kDeleteRow, std::string(row), {}, {}, {}});
}

}  // namespace rowbloom

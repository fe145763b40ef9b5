#include "rowbloom/write_batch.h"

namespace rowbloom {

void WriteBatch::Add(ChangeType type, std::string_view row,
                     std::string_view family, std::string_view qualifier,
                     std::string_view value, OptionalTimestamp timestamp_ms) {
  const size_t before = bytes_.size();
  const auto keep = [this](std::string_view bytes) {
    const Bytes kept{bytes_.size(), bytes.size()};
    bytes_.append(bytes);
    return kept;
  };
  try {
    Change change{.type = type, .timestamp_ms = timestamp_ms};
    const Change* const last = changes_.empty() ? nullptr : &changes_.back();
    change.row =
        last != nullptr && View(last->row) == row ? last->row : keep(row);
    change.family = last != nullptr && View(last->family) == family
                        ? last->family
                        : keep(family);
    change.qualifier = keep(qualifier);
    change.value = keep(value);
    changes_.push_back(change);
  } catch (...) {
    bytes_.resize(before);
    throw;
  }
}

void WriteBatch::Put(std::string_view row, std::string_view family,
                     std::string_view qualifier, std::string_view value,
                     OptionalTimestamp timestamp_ms) {
  Add(ChangeType::kPut, row, family, qualifier, value, timestamp_ms);
}

void WriteBatch::Delete(std::string_view row, std::string_view family,
                        std::string_view qualifier,
                        OptionalTimestamp timestamp_ms) {
  Add(ChangeType::kDelete, row, family, qualifier, {}, timestamp_ms);
}

void WriteBatch::DeleteVersion(std::string_view row, std::string_view family,
                               std::string_view qualifier,
                               uint64_t timestamp_ms) {
  Add(ChangeType::kDeleteVersion, row, family, qualifier, {}, timestamp_ms);
}

void WriteBatch::DeleteFamily(std::string_view row, std::string_view family,
                              OptionalTimestamp timestamp_ms) {
  Add(ChangeType::kDeleteFamily, row, family, {}, {}, timestamp_ms);
}

void WriteBatch::DeleteFamilyVersion(std::string_view row,
                                     std::string_view family,
                                     uint64_t timestamp_ms) {
  Add(ChangeType::kDeleteFamilyVersion, row, family, {}, {}, timestamp_ms);
}

void WriteBatch::DeleteRow(std::string_view row,
                           OptionalTimestamp timestamp_ms) {
  Add(ChangeType::kDeleteRow, row, {}, {}, {}, timestamp_ms);
}

}  // namespace rowbloom

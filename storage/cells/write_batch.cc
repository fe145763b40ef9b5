#include "rowbloom/write_batch.h"

#include <iterator>

#include "lib/block/hash.h"
#include "storage/format/coding.h"

namespace rowbloom {

std::string EncodeCounter(int64_t counter) {
  std::string bytes;
  PutBig<uint64_t>(&bytes, static_cast<uint64_t>(counter));
  return bytes;
}

bool DecodeCounter(std::string_view bytes, int64_t* counter) {
  if (bytes.size() != sizeof *counter) return false;
  *counter = static_cast<int64_t>(LoadBig<uint64_t>(bytes.data()));
  return true;
}

void WriteBatch::Add(const Change& change) {
  const size_t before = bytes_.size();
  const auto keep = [this](std::string_view bytes) {
    const Bytes kept{bytes_.size(), bytes.size()};
    bytes_.append(bytes);
    return kept;
  };
  try {
    KeptChange kept{.type = change.type,
                    .timestamp_ms = change.timestamp_ms,
                    .ttl_ms = change.ttl_ms};
    const KeptChange* const last =
        changes_.empty() ? nullptr : &changes_.back();
    kept.row = last != nullptr && View(last->row) == change.row
                   ? last->row
                   : keep(change.row);
    kept.family = last != nullptr && View(last->family) == change.family
                      ? last->family
                      : keep(change.family);
    kept.qualifier = keep(change.qualifier);
    kept.value = keep(change.value);
    changes_.push_back(kept);
  } catch (...) {
    bytes_.resize(before);
    throw;
  }
}

std::vector<Change> WriteBatch::Changes() const {
  std::vector<Change> changes;
  changes.reserve(changes_.size());
  for (size_t i = 0; i < size(); ++i) changes.push_back(ChangeAt(i));
  return changes;
}

std::vector<Change> WriteBatch::ChangesFor(std::string_view row,
                                           std::string_view family,
                                           std::string_view qualifier) {
  for (size_t place = index_.size() / 2; place < size(); ++place) {
    const Change change = ChangeAt(place);
    const uint64_t of_row = HashRow(change.row);
    index_.emplace(of_row, place);
    index_.emplace(IsOfWholeRow(change.type)
                       ? ~of_row
                       : HashRowCol(of_row, change.qualifier),
                   place);
  }
  std::vector<Change> changes;
  // Other cells with the same hash do no harm, other rows would.
  const auto add = [&](uint64_t hash, size_t begin, size_t end) {
    const auto last = index_.lower_bound({hash, end});
    for (auto it = index_.lower_bound({hash, begin}); it != last; ++it) {
      const Change change = ChangeAt(it->second);
      if (change.row == row &&
          (change.family == family || change.type == ChangeType::kDeleteRow)) {
        changes.push_back(change);
      }
    }
  };
  const uint64_t of_row = HashRow(row);
  size_t of_row_end = 0;
  const auto after = index_.lower_bound({~of_row, size()});
  if (after != index_.begin() && std::prev(after)->first == ~of_row) {
    of_row_end = std::prev(after)->second + 1;
  }
  add(of_row, 0, of_row_end);
  add(HashRowCol(of_row, qualifier), of_row_end, size());
  return changes;
}

Change WriteBatch::ChangeAt(size_t place) const {
  const KeptChange& kept = changes_[place];
  return {kept.type,         View(kept.row),
          View(kept.family), View(kept.qualifier),
          View(kept.value),  kept.timestamp_ms,
          kept.ttl_ms};
}

}  // namespace rowbloom

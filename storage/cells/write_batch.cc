#include "rowbloom/write_batch.h"

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
  for (const KeptChange& kept : changes_) {
    changes.push_back({kept.type, View(kept.row), View(kept.family),
                       View(kept.qualifier), View(kept.value),
                       kept.timestamp_ms, kept.ttl_ms});
  }
  return changes;
}

}  // namespace rowbloom

#include "storage/store/cell_versions.h"

#include <algorithm>

namespace rowbloom {
namespace {

constexpr size_t kVersionBytes = 1;
constexpr size_t kTypeBytes = 1;
constexpr size_t kTimestampBytes = 8;
constexpr int kBitsPerLengthByte = 7;
constexpr size_t kMaxLengthBytes = 5;  // of a value of up to kMaxValueBytes

void AppendHead(ChangeType type, uint64_t timestamp_ms, uint64_t value_bytes,
                std::string* stored) {
  stored->push_back(static_cast<char>(type));
  for (size_t i = 0; i < kTimestampBytes; ++i) {
    stored->push_back(static_cast<char>(timestamp_ms >> (8 * i)));
  }
  if (type != ChangeType::kPut) return;
  for (; value_bytes >= 0x80; value_bytes >>= kBitsPerLengthByte) {
    stored->push_back(static_cast<char>(value_bytes | 0x80));
  }
  stored->push_back(static_cast<char>(value_bytes));
}

void AppendEntry(const Entry& entry, std::string* stored) {
  AppendHead(entry.type, entry.timestamp_ms, entry.value.size(), stored);
  stored->append(entry.value);
}

// Reads a stored value from front to back; the first problem stays.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

  bool AtEnd() const { return offset_ == bytes_.size(); }
  bool ok() const { return problem_.empty(); }
  std::string& problem() { return problem_; }
  size_t offset() const { return offset_; }

  void Fail(size_t offset, const std::string& expected,
            const std::string& found) {
    if (!ok()) return;
    problem_ = "at offset " + std::to_string(offset) + " of " +
               std::to_string(bytes_.size()) + ": expected " + expected +
               ", found " + found;
  }

  uint8_t TakeByte(const char* what) {
    const std::string_view taken = Take(1, what);
    return taken.empty() ? 0 : static_cast<uint8_t>(taken[0]);
  }

  uint64_t TakeTimestamp() {
    const size_t start = offset_;
    const std::string_view taken = Take(kTimestampBytes, "a timestamp");
    uint64_t timestamp_ms = 0;
    for (size_t i = 0; i < taken.size(); ++i) {
      timestamp_ms |= uint64_t{static_cast<uint8_t>(taken[i])} << (8 * i);
    }
    if (timestamp_ms > kMaxTimestampMs) {
      Fail(start, "a timestamp up to " + std::to_string(kMaxTimestampMs),
           std::to_string(timestamp_ms));
    }
    return timestamp_ms;
  }

  std::string_view TakeValue() {
    const size_t start = offset_;
    uint64_t length = 0;
    for (int shift = 0;; shift += kBitsPerLengthByte) {
      if (shift == static_cast<int>(kMaxLengthBytes) * kBitsPerLengthByte) {
        Fail(start,
             "a length of up to " + std::to_string(kMaxLengthBytes) + " bytes",
             "more");
        return {};
      }
      const uint8_t byte = TakeByte("a length");
      if (!ok()) return {};
      length |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) {
        if (byte == 0 && shift > 0) {
          Fail(start, "a length in as few bytes as it needs",
               "a last byte of 0");
          return {};
        }
        break;
      }
      if (length > kMaxValueBytes) break;
    }
    if (length > kMaxValueBytes) {
      Fail(start, "a value of up to " + std::to_string(kMaxValueBytes),
           "a length of " + std::to_string(length) + " or more");
      return {};
    }
    return Take(static_cast<size_t>(length), "a value");
  }

 private:
  std::string_view Take(size_t byte_count, const char* what) {
    if (!ok()) return {};
    if (bytes_.size() - offset_ < byte_count) {
      Fail(offset_,
           std::string(what) + " of " + std::to_string(byte_count) + " bytes",
           std::to_string(bytes_.size() - offset_));
      return {};
    }
    const std::string_view taken = bytes_.substr(offset_, byte_count);
    offset_ += byte_count;
    return taken;
  }

  const std::string_view bytes_;
  size_t offset_ = 0;
  std::string problem_;
};

bool IsEntryType(uint8_t type) {
  switch (static_cast<ChangeType>(type)) {
    case ChangeType::kPut:
    case ChangeType::kDeleteVersion:
    case ChangeType::kDeleteFamilyVersion:
    case ChangeType::kDelete:
    case ChangeType::kDeleteFamily:
      return true;
    case ChangeType::kDeleteRow:
      break;
  }
  return false;
}

bool Has(const Entries& entries, ChangeType type) {
  return std::any_of(entries.begin(), entries.end(),
                     [type](const Entry& entry) { return entry.type == type; });
}

// Both in order; of two entries with the same timestamp and type the one of
// `later` stays.
Entries Union(const Entries& earlier, const Entries& later) {
  Entries all;
  all.reserve(earlier.size() + later.size());
  auto e = earlier.begin();
  auto l = later.begin();
  while (e != earlier.end() || l != later.end()) {
    if (l == later.end()) {
      all.push_back(*e++);
    } else if (e == earlier.end() || ComesBefore(*l, *e)) {
      all.push_back(*l++);
    } else if (ComesBefore(*e, *l)) {
      all.push_back(*e++);
    } else {
      all.push_back(*l++);
      ++e;
    }
  }
  return all;
}

// True if a kDeleteVersion has the timestamp of the put at `i`: it stands right
// before the put.
bool IsDeletedSingly(const Entries& entries, size_t i) {
  return i > 0 && entries[i - 1].type == ChangeType::kDeleteVersion &&
         entries[i - 1].timestamp_ms == entries[i].timestamp_ms;
}

// Drops the versions beyond the newest max_versions. Those that a
// kDeleteVersion takes count.
void DropSurplus(const VersionRules& rules, Entries* entries) {
  uint32_t versions = 0;
  size_t value_bytes = 0;
  std::erase_if(*entries, [&](const Entry& entry) {
    if (entry.type != ChangeType::kPut) return false;
    if (versions == rules.max_versions ||
        (versions > 0 && value_bytes + entry.value.size() > kMaxCellBytes)) {
      return true;
    }
    ++versions;
    value_bytes += entry.value.size();
    return false;
  });
}

// Drops the puts that a kDeleteVersion takes.
void DropDeletedSingly(Entries* entries) {
  Entries kept;
  kept.reserve(entries->size());
  for (size_t i = 0; i < entries->size(); ++i) {
    if ((*entries)[i].type == ChangeType::kPut &&
        IsDeletedSingly(*entries, i)) {
      continue;
    }
    kept.push_back((*entries)[i]);
  }
  *entries = std::move(kept);
}

}  // namespace

bool ComesBefore(const Entry& a, const Entry& b) {
  if (a.timestamp_ms != b.timestamp_ms) return a.timestamp_ms > b.timestamp_ms;
  return a.type > b.type;
}

std::string EncodeEntries(const Entries& entries) {
  size_t byte_count = kVersionBytes;
  for (const Entry& entry : entries) {
    byte_count +=
        kTypeBytes + kTimestampBytes + kMaxLengthBytes + entry.value.size();
  }
  std::string stored;
  stored.reserve(byte_count);
  stored.push_back(static_cast<char>(kVersionedFormatVersion));
  for (const Entry& entry : entries) AppendEntry(entry, &stored);
  return stored;
}

std::string EncodeEntry(const Entry& entry) { return EncodeEntries({entry}); }

std::string EncodePutHead(uint64_t timestamp_ms, size_t value_bytes) {
  std::string head(1, static_cast<char>(kVersionedFormatVersion));
  AppendHead(ChangeType::kPut, timestamp_ms, value_bytes, &head);
  return head;
}

bool DecodeEntries(std::string_view stored, Entries* entries,
                   std::string* problem) {
  entries->clear();
  Cursor cursor(stored);
  const uint8_t version = cursor.TakeByte("a format version");
  if (version != kVersionedFormatVersion) {
    cursor.Fail(0, "format version " + std::to_string(kVersionedFormatVersion),
                std::to_string(version));
  }
  while (cursor.ok() && !cursor.AtEnd()) {
    const size_t start = cursor.offset();
    const uint8_t type = cursor.TakeByte("an entry");
    if (!IsEntryType(type)) {
      cursor.Fail(start, "an entry of type 4, 8, 10, 12 or 14",
                  std::to_string(type));
      break;
    }
    Entry entry{static_cast<ChangeType>(type), cursor.TakeTimestamp(), {}};
    if (entry.type == ChangeType::kPut) entry.value = cursor.TakeValue();
    if (!entries->empty() && !ComesBefore(entries->back(), entry)) {
      cursor.Fail(start, "an older entry than the one before",
                  "type " + std::to_string(type) + " at " +
                      std::to_string(entry.timestamp_ms));
    }
    entries->push_back(entry);
  }
  if (cursor.ok()) return true;
  *problem = std::move(cursor.problem());
  return false;
}

Entries DropDeleted(const Entries& entries) {
  Entries kept;
  kept.reserve(entries.size());
  bool column_deleted = false;
  for (const Entry& entry : entries) {
    if (entry.type == ChangeType::kDeleteFamily) {
      kept.push_back(entry);
      break;  // takes all that follow
    }
    // A column's delete takes nothing of the row's other columns.
    if (column_deleted && entry.type != ChangeType::kDeleteFamilyVersion) {
      continue;
    }
    column_deleted = column_deleted || entry.type == ChangeType::kDelete;
    kept.push_back(entry);
  }
  return kept;
}

Entries ApplyOperand(const Entries& state, const Entries& operand,
                     const VersionRules& rules) {
  // A state may be an operand that RocksDB took for it as it was.
  Entries before = state;
  DropSurplus(rules, &before);
  DropDeletedSingly(&before);
  // What was deleted before it came takes no version's place.
  Entries writes;
  writes.reserve(operand.size());
  for (const Entry& entry : operand) {
    const Entry delete_of_it{
        ChangeType::kDeleteVersion, entry.timestamp_ms, {}};
    if (entry.type == ChangeType::kPut &&
        std::binary_search(before.begin(), before.end(), delete_of_it,
                           ComesBefore)) {
      continue;
    }
    writes.push_back(entry);
  }
  Entries after = DropDeleted(Union(before, writes));
  DropSurplus(rules, &after);
  DropDeletedSingly(&after);
  return after;
}

std::optional<Entries> CombineOperands(const Entries& left,
                                       const Entries& right) {
  if (Has(left, ChangeType::kDeleteVersion) && Has(right, ChangeType::kPut)) {
    return std::nullopt;
  }
  return DropDeleted(Union(left, right));
}

bool RemoveDead(const VersionRules& rules, const ReclaimFacts& facts,
                Entries* entries) {
  uint32_t newer = 0;
  Entries kept;
  kept.reserve(entries->size());
  for (size_t i = 0; i < entries->size(); ++i) {
    const Entry& entry = (*entries)[i];
    const bool expired = rules.Expired(entry.timestamp_ms, facts.wall_ms);
    bool dead = facts.row_deletes != nullptr &&
                facts.row_deletes->TakesUpTo(entry.timestamp_ms) &&
                entry.type != ChangeType::kDeleteFamily;
    if (entry.type == ChangeType::kPut) {
      dead = dead || (expired && newer >= rules.min_versions);
    } else {
      dead = dead || (expired && rules.min_versions == 0 &&
                      entry.timestamp_ms < facts.no_puts_before_ms);
    }
    if (entry.type == ChangeType::kDeleteVersion ||
        (entry.type == ChangeType::kPut && !IsDeletedSingly(*entries, i))) {
      ++newer;
    }
    if (!dead) kept.push_back(entry);
  }
  const bool removed = kept.size() < entries->size();
  *entries = std::move(kept);
  return removed;
}

void RowDeletes::Add(const Entries& entries) {
  for (const Entry& entry : entries) {
    if (entry.type == ChangeType::kDeleteFamily) {
      up_to_ms = std::max(up_to_ms, std::optional(entry.timestamp_ms));
    } else if (entry.type == ChangeType::kDeleteFamilyVersion) {
      at_ms.push_back(entry.timestamp_ms);
    }
  }
  std::sort(at_ms.begin(), at_ms.end(), std::greater<>());
}

}  // namespace rowbloom

#include "storage/store/cell_versions.h"

#include <algorithm>

#include "storage/format/coding.h"
#include "storage/format/message.h"

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
  std::string_view rest = stored;
  const auto fail = [&](std::string_view from, const std::string& expected,
                        const std::string& found) {
    *problem =
        Message("at offset ", stored.size() - from.size(), " of ",
                stored.size(), ": expected ", expected, ", found ", found);
    return false;
  };
  uint8_t version = 0;
  if (!GetFixed(&rest, &version) || version != kVersionedFormatVersion) {
    return fail(stored, Message("format version ", kVersionedFormatVersion),
                stored.empty() ? "no bytes" : std::to_string(version));
  }
  while (!rest.empty()) {
    const std::string_view start = rest;
    uint8_t type = 0;
    if (!GetFixed(&rest, &type) || !IsEntryType(type)) {
      return fail(start, "an entry of type 4, 8, 10, 12 or 14",
                  std::to_string(type));
    }
    Entry entry{static_cast<ChangeType>(type), 0, {}};
    std::string_view from = rest;
    if (!GetFixed64(&rest, &entry.timestamp_ms)) {
      return fail(from, "a timestamp of 8 bytes", std::to_string(rest.size()));
    }
    if (entry.timestamp_ms > kMaxTimestampMs) {
      return fail(from, Message("a timestamp up to ", kMaxTimestampMs),
                  std::to_string(entry.timestamp_ms));
    }
    if (entry.type == ChangeType::kPut) {
      from = rest;
      uint64_t length = 0;
      const bool is_number = GetVarint64(&rest, &length);
      if (!is_number || length > kMaxValueBytes) {
        return fail(from, Message("a length of up to ", kMaxValueBytes),
                    is_number ? std::to_string(length) : "no number");
      }
      const size_t length_bytes = from.size() - rest.size();
      if (length_bytes > 1 && from[length_bytes - 1] == 0) {
        return fail(from, "a length in as few bytes as it needs",
                    "a last byte of 0");
      }
      if (length > rest.size()) {
        return fail(rest, Message("a value of ", length, " bytes"),
                    std::to_string(rest.size()));
      }
      entry.value = rest.substr(0, static_cast<size_t>(length));
      rest.remove_prefix(entry.value.size());
    }
    if (!entries->empty() && !ComesBefore(entries->back(), entry)) {
      return fail(start, "an older entry than the one before",
                  Message("type ", type, " at ", entry.timestamp_ms));
    }
    entries->push_back(entry);
  }
  return true;
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

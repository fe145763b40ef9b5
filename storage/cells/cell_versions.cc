#include "storage/cells/cell_versions.h"

#include <iterator>
#include <utility>

#include "lib/bytes/integers.h"
#include "lib/bytes/text.h"
#include "storage/format/coding.h"

namespace rowbloom {
namespace {

constexpr size_t kVersionBytes = 1;
constexpr size_t kTimestampBytes = 8;
// The type, the timestamp, a TTL, and a length of up to kMaxValueBytes.
constexpr size_t kMaxHeadBytes = 1 + kTimestampBytes + 9 + 5;
// The type, on disk, of a put that has a TTL.
constexpr uint8_t kPutWithTtl = 5;

// Appends an entry without its value.
void AppendHead(const Entry& entry, std::string* stored) {
  const bool has_ttl = entry.ttl_ms != kNoTtl;
  stored->push_back(has_ttl ? char{kPutWithTtl}
                            : static_cast<char>(entry.type));
  PutFixed(stored, entry.timestamp_ms, kTimestampBytes);
  if (entry.type != ChangeType::kPut) return;
  if (has_ttl) PutVarint(stored, entry.ttl_ms);
  PutVarint(stored, entry.value.size());
}

bool Has(const Entries& entries, ChangeType type) {
  return std::any_of(entries.begin(), entries.end(),
                     [type](const Entry& entry) { return entry.type == type; });
}

// Joins entries in order; if two have the same timestamp and type, the one of
// `later` stays.
Entries Union(const Entries& earlier, const Entries& later) {
  Entries all;
  all.reserve(earlier.size() + later.size());
  std::set_union(later.begin(), later.end(), earlier.begin(), earlier.end(),
                 std::back_inserter(all), ComesBefore);
  return all;
}

// Drops the puts that a kDeleteVersion among `deletes` takes.
void DropDeletedBy(const Entries& deletes, Entries* puts) {
  std::erase_if(*puts, [&deletes](const Entry& entry) {
    return entry.type == ChangeType::kPut &&
           std::binary_search(
               deletes.begin(), deletes.end(),
               Entry{ChangeType::kDeleteVersion, entry.timestamp_ms, {}},
               ComesBefore);
  });
}

// Drops surplus puts, and those that were deleted singly.
Entries Limited(Entries entries, const VersionRules& rules) {
  DropSurplus(rules, &entries);
  DropDeletedSingly(&entries);
  return entries;
}

// Reads the entries of a stored cell. A function that returns false has set
// *problem.
class EntryReader {
 public:
  EntryReader(std::string_view stored, std::string* problem)
      : stored_(stored), rest_(stored), problem_(problem) {}

  bool AtEnd() const { return rest_.empty(); }

  bool ReadVersion() {
    uint8_t version = 0;
    if (GetFixed(&rest_, &version) && version == kVersionedFormatVersion) {
      return true;
    }
    return Fail(stored_, Concat("format version ", kVersionedFormatVersion),
                stored_.empty() ? "no bytes" : std::to_string(version));
  }

  // Reads the entry that follows `before`, which is null for the first one.
  bool Read(const Entry* before, Entry* entry) {
    const std::string_view start = rest_;
    uint8_t type = 0;
    if (!GetFixed(&rest_, &type) ||
        (!IsEntryType(static_cast<ChangeType>(type)) && type != kPutWithTtl)) {
      return Fail(start, "an entry of type 4, 5, 8, 10, 12 or 14",
                  std::to_string(type));
    }
    const bool has_ttl = type == kPutWithTtl;
    entry->type = has_ttl ? ChangeType::kPut : static_cast<ChangeType>(type);
    if (!ReadTimestamp(&entry->timestamp_ms) ||
        (has_ttl && !ReadNumber("a TTL", kMaxTimestampMs, &entry->ttl_ms)) ||
        (entry->type == ChangeType::kPut && !ReadValue(&entry->value))) {
      return false;
    }
    if (before == nullptr || ComesBefore(*before, *entry)) return true;
    return Fail(start, "an older entry than the one before",
                Concat("type ", type, " at ", entry->timestamp_ms));
  }

 private:
  bool Fail(std::string_view from, const std::string& expected,
            const std::string& found) {
    *problem_ =
        Concat("at offset ", stored_.size() - from.size(), " of ",
               stored_.size(), ": expected ", expected, ", found ", found);
    return false;
  }

  bool ReadTimestamp(uint64_t* timestamp_ms) {
    const std::string_view from = rest_;
    if (!GetFixed(&rest_, timestamp_ms)) {
      return Fail(from, "a timestamp of 8 bytes", std::to_string(rest_.size()));
    }
    if (*timestamp_ms <= kMaxTimestampMs) return true;
    return Fail(from, Concat("a timestamp up to ", kMaxTimestampMs),
                std::to_string(*timestamp_ms));
  }

  bool ReadNumber(const char* what, uint64_t limit, uint64_t* number) {
    const std::string_view from = rest_;
    const bool is_number = GetVarint(&rest_, number);
    if (!is_number || *number > limit) {
      return Fail(from, Concat(what, " of up to ", limit),
                  is_number ? std::to_string(*number) : "no number");
    }
    const size_t byte_count = from.size() - rest_.size();
    if (byte_count == 1 || from[byte_count - 1] != 0) return true;
    return Fail(from, Concat(what, " in as few bytes as it needs"),
                "a last byte of 0");
  }

  bool ReadValue(std::string_view* value) {
    uint64_t length = 0;
    if (!ReadNumber("a length", kMaxValueBytes, &length)) return false;
    if (GetBytes(&rest_, length, value)) return true;
    return Fail(rest_, Concat("a value of ", length, " bytes"),
                std::to_string(rest_.size()));
  }

  const std::string_view stored_;
  std::string_view rest_;
  std::string* const problem_;
};

}  // namespace

bool ComesBefore(const Entry& a, const Entry& b) {
  if (a.timestamp_ms != b.timestamp_ms) return a.timestamp_ms > b.timestamp_ms;
  return a.type > b.type;
}

std::string EncodeEntries(const Entries& entries) {
  size_t byte_count = kVersionBytes;
  for (const Entry& entry : entries) {
    byte_count += kMaxHeadBytes + entry.value.size();
  }
  std::string stored;
  stored.reserve(byte_count);
  stored.push_back(static_cast<char>(kVersionedFormatVersion));
  for (const Entry& entry : entries) {
    AppendHead(entry, &stored);
    stored.append(entry.value);
  }
  return stored;
}

std::string EncodeEntryHead(const Entry& entry) {
  std::string head(kVersionBytes, static_cast<char>(kVersionedFormatVersion));
  AppendHead(entry, &head);
  return head;
}

bool DecodeEntries(std::string_view stored, Entries* entries,
                   std::string* problem) {
  entries->clear();
  EntryReader reader(stored, problem);
  if (!reader.ReadVersion()) return false;
  while (!reader.AtEnd()) {
    Entry entry;
    if (!reader.Read(entries->empty() ? nullptr : &entries->back(), &entry)) {
      return false;
    }
    entries->push_back(entry);
  }
  return true;
}

Entries DropDeleted(Entries entries) {
  bool row_deleted = false;
  bool column_deleted = false;
  std::erase_if(entries, [&](const Entry& entry) {
    // A column's delete takes nothing of the row's other columns.
    if (row_deleted || (column_deleted && !IsDeleteOfRow(entry.type))) {
      return true;
    }
    row_deleted = entry.type == ChangeType::kDeleteFamily;
    column_deleted = column_deleted || entry.type == ChangeType::kDelete;
    return false;
  });
  return entries;
}

void DropDeletedSingly(Entries* entries) {
  Entry before;
  std::erase_if(*entries, [&before](const Entry& entry) {
    return IsDeletedBy(std::exchange(before, entry), entry);
  });
}

bool DropSurplus(const VersionRules& rules, Entries* entries) {
  KeptVersions kept(rules);
  return std::erase_if(*entries, [&kept](const Entry& entry) {
           return entry.type == ChangeType::kPut && !kept.Keeps(entry);
         }) > 0;
}

Entries ApplyOperand(const Entries& state, const Entries& operand,
                     const VersionRules& rules) {
  // A state may be an operand that RocksDB took unchanged.
  Entries before = Limited(state, rules);
  // A version that was deleted before another was written does not make that
  // one surplus.
  Entries writes = operand;
  DropDeletedBy(before, &writes);
  DropDeletedBy(operand, &before);
  return Limited(DropDeleted(Union(before, writes)), rules);
}

Entries JoinPuts(Entries puts) {
  std::ranges::reverse(puts);
  std::ranges::stable_sort(puts, ComesBefore);
  const auto same_time = [](const Entry& later, const Entry& earlier) {
    return later.timestamp_ms == earlier.timestamp_ms;
  };
  puts.erase(std::unique(puts.begin(), puts.end(), same_time), puts.end());
  return puts;
}

std::optional<Entries> CombineOperands(const Entries& left,
                                       const Entries& right) {
  const auto mixes = [](const Entries& deletes, const Entries& puts) {
    return Has(deletes, ChangeType::kDeleteVersion) &&
           Has(puts, ChangeType::kPut);
  };
  if (mixes(left, right) || mixes(right, left)) return std::nullopt;
  return DropDeleted(Union(left, right));
}

bool RemoveDead(const VersionRules& rules, const ReclaimFacts& facts,
                Entries* entries) {
  uint32_t newer = 0;
  Entry before;
  bool lost_value = false;
  for (Entry& entry : *entries) {
    if (entry.ttl_ms == 0 || !HasRunOut(entry, facts.wall_ms)) continue;
    entry.value = {};
    entry.ttl_ms = 0;
    lost_value = true;
  }
  const size_t removed = std::erase_if(*entries, [&](const Entry& entry) {
    const bool is_put = entry.type == ChangeType::kPut;
    const bool needed =
        is_put && entry.ttl_ms > 0
            ? facts.is_operand || newer < rules.min_versions
            : rules.min_versions > 0 ||
                  entry.timestamp_ms >= facts.no_puts_before_ms ||
                  (facts.keeps_row_deletes &&
                   entry.type == ChangeType::kDeleteFamily);
    if (entry.type == ChangeType::kDeleteVersion ||
        (is_put && !IsDeletedBy(before, entry))) {
      ++newer;
    }
    before = entry;
    if (facts.row_deletes != nullptr &&
        facts.row_deletes->TakesUpTo(entry.timestamp_ms) &&
        entry.type != ChangeType::kDeleteFamily) {
      return true;
    }
    return !needed && rules.Expired(entry.timestamp_ms, facts.wall_ms);
  });
  return removed > 0 || lost_value;
}

void RowDeletes::Add(const Entries& entries) {
  for (const Entry& entry : entries) {
    if (entry.type == ChangeType::kDeleteFamily) {
      up_to_ms = std::max(up_to_ms, std::optional(entry.timestamp_ms));
    } else if (entry.type == ChangeType::kDeleteFamilyVersion) {
      // Entries come newest first, each behind those before it.
      at_ms.insert(std::upper_bound(at_ms.begin(), at_ms.end(),
                                    entry.timestamp_ms, std::greater<>()),
                   entry.timestamp_ms);
    }
  }
}

}  // namespace rowbloom

// The value that RocksDB keeps for a cell of a family whose cell format is
// `versioned`: its versions and the deletes that concern it. FORMAT.md has the
// bytes. Merge operands have the same format, so that a write is one Merge.
// Pure functions, thread-safe.
//
// What a cell shows does not depend on when, or whether, RocksDB merged:
//   - A delete takes every version up to its timestamp (kDeleteColumn,
//     kDeleteFamily) or of its timestamp (kDeleteVersion), also one that is
//     written later.
//   - A version is surplus once max_versions newer ones are there that no
//     delete had taken. It is gone then, also when those are deleted later.
//   - A version expires by the clock, unless it is among the min_versions
//     newest, where one that kDeleteVersion took counts.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/cell.h"

namespace rowbloom {

inline constexpr uint8_t kVersionedFormatVersion = 2;

// On disk, never renumber; HBase's numbers. At one timestamp the larger comes
// first: deletes before what they take.
enum class EntryType : uint8_t {
  kPut = 4,
  kDeleteVersion = 8,
  kDeleteColumn = 12,
  // Concerns all cells of the row, and is kept with the cell of the empty
  // qualifier.
  kDeleteFamily = 14,
};

struct Entry {
  EntryType type = EntryType::kPut;
  uint64_t timestamp_ms = 0;
  std::string_view value;  // of a put; views into the stored bytes

  friend bool operator==(const Entry&, const Entry&) = default;
};

// Whether `a` comes before `b`: newer first, then deletes before puts.
bool ComesBefore(const Entry& a, const Entry& b);

// Newest first, no two with the same timestamp and type.
using Entries = std::vector<Entry>;

// Which versions of a cell a family keeps, as in FamilyOptions.
struct VersionRules {
  uint32_t max_versions = 1;
  uint32_t min_versions = 0;
  uint64_t ttl_ms = 0;

  bool Expired(uint64_t timestamp_ms, uint64_t now_ms) const {
    return ttl_ms != 0 && timestamp_ms < now_ms &&
           now_ms - timestamp_ms > ttl_ms;
  }

  friend bool operator==(const VersionRules&, const VersionRules&) = default;
};

// REQUIRES entries in order, with values of at most kMaxValueBytes.
std::string EncodeEntries(const Entries& entries);

// What EncodeEntries makes of a single entry; of a put, all but the value.
std::string EncodeEntry(const Entry& entry);
std::string EncodePutHead(uint64_t timestamp_ms, size_t value_bytes);

// Reads what RocksDB returned. False: the bytes are not of this format, and
// *problem says at which offset, what was expected and what was found; *entries
// is unspecified.
bool DecodeEntries(std::string_view stored, Entries* entries,
                   std::string* problem);

// What came of the entries `state` when the writes `operand` came after them.
// Drops what was deleted and what is surplus.
Entries ApplyOperand(const Entries& state, const Entries& operand,
                     const VersionRules& rules);

// One operand that stands for `left` and then `right`. Keeps surplus versions:
// an earlier kDeleteVersion may take those that push them out. nullopt: there
// is none, as `left` has a kDeleteVersion, and for what that makes room depends
// on the cell's earlier history.
std::optional<Entries> CombineOperands(const Entries& left,
                                       const Entries& right);

// Removes what no read from `now_ms` on can need: versions that expired, and
// deletes that take expired versions only; of both those that are not newer
// than `family_delete_ms` (the newest kDeleteFamily of the row, nullopt:
// unknown or none), but not a kDeleteFamily itself. True: something was.
bool RemoveDead(const VersionRules& rules, uint64_t now_ms,
                std::optional<uint64_t> family_delete_ms, Entries* entries);

// The newest kDeleteFamily.
std::optional<uint64_t> FamilyDelete(const Entries& entries);

// Calls `show` for each version that is to be seen at `now_ms`, newest first,
// until it returns false.
template <typename Show>
void ForEachVisible(const Entries& entries,
                    std::optional<uint64_t> family_delete_ms,
                    const VersionRules& rules, uint64_t now_ms, Show show) {
  std::optional<uint64_t> deleted_version_ms;
  uint32_t newer = 0;  // versions that are there or were deleted singly
  // Of what is kept. In an operand that nothing was merged with, versions that
  // were deleted singly had pushed others out.
  uint32_t versions = 0;
  size_t value_bytes = 0;
  for (const Entry& entry : entries) {
    if (family_delete_ms && entry.timestamp_ms <= *family_delete_ms) return;
    switch (entry.type) {
      case EntryType::kDeleteFamily:
      case EntryType::kDeleteColumn:
        return;  // all that follow are not newer
      case EntryType::kDeleteVersion:
        deleted_version_ms = entry.timestamp_ms;
        ++newer;
        break;
      case EntryType::kPut:
        if (versions == rules.max_versions) return;
        if (versions > 0 && value_bytes + entry.value.size() > kMaxCellBytes) {
          break;
        }
        ++versions;
        value_bytes += entry.value.size();
        if (deleted_version_ms == entry.timestamp_ms) break;
        if (rules.Expired(entry.timestamp_ms, now_ms) &&
            newer >= rules.min_versions) {
          return;  // as are all that follow
        }
        ++newer;
        if (!show(entry)) return;
        break;
    }
  }
}

}  // namespace rowbloom

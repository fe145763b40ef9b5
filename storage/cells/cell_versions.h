// The value that RocksDB keeps for a cell of a family whose cell format is
// `versioned`: its versions and the deletes that concern it. FORMAT.md has the
// bytes and the rules. Merge operands have the same format, so that a write is
// one Merge.
// Pure functions, thread-safe.
// The versions that a cell shows do not depend on when, or whether, RocksDB
// merged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/cell.h"
#include "rowbloom/write_batch.h"
#include "storage/cells/cell_value.h"

namespace rowbloom {

inline constexpr uint8_t kVersionedFormatVersion = 2;

// Deletes of the row concern all its cells in the family. They are kept with
// the cell of the empty qualifier.
constexpr bool IsDeleteOfRow(ChangeType type) {
  return type == ChangeType::kDeleteFamily ||
         type == ChangeType::kDeleteFamilyVersion;
}

// Tells whether a type is on disk. Such types keep their numbers.
constexpr bool IsEntryType(ChangeType type) {
  return type == ChangeType::kPut || type == ChangeType::kDelete ||
         type == ChangeType::kDeleteVersion || IsDeleteOfRow(type);
}

// A put or a delete of a cell, of such a type.
struct Entry {
  ChangeType type = ChangeType::kPut;
  uint64_t timestamp_ms = 0;
  std::string_view value;  // a put's; views into the stored bytes
  // The TTL of a put. A put whose TTL has run out still counts as a version, so
  // that versions that are surplus or expired because of it do not come back.
  uint64_t ttl_ms = kNoTtl;

  friend bool operator==(const Entry&, const Entry&) = default;
};

// A set of kinds of entries that most stores do not have. A store that may have
// some spends more time, as described for each kind.
using RareKinds = uint8_t;
// A kDeleteFamily or kDeleteFamilyVersion: each read of a `versioned` cell
// looks up its row's key, too. With many files a get takes up to twice as long.
inline constexpr RareKinds kRowDeletes = 1;
// A kDeleteFamilyVersion: puts look for them, too.
inline constexpr RareKinds kFamilyVersionDeletes = 2;
// A put with a TTL: reads and compactions of all families look at the clock.
inline constexpr RareKinds kCellTtls = 4;
// A put or a delete later than the store's time, in a family with
// Timestamps::kStore, or a later delete of a row that was removed: deletes look
// for them, too, and compactions do not apply deletes of rows to other cells.
inline constexpr RareKinds kLaterPuts = 8;

constexpr RareKinds RareKindsOf(const Entry& entry) {
  if (entry.ttl_ms != kNoTtl) return kCellTtls;
  if (entry.type == ChangeType::kDeleteFamilyVersion) {
    return kRowDeletes | kFamilyVersionDeletes;
  }
  return IsDeleteOfRow(entry.type) ? kRowDeletes : 0;
}

// True if `before` is a kDeleteVersion that takes the entry right after it.
inline bool IsDeletedBy(const Entry& before, const Entry& entry) {
  return entry.type == ChangeType::kPut &&
         before.type == ChangeType::kDeleteVersion &&
         before.timestamp_ms == entry.timestamp_ms;
}

// True if `a` comes before `b`: newer first, and at one timestamp the larger
// type first, so that deletes come before the entries that they take.
bool ComesBefore(const Entry& a, const Entry& b);

// Newest first, no two with the same timestamp and type.
using Entries = std::vector<Entry>;

// The rules by which a family keeps versions of a cell, as in FamilyOptions.
struct VersionRules {
  uint32_t max_versions = 1;
  uint32_t min_versions = 0;
  uint64_t ttl_ms = 0;

  bool Expired(uint64_t timestamp_ms, uint64_t now_ms) const {
    return ttl_ms != 0 && timestamp_ms < now_ms &&
           now_ms - timestamp_ms > ttl_ms;
  }
  // True if the cell of a `latest` family is not visible any more.
  bool Hide(const CellValue& cell, uint64_t now_ms) const {
    return HasRunOut(cell, now_ms) ||
           (min_versions == 0 && Expired(cell.timestamp_ms, now_ms));
  }

  friend bool operator==(const VersionRules&, const VersionRules&) = default;
};

// Counts the versions that a cell keeps, newest first: at most max_versions,
// and after the first only while all together have at most kMaxCellBytes.
// Versions that were deleted singly count.
class KeptVersions {
 public:
  explicit KeptVersions(const VersionRules& rules)
      : left_(rules.max_versions) {}

  bool Keeps(const Entry& put) {
    const size_t all_bytes = value_bytes_ + put.value.size();
    if (left_ == 0 || (has_one_ && all_bytes > kMaxCellBytes)) return false;
    has_one_ = true;
    --left_;
    value_bytes_ = all_bytes;
    return true;
  }

 private:
  uint32_t left_;
  bool has_one_ = false;
  size_t value_bytes_ = 0;
};

// The deletes of a row, as its cell of the empty qualifier has them.
struct RowDeletes {
  std::optional<uint64_t> up_to_ms;  // the newest kDeleteFamily
  std::vector<uint64_t> at_ms;       // kDeleteFamilyVersion, newest first

  bool empty() const { return !up_to_ms && at_ms.empty(); }
  void clear() {
    up_to_ms.reset();
    at_ms.clear();
  }
  bool TakesUpTo(uint64_t timestamp_ms) const {
    return up_to_ms && timestamp_ms <= *up_to_ms;
  }
  bool TakesAt(uint64_t timestamp_ms) const {
    return std::binary_search(at_ms.begin(), at_ms.end(), timestamp_ms,
                              std::greater<>());
  }
  // Adds the deletes of the row among the entries.
  void Add(const Entries& entries);
};

// REQUIRES entries in order, with values of at most kMaxValueBytes.
std::string EncodeEntries(const Entries& entries);

// Returns the bytes of EncodeEntries for a single entry, without its value.
std::string EncodeEntryHead(const Entry& entry);

// Reads a value that RocksDB returned. False: the bytes are not of this format.
// *problem then has the offset, what was expected and what was found, and
// *entries is unspecified.
bool DecodeEntries(std::string_view stored, Entries* entries,
                   std::string* problem);

// Drops the entries that deletes of columns and families take.
Entries DropDeleted(Entries entries);
// Drops each put that the kDeleteVersion right before it takes.
void DropDeletedSingly(Entries* entries);

// Drops the puts that are surplus. True: there were some.
bool DropSurplus(const VersionRules& rules, Entries* entries);

// Applies the writes of `operand` to the entries of `state`, which were written
// before. In the operand, each kDeleteVersion was written before each put.
// Drops deleted entries and surplus versions.
Entries ApplyOperand(const Entries& state, const Entries& operand,
                     const VersionRules& rules);

// Returns one operand for puts in the order of their writes. Of two with the
// same timestamp the later one stays.
Entries JoinPuts(Entries puts);

// Returns one operand with the effect of `left` and then `right`. Surplus
// versions are kept: an earlier kDeleteVersion may take the versions that make
// them surplus. nullopt: there is no such operand, as one has a kDeleteVersion
// and the other a put. The versions that the put makes surplus depend on which
// of them was written first.
std::optional<Entries> CombineOperands(const Entries& left,
                                       const Entries& right);

// The facts that a compaction knows.
struct ReclaimFacts {
  uint64_t wall_ms = 0;
  // No put before this timestamp is in any file or in memory.
  uint64_t no_puts_before_ms = 0;
  const RowDeletes* row_deletes = nullptr;  // nullptr: not known
  // The entries are an operand: an expired put is kept, as other files may have
  // versions that it replaced or made surplus.
  bool is_operand = false;
  // An expired kDeleteFamily is kept.
  bool keeps_row_deletes = false;
};

// Removes entries that no read can need: versions that expired, deletes that
// expired and have nothing left to take, and versions and deletes that a
// kDeleteFamily takes. A put whose own TTL has run out loses its value, and is
// kept as long as a delete, with a TTL of 0. True: something was removed.
bool RemoveDead(const VersionRules& rules, const ReclaimFacts& facts,
                Entries* entries);

// Calls `show` for each visible version at `wall_ms`, newest first, until it
// returns false.
template <typename Show>
void ForEachVisible(const Entries& entries, const RowDeletes& row_deletes,
                    const VersionRules& rules, uint64_t wall_ms, Show show) {
  std::optional<uint64_t> deleted_version_ms;
  // The versions so far, also those that have run out or were deleted singly.
  uint32_t newer = 0;
  // An operand that was not merged may have surplus versions.
  KeptVersions kept(rules);
  for (const Entry& entry : entries) {
    if (row_deletes.TakesUpTo(entry.timestamp_ms)) return;
    // These take all entries that follow, as none is newer.
    if (entry.type == ChangeType::kDeleteFamily ||
        entry.type == ChangeType::kDelete) {
      return;
    }
    if (entry.type == ChangeType::kDeleteVersion) {
      deleted_version_ms = entry.timestamp_ms;
      ++newer;
    }
    // Deletes of the row's versions are among row_deletes.
    if (entry.type != ChangeType::kPut || !kept.Keeps(entry) ||
        deleted_version_ms == entry.timestamp_ms) {
      continue;
    }
    if (rules.Expired(entry.timestamp_ms, wall_ms) &&
        newer >= rules.min_versions) {
      return;  // all that follow have expired, too
    }
    ++newer;
    if (row_deletes.TakesAt(entry.timestamp_ms) || HasRunOut(entry, wall_ms)) {
      continue;
    }
    if (!show(entry)) return;
  }
}

}  // namespace rowbloom

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

// The types that are on disk, and keep their numbers.
constexpr bool IsEntryType(ChangeType type) {
  return type == ChangeType::kPut || type == ChangeType::kDelete ||
         type == ChangeType::kDeleteVersion || IsDeleteOfRow(type);
}

// A put or a delete of a cell, of such a type.
struct Entry {
  ChangeType type = ChangeType::kPut;
  uint64_t timestamp_ms = 0;
  std::string_view value;  // a put's; views into the stored bytes
  // A put's own. A put that has run out keeps its place among the versions, so
  // that none comes back that it pushed out or let expire.
  uint64_t ttl_ms = kNoTtl;

  friend bool operator==(const Entry&, const Entry&) = default;
};

// The kinds of entries that most stores have none of, and that cost more time
// in those that may have some. Any of them together.
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
// type first, so that deletes come before what they take.
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
  // True if the cell of a `latest` family is not seen any more.
  bool Hide(const CellValue& cell, uint64_t now_ms) const {
    return HasRunOut(cell, now_ms) ||
           (min_versions == 0 && Expired(cell.timestamp_ms, now_ms));
  }

  friend bool operator==(const VersionRules&, const VersionRules&) = default;
};

// Counts the versions that a cell keeps, newest first: max_versions of them at
// most, and those after the first as long as all have at most kMaxCellBytes.
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

// The bytes that EncodeEntries makes of a single entry, but for the value.
std::string EncodeEntryHead(const Entry& entry);

// Reads what RocksDB returned. False: the bytes are not of this format, and
// *problem says at which offset, what was expected and what was found; *entries
// is unspecified.
bool DecodeEntries(std::string_view stored, Entries* entries,
                   std::string* problem);

// The entries without what deletes of columns and families take.
Entries DropDeleted(Entries entries);
// Drops the puts that a kDeleteVersion takes, which stands right before them.
void DropDeletedSingly(Entries* entries);

// Drops the puts that are surplus. True: there were some.
bool DropSurplus(const VersionRules& rules, Entries* entries);

// The entries `state` after the writes `operand`, which came after them: each
// kDeleteVersion of it came before each put. Drops what was deleted and what is
// surplus.
Entries ApplyOperand(const Entries& state, const Entries& operand,
                     const VersionRules& rules);

// One operand that stands for puts in the order of their writes: of two with
// the same timestamp the later one stays.
Entries JoinPuts(Entries puts);

// One operand that stands for `left` and then `right`. Keeps surplus versions:
// an earlier kDeleteVersion may take those that push them out. nullopt: there
// is none, as one has a kDeleteVersion and the other a put. The versions that
// the put pushes out depend on which of them came first.
std::optional<Entries> CombineOperands(const Entries& left,
                                       const Entries& right);

// The facts that a compaction knows.
struct ReclaimFacts {
  uint64_t wall_ms = 0;
  // No put before this timestamp is in any file or in memory.
  uint64_t no_puts_before_ms = 0;
  const RowDeletes* row_deletes = nullptr;  // nullptr: not known
  // The entries are an operand: a put that expired stays, as other files may
  // have what it replaced or pushed out.
  bool is_operand = false;
};

// Removes what no read can need: versions that expired, deletes that expired
// and have nothing left to take, and versions and deletes that a kDeleteFamily
// takes. A put whose own TTL has run out loses its value, and stays as long as
// a delete does, with a TTL of 0. True: something was removed.
bool RemoveDead(const VersionRules& rules, const ReclaimFacts& facts,
                Entries* entries);

// Calls `show` for each visible version at `wall_ms`, newest first, until it
// returns false.
template <typename Show>
void ForEachVisible(const Entries& entries, const RowDeletes& row_deletes,
                    const VersionRules& rules, uint64_t wall_ms, Show show) {
  std::optional<uint64_t> deleted_version_ms;
  // Versions that are there, have run out or were deleted singly.
  uint32_t newer = 0;
  // An operand that nothing was merged with may have more than are kept.
  KeptVersions kept(rules);
  for (const Entry& entry : entries) {
    if (row_deletes.TakesUpTo(entry.timestamp_ms)) return;
    // These take all that follow, which is not newer.
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
      return;  // as are all that follow
    }
    ++newer;
    if (row_deletes.TakesAt(entry.timestamp_ms) || HasRunOut(entry, wall_ms)) {
      continue;
    }
    if (!show(entry)) return;
  }
}

}  // namespace rowbloom

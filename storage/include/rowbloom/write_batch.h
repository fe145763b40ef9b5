// Changes to an embedded store, and how safely they are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowbloom {

// The failures that a write survives once it has returned.
enum class Durability : uint8_t {
  // The write is on the disk, and survives a failure of the machine.
  kSync,
  // The write is in RocksDB's log, handed to the operating system, and survives
  // a failure of the process.
  kAsync,
  // The write is in memory, and survives once flushed. After a crash, some
  // families may have their changes of a batch, and others not. It is kAsync
  // during Store::Checkpoint and Backup.
  kSkipWal,
};

struct WriteOptions {
  // The timestamp of every change that has none of its own. nullopt: the store
  // assigns one (WriteBatch).
  std::optional<uint64_t> timestamp_ms = std::nullopt;
  Durability durability = Durability::kAsync;
  // The TTL of every put, increment and append that has none of its own
  // (Change).
  std::optional<uint64_t> ttl_ms = std::nullopt;
};

// The types of changes, with HBase's numbers. They are on disk: never renumber.
// The last five are not: a removal is RocksDB's own delete, an increment or an
// append is written as the put that it comes to, and kDeleteRow as a
// kDeleteFamily of each family. WriteBatch says what each of them does.
enum class ChangeType : uint8_t {
  kPut = 4,
  kDeleteVersion = 8,
  kDeleteFamilyVersion = 10,
  kDelete = 12,
  kDeleteFamily = 14,
  kRemove = 251,
  kRemoveFamily = 252,
  kIncrement = 253,
  kAppend = 254,
  kDeleteRow = 255,
};

// Increments and appends are written as puts.
constexpr bool IsUpdate(ChangeType type) {
  return type == ChangeType::kIncrement || type == ChangeType::kAppend;
}
// Removals are a column's and a row's in one family.
constexpr bool IsRemoval(ChangeType type) {
  return type == ChangeType::kRemove || type == ChangeType::kRemoveFamily;
}
// True for the changes that make a version, which may have a TTL.
constexpr bool TakesTtl(ChangeType type) {
  return type == ChangeType::kPut || IsUpdate(type);
}

// True for the changes of all columns of a row, which name none.
constexpr bool IsOfWholeRow(ChangeType type) {
  return type == ChangeType::kDeleteFamily ||
         type == ChangeType::kDeleteFamilyVersion ||
         type == ChangeType::kRemoveFamily || type == ChangeType::kDeleteRow;
}

// A counter is 8 bytes big-endian in two's complement, as HBase's are.
std::string EncodeCounter(int64_t counter);
// False: the bytes are no counter.
bool DecodeCounter(std::string_view bytes, int64_t* counter);

// One change. Owns nothing.
struct Change {
  ChangeType type = ChangeType::kPut;
  std::string_view row;
  std::string_view family;     // empty for kDeleteRow
  std::string_view qualifier;  // empty for deletes of a row or a family
  // A put's; an append's suffix; an increment's delta as EncodeCounter has it;
  // else empty.
  std::string_view value;
  std::optional<uint64_t> timestamp_ms = std::nullopt;
  // The TTL of the version that a put, an increment or an append makes, in
  // milliseconds from its timestamp on, at most kMaxTimestampMs; 0: it has run
  // out when it is written. nullopt: a put has none; an increment or append has
  // that of the version it is made of.
  std::optional<uint64_t> ttl_ms = std::nullopt;
};

// Changes that are applied together, in order, or not at all. Store::Write
// checks them.
//
// A put without a timestamp gets the store's time, or the time of the last put
// or delete of its cell plus one millisecond if that is later: each put of a
// cell is a version of its own, even within a millisecond or while the
// machine's clock stands still. A cell runs ahead of the store's time by a
// second at most; a put beyond that replaces the newest version. A put is also
// later than a version or delete of the application that was less than a second
// ahead when it was written. One that was further ahead stays the newest. Until
// the store's time has passed it, it hides puts without a timestamp, those of
// CheckAndWrite too. A put at exactly that millisecond is hidden by a delete,
// and replaces a version. For versions and deletes of a bulk load, the second
// is counted from the machine's clock.
//
// A delete takes the versions that it names up to and including its timestamp,
// also those that are written later with such a timestamp. A delete without a
// timestamp takes all that was written before it. It takes no later put whose
// timestamp the store assigns. In a family with Timestamps::kClient, its
// timestamp is that of the newest version that it takes, which is looked up; if
// there is no such version, it does nothing. If that version is in the future,
// so is the delete, which takes later puts without a timestamp until the
// store's time has passed it. Families that keep the latest version only
// (FamilyOptions) take no timestamps.
//
// A removal takes the versions and the deletes that the store has of a column
// (kRemove) or, in one family, of all columns of a row (kRemoveFamily). It
// takes no later change, and has no timestamp. Deletes of the whole row stay,
// except those that a kRemoveFamily finds more than a second ahead of the
// store's time. After one has found such a delete, in any row, or the store's
// clock was reset, removals take all deletes of the row. A removal is for a
// copy of a store: ChangeStream has one where the store itself needed it.
//
// An increment or an append reads the newest value of its cell, which earlier
// changes of the batch may have put or deleted, and puts the new value; no
// other write of the row comes in between. Without a timestamp the new version
// has the store's time, or replaces the newest one if that has the same or a
// later time.
//
// A version whose own TTL has run out by the machine's clock is invisible,
// whatever the TTL and min_versions of its family say. It cannot outlive the
// TTL of its family. Versions that it displaced from max_versions or
// min_versions do not come back; older ones that max_versions kept are visible.
//
// Not thread-safe. A batch takes up to twice the memory of its keys and values
// and of 104 bytes for each change, and keeps it when it is cleared. Adding a
// change may throw std::bad_alloc, which leaves the batch unchanged.
class WriteBatch {
 public:
  using OptionalTimestamp = std::optional<uint64_t>;

  // Copies the bytes of the change.
  void Add(const Change& change);

  void Put(std::string_view row, std::string_view family,
           std::string_view qualifier, std::string_view value,
           OptionalTimestamp timestamp_ms = std::nullopt,
           std::optional<uint64_t> ttl_ms = std::nullopt) {
    Add({ChangeType::kPut, row, family, qualifier, value, timestamp_ms,
         ttl_ms});
  }
  // All versions of one column.
  void Delete(std::string_view row, std::string_view family,
              std::string_view qualifier,
              OptionalTimestamp timestamp_ms = std::nullopt) {
    Add({ChangeType::kDelete, row, family, qualifier, {}, timestamp_ms});
  }
  // The newest value plus `delta`; an absent cell counts as 0. Writing is
  // refused with InvalidArgument if the value is no counter, the sum does not
  // fit, or the new version would not be the newest visible one: a later
  // version, or a delete at its time or later, hides it, or, with a timestamp,
  // its TTL is over.
  void Increment(std::string_view row, std::string_view family,
                 std::string_view qualifier, int64_t delta,
                 OptionalTimestamp timestamp_ms = std::nullopt) {
    Add({ChangeType::kIncrement, row, family, qualifier, EncodeCounter(delta),
         timestamp_ms});
  }
  // The newest value with `suffix` after it; an absent cell counts as empty.
  // The timestamp is chosen as Increment chooses it.
  void Append(std::string_view row, std::string_view family,
              std::string_view qualifier, std::string_view suffix,
              OptionalTimestamp timestamp_ms = std::nullopt) {
    Add({ChangeType::kAppend, row, family, qualifier, suffix, timestamp_ms});
  }
  // The version of exactly this timestamp.
  void DeleteVersion(std::string_view row, std::string_view family,
                     std::string_view qualifier, uint64_t timestamp_ms) {
    Add({ChangeType::kDeleteVersion, row, family, qualifier, {}, timestamp_ms});
  }
  // All columns of the row in one family.
  void DeleteFamily(std::string_view row, std::string_view family,
                    OptionalTimestamp timestamp_ms = std::nullopt) {
    Add({ChangeType::kDeleteFamily, row, family, {}, {}, timestamp_ms});
  }
  // The versions of exactly this timestamp in all columns of the row in one
  // family. After the first such delete, each put to a `versioned` family looks
  // for them, which takes about as long as a get of an absent cell.
  void DeleteFamilyVersion(std::string_view row, std::string_view family,
                           uint64_t timestamp_ms) {
    Add({ChangeType::kDeleteFamilyVersion, row, family, {}, {}, timestamp_ms});
  }
  // All columns of the row in all families.
  void DeleteRow(std::string_view row,
                 OptionalTimestamp timestamp_ms = std::nullopt) {
    Add({ChangeType::kDeleteRow, row, {}, {}, {}, timestamp_ms});
  }

  // The changes, which view into the batch until it is changed.
  std::vector<Change> Changes() const;

  void Clear() {
    changes_.clear();
    bytes_.clear();
    index_.clear();
  }
  size_t size() const { return changes_.size(); }

 protected:
  // The changes that decide what a cell has after all of them, in order. They
  // are those of its row in its family up to the last one of a whole row, and
  // then the cell's own: what a change does to a cell depends on those of other
  // columns only if it is a delete of all of them, which gets a timestamp by
  // theirs. Takes time in proportion to them, to changes of other families up
  // to that delete, and to those that were added since the last call.
  std::vector<Change> ChangesFor(std::string_view row, std::string_view family,
                                 std::string_view qualifier);

 private:
  // A piece of bytes_.
  struct Bytes {
    size_t begin = 0;
    size_t size = 0;
  };
  struct KeptChange {
    ChangeType type;
    Bytes row, family, qualifier, value;
    OptionalTimestamp timestamp_ms;
    std::optional<uint64_t> ttl_ms;
  };

  std::string_view View(Bytes bytes) const {
    return std::string_view(bytes_).substr(bytes.begin, bytes.size);
  }

  Change ChangeAt(size_t place) const;

  std::vector<KeptChange> changes_;
  // The bytes of all changes: many small strings would cost more than what is
  // in them. A row or family that follows itself is there once.
  std::string bytes_;
  // The places of the first changes by the hash of their row, and by that of
  // their row and qualifier or, for a change of a whole row, by the inverse of
  // the row's: two entries for each change.
  std::set<std::pair<uint64_t, size_t>> index_;
};

}  // namespace rowbloom

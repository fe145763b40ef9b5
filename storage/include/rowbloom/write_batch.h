// Changes to an embedded store, and how safely they are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rowbloom {

// What a write has survived when it returns.
enum class Durability : uint8_t {
  // On the disk: survives the machine.
  kSync,
  // In RocksDB's log, handed to the operating system: survives the process.
  kAsync,
  // In memory: survives once flushed. After a crash the families of one batch
  // may have come apart.
  kSkipWal,
};

struct WriteOptions {
  // Of every change that names none of its own. nullopt: the store's clock,
  // which never goes back.
  std::optional<uint64_t> timestamp_ms = std::nullopt;
  Durability durability = Durability::kAsync;
};

enum class ChangeType : uint8_t {
  kPut,
  kDelete,
  kDeleteVersion,
  kDeleteFamily,
  kDeleteRow
};

// Changes that are applied together, in order, or not at all. Store::Write
// checks them. A timestamp that is not given is that of the write.
//
// A delete takes what it names up to and including its timestamp, also what is
// written later with such a timestamp; deletes without one take everything
// that was written before. Families that keep the latest version only
// (FamilyOptions) take no timestamps.
//
// Not thread-safe; takes up to twice its keys and values of memory, which it
// keeps when it is cleared. Adding a change may throw std::bad_alloc, which
// leaves the batch as it was.
class WriteBatch {
 public:
  using OptionalTimestamp = std::optional<uint64_t>;

  void Put(std::string_view row, std::string_view family,
           std::string_view qualifier, std::string_view value,
           OptionalTimestamp timestamp_ms = std::nullopt);
  // All versions of one column.
  void Delete(std::string_view row, std::string_view family,
              std::string_view qualifier,
              OptionalTimestamp timestamp_ms = std::nullopt);
  // The version of exactly this timestamp.
  void DeleteVersion(std::string_view row, std::string_view family,
                     std::string_view qualifier, uint64_t timestamp_ms);
  // All columns of the row in one family.
  void DeleteFamily(std::string_view row, std::string_view family,
                    OptionalTimestamp timestamp_ms = std::nullopt);
  // All columns of the row in all families.
  void DeleteRow(std::string_view row,
                 OptionalTimestamp timestamp_ms = std::nullopt);

  void Clear() {
    changes_.clear();
    bytes_.clear();
  }
  size_t size() const { return changes_.size(); }

 private:
  friend class StoreImpl;
  // A piece of bytes_.
  struct Bytes {
    size_t begin = 0;
    size_t size = 0;
  };
  struct Change {
    ChangeType type;
    Bytes row, family, qualifier, value;
    OptionalTimestamp timestamp_ms;
  };

  void Add(ChangeType type, std::string_view row, std::string_view family,
           std::string_view qualifier, std::string_view value,
           OptionalTimestamp timestamp_ms);
  std::string_view View(Bytes bytes) const {
    return std::string_view(bytes_).substr(bytes.begin, bytes.size);
  }

  std::vector<Change> changes_;
  // Of all changes: many small strings would cost more than what is in them. A
  // row or family that follows itself is there once.
  std::string bytes_;
};

}  // namespace rowbloom

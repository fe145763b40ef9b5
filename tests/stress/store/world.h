// The contents that a share of a store's rows must have, and the changes to
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/cell.h"
#include "rowbloom/key_layout.h"
#include "rowbloom/store_options.h"
#include "rowbloom/write_batch.h"
#include "tests/storage/store/store_model.h"
#include "tests/support/random.h"

namespace rowbloom::store_stress {

using test::OwnedAddress;
using test::Random;

// The families of every store: one in the format `latest`, and two in
// `versioned`, one of them with timestamps of the application.
inline constexpr char kLatest[] = "latest";
inline constexpr char kCounted[] = "counted";
inline constexpr char kClient[] = "client";
const std::vector<FamilyDescriptor>& Families();

// Each share has a family that comes, changes and goes while the store is used,
// and has cells of its rows alone.
std::string OwnFamily(uint32_t share);
// Even numbers stand for options of the format `latest`, odd ones for those of
// `versioned`; none of them but this changes an answer.
FamilyOptions OwnFamilyOptions(uint64_t number);

// The qualifiers of cells that only Increment, and only Append, write.
inline constexpr char kCounter[] = "n";
inline constexpr char kText[] = "t";

// The rows of a share all start with its own byte, those that are never written
// end with 'z'.
std::string SharePrefix(uint32_t share);
std::string RandomRow(const KeyLayout& layout, uint32_t share, Random* random);
std::string AbsentRow(const KeyLayout& layout, uint32_t share, Random* random);
std::string RandomQualifier(Random* random);

enum class FamilyChange : char { kNone, kCreate, kAlter, kDrop };

struct Change {
  ChangeType type;
  std::string row;
  std::string family;
  std::string qualifier;
  std::string value;
  std::optional<uint64_t> timestamp_ms = std::nullopt;
  // A put's: 0, so that it is never seen, or longer than any test.
  std::optional<uint64_t> ttl_ms = std::nullopt;
  // Unless it is kNone, what happens to `family`, and, but for kDrop, the
  // number of its options: all else means nothing.
  FamilyChange family_change = FamilyChange::kNone;
  uint64_t family_options = 0;
};

// Applied together or not at all.
using Changes = std::vector<Change>;

void AddTo(const Change& change, WriteBatch* batch);
WriteBatch ToWriteBatch(const Changes& changes);
// The bytes that a journal has of changes.
std::string Encode(const Changes& changes);
void Decode(std::string_view bytes, Changes* changes);

// The cells of a share. Families whose timestamps the store gives count changes
// instead of milliseconds; the application's timestamps are larger than both.
class World {
 public:
  void Apply(const Changes& changes);

  // The same changes, with deletes of the families in the place of a delete of
  // a row: in the application's family up to the newest timestamp that is there
  // when its turn comes. They take the same when they are written twice,
  // whatever came between.
  Changes WithoutRowDeletes(const Changes& changes) const;

  // The share's own family, while there is one.
  const std::optional<FamilyOptions>& own_family() const { return own_family_; }

  // About where the next change is, so that old and new ones meet.
  uint64_t RandomTimestamp(Random* random) const;

  // The newest value of a cell.
  std::optional<std::string> Value(const OwnedAddress& at) const;

  // The answers of the store's functions of these names, but for timestamps.
  std::vector<Cell> GetVersions(const OwnedAddress& at,
                                uint32_t max_versions) const {
    return WithoutStoreTimes(
        model_.GetVersions(at, {.max_versions = max_versions}, kNow));
  }
  std::vector<Cell> GetRow(const std::string& row,
                           const RowOptions& options) const {
    return WithoutStoreTimes(model_.GetRow(row, options, kNow));
  }
  std::vector<Row> Scan(const ScanOptions& options) const;

  // Removes the timestamps that the store gave. The model knows only the newest
  // version of such cells.
  static std::vector<Cell> WithoutStoreTimes(std::vector<Cell> cells);

 private:
  // The time of all reads, at which a TTL of 0 has run out and no other has.
  static constexpr uint64_t kNow = 1;

  // The changes that a delete of a row comes to now.
  Changes DeletesOfFamilies(const std::string& row) const;
  void ChangeFamily(const Change& change);

  test::StoreModel model_{FamilyOptionsByName()};
  std::optional<FamilyOptions> own_family_;
  uint64_t changes_ = 0;

  static std::map<std::string, FamilyOptions> FamilyOptionsByName();
};

inline void Apply(const Changes& changes, World* world) {
  world->Apply(changes);
}

// The contents that a share may have. A read is right if it is right in one of
// them.
using Worlds = std::vector<const World*>;

// A counter as Store::Increment keeps it.
std::string EncodeCounter(uint64_t counter);
uint64_t DecodeCounter(std::string_view bytes);

}  // namespace rowbloom::store_stress

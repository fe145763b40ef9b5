// The lookups that FrontFilterDB makes for gets, of one key and of many.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rocksdb/options.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "storage/filter_policy/front_filter/core.h"

namespace rowbloom::front_filter {

// The answer of the front filter for a key.
enum class Said : uint8_t {
  kNothing,  // it has no row, or there is no view
  kMayExist,
  kAbsent,
};

// The family whose rows are looked up for such a read; null: RocksDB reads it
// all. It might refuse what has timestamps.
Family* FamilyToAsk(const Core& core, const rocksdb::ReadOptions& options,
                    const rocksdb::ColumnFamilyHandle* family);

// Looks up one key, unless the get is to skip that.
Said Ask(const Family& family, const rocksdb::Slice& key);

// Looks up many keys in one view: sets *said to as many, and
// returns how many are kAbsent. key_at(i) is key i of `count`.
template <typename KeyAt>
size_t AskMany(const Family& family, const View& view, size_t count,
               const KeyAt& key_at, std::vector<Said>* said);

// Counts what came of a get that RocksDB answered.
void CountPassed(const Family& family, Said said,
                 const rocksdb::Status& status);

// The parts of a key; nullopt outside the family's layout.
inline std::optional<KeyParts> PartsOf(const Family& family,
                                       const rocksdb::Slice& key) {
  const std::string_view bytes(key.data(), key.size());
  const auto row = family.rules().RowOf(bytes);
  if (!row) return std::nullopt;
  return KeyParts{.row = *row, .qualifier = bytes.substr(row->size())};
}

template <typename KeyAt>
size_t AskMany(const Family& family, const View& view, size_t count,
               const KeyAt& key_at, std::vector<Said>* said) {
  said->assign(count, Said::kNothing);
  size_t absent = 0;
  family.AskAll(
      view, count,
      [&](size_t i) {
        const auto parts = PartsOf(family, key_at(i));
        if (parts) (*said)[i] = Said::kMayExist;
        return parts;
      },
      [&](size_t i) {
        (*said)[i] = Said::kAbsent;
        ++absent;
      });
  return absent;
}

}  // namespace rowbloom::front_filter

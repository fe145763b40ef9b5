// The lookups that FrontFilterDB makes for gets, of one key and of many.
#pragma once

#include <cstdint>

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

// Looks up the row of one key.
Said Ask(Core* core, const Family& family, const rocksdb::Slice& key);

// The same for many keys, all answers as of one time: sets *said to as many,
// and returns how many are kAbsent. key_at(i) is key i of `count`.
template <typename KeyAt>
size_t AskMany(Core* core, const Family& family, size_t count,
               const KeyAt& key_at, std::vector<Said>* said);

// Counts what came of a get that RocksDB answered.
void CountPassed(Core* core, Said said, const rocksdb::Status& status);

// The row of a key; nullopt outside the family's layout.
inline std::optional<std::string_view> RowOf(const Family& family,
                                             const rocksdb::Slice& key) {
  return family.rules().RowOf({key.data(), key.size()});
}

template <typename KeyAt>
size_t AskMany(Core* core, const Family& family, size_t count,
               const KeyAt& key_at, std::vector<Said>* said) {
  size_t absent = 0;
  said->assign(count, Said::kNothing);
  core->AskAll(
      family, count,
      [&](size_t i) {
        const auto row = RowOf(family, key_at(i));
        if (row) (*said)[i] = Said::kMayExist;
        return row;
      },
      [&](size_t i) {
        (*said)[i] = Said::kAbsent;
        ++absent;
      });
  return absent;
}

}  // namespace rowbloom::front_filter

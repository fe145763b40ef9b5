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
enum class Answer : uint8_t {
  kNothing,  // not looked up: no row, no view, or bypassed
  kMayExist,
  kAbsent,
};

// Returns the family to look rows up in for such a read. Null: RocksDB alone
// reads, as with a timestamp, which it may refuse.
Family* FamilyToProbe(const Core& core, const rocksdb::ReadOptions& options,
                      const rocksdb::ColumnFamilyHandle* family);

// Looks up one key, unless the bypass skips that.
Answer LookUpOne(const Family& family, const rocksdb::Slice& key);

// Counts the outcome of a get or seek that RocksDB answered.
void CountPassed(const Family& family, Answer answer,
                 const rocksdb::Status& status);

// The parts of a key; nullopt outside the family's layout.
inline std::optional<KeyParts> PartsOf(const Family& family,
                                       const rocksdb::Slice& key) {
  const std::string_view bytes(key.data(), key.size());
  const auto row = family.rules().RowOf(bytes);
  if (!row) return std::nullopt;
  return KeyParts{.row = *row, .qualifier = bytes.substr(row->size())};
}

// Looks up `count` keys, key_at(i) being key i, in one view, and sets *answers
// to an answer for each. Counts nothing.
template <typename KeyAt>
Outcome LookUpMany(const Family& family, const View& view, size_t count,
                   const KeyAt& key_at, std::vector<Answer>* answers) {
  answers->assign(count, Answer::kNothing);
  return family.LookUp(
      view, count,
      [&](size_t i) {
        const auto parts = PartsOf(family, key_at(i));
        if (parts) (*answers)[i] = Answer::kMayExist;
        return parts;
      },
      [&](size_t i) { (*answers)[i] = Answer::kAbsent; });
}

}  // namespace rowbloom::front_filter

// The rules that the options of a column family give for its rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "lib/layout/row_rule.h"
#include "rocksdb/options.h"
#include "rocksdb/version.h"
#include "rowbloom/key_layout.h"
#include "rowbloom/result.h"

namespace rowbloom::front_filter {

// The order of the keys of a family, as far as it is known.
enum class RowOrder : uint8_t { kBytewise, kReverseBytewise, kUnknown };

// The row and the qualifier of a key, or the row alone for any of its keys.
struct KeyParts {
  std::string_view row;
  // Empty: the bare row. nullopt: any key.
  std::optional<std::string_view> qualifier = std::nullopt;
};

struct FamilyRules {
  KeyLayout layout;
  const rocksdb::Comparator* comparator;
  RowOrder order;
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1004
  // RocksDB refuses files that it wrote with another one, unless the object
  // registry has that.
  std::shared_ptr<rocksdb::CompressionManager> compression_manager = nullptr;
#endif

  // The row of a key; nullopt outside the layout, or where a custom layout
  // throws.
  std::optional<std::string_view> RowOf(std::string_view key) const {
    const size_t row_bytes = layout.kind() == KeyLayout::Kind::kCustom
                                 ? CustomRowBytes(key)
                                 : RowBytesOf(layout.kind(), layout.parameter(),
                                              key.data(), key.size());
    if (row_bytes == KeyLayout::kNoRow) return std::nullopt;
    return key.substr(0, row_bytes);
  }
  // Tells whether the bytes are one row.
  bool IsRow(std::string_view bytes) const {
    const auto row = RowOf(bytes);
    return row && row->size() == bytes.size();
  }

  // The layout's RowBytes; kNoRow where it throws.
  size_t CustomRowBytes(std::string_view key) const;
};

// Returns the rules of a family with these options, or the reason why it cannot
// have a front filter, as a sentence. May throw std::bad_alloc.
Result<FamilyRules> RulesOf(const rocksdb::ColumnFamilyOptions& options);

// Tells whether a key of the row may lie between two keys, in bytewise order.
bool MayLieBetween(std::string_view low, std::string_view high,
                   std::string_view row);

}  // namespace rowbloom::front_filter

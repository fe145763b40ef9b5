// The entries of a file's keys while its filter block is built: the hashes of
// their rows (or row prefixes) and cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lib/block/block_options.h"
#include "lib/block/hash.h"
#include "lib/block/hash_list.h"
#include "lib/layout/row_rule.h"

namespace rowbloom {

class KeyEntries {
 public:
  // REQUIRES a type other than kNone.
  explicit KeyEntries(const FilterBlockOptions& options);

  // Adds the entries of a key. A key outside the layout is an entry as a whole:
  // in ROWCOL, or where the block has none, in ROW or ROWPREFIX.
  void AddKey(std::string_view key);

  // Tells whether TryAddKey knows the keys: no custom layout, row prefixes or
  // sums.
  static bool IsPlain(const FilterBlockOptions& options);

  // Does what AddKey does for most keys, in a few instructions and without a
  // call: a flush or compaction comes here for each key. False, with nothing
  // done, for a key that takes AddKey. REQUIRES IsPlain, and a layout of this
  // kind.
  template <KeyLayout::Kind kKind>
  [[gnu::always_inline]] bool TryAddKey(std::string_view key) {
    if (!rows_.HasRoom()) return false;
    const size_t row_bytes =
        RowBytesOf(kKind, parameter_, key.data(), key.size());
    if (row_bytes > kInlineHashBytes) return false;
    const size_t column_bytes = has_cells_ ? key.size() - row_bytes : 0;
    if (column_bytes > 0 &&
        (column_bytes > kInlineHashBytes || !cells_.HasRoom())) {
      return false;
    }
    const uint64_t row_hash = HashRow({key.data(), row_bytes});
    rows_.AddToRoom(row_hash);
    if (column_bytes > 0) {
      cells_.AddToRoom(
          HashRowCol(row_hash, {key.data() + row_bytes, column_bytes}));
    }
    return true;
  }

  // The hashes for ROW, or for ROWPREFIX.
  const HashList& rows() const { return rows_; }
  // The hashes for ROWCOL.
  const HashList& cells() const { return cells_; }

  // Bytes allocated for hashes.
  size_t MemoryBytes() const {
    return rows_.MemoryBytes() + cells_.MemoryBytes();
  }

  // Forgets all keys and gives their memory back.
  void Clear() {
    rows_.Clear();
    cells_.Clear();
  }

 private:
  // All constant: entries whose hashes were moved away are used again.
  const KeyLayout layout_;
  const uint32_t parameter_;
  const uint32_t row_prefix_length_;  // 0: rows are indexed whole
  const bool has_cells_;
  HashList rows_;
  HashList cells_;
};

}  // namespace rowbloom

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

// The hashes of the entries of one block.
struct EntryHashes {
  HashList rows;   // for ROW, or for ROWPREFIX
  HashList cells;  // for ROWCOL

  size_t size() const { return rows.size() + cells.size(); }

  // Bytes allocated for them.
  size_t MemoryBytes() const {
    return rows.MemoryBytes() + cells.MemoryBytes();
  }
};

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
    if (!hashes_.rows.HasRoom()) return false;
    const size_t row_bytes =
        RowBytesOf(kKind, parameter_, key.data(), key.size());
    if (row_bytes > kInlineHashBytes) return false;
    const size_t column_bytes = has_cells_ ? key.size() - row_bytes : 0;
    if (column_bytes > 0 &&
        (column_bytes > kInlineHashBytes || !hashes_.cells.HasRoom())) {
      return false;
    }
    const uint64_t row_hash = HashRow({key.data(), row_bytes});
    hashes_.rows.AddToRoom(row_hash);
    if (column_bytes > 0) {
      hashes_.cells.AddToRoom(
          HashRowCol(row_hash, {key.data() + row_bytes, column_bytes}));
    }
    return true;
  }

  EntryHashes& hashes() { return hashes_; }
  const EntryHashes& hashes() const { return hashes_; }

 private:
  const KeyLayout layout_;
  const uint32_t parameter_;
  const uint32_t row_prefix_length_;  // 0: rows are indexed whole
  const bool has_cells_;
  EntryHashes hashes_;
};

}  // namespace rowbloom

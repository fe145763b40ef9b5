#include "lib/block/key_entries.h"

#include "lib/block/format.h"

namespace rowbloom {

KeyEntries::KeyEntries(const FilterBlockOptions& options)
    : layout_(options.key_layout),
      parameter_(layout_.parameter()),
      row_prefix_length_(options.bloom_type == BloomType::kRowPrefixFixedLength
                             ? options.row_prefix_length
                             : 0),
      has_cells_(options.bloom_type == BloomType::kRowCol),
      hashes_{.rows = HashList(options.verify),
              .cells = HashList(options.verify)} {}

bool KeyEntries::IsPlain(const FilterBlockOptions& options) {
  return options.key_layout.kind() != KeyLayout::Kind::kCustom &&
         options.bloom_type != BloomType::kRowPrefixFixedLength &&
         !options.verify;
}

void KeyEntries::AddKey(std::string_view key) {
  const size_t row_bytes = layout_.RowBytes(key);
  if (row_bytes == KeyLayout::kNoRow) {
    has_cells_ ? hashes_.cells.Add(HashWholeKey(key))
               : hashes_.rows.Add(HashRow(key));
    return;
  }
  const std::string_view row = key.substr(0, row_bytes);
  if (row_prefix_length_ > 0) {
    hashes_.rows.Add(
        HashRow(format::RowPrefix(layout_, row, row_prefix_length_)));
    return;
  }
  const uint64_t row_hash = HashRow(row);
  hashes_.rows.Add(row_hash);
  if (has_cells_ && row_bytes < key.size()) {
    hashes_.cells.Add(HashRowCol(row_hash, key.substr(row_bytes)));
  }
}

}  // namespace rowbloom

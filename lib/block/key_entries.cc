#include "lib/block/key_entries.h"

#include "lib/block/format.h"

namespace rowbloom {

KeyEntries::KeyEntries(const FilterBlockOptions& options)
    : layout_(options.key_layout),
      parameter_(layout_.parameter()),
      type_(options.bloom_type),
      row_prefix_length_(options.row_prefix_length),
      has_cells_(type_ == BloomType::kRowCol),
      rows_(options.verify),
      cells_(options.verify) {}

bool KeyEntries::IsPlain(const FilterBlockOptions& options) {
  return options.key_layout.kind() != KeyLayout::Kind::kCustom &&
         options.bloom_type != BloomType::kRowPrefixFixedLength &&
         !options.verify;
}

void KeyEntries::AddKey(std::string_view key) {
  ++keys_;
  const size_t row_bytes = layout_.RowBytes(key);
  if (type_ == BloomType::kRowPrefixFixedLength) {
    if (row_bytes != KeyLayout::kNoRow) {
      rows_.Add(HashRow(format::RowPrefix(layout_, key.substr(0, row_bytes),
                                          row_prefix_length_)));
    } else if (key.size() == layout_.RowOffset() + row_prefix_length_) {
      rows_.Add(HashRow(key));
    }
    return;
  }
  if (row_bytes == KeyLayout::kNoRow) return;
  const uint64_t row_hash = HashRow(key.substr(0, row_bytes));
  rows_.Add(row_hash);
  if (has_cells_ && row_bytes < key.size()) {
    cells_.Add(HashRowCol(row_hash, key.substr(row_bytes)));
  }
}

}  // namespace rowbloom

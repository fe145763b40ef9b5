// Parses and appends cells of data blocks, and keys, which indexes hold, too:
//
//   cell = key length i32, value length i32, key, value
//          [, tags length u16, tags] [, mvcc vlong]
//   key  = row length i16, row, family length i8, family, qualifier,
//          timestamp i64, type u8
//
// All functions are pure and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rowbloom/hfile_cell.h"

namespace rowbloom::hfile {

// The sizes of the length fields of a cell.
inline constexpr size_t kRowLengthBytes = 2;
inline constexpr size_t kFamilyLengthBytes = 1;
inline constexpr size_t kTagsLengthBytes = 2;
// The fixed part of a key: the two lengths, the timestamp and the type.
inline constexpr size_t kKeyFixedBytes = 12;
// The timestamp and the type, which end a key.
inline constexpr size_t kTimestampTypeBytes = 9;
// The fixed part of a cell: the lengths of key and value.
inline constexpr size_t kCellFixedBytes = 8;

// Returns false if the bytes are no key.
[[nodiscard]] bool ParseKey(std::string_view bytes, HFileKey* key);

// REQUIRES that row and family fit into their length fields.
void AppendKey(const HFileKey& key, std::string* out);

inline size_t KeyBytes(const HFileKey& key) {
  return kKeyFixedBytes + key.row.size() + key.family.size() +
         key.qualifier.size();
}

// The rule that shortens a block's index key. Readers accept both.
enum class IndexKeyRule : uint8_t {
  kHBase24,  // up to 2.4
  kHBase25,  // since 2.5
};

// Returns the index key of a block, shortened by the rule. It is after `last`,
// the cell before the block, and at or before `first`, the block's first cell.
std::string IndexKey(IndexKeyRule rule, const HFileKey& last,
                     const HFileKey& first);

// The optional parts of the cells of a file.
struct CellForm {
  bool tags = false;
  bool mvcc = false;
  // Every mvcc number is 0. A reader of plain blocks skips one byte for it,
  // whatever its value.
  bool mvcc_is_zero = false;
  // Tags are references to a dictionary in PREFIX, DIFF and FAST_DIFF blocks.
  bool tags_compressed = false;
};

// Returns the number of bytes that AppendCell appends.
size_t CellBytes(const HFileCellView& cell, const CellForm& form);

void AppendCell(const HFileCellView& cell, const CellForm& form,
                std::string* out);

// Parses the cell at the front of `bytes` and sets `*cell_bytes` to its size.
// Returns null, or the problem; DescribeCell gives the sizes for the message.
[[nodiscard]] const char* ParseCell(std::string_view bytes,
                                    const CellForm& form, HFileCellView* cell,
                                    size_t* cell_bytes);

// Returns a text with the lengths that a cell claims and the bytes available.
std::string DescribeCell(std::string_view bytes);

}  // namespace rowbloom::hfile

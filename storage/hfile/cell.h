// Cells as a data block has them, and their keys, which indexes hold, too:
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
// The fixed part of a cell: the lengths of key and value.
inline constexpr size_t kCellFixedBytes = 8;

// False when the bytes are no key.
[[nodiscard]] bool ParseKey(std::string_view bytes, HFileKey* key);

// REQUIRES that row and family fit into their lengths.
void AppendKey(const HFileKey& key, std::string* out);

inline size_t KeyBytes(const HFileKey& key) {
  return kKeyFixedBytes + key.row.size() + key.family.size() +
         key.qualifier.size();
}

// The rule by which a block's index key is shortened. Readers take both.
enum class IndexKeyRule : uint8_t {
  kHBase24,  // up to 2.4
  kHBase25,  // since 2.5
};

// The index key of a block: the shortest that the rule gives, after `last`, the
// cell before the block, and at or before `first`, its first cell.
std::string IndexKey(IndexKeyRule rule, const HFileKey& last,
                     const HFileKey& first);

// The parts of a cell that a file has.
struct CellForm {
  bool tags = false;
  bool mvcc = false;
  // Every mvcc is 0. A reader of plain blocks takes one byte for it, whatever
  // it is.
  bool mvcc_is_zero = false;
  // Tags are references to a dictionary in PREFIX, DIFF and FAST_DIFF blocks.
  bool tags_compressed = false;
};

// The number of bytes that AppendCell appends.
size_t CellBytes(const HFileCellView& cell, const CellForm& form);

void AppendCell(const HFileCellView& cell, const CellForm& form,
                std::string* out);

// The cell at the front of `bytes` and how many bytes it has. Null, or what is
// wrong; DescribeCell says where.
[[nodiscard]] const char* ParseCell(std::string_view bytes,
                                    const CellForm& form, HFileCellView* cell,
                                    size_t* cell_bytes);

// The lengths that a cell claims to have and the bytes that there are.
std::string DescribeCell(std::string_view bytes);

}  // namespace rowbloom::hfile

// The tags that a block has had, so that it need not store them again: HBase's
// LRUDictionary with room for 127. Reader and writer of a block make the same
// moves on it. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/hfile/coding.h"

namespace rowbloom::hfile {

class TagDictionary {
 public:
  static constexpr size_t kCapacity = 127;

  // Without the length that a tag has in cells: type and contents. In place of
  // the least recently used one when it is full; an empty tag is not taken.
  void Add(std::string_view tag);
  // The tag's number. It was used now.
  std::optional<size_t> Find(std::string_view tag);
  // The tag of this number, which was used now. Null when there is none.
  const std::string* Get(size_t number);
  void Clear() { size_ = 0; }

 private:
  // Moves what is at this place of order_ to its front.
  void Use(size_t place);

  std::vector<std::string> tags_;  // up to size_; memory is used again
  std::array<uint8_t, kCapacity> order_ = {};  // numbers, the last used first
  size_t size_ = 0;
};

// Whether the bytes are tags as HFileCellView has them.
bool AreTags(std::string_view bytes);

// Appends a cell's tags in the form with references:
//
//   ff, tag's length as a varint, tag   or   number u16
//
// REQUIRES AreTags(tags).
void CompressTags(std::string_view tags, TagDictionary* dictionary,
                  std::string* out);

// The reverse, from the front of `*in`: tags that take `byte_count` bytes in a
// cell, into `*tags`. Null, or what is wrong.
[[nodiscard]] const char* UncompressTags(uint64_t byte_count,
                                         TagDictionary* dictionary, Cursor* in,
                                         std::string* tags);

}  // namespace rowbloom::hfile

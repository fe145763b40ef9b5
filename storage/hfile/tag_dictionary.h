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

namespace rowbloom::hfile {

class TagDictionary {
 public:
  static constexpr size_t kCapacity = 127;

  // Takes a tag's type and contents, without its length. A full dictionary
  // forgets the least recently used one for it. An empty tag is not taken.
  void Add(std::string_view tag);
  // Gives the tag's number, if it is there, and counts as a use.
  std::optional<size_t> Find(std::string_view tag);
  // Gives the tag of this number, and counts as a use. Null if there is none.
  const std::string* Get(size_t number);
  void Clear() { size_ = 0; }

 private:
  // Moves what is at this place of order_ to its front.
  void Use(size_t place);

  std::vector<std::string> tags_;  // up to size_; memory is used again
  std::array<uint8_t, kCapacity> order_ = {};  // numbers, the last used first
  size_t size_ = 0;
};

// Says whether the bytes are tags as HFileCellView has them.
bool AreTags(std::string_view bytes);

// Appends a cell's tags in the form with references:
//
//   ff, tag's length as a varint, tag   or   number u16
//
// REQUIRES AreTags(tags).
void CompressTags(std::string_view tags, TagDictionary* dictionary,
                  std::string* out);

// Reads tags from the front of `*in` that take `byte_count` bytes in a cell,
// into
// `*tags`. Returns null, or a sentence about what is wrong.
[[nodiscard]] const char* UncompressTags(uint64_t byte_count,
                                         TagDictionary* dictionary,
                                         std::string_view* in,
                                         std::string* tags);

}  // namespace rowbloom::hfile

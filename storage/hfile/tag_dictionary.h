// The tags that a block has stored, so that it does not store them again:
// HBase's LRUDictionary with room for 127. The reader and the writer of a block
// apply the same operations to it. Not thread-safe.
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

  // Adds a tag: its type and contents, without its length. A full dictionary
  // evicts the least recently used tag. An empty tag is not added.
  void Add(std::string_view tag);
  // Returns the tag's number, if it is present, and counts as a use.
  std::optional<size_t> Find(std::string_view tag);
  // Returns the tag of this number, and counts as a use. Null if there is none.
  const std::string* Get(size_t number);
  void Clear() { size_ = 0; }

 private:
  // Moves the number at this place of order_ to the front.
  void Use(size_t place);

  std::vector<std::string> tags_;  // valid up to size_; memory is reused
  std::array<uint8_t, kCapacity> order_ = {};  // numbers, the last used first
  size_t size_ = 0;
};

// Tells whether the bytes are tags as HFileCellView has them.
bool AreTags(std::string_view bytes);

// Appends a cell's tags in the form with references:
//
//   ff, tag's length as a varint, tag   or   number u16
//
// REQUIRES AreTags(tags).
void CompressTags(std::string_view tags, TagDictionary* dictionary,
                  std::string* out);

// Reads tags from the front of `*in` into `*tags`, where they take `byte_count`
// bytes. Returns null, or a sentence about the problem.
[[nodiscard]] const char* UncompressTags(uint64_t byte_count,
                                         TagDictionary* dictionary,
                                         std::string_view* in,
                                         std::string* tags);

}  // namespace rowbloom::hfile

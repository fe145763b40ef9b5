// The trailer: the last 4,096 bytes of a file, 212 in v2.
//
//   magic TRABLK"$ (8) | varint length | protocol buffer | zeros | version u32
//
// The version has the minor number in its first byte, the major one in the
// other three.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "rowbloom/hfile_reader.h"

namespace rowbloom::hfile {

inline constexpr size_t kTrailerBytes = 4096;
inline constexpr size_t kTrailerBytesV2 = 212;
inline constexpr uint32_t kMaxIndexLevels = 16;

// Returns the size of the trailer itself.
inline size_t TrailerBytes(const HFileTrailer& trailer) {
  return trailer.major_version == 2 ? kTrailerBytesV2 : kTrailerBytes;
}

// Tells whether `tail`, as ParseTrailer has it, ends with the trailer of an
// HFile of any version.
bool HasTrailer(std::string_view tail);

// Parses the trailer of a file of `file_bytes` bytes. `tail` is the last
// kTrailerBytes bytes, or the whole file if it is shorter. Checks every offset
// against the file's size. Errors, without the path: Corruption, NotSupported
// for other versions.
rocksdb::Status ParseTrailer(std::string_view tail, uint64_t file_bytes,
                             HFileTrailer* trailer);

// Sets `*bytes` to the kTrailerBytes bytes of the trailer. InvalidArgument if
// they are too few, which only a long comparator name can cause.
rocksdb::Status SerializeTrailer(const HFileTrailer& trailer,
                                 std::string* bytes);

}  // namespace rowbloom::hfile

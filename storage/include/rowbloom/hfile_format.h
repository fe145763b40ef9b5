// The choices that an HFile states: its codec, the form of its cells, the hash
// of its Bloom filters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rowbloom {

// The codec of all blocks of a file. The values are on disk: never renumber.
enum class HFileCompression : uint8_t {
  kLzo = 0,  // neither read nor written, as kBzip2, kLzma and kBrotli
  kGz = 1,
  kNone = 2,
  kSnappy = 3,
  kLz4 = 4,
  kBzip2 = 5,
  kZstd = 6,
  kLzma = 7,
  kBrotli = 8,
};
// HBase's spelling: "LZO", "GZ", "NONE", ...; "codec 9" for unknown numbers.
std::string ToString(HFileCompression codec);

// The form of cells in data blocks: whole, or without what repeats the cell
// before. The values are on disk: never renumber.
enum class HFileEncoding : uint16_t {
  kNone = 0,
  kPrefix = 2,
  kDiff = 3,
  kFastDiff = 4,
  kRowIndexV1 = 7,  // whole, with an index of rows for seeks
};
// HBase's spelling: "NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1".
std::string_view ToString(HFileEncoding encoding);

// The hash of Bloom filters. The values are on disk: never renumber.
enum class HFileHash : uint8_t { kJenkins = 0, kMurmur = 1, kMurmur3 = 2 };
// "jenkins", "murmur", "murmur3".
std::string_view ToString(HFileHash hash);

}  // namespace rowbloom

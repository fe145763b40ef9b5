// A compound Bloom filter as it is read: the description in the load-on-open
// section, which lists the chunks. The chunks are blocks of their own.
//
//   version i32 = 3, bytes i64, hash count i32, hash type i32, keys i64,
//   max keys i64, chunks i32, comparator name (vlong, bytes), root index
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "rowbloom/hfile_reader.h"
#include "storage/hfile/block_cache.h"
#include "storage/hfile/block_index.h"
#include "storage/hfile/file_info.h"

namespace rowbloom::hfile {

inline constexpr uint32_t kBloomMetaVersion = 3;
// The comparator that is written for ROWCOL filters.
inline constexpr char kRowColComparator[] =
    "org.apache.hadoop.hbase.CellComparatorImpl";

// The general filter, as the file info describes it.
struct BloomDescription {
  BloomType type = BloomType::kNone;
  uint32_t prefix_bytes = 0;  // kRowPrefixFixedLength only
  bool has_last_key = false;
  std::string last_key;
};

// Corruption when the filter must not be trusted: an unknown type, no prefix
// length, or no last key where one is needed.
rocksdb::Status ParseBloomDescription(const FileInfo& file_info,
                                      BloomDescription* description);

struct BloomFilter {
  HFileBloomInfo info;
  // The index lies in the block.
  Block block;
  RootIndex chunks;
};

// Parses `filter->block`. Errors name no place.
rocksdb::Status ParseBloomFilter(BloomType type, const BlockBounds& bounds,
                                 BloomFilter* filter);

// The spread of a filter's keys over its chunks. The filter's description does
// not say it but implies it: all chunks take as many keys as the first, the
// last one what is left, and only that is folded.
struct ChunkPlan {
  uint64_t full_keys = 0;  // in each chunk but the last
  uint64_t last_keys = 0;  // in the last chunk
  uint64_t last_max_keys = 0;
  // The number of times that the last one was halved; nullopt: not from
  // `full_bytes`.
  std::optional<uint32_t> last_folds;
};

// The plan of chunks whose last has `last_bytes`, uncompressed, and others
// `full_bytes`. A single chunk does not tell `full_bytes`: it must be said.
// nullopt when the numbers are not those of HBase's way to fill chunks.
std::optional<ChunkPlan> PlanChunks(const HFileBloomInfo& info,
                                    uint64_t full_bytes, uint64_t last_bytes);
// HBase's default for io.storefile.bloom.block.size.
inline constexpr uint64_t kDefaultChunkBytes = 128 * 1024;

// The key of a ROWCOL filter: that of a cell without a family.
std::string RowColBloomKey(std::string_view row, std::string_view qualifier);

// The part of the row that a filter of row prefixes has.
inline std::string_view RowPrefix(std::string_view row, uint32_t prefix_bytes) {
  return row.substr(0, prefix_bytes);
}

// The key that a general filter of this description has of a cell.
std::string BloomKey(const BloomDescription& description, std::string_view row,
                     std::string_view qualifier);

// HBase's order of the cells of a file with this comparator class.
enum class Comparator : uint8_t {
  kCells,     // CompareHFileKeys
  kMeta,      // hbase:meta, whose rows have parts
  kRawBytes,  // the keys are not those of cells
};
Comparator ComparatorOf(std::string_view class_name);

}  // namespace rowbloom::hfile

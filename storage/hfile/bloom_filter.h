// Reads compound Bloom filters. A filter's chunks are blocks of their own. Its
// description in the load-on-open section lists them:
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
// The comparator that ROWCOL filters name.
inline constexpr char kRowColComparator[] =
    "org.apache.hadoop.hbase.CellComparatorImpl";

// The general filter, as the file info describes it.
struct BloomDescription {
  BloomType type = BloomType::kNone;
  uint32_t prefix_bytes = 0;  // kRowPrefixFixedLength only
  bool has_last_key = false;
  std::string last_key;
};

// Returns an error if the filter must not be trusted: NotSupported for an
// unknown type, Corruption without a type, a valid prefix length, or a last key
// where one is needed.
rocksdb::Status ParseBloomDescription(const FileInfo& file_info,
                                      BloomDescription* description);

struct BloomFilter {
  HFileBloomInfo info;
  // The block holds the bytes of the index.
  Block block;
  RootIndex chunks;
};

// Parses `filter->block`. Chunks end by `end_at`. Errors name no place.
rocksdb::Status ParseBloomFilter(BloomType type, uint64_t end_at,
                                 BloomFilter* filter);

// The distribution of a filter's keys over its chunks. The filter's description
// implies it: all chunks but the last have the same number of keys, the last
// has the rest, and only the last is folded.
struct ChunkPlan {
  uint64_t full_keys = 0;  // in each chunk but the last
  uint64_t last_keys = 0;  // in the last chunk
  uint64_t last_max_keys = 0;
  // The number of times that the last chunk was halved; nullopt if halving
  // `full_bytes` does not give its size.
  std::optional<uint32_t> last_folds;
};

// Returns the plan of chunks of which the last has `last_bytes`, uncompressed,
// and the others `full_bytes`. The caller has to know `full_bytes` of a single
// chunk. Returns nullopt for numbers that HBase's way to fill chunks excludes.
std::optional<ChunkPlan> PlanChunks(const HFileBloomInfo& info,
                                    uint64_t full_bytes, uint64_t last_bytes);
// HBase's default for io.storefile.bloom.block.size.
inline constexpr uint64_t kDefaultChunkBytes = 128 * 1024;

// Returns the key of a ROWCOL filter: that of a cell without a family.
std::string RowColBloomKey(std::string_view row, std::string_view qualifier);

// Returns the key of a cell in a general filter of this description.
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

// The file info block: a map of names to bytes.
//
//   "PBUF" | varint length | protocol buffer of pairs
//
// Numbers are big-endian. True is written as ff; any byte but 0 reads as true.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/status.h"

namespace rowbloom::hfile {

using FileInfo = std::map<std::string, std::string>;

namespace info {
inline constexpr char kLastKey[] = "hfile.LASTKEY";
inline constexpr char kAverageKeyBytes[] = "hfile.AVG_KEY_LEN";
inline constexpr char kAverageValueBytes[] = "hfile.AVG_VALUE_LEN";
inline constexpr char kCreateTime[] = "hfile.CREATE_TIME_TS";
inline constexpr char kBiggestCellKey[] = "hfile.KEY_OF_BIGGEST_CELL";
inline constexpr char kBiggestCellBytes[] = "hfile.LEN_OF_BIGGEST_CELL";
inline constexpr char kMaxTagsBytes[] = "hfile.MAX_TAGS_LEN";
inline constexpr char kTagsCompressed[] = "hfile.TAGS_COMPRESSED";
inline constexpr char kKeyValueVersion[] = "KEY_VALUE_VERSION";
inline constexpr char kMaxMvcc[] = "MAX_MEMSTORE_TS_KEY";
inline constexpr char kMaxSequenceId[] = "MAX_SEQ_ID_KEY";
inline constexpr char kMajorCompaction[] = "MAJOR_COMPACTION_KEY";
inline constexpr char kExcludeFromMinor[] = "EXCLUDE_FROM_MINOR_COMPACTION";
inline constexpr char kTimeRange[] = "TIMERANGE";
inline constexpr char kEarliestPut[] = "EARLIEST_PUT_TS";
inline constexpr char kBloomType[] = "BLOOM_FILTER_TYPE";
inline constexpr char kBloomParameter[] = "BLOOM_FILTER_PARAM";
inline constexpr char kLastBloomKey[] = "LAST_BLOOM_KEY";
inline constexpr char kDeleteFamilyCount[] = "DELETE_FAMILY_COUNT";
inline constexpr char kBulkLoadTask[] = "BULKLOAD_SOURCE_TASK";
inline constexpr char kBulkLoadTime[] = "BULKLOAD_TIMESTAMP";
inline constexpr char kHistorical[] = "HISTORICAL";
inline constexpr char kDataBlockEncoding[] = "DATA_BLOCK_ENCODING";
inline constexpr char kIndexBlockEncoding[] = "INDEX_BLOCK_ENCODING";
}  // namespace info

// Tells whether the name is reserved for HBase and writers of its files.
bool IsReserved(std::string_view name);

// The largest payload that is read or written. A map takes many times the bytes
// of its entries.
inline constexpr size_t kMaxFileInfoBytes = size_t{16} << 20;

// If a name occurs twice, the last one counts. Corruption names no place.
rocksdb::Status ParseFileInfo(std::string_view payload, FileInfo* file_info);
// Returns the payload; empty: it would have more than kMaxFileInfoBytes.
std::string SerializeFileInfo(const FileInfo& file_info);

// Finds a number of fixed size: uint8_t, uint32_t or uint64_t. `*value` is
// nullopt if the name is absent. Corruption if its value has another size.
template <typename Number>
rocksdb::Status FindNumber(const FileInfo& file_info, const char* name,
                           std::optional<Number>* value);
// Returns null if the name is absent.
const std::string* Find(const FileInfo& file_info, const char* name);

struct TimeRange {
  int64_t min_ms = 0;
  int64_t max_ms = 0;  // included
};
rocksdb::Status FindTimeRange(const FileInfo& file_info, bool* found,
                              TimeRange* range);

std::string U32Bytes(uint32_t value);
std::string U64Bytes(uint64_t value);
std::string BoolByte(bool value);

}  // namespace rowbloom::hfile

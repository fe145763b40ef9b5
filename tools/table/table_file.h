// TableFile is the interface of the verbs to a file of cells of any format.
// SstTable (sst_table.h) implements it for RocksDB's SSTs, HFileTable
// (hfile_table.h) for HBase's HFiles. To add a format to every verb, implement
// it and add a line to OpenTable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rocksdb/status.h"
#include "tools/sst/footer.h"
#include "tools/sst/internal_key.h"
#include "tools/table/table_filter.h"

namespace rowbloom::table {

enum class BlockType : uint8_t {
  kData,
  kIndex,
  kIndexPartition,
  kFilter,
  kFilterPartition,
  kFilterIndex,
  kRangeDeletions,
  kDictionary,
  kProperties,
  kMeta,  // any other block that the metaindex names
  kMetaindex,
  kFooter,
  // HFiles alone have these types; they also have kData and kMeta.
  kEncodedData,
  kLeafIndex,
  kIntermediateIndex,
  kRootIndex,
  kBloomChunk,
  kBloomFilter,  // the description of a filter, with the index of its chunks
  kFileInfo,
  kTrailer,
  kBlobs,  // of SSTs: values outside of the data blocks; none or several
  kGap,    // bytes that no handle names: padding, or a lost block
};

// Tells whether the block has cells.
inline bool IsData(BlockType type) {
  return type == BlockType::kData || type == BlockType::kEncodedData;
}

// "data", "index", "index partition", ...
std::string_view ToString(BlockType type);

struct BlockInfo {
  BlockType type{};
  // The name in the metaindex; in HFiles, the name among several blocks of its
  // type. Empty for other blocks.
  std::string name;
  uint64_t offset_bytes = 0;
  uint64_t stored_bytes = 0;  // with the checksum that follows each block
  // The decompressed size; nullopt if this is no block, or cannot be read.
  std::optional<uint64_t> contents_bytes;
  std::string compression;  // "none", "LZ4", ...; empty where that is unknown
  std::string encoding;  // encoding of data that can be read: "FAST_DIFF", ...
  size_t partition = 0;  // of the index or filter, from 1; 0: none
  rocksdb::Status status;  // of its checksum, compression and lengths

  bool has_checksum() const {
    return type != BlockType::kFooter && type != BlockType::kTrailer &&
           type != BlockType::kBlobs && type != BlockType::kGap;
  }
};

struct IndexEntryInfo {
  size_t partition = 0;  // counted from 1; 0: the index has one level
  // No key of the block is greater than this one; with index_keys_come_first,
  // none is less.
  std::string_view user_key;
  std::string_view first_key;  // internal; empty where the index has none
  sst::BlockHandle handle;
};

// The facts that a file has about itself. They are known without reading its
// cells. nullopt, or empty: the file does not have the fact.
struct TableFacts {
  std::string format;    // "RocksDB table, format_version 5"
  std::string checksum;  // "xxh3"
  std::string comparator;
  std::string column_family;
  std::string compression;
  std::string index_form;
  std::string filter_form;  // "none", "full", "partitioned", ...
  std::string filter_policy;
  std::string prefix_extractor;
  bool whole_key_filter = true;  // the filter holds whole keys
  bool prefix_filter = false;    // the filter holds their prefixes
  std::optional<uint64_t> entries;
  std::optional<uint64_t> deletions;
  std::optional<uint64_t> merges;
  std::optional<uint64_t> range_deletions;
  std::optional<uint64_t> filter_entries;
  std::optional<uint64_t> raw_key_bytes;
  std::optional<uint64_t> raw_value_bytes;
  std::optional<uint64_t> data_blocks;
  std::optional<uint64_t> data_bytes;
  bool has_embedded_blobs = false;  // among the data blocks, in data_bytes
  std::optional<uint64_t> index_bytes;
  std::optional<uint64_t> filter_bytes;
  std::optional<uint64_t> creation_time;  // seconds since 1970
  // HFiles alone have these.
  std::optional<uint64_t> family_deletions;  // delete markers of whole families
  std::optional<uint64_t> average_key_bytes;
  std::optional<uint64_t> average_value_bytes;
  std::optional<uint64_t> uncompressed_bytes;  // all blocks
  Facts details;  // other facts, a line each; each name is a word
};

struct Property {
  std::string name;
  std::string bytes;               // as stored
  std::optional<uint64_t> number;  // the value of the bytes, if known
  std::string text;                // the value, if it is known and no number
};

// The form of user keys.
enum class KeyForm : uint8_t {
  kUserKey,  // the application's, with a timestamp if the file has them
  kHFile,    // that of HFiles, see key_format.h
};

// One entry of a file. The views live until the reader moves.
struct Cell {
  std::string_view user_key;  // with its timestamp
  uint64_t sequence = 0;      // HFiles: the mvcc number
  uint8_t type = 0;           // as stored; TableFile::TypeName
  std::string_view value;
  std::string_view tags;  // HFiles only, as stored
};

struct KeyFormat;

// The counts of `verify`.
struct VerifyCounts {
  uint64_t blocks = 0;
  uint64_t damaged_blocks = 0;
  uint64_t cells = 0;
  uint64_t range_deletions = 0;
  bool has_filter = false;
  uint64_t keys_probed = 0;
  uint64_t rows_probed = 0;  // or prefixes
  uint64_t false_negatives = 0;
};

// Receives the findings of TableFile::Verify one by one.
class Findings {
 public:
  virtual ~Findings() = default;
  virtual void Problem(std::string_view sentence) = 0;
  // Counts problems for which there is no sentence.
  virtual void MoreProblems(uint64_t count) = 0;
  // Takes Corruption as a problem, another status as an error of reading.
  virtual void Failure(const rocksdb::Status& status) = 0;
  // Takes the reason why a part was not checked.
  virtual void Note(const std::string& sentence) = 0;
  // Tells whether there is neither a problem nor an error.
  virtual bool all_is_well() const = 0;
};

// Walks the cells of a file in its order.
class CellReader {
 public:
  virtual ~CellReader() = default;
  // Starts at or before `user_key` (without a timestamp), or `row` in the form
  // of keys. Call it before the first Next().
  virtual void SkipTo(std::string_view user_key) = 0;
  virtual void SkipToRow(std::string_view row) { SkipTo(row); }
  // Moves to the next cell. Returns false at the end of the file and at damage.
  virtual bool Next() = 0;
  virtual Cell cell() const = 0;
  virtual const rocksdb::Status& status() const = 0;
};

// The facts that every verb needs of an open file.
struct TableTraits {
  std::string path;
  uint64_t size_bytes = 0;
  // The order of keys; for HFiles the order of rows.
  sst::KeyOrder key_order = sst::KeyOrder::kUnknown;
  KeyForm key_form{};
  // The size of the timestamp at the end of each user key. In HFiles the type
  // is part of it.
  size_t timestamp_bytes = 0;
  // True: an index key is at or before the keys of its block; false: at or
  // after them.
  bool index_keys_come_first = false;
  std::string_view filter_part;  // the word for a part of the filter
};

class TableFile {
 public:
  virtual ~TableFile() = default;

  const std::string& path() const { return traits_.path; }
  uint64_t size_bytes() const { return traits_.size_bytes; }
  sst::KeyOrder key_order() const { return traits_.key_order; }
  KeyForm key_form() const { return traits_.key_form; }
  size_t timestamp_bytes() const { return traits_.timestamp_bytes; }
  bool index_keys_come_first() const { return traits_.index_keys_come_first; }
  std::string_view filter_part() const { return traits_.filter_part; }

  // Called after SetProgress with the offset of each data block that is read,
  // or that the index names, and of each part of the filter; and with the size
  // of the file after the last.
  using Progress = std::function<void(uint64_t offset_bytes)>;
  void SetProgress(Progress progress) { progress_ = std::move(progress); }
  // Calls the progress function. Readers of the file call this.
  void ReadUpTo(uint64_t offset_bytes) const {
    if (progress_) progress_(offset_bytes);
  }

  virtual TableFacts Facts() const = 0;
  virtual std::vector<Property> Properties() const = 0;

  // Gives all blocks in the order of the file, the gaps between them, and the
  // footer. Reads each block to know its status, and holds one at a time. An
  // error is returned if an index is damaged, so that blocks were not found.
  enum class Blocks : uint8_t { kAll, kAllButData };
  virtual rocksdb::Status ForEachBlock(
      Blocks which, const std::function<void(const BlockInfo&)>& use) const = 0;
  virtual rocksdb::Status ForEachIndexEntry(
      const std::function<void(const IndexEntryInfo&)>& use) const = 0;
  virtual std::unique_ptr<CellReader> NewCellReader() const = 0;

  using RangeDeletion = sst::RangeDeletion;
  virtual rocksdb::Status ForEachRangeDeletion(
      const std::function<void(const RangeDeletion&)>& use) const = 0;

  // Returns a number below, equal to or above 0 if `a` is before, equal to or
  // after `b`. REQUIRES a known order.
  virtual int CompareCells(const Cell& a, const Cell& b) const = 0;
  virtual std::string TypeName(uint8_t type) const = 0;

  // Gives the filters part by part, and holds one part at a time. An error is
  // returned if the index of the parts is damaged.
  virtual rocksdb::Status ForEachFilterPart(
      const std::function<void(const FilterPart&)>& use) const = 0;
  virtual rocksdb::Status NewFilterReader(
      std::unique_ptr<FilterReader>* reader) const = 0;

  // Returns the key layout that the filter or the prefix extractor names; empty
  // for none.
  virtual std::string KeyLayoutId() const { return {}; }

  // Reads the whole file, and compares each part with the facts that the file
  // has about it.
  virtual void Verify(const KeyFormat& format, Findings* findings,
                      VerifyCounts* counts) const = 0;

 protected:
  explicit TableFile(TableTraits traits) : traits_(std::move(traits)) {}

 private:
  const TableTraits traits_;
  Progress progress_;
};

enum class FileKind : uint8_t {
  kSst,     // ends as a table of RocksDB does
  kHFile,   // has the trailer of an HFile of any version, or starts as one
  kUnread,  // a regular file that cannot be read
  kOther,
};

// Returns the kind of a regular file by a few of its bytes. Names and folders
// are ignored, as files may be copies.
FileKind KindOf(const std::string& path);

// Opens a file of any known format, by its contents. On error *table is
// unchanged.
rocksdb::Status OpenTable(const std::string& path,
                          std::unique_ptr<TableFile>* table);

}  // namespace rowbloom::table

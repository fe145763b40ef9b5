// TableFile: what the verbs need of a file of cells, whatever its format.
// SstTable (sst_table.h) is the one of RocksDB's SSTs, HFileTable
// (hfile_table.h) that of HBase's HFiles. A further format becomes known to
// every verb with an implementation of this, and a line in OpenTable.
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
  kMeta,  // another one that the metaindex names
  kMetaindex,
  kFooter,
  // The types of HFiles alone; HFiles also have kData and kMeta.
  kEncodedData,
  kLeafIndex,
  kIntermediateIndex,
  kRootIndex,
  kBloomChunk,
  kBloomFilter,  // the description of one, with the index of its chunks
  kFileInfo,
  kTrailer,
  kBlobs,  // values beside the data blocks, of SSTs; none or several
  kGap,    // bytes that nothing names: padding, or what was lost
};

// Cells.
inline bool IsData(BlockType type) {
  return type == BlockType::kData || type == BlockType::kEncodedData;
}

// "data", "index", "index partition", ...
std::string_view ToString(BlockType type);

struct BlockInfo {
  BlockType type{};
  // The name in the metaindex; for HFiles, which it is among several of a type.
  // Empty for others.
  std::string name;
  uint64_t offset_bytes = 0;
  uint64_t stored_bytes = 0;  // with what follows each block, its checksum
  // Compression undone; nullopt for what is not a block, or cannot be read.
  std::optional<uint64_t> contents_bytes;
  std::string compression;  // "none", "LZ4", ...; empty where that is unknown
  std::string encoding;  // encoding of data that can be read: "FAST_DIFF", ...
  size_t partition = 0;  // of the index or filter, from 1; 0: none
  rocksdb::Status status;  // its checksum, compression and lengths

  bool has_checksum() const {
    return type != BlockType::kFooter && type != BlockType::kTrailer &&
           type != BlockType::kBlobs && type != BlockType::kGap;
  }
};

struct IndexEntryInfo {
  size_t partition = 0;  // counted from 1; 0: the index has one level
  // No key of the block is greater; or, where TableFile says so, less.
  std::string_view user_key;
  std::string_view first_key;  // internal; empty where the index has none
  sst::BlockHandle handle;
};

// The facts that a file gives about itself, without its cells being read.
// nullopt, or empty: it does not say.
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
  bool prefix_filter = false;    // and what prefix_extractor makes of them
  std::optional<uint64_t> entries;
  std::optional<uint64_t> deletions;
  std::optional<uint64_t> merges;
  std::optional<uint64_t> range_deletions;
  std::optional<uint64_t> filter_entries;
  std::optional<uint64_t> raw_key_bytes;
  std::optional<uint64_t> raw_value_bytes;
  std::optional<uint64_t> data_blocks;
  std::optional<uint64_t> data_bytes;
  std::optional<uint64_t> index_bytes;
  std::optional<uint64_t> filter_bytes;
  std::optional<uint64_t> creation_time;  // seconds since 1970
  // The facts of HFiles.
  std::optional<uint64_t> family_deletions;  // markers of whole families
  std::optional<uint64_t> average_key_bytes;
  std::optional<uint64_t> average_value_bytes;
  std::optional<uint64_t> uncompressed_bytes;  // all blocks
  Facts details;  // other things worth a line; each name is a word
};

struct Property {
  std::string name;
  std::string bytes;               // as stored
  std::optional<uint64_t> number;  // the value of the bytes, if known
  std::string text;                // the value if it is no number
};

// The form of user keys.
enum class KeyForm : uint8_t {
  kUserKey,  // the application's, with a timestamp where the file has them
  kHFile,    // those of HFiles, see key_format.h
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

// Gets what TableFile::Verify finds, as it comes.
class Findings {
 public:
  virtual ~Findings() = default;
  virtual void Problem(std::string_view sentence) = 0;
  // Problems that are counted, and have no sentence.
  virtual void MoreProblems(uint64_t count) = 0;
  // A problem if it is Corruption, else an error of what could not be read.
  virtual void Failure(const rocksdb::Status& status) = 0;
  // Why something was not checked.
  virtual void Note(const std::string& sentence) = 0;
  // Tells whether there is neither a problem nor an error.
  virtual bool all_is_well() const = 0;
};

// Walks the cells of a file in its order.
class CellReader {
 public:
  virtual ~CellReader() = default;
  // Starts at or before `user_key` (without a timestamp), or a row as it is in
  // keys. Before the first move.
  virtual void SkipTo(std::string_view user_key) = 0;
  virtual void SkipToRow(std::string_view row) { SkipTo(row); }
  // Moves to the next cell. False at the end of the file and at damage.
  virtual bool Next() = 0;
  virtual Cell cell() const = 0;
  virtual const rocksdb::Status& status() const = 0;
};

// The facts about a file that all verbs want, known once it is open.
struct TableTraits {
  std::string path;
  uint64_t size_bytes = 0;
  // The order of keys; for HFiles the order of rows.
  sst::KeyOrder key_order = sst::KeyOrder::kUnknown;
  KeyForm key_form{};
  // The size of the end of each user key that is not of the column. For HFiles
  // it includes the type.
  size_t timestamp_bytes = 0;
  // Index keys are before the keys of their blocks, not behind.
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

  // Called with the offset of each data block that is read from here on, and
  // with the size of the file when there are no more.
  using Progress = std::function<void(uint64_t offset_bytes)>;
  void SetProgress(Progress progress) { progress_ = std::move(progress); }
  // Calls it, for readers of the file.
  void ReadUpTo(uint64_t offset_bytes) const {
    if (progress_) progress_(offset_bytes);
  }

  virtual TableFacts Facts() const = 0;
  virtual std::vector<Property> Properties() const = 0;

  // All blocks in the order of the file, the gaps between them, and the footer.
  // Reads each, so that its status is known; holds one at a time. The status
  // returned is that of what leads to the blocks: with an error there are
  // blocks that were not found.
  enum class Blocks : uint8_t { kAll, kAllButData };
  virtual rocksdb::Status ForEachBlock(
      Blocks which, const std::function<void(const BlockInfo&)>& use) const = 0;
  virtual rocksdb::Status ForEachIndexEntry(
      const std::function<void(const IndexEntryInfo&)>& use) const = 0;
  virtual std::unique_ptr<CellReader> NewCellReader() const = 0;

  using RangeDeletion = sst::RangeDeletion;
  virtual rocksdb::Status ForEachRangeDeletion(
      const std::function<void(const RangeDeletion&)>& use) const = 0;

  // Below 0, 0 or above 0 as `a` comes before, with or after `b`. REQUIRES a
  // known order.
  virtual int CompareCells(const Cell& a, const Cell& b) const = 0;
  virtual std::string TypeName(uint8_t type) const = 0;

  // The filters, part by part, one of them in memory at a time. The status is
  // that of what leads to the parts.
  virtual rocksdb::Status ForEachFilterPart(
      const std::function<void(const FilterPart&)>& use) const = 0;
  virtual rocksdb::Status NewFilterReader(
      std::unique_ptr<FilterReader>* reader) const = 0;

  // The layout that the filter or the prefix extractor names for its keys;
  // empty for none.
  virtual std::string KeyLayoutId() const { return {}; }

  // Reads all, and compares each with what the file says about it.
  virtual void Verify(const KeyFormat& format, Findings* findings,
                      VerifyCounts* counts) const = 0;

 protected:
  explicit TableFile(TableTraits traits) : traits_(std::move(traits)) {}

 private:
  const TableTraits traits_;
  Progress progress_;
};

enum class FileKind : uint8_t {
  kSst,    // ends as a table of RocksDB's does
  kHFile,  // has the trailer of an HFile of any version, or starts as one
  kOther,  // neither, or it cannot be read
};

// The kind of a regular file, by a few of its bytes alone: names and folders
// say nothing about files that were copied away.
FileKind KindOf(const std::string& path);

// Opens a file of any format that is known, by what is in it. On error *table
// is left as it was.
rocksdb::Status OpenTable(const std::string& path,
                          std::unique_ptr<TableFile>* table);

}  // namespace rowbloom::table

// HFile v3: the files in which HBase keeps cells, read and written without
// HBase. Bloom filter blocks included.
//
//   std::unique_ptr<rowbloom::HFileReader> file;
//   rocksdb::Status s = rowbloom::HFileReader::Open({}, path, &file);
//   if (s.ok() && file->MayContainRow("user_1001")) {
//     std::vector<rowbloom::HFileCell> cells;
//     s = file->GetRow("user_1001", &cells);
//   }
//
//   std::unique_ptr<rowbloom::HFileWriter> out;
//   s = rowbloom::HFileWriter::Open({}, path, &out);
//   if (s.ok()) s = out->Append({.row = "user_1001", .family = "f",
//                                .qualifier = "mail", .timestamp_ms = 17,
//                                .value = "ada@example.org"});
//   if (s.ok()) s = out->Finish();
//
// The format, byte by byte: storage/hfile/FORMAT.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/bloom_type.h"

namespace rocksdb {
class Env;
}  // namespace rocksdb

namespace rowbloom {

// ------------------------------------------------------------------- cells

// The type of a cell: what it says of its column. The values are on disk: never
// renumber. A file may hold others, which readers hand over as they are.
enum class HFileCellType : uint8_t {
  kMinimum = 0,  // in search keys only
  kPut = 4,
  kDelete = 8,                // the version with this timestamp
  kDeleteFamilyVersion = 10,  // that version of all columns
  kDeleteColumn = 12,         // this version and older ones
  kDeleteFamily = 14,         // the same of all columns
  kMaximum = 255,  // in search keys only: before all with its timestamp
};

// The timestamp that sorts before all others.
inline constexpr int64_t kHFileLatestTimestamp =
    std::numeric_limits<int64_t>::max();

// Limits of a cell that the writer takes, in bytes. Rows are not empty.
inline constexpr size_t kHFileMaxRowBytes = 32767;
inline constexpr size_t kHFileMaxFamilyBytes = 127;
inline constexpr size_t kHFileMaxTagsBytes = 32767;
// The limit for key and value together.
inline constexpr size_t kHFileMaxCellBytes = size_t{1} << 30;
// The largest block that the writer writes, compressed or not: Java counts its
// bytes in a signed int.
inline constexpr size_t kHFileMaxBlockBytes =
    std::numeric_limits<int32_t>::max() / 8 * 7;

// The place of a cell in the order of a file: rows, families and qualifiers
// ascend as unsigned bytes, timestamps and types descend. Defaults make a key
// that sorts before all cells of its column. Owns nothing.
struct HFileKey {
  std::string_view row;
  std::string_view family;
  std::string_view qualifier;
  int64_t timestamp_ms = kHFileLatestTimestamp;
  HFileCellType type = HFileCellType::kMaximum;
};

// HBase's CellComparatorImpl without the mvcc number: negative, zero or
// positive as `a` sorts before, with or after `b`. Thread-safe.
int CompareHFileKeys(const HFileKey& a, const HFileKey& b);

// A cell whose bytes are somewhere else.
struct HFileCellView {
  std::string_view row;
  std::string_view family;
  std::string_view qualifier;
  int64_t timestamp_ms = 0;
  HFileCellType type = HFileCellType::kPut;
  std::string_view value;
  // Serialized: for each its length plus 1 (16 bits, big-endian), type, bytes.
  std::string_view tags;
  // The write number that orders cells of equal keys inside HBase.
  int64_t mvcc = 0;

  HFileKey key() const { return {row, family, qualifier, timestamp_ms, type}; }
};

// A cell with its own bytes.
struct HFileCell {
  std::string row;
  std::string family;
  std::string qualifier;
  int64_t timestamp_ms = 0;
  HFileCellType type = HFileCellType::kPut;
  std::string value;
  std::string tags;
  int64_t mvcc = 0;

  HFileCell() = default;
  explicit HFileCell(const HFileCellView& cell)
      : row(cell.row),
        family(cell.family),
        qualifier(cell.qualifier),
        timestamp_ms(cell.timestamp_ms),
        type(cell.type),
        value(cell.value),
        tags(cell.tags),
        mvcc(cell.mvcc) {}
  HFileCellView View() const {
    return {row, family, qualifier, timestamp_ms, type, value, tags, mvcc};
  }
  friend bool operator==(const HFileCell&, const HFileCell&) = default;
};

// ------------------------------------------------------------ format options

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

// The values are on disk: never renumber.
enum class HFileChecksum : uint8_t { kNull = 0, kCrc32 = 1, kCrc32c = 2 };

// The hash of Bloom filters. The values are on disk: never renumber.
enum class HFileHash : uint8_t { kJenkins = 0, kMurmur = 1, kMurmur3 = 2 };
// "jenkins", "murmur", "murmur3".
std::string_view ToString(HFileHash hash);

// Whose classes compress on the cluster. It decides how LZ4, SNAPPY and ZSTD
// cut a block into chunks, and for ZSTD whether there are chunks at all: the
// two ZSTD framings cannot read each other, so a writer must know. GZ and NONE
// are the same in all.
enum class HFileCodecClasses : uint8_t {
  kHadoop,              // Hadoop's own codecs, HBase's default
  kHBaseNative,         // hbase-compression-lz4, -snappy, -zstd
  kHBaseAircompressor,  // hbase-compression-aircompressor
};

// The rule by which a block's index key is shortened. Readers take both.
enum class HFileIndexKeyRule : uint8_t {
  kHBase24,  // up to 2.4
  kHBase25,  // since 2.5
};

// ------------------------------------------------------------------- reader

class HFileBlockCache;
// Blocks, decompressed, the least recently used going first; shared by any
// number of readers and threads. It holds at most `capacity_bytes` beyond the
// blocks that iterators stand on.
std::shared_ptr<HFileBlockCache> NewHFileBlockCache(size_t capacity_bytes);

struct HFileReaderOptions {
  // When null the reader has one of its own, of `block_cache_bytes`.
  std::shared_ptr<HFileBlockCache> block_cache;
  size_t block_cache_bytes = size_t{8} << 20;
  // The largest block, decompressed, that is read; larger ones are refused as
  // MemoryLimit. HBase limits no block, but a block is about as large as
  // its largest cell. Opening a file takes at most seven times as much (and
  // 512 MiB for a file info block, which has a limit of its own), an iterator
  // three times as much as a data block and one index block for each level, all
  // of them only if the file has such blocks; and four times the largest key
  // and 64 KiB of tags where blocks are encoded.
  size_t max_block_bytes = size_t{256} << 20;
  // The largest data block, if that is more, encoded and decoded. They are read
  // one at a time.
  size_t max_data_block_bytes = 0;
  // The most that GetRow and GetColumn return, in bytes of keys and values.
  size_t max_get_bytes = size_t{256} << 20;
  bool verify_checksums = true;
};

// The trailer. Offsets are in bytes from the start of the file.
struct HFileTrailer {
  uint32_t major_version = 3;
  uint32_t minor_version = 3;
  uint64_t file_info_offset = 0;
  uint64_t load_on_open_offset = 0;
  uint64_t uncompressed_data_index_bytes = 0;
  uint64_t total_uncompressed_bytes = 0;
  uint32_t data_index_count = 0;  // entries of the data root index
  uint32_t meta_index_count = 0;
  uint64_t entry_count = 0;  // cells
  uint32_t data_index_levels = 1;
  // None in a file without cells.
  std::optional<uint64_t> first_data_block_offset;
  std::optional<uint64_t> last_data_block_offset;
  std::string comparator;
  HFileCompression compression = HFileCompression::kNone;
  bool encrypted = false;
};

// One of the two compound Bloom filters of a file: chunks, each a Bloom filter
// of a run of keys.
struct HFileBloomInfo {
  BloomType type = BloomType::kNone;  // of the delete-family filter: kRow
  HFileHash hash = HFileHash::kMurmur;
  uint32_t hash_count = 0;
  uint64_t bytes = 0;  // of the chunks, uncompressed
  uint64_t key_count = 0;
  uint64_t max_keys = 0;
  uint32_t chunk_count = 0;
};

// The counts of lookups in a file's Bloom filters since it was opened.
struct HFileBloomStats {
  uint64_t checked = 0;  // questions that a chunk, or the chunk index, answered
  uint64_t absent = 0;   // of those, answered with no
  uint64_t unusable = 0;  // a damaged filter or chunk: "may contain"
};

// The results of HBase's HFileScanner.seekTo, in its numbers.
enum class HFileSeekResult : int8_t {
  kBeforeFirst = -1,  // the key is before all cells: nowhere
  kExact = 0,         // on the first cell with this key
  kBefore = 1,        // on the last cell before the key
  // On a block's first cell, which is after the key, the cell before the key
  // being the last one of another block. HBase gives this for keys between a
  // block's shortened index key and its first cell. With ROW_INDEX_V1 also on
  // the first cell of a row, when the key is of that row and before it.
  kFirstOfBlock = -2,
  // status() is not OK.
  kFailed = -3,
};

struct HFileReadOptions {
  // True if data blocks are kept in the block cache. Index and Bloom blocks
  // always are.
  bool fill_cache = true;
};

// Walks the cells of a file in order. The reader must outlive it. Any bytes of
// a file are safe; cells out of order are found where they are passed. Not
// thread-safe, but any number may be used side by side.
class HFileIterator {
 public:
  virtual ~HFileIterator() = default;
  HFileIterator(const HFileIterator&) = delete;
  HFileIterator& operator=(const HFileIterator&) = delete;

  virtual void SeekToFirst() = 0;
  // To the first cell at or after the key.
  virtual void Seek(const HFileKey& key) = 0;
  // To where HBase's scanner goes: see HFileSeekResult.
  virtual HFileSeekResult SeekTo(const HFileKey& key) = 0;
  // REQUIRES Valid().
  virtual void Next() = 0;

  virtual bool Valid() const = 0;
  // The cell here; its bytes stay until the iterator moves. REQUIRES Valid().
  virtual const HFileCellView& cell() const = 0;
  // Not OK when the iterator is not Valid() because of an error:
  // Corruption, IOError, MemoryLimit, or NotSupported for cells that this
  // reader cannot read (HFileReader::CellsStatus).
  virtual const rocksdb::Status& status() const = 0;

 protected:
  HFileIterator() = default;
};

// The counts of Verify, and the problems: what differs from what the file says.
struct HFileReport {
  uint64_t blocks = 0;          // of all types
  uint64_t damaged_blocks = 0;  // of these; what has no header counts as one
  uint64_t cells = 0;
  uint64_t data_blocks = 0;
  uint64_t bloom_keys_checked = 0;
  uint64_t false_negatives = 0;  // of these, keys that a filter denies
  // Sentences with expected and found. All are counted, the first are kept.
  uint64_t problem_count = 0;
  std::vector<std::string> problems;
  static constexpr size_t kMaxProblems = 100;
};

// A file that is open. All functions may be called by any thread. Errors are
// sentences with file, offset, expected and found:
//   IOError       cannot be opened or read; a directory, pipe or device
//   NotSupported  HFile v1, v2 or v4; cells that are encrypted, in an encoding
//                 without a name above, or of a codec that Debian has no
//                 library for
//   Corruption    no HFile, cut short, or it contradicts itself, its checksums
//                 or its size
//   MemoryLimit   (an Aborted) a block or answer larger than the options allow,
//                 or than the memory left
//
// Bloom questions answer with true ("may contain") unless the file says no:
// true costs a read, a wrong false would lose a cell. They decide as HBase's
// StoreFileReader does. Damaged filters are counted (BloomStats) and answer
// true.
class HFileReader {
 public:
  // Reads the trailer and the load-on-open section.
  static rocksdb::Status Open(const HFileReaderOptions& options,
                              const std::string& path,
                              std::unique_ptr<HFileReader>* reader);
  virtual ~HFileReader() = default;
  HFileReader(const HFileReader&) = delete;
  HFileReader& operator=(const HFileReader&) = delete;

  virtual const std::string& path() const = 0;
  virtual uint64_t file_bytes() const = 0;
  virtual const HFileTrailer& trailer() const = 0;
  // As stored: names of HBase's (FORMAT.md lists them) and of applications.
  // Empty when the file is encrypted or its codec is unknown.
  virtual const std::map<std::string, std::string>& file_info() const = 0;
  // OK, or why no cell of this file can be read. Bloom questions work anyway,
  // where those blocks can be read.
  virtual const rocksdb::Status& CellsStatus() const = 0;

  // Views of the reader's memory. None in a file without cells, or that lacks
  // them.
  virtual std::optional<HFileKey> FirstKey() const = 0;
  virtual std::optional<HFileKey> LastKey() const = 0;
  // The serialized key in the middle of the index, where HBase would split the
  // file; FORMAT.md has its form. NotFound when there are no cells.
  virtual rocksdb::Status MidKey(std::string* key) const = 0;

  virtual std::unique_ptr<HFileIterator> NewIterator(
      const HFileReadOptions& options) const = 0;

  // All cells of the row, delete markers too, in the file's order; none is
  // OK. Asks the Bloom filter first.
  virtual rocksdb::Status GetRow(std::string_view row,
                                 std::vector<HFileCell>* cells) const = 0;
  // The same of one column. Markers of the whole family are in the column with
  // the empty qualifier.
  virtual rocksdb::Status GetColumn(std::string_view row,
                                    std::string_view family,
                                    std::string_view qualifier,
                                    std::vector<HFileCell>* cells) const = 0;

  // Null when the file has none, or its description is damaged: then
  // BloomStatus() says how.
  virtual const HFileBloomInfo* GeneralBloom() const = 0;
  virtual const HFileBloomInfo* DeleteFamilyBloom() const = 0;
  virtual const rocksdb::Status& BloomStatus() const = 0;
  virtual HFileBloomStats BloomStats() const = 0;

  // May a get of the whole row, or of one of its columns, find something here?
  virtual bool MayContainRow(std::string_view row) const = 0;
  virtual bool MayContainRowCol(std::string_view row,
                                std::string_view qualifier) const = 0;
  // May a scan from one row to another find something? Asks the filter of row
  // prefixes where start and stop share one.
  virtual bool MayContainScan(std::string_view start_row,
                              std::string_view stop_row) const = 0;
  // May the row have a marker that deletes its family?
  virtual bool MayContainDeleteFamily(std::string_view row) const = 0;
  // May the range of rows, both ends included, meet the file's first to last
  // row? An empty row is no bound.
  virtual bool KeyRangeMayContain(std::string_view start_row,
                                  std::string_view stop_row) const = 0;
  // The same of timestamps, both ends included.
  virtual bool TimeRangeMayContain(int64_t min_ms, int64_t max_ms) const = 0;

  virtual std::vector<std::string> MetaBlockNames() const = 0;
  // NotFound when there is none of this name.
  virtual rocksdb::Status ReadMetaBlock(std::string_view name,
                                        std::string* contents) const = 0;

  // Reads the whole file and recomputes what no reader notices when it is
  // wrong: counts and averages, index keys, the last key, the time range, the
  // last Bloom key, the number of family deletes, the chain of blocks; and asks
  // the Bloom filters for every key that is there, which shows in BloomStats.
  // OK when all of the file could be read: what was found is in the report.
  // Else the first error. Damage is in the report, too, and so is what was
  // found behind it; totals are compared only when nothing is missing.
  virtual rocksdb::Status Verify(HFileReport* report) const = 0;

 protected:
  HFileReader() = default;
};

// ------------------------------------------------------------------- writer

// Defaults are HBase's own. Sizes are in bytes.
struct HFileWriterOptions {
  // Whose file system the file is written to; it outlives the writer. nullptr:
  // rocksdb::Env::Default(). An export takes that of the store.
  rocksdb::Env* env = nullptr;

  HFileCompression compression = HFileCompression::kNone;
  HFileCodecClasses codec_classes = HFileCodecClasses::kHadoop;
  // The level of GZ (0 to 9) and ZSTD (1 to 22); -1 is the codec's default.
  int compression_level = -1;
  // The byte of a gzip header that names the system: 0xff as newer Java writes
  // it, 0 as older.
  uint8_t gz_operating_system = 0xff;

  // PREFIX, DIFF and FAST_DIFF have room for one family in a file.
  HFileEncoding encoding = HFileEncoding::kNone;
  // A data block is closed by the first new key after it has reached this,
  // encoded or not.
  uint32_t block_bytes = 64 * 1024;
  HFileChecksum checksum = HFileChecksum::kCrc32c;
  uint32_t bytes_per_checksum = 16 * 1024;  // at least 33
  uint32_t index_block_bytes = 128 * 1024;
  uint32_t index_block_min_entries = 16;
  HFileIndexKeyRule index_key_rule = HFileIndexKeyRule::kHBase25;

  // True if cells have a place for tags, and for the mvcc number. Without the
  // place, cells that have them are refused.
  bool tags = false;
  bool mvcc = true;
  // PREFIX, DIFF and FAST_DIFF write tags that a block has already as
  // references. Other encodings write them whole, but note the wish as HBase
  // does.
  bool compress_tags = false;

  BloomType bloom_type = BloomType::kRow;
  uint32_t bloom_prefix_bytes = 0;  // of kRowPrefixFixedLength
  HFileHash bloom_hash = HFileHash::kMurmur;
  float bloom_error_rate = 0.01F;  // HBase's own option is a float
  uint32_t bloom_block_bytes = 128 * 1024;
  uint32_t bloom_max_fold = 7;
  // The filter of rows with family deletes. Never beside kRowCol, as in HBase.
  bool delete_family_bloom = true;

  std::string comparator = "org.apache.hadoop.hbase.KeyValue$KVComparator";

  // File info. What is not set is not written.
  std::optional<int64_t> create_time_ms;  // the clock when not set
  std::optional<int64_t> max_sequence_id;
  std::optional<bool> major_compaction = false;
  std::optional<bool> exclude_from_minor_compaction;
  std::optional<bool> historical;             // late 2.5 and 2.6 write it
  std::optional<int64_t> bulk_load_time_ms;   // marks a bulk-loaded file
  std::optional<std::string> bulk_load_task;  // who made it
  bool biggest_cell = false;                  // 2.6 and later write it
  bool time_range = true;                     // TIMERANGE, EARLIEST_PUT_TS
  // Whatever else; HBase keeps names that start with "hfile." for itself.
  std::map<std::string, std::string> file_info;
};

// Writes a file: Open, Append*, then Finish, after which the file is at its
// path, synced to the disk; or nothing, after which it is not. Memory: one data
// block, its compressed form, the index's root, and two Bloom chunks; functions
// may throw std::bad_alloc. Not thread-safe.
class HFileWriter {
 public:
  // Writes beside `path`, under a name of its own. Errors:
  //   InvalidArgument  an option out of its range; the message says which
  //   NotSupported     a codec that Debian has no library for
  //   IOError          the file cannot be created
  static rocksdb::Status Open(const HFileWriterOptions& options,
                              const std::string& path,
                              std::unique_ptr<HFileWriter>* writer);
  // Removes what was written, unless Finish succeeded.
  virtual ~HFileWriter() = default;
  HFileWriter(const HFileWriter&) = delete;
  HFileWriter& operator=(const HFileWriter&) = delete;

  // Keys ascend; equal ones may follow each other. InvalidArgument: out of
  // order, over a limit, tags or mvcc without a place, a type that is not
  // written; nothing was added, and the next cell may be. Other errors end the
  // file: every later call returns the same.
  virtual rocksdb::Status Append(const HFileCellView& cell) = 0;
  // A block of the application's own, found by its name. InvalidArgument: a
  // name twice.
  virtual rocksdb::Status AddMetaBlock(std::string_view name,
                                       std::string_view contents) = 0;
  // InvalidArgument: a name that the writer writes itself.
  virtual rocksdb::Status AddFileInfo(std::string_view name,
                                      std::string_view value) = 0;
  // Completes the file and puts it at its path, in place of what is there. May
  // be called once.
  virtual rocksdb::Status Finish() = 0;

  // Bytes written so far.
  virtual uint64_t file_bytes() const = 0;
  virtual uint64_t cell_count() const = 0;

 protected:
  HFileWriter() = default;
};

}  // namespace rowbloom

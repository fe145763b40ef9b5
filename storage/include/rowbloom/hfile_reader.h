// HFileReader: an HFile that is open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/hfile_cell.h"
#include "rowbloom/hfile_format.h"

namespace rowbloom {

class HFileBlockCache;
// A cache of decompressed blocks, which drops the least recently used first.
// Any number of readers and threads may share it. It holds at most
// `capacity_bytes`, without the blocks that iterators pin.
std::shared_ptr<HFileBlockCache> NewHFileBlockCache(size_t capacity_bytes);

struct HFileReaderOptions {
  // The cache to use. Null: one of the reader's own, of `block_cache_bytes`.
  std::shared_ptr<HFileBlockCache> block_cache = nullptr;
  size_t block_cache_bytes = size_t{8} << 20;
  // The size of the largest block, decompressed, that is read; larger ones are
  // refused as MemoryLimit. HBase limits no block, but a block is about as
  // large as its largest cell. The memory depends on the blocks of the file.
  // Opening it takes up to seven times this size, and 512 MiB for a file info
  // block, which has a limit of its own. An iterator takes three data blocks
  // and one index block for each level, and, with PREFIX, DIFF and FAST_DIFF,
  // four times the largest key and 64 KiB of tags, or 8 MiB if they are
  // compressed.
  size_t max_block_bytes = size_t{256} << 20;
  // The same limit for data blocks, encoded and decoded, if it is larger. They
  // are read one at a time.
  size_t max_data_block_bytes = 0;
  // The most that GetRow and GetColumn return, in bytes of keys, values and
  // tags. An HFileCell takes up to 700 bytes more.
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
  // Both are nullopt in a file without cells.
  std::optional<uint64_t> first_data_block_offset;
  std::optional<uint64_t> last_data_block_offset;
  std::string comparator;
  HFileCompression compression = HFileCompression::kNone;
  bool encrypted = false;
};

// One of the two compound Bloom filters of a file: chunks, each a Bloom filter
// of a run of keys.
struct HFileBloomInfo {
  BloomType type = BloomType::kNone;  // the delete-family filter has kRow
  HFileHash hash = HFileHash::kMurmur;
  uint32_t hash_count = 0;
  uint64_t bytes = 0;  // all chunks, uncompressed
  uint64_t key_count = 0;
  uint64_t max_keys = 0;
  uint32_t chunk_count = 0;
};

// The counts of lookups in a file's Bloom filters since it was opened.
struct HFileBloomStats {
  uint64_t checked = 0;  // lookups that a chunk, or the chunk index, answered
  uint64_t absent = 0;   // those that were answered with no
  // Lookups that met a damaged filter or chunk, one that cannot be read
  // (BloomStatus), or no memory: "may contain".
  uint64_t unusable = 0;
};

struct HFileReadOptions {
  // True if data blocks are kept in the block cache. Index and Bloom blocks
  // always are.
  bool fill_cache = true;
};

// Gives the cells of a file in order. The reader must outlive it. Damaged files
// are safe to read; cells out of order are an error when the iterator passes
// them. Not thread-safe, but a reader may have any number of iterators.
class HFileIterator {
 public:
  virtual ~HFileIterator() = default;
  HFileIterator(const HFileIterator&) = delete;
  HFileIterator& operator=(const HFileIterator&) = delete;

  virtual void SeekToFirst() = 0;
  // Moves to the first cell at or after the key, which may view into cell().
  virtual void Seek(const HFileKey& key) = 0;
  // REQUIRES Valid().
  virtual void Next() = 0;

  virtual bool Valid() const = 0;
  // The cell here; its bytes stay until the iterator moves. REQUIRES Valid().
  virtual const HFileCellView& cell() const = 0;
  // Not OK when the iterator is not Valid() because of an error:
  // Corruption, IOError, MemoryLimit, NotSupported for cells that this reader
  // cannot read (HFileReader::CellsStatus), or InvalidArgument for a key whose
  // row or family is over the limit.
  virtual const rocksdb::Status& status() const = 0;

 protected:
  HFileIterator() = default;
};

// The counts of Verify, and the differences from what the file says of itself.
struct HFileReport {
  uint64_t blocks = 0;          // blocks of all types
  uint64_t damaged_blocks = 0;  // bytes without a block header count as one
  uint64_t cells = 0;
  uint64_t data_blocks = 0;
  uint64_t bloom_keys_checked = 0;
  uint64_t false_negatives = 0;  // those that a filter says are absent
  // Sentences with expected and found. All are counted; the first are kept.
  uint64_t problem_count = 0;
  std::vector<std::string> problems;
  static constexpr size_t kMaxProblems = 100;
};

// An open file. All functions may be called by any thread. Errors are sentences
// with file, offset, expected and found:
//   IOError       cannot be opened or read; a directory, pipe or device
//   NotSupported  HFile v1, v2 of a minor version below 3, or v4; ZSTD with a
//                 dictionary; cells that are encrypted, in an encoding without
//                 a name above, or of a codec that Debian has no library for
//   Corruption    no HFile, cut short, or it contradicts itself, its checksums
//                 or its size
//   MemoryLimit   (an Aborted) a block or answer that is larger than the
//                 options allow, or for which there is no memory
// NewIterator and MetaBlockNames have no status, and throw std::bad_alloc.
//
// Bloom lookups answer with true ("may contain") unless the file says no: true
// costs a read, a wrong false would lose a cell. They decide as HBase's
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
  // Names and values as stored: HBase's (FORMAT.md lists them) and those of
  // applications. Empty when the file is encrypted or its codec is unknown.
  virtual const std::map<std::string, std::string>& file_info() const = 0;
  // OK, or why no cell of this file can be read. Bloom lookups work anyway,
  // where those blocks can be read.
  virtual const rocksdb::Status& CellsStatus() const = 0;

  // Views of the reader's memory. nullopt: the file has no cells, or does not
  // store the key.
  virtual std::optional<HFileKey> FirstKey() const = 0;
  virtual std::optional<HFileKey> LastKey() const = 0;

  virtual std::unique_ptr<HFileIterator> NewIterator(
      const HFileReadOptions& options) const = 0;

  // All cells of the row, delete markers too, in the file's order. OK without
  // cells if the row is absent. Probes the Bloom filter first. REQUIRES here
  // and below that no argument views into what *cells had.
  virtual rocksdb::Status GetRow(std::string_view row,
                                 std::vector<HFileCell>* cells) const = 0;
  // All cells of one column. Delete markers of the whole family are in the
  // column with the empty qualifier.
  virtual rocksdb::Status GetColumn(std::string_view row,
                                    std::string_view family,
                                    std::string_view qualifier,
                                    std::vector<HFileCell>* cells) const = 0;

  // Null when the file has none, or its description is damaged: BloomStatus()
  // then says how.
  virtual const HFileBloomInfo* GeneralBloom() const = 0;
  virtual const HFileBloomInfo* DeleteFamilyBloom() const = 0;
  virtual const rocksdb::Status& BloomStatus() const = 0;
  virtual HFileBloomStats BloomStats() const = 0;

  // True if a get of the whole row, or of one of its columns, may find
  // something.
  virtual bool MayContainRow(std::string_view row) const = 0;
  virtual bool MayContainRowCol(std::string_view row,
                                std::string_view qualifier) const = 0;
  // True if a scan from one row to another may find something. Probes the
  // filter of row prefixes if start and stop share one.
  virtual bool MayContainScan(std::string_view start_row,
                              std::string_view stop_row) const = 0;
  // True if the row may have a marker that deletes its family.
  virtual bool MayContainDeleteFamily(std::string_view row) const = 0;
  // True if the range of rows, both ends included, may meet the file's first to
  // last row. An empty row is no bound.
  virtual bool KeyRangeMayContain(std::string_view start_row,
                                  std::string_view stop_row) const = 0;
  // The same of timestamps, both ends included.
  virtual bool TimeRangeMayContain(int64_t min_ms, int64_t max_ms) const = 0;

  virtual std::vector<std::string> MetaBlockNames() const = 0;
  // NotFound when there is none of this name.
  virtual rocksdb::Status ReadMetaBlock(std::string_view name,
                                        std::string* contents) const = 0;

  // Reads the whole file and compares its cells with values that no reader
  // checks: counts and averages, index keys, the last key, the time range, the
  // last Bloom key, the number of family deletes, the chain of blocks. Looks up
  // every key in the Bloom filters, which BloomStats counts. Returns OK if all
  // of the file could be read, whatever the report says; else the first error.
  // The report also has the damage, and problems that come after it. Totals are
  // compared only if no block is missing. A filter that is NotSupported is no
  // problem, and is not looked up in.
  virtual rocksdb::Status Verify(HFileReport* report) const = 0;

 protected:
  HFileReader() = default;
};

}  // namespace rowbloom

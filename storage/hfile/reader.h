// Implements HFileReader, with the parts that iterators and Verify use.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/hfile_cell.h"
#include "rowbloom/hfile_format.h"
#include "rowbloom/hfile_reader.h"
#include "storage/format/input_file.h"
#include "storage/hfile/block_cache.h"
#include "storage/hfile/block_index.h"
#include "storage/hfile/block_reader.h"
#include "storage/hfile/bloom_filter.h"
#include "storage/hfile/cell.h"
#include "storage/hfile/file_info.h"

namespace rowbloom::hfile {

class Reader : public HFileReader {
 public:
  static rocksdb::Status Open(const HFileReaderOptions& options,
                              const std::string& path,
                              std::unique_ptr<HFileReader>* reader);
  ~Reader() override;

  const std::string& path() const override { return file_->path(); }
  uint64_t file_bytes() const override { return file_->size_bytes(); }
  const HFileTrailer& trailer() const override { return trailer_; }
  const FileInfo& file_info() const override { return file_info_; }
  const rocksdb::Status& CellsStatus() const override { return cells_status_; }
  std::optional<HFileKey> FirstKey() const override;
  std::optional<HFileKey> LastKey() const override;
  std::unique_ptr<HFileIterator> NewIterator(
      const HFileReadOptions& options) const override;
  rocksdb::Status GetRow(std::string_view row,
                         std::vector<HFileCell>* cells) const override;
  rocksdb::Status GetColumn(std::string_view row, std::string_view family,
                            std::string_view qualifier,
                            std::vector<HFileCell>* cells) const override;
  const HFileBloomInfo* GeneralBloom() const override;
  const HFileBloomInfo* DeleteFamilyBloom() const override;
  const rocksdb::Status& BloomStatus() const override { return bloom_status_; }
  HFileBloomStats BloomStats() const override;
  bool MayContainRow(std::string_view row) const override;
  bool MayContainRowCol(std::string_view row,
                        std::string_view qualifier) const override;
  bool MayContainScan(std::string_view start_row,
                      std::string_view stop_row) const override;
  bool MayContainDeleteFamily(std::string_view row) const override;
  bool KeyRangeMayContain(std::string_view start_row,
                          std::string_view stop_row) const override;
  bool TimeRangeMayContain(int64_t min_ms, int64_t max_ms) const override;
  std::vector<std::string> MetaBlockNames() const override;
  rocksdb::Status ReadMetaBlock(std::string_view name,
                                std::string* contents) const override;
  rocksdb::Status Verify(HFileReport* report) const override;
  // Calls `progress` with the bytes read so far, out of twice file_bytes().
  rocksdb::Status Verify(
      const std::function<void(uint64_t twice_bytes)>& progress,
      HFileReport* report) const;

  // Iterators and Verify use these.
  const InputFile& file() const { return *file_; }
  const BlockReader& blocks() const { return *blocks_; }
  // Tells whether blocks can be decompressed. If not, only the trailer was
  // read.
  bool is_readable() const;
  // Returns the offset of the trailer, at which the blocks end.
  uint64_t blocks_end() const;
  const RootIndex& data_root() const { return data_root_; }
  const RootIndex& meta_root() const { return meta_root_; }
  // Returns the header of the data root index. In all files that HBase writes,
  // the other blocks have the same kind of header. REQUIRES is_readable().
  const BlockHeader& data_root_header() const {
    return data_root_block_.header;
  }
  // The encoding of data blocks; NONE without one, or if it is not known.
  HFileEncoding encoding() const { return encoding_; }
  const CellForm& cell_form() const { return cell_form_; }
  Comparator comparator() const { return comparator_; }
  // The form of the keys of the data index. Those of other comparators need not
  // be keys of cells.
  KeyForm index_key_form() const {
    return comparator_ == Comparator::kCells ? KeyForm::kCellKey
                                             : KeyForm::kName;
  }
  const std::optional<BloomFilter>& general_bloom() const {
    return general_bloom_;
  }
  const std::optional<BloomFilter>& delete_family_bloom() const {
    return delete_family_bloom_;
  }
  const BloomDescription& bloom_description() const {
    return bloom_description_;
  }

  // Gets the block of this type at this place from the block cache, or reads it
  // into the cache. Checks the entries of an index block that it reads.
  rocksdb::Status CachedBlock(const BlockLocation& location, BlockType type,
                              std::shared_ptr<const Block>* block) const;
  // Gets a chunk of the filter in the same way. Corruption for a size that no
  // chunk has.
  rocksdb::Status CachedChunk(const BloomFilter& filter, size_t entry,
                              std::shared_ptr<const Block>* chunk) const;
  // Tells whether the filter may have the key. Damage counts as yes.
  bool Probe(const BloomFilter& filter, std::string_view key) const;
  // Returns null if the block is not in the cache.
  std::shared_ptr<const Block> FindCached(const BlockLocation& location,
                                          BlockType type) const;

 private:
  explicit Reader(const HFileReaderOptions& options) : options_(options) {}

  rocksdb::Status Load(const std::string& path);
  rocksdb::Status LoadTrailer();
  rocksdb::Status LoadOnOpen();
  rocksdb::Status LoadBlock(uint64_t* offset, BlockType type, Block* block);
  rocksdb::Status InterpretFileInfo();
  rocksdb::Status FindCellForm();
  void LoadBlooms(uint64_t offset);
  void LoadBloom(const BlockLocation& location, BlockType type);

  // Gets the cells of a row, or of one of its columns.
  rocksdb::Status Collect(const HFileKey& column, bool whole_row,
                          std::vector<HFileCell>* cells) const;

  // Answers a lookup for which there is no filter, and counts it if the reason
  // is that a filter is damaged or cannot be read.
  bool MayContainWithoutFilter() const;
  // Probes the general filter for a row or prefix, up to its last key.
  bool ProbeForRow(std::string_view key) const;

  const HFileReaderOptions options_;
  std::unique_ptr<InputFile> file_;
  HFileTrailer trailer_;
  std::unique_ptr<BlockReader> blocks_;
  std::shared_ptr<HFileBlockCache> cache_;
  uint64_t file_id_ = 0;

  Block data_root_block_;
  RootIndex data_root_;
  Block meta_root_block_;
  RootIndex meta_root_;
  FileInfo file_info_;
  rocksdb::Status cells_status_;
  HFileEncoding encoding_ = HFileEncoding::kNone;
  CellForm cell_form_;
  Comparator comparator_ = Comparator::kCells;

  rocksdb::Status bloom_status_;
  BloomDescription bloom_description_;
  std::optional<BloomFilter> general_bloom_;
  std::optional<BloomFilter> delete_family_bloom_;
  // A probe counts in one of these alone, so that sums are right at any time.
  mutable std::atomic<uint64_t> bloom_passed_{0};
  mutable std::atomic<uint64_t> bloom_absent_{0};
  mutable std::atomic<uint64_t> bloom_unusable_{0};
};

}  // namespace rowbloom::hfile

// SstFile reads a RocksDB block-based table file (SST) block by block, with
// bounded reads. Open reads the footer, the metaindex and the properties; other
// blocks are read on request.
//
//   std::unique_ptr<SstFile> file;
//   rocksdb::Status s = SstFile::Open(path, &file);
//   std::vector<FilterPartition> partitions;
//   if (s.ok()) s = file->FilterPartitions(&partitions);
//   std::string bytes;
//   if (s.ok()) s = file->ReadBlock(partitions[0].handle, &bytes);
//
// No byte of a file is trusted: each offset and length is compared with the
// file's size before it is used or allocated, each block with its checksum.
// Errors are one sentence with file, offset, expected and found:
//   IOError        the operating system cannot open or read it
//   NotSupported   no block-based table, or a feature named in the message
//   Corruption     a block-based table that is damaged
//   MemoryLimit    a block larger than the free memory
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/status.h"
#include "storage/format/input_file.h"
#include "tools/sst/block.h"
#include "tools/sst/compression.h"
#include "tools/sst/footer.h"
#include "tools/sst/internal_key.h"

namespace rowbloom::sst {

// The form in which a file stores its filter.
enum class FilterForm : uint8_t {
  kNone,
  kFull,         // one block for the whole file
  kPartitioned,  // several, found through an index block
  // One for each data block, which RocksDB wrote before 7.0. Later versions do
  // not read it.
  kPerBlock,
};

// The form in which a file stores its index. The values are those of the
// property rocksdb.block.based.table.index.type: never renumber.
enum class IndexForm : uint8_t {
  kBinarySearch = 0,
  kHashSearch = 1,  // as kBinarySearch, with meta blocks that map prefixes
  kTwoLevel = 2,    // partitions, found through an index block
  kFirstKey = 3,    // each entry also has the first key of its block
};

struct IndexLocation {
  IndexForm form = IndexForm::kBinarySearch;
  // The handle of the index block, or of the index of its partitions. nullopt:
  // neither the footer nor the metaindex has it.
  std::optional<BlockHandle> handle;
  bool has_user_keys = false;  // false: internal keys
  bool delta_encoded = false;  // true: ValueForm::kHandle, false: kSized
};

// An entry of an index. The keys are views of the block.
struct IndexEntry {
  BlockHandle handle;
  std::string_view user_key;   // with a timestamp
  std::string_view first_key;  // internal; IndexForm::kFirstKey alone has it
};

struct FilterLocation {
  FilterForm form = FilterForm::kNone;
  // The CompatibilityName() of the policy that wrote it.
  std::string compatibility_name;
  // The handle of the filter block, or of the index of its partitions.
  BlockHandle handle;
};

struct FilterPartition {
  // A user key: no key of this partition is greater, no key of the next is
  // less. Empty for a full filter, which holds every key.
  std::string index_key;
  BlockHandle handle;
};

// Immutable after Open and safe to share between threads.
class SstFile {
 public:
  // Opens a regular file. On error *file is unchanged.
  static rocksdb::Status Open(const std::string& path,
                              std::unique_ptr<SstFile>* file);

  SstFile(const SstFile&) = delete;
  SstFile& operator=(const SstFile&) = delete;

  const InputFile& file() const { return *file_; }
  const std::string& path() const { return file_->path(); }
  uint64_t size_bytes() const { return file_->size_bytes(); }
  const Footer& footer() const { return footer_; }

  // The metaindex: the handles of blocks by name.
  const std::map<std::string, BlockHandle, std::less<>>& meta_blocks() const {
    return meta_blocks_;
  }

  // The stored properties of RocksDB and of the application, by name.
  const std::map<std::string, std::string, std::less<>>& properties() const {
    return properties_;
  }
  // Returns a property that is a number. nullopt: absent, or no number.
  std::optional<uint64_t> NumberProperty(std::string_view name) const;

  const IndexLocation& index() const { return index_; }
  const FilterLocation& filter() const { return filter_; }

  // The compression manager of the file's blocks; see CompressionProperty.
  // Empty: RocksDB's own.
  std::string_view foreign_manager() const { return foreign_manager_; }
  // Tells whether there may be embedded blobs: values outside of the data
  // blocks, to which entries of the type kBlobIndex refer (data_cursor.h).
  bool has_embedded_blobs() const { return has_embedded_blobs_; }

  // Returns a property that is text; empty if it is absent.
  std::string_view TextProperty(std::string_view name) const;

  // The order of its keys, kUnknown if the comparator's name does not tell it.
  KeyOrder key_order() const { return key_order_; }
  // The size of the timestamp at the end of each user key.
  size_t timestamp_bytes() const { return timestamp_bytes_; }
  // The sequence number of all entries of an ingested file, which are stored
  // with 0; 0: each entry has its own. A number of more than 56 bits is damage,
  // and is ignored.
  uint64_t global_sequence() const { return global_sequence_; }

  // Reads the contents of a block and verifies its checksum. NotSupported if it
  // is compressed: meta blocks never are. On error *contents is unspecified.
  rocksdb::Status ReadBlock(const BlockHandle& handle,
                            std::string* contents) const;

  // Checks that the handle lies before the footer and within kMaxBlockBytes.
  rocksdb::Status CheckHandle(const BlockHandle& handle) const;
  // Verifies the checksum of the stored bytes of a block, with its trailer, and
  // sets *compression to the compression of its contents.
  rocksdb::Status Verify(const BlockHandle& handle, std::string_view bytes,
                         CompressionType* compression) const;

  // Returns Corruption: `what` at the handle's offset in this file has
  // `problem`.
  rocksdb::Status Damaged(const BlockHandle& handle, std::string_view what,
                          std::string_view problem) const;

  // Parses the present entry of a block of the index, or of the filter's index.
  // The block that it names must lie between *previous_end and this block, else
  // Corruption of `what` at this block. Moves *previous_end to its end.
  rocksdb::Status TakeIndexEntry(const EntryCursor& entries,
                                 const BlockHandle& block,
                                 std::string_view what, uint64_t* previous_end,
                                 IndexEntry* entry) const;

  // Gives the filter blocks in the order of their keys: none without a filter
  // and for FilterForm::kPerBlock, one for a full filter. On error *partitions
  // is unchanged.
  rocksdb::Status FilterPartitions(
      std::vector<FilterPartition>* partitions) const;

 private:
  explicit SstFile(std::unique_ptr<InputFile> file) : file_(std::move(file)) {}

  rocksdb::Status Load();
  rocksdb::Status ReadMetaindex();
  rocksdb::Status ReadProperties();
  rocksdb::Status FindIndex();
  void FindFilter();
  void ReadKeyFormat();
  void ReadValueFormat();

  // Reads a block with its trailer, without verifying it.
  rocksdb::Status ReadWithTrailer(const BlockHandle& handle,
                                  std::string* bytes) const;
  rocksdb::Status CheckUncompressed(const BlockHandle& handle,
                                    CompressionType compression) const;

  const std::unique_ptr<const InputFile> file_;
  Footer footer_;
  std::map<std::string, BlockHandle, std::less<>> meta_blocks_;
  std::map<std::string, std::string, std::less<>> properties_;
  IndexLocation index_;
  FilterLocation filter_;
  KeyOrder key_order_ = KeyOrder::kUnknown;
  size_t timestamp_bytes_ = 0;
  uint64_t global_sequence_ = 0;
  std::string_view foreign_manager_;  // a view of properties_
  bool has_embedded_blobs_ = false;
};

}  // namespace rowbloom::sst

// DataCursor gives every entry of a file's data blocks. Other functions read
// its range deletions, and values that are stored outside of the data blocks.
//
//   DataCursor data(file);
//   while (data.Next()) Use(data.key(), data.value());
//   if (!data.status().ok()) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "tools/sst/block.h"
#include "tools/sst/block_reader.h"
#include "tools/sst/index_cursor.h"
#include "tools/sst/internal_key.h"
#include "tools/sst/sst_file.h"

namespace rowbloom::sst {

// Walks a file from its first entry to its last. Holds one data block and the
// blocks of an IndexCursor. The file must outlive it. Not thread-safe.
class DataCursor {
 public:
  explicit DataCursor(const SstFile& file);

  // Starts with the block that can have `user_key` (without a timestamp), which
  // may have entries before it, too. Call it before the first Next(). Does
  // nothing if the order of keys is not known.
  void SkipTo(std::string_view user_key) { index_.SkipTo(user_key); }

  // Moves to the next entry. Returns false at the end and at damage, which
  // status() has.
  bool Next();

  // Steps of Next(), for callers that continue after damage. NextBlock moves to
  // the next data block and reads it, which may fail; returns false at the end
  // of the index and at its damage. NextEntry moves within the block; returns
  // false at its end and at damage.
  bool NextBlock();
  bool NextEntry();
  // OK, or the problem of the present block.
  const rocksdb::Status& block_status() const { return block_status_; }

  // The present entry. REQUIRES that the last Next() or NextEntry() returned
  // true. The sequence number in an ingested file is the file's own.
  const InternalKey& key() const { return key_; }
  const std::string& internal_key() const { return entries_->key(); }
  // The number of first bytes that it shares with the key before it.
  size_t shared_key_bytes() const { return entries_->shared_key_bytes(); }
  std::string_view value() const { return entries_->value(); }

  // The present block. REQUIRES that the last NextBlock() returned true.
  const IndexCursor& index() const { return index_; }
  const BlockHandle& block() const { return index_.handle(); }
  CompressionType compression() const { return reader_.compression(); }
  // 0 if the block could not be read.
  size_t contents_bytes() const { return contents_.size(); }
  bool has_hash_index() const { return entries_ && entries_->has_hash_index(); }

  // Skips a damaged partition of the index, see IndexCursor.
  bool SkipDamagedPartition() { return index_.SkipDamagedPartition(); }

  // The damage at which Next() stopped, in a block or in the index; or OK.
  const rocksdb::Status& status() const {
    return block_status_.ok() ? index_.status() : block_status_;
  }

 private:
  const SstFile& file_;
  const uint64_t global_sequence_;
  IndexCursor index_;
  BlockReader reader_;
  std::string_view contents_;
  std::optional<EntryCursor> entries_;
  rocksdb::Status block_status_;
  InternalKey key_;
};

// Embedded blobs are large values in records of their own. Files that the
// SstFileWriter of RocksDB 11.8 wrote may have them
// (SstFile::has_embedded_blobs). The entry then has the type kBlobIndex, and
// its value is a reference to the record:
//
//   reference = 1 uint8, 0 varint64, offset varint64, size varint64,
//               compression type uint8
//   record    = `size` bytes, compression type uint8, checksum uint32
//
// The 0 is a file number and means this file; another number is that of a blob
// file. A record has the trailer of a block. Source: RocksDB 11.8.1,
// db/blob/blob_index.h and blob_gen2_format.h, table/embedded_blob_sst.h.
//
// Tells whether an entry's value is an embedded blob of this file.
bool IsEmbeddedBlob(const SstFile& file, EntryType type,
                    std::string_view value);

// Reads the records of a file in the order of their entries. The file must
// outlive it. Not thread-safe.
class EmbeddedBlobReader {
 public:
  explicit EmbeddedBlobReader(const SstFile& file) : file_(file) {}

  // Reads the record to which such a value refers, and verifies its checksum.
  // Each record must lie behind the previous one, so none is read twice. On
  // error *contents is unspecified. Errors name the file:
  //   Corruption    the value is malformed, or the record is damaged, not in
  //                 the file, or not behind the previous one
  //   NotSupported  the record is compressed, which RocksDB 11.8 never does
  //   MemoryLimit   the record is larger than kMaxBlockBytes or the free memory
  rocksdb::Status Read(std::string_view value, std::string* contents);

 private:
  const SstFile& file_;
  uint64_t previous_end_ = 0;
};

// Calls `use` for each range deletion in the order of the file, and stops at
// damage. Holds the block of range deletions in memory. The starts of all take
// at most 256 MiB, or the size of the block if that is larger.
rocksdb::Status ForEachRangeDeletion(
    const SstFile& file, const std::function<void(const RangeDeletion&)>& use);

}  // namespace rowbloom::sst

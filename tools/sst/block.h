// The entries of a block: keys with values. Each key is stored as its
// difference from the key before it.
//
//   entry    = shared varint32, non_shared varint32, [value_length varint32,]
//              key bytes [shared, shared + non_shared), value
//   block    = entry*, restart uint32 * n, n uint32
//
// A restart is the offset of an entry with shared = 0, at which a reader may
// start. Index blocks of format_version 4 and later omit the value's length
// (ValueForm::kHandle). Flags are added to n:
//
//   2^31  a hash index of the restarts, in data blocks of up to 64 KiB
//   2^29  the keys are spread evenly, for RocksDB's interpolation search
//   2^28  the values of a data block are stored behind all its keys
//
// A data block (ValueForm::kData) with both of its flags:
//
//   entry    = shared varint32, non_shared varint32, value_length varint32,
//              [value_start varint32,] key bytes [shared, shared + non_shared)
//   block    = entry*, value*, restart uint32 * n, bucket uint8 * b, b uint16,
//              first_value uint32, n + flags uint32
//
// Values follow one another from offset first_value on. Entries at restarts
// have a value_start, relative to first_value. Source: RocksDB 7.8.3, 10.9.1
// and 11.8.1, table/block_based/block_builder.cc, block.cc,
// data_block_hash_index.cc and data_block_footer.cc.
//
//   EntryCursor entries(block, ValueForm::kSized);
//   while (entries.Next()) Use(entries.key(), entries.value());
//   if (!entries.status().ok()) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "tools/sst/footer.h"

namespace rowbloom::sst {

// The form in which the values of a block are stored.
enum class ValueForm : uint8_t {
  kSized,  // after their length
  // A block handle without a length. If the key shares no bytes, the handle is
  // stored in full. Otherwise the block directly follows the previous one in
  // the file, and only the difference of their sizes is stored.
  kHandle,
  // As kHandle, followed by the length and the bytes of the block's first
  // internal key.
  kHandleAndFirstKey,
  // As kSized. The block may have a hash index, and its values may be stored
  // behind all its keys.
  kData,
};

// Walks the entries of one block from the first to the last. The block's bytes
// must outlive the cursor. Any bytes are safe: lengths, offsets and counts are
// checked before use. Not thread-safe.
class EntryCursor {
 public:
  // `keeps_keys` tells whether the caller keeps all keys in memory: then all
  // together may have 256 MiB, or the size of the block if that is larger.
  EntryCursor(std::string_view block, ValueForm form, bool keeps_keys = false);

  // Moves to the next entry; the first call moves to the first. Returns false
  // at the end, and at damage: then status() is not OK.
  bool Next();

  // The present entry. REQUIRES that the last Next() returned true.
  const std::string& key() const { return key_; }
  // The number of first bytes that the key shares with the key before it.
  size_t shared_key_bytes() const { return shared_key_bytes_; }
  std::string_view value() const { return value_; }
  size_t value_offset_bytes() const { return value_offset_bytes_; }
  // The handle, in the forms that have one. It is not checked against any file.
  const BlockHandle& handle() const { return handle_; }
  // The first key in ValueForm::kHandleAndFirstKey.
  std::string_view first_key() const { return first_key_; }

  bool has_hash_index() const { return has_hash_index_; }

  // Corruption with the offset in the block, or OK.
  const rocksdb::Status& status() const { return status_; }

 private:
  void ReadRestarts();
  void FindNextRestart();
  bool SkipHashIndex(size_t* restarts_end);
  bool SkipFirstValue(size_t* restarts_end);
  // The lengths that an entry starts with.
  struct Lengths {
    uint32_t shared = 0;
    uint32_t non_shared = 0;
    uint32_t value_bytes = 0;

    size_t key_bytes() const { return size_t{shared} + non_shared; }
  };
  bool ReadLengths(std::string_view* in, Lengths* lengths);
  bool CheckKey(const Lengths& lengths);
  bool ReadEntry();
  bool CheckEnd();
  bool ReadHandle(bool in_full, std::string_view* in);
  bool Fail(const std::string& problem);

  std::string_view block_;
  ValueForm form_;
  bool sized_;
  rocksdb::Status status_;
  size_t entries_end_ = 0;
  size_t restarts_at_ = 0;
  bool values_apart_ = false;
  size_t values_at_ = 0;  // the offset of the next value, if values_apart_
  size_t restart_count_ = 0;
  bool has_hash_index_ = false;
  size_t next_restart_ = 0;     // index of the first restart not yet reached
  size_t next_restart_at_ = 0;  // its offset; after the last, that of no entry
  size_t at_ = 0;               // offset of the next entry
  std::string key_;
  size_t shared_key_bytes_ = 0;
  uint64_t decoded_key_bytes_ = 0;
  uint64_t most_key_bytes_;  // the limit of decoded_key_bytes_
  std::string_view value_;
  size_t value_offset_bytes_ = 0;
  BlockHandle handle_;
  std::string_view first_key_;
};

}  // namespace rowbloom::sst

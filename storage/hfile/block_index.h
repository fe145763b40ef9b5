// Reads indexes. An index is a list of (block, key) in one of two forms:
//
//   root      (offset i64, block bytes i32, key length vlong, key)*
//   non-root  n i32, (n + 1) starts i32, (offset i64, block bytes i32, key)^n
//
// where starts are relative to the first entry. The root form also lists the
// chunks of Bloom filters and the meta blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rocksdb/status.h"
#include "storage/hfile/block_reader.h"

namespace rowbloom::hfile {

// The form of an index's keys. It determines their order.
enum class KeyForm : uint8_t {
  kCellKey,  // the key of a cell, compared as such
  kBytes,    // compared as unsigned bytes
  kName,     // in no order that readers rely on
};

// Returns a negative number, 0 or a positive one. REQUIRES well-formed keys.
int CompareIndexKeys(KeyForm form, std::string_view a, std::string_view b);

// An index in the root form. Does not own the bytes.
class RootIndex {
 public:
  RootIndex() = default;

  // Parses an index and checks every entry: the form and order of its key, and
  // that its block ends by the offset `end_at`. Sets `*rest` to the bytes after
  // the entries. Corruption names no place.
  static rocksdb::Status Parse(std::string_view bytes, uint64_t entry_count,
                               KeyForm form, uint64_t end_at, RootIndex* index,
                               std::string_view* rest);

  size_t size() const { return entry_at_.size(); }
  BlockLocation location(size_t entry) const;
  std::string_view key(size_t entry) const;
  // Returns the last entry with a key at or before `key`; size() if none.
  size_t Find(std::string_view key) const;

 private:
  std::string_view bytes_;
  KeyForm form_ = KeyForm::kBytes;
  std::vector<uint32_t> entry_at_;
};

// The payload of a leaf or intermediate index. Does not own the bytes; cheap to
// copy.
class NonRootIndex {
 public:
  NonRootIndex() = default;
  // REQUIRES that Check(payload) was OK.
  explicit NonRootIndex(std::string_view payload);

  // Checks the payload as RootIndex::Parse does. Without entries it is corrupt.
  static rocksdb::Status Check(std::string_view payload, KeyForm form,
                               uint64_t end_at);

  size_t size() const { return entry_count_; }
  BlockLocation location(size_t entry) const;
  std::string_view key(size_t entry) const;
  // Returns what RootIndex::Find does. REQUIRES keys of cells.
  size_t Find(std::string_view key) const;

 private:
  std::string_view Entry(size_t entry) const;

  std::string_view starts_;
  std::string_view entries_;
  size_t entry_count_ = 0;
};

// The size of the place of the middle key, by which HBase splits files. Only an
// index of several levels has it.
inline constexpr size_t kMidKeyBytes = 16;

}  // namespace rowbloom::hfile

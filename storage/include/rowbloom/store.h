// An embedded wide-column store on RocksDB: cells addressed by row, family and
// qualifier, in a directory. Each family is a RocksDB column family with its
// own filter policy, so that reads skip the files that cannot hold the answer.
//
//   std::unique_ptr<rowbloom::Store> store;
//   rocksdb::Status s = rowbloom::Store::Open({}, "users.db",
//                                             {{"info", {}}}, &store);
//   s = store->Put("user_1001", "info", "mail", "ada@example.org");
//   std::string value;
//   s = store->Get("user_1001", "info", "mail", &value);
//
// Names of rows and qualifiers are any bytes: a row has 1 to 32,767 (as in
// HBase), a qualifier 0 to 1 MiB, a value up to 1 GiB, a batch up to 2 GiB.
// What reaches disk is described in storage/store/FORMAT.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/key_layout.h"

namespace rowbloom {

inline constexpr size_t kMaxRowBytes = 32767;
inline constexpr size_t kMaxQualifierBytes = size_t{1} << 20;
inline constexpr size_t kMaxValueBytes = size_t{1} << 30;
inline constexpr size_t kMaxBatchBytes = size_t{2} << 30;

// How the data blocks of a family are compressed.
enum class Compression : uint8_t { kNone, kLz4 };

// Options of one family, kept in the store.
struct FamilyOptions {
  BloomType bloom_type = BloomType::kRowCol;
  double false_positive_rate = 0.01;
  // For kRowPrefixFixedLength.
  uint32_t row_prefix_length = 0;
  Compression compression = Compression::kLz4;
  // Of a data block before compression, in bytes; 1 KiB to 16 MiB.
  uint32_t block_size_bytes = 16 * 1024;

  friend bool operator==(const FamilyOptions&, const FamilyOptions&) = default;
};

// A family to open: it is created with these options when the store does not
// have it (but not in a read-only one), and must have been created with them
// when it does.
struct FamilyDescriptor {
  std::string name;
  FamilyOptions options;
};

struct StoreOptions {
  // Whether Open may create the store; families of an existing store are
  // created either way.
  bool create_if_missing = true;
  // Reads only: takes no lock and writes nothing, so that it works beside a
  // process that writes. Sees what that process had written when it opened;
  // opening or reading fails with an IOError when that process deletes a file,
  // after compacting it, in between.
  bool read_only = false;
  // How rows are laid out in keys, fixed when the store is created. The layout
  // must keep the order of rows: escaped (any row) or fixed:N (rows of N
  // bytes).
  KeyLayout key_layout = KeyLayout::Escaped();
  // Shared by data, index and filter blocks of all families, in bytes.
  size_t block_cache_bytes = size_t{64} << 20;
  // Of one family before it is flushed, in bytes; 64 KiB to 64 GiB.
  size_t write_buffer_bytes = size_t{64} << 20;
  // Off: files are never merged, which suits one large load; reads then meet
  // every file that was flushed.
  bool auto_compaction = true;
};

struct Cell {
  std::string family;
  std::string qualifier;
  // Milliseconds since 1970-01-01 UTC, given by the store when it was put.
  uint64_t timestamp_ms = 0;
  std::string value;

  friend bool operator==(const Cell&, const Cell&) = default;
};

// Changes that are applied together, in order, or not at all. Store::Write
// checks them. Not thread-safe; as large in memory as its keys and values.
// Adding a change may throw std::bad_alloc, which leaves the batch as it was.
class WriteBatch {
 public:
  void Put(std::string_view row, std::string_view family,
           std::string_view qualifier, std::string_view value);
  void Delete(std::string_view row, std::string_view family,
              std::string_view qualifier);
  // All cells of the row in all families.
  void DeleteRow(std::string_view row);
  void Clear() { changes_.clear(); }
  size_t size() const { return changes_.size(); }

 private:
  friend class StoreImpl;
  enum class ChangeType : uint8_t { kPut, kDelete, kDeleteRow };
  struct Change {
    ChangeType type;
    std::string row;
    std::string family;
    std::string qualifier;
    std::string value;
  };
  std::vector<Change> changes_;
};

struct FamilyStats {
  FamilyOptions options;
  // Cells in memory and in files; overwritten and deleted ones may count until
  // they are compacted away.
  uint64_t estimated_cells = 0;
  uint64_t files = 0;
  uint64_t file_bytes = 0;    // SSTs, compressed
  uint64_t filter_bytes = 0;  // filter blocks in those SSTs
  FilterStats filter;         // since the store was opened
};

struct StoreStats {
  std::string key_layout;
  std::map<std::string, FamilyStats> families;
  uint64_t block_cache_bytes_used = 0;  // of all families
};

// A store that is open; destroying it closes it. All functions are safe to call
// from any thread; writes are taken one at a time, so several cells are written
// fastest as one batch. A write is in RocksDB's log when the function returns:
// it survives the end of the process, and of the machine once the operating
// system has written the log out. Errors:
//   InvalidArgument  a name or value out of its limits, an unknown family; the
//                    message says which. Nothing was written.
//   NotFound         (Get, GetCell) no such cell
//   NotSupported     a write to a read-only store
//   Corruption       a stored value is not in the format of FORMAT.md
//   Aborted          out of memory (subcode kMemoryLimit), or an exception or
//                    a state of RocksDB that should not be; the message says
//   others           as RocksDB reports them, naming the file
// On failure outputs are unspecified.
class Store {
 public:
  // Opens the store at `path`, creating it and the families as the options
  // say. Families of the store that are not listed are opened too, with their
  // kept options. An interrupted creation is completed by the next call that
  // may write. Errors beside RocksDB's, nothing being changed on disk:
  //   InvalidArgument  `path` holds something that is no store; another key
  //                    layout; a family was created with other options, or is
  //                    not in a read-only store; an option out of range; a
  //                    family that is listed twice or whose name is empty, over
  //                    255 bytes, has ':' or bytes other than printable ASCII,
  //                    starts with '.', or is "default" (RocksDB's own)
  //   NotFound         no store at `path`, and it may not be created
  //   NotSupported     the store was written in a format of a later version
  static rocksdb::Status Open(const StoreOptions& options,
                              const std::string& path,
                              const std::vector<FamilyDescriptor>& families,
                              std::unique_ptr<Store>* store);
  virtual ~Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  virtual rocksdb::Status Put(std::string_view row, std::string_view family,
                              std::string_view qualifier,
                              std::string_view value) = 0;
  virtual rocksdb::Status Delete(std::string_view row, std::string_view family,
                                 std::string_view qualifier) = 0;
  virtual rocksdb::Status DeleteRow(std::string_view row) = 0;
  virtual rocksdb::Status Write(const WriteBatch& batch) = 0;

  // The newest value of one cell.
  virtual rocksdb::Status Get(std::string_view row, std::string_view family,
                              std::string_view qualifier,
                              std::string* value) = 0;
  // The same with its timestamp.
  virtual rocksdb::Status GetCell(std::string_view row, std::string_view family,
                                  std::string_view qualifier, Cell* cell) = 0;

  // All cells of the row, by family name, then by qualifier; all as of one
  // moment. An absent row is OK and gives none.
  virtual rocksdb::Status GetRow(std::string_view row,
                                 std::vector<Cell>* cells) = 0;

  // Writes what is in memory to SSTs, and their filter blocks with them.
  virtual rocksdb::Status Flush() = 0;

  virtual rocksdb::Status Stats(StoreStats* stats) = 0;

  // The families of the store and their options.
  virtual std::map<std::string, FamilyOptions> Families() const = 0;

 protected:
  Store() = default;
};

}  // namespace rowbloom

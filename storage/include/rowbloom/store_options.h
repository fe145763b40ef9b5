// Options of an embedded store and of its families.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "rowbloom/bloom_type.h"
#include "rowbloom/key_layout.h"

namespace rocksdb {
class Cache;
class Env;
class Logger;
class RateLimiter;
}  // namespace rocksdb

namespace rowbloom {

// The compression of the data of a family. kZstd takes less space than kLz4,
// and more time.
enum class Compression : uint8_t { kNone, kLz4, kZstd };

// The source of the timestamps of a family's cells.
enum class Timestamps : uint8_t {
  // The store's clock, which never goes back. A put with a timestamp is
  // refused.
  kStore,
  // The application, in any order; the store's clock where it gives none.
  kClient,
};

// Options of one family, kept in the store. They decide how its cells are kept:
// with max_versions 1 and timestamps of the store as plain values, in place of
// what was there (`latest`); otherwise as lists of versions and deletes
// (`versioned`), which cost a merge.
struct FamilyOptions {
  BloomType bloom_type = BloomType::kRowCol;
  FilterKind filter_kind = FilterKind::kBloom;
  double false_positive_rate = 0.01;
  // The bytes of the row that kRowPrefixFixedLength indexes; else 0.
  uint32_t row_prefix_length = 0;
  Compression compression = Compression::kLz4;
  // The size of a data block before compression, in bytes; 1 KiB to 16 MiB.
  uint32_t block_size_bytes = 16 * 1024;

  Timestamps timestamps = Timestamps::kStore;
  // Versions of a cell that are kept, the newest; at least 1. One that was
  // pushed out does not come back when a newer one is deleted.
  uint32_t max_versions = 1;
  // Versions of a cell, the newest, that outlive ttl_ms; up to max_versions. A
  // DeleteVersion counts as the version that it names.
  uint32_t min_versions = 0;
  // The time that a version is seen after its timestamp, in milliseconds; 0:
  // for ever.
  uint64_t ttl_ms = 0;

  // The compression of files at the bottom of the tree, which have most of the
  // data and are rarely rewritten. nullopt: `compression`.
  std::optional<Compression> bottom_compression = std::nullopt;
  // The size of a dictionary that the blocks of a file share where they are
  // compressed by kZstd, in bytes; up to 1 MiB. It makes small blocks of
  // similar cells smaller. A file's data is held in memory until a hundred
  // times as much was seen. Refused unless a compression of the family is ZSTD.
  // 0: none.
  uint32_t dictionary_bytes = 0;
  // The stored values that are kept out of line, in RocksDB's blob files, so
  // that compactions do not copy them: those of at least so many bytes, up to
  // 1 GiB. A stored value has nine bytes more than the cell's, and in a
  // `versioned` family it has all versions once they were compacted. Compaction
  // moves what is left of the oldest quarter of the blob files. 0: none.
  uint32_t min_blob_bytes = 0;

  // True for a `latest` family.
  bool KeepsLatest() const {
    return max_versions == 1 && timestamps == Timestamps::kStore;
  }

  friend bool operator==(const FamilyOptions&, const FamilyOptions&) = default;
};

// A family to open: it is created with these options when the store does not
// have it (but not in a read-only one), and must have them when it does.
struct FamilyDescriptor {
  std::string name;
  FamilyOptions options;
};

struct StoreOptions {
  static constexpr size_t kDefaultBlockCacheBytes = size_t{64} << 20;

  // True if Open may create the store; families of an existing store are
  // created either way.
  bool create_if_missing = true;
  // Reads only: takes no lock and writes nothing, so that it works beside a
  // process that writes. Sees what that process had written when it opened,
  // except kSkipWal writes, and perhaps a write that is under way. Opening is
  // TryAgain when that process kept changing files in between, by flushing or
  // compacting. A family that it is truncating or creating is TryAgain when it
  // is named.
  bool read_only = false;
  // The layout of rows in keys, fixed when the store is created: escaped (any
  // row) or fixed:N (rows of N bytes), the layouts that keep the order of rows.
  // nullopt: that of the store, and escaped for a new one.
  std::optional<KeyLayout> key_layout;
  // The block cache of all families, in bytes. It holds data blocks; filters
  // and indexes, which the open files hold, are charged to it.
  size_t block_cache_bytes = kDefaultBlockCacheBytes;
  // The size of one family's memtable at which it is flushed, in bytes; 64 KiB
  // to 64 GiB.
  size_t write_buffer_bytes = size_t{64} << 20;
  // The approximate size of an SST that a compaction writes, in bytes; 64 KiB
  // to 64 GiB.
  size_t file_bytes = size_t{64} << 20;
  // The limit of the front filter (rowbloom/front_filter.h), which holds the
  // ROW sections of all files in memory, in bytes, so that reads of absent rows
  // look at no file. They are read in the background after the store has been
  // opened. Files beyond the limit are read. The rows of memtables, 2 bytes
  // and up for each, come on top. All of it is charged to the block cache. 0:
  // no front filter.
  uint64_t front_filter_limit_bytes = std::numeric_limits<uint64_t>::max();
  // False: files are never merged, which suits one large load; reads then meet
  // every file that was flushed.
  bool auto_compaction = true;
  // Lets Begin give transactions. RocksDB then keeps what was flushed of a
  // family in memory, up to two write buffers, to check transactions against.
  bool transactions = false;
  // The time for which RocksDB's log is kept after the cells in it are in
  // files, in seconds, and the size up to which it is, for
  // Store::GetUpdatesSince. A log goes when one of the two is over. With one of
  // them 0 the other decides; with both 0 no log is kept. Whole files are
  // deleted, now and then.
  uint64_t kept_log_seconds = 0;
  uint64_t kept_log_bytes = 0;
  // Counts hits and misses of the block cache, and which of the filters' "may
  // match" were true, for Stats. A read takes some percent longer.
  bool statistics = false;

  // A block cache that several stores share. It takes the place of one of
  // block_cache_bytes, which must then be left as it is, or be its capacity.
  // nullptr: one of the store's own.
  std::shared_ptr<rocksdb::Cache> block_cache = nullptr;
  // Flushes and compactions that may run at a time; 1 to 1024. Stores of one
  // `env` share its threads.
  uint32_t background_jobs = 2;
  // The most files that are open at a time; at least 32. Filters and indexes go
  // with a file that is closed, and are read again with it; if the filter is
  // damaged then, RocksDB 7.8.3 may leave cells out of a scan, or crash. 0: all
  // files stay open.
  uint32_t max_open_files = 0;
  // The file system, clocks and threads, which outlive the store. nullptr:
  // rocksdb::Env::Default(). Its NewLogger is not called: the store writes LOG
  // as any other file. Where RocksDB cannot sync a log beside its writes
  // (FSWritableFile::IsSyncThreadSafe), a power cut may take writes before
  // others that survive, but no kSync ones.
  rocksdb::Env* env = nullptr;
  // Bounds the rate at which flushes and compactions write; several stores may
  // share one. nullptr: no bound.
  std::shared_ptr<rocksdb::RateLimiter> rate_limiter = nullptr;
  // Takes RocksDB's messages from the time when the store is accepted. nullptr:
  // a file LOG in the store's directory.
  std::shared_ptr<rocksdb::Logger> info_log = nullptr;
};

}  // namespace rowbloom

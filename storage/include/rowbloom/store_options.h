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

// Options of one family, kept in the store. They choose the format of its
// cells. With max_versions 1 and timestamps of the store, a cell is a plain
// value, which a put replaces (`latest`). Otherwise it is a list of versions
// and deletes, to which a put adds by a merge (`versioned`).
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
  // The number of newest versions of a cell that are kept; at least 1. A
  // version beyond it does not come back when a newer one is deleted.
  uint32_t max_versions = 1;
  // The number of newest versions of a cell that outlive ttl_ms; up to
  // max_versions. A DeleteVersion counts as the version that it names.
  uint32_t min_versions = 0;
  // The time for which a version is visible after its timestamp, in
  // milliseconds; 0: for ever.
  uint64_t ttl_ms = 0;

  // The compression of files at the bottom of the tree, which have most of the
  // data and are rarely rewritten. nullopt: `compression`.
  std::optional<Compression> bottom_compression = std::nullopt;
  // The size of a dictionary that the blocks of a file share where they are
  // compressed by kZstd, in bytes; up to 1 MiB. It makes small blocks of
  // similar cells smaller. The first data of each file, a hundred times this
  // size, is held in memory. Refused unless a compression of the family is
  // ZSTD. 0: none.
  uint32_t dictionary_bytes = 0;
  // The smallest stored value, in bytes, that is kept in RocksDB's blob files,
  // so that compactions do not copy it; up to 1 GiB. A stored value has nine
  // bytes more than the cell's. In a `versioned` family it has all versions
  // after a compaction. Compaction rewrites the live values of the oldest
  // quarter of the blob files. 0: no blob files.
  uint32_t min_blob_bytes = 0;

  // True for a `latest` family.
  bool KeepsLatest() const {
    return max_versions == 1 && timestamps == Timestamps::kStore;
  }

  friend bool operator==(const FamilyOptions&, const FamilyOptions&) = default;
};

// A family to open. If the store does not have it, it is created with these
// options (but not in a read-only store); else it must have these options.
struct FamilyDescriptor {
  std::string name;
  FamilyOptions options;
};

struct StoreOptions {
  // True if Open may create the store; families of an existing store are
  // created either way.
  bool create_if_missing = true;
  // Reads only: takes no lock and writes nothing, so that another process may
  // have the store open for writing. Sees what that process had written at the
  // time of the opening, except kSkipWal writes, and perhaps a write that was
  // under way. Opening fails with TryAgain if that process kept changing files
  // meanwhile, by flushing or compacting, or if a family that is named is being
  // truncated or created.
  bool read_only = false;
  // The layout of rows in keys, fixed when the store is created: escaped (any
  // row) or fixed:N (rows of N bytes), the layouts that keep the order of rows.
  // nullopt: that of the store, and escaped for a new one.
  std::optional<KeyLayout> key_layout;
  // The block cache of all families, in bytes; at most 2^63 - 1. It holds data
  // blocks; filters and indexes, which the open files hold, are charged to it.
  size_t block_cache_bytes = size_t{64} << 20;
  // The size of one family's memtable at which it is flushed, in bytes; 64 KiB
  // to 64 GiB.
  size_t write_buffer_bytes = size_t{64} << 20;
  // The approximate size of an SST that a compaction writes, in bytes; 64 KiB
  // to 64 GiB.
  size_t file_bytes = size_t{64} << 20;
  // The limit of the front filter (rowbloom/front_filter.h), in bytes. It holds
  // the ROW sections of all files in memory, so that reads of absent rows read
  // no file. The sections are read in the background after the store is opened.
  // Files whose sections exceed the limit are read. The rows of memtables, 2
  // bytes or more for each, are not in the limit. All of it is charged to the
  // block cache. 0: no front filter.
  uint64_t front_filter_limit_bytes = std::numeric_limits<uint64_t>::max();
  // False: files are never merged, which suits one large load; reads then have
  // to consider every file that was flushed.
  bool auto_compaction = true;
  // True: Begin makes transactions. RocksDB then keeps flushed memtables of a
  // family in memory, up to two write buffers, to check transactions against.
  bool transactions = false;
  // Limits for keeping RocksDB's log after its cells are in files, for
  // Store::GetUpdatesSince: its age in seconds, and its size in bytes. A log
  // file is deleted when one of the two is exceeded. If one is 0, only the
  // other counts; if both are 0, no log is kept, and those that earlier
  // openings kept stay below `archive`. Whole files are deleted, from time to
  // time. For the limit of bytes, RocksDB counts each file as large as the
  // largest: small ones, which flushes and openings make, exceed it soon, and a
  // limit below the largest keeps none.
  uint64_t kept_log_seconds = 0;
  uint64_t kept_log_bytes = 0;
  // Counts hits and misses of the block cache, and which of the filters' "may
  // match" were true, for Stats. A read takes some percent longer.
  bool statistics = false;

  // A block cache that several stores share, whose capacity may change. It
  // takes the place of one of block_cache_bytes, which does not count then.
  // nullptr: one of the store's own.
  // One with a strict capacity limit is refused: RocksDB would fail reads,
  // flushes and openings while it is full.
  std::shared_ptr<rocksdb::Cache> block_cache = nullptr;
  // Flushes and compactions that may run at a time, at least one of each; 1 to
  // 1024. Stores of one `env` share its threads.
  uint32_t background_jobs = 2;
  // The most files that are open at a time; at least 32. When a file is closed,
  // its filter and index leave memory, and they are read again with it. If the
  // filter is damaged then, RocksDB 7.8.3 may leave cells out of a scan, or
  // crash. 0: all files stay open.
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
  // Gets RocksDB's messages once Open has checked the store. nullptr: a file
  // LOG in the store's directory gets them.
  std::shared_ptr<rocksdb::Logger> info_log = nullptr;
};

}  // namespace rowbloom

// Options of an embedded store and of its families.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "rowbloom/bloom_type.h"
#include "rowbloom/key_layout.h"

namespace rowbloom {

// The compression of the data blocks of a family.
enum class Compression : uint8_t { kNone, kLz4 };

// Who gives the cells of a family their timestamps.
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
  // For kRowPrefixFixedLength.
  uint32_t row_prefix_length = 0;
  Compression compression = Compression::kLz4;
  // The size of a data block before compression, in bytes; 1 KiB to 16 MiB.
  uint32_t block_size_bytes = 16 * 1024;

  Timestamps timestamps = Timestamps::kStore;
  // Versions of a cell that are kept, the newest; at least 1. One that was
  // pushed out does not come back when a newer one is deleted.
  uint32_t max_versions = 1;
  // Versions of a cell, the newest, that outlive ttl_ms; up to max_versions.
  uint32_t min_versions = 0;
  // The time that a version is seen after its timestamp, in milliseconds; 0:
  // for ever.
  uint64_t ttl_ms = 0;

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
  // True if Open may create the store; families of an existing store are
  // created either way.
  bool create_if_missing = true;
  // Reads only: takes no lock and writes nothing, so that it works beside a
  // process that writes. Sees what that process had written when it opened,
  // kSkipWal and what is under way aside. Opening is TryAgain when that process
  // kept changing files in between, by flushing or compacting.
  bool read_only = false;
  // The layout of rows in keys, fixed when the store is created: escaped (any
  // row) or fixed:N (rows of N bytes), the layouts that keep the order of rows.
  // nullopt: that of the store, and escaped for a new one.
  std::optional<KeyLayout> key_layout;
  // The block cache of all families, in bytes. It holds data blocks; filters
  // and indexes, which the open files hold, are charged to it.
  size_t block_cache_bytes = size_t{64} << 20;
  // The size of one family's memtable at which it is flushed, in bytes; 64 KiB
  // to 64 GiB.
  size_t write_buffer_bytes = size_t{64} << 20;
  // The approximate size of an SST that a compaction writes, in bytes; 64 KiB
  // to 64 GiB.
  size_t file_bytes = size_t{64} << 20;
  // Off: files are never merged, which suits one large load; reads then meet
  // every file that was flushed.
  bool auto_compaction = true;
  // Counts hits and misses of the block cache, and which of the filters' "may
  // match" were true, for Stats. A read takes some percent longer.
  bool statistics = false;
};

}  // namespace rowbloom

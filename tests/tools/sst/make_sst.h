// SST files for tests, written by RocksDB itself, and ways to damage them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "rocksdb/version.h"
#include "tools/sst/footer.h"
#include "tools/sst/sst_file.h"

namespace rowbloom::test {

// The latest format_version up to 7 that the library writes.
#if ROCKSDB_MAJOR > 10 || (ROCKSDB_MAJOR == 10 && ROCKSDB_MINOR >= 4)
inline constexpr uint32_t kLatestFormatVersion = 7;
#elif ROCKSDB_MAJOR > 8 || (ROCKSDB_MAJOR == 8 && ROCKSDB_MINOR >= 6)
inline constexpr uint32_t kLatestFormatVersion = 6;
#else
inline constexpr uint32_t kLatestFormatVersion = 5;
#endif

struct SstSpec {
  uint32_t format_version = 5;
  rocksdb::ChecksumType checksum = rocksdb::kXXH3;
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  std::shared_ptr<const rocksdb::SliceTransform> prefix_extractor;
  const rocksdb::Comparator* comparator = rocksdb::BytewiseComparator();
  bool partitioned = false;
  uint64_t partition_bytes = 512;
  int index_restart_interval = 1;
  // Changes the options last.
  std::function<void(rocksdb::Options*, rocksdb::BlockBasedTableOptions*)>
      change;
};

// Small blocks and small partitions, so that few keys make many.
rocksdb::Options MakeOptions(const SstSpec& spec);

// Writes `keys`, each with a value, which must be in the comparator's order
// without repeats. Fails the test on any error.
void WriteSst(const SstSpec& spec, const std::string& path,
              const std::vector<std::string>& keys);

// The same with a value for each key.
void WriteSst(const SstSpec& spec, const std::string& path,
              const std::map<std::string, std::string>& cells);

// Opens a file that must open; else it ends the test with an exception.
std::unique_ptr<sst::SstFile> OpenSst(const std::string& path);

// A new database, without compactions of its own; throws likewise. The path of
// the single SST of a database that has one.
std::unique_ptr<rocksdb::DB> NewDb(const SstSpec& spec,
                                   const std::string& path);
std::string OnlySst(rocksdb::DB* db);

// "key000000", "key000001", ...
std::vector<std::string> NumberedKeys(size_t count);

// Numbers as SST files have them: little-endian, or of seven bits a byte.
std::string Fixed(uint64_t value, int bytes);
std::string Varint(uint64_t value);

// Writes one byte in place.
void WriteByte(const std::string& path, uint64_t offset_bytes, char byte);

// Changes the contents of one block of a file with `change`, which must keep
// their length, and makes the block's checksum right again.
void ChangeBlock(const std::string& path, const sst::BlockHandle& handle,
                 const std::function<void(std::string*)>& change);

}  // namespace rowbloom::test

// Everything that determines the bytes of a file: the writer's options, and the
// differences between HBase's versions and settings that readers and writers of
// cells do not notice. Tests use it to reproduce files of HBase's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "rocksdb/status.h"
#include "rowbloom/hfile_writer.h"
#include "storage/hfile/block.h"
#include "storage/hfile/cell.h"

namespace rowbloom::hfile {

// Defaults are HBase's own. Sizes are in bytes, above 0. Values of options that
// are not HFileWriterOptions are not checked.
struct FileForm : HFileWriterOptions {
  // The byte of a gzip header that names the system. Newer versions of Java
  // write 0xff, older ones 0.
  uint8_t gz_operating_system = 0xff;
  ChecksumType checksum = ChecksumType::kCrc32c;
  uint32_t bytes_per_checksum = 16 * 1024;  // at least 33
  uint32_t index_block_bytes = 128 * 1024;
  uint32_t index_block_min_entries = 16;  // at least 2, so that levels end
  IndexKeyRule index_key_rule = IndexKeyRule::kHBase25;

  HFileHash bloom_hash = HFileHash::kMurmur;
  uint32_t bloom_block_bytes = 128 * 1024;
  uint32_t bloom_max_fold = 7;
  // The filter of rows with family deletes. Never beside kRowCol, as in HBase.
  bool delete_family_bloom = true;

  std::string comparator = "org.apache.hadoop.hbase.KeyValue$KVComparator";
  std::optional<bool> historical;  // late 2.5 and 2.6 write it
  bool biggest_cell = false;       // 2.6 and later write it
  bool time_range = true;          // TIMERANGE, EARLIEST_PUT_TS
};

// Opens a writer as HFileWriter::Open does, for any form.
rocksdb::Status OpenWriter(const FileForm& form, const std::string& path,
                           std::unique_ptr<HFileWriter>* writer);

}  // namespace rowbloom::hfile

// Embedded blobs: large values that are beside the data blocks, in records of
// their own. Files that RocksDB 11.8's SstFileWriter made may have them
// (SstFile::has_embedded_blobs). An entry then has the type kBlobIndex, and in
// place of its value a reference to the record:
//
//   reference = 1 uint8, 0 varint64, offset varint64, size varint64,
//               compression type uint8
//   record    = `size` bytes, compression type uint8, checksum uint32
//
// The 0 is the number of the file, this one; any other is that of a blob file.
// A record has the trailer of a block. Source: RocksDB 11.8.1,
// db/blob/blob_index.h and blob_gen2_format.h, table/embedded_blob_sst.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "tools/sst/internal_key.h"
#include "tools/sst/sst_file.h"

namespace rowbloom::sst {

// Tells whether an entry's value is in this file, in a record of its own.
bool IsEmbeddedBlob(const SstFile& file, EntryType type,
                    std::string_view value);

// Reads the records of a walk through a file, which must outlive it. Not
// thread-safe.
class EmbeddedBlobReader {
 public:
  explicit EmbeddedBlobReader(const SstFile& file) : file_(file) {}

  // Reads the record that such a value refers to, and verifies its checksum.
  // Records are in the order of their entries: none is read twice, whatever the
  // bytes. On error *contents is unspecified. Errors name the file:
  //   Corruption    the value is malformed, or the record does not lie in the
  //                 file behind the one before it, or is damaged
  //   NotSupported  the record is compressed, which RocksDB 11.8 never does
  //   MemoryLimit   a record larger than kMaxBlockBytes, or than the memory
  //   left
  rocksdb::Status Read(std::string_view value, std::string* contents);

 private:
  const SstFile& file_;
  uint64_t previous_end_ = 0;
};

}  // namespace rowbloom::sst

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

#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "tools/sst/internal_key.h"
#include "tools/sst/sst_file.h"

namespace rowbloom::sst {

// Tells whether an entry's value is in this file, in a record of its own.
bool IsEmbeddedBlob(const SstFile& file, EntryType type,
                    std::string_view value);

// Reads the record that such a value refers to, and verifies its checksum. On
// error *contents is unspecified. Thread-safe. Errors name the file:
//   Corruption    the value is malformed, or the record does not lie in the
//   file
//                 or is damaged
//   NotSupported  the record is compressed, which RocksDB 11.8 never does
//   MemoryLimit   a record larger than kMaxBlockBytes, or than the memory left
rocksdb::Status ReadEmbeddedBlob(const SstFile& file, std::string_view value,
                                 std::string* contents);

}  // namespace rowbloom::sst

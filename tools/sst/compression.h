// The decompression of blocks, and RocksDB's numbers of compression types.
//
// A compressed block is the varint32 size of its contents and then the codec's
// bytes; Snappy has the size inside. Source: RocksDB 7.8.3, 10.9.1 and 11.8.1,
// util/compression.h, include/rocksdb/compression_type.h and
// advanced_compression.h, table/block_based/block_based_table_reader.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "storage/format/buffer.h"
#include "storage/format/codec.h"

namespace rowbloom::sst {

// The numbers are stored in a block's trailer: never renumber. Damaged files
// and those of later versions may have other values.
enum class CompressionType : uint8_t {
  kNone = 0,
  kSnappy = 1,
  kZlib = 2,
  kBZip2 = 3,
  kLz4 = 4,
  kLz4hc = 5,
  kXpress = 6,
  kZstd = 7,
  kZstdNotFinal = 0x40,  // ZSTD as RocksDB wrote it before ZSTD 1.0
};

// "none", "Snappy", "LZ4", ...; "Custom81" for a type that an application
// defines, and "compression type 99" for an unknown one.
std::string ToString(CompressionType type);

// The contents of the property rocksdb.compression. Up to format_version 6 it
// is the name of a codec. From 7 on it is "MANAGER;TYPES;", where TYPES has two
// hex digits for each compression type of the file's blocks.
struct CompressionProperty {
  // The name of the compression manager, as a view of the property; empty if
  // the property names none, or RocksDB's own. Blocks that another manager
  // compressed cannot be decompressed.
  std::string_view foreign_manager;
  // The codecs: "NoCompression", "ZSTD", "LZ4, ZSTD"; the property itself if it
  // has another form.
  std::string codecs;
};
CompressionProperty ParseCompressionProperty(uint32_t format_version,
                                             std::string_view property);

// Decompresses a block. *contents views `buffer`, or `stored` if the block is
// not compressed. `dictionary` may be null. Allocates no more memory than the
// codec could fill from the stored bytes. Thread-safe. Errors are sentences
// without the file's name, and *contents is then unspecified:
//   Corruption    malformed, or another size than the block claims
//   NotSupported  BZip2, XPRESS, and unknown types
//   MemoryLimit   contents of more than kMaxBlockBytes, or no memory for them
rocksdb::Status Decompress(CompressionType type, std::string_view stored,
                           const CodecDictionary* dictionary, Buffer* buffer,
                           std::string_view* contents);

}  // namespace rowbloom::sst

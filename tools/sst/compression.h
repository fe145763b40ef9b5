// The compression of blocks: RocksDB's numbers for it, and how to undo it.
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

// The numbers are those of a block's trailer: never renumber. Other values
// occur in damaged files and in those of later versions.
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

// "none", "Snappy", "LZ4", ...; "Custom81" for one that is an application's
// own, and "compression type 99" for an unknown one.
std::string ToString(CompressionType type);

// The contents of the property rocksdb.compression. Up to format_version 6 it
// is the name of a codec. From 7 on it is "MANAGER;TYPES;", where TYPES has two
// hex digits for each compression type of the file's blocks.
struct CompressionProperty {
  // The name of what defines the forms of compressed blocks, a view of the
  // property; empty where none is named, or where it is RocksDB itself. No
  // block can be decompressed that another manager made.
  std::string_view foreign_manager;
  // The codecs: "NoCompression", "ZSTD", "LZ4, ZSTD"; the property itself where
  // it has another form.
  std::string codecs;
};
CompressionProperty ParseCompressionProperty(uint32_t format_version,
                                             std::string_view property);

// The contents of a block from its stored bytes; *contents are in `buffer`, or
// `stored` itself. `dictionary` may be null. No memory is taken for what the
// codec could not make of the stored bytes. Thread-safe. Errors are sentences
// without the file's name; *contents is then unspecified:
//   Corruption    malformed, or another size than the block claims
//   NotSupported  BZip2, XPRESS, and what is not known
//   MemoryLimit   contents of more than kMaxBlockBytes, or no memory for them
rocksdb::Status Decompress(CompressionType type, std::string_view stored,
                           const CodecDictionary* dictionary, Buffer* buffer,
                           std::string_view* contents);

}  // namespace rowbloom::sst

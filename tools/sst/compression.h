// The compression of blocks: RocksDB's numbers for it, and how to undo it.
//
// A compressed block is the varint32 size of its contents and then the codec's
// bytes; Snappy has the size inside. Source: RocksDB 7.8.3 and 10.9.1,
// util/compression.h.
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

// "none", "Snappy", "LZ4", ...; "compression type 99" for an unknown one.
std::string ToString(CompressionType type);

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

// The compression of blocks: RocksDB's numbers for it, and how to undo it.
//
// A compressed block is the varint32 size of its contents and then the codec's
// bytes; Snappy has the size inside. Source: RocksDB 7.8.3 and 10.9.1,
// util/compression.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rocksdb/status.h"

namespace rowbloom::sst {

// As in a block's trailer: never renumber. Other values occur in damaged files
// and in those of later versions.
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

// Undoes the compression of blocks that share a dictionary. Not thread-safe.
class Decompressor {
 public:
  // An empty dictionary: none.
  explicit Decompressor(std::string dictionary = "");
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  // The contents of a block from its stored bytes. No memory is taken for more
  // bytes than the codec could make of the stored ones. Errors are sentences
  // without the file's name; *contents is then unspecified:
  //   Corruption    malformed, or another size than the block claims
  //   NotSupported  BZip2, XPRESS, and what is not known
  //   MemoryLimit   no memory for the contents
  rocksdb::Status Decompress(CompressionType type, std::string_view stored,
                             std::string* contents);

 private:
  struct Zstd;

  rocksdb::Status Run(CompressionType type, std::string_view stored,
                      std::string* contents);

  const std::string dictionary_;
  std::unique_ptr<Zstd> zstd_;  // made when first needed
};

}  // namespace rowbloom::sst

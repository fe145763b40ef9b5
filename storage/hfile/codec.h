// Compression of block payloads. GZ is one gzip member; the other codecs have
// Hadoop's block stream:
//
//   (raw length u32, (chunk length u32, chunk)+)*
//
// where the chunks decompress to `raw length` bytes; a raw length of 0 ends the
// stream. ZSTD also occurs as plain frames, which their magic number tells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "rowbloom/hfile.h"

namespace rowbloom::hfile {

// Tells whether blocks of this codec can be read and written.
bool IsSupported(HFileCompression codec);

// The most bytes that `stored_bytes` of the codec can stand for, or
// std::numeric_limits<uint64_t>::max() when there is no limit.
uint64_t MaxUncompressedBytes(HFileCompression codec, uint64_t stored_bytes);

// Decompresses exactly `out_bytes` to `out`; what follows in `in` is ignored,
// as HBase does. Corruption with what is wrong, without a place. Thread-safe.
// REQUIRES IsSupported(codec).
rocksdb::Status Decompress(HFileCompression codec, std::string_view in,
                           char* out, size_t out_bytes);

// Compresses payloads one by one. Not thread-safe.
class Compressor {
 public:
  virtual ~Compressor() = default;
  // Appends. IOError when the codec fails, which it does not for want of
  // anything but memory.
  virtual rocksdb::Status Compress(std::string_view payload,
                                   std::string* out) = 0;
};

// REQUIRES IsSupported(options.compression) and a level of the codec's.
std::unique_ptr<Compressor> NewCompressor(const HFileWriterOptions& options);

}  // namespace rowbloom::hfile

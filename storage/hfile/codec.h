// The forms of compressed block payloads. GZ is one gzip member. The other
// codecs have Hadoop's block stream:
//
//   (raw length u32, (chunk length u32, chunk)+)*
//
// where the chunks decompress to `raw length` bytes; a raw length of 0 ends the
// stream. ZSTD also occurs as plain frames; their magic number identifies them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "rowbloom/hfile_format.h"
#include "storage/format/codec.h"
#include "storage/hfile/file_form.h"

namespace rowbloom::hfile {

// Returns the codec inside; nullopt: such blocks are neither read nor written.
std::optional<Codec> CodecOf(HFileCompression compression);

// Decompresses exactly `out_bytes` to `out`. Ignores further bytes of `in`, as
// HBase does. Errors name the problem, but no place: Corruption, MemoryLimit,
// and NotSupported for ZSTD with a dictionary. Thread-safe. REQUIRES
// CodecOf(compression).
rocksdb::Status DecompressPayload(HFileCompression compression,
                                  std::string_view in, char* out,
                                  size_t out_bytes);

// Compresses payloads one by one. Not thread-safe.
class PayloadCompressor {
 public:
  // REQUIRES CodecOf(form.compression) and a level that the codec has.
  explicit PayloadCompressor(const FileForm& form);

  // Appends the compressed payload. Errors are those of Compressor.
  rocksdb::Status Compress(std::string_view payload, std::string* out);

 private:
  rocksdb::Status CompressGzip(std::string_view payload, std::string* out);
  rocksdb::Status CompressStream(std::string_view payload, std::string* out);

  const bool is_gzip_;
  const uint8_t gz_operating_system_;
  const size_t max_chunk_bytes_;  // of a block stream; 0: no stream
  Compressor compressor_;
};

}  // namespace rowbloom::hfile

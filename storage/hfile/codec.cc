#include "storage/hfile/codec.h"

#include "storage/format/coding.h"
#include "storage/format/crc.h"
#include "storage/format/status_text.h"

namespace rowbloom {

std::string ToString(HFileCompression codec) {
  switch (codec) {
    case HFileCompression::kLzo:
      return "LZO";
    case HFileCompression::kGz:
      return "GZ";
    case HFileCompression::kNone:
      return "NONE";
    case HFileCompression::kSnappy:
      return "SNAPPY";
    case HFileCompression::kLz4:
      return "LZ4";
    case HFileCompression::kBzip2:
      return "BZIP2";
    case HFileCompression::kZstd:
      return "ZSTD";
    case HFileCompression::kLzma:
      return "LZMA";
    case HFileCompression::kBrotli:
      return "BROTLI";
  }
  return Concat("codec ", static_cast<int>(codec));
}

namespace hfile {
namespace {

using rocksdb::Status;

static_assert(kHFileMaxBlockBytes == kMaxBlockBytes);

// The buffer of Hadoop's codecs: no chunk decompresses to more.
constexpr size_t kBufferBytes = 256 * 1024;

constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";

// Decompresses one chunk, or all of a payload. NotSupported: the frames need a
// dictionary, whose place only HBase's configuration says.
Status DecompressChunk(Codec codec, std::string_view in, char* out, size_t room,
                       size_t* out_bytes) {
  const Status status = Decompress(codec, in, out, room, out_bytes);
  if (status.IsCorruption() && codec == Codec::kZstd &&
      NeedZstdDictionary(in)) {
    return Status::NotSupported("compressed with a dictionary");
  }
  return status;
}

Status DecompressStream(Codec codec, std::string_view in, char* out,
                        size_t out_bytes) {
  size_t done = 0;
  while (done < out_bytes) {
    uint32_t raw_bytes = 0;
    if (!GetBig(&in, &raw_bytes) || raw_bytes == 0) {
      return Corruption("ends after ", done, " of ", out_bytes, " bytes");
    }
    if (raw_bytes > out_bytes - done) {
      return Corruption("record of ", raw_bytes, " bytes, expected at most ",
                        out_bytes - done);
    }
    const size_t record_end = done + raw_bytes;
    while (done < record_end) {
      uint32_t chunk_bytes = 0;
      std::string_view chunk;
      if (!GetBig(&in, &chunk_bytes) || !GetBytes(&in, chunk_bytes, &chunk)) {
        return Corruption("chunk of ", chunk_bytes, " bytes, expected at most ",
                          in.size());
      }
      size_t got = 0;
      const Status status =
          DecompressChunk(codec, chunk, out + done, record_end - done, &got);
      if (status.IsMemoryLimit() || status.IsNotSupported()) return status;
      if (!status.ok() || got == 0) {
        return Corruption("malformed chunk of ", chunk_bytes,
                          " bytes, expected 1 to ", record_end - done,
                          " bytes of it");
      }
      done += got;
    }
  }
  return Status::OK();
}

Status DecompressPlain(Codec codec, std::string_view in, char* out,
                       size_t out_bytes) {
  size_t got = 0;
  const Status status = DecompressChunk(codec, in, out, out_bytes, &got);
  if (!status.ok() || got == out_bytes) return status;
  return Corruption("ends after ", got, " of ", out_bytes, " bytes");
}

// Returns the size of a stream's chunks. Hadoop's classes leave room in the
// buffer for growth by compression, each by an estimate of its own.
size_t MaxChunkBytes(const FileForm& form) {
  constexpr size_t kCommonEstimate = kBufferBytes / 6 + 32;
  switch (form.compression) {
    case HFileCompression::kNone:
    case HFileCompression::kGz:
      return 0;
    case HFileCompression::kLz4:
      if (form.codec_classes != HFileCodecClasses::kHadoop) break;
      return kBufferBytes - (kBufferBytes / 255 + 16);
    case HFileCompression::kZstd:
      if (form.codec_classes == HFileCodecClasses::kHadoop) return 0;
      if (form.codec_classes != HFileCodecClasses::kHBaseNative) break;
      // ZSTD_compressBound
      return kBufferBytes - kBufferBytes / 256;
    default:
      break;
  }
  return kBufferBytes - kCommonEstimate;
}

Codec CodecWritten(HFileCompression compression) {
  // CompressGzip writes the member's head and tail.
  if (compression == HFileCompression::kGz) return Codec::kDeflate;
  return CodecOf(compression).value_or(Codec::kNone);
}

}  // namespace

std::optional<Codec> CodecOf(HFileCompression compression) {
  switch (compression) {
    case HFileCompression::kNone:
      return Codec::kNone;
    case HFileCompression::kGz:
      return Codec::kGzip;
    case HFileCompression::kLz4:
      return Codec::kLz4;
    case HFileCompression::kSnappy:
      return Codec::kSnappy;
    case HFileCompression::kZstd:
      return Codec::kZstd;
    default:
      return std::nullopt;
  }
}

Status DecompressPayload(HFileCompression compression, std::string_view in,
                         char* out, size_t out_bytes) {
  const Codec codec = *CodecOf(compression);
  const bool is_stream = codec == Codec::kLz4 || codec == Codec::kSnappy ||
                         (codec == Codec::kZstd && !in.starts_with(kZstdMagic));
  const Status status = is_stream ? DecompressStream(codec, in, out, out_bytes)
                                  : DecompressPlain(codec, in, out, out_bytes);
  return status.ok() ? status
                     : Prefixed(ToString(compression) + " stream: ", status);
}

PayloadCompressor::PayloadCompressor(const FileForm& form)
    : is_gzip_(form.compression == HFileCompression::kGz),
      gz_operating_system_(form.gz_operating_system),
      max_chunk_bytes_(MaxChunkBytes(form)),
      compressor_(CodecWritten(form.compression), form.compression_level) {}

Status PayloadCompressor::Compress(std::string_view payload, std::string* out) {
  if (is_gzip_) return CompressGzip(payload, out);
  if (max_chunk_bytes_ > 0) return CompressStream(payload, out);
  return compressor_.Append(payload, out);
}

// A gzip member with the header of Java's GZIPOutputStream: no name, no time.
Status PayloadCompressor::CompressGzip(std::string_view payload,
                                       std::string* out) {
  out->append(std::string_view("\x1f\x8b\x08\0\0\0\0\0\0", 9));
  PutBig<uint8_t>(out, gz_operating_system_);
  const Status status = compressor_.Append(payload, out);
  PutFixed(out, Crc32(payload), sizeof(uint32_t));
  PutFixed(out, payload.size(), sizeof(uint32_t));
  return status;
}

Status PayloadCompressor::CompressStream(std::string_view payload,
                                         std::string* out) {
  PutBig<uint32_t>(out, static_cast<uint32_t>(payload.size()));
  const bool one_chunk = payload.size() <= max_chunk_bytes_;
  while (!payload.empty()) {
    const std::string_view chunk = payload.substr(0, max_chunk_bytes_);
    payload.remove_prefix(chunk.size());
    const size_t length_at = out->size();
    PutBig<uint32_t>(out, 0);
    const size_t chunk_at = out->size();
    const Status status = compressor_.Append(chunk, out);
    if (!status.ok()) return status;
    std::string length;
    PutBig<uint32_t>(&length, static_cast<uint32_t>(out->size() - chunk_at));
    out->replace(length_at, length.size(), length);
  }
  // Hadoop's stream ends with this 0 after more than one chunk.
  if (!one_chunk) PutBig<uint32_t>(out, 0);
  return Status::OK();
}

}  // namespace hfile
}  // namespace rowbloom

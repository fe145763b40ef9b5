#include "storage/hfile/codec.h"

#include <lz4.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>

#include "lib/bytes/text.h"
#include "storage/hfile/coding.h"

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

// The buffer of Hadoop's codecs: no chunk decompresses to more.
constexpr size_t kBufferBytes = 256 * 1024;

constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";

// windowBits of zlib: the largest window, with a gzip header or without one.
constexpr int kGzipWindow = 15 + 16;
constexpr int kRawWindow = -15;
constexpr int kDefaultMemoryLevel = 8;

Status Broken(std::string_view codec, std::string_view problem) {
  return Status::Corruption(Concat(codec, " stream: ", problem));
}

ZSTD_DCtx* ZstdContext() {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  // Making one costs more than most blocks.
  thread_local const std::unique_ptr<ZSTD_DCtx, Free> context(
      ZSTD_createDCtx());
  return context.get();
}

size_t DecompressZstd(std::string_view in, char* out, size_t room) {
  ZSTD_DCtx* context = ZstdContext();
  if (context == nullptr) return 0;
  const size_t got =
      ZSTD_decompressDCtx(context, out, room, in.data(), in.size());
  return ZSTD_isError(got) ? 0 : got;
}

// A chunk decompressed to the front of at most `room` bytes; 0 when it is
// malformed or has more.
size_t DecompressChunk(HFileCompression codec, std::string_view chunk,
                       char* out, size_t room) {
  constexpr size_t kMax = std::numeric_limits<int>::max();
  switch (codec) {
    case HFileCompression::kLz4: {
      if (chunk.size() > kMax) return 0;
      const int got =
          LZ4_decompress_safe(chunk.data(), out, static_cast<int>(chunk.size()),
                              static_cast<int>(std::min(room, kMax)));
      return got < 0 ? 0 : static_cast<size_t>(got);
    }
    case HFileCompression::kSnappy: {
      size_t size = 0;
      if (!snappy::GetUncompressedLength(chunk.data(), chunk.size(), &size) ||
          size > room ||
          !snappy::RawUncompress(chunk.data(), chunk.size(), out)) {
        return 0;
      }
      return size;
    }
    default:
      return DecompressZstd(chunk, out, room);
  }
}

Status DecompressBlockStream(HFileCompression codec, std::string_view in,
                             char* out, size_t out_bytes) {
  const std::string name = ToString(codec);
  Cursor cursor(in);
  size_t done = 0;
  while (done < out_bytes) {
    uint32_t raw_bytes = 0;
    if (!cursor.ReadU32(&raw_bytes) || raw_bytes == 0) {
      return Broken(name,
                    Concat("ends after ", done, " of ", out_bytes, " bytes"));
    }
    if (raw_bytes > out_bytes - done) {
      return Broken(name,
                    Concat("record of ", raw_bytes, " bytes, expected at most ",
                           out_bytes - done));
    }
    const size_t record_end = done + raw_bytes;
    while (done < record_end) {
      uint32_t chunk_bytes = 0;
      std::string_view chunk;
      if (!cursor.ReadU32(&chunk_bytes) ||
          !cursor.ReadBytes(chunk_bytes, &chunk)) {
        return Broken(name, Concat("chunk of ", chunk_bytes,
                                   " bytes, expected at most ", cursor.size()));
      }
      const size_t got =
          DecompressChunk(codec, chunk, out + done, record_end - done);
      if (got == 0) {
        return Broken(name, Concat("malformed chunk of ", chunk_bytes,
                                   " bytes, expected 1 to ", record_end - done,
                                   " bytes of it"));
      }
      done += got;
    }
  }
  return Status::OK();
}

Status DecompressGzip(std::string_view in, char* out, size_t out_bytes) {
  // A block of nothing has nothing to read.
  if (out_bytes == 0) return Status::OK();
  constexpr size_t kMaxStep = std::numeric_limits<uInt>::max();
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) {
    return Status::MemoryLimit("no memory for zlib");
  }
  size_t in_left = in.size();
  size_t out_left = out_bytes;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  stream.next_out = reinterpret_cast<Bytef*>(out);
  int result = Z_OK;
  while (result == Z_OK && out_left > 0) {
    const auto in_step = static_cast<uInt>(std::min(in_left, kMaxStep));
    const auto out_step = static_cast<uInt>(std::min(out_left, kMaxStep));
    stream.avail_in = in_step;
    stream.avail_out = out_step;
    result = inflate(&stream, Z_NO_FLUSH);
    in_left -= in_step - stream.avail_in;
    out_left -= out_step - stream.avail_out;
  }
  const std::string problem = stream.msg == nullptr ? "cut short" : stream.msg;
  inflateEnd(&stream);
  if (out_left == 0) return Status::OK();
  return Broken("GZ", Concat("ends after ", out_bytes - out_left, " of ",
                             out_bytes, " bytes: ", problem));
}

Status DecompressPlainZstd(std::string_view in, char* out, size_t out_bytes) {
  ZSTD_DCtx* context = ZstdContext();
  if (context == nullptr) return Status::MemoryLimit("no memory for zstd");
  const size_t got =
      ZSTD_decompressDCtx(context, out, out_bytes, in.data(), in.size());
  if (ZSTD_isError(got)) return Broken("ZSTD", ZSTD_getErrorName(got));
  if (got != out_bytes) {
    return Broken("ZSTD",
                  Concat("ends after ", got, " of ", out_bytes, " bytes"));
  }
  return Status::OK();
}

// Writes the block stream, in chunks of at most `max_chunk_bytes`.
class BlockStreamCompressor : public Compressor {
 public:
  explicit BlockStreamCompressor(size_t max_chunk_bytes)
      : max_chunk_bytes_(max_chunk_bytes) {}

  Status Compress(std::string_view payload, std::string* out) override {
    PutU32(out, static_cast<uint32_t>(payload.size()));
    const bool one_chunk = payload.size() <= max_chunk_bytes_;
    while (!payload.empty()) {
      const std::string_view chunk = payload.substr(0, max_chunk_bytes_);
      payload.remove_prefix(chunk.size());
      const size_t length_at = out->size();
      PutU32(out, 0);
      const size_t room = MaxCompressedBytes(chunk.size());
      out->resize(length_at + sizeof(uint32_t) + room);
      const size_t got = CompressChunk(
          chunk, out->data() + length_at + sizeof(uint32_t), room);
      if (got == 0) return Status::IOError("compression failed");
      out->resize(length_at + sizeof(uint32_t) + got);
      std::string length;
      PutU32(&length, static_cast<uint32_t>(got));
      out->replace(length_at, length.size(), length);
    }
    // Hadoop's stream leaves this when it is finished after more than one
    // chunk.
    if (!one_chunk) PutU32(out, 0);
    return Status::OK();
  }

 private:
  virtual size_t MaxCompressedBytes(size_t byte_count) const = 0;
  // The number of bytes written to `out`, or 0.
  virtual size_t CompressChunk(std::string_view chunk, char* out,
                               size_t room) = 0;

  const size_t max_chunk_bytes_;
};

class Lz4Compressor : public BlockStreamCompressor {
 public:
  using BlockStreamCompressor::BlockStreamCompressor;

 private:
  size_t MaxCompressedBytes(size_t byte_count) const override {
    return static_cast<size_t>(LZ4_compressBound(static_cast<int>(byte_count)));
  }
  size_t CompressChunk(std::string_view chunk, char* out,
                       size_t room) override {
    return static_cast<size_t>(
        LZ4_compress_default(chunk.data(), out, static_cast<int>(chunk.size()),
                             static_cast<int>(room)));
  }
};

class SnappyCompressor : public BlockStreamCompressor {
 public:
  using BlockStreamCompressor::BlockStreamCompressor;

 private:
  size_t MaxCompressedBytes(size_t byte_count) const override {
    return snappy::MaxCompressedLength(byte_count);
  }
  size_t CompressChunk(std::string_view chunk, char* out,
                       size_t /*room*/) override {
    size_t got = 0;
    snappy::RawCompress(chunk.data(), chunk.size(), out, &got);
    return got;
  }
};

class Zstd {
 public:
  explicit Zstd(int level)
      : level_(level < 0 ? ZSTD_CLEVEL_DEFAULT : level),
        context_(ZSTD_createCCtx()) {}

  // The number of bytes written to `out`, or 0.
  size_t Compress(std::string_view in, char* out, size_t room) {
    if (context_ == nullptr) return 0;
    const size_t got = ZSTD_compressCCtx(context_.get(), out, room, in.data(),
                                         in.size(), level_);
    return ZSTD_isError(got) ? 0 : got;
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  const int level_;
  const std::unique_ptr<ZSTD_CCtx, Free> context_;
};

class ZstdChunkCompressor : public BlockStreamCompressor {
 public:
  ZstdChunkCompressor(size_t max_chunk_bytes, int level)
      : BlockStreamCompressor(max_chunk_bytes), zstd_(level) {}

 private:
  size_t MaxCompressedBytes(size_t byte_count) const override {
    return ZSTD_compressBound(byte_count);
  }
  size_t CompressChunk(std::string_view chunk, char* out,
                       size_t room) override {
    return zstd_.Compress(chunk, out, room);
  }

  Zstd zstd_;
};

class ZstdFrameCompressor : public Compressor {
 public:
  explicit ZstdFrameCompressor(int level) : zstd_(level) {}

  Status Compress(std::string_view payload, std::string* out) override {
    const size_t start = out->size();
    const size_t room = ZSTD_compressBound(payload.size());
    out->resize(start + room);
    const size_t got = zstd_.Compress(payload, out->data() + start, room);
    if (got == 0) return Status::IOError("zstd compression failed");
    out->resize(start + got);
    return Status::OK();
  }

 private:
  Zstd zstd_;
};

// A gzip member with the header of Java's GZIPOutputStream: no name, no time.
class GzipCompressor : public Compressor {
 public:
  GzipCompressor(int level, uint8_t operating_system)
      : operating_system_(operating_system) {
    ready_ = deflateInit2(&stream_, level < 0 ? Z_DEFAULT_COMPRESSION : level,
                          Z_DEFLATED, kRawWindow, kDefaultMemoryLevel,
                          Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~GzipCompressor() override {
    if (ready_) deflateEnd(&stream_);
  }
  GzipCompressor(const GzipCompressor&) = delete;
  GzipCompressor& operator=(const GzipCompressor&) = delete;

  Status Compress(std::string_view payload, std::string* out) override {
    if (!ready_ || deflateReset(&stream_) != Z_OK) {
      return Status::MemoryLimit("no memory for zlib");
    }
    out->append(std::string_view("\x1f\x8b\x08\0\0\0\0\0\0", 9));
    PutU8(out, operating_system_);
    const size_t start = out->size();
    const auto in_bytes = static_cast<uInt>(payload.size());
    const uLong room = deflateBound(&stream_, in_bytes);
    out->resize(start + room);
    stream_.next_in =
        reinterpret_cast<Bytef*>(const_cast<char*>(payload.data()));
    stream_.avail_in = in_bytes;
    stream_.next_out = reinterpret_cast<Bytef*>(out->data() + start);
    stream_.avail_out = static_cast<uInt>(room);
    if (deflate(&stream_, Z_FINISH) != Z_STREAM_END) {
      return Status::IOError("zlib compression failed");
    }
    out->resize(start + room - stream_.avail_out);
    const auto crc = static_cast<uint32_t>(
        crc32(crc32(0, nullptr, 0),
              reinterpret_cast<const Bytef*>(payload.data()), in_bytes));
    PutU32(out, __builtin_bswap32(crc));
    PutU32(out, __builtin_bswap32(in_bytes));
    return Status::OK();
  }

 private:
  const uint8_t operating_system_;
  z_stream stream_{};
  bool ready_ = false;
};

class NoCompressor : public Compressor {
 public:
  Status Compress(std::string_view payload, std::string* out) override {
    out->append(payload);
    return Status::OK();
  }
};

// Hadoop's classes leave room in the buffer for what compression may add, each
// by an estimate of its own.
size_t MaxChunkBytes(const HFileWriterOptions& options) {
  constexpr size_t kCommonEstimate = kBufferBytes / 6 + 32;
  const HFileCodecClasses classes = options.codec_classes;
  if (options.compression == HFileCompression::kLz4 &&
      classes == HFileCodecClasses::kHadoop) {
    return kBufferBytes - (kBufferBytes / 255 + 16);
  }
  if (options.compression == HFileCompression::kZstd &&
      classes == HFileCodecClasses::kHBaseNative) {
    return kBufferBytes - (ZSTD_compressBound(kBufferBytes) - kBufferBytes);
  }
  return kBufferBytes - kCommonEstimate;
}

}  // namespace

bool IsSupported(HFileCompression codec) {
  switch (codec) {
    case HFileCompression::kNone:
    case HFileCompression::kGz:
    case HFileCompression::kLz4:
    case HFileCompression::kSnappy:
    case HFileCompression::kZstd:
      return true;
    default:
      return false;
  }
}

uint64_t MaxUncompressedBytes(HFileCompression codec, uint64_t stored_bytes) {
  // A match of the codec's longest kind takes this many times fewer bytes.
  switch (codec) {
    case HFileCompression::kNone:
      return stored_bytes;
    case HFileCompression::kGz:
      return stored_bytes * 1032;
    case HFileCompression::kLz4:
      return stored_bytes * 255;
    case HFileCompression::kSnappy:
      return stored_bytes * 64 / 2;
    default:
      return std::numeric_limits<uint64_t>::max();
  }
}

Status Decompress(HFileCompression codec, std::string_view in, char* out,
                  size_t out_bytes) {
  switch (codec) {
    case HFileCompression::kGz:
      return DecompressGzip(in, out, out_bytes);
    case HFileCompression::kZstd:
      if (in.starts_with(kZstdMagic)) {
        return DecompressPlainZstd(in, out, out_bytes);
      }
      return DecompressBlockStream(codec, in, out, out_bytes);
    case HFileCompression::kLz4:
    case HFileCompression::kSnappy:
      return DecompressBlockStream(codec, in, out, out_bytes);
    default:
      return Status::NotSupported(Concat("codec ", ToString(codec)));
  }
}

std::unique_ptr<Compressor> NewCompressor(const HFileWriterOptions& options) {
  const int level = options.compression_level;
  switch (options.compression) {
    case HFileCompression::kGz:
      return std::make_unique<GzipCompressor>(level,
                                              options.gz_operating_system);
    case HFileCompression::kLz4:
      return std::make_unique<Lz4Compressor>(MaxChunkBytes(options));
    case HFileCompression::kSnappy:
      return std::make_unique<SnappyCompressor>(MaxChunkBytes(options));
    case HFileCompression::kZstd:
      if (options.codec_classes == HFileCodecClasses::kHadoop) {
        return std::make_unique<ZstdFrameCompressor>(level);
      }
      return std::make_unique<ZstdChunkCompressor>(MaxChunkBytes(options),
                                                   level);
    default:
      return std::make_unique<NoCompressor>();
  }
}

}  // namespace hfile
}  // namespace rowbloom

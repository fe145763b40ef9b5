#include "storage/format/codec.h"

#include <lz4.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <utility>

#include "storage/format/status_text.h"

namespace rowbloom {
namespace {

using rocksdb::Status;

// windowBits of zlib: the largest window, with a gzip header or without one.
constexpr int kGzipWindow = 15 + 16;
constexpr int kRawWindow = -15;
constexpr int kDefaultMemoryLevel = 8;

// Calls the library's function that frees.
template <auto kFree>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using ZstdReader = std::unique_ptr<ZSTD_DCtx, Freed<ZSTD_freeDCtx>>;
using ZstdWriter = std::unique_ptr<ZSTD_CCtx, Freed<ZSTD_freeCCtx>>;

// Tells whether the thread's ZstdReader is gone. Its other thread_local
// objects, and the functions that exit() calls, may still decompress.
constinit thread_local bool zstd_reader_is_gone = false;

struct KeptZstdReader {
  ~KeptZstdReader() { zstd_reader_is_gone = true; }

  ZstdReader reader;
};

// Creating a context costs more than decompressing most blocks. Must not be
// called once the thread's is gone.
ZstdReader& ThreadZstdReader() {
  thread_local KeptZstdReader kept;
  return kept.reader;
}

// zlib does not write to its input; its declaration only lacks the const.
Bytef* In(std::string_view bytes) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
}

Status NoSense() { return Corruption("its bytes make no sense"); }
Status RefusedDictionary() { return Corruption("the dictionary is refused"); }

Status Inflate(std::string_view in, bool is_gzip, const std::string* dictionary,
               char* out, size_t room, size_t* out_bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, is_gzip ? kGzipWindow : kRawWindow) != Z_OK) {
    return Status::MemoryLimit("no memory for zlib's state");
  }
  const std::unique_ptr<z_stream, Freed<inflateEnd>> end(&stream);
  if (dictionary != nullptr &&
      inflateSetDictionary(&stream, In(*dictionary),
                           static_cast<uInt>(dictionary->size())) != Z_OK) {
    return RefusedDictionary();
  }
  stream.next_in = In(in);
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out);
  stream.avail_out = static_cast<uInt>(room);
  const int result = inflate(&stream, Z_FINISH);
  *out_bytes = stream.total_out;
  if (result == Z_STREAM_END || (is_gzip && *out_bytes == room)) {
    return Status::OK();
  }
  return Corruption("no end of the stream after ", *out_bytes, " bytes, ",
                    stream.msg == nullptr ? zError(result) : stream.msg);
}

Status DecompressSnappy(std::string_view in, char* out, size_t room,
                        size_t* out_bytes) {
  if (!snappy::GetUncompressedLength(in.data(), in.size(), out_bytes) ||
      *out_bytes > room || !snappy::RawUncompress(in.data(), in.size(), out)) {
    return NoSense();
  }
  return Status::OK();
}

Status DecompressLz4(std::string_view in, const std::string* dictionary,
                     char* out, size_t room, size_t* out_bytes) {
  const int count = LZ4_decompress_safe_usingDict(
      in.data(), out, static_cast<int>(in.size()), static_cast<int>(room),
      dictionary == nullptr ? nullptr : dictionary->data(),
      dictionary == nullptr ? 0 : static_cast<int>(dictionary->size()));
  if (count < 0) return NoSense();
  *out_bytes = static_cast<size_t>(count);
  return Status::OK();
}

Status DecompressZstd(std::string_view in, const ZSTD_DDict* digest, char* out,
                      size_t room, size_t* out_bytes) {
  ZstdReader own;
  ZstdReader& context = zstd_reader_is_gone ? own : ThreadZstdReader();
  if (context == nullptr) context.reset(ZSTD_createDCtx());
  if (context == nullptr) return Status::MemoryLimit("no memory for ZSTD");
  *out_bytes = ZSTD_decompress_usingDDict(context.get(), out, room, in.data(),
                                          in.size(), digest);
  return ZSTD_isError(*out_bytes) == 0
             ? Status::OK()
             : Corruption(ZSTD_getErrorName(*out_bytes));
}

}  // namespace

uint64_t MaxDecompressedBytes(Codec codec, uint64_t stored_bytes) {
  // Room for the bytes that ends of streams add.
  constexpr uint64_t kSlackBytes = 64;
  switch (codec) {
    case Codec::kNone:
      return stored_bytes;
    case Codec::kDeflate:  // codes 258 bytes in 2 bits
    case Codec::kGzip:
      return stored_bytes * 1032 + kSlackBytes;
    case Codec::kLz4:  // a match of any length takes a byte for 255
      return stored_bytes * 255 + kSlackBytes;
    case Codec::kSnappy:  // copies 64 bytes with 3
      return stored_bytes * 22 + kSlackBytes;
    case Codec::kZstd:  // repeats a byte 128 Ki times in 4 bytes
      break;
  }
  return stored_bytes * (128 * 1024 / 4) + kSlackBytes;
}

Status CheckClaim(Codec codec, uint64_t stored_bytes, uint64_t claimed_bytes,
                  uint64_t most_bytes) {
  const uint64_t possible = MaxDecompressedBytes(codec, stored_bytes);
  if (claimed_bytes > possible ||
      (codec == Codec::kNone && claimed_bytes != possible)) {
    return Corruption(stored_bytes, " bytes claim contents of ", claimed_bytes,
                      ", expected ", codec == Codec::kNone ? "" : "at most ",
                      possible);
  }
  if (claimed_bytes <= most_bytes) return Status::OK();
  return MemoryLimit("contents of ", claimed_bytes, " bytes, expected at most ",
                     most_bytes);
}

CodecDictionary::CodecDictionary(std::string bytes)
    : bytes_(std::move(bytes)),
      digest_(ZSTD_createDDict(bytes_.data(), bytes_.size()), ZSTD_freeDDict) {}

Status Decompress(Codec codec, std::string_view in, char* out, size_t room,
                  size_t* out_bytes, const CodecDictionary* dictionary) {
  const std::string* bytes =
      dictionary == nullptr ? nullptr : &dictionary->bytes_;
  if (in.size() > kMaxBlockBytes || room > kMaxBlockBytes) {
    return Corruption("longer than a block can be");
  }
  switch (codec) {
    case Codec::kNone:
      if (in.size() > room) return NoSense();
      *out_bytes = in.copy(out, in.size());
      return Status::OK();
    case Codec::kDeflate:
      return Inflate(in, /*is_gzip=*/false, bytes, out, room, out_bytes);
    case Codec::kGzip:
      return Inflate(in, /*is_gzip=*/true, nullptr, out, room, out_bytes);
    case Codec::kLz4:
      return DecompressLz4(in, bytes, out, room, out_bytes);
    case Codec::kSnappy:
      return DecompressSnappy(in, out, room, out_bytes);
    case Codec::kZstd:
      break;
  }
  const ZSTD_DDict* digest =
      dictionary == nullptr ? nullptr : dictionary->digest_.get();
  if (digest == nullptr && dictionary != nullptr) return RefusedDictionary();
  return DecompressZstd(in, digest, out, room, out_bytes);
}

bool NeedZstdDictionary(std::string_view frames) {
  return ZSTD_getDictID_fromFrame(frames.data(), frames.size()) != 0;
}

struct Compressor::State {
  ZstdWriter zstd;
  z_stream deflate{};
  bool deflates = false;

  ~State() {
    if (deflates) deflateEnd(&deflate);
  }
};

Compressor::Compressor(Codec codec, int level)
    : codec_(codec),
      level_(codec == Codec::kZstd && level < 0 ? ZSTD_CLEVEL_DEFAULT : level),
      state_(std::make_unique<State>()) {
  if (codec_ == Codec::kZstd) state_->zstd.reset(ZSTD_createCCtx());
  if (codec_ == Codec::kDeflate) {
    state_->deflates =
        deflateInit2(&state_->deflate, level_, Z_DEFLATED, kRawWindow,
                     kDefaultMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK;
  }
}

Compressor::~Compressor() = default;

size_t Compressor::MaxBytes(size_t byte_count) const {
  switch (codec_) {
    case Codec::kDeflate:
      return deflateBound(&state_->deflate, byte_count);
    case Codec::kLz4:
      return static_cast<size_t>(
          LZ4_compressBound(static_cast<int>(byte_count)));
    case Codec::kSnappy:
      return snappy::MaxCompressedLength(byte_count);
    case Codec::kZstd:
      return ZSTD_compressBound(byte_count);
    default:
      return byte_count;
  }
}

size_t Compressor::Write(std::string_view in, char* out, size_t room) {
  size_t count = 0;
  switch (codec_) {
    case Codec::kDeflate: {
      z_stream& stream = state_->deflate;
      if (!state_->deflates || deflateReset(&stream) != Z_OK) return 0;
      stream.next_in = In(in);
      stream.avail_in = static_cast<uInt>(in.size());
      stream.next_out = reinterpret_cast<Bytef*>(out);
      stream.avail_out = static_cast<uInt>(room);
      return deflate(&stream, Z_FINISH) == Z_STREAM_END ? stream.total_out : 0;
    }
    case Codec::kLz4:
      return static_cast<size_t>(LZ4_compress_default(
          in.data(), out, static_cast<int>(in.size()), static_cast<int>(room)));
    case Codec::kSnappy:
      snappy::RawCompress(in.data(), in.size(), out, &count);
      return count;
    case Codec::kZstd:
      if (state_->zstd == nullptr) return 0;
      count = ZSTD_compressCCtx(state_->zstd.get(), out, room, in.data(),
                                in.size(), level_);
      return ZSTD_isError(count) == 0 ? count : 0;
    default:
      return 0;
  }
}

Status Compressor::Append(std::string_view in, std::string* out) {
  if (codec_ == Codec::kNone) {
    out->append(in);
    return Status::OK();
  }
  const size_t start = out->size();
  const size_t room = MaxBytes(in.size());
  out->resize(start + room);
  const size_t count = Write(in, out->data() + start, room);
  out->resize(start + count);
  return count > 0 ? Status::OK()
                   : Status::MemoryLimit("no memory to compress");
}

}  // namespace rowbloom

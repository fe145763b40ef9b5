#include "storage/sst/compression.h"

#include <fmt/format.h>
#include <lz4.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "storage/format/coding.h"

namespace rowbloom::sst {
namespace {

using rocksdb::Status;

// The number of bytes that a codec can make of each stored byte, rounded up. A
// block that claims more is damaged. LZ4's longest match takes a byte for 255.
// Deflate codes 258 bytes in 2 bits. Snappy copies 64 bytes with 3. ZSTD has
// blocks of at most 128 KiB that repeat one byte, in 4 bytes.
uint64_t MaxExpansion(CompressionType type) {
  switch (type) {
    case CompressionType::kSnappy:
      return 22;
    case CompressionType::kZlib:
      return 1032;
    case CompressionType::kLz4:
    case CompressionType::kLz4hc:
      return 255;
    default:
      return uint64_t{128} * 1024 / 4;
  }
}

// Room for what ends of streams add to the above.
constexpr uint64_t kExpansionSlackBytes = 64;

Status Malformed(CompressionType type, std::string_view why) {
  return Status::Corruption(
      fmt::format("malformed {}: {}", ToString(type), why));
}

Status WrongSize(CompressionType type, uint64_t claimed, uint64_t found) {
  return Malformed(type, fmt::format("contents of {} bytes expected, found {}",
                                     claimed, found));
}

// The raw stream, without zlib's header.
Status Inflate(std::string_view stored, const std::string& dictionary,
               std::string* contents) {
  // The longest window that raw deflate has, whatever the writer's.
  constexpr int kRawWindowBits = -15;
  z_stream stream{};
  if (inflateInit2(&stream, kRawWindowBits) != Z_OK) {
    return Status::MemoryLimit("no memory for zlib's state");
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  if (!dictionary.empty() &&
      inflateSetDictionary(&stream,
                           reinterpret_cast<const Bytef*>(dictionary.data()),
                           static_cast<uInt>(dictionary.size())) != Z_OK) {
    return Malformed(CompressionType::kZlib, "the dictionary is refused");
  }
  // zlib does not write to its input; its declaration only lacks the const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stored.data()));
  stream.avail_in = static_cast<uInt>(stored.size());
  stream.next_out = reinterpret_cast<Bytef*>(contents->data());
  stream.avail_out = static_cast<uInt>(contents->size());
  const int result = inflate(&stream, Z_FINISH);
  if (result != Z_STREAM_END) {
    return Malformed(
        CompressionType::kZlib,
        fmt::format("no end of the stream after {} bytes, {}", stream.total_out,
                    stream.msg == nullptr ? zError(result) : stream.msg));
  }
  if (stream.avail_out != 0) {
    return WrongSize(CompressionType::kZlib, contents->size(),
                     stream.total_out);
  }
  return Status::OK();
}

Status DecompressLz4(CompressionType type, std::string_view stored,
                     const std::string& dictionary, std::string* contents) {
  constexpr size_t kMaxBytes = std::numeric_limits<int>::max();
  if (stored.size() > kMaxBytes || contents->size() > kMaxBytes) {
    return Malformed(type, "longer than LZ4 can be");
  }
  const int count = LZ4_decompress_safe_usingDict(
      stored.data(), contents->data(), static_cast<int>(stored.size()),
      static_cast<int>(contents->size()), dictionary.data(),
      static_cast<int>(dictionary.size()));
  if (count < 0) return Malformed(type, "its bytes make no sense");
  if (static_cast<size_t>(count) != contents->size()) {
    return WrongSize(type, contents->size(), static_cast<uint64_t>(count));
  }
  return Status::OK();
}

// Takes the size of the contents off `*stored`, or for Snappy reads it there.
bool ReadContentsSize(CompressionType type, std::string_view* stored,
                      uint64_t* size_bytes) {
  if (type == CompressionType::kSnappy) {
    size_t size = 0;
    if (!snappy::GetUncompressedLength(stored->data(), stored->size(), &size)) {
      return false;
    }
    *size_bytes = size;
    return true;
  }
  uint32_t size = 0;
  if (!GetVarint32(stored, &size)) return false;
  *size_bytes = size;
  return true;
}

}  // namespace

std::string ToString(CompressionType type) {
  switch (type) {
    case CompressionType::kNone:
      return "none";
    case CompressionType::kSnappy:
      return "Snappy";
    case CompressionType::kZlib:
      return "zlib";
    case CompressionType::kBZip2:
      return "BZip2";
    case CompressionType::kLz4:
      return "LZ4";
    case CompressionType::kLz4hc:
      return "LZ4HC";
    case CompressionType::kXpress:
      return "XPRESS";
    case CompressionType::kZstd:
      return "ZSTD";
    case CompressionType::kZstdNotFinal:
      return "ZSTDNotFinal";
  }
  return fmt::format("compression type {}", static_cast<int>(type));
}

struct Decompressor::Zstd {
  explicit Zstd(const std::string& dictionary)
      : context(ZSTD_createDCtx(), ZSTD_freeDCtx),
        digested(dictionary.empty()
                     ? nullptr
                     : ZSTD_createDDict(dictionary.data(), dictionary.size()),
                 ZSTD_freeDDict) {
    if (context == nullptr || (digested == nullptr && !dictionary.empty())) {
      throw std::bad_alloc();
    }
  }

  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context;
  const std::unique_ptr<ZSTD_DDict, size_t (*)(ZSTD_DDict*)> digested;
};

Decompressor::Decompressor(std::string dictionary)
    : dictionary_(std::move(dictionary)) {}

Decompressor::~Decompressor() = default;

Status Decompressor::Decompress(CompressionType type, std::string_view stored,
                                std::string* contents) {
  switch (type) {
    case CompressionType::kNone:
      contents->assign(stored);
      return Status::OK();
    case CompressionType::kBZip2:
    case CompressionType::kXpress:
      return Status::NotSupported(fmt::format(
          "compressed with {}, expected none, Snappy, zlib, LZ4, LZ4HC or ZSTD",
          ToString(type)));
    case CompressionType::kSnappy:
    case CompressionType::kZlib:
    case CompressionType::kLz4:
    case CompressionType::kLz4hc:
    case CompressionType::kZstd:
    case CompressionType::kZstdNotFinal:
      break;
    default:
      return Status::NotSupported(
          fmt::format("{}, expected none, Snappy, zlib, LZ4, LZ4HC or ZSTD",
                      ToString(type)));
  }
  uint64_t size_bytes = 0;
  if (!ReadContentsSize(type, &stored, &size_bytes)) {
    return Malformed(type, "no size of its contents");
  }
  const uint64_t most =
      stored.size() * MaxExpansion(type) + kExpansionSlackBytes;
  if (size_bytes > most) {
    return Malformed(type,
                     fmt::format("{} bytes claim contents of {}, expected at "
                                 "most {}",
                                 stored.size(), size_bytes, most));
  }
  try {
    contents->resize(size_bytes);
    return Run(type, stored, contents);
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit(
        fmt::format("no memory for contents of {} bytes", size_bytes));
  }
}

// Fills *contents, which has the size that the block claims.
Status Decompressor::Run(CompressionType type, std::string_view stored,
                         std::string* contents) {
  switch (type) {
    case CompressionType::kSnappy:
      // Its size was read from the stream itself: any other is malformed.
      if (!snappy::RawUncompress(stored.data(), stored.size(),
                                 contents->data())) {
        return Malformed(type, "its bytes make no sense");
      }
      return Status::OK();
    case CompressionType::kZlib:
      return Inflate(stored, dictionary_, contents);
    case CompressionType::kLz4:
    case CompressionType::kLz4hc:
      return DecompressLz4(type, stored, dictionary_, contents);
    default:
      break;
  }
  if (zstd_ == nullptr) zstd_ = std::make_unique<Zstd>(dictionary_);
  const size_t count =
      zstd_->digested != nullptr
          ? ZSTD_decompress_usingDDict(zstd_->context.get(), contents->data(),
                                       contents->size(), stored.data(),
                                       stored.size(), zstd_->digested.get())
          : ZSTD_decompressDCtx(zstd_->context.get(), contents->data(),
                                contents->size(), stored.data(), stored.size());
  if (ZSTD_isError(count) != 0) {
    return Malformed(type, ZSTD_getErrorName(count));
  }
  if (count != contents->size())
    return WrongSize(type, contents->size(), count);
  return Status::OK();
}

}  // namespace rowbloom::sst

#include "tools/sst/compression.h"

#include <optional>

#include "storage/format/coding.h"
#include "storage/format/status_text.h"

namespace rowbloom::sst {
namespace {

using rocksdb::Status;

std::optional<Codec> CodecOf(CompressionType type) {
  switch (type) {
    case CompressionType::kNone:
      return Codec::kNone;
    case CompressionType::kSnappy:
      return Codec::kSnappy;
    case CompressionType::kZlib:
      return Codec::kDeflate;
    case CompressionType::kLz4:
    case CompressionType::kLz4hc:
      return Codec::kLz4;
    case CompressionType::kZstd:
    case CompressionType::kZstdNotFinal:
      return Codec::kZstd;
    default:
      return std::nullopt;
  }
}

// Takes the size of the contents off `*stored`, or for Snappy reads it there.
bool ReadContentsSize(Codec codec, std::string_view* stored,
                      uint32_t* size_bytes) {
  std::string_view copy = *stored;
  return GetVarint(codec == Codec::kSnappy ? &copy : stored, size_bytes);
}

Status Unpack(Codec codec, std::string_view stored,
              const CodecDictionary* dictionary, Buffer* buffer,
              std::string_view* contents) {
  uint32_t size_bytes = 0;
  if (!ReadContentsSize(codec, &stored, &size_bytes)) {
    return Corruption("no size of its contents");
  }
  Status status = CheckClaim(codec, stored.size(), size_bytes, kMaxBlockBytes);
  char* out = nullptr;
  if (status.ok()) status = buffer->Reserve(size_bytes, &out);
  size_t found_bytes = 0;
  if (status.ok()) {
    status = rowbloom::Decompress(codec, stored, out, size_bytes, &found_bytes,
                                  dictionary);
  }
  if (status.ok() && found_bytes != size_bytes) {
    return Corruption("contents of ", size_bytes, " bytes expected, found ",
                      found_bytes);
  }
  *contents = {out, found_bytes};
  return status;
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
  return Concat("compression type ", static_cast<int>(type));
}

Status Decompress(CompressionType type, std::string_view stored,
                  const CodecDictionary* dictionary, Buffer* buffer,
                  std::string_view* contents) {
  const std::optional<Codec> codec = CodecOf(type);
  if (!codec) {
    return NotSupported("compressed with ", ToString(type),
                        ", expected none, Snappy, zlib, LZ4, LZ4HC or ZSTD");
  }
  *contents = stored;
  if (*codec == Codec::kNone) return Status::OK();
  const Status status = Unpack(*codec, stored, dictionary, buffer, contents);
  return status.IsCorruption()
             ? Prefixed(Concat("malformed ", ToString(type), ": "), status)
             : status;
}

}  // namespace rowbloom::sst

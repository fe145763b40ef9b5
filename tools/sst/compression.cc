#include "tools/sst/compression.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "lib/bytes/text.h"
#include "storage/format/coding.h"
#include "storage/format/status_text.h"

namespace rowbloom::sst {
namespace {

using rocksdb::Status;

struct KnownType {
  const char* name;
  CompressionType type;
  std::optional<Codec> codec;  // nullopt: cannot be decompressed
};

constexpr KnownType kTypes[] = {
    {"none", CompressionType::kNone, Codec::kNone},
    {"Snappy", CompressionType::kSnappy, Codec::kSnappy},
    {"zlib", CompressionType::kZlib, Codec::kDeflate},
    {"BZip2", CompressionType::kBZip2, std::nullopt},
    {"LZ4", CompressionType::kLz4, Codec::kLz4},
    {"LZ4HC", CompressionType::kLz4hc, Codec::kLz4},
    {"XPRESS", CompressionType::kXpress, std::nullopt},
    {"ZSTD", CompressionType::kZstd, Codec::kZstd},
    {"ZSTDNotFinal", CompressionType::kZstdNotFinal, Codec::kZstd},
};

// Returns null for an unknown type.
const KnownType* FindType(CompressionType type) {
  const auto* const known = std::ranges::find(kTypes, type, &KnownType::type);
  return known == std::end(kTypes) ? nullptr : known;
}

// The first format_version whose property names the manager.
constexpr uint32_t kManagerFormatVersion = 7;
// The manager of RocksDB's own codecs, in the forms of format_version 2 and
// later.
constexpr std::string_view kRocksDbManager = "BuiltinV2";

// The range of types that an application's compression manager defines.
constexpr uint8_t kFirstCustomType = 0x80;
constexpr uint8_t kLastCustomType = 0xfe;

// Appends the names of the codecs to *codecs. `digits` has two hex digits for
// the number of each; returns false if it has another form.
bool ReadCodecs(std::string_view digits, std::string* codecs) {
  for (; !digits.empty(); digits.remove_prefix(2)) {
    uint8_t type = 0;
    if (digits.size() < 2 || !ParseNumber(digits.substr(0, 2), &type, 16)) {
      return false;
    }
    if (!codecs->empty()) *codecs += ", ";
    *codecs += ToString(static_cast<CompressionType>(type));
  }
  if (codecs->empty()) *codecs = "NoCompression";
  return true;
}

// Reads the size of the contents, and takes it off `*stored` except for Snappy.
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
  if (const KnownType* const known = FindType(type)) return known->name;
  const auto number = static_cast<uint8_t>(type);
  return number >= kFirstCustomType && number <= kLastCustomType
             ? fmt::format("Custom{:02X}", number)
             : fmt::format("compression type {}", number);
}

CompressionProperty ParseCompressionProperty(uint32_t format_version,
                                             std::string_view property) {
  const size_t manager_end = property.find(';');
  if (format_version < kManagerFormatVersion ||
      manager_end == std::string_view::npos) {
    return {{}, std::string(property)};
  }
  CompressionProperty result;
  if (property.substr(0, manager_end) != kRocksDbManager) {
    result.foreign_manager = property.substr(0, manager_end);
  }
  // More fields may follow.
  const std::string_view rest = property.substr(manager_end + 1);
  const size_t types_end = rest.find(';');
  if (types_end == std::string_view::npos ||
      !ReadCodecs(rest.substr(0, types_end), &result.codecs)) {
    result.codecs = property;
  }
  return result;
}

Status Decompress(CompressionType type, std::string_view stored,
                  const CodecDictionary* dictionary, Buffer* buffer,
                  std::string_view* contents) {
  const KnownType* const known = FindType(type);
  if (known == nullptr || !known->codec) {
    return NotSupported("compressed with ", ToString(type),
                        ", expected none, Snappy, zlib, LZ4, LZ4HC or ZSTD");
  }
  *contents = stored;
  if (type == CompressionType::kNone) return Status::OK();
  const Status status =
      Unpack(*known->codec, stored, dictionary, buffer, contents);
  return status.IsCorruption()
             ? Prefixed(Concat("malformed ", ToString(type), ": "), status)
             : status;
}

}  // namespace rowbloom::sst

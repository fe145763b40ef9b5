#include "storage/sst/footer.h"

#include <fmt/format.h>

#include "storage/format/coding.h"

namespace rowbloom::sst {
namespace {

using rocksdb::Status;

constexpr size_t kMagicBytes = 8;
constexpr uint64_t kBlockBasedMagic = 0x88e241b785f4cff7U;
constexpr uint64_t kLegacyBlockBasedMagic = 0xdb4775248b80fb57U;
constexpr uint64_t kPlainMagic = 0x8242229663bf9564U;
constexpr uint64_t kLegacyPlainMagic = 0x4f3418eb7a8f13b8U;
constexpr uint64_t kCuckooMagic = 0x926789d0c5f17873U;

constexpr uint32_t kMinFormatVersion = 2;
constexpr uint32_t kMaxFormatVersion = 6;
// The first with a footer checksum and checksums that depend on the offset.
constexpr uint32_t kContextFormatVersion = 6;

// A block without entries: one restart and their count.
constexpr uint64_t kMinMetaindexBytes = 8;

constexpr std::string_view kExtendedMagic("\x3e\x00\x7a\x00", 4);
constexpr size_t kFooterChecksumAt = 1 + kExtendedMagic.size();

// Kinds of table that share RocksDB's file name but not its usual format.
const char* OtherTableKind(uint64_t magic) {
  switch (magic) {
    case kLegacyBlockBasedMagic:
      return "a RocksDB block-based table of format_version 0";
    case kPlainMagic:
    case kLegacyPlainMagic:
      return "a RocksDB plain table";
    case kCuckooMagic:
      return "a RocksDB cuckoo table";
    default:
      return nullptr;
  }
}

Status CheckMagic(const std::string& path, std::string_view tail,
                  uint64_t file_size_bytes) {
  if (tail.size() < kMagicBytes) {
    return Status::NotSupported(fmt::format(
        "{}: not a RocksDB table: {} bytes, expected a footer of {}", path,
        file_size_bytes, kFooterBytes));
  }
  std::string_view end = tail.substr(tail.size() - kMagicBytes);
  uint64_t magic = 0;
  if (!GetFixed64(&end, &magic) || magic != kBlockBasedMagic) {
    if (const char* kind = OtherTableKind(magic)) {
      return Status::NotSupported(fmt::format(
          "{}: {}; expected a block-based table of format_version {} to {}",
          path, kind, kMinFormatVersion, kMaxFormatVersion));
    }
    return Status::NotSupported(fmt::format(
        "{}: not a RocksDB table, or cut short: magic {:016x} at "
        "offset {}, expected {:016x}",
        path, magic, file_size_bytes - kMagicBytes, kBlockBasedMagic));
  }
  if (tail.size() < kFooterBytes) {
    return Status::Corruption(
        fmt::format("{}: {} bytes, expected a footer of {}", path,
                    file_size_bytes, kFooterBytes));
  }
  return Status::OK();
}

// Decodes the 40 bytes in the middle as format_version 2 to 5 have them.
Status DecodeHandles(const std::string& where, std::string_view in,
                     Footer* footer) {
  footer->index.emplace();
  if (!GetBlockHandle(&in, &footer->metaindex) ||
      !GetBlockHandle(&in, &*footer->index)) {
    return Status::Corruption(where +
                              "the metaindex and index handles are malformed");
  }
  if (!EndsWithin(*footer->index, footer->offset_bytes)) {
    return Status::Corruption(fmt::format(
        "{}index block of {} bytes at offset {}, expected it to end before "
        "the footer",
        where, footer->index->size_bytes, footer->index->offset_bytes));
  }
  return Status::OK();
}

// Decodes them as format_version 6 has them. `whole` is the footer.
Status DecodeExtended(const std::string& where, std::string_view whole,
                      Footer* footer) {
  std::string_view in = whole.substr(1);
  if (!in.starts_with(kExtendedMagic)) {
    return Status::Corruption(where +
                              "expected 3e007a00 after the checksum type");
  }
  in.remove_prefix(kExtendedMagic.size());
  uint32_t stored = 0;
  uint32_t metaindex_bytes = 0;
  uint64_t zero = 0;
  bool complete = GetFixed32(&in, &stored) &&
                  GetFixed32(&in, &footer->base_context_checksum) &&
                  GetFixed32(&in, &metaindex_bytes);
  in.remove_prefix(16);
  complete = complete && GetFixed64(&in, &zero);
  if (!complete || footer->base_context_checksum == 0) {
    return Status::Corruption(where + "the base context checksum is 0");
  }
  std::string unsigned_footer(whole);
  unsigned_footer.replace(kFooterChecksumAt, 4, 4, '\0');
  const uint32_t expected =
      Checksum(footer->checksum_type, unsigned_footer) +
      ContextModifier(footer->base_context_checksum, footer->offset_bytes);
  if (stored != expected) {
    return Status::Corruption(
        fmt::format("{}{} checksum {:08x} expected, found {:08x}", where,
                    ToString(footer->checksum_type), expected, stored));
  }
  if (zero != 0) {
    return Status::NotSupported(where +
                                "written with a later feature of RocksDB");
  }
  if (metaindex_bytes + kBlockTrailerBytes > footer->offset_bytes) {
    return Status::Corruption(fmt::format(
        "{}metaindex block of {} bytes, expected at most the {} before it",
        where, metaindex_bytes, footer->offset_bytes));
  }
  footer->metaindex = {
      footer->offset_bytes - kBlockTrailerBytes - metaindex_bytes,
      metaindex_bytes};
  return Status::OK();
}

}  // namespace

bool GetBlockHandle(std::string_view* in, BlockHandle* handle) {
  std::string_view rest = *in;
  if (!GetVarint64(&rest, &handle->offset_bytes) ||
      !GetVarint64(&rest, &handle->size_bytes)) {
    return false;
  }
  *in = rest;
  return true;
}

bool EndsWithin(const BlockHandle& handle, uint64_t end_bytes) {
  return end_bytes >= kBlockTrailerBytes &&
         handle.offset_bytes <= end_bytes - kBlockTrailerBytes &&
         handle.size_bytes <=
             end_bytes - kBlockTrailerBytes - handle.offset_bytes;
}

Status DecodeFooter(const std::string& path, std::string_view tail,
                    uint64_t file_size_bytes, Footer* footer) {
  Status status = CheckMagic(path, tail, file_size_bytes);
  if (!status.ok()) return status;

  const std::string_view whole = tail.substr(tail.size() - kFooterBytes);
  Footer result;
  result.offset_bytes = file_size_bytes - kFooterBytes;
  const std::string where =
      fmt::format("{}: footer at offset {}: ", path, result.offset_bytes);

  std::string_view version = whole.substr(kFooterBytes - kMagicBytes - 4);
  if (!GetFixed32(&version, &result.format_version) ||
      result.format_version < kMinFormatVersion ||
      result.format_version > kMaxFormatVersion) {
    return Status::NotSupported(fmt::format(
        "{}format_version {}, expected {} to {}", where, result.format_version,
        kMinFormatVersion, kMaxFormatVersion));
  }
  const auto type = static_cast<uint8_t>(whole[0]);
  const auto checksum_type = ChecksumTypeFromByte(type);
  if (!checksum_type) {
    return Status::Corruption(
        fmt::format("{}checksum type {}, expected 0 to 4", where, type));
  }
  result.checksum_type = *checksum_type;

  status = result.format_version < kContextFormatVersion
               ? DecodeHandles(where, whole.substr(1, 40), &result)
               : DecodeExtended(where, whole, &result);
  if (!status.ok()) return status;
  if (!EndsWithin(result.metaindex, result.offset_bytes)) {
    return Status::Corruption(fmt::format(
        "{}metaindex block of {} bytes at offset {}, expected it to end "
        "before the footer",
        where, result.metaindex.size_bytes, result.metaindex.offset_bytes));
  }
  // Nor does a footer of format_version 6 pass for an older one.
  if (result.metaindex.size_bytes < kMinMetaindexBytes) {
    return Status::Corruption(fmt::format(
        "{}metaindex block of {} bytes at offset {}, expected at least {}",
        where, result.metaindex.size_bytes, result.metaindex.offset_bytes,
        kMinMetaindexBytes));
  }
  *footer = result;
  return Status::OK();
}

}  // namespace rowbloom::sst

#include "tools/sst/footer.h"

#include <fmt/format.h>

#include "storage/format/coding.h"
#include "storage/format/status_text.h"

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
constexpr uint32_t kMaxFormatVersion = 7;
// The first with a footer checksum and checksums that depend on the offset.
constexpr uint32_t kContextFormatVersion = 6;

// A block without entries: one restart and their count.
constexpr uint64_t kMinMetaindexBytes = 8;

constexpr std::string_view kExtendedMagic("\x3e\x00\x7a\x00", 4);
constexpr size_t kFooterChecksumAt = 1 + kExtendedMagic.size();

// Names a kind of RocksDB table of another format, or returns null. Such files
// have the same extension.
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

// Checks that the file ends as a block-based table does. If it ends as no table
// does, it is Corruption if `is_named` as a table, else NotSupported. Messages
// do not name the footer, as the file may have none.
Status CheckMagic(std::string_view tail, uint64_t file_size_bytes,
                  bool is_named) {
  const auto no_table = [is_named](const std::string& why) {
    return is_named ? Corruption(why) : NotSupported(why);
  };
  const std::string too_short =
      Concat(file_size_bytes, " bytes, expected a footer of ", kFooterBytes);
  if (tail.size() < kMagicBytes) {
    return no_table("not a RocksDB table: " + too_short);
  }
  const auto magic =
      LoadFixed<uint64_t>(tail.data() + tail.size() - kMagicBytes);
  if (const char* kind = OtherTableKind(magic)) {
    return NotSupported(kind,
                        "; expected a block-based table of format_version ",
                        kMinFormatVersion, " to ", kMaxFormatVersion);
  }
  if (magic != kBlockBasedMagic) {
    return no_table(fmt::format(
        "not a RocksDB table, or cut short: magic {:016x} at offset {}, "
        "expected {:016x}",
        magic, file_size_bytes - kMagicBytes, kBlockBasedMagic));
  }
  return tail.size() < kFooterBytes ? Corruption(too_short) : Status::OK();
}

Status EndsTooLate(std::string_view what, const BlockHandle& handle) {
  return Corruption(what, " block of ", handle.size_bytes, " bytes at offset ",
                    handle.offset_bytes,
                    ", expected it to end before the footer");
}

// Decodes the 40 bytes in the middle, in the form of format_version 2 to 5.
Status DecodeHandles(std::string_view in, Footer* footer) {
  footer->index.emplace();
  if (!GetBlockHandle(&in, &footer->metaindex) ||
      !GetBlockHandle(&in, &*footer->index)) {
    return Corruption("the metaindex and index handles are malformed");
  }
  return EndsWithin(*footer->index, footer->offset_bytes)
             ? Status::OK()
             : EndsTooLate("index", *footer->index);
}

// Decodes them in the form of format_version 6 and 7. `whole` is the footer.
Status DecodeExtended(std::string_view whole, Footer* footer) {
  if (!whole.substr(1).starts_with(kExtendedMagic)) {
    return Corruption("expected 3e007a00 after the checksum type");
  }
  const char* const numbers = whole.data() + kFooterChecksumAt;
  const auto stored = LoadFixed<uint32_t>(numbers);
  footer->base_context_checksum = LoadFixed<uint32_t>(numbers + 4);
  const auto metaindex_bytes = LoadFixed<uint32_t>(numbers + 8);
  const auto zero = LoadFixed<uint64_t>(numbers + 28);
  if (footer->base_context_checksum == 0) {
    return Corruption("the base context checksum is 0");
  }
  std::string unsigned_footer(whole);
  unsigned_footer.replace(kFooterChecksumAt, 4, 4, '\0');
  const uint32_t expected =
      Checksum(footer->checksum_type, unsigned_footer) +
      ContextModifier(footer->base_context_checksum, footer->offset_bytes);
  if (stored != expected) {
    return Corruption(fmt::format("{} checksum {:08x} expected, found {:08x}",
                                  ToString(footer->checksum_type), expected,
                                  stored));
  }
  if (zero != 0) return NotSupported("written with a later feature of RocksDB");
  if (metaindex_bytes + kBlockTrailerBytes > footer->offset_bytes) {
    return Corruption("metaindex block of ", metaindex_bytes,
                      " bytes, expected at most the ", footer->offset_bytes,
                      " before it");
  }
  footer->metaindex = {
      footer->offset_bytes - kBlockTrailerBytes - metaindex_bytes,
      metaindex_bytes};
  return Status::OK();
}

// Decodes a complete footer.
Status Decode(std::string_view whole, Footer* footer) {
  footer->format_version = LoadFixed<uint32_t>(whole.data() + kFooterBytes -
                                               kMagicBytes - sizeof(uint32_t));
  if (footer->format_version < kMinFormatVersion ||
      footer->format_version > kMaxFormatVersion) {
    return NotSupported("format_version ", footer->format_version,
                        ", expected ", kMinFormatVersion, " to ",
                        kMaxFormatVersion);
  }
  const auto type = static_cast<uint8_t>(whole[0]);
  const auto checksum_type = ChecksumTypeFromByte(type);
  if (!checksum_type) {
    return Corruption("checksum type ", type, ", expected 0 to 4");
  }
  footer->checksum_type = *checksum_type;
  const Status status = footer->format_version < kContextFormatVersion
                            ? DecodeHandles(whole.substr(1, 40), footer)
                            : DecodeExtended(whole, footer);
  if (!status.ok()) return status;
  const BlockHandle& metaindex = footer->metaindex;
  if (!EndsWithin(metaindex, footer->offset_bytes)) {
    return EndsTooLate("metaindex", metaindex);
  }
  // So a footer of format_version 6 does not pass for an older one, either.
  if (metaindex.size_bytes < kMinMetaindexBytes) {
    return Corruption("metaindex block of ", metaindex.size_bytes,
                      " bytes at offset ", metaindex.offset_bytes,
                      ", expected at least ", kMinMetaindexBytes);
  }
  return Status::OK();
}

}  // namespace

bool GetBlockHandle(std::string_view* in, BlockHandle* handle) {
  std::string_view rest = *in;
  if (!GetVarint(&rest, &handle->offset_bytes) ||
      !GetVarint(&rest, &handle->size_bytes)) {
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
  Status status = CheckMagic(tail, file_size_bytes, path.ends_with(".sst"));
  if (!status.ok()) return Prefixed(path + ": ", status);
  Footer result;
  result.offset_bytes = file_size_bytes - kFooterBytes;
  status = Decode(tail.substr(tail.size() - kFooterBytes), &result);
  if (!status.ok()) {
    return Located(path, "footer", result.offset_bytes, status);
  }
  *footer = result;
  return status;
}

}  // namespace rowbloom::sst

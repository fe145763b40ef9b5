#include "storage/hfile/trailer.h"

#include <limits>

#include "hfile.pb.h"
#include "lib/bytes/text.h"
#include "storage/format/coding.h"
#include "storage/format/parse_message.h"
#include "storage/format/status_text.h"

namespace rowbloom::hfile {
namespace {

using rocksdb::Status;

constexpr std::string_view kTrailerMagic = "TRABLK\"$";
constexpr uint32_t kMajorVersion = 3;
constexpr uint32_t kMinorVersion = 3;
constexpr size_t kVersionBytes = 4;
constexpr size_t kTrailerBytesV1 = 60;

// The offset -1 means "none".
constexpr uint64_t kNoOffset = std::numeric_limits<uint64_t>::max();

bool HasMagicAt(std::string_view tail, size_t bytes_before_end) {
  return tail.size() >= bytes_before_end &&
         tail.substr(tail.size() - bytes_before_end).starts_with(kTrailerMagic);
}

Status CheckVersion(std::string_view tail, HFileTrailer* trailer) {
  const auto no_hfile = [&](std::string_view found) {
    return Corruption("not an HFile, or cut short: ", found);
  };
  if (tail.size() < kVersionBytes) {
    return no_hfile(
        Concat(tail.size(), " bytes, expected a trailer of ", kTrailerBytes));
  }
  const uint32_t version =
      LoadBig<uint32_t>(tail.data() + tail.size() - kVersionBytes);
  trailer->major_version = version & 0xffffff;
  trailer->minor_version = version >> 24;
  // HBase 2 reads v2 from this minor version on: it has the blocks of v3.
  if (trailer->major_version == 2 && trailer->minor_version >= kMinorVersion &&
      HasMagicAt(tail, kTrailerBytesV2)) {
    return Status::OK();
  }
  if (trailer->major_version != kMajorVersion) {
    // Without a trailer these bytes are no version.
    if (!HasTrailer(tail)) return no_hfile("no trailer at its end");
    return NotSupported("HFile v", trailer->major_version, ", expected v3");
  }
  if (tail.size() < kTrailerBytes) {
    return no_hfile(
        Concat(tail.size(), " bytes, expected a trailer of ", kTrailerBytes));
  }
  if (!HasMagicAt(tail, kTrailerBytes)) return no_hfile("no trailer magic");
  return Status::OK();
}

Status CheckOffset(std::string_view what, uint64_t offset, uint64_t end) {
  if (offset <= end) return Status::OK();
  return Corruption(what, " offset ", offset, ", expected at most ", end);
}

Status CheckNumbers(const HFileTrailer& trailer, uint64_t file_bytes) {
  const uint64_t blocks_end = file_bytes - TrailerBytes(trailer);
  const uint64_t load_on_open = trailer.load_on_open_offset;
  Status status = CheckOffset("load-on-open", load_on_open, blocks_end);
  if (status.ok()) {
    status = CheckOffset("file info", trailer.file_info_offset, blocks_end);
  }
  for (const auto& offset :
       {trailer.first_data_block_offset, trailer.last_data_block_offset}) {
    if (status.ok() && offset.has_value() && *offset >= load_on_open) {
      status = Corruption("data block offset ", *offset, ", expected below ",
                          load_on_open);
    }
  }
  if (status.ok() &&
      (trailer.entry_count == 0) != (trailer.data_index_count == 0)) {
    status = Corruption(trailer.entry_count, " cells, but ",
                        trailer.data_index_count, " entries in the data index");
  }
  if (status.ok() && (trailer.data_index_levels < 1 ||
                      trailer.data_index_levels > kMaxIndexLevels)) {
    status = Corruption(trailer.data_index_levels,
                        " index levels, expected 1 to ", kMaxIndexLevels);
  }
  return status;
}

std::optional<uint64_t> ToOffset(bool present, uint64_t offset) {
  if (!present || offset == kNoOffset) return std::nullopt;
  return offset;
}

}  // namespace

bool HasTrailer(std::string_view tail) {
  return HasMagicAt(tail, kTrailerBytesV1) ||
         HasMagicAt(tail, kTrailerBytesV2) || HasMagicAt(tail, kTrailerBytes);
}

Status ParseTrailer(std::string_view tail, uint64_t file_bytes,
                    HFileTrailer* trailer) {
  Status status = CheckVersion(tail, trailer);
  if (!status.ok()) return status;
  tail.remove_prefix(tail.size() - TrailerBytes(*trailer));
  const std::string_view body = tail.substr(
      kTrailerMagic.size(), tail.size() - kTrailerMagic.size() - kVersionBytes);
  std::string_view cursor = body;
  uint64_t message_bytes = 0;
  std::string_view message;
  if (!GetVarint(&cursor, &message_bytes) ||
      !GetBytes(&cursor, message_bytes, &message)) {
    return Corruption("trailer of ", message_bytes, " bytes, expected at most ",
                      body.size());
  }
  proto::Trailer parsed;
  if (!ParseMessage(message, &parsed)) {
    return Corruption("trailer of ", message_bytes, " bytes is malformed");
  }
  // A missing number would hide cells: no checksum covers the trailer.
  if (!parsed.has_data_index_count() || !parsed.has_entry_count()) {
    return Corruption("trailer without the number of ",
                      parsed.has_entry_count() ? "index entries" : "cells");
  }
  trailer->file_info_offset = parsed.file_info_offset();
  trailer->load_on_open_offset = parsed.load_on_open_data_offset();
  trailer->uncompressed_data_index_bytes =
      parsed.uncompressed_data_index_size();
  trailer->total_uncompressed_bytes = parsed.total_uncompressed_bytes();
  trailer->data_index_count = parsed.data_index_count();
  trailer->meta_index_count = parsed.meta_index_count();
  trailer->entry_count = parsed.entry_count();
  trailer->data_index_levels =
      parsed.has_num_data_index_levels() ? parsed.num_data_index_levels() : 1;
  trailer->first_data_block_offset = ToOffset(
      parsed.has_first_data_block_offset(), parsed.first_data_block_offset());
  trailer->last_data_block_offset = ToOffset(
      parsed.has_last_data_block_offset(), parsed.last_data_block_offset());
  // HBase 1.x writes 0 there in a file without cells.
  if (trailer->entry_count == 0 && trailer->last_data_block_offset == 0U) {
    trailer->last_data_block_offset.reset();
  }
  trailer->comparator = parsed.comparator_class_name();
  const uint32_t codec = parsed.has_compression_codec()
                             ? parsed.compression_codec()
                             : static_cast<uint32_t>(HFileCompression::kNone);
  if (codec > std::numeric_limits<uint8_t>::max()) {
    return Corruption("codec ", codec, ", expected 0 to 8");
  }
  trailer->compression = static_cast<HFileCompression>(codec);
  trailer->encrypted = parsed.has_encryption_key();
  return CheckNumbers(*trailer, file_bytes);
}

Status SerializeTrailer(const HFileTrailer& trailer, std::string* bytes) {
  proto::Trailer message;
  message.set_file_info_offset(trailer.file_info_offset);
  message.set_load_on_open_data_offset(trailer.load_on_open_offset);
  message.set_uncompressed_data_index_size(
      trailer.uncompressed_data_index_bytes);
  message.set_total_uncompressed_bytes(trailer.total_uncompressed_bytes);
  message.set_data_index_count(trailer.data_index_count);
  message.set_meta_index_count(trailer.meta_index_count);
  message.set_entry_count(trailer.entry_count);
  message.set_num_data_index_levels(trailer.data_index_levels);
  message.set_first_data_block_offset(
      trailer.first_data_block_offset.value_or(kNoOffset));
  message.set_last_data_block_offset(
      trailer.last_data_block_offset.value_or(kNoOffset));
  message.set_comparator_class_name(trailer.comparator);
  message.set_compression_codec(static_cast<uint32_t>(trailer.compression));

  std::string serialized;
  PutVarint(&serialized, message.ByteSizeLong());
  message.AppendToString(&serialized);
  if (serialized.size() >
      kTrailerBytes - kTrailerMagic.size() - kVersionBytes) {
    return InvalidArgument("comparator name of ", trailer.comparator.size(),
                           " bytes does not fit");
  }
  bytes->assign(kTrailerMagic);
  bytes->append(serialized);
  bytes->resize(kTrailerBytes - kVersionBytes, '\0');
  PutBig<uint32_t>(bytes, kMinorVersion << 24 | kMajorVersion);
  return Status::OK();
}

}  // namespace rowbloom::hfile

#include "tools/sst/embedded_blob.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "storage/format/coding.h"
#include "storage/format/status_text.h"

namespace rowbloom::sst {
namespace {

using rocksdb::Status;

// The kind of reference that tells a place, without a time to live.
constexpr std::string_view kPlace("\x01", 1);

// The rest of a place in this file; nullopt for other references.
std::optional<std::string_view> PlaceInThisFile(std::string_view value) {
  uint64_t file_number = 0;
  if (!value.starts_with(kPlace)) return std::nullopt;
  value.remove_prefix(kPlace.size());
  if (!GetVarint(&value, &file_number) || file_number != 0) return std::nullopt;
  return value;
}

}  // namespace

bool IsEmbeddedBlob(const SstFile& file, EntryType type,
                    std::string_view value) {
  return type == EntryType::kBlobIndex && file.has_embedded_blobs() &&
         PlaceInThisFile(value);
}

Status EmbeddedBlobReader::Read(std::string_view value, std::string* contents) {
  std::optional<std::string_view> place = PlaceInThisFile(value);
  BlockHandle handle;
  if (!place || !GetBlockHandle(&*place, &handle) || place->size() != 1) {
    return Corruption(file_.path(), ": malformed place of a value of ",
                      value.size(), " bytes");
  }
  if (handle.offset_bytes < previous_end_) {
    return file_.Damaged(
        handle, "embedded blob",
        fmt::format("expected at offset {} or later", previous_end_));
  }
  const Status status = file_.ReadBlock(handle, contents);
  if (status.ok()) {
    previous_end_ =
        handle.offset_bytes + handle.size_bytes + kBlockTrailerBytes;
  }
  return status;
}

}  // namespace rowbloom::sst

#include "tools/sst/embedded_blob.h"

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

Status ReadEmbeddedBlob(const SstFile& file, std::string_view value,
                        std::string* contents) {
  std::optional<std::string_view> place = PlaceInThisFile(value);
  BlockHandle handle;
  if (!place || !GetBlockHandle(&*place, &handle) || place->size() != 1) {
    return Corruption(file.path(), ": malformed place of a value of ",
                      value.size(), " bytes");
  }
  return file.ReadBlock(handle, contents);
}

}  // namespace rowbloom::sst

#include "storage/hfile_transfer/cell_tags.h"

#include "storage/format/coding.h"
#include "storage/format/status_text.h"

namespace rowbloom::hfile_transfer {

using rocksdb::Status;

namespace {

// HBase's TagType.
constexpr uint8_t kMobReferenceTag = 5;
constexpr uint8_t kMobTableTag = 6;
constexpr uint8_t kTtlTag = 8;

// Labels come as numbers (2), with the format of these (4), and as text (7).
bool IsVisibilityLabel(uint8_t type) {
  return type == 2 || type == 4 || type == 7;
}

std::string NameOfTag(uint8_t type) {
  if (type == 1) return "access control";
  if (IsVisibilityLabel(type)) return "visibility";
  return "type " + std::to_string(type);
}

}  // namespace

Status ParseTags(std::string_view bytes, CellTags* tags) {
  for (std::string_view rest = bytes; !rest.empty();) {
    uint16_t tag_bytes = 0;  // type and contents
    if (!GetBig(&rest, &tag_bytes) || tag_bytes == 0 ||
        tag_bytes > rest.size()) {
      return InvalidArgument(bytes.size(),
                             " bytes of tags: expected a length of each, and "
                             "as many bytes");
    }
    const auto type = static_cast<uint8_t>(rest[0]);
    const std::string_view contents = rest.substr(1, tag_bytes - 1U);
    if (type == kMobReferenceTag) tags->is_mob_reference = true;
    if (IsVisibilityLabel(type)) tags->has_visibility_label = true;
    if (type == kMobTableTag) tags->mob_table = contents;
    if (type == kTtlTag && !tags->ttl_ms) {
      if (contents.size() != sizeof(uint64_t)) {
        return InvalidArgument("a TTL (tag type 8) of ", contents.size(),
                               " bytes, expected 8");
      }
      tags->ttl_ms = static_cast<int64_t>(LoadBig<uint64_t>(contents.data()));
    }
    if (type != kMobReferenceTag && type != kMobTableTag && type != kTtlTag) {
      tags->names += (tags->names.empty() ? "" : ", ") + NameOfTag(type);
    }
    rest.remove_prefix(tag_bytes);
  }
  return Status::OK();
}

std::string EncodeTtlTag(uint64_t ttl_ms) {
  std::string tag;
  PutBig<uint16_t>(&tag, 1 + sizeof ttl_ms);
  tag.push_back(char{kTtlTag});
  PutBig<uint64_t>(&tag, ttl_ms);
  return tag;
}

}  // namespace rowbloom::hfile_transfer

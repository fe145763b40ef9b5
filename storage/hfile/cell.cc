#include "storage/hfile/cell.h"

#include <algorithm>

#include "lib/bytes/text.h"
#include "storage/format/coding.h"
#include "storage/hfile/vlong.h"

namespace rowbloom {
namespace {

// Tells whether the key represents the end of its row, HBase's exception.
bool IsEndOfRow(const HFileKey& key) {
  return key.type == HFileCellType::kMinimum && key.family.empty() &&
         key.qualifier.empty();
}

}  // namespace

int CompareHFileKeys(const HFileKey& a, const HFileKey& b) {
  if (const int order = a.row.compare(b.row); order != 0) return order;
  if (const bool a_ends = IsEndOfRow(a); a_ends != IsEndOfRow(b)) {
    return a_ends ? 1 : -1;
  }
  if (const int order = a.family.compare(b.family); order != 0) return order;
  if (const int order = a.qualifier.compare(b.qualifier); order != 0) {
    return order;
  }
  if (a.timestamp_ms != b.timestamp_ms) {
    return a.timestamp_ms > b.timestamp_ms ? -1 : 1;
  }
  return static_cast<int>(b.type) - static_cast<int>(a.type);
}

namespace hfile {
namespace {

// Returns bytes after `last` and at or before `first`. REQUIRES that they
// differ.
std::string Midpoint(IndexKeyRule rule, std::string_view last,
                     std::string_view first) {
  const auto [last_at, first_at] =
      std::mismatch(last.begin(), last.end(), first.begin(), first.end());
  const auto same = static_cast<size_t>(last_at - last.begin());
  const bool is_prefix = last_at == last.end();
  if (rule == IndexKeyRule::kHBase24) {
    // HBase 2.4 adds 1 to a signed byte and compares it with an unsigned one.
    if (!is_prefix && static_cast<uint8_t>(*last_at) != 0xff &&
        static_cast<int8_t>(*last_at) + 1 < static_cast<uint8_t>(*first_at)) {
      std::string mid(last.substr(0, same + 1));
      ++mid.back();
      return mid;
    }
    return std::string(first.substr(0, same + 1));
  }
  std::string mid(last.substr(0, same));
  mid.push_back(is_prefix ? '\0' : static_cast<char>(*last_at + 1));
  return mid;
}

}  // namespace

bool ParseKey(std::string_view bytes, HFileKey* key) {
  if (bytes.size() < kKeyFixedBytes) return false;
  // Lengths are signed in Java. Read as unsigned, a negative one is too long.
  const size_t row_bytes = LoadBig<uint16_t>(bytes.data());
  const size_t variable_bytes = bytes.size() - kKeyFixedBytes;
  if (row_bytes > kHFileMaxRowBytes || row_bytes > variable_bytes) return false;
  const size_t family_at = kRowLengthBytes + row_bytes + kFamilyLengthBytes;
  const size_t family_bytes = static_cast<uint8_t>(bytes[family_at - 1]);
  if (family_bytes > kHFileMaxFamilyBytes ||
      family_bytes > variable_bytes - row_bytes) {
    return false;
  }
  const size_t qualifier_at = family_at + family_bytes;
  const char* tail = bytes.data() + bytes.size() - kTimestampTypeBytes;
  key->row = bytes.substr(kRowLengthBytes, row_bytes);
  key->family = bytes.substr(family_at, family_bytes);
  key->qualifier =
      bytes.substr(qualifier_at, variable_bytes - row_bytes - family_bytes);
  key->timestamp_ms = static_cast<int64_t>(LoadBig<uint64_t>(tail));
  key->type = static_cast<HFileCellType>(tail[8]);
  return true;
}

void AppendKey(const HFileKey& key, std::string* out) {
  PutBig<uint16_t>(out, static_cast<uint16_t>(key.row.size()));
  out->append(key.row);
  PutBig<uint8_t>(out, static_cast<uint8_t>(key.family.size()));
  out->append(key.family);
  out->append(key.qualifier);
  PutBig<uint64_t>(out, static_cast<uint64_t>(key.timestamp_ms));
  PutBig<uint8_t>(out, static_cast<uint8_t>(key.type));
}

std::string IndexKey(IndexKeyRule rule, const HFileKey& last,
                     const HFileKey& first) {
  HFileKey mid = first;
  std::string part;
  if (last.row != first.row) {
    part = Midpoint(rule, last.row, first.row);
    mid = {.row = part};
  } else if (last.family != first.family) {
    part = Midpoint(rule, last.family, first.family);
    mid = {.row = first.row, .family = part};
  } else if (last.qualifier != first.qualifier) {
    part = Midpoint(rule, last.qualifier, first.qualifier);
    mid = {.row = first.row, .family = first.family, .qualifier = part};
  }
  std::string key;
  AppendKey(mid, &key);
  return key;
}

size_t CellBytes(const HFileCellView& cell, const CellForm& form) {
  return kCellFixedBytes + KeyBytes(cell.key()) + cell.value.size() +
         (form.tags ? kTagsLengthBytes + cell.tags.size() : 0) +
         (form.mvcc ? VlongBytes(cell.mvcc) : 0);
}

void AppendCell(const HFileCellView& cell, const CellForm& form,
                std::string* out) {
  const HFileKey key = cell.key();
  PutBig<uint32_t>(out, static_cast<uint32_t>(KeyBytes(key)));
  PutBig<uint32_t>(out, static_cast<uint32_t>(cell.value.size()));
  AppendKey(key, out);
  out->append(cell.value);
  if (form.tags) {
    PutBig<uint16_t>(out, static_cast<uint16_t>(cell.tags.size()));
    out->append(cell.tags);
  }
  if (form.mvcc) PutVlong(out, cell.mvcc);
}

const char* ParseCell(std::string_view bytes, const CellForm& form,
                      HFileCellView* cell, size_t* cell_bytes) {
  if (bytes.size() < kCellFixedBytes) return "cut off";
  const uint64_t key_bytes = LoadBig<uint32_t>(bytes.data());
  const uint64_t value_bytes =
      LoadBig<uint32_t>(bytes.data() + sizeof(uint32_t));
  std::string_view rest = bytes.substr(kCellFixedBytes);
  if (key_bytes > rest.size() || value_bytes > rest.size() - key_bytes) {
    return "longer than what is left of its block";
  }
  HFileKey key;
  if (!ParseKey(rest.substr(0, key_bytes), &key)) {
    return "row and family do not fit into the key";
  }
  cell->row = key.row;
  cell->family = key.family;
  cell->qualifier = key.qualifier;
  cell->timestamp_ms = key.timestamp_ms;
  cell->type = key.type;
  cell->value = rest.substr(key_bytes, value_bytes);
  rest.remove_prefix(key_bytes + value_bytes);
  cell->tags = {};
  cell->mvcc = 0;
  if (form.tags) {
    if (rest.size() < kTagsLengthBytes) return "tags are cut off";
    const size_t tags_bytes = LoadBig<uint16_t>(rest.data());
    rest.remove_prefix(kTagsLengthBytes);
    if (tags_bytes > rest.size()) {
      return "tags are longer than what is left of the block";
    }
    cell->tags = rest.substr(0, tags_bytes);
    rest.remove_prefix(tags_bytes);
  }
  if (form.mvcc) {
    std::string_view cursor = rest;
    uint8_t zero = 0;
    if (!(form.mvcc_is_zero ? GetBig(&cursor, &zero)
                            : GetVlong(&cursor, &cell->mvcc))) {
      return "mvcc number is cut off";
    }
    rest = cursor;
  }
  *cell_bytes = bytes.size() - rest.size();
  return nullptr;
}

std::string DescribeCell(std::string_view bytes) {
  if (bytes.size() < kCellFixedBytes) {
    return Concat("cell of at least ", kCellFixedBytes, " bytes expected in ",
                  bytes.size());
  }
  return Concat("cell with a key of ", LoadBig<uint32_t>(bytes.data()),
                " and a value of ",
                LoadBig<uint32_t>(bytes.data() + sizeof(uint32_t)),
                " bytes in ", bytes.size());
}

}  // namespace hfile
}  // namespace rowbloom

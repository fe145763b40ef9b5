#include "storage/hfile/delta_block.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "lib/bytes/text.h"
#include "storage/format/coding.h"
#include "storage/hfile/vlong.h"

namespace rowbloom::hfile {
namespace {

constexpr uint64_t kMaxTagsBytes = std::numeric_limits<uint16_t>::max();
constexpr size_t kHeadBytes = kEncodingIdBytes + sizeof(uint32_t);

size_t CommonBytes(std::string_view a, std::string_view b) {
  return static_cast<size_t>(
      std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

char* Copy(std::string_view bytes, char* to) {
  // memcpy with a null pointer is undefined, even for 0 bytes.
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}

}  // namespace

bool DeltaCells::Start(std::string_view payload) {
  SetPayload(payload);
  cell_ = {};
  key_bytes_ = 0;
  dictionary_.Clear();
  uint32_t cells_bytes = 0;
  if (!ReadEncodingId(encoding_)) return false;
  if (!GetBig(&rest_, &cells_bytes)) return Fail("size of cells is cut off");
  if (cells_bytes > max_cells_bytes_) {
    return FailForMemory(Concat("cells of ", cells_bytes,
                                " bytes, expected at most ", max_cells_bytes_));
  }
  cells_bytes_ = left_bytes_ = cells_bytes;
  if (!ReadHead()) return false;
  if (!HasNext()) return Fail("at least one cell expected, found none");
  return Next();
}

bool DeltaCells::Next() {
  offset_ = OffsetOfRest();
  if (!ReadKeyAndValue() || (form_.tags && !ReadTags()) ||
      (form_.mvcc && !ReadMvcc())) {
    return false;
  }
  if (HasNext() || left_bytes_ == 0) return true;
  return Fail(Concat("cells of ", cells_bytes_ - left_bytes_,
                     " bytes up to the end, expected ", cells_bytes_));
}

bool DeltaCells::TakeSize(uint64_t byte_count) {
  if (byte_count > left_bytes_) {
    return Fail(Concat("tags or mvcc number of ", byte_count,
                       " bytes, expected at most ", left_bytes_,
                       " that are left of all cells' ", cells_bytes_));
  }
  left_bytes_ -= byte_count;
  return true;
}

bool DeltaCells::CheckSizes(uint64_t key_bytes, uint64_t value_bytes) {
  const uint64_t most =
      left_bytes_ < kCellFixedBytes ? 0 : left_bytes_ - kCellFixedBytes;
  if (key_bytes < kKeyFixedBytes || key_bytes > most ||
      value_bytes > most - key_bytes) {
    return Fail(Concat("cell with a key of ", key_bytes, " and a value of ",
                       value_bytes, " bytes, expected at least ",
                       kKeyFixedBytes, " and at most ", most,
                       " that are left of all cells' ", cells_bytes_));
  }
  left_bytes_ -= kCellFixedBytes + key_bytes + value_bytes;
  return true;
}

bool DeltaCells::ReadValue(uint64_t value_bytes) {
  if (GetBytes(&rest_, value_bytes, &cell_.value)) return true;
  return Fail(Concat("value of ", value_bytes, " bytes, expected at most ",
                     rest_.size()));
}

char* DeltaCells::NewKey(uint64_t common, uint64_t key_bytes) {
  const char* before = keys_[key_at_].data();
  key_at_ = 1 - key_at_;
  char* key = nullptr;
  // Rounds up, so that keys that grow by a byte each rarely allocate.
  if (!keys_[key_at_].Reserve(std::bit_ceil(key_bytes), &key).ok()) {
    FailForMemory(Concat("no memory for a key of ", key_bytes, " bytes"));
    return nullptr;
  }
  Copy({before, common}, key);
  key_bytes_ = key_bytes;
  return key;
}

bool DeltaCells::ReadKey(uint64_t common, uint64_t key_bytes) {
  if (common > key_bytes_ || common > key_bytes) {
    return Fail(Concat("key of ", key_bytes, " bytes, of which ", common,
                       " are common, expected at most ", key_bytes_));
  }
  std::string_view rest;
  if (!GetBytes(&rest_, key_bytes - common, &rest)) return FailCutOff();
  char* key_data = NewKey(common, key_bytes);
  if (key_data == nullptr) return false;
  Copy(rest, key_data + common);
  HFileKey key;
  if (!ParseKey({key_data, key_bytes}, &key)) {
    return Fail("row and family do not fit into the key");
  }
  cell_.row = key.row;
  cell_.family = key.family;
  cell_.qualifier = key.qualifier;
  cell_.timestamp_ms = key.timestamp_ms;
  cell_.type = key.type;
  return true;
}

bool DeltaCells::ReadColumn(std::string_view family, uint64_t common,
                            uint64_t key_bytes) {
  const uint64_t most = key_bytes_ == 0 ? 0 : key_bytes_ - kTimestampTypeBytes;
  const auto fail_common = [&] {
    return Fail(Concat("key of ", key_bytes, " bytes, of which ", common,
                       " are common, expected at most ", most,
                       " of row, family and qualifier"));
  };
  if (common > most) return fail_common();
  uint8_t length[kRowLengthBytes] = {
      static_cast<uint8_t>(cell_.row.size() >> 8),
      static_cast<uint8_t>(cell_.row.size())};
  for (uint64_t i = common; i < kRowLengthBytes; ++i) {
    if (!GetBig(&rest_, &length[i])) return FailCutOff();
  }
  const uint64_t row_bytes = uint64_t{length[0]} << 8 | length[1];
  const uint64_t fixed_bytes = kKeyFixedBytes + row_bytes + family.size();
  if (row_bytes > kHFileMaxRowBytes || fixed_bytes > key_bytes) {
    return Fail(Concat("row of ", row_bytes, " and family of ", family.size(),
                       " bytes do not fit into a key of ", key_bytes));
  }
  const uint64_t qualifier_bytes = key_bytes - fixed_bytes;
  const uint64_t row_end = kRowLengthBytes + row_bytes;
  const uint64_t qualifier_at = row_end + kFamilyLengthBytes + family.size();

  std::string_view row_rest;
  std::string_view qualifier_rest;
  const bool same_row = common >= row_end;
  if (same_row) {
    if (common < qualifier_at || common > qualifier_at + qualifier_bytes) {
      return fail_common();
    }
    if (!GetBytes(&rest_, qualifier_at + qualifier_bytes - common,
                  &qualifier_rest)) {
      return FailCutOff();
    }
  } else {
    common = std::max<uint64_t>(common, kRowLengthBytes);
    if (!GetBytes(&rest_, row_end - common, &row_rest) ||
        !GetBytes(&rest_, qualifier_bytes, &qualifier_rest)) {
      return FailCutOff();
    }
  }
  // A row length that is not common is written below.
  char* key = NewKey(std::min(common, most), key_bytes);
  if (key == nullptr) return false;
  char* to = key + common;
  if (!same_row) {
    key[0] = static_cast<char>(length[0]);
    key[1] = static_cast<char>(length[1]);
    to = Copy(row_rest, to);
    *to++ = static_cast<char>(family.size());
    to = Copy(family, to);
  }
  Copy(qualifier_rest, to);
  cell_.row = {key + kRowLengthBytes, row_bytes};
  cell_.family = {key + row_end + kFamilyLengthBytes, family.size()};
  cell_.qualifier = {key + qualifier_at, qualifier_bytes};
  return true;
}

bool DeltaCells::ReadTags() {
  uint64_t tags_bytes = 0;
  if (!GetVarint(&rest_, &tags_bytes)) return Fail("tags are cut off");
  if (tags_bytes > kMaxTagsBytes) {
    return Fail(Concat("tags of ", tags_bytes, " bytes, expected at most ",
                       kMaxTagsBytes));
  }
  if (!TakeSize(kTagsLengthBytes + tags_bytes)) return false;
  if (!form_.tags_compressed) {
    if (GetBytes(&rest_, tags_bytes, &cell_.tags)) return true;
    return Fail("tags are longer than what is left of the block");
  }
  const char* problem =
      UncompressTags(tags_bytes, &dictionary_, &rest_, &tags_);
  if (problem != nullptr) return Fail(problem);
  cell_.tags = tags_;
  return true;
}

bool DeltaCells::ReadMvcc() {
  const size_t before = rest_.size();
  if (!GetVlong(&rest_, &cell_.mvcc)) return Fail("mvcc number is cut off");
  return TakeSize(before - rest_.size());
}

size_t CommonColumnBytes(const HFileCellView& a, const HFileCellView& b) {
  if (a.row.size() != b.row.size()) {
    // The lengths have two bytes.
    return a.row.size() >> 8 == b.row.size() >> 8 ? 1 : 0;
  }
  const size_t row_common = CommonBytes(a.row, b.row);
  if (row_common < a.row.size()) return kRowLengthBytes + row_common;
  return kRowLengthBytes + a.row.size() + kFamilyLengthBytes + a.family.size() +
         CommonBytes(a.qualifier, b.qualifier);
}

DeltaBuilder::DeltaBuilder(HFileEncoding encoding, const CellForm& form)
    : encoding_(encoding), form_(form) {
  Clear();
}

void DeltaBuilder::Clear() {
  payload_.clear();
  PutBig<uint16_t>(&payload_, static_cast<uint16_t>(encoding_));
  PutBig<uint32_t>(&payload_, 0);  // until Finish
  cells_bytes_ = encoded_bytes_ = 0;
  dictionary_.Clear();
}

void DeltaBuilder::Add(const HFileCellView& cell) {
  HFileKey key;
  if (!empty() && ParseKey(key_, &key)) {
    const HFileCellView before = {
        .row = key.row,
        .family = key.family,
        .qualifier = key.qualifier,
        .timestamp_ms = key.timestamp_ms,
        .type = key.type,
        .value = std::string_view(payload_).substr(value_at_, value_bytes_)};
    AddKeyAndValue(&before, cell);
  } else {
    AddKeyAndValue(nullptr, cell);
  }
  if (form_.tags) {
    PutVarint(&payload_, cell.tags.size());
    if (!form_.tags_compressed) {
      payload_.append(cell.tags);
    } else {
      CompressTags(cell.tags, &dictionary_, &payload_);
    }
  }
  if (form_.mvcc) PutVlong(&payload_, cell.mvcc);
  cells_bytes_ += CellBytes(cell, form_);
  encoded_bytes_ = payload_.size() - kHeadBytes;
  key_.clear();
  AppendKey(cell.key(), &key_);
}

std::string_view DeltaBuilder::Finish() {
  std::string size;
  PutBig<uint32_t>(&size, static_cast<uint32_t>(cells_bytes_));
  payload_.replace(kEncodingIdBytes, size.size(), size);
  return payload_;
}

void DeltaBuilder::AppendValue(std::string_view value) {
  value_at_ = payload_.size();
  value_bytes_ = value.size();
  payload_.append(value);
}

void DeltaBuilder::AppendColumn(const HFileCellView& cell, size_t common) {
  const size_t row_end = kRowLengthBytes + cell.row.size();
  if (common >= row_end) {
    payload_.append(cell.qualifier.substr(
        common - row_end - kFamilyLengthBytes - cell.family.size()));
    return;
  }
  if (common == 0)
    PutBig<uint8_t>(&payload_, static_cast<uint8_t>(cell.row.size() >> 8));
  if (common <= 1)
    PutBig<uint8_t>(&payload_, static_cast<uint8_t>(cell.row.size()));
  payload_.append(
      cell.row.substr(common < kRowLengthBytes ? 0 : common - kRowLengthBytes));
  payload_.append(cell.qualifier);
}

}  // namespace rowbloom::hfile

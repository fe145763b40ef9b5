#include "storage/hfile/tag_dictionary.h"

#include <algorithm>

#include "storage/format/coding.h"

namespace rowbloom::hfile {
namespace {

constexpr uint8_t kNotInDictionary = 0xff;
constexpr size_t kTagLengthBytes = 2;

// Returns false at the end, or if no tag follows.
bool ReadTag(std::string_view* in, std::string_view* tag) {
  uint16_t tag_bytes = 0;
  return GetBig(in, &tag_bytes) && GetBytes(in, tag_bytes, tag);
}

}  // namespace

void TagDictionary::Use(size_t place) {
  std::rotate(order_.begin(), order_.begin() + place,
              order_.begin() + place + 1);
}

void TagDictionary::Add(std::string_view tag) {
  if (tag.empty()) return;
  if (size_ < kCapacity) {
    order_[size_] = static_cast<uint8_t>(size_);
    ++size_;
    if (tags_.size() < size_) tags_.emplace_back();
  }
  Use(size_ - 1);
  tags_[order_[0]] = tag;
}

std::optional<size_t> TagDictionary::Find(std::string_view tag) {
  for (size_t place = 0; place < size_; ++place) {
    const size_t number = order_[place];
    if (tags_[number] != tag) continue;
    Use(place);
    return number;
  }
  return std::nullopt;
}

const std::string* TagDictionary::Get(size_t number) {
  if (number >= size_) return nullptr;
  Use(static_cast<size_t>(
      std::find(order_.begin(), order_.begin() + size_, number) -
      order_.begin()));
  return &tags_[number];
}

bool AreTags(std::string_view bytes) {
  while (!bytes.empty()) {
    std::string_view tag;
    if (!ReadTag(&bytes, &tag)) return false;
  }
  return true;
}

void CompressTags(std::string_view tags, TagDictionary* dictionary,
                  std::string* out) {
  std::string_view tag;
  while (ReadTag(&tags, &tag)) {
    if (const auto number = dictionary->Find(tag)) {
      PutBig<uint16_t>(out, static_cast<uint16_t>(*number));
      continue;
    }
    dictionary->Add(tag);
    PutBig<uint8_t>(out, kNotInDictionary);
    PutVarint(out, tag.size());
    out->append(tag);
  }
}

const char* UncompressTags(uint64_t byte_count, TagDictionary* dictionary,
                           std::string_view* in, std::string* tags) {
  tags->clear();
  while (tags->size() < byte_count) {
    uint8_t first = 0;
    std::string_view tag;
    if (!GetBig(in, &first)) return "tags are cut off";
    if (first == kNotInDictionary) {
      uint64_t tag_bytes = 0;
      if (!GetVarint(in, &tag_bytes) || !GetBytes(in, tag_bytes, &tag)) {
        return "a tag is longer than what is left of the block";
      }
    } else {
      uint8_t second = 0;
      if (!GetBig(in, &second)) return "tags are cut off";
      const std::string* known =
          dictionary->Get(size_t{first} << 8 | size_t{second});
      if (known == nullptr) return "a tag that the block did not have before";
      tag = *known;
    }
    if (kTagLengthBytes + tag.size() > byte_count - tags->size()) {
      return "tags are longer than their length";
    }
    if (first == kNotInDictionary) dictionary->Add(tag);
    PutBig<uint16_t>(tags, static_cast<uint16_t>(tag.size()));
    tags->append(tag);
  }
  return nullptr;
}

}  // namespace rowbloom::hfile

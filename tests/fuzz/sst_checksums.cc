#include "tests/fuzz/sst_checksums.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/sst/block.h"
#include "tools/sst/checksum.h"
#include "tools/sst/footer.h"

namespace rowbloom::fuzz {
namespace {

using sst::BlockHandle;

// Places in the footer; tools/sst/footer.h has the table.
constexpr size_t kFooterChecksumAt = 5;
constexpr size_t kBaseContextAt = 9;
constexpr size_t kVersionAt = 41;
constexpr uint8_t kExtendedVersion = 6;

void SetFixed32(std::string* bytes, size_t offset, uint32_t value) {
  for (int i = 0; i < 4; ++i) {
    (*bytes)[offset + i] = static_cast<char>(value >> 8 * i);
  }
}

uint32_t Fixed32(std::string_view bytes, size_t offset) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    value |= uint32_t{static_cast<uint8_t>(bytes[offset + i])} << 8 * i;
  }
  return value;
}

// Sets the checksum that the footer of format_version 6 has over itself, before
// anything decodes the footer.
void SetFooterChecksum(std::string* file) {
  if (file->size() < sst::kFooterBytes) return;
  const size_t at = file->size() - sst::kFooterBytes;
  if (static_cast<uint8_t>((*file)[at + kVersionAt]) != kExtendedVersion) {
    return;
  }
  const auto type =
      sst::ChecksumTypeFromByte(static_cast<uint8_t>((*file)[at]));
  if (!type) return;
  SetFixed32(file, at + kFooterChecksumAt, 0);
  const uint32_t base = Fixed32(*file, at + kBaseContextAt);
  SetFixed32(file, at + kFooterChecksumAt,
             sst::Checksum(*type, std::string_view(*file).substr(at)) +
                 sst::ContextModifier(base, at));
}

void SetBlockChecksum(std::string* file, const sst::Footer& footer,
                      const BlockHandle& handle) {
  if (!sst::EndsWithin(handle, footer.offset_bytes)) return;
  // The trailer's first byte is part of what is summed.
  const std::string_view covered = std::string_view(*file).substr(
      handle.offset_bytes, handle.size_bytes + 1);
  SetFixed32(file, handle.offset_bytes + covered.size(),
             sst::Checksum(footer.checksum_type, covered) +
                 sst::ContextModifier(footer.base_context_checksum,
                                      handle.offset_bytes));
}

// The blocks that an index or metaindex names, in either form of values.
std::vector<BlockHandle> Handles(std::string_view block, sst::ValueForm form,
                                 std::vector<std::string>* keys) {
  std::vector<BlockHandle> handles;
  sst::EntryCursor entries(block, form);
  while (entries.Next()) {
    BlockHandle handle = entries.handle();
    std::string_view value = entries.value();
    if (form == sst::ValueForm::kSized &&
        !sst::GetBlockHandle(&value, &handle)) {
      continue;
    }
    handles.push_back(handle);
    keys->push_back(entries.key());
  }
  return handles;
}

std::string_view Contents(const std::string& file, const sst::Footer& footer,
                          const BlockHandle& handle) {
  if (!sst::EndsWithin(handle, footer.offset_bytes)) return {};
  return std::string_view(file).substr(handle.offset_bytes, handle.size_bytes);
}

// Sets the checksums of an index and of the blocks that it names; of an index
// with two levels, also of the blocks that those name. Compressed blocks of the
// index are left alone, because their bytes name nothing.
void SetChecksumsBelow(std::string* file, const sst::Footer& footer,
                       const BlockHandle& index, int levels) {
  const std::string contents(Contents(*file, footer, index));
  std::vector<std::string> keys;
  for (const sst::ValueForm form :
       {sst::ValueForm::kSized, sst::ValueForm::kHandle,
        sst::ValueForm::kHandleAndFirstKey}) {
    for (const BlockHandle& handle : Handles(contents, form, &keys)) {
      if (levels > 1) SetChecksumsBelow(file, footer, handle, levels - 1);
      SetBlockChecksum(file, footer, handle);
    }
  }
  SetBlockChecksum(file, footer, index);
}

}  // namespace

void MakeChecksumsRight(std::string* file) {
  SetFooterChecksum(file);
  sst::Footer footer;
  const std::string_view tail = std::string_view(*file).substr(
      file->size() - std::min(file->size(), sst::kFooterBytes));
  if (!sst::DecodeFooter("", tail, file->size(), &footer).ok()) return;
  std::vector<std::string> names;
  // Copies: blocks of damaged files may overlap.
  const std::string metaindex(Contents(*file, footer, footer.metaindex));
  const std::vector<BlockHandle> blocks =
      Handles(metaindex, sst::ValueForm::kSized, &names);
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (names[i].starts_with("partitionedfilter.")) {
      SetChecksumsBelow(file, footer, blocks[i], 1);
    } else if (names[i] == "rocksdb.index") {
      SetChecksumsBelow(file, footer, blocks[i], 2);
    }
    SetBlockChecksum(file, footer, blocks[i]);
  }
  if (footer.index) SetChecksumsBelow(file, footer, *footer.index, 2);
  SetBlockChecksum(file, footer, footer.metaindex);
}

std::string WithFormatVersion6(const std::string& file) {
  const size_t at = file.size() - sst::kFooterBytes;
  sst::Footer old;
  if (!sst::DecodeFooter("", std::string_view(file).substr(at), file.size(),
                         &old)
           .ok()) {
    return "";
  }
  std::string result = file.substr(0, at + 1);  // with the checksum type
  result.append("\x3e\x00\x7a\x00", 4);
  result.append(4, '\0');  // the footer's checksum
  result.append("\x12\x34\x56\x78", 4);
  result.append(4, '\0');  // the size of the metaindex
  SetFixed32(&result, result.size() - 4,
             static_cast<uint32_t>(old.metaindex.size_bytes));
  result.append(24, '\0');
  result += static_cast<char>(kExtendedVersion);
  result.append(3, '\0');
  result += file.substr(file.size() - 8);  // the magic
  MakeChecksumsRight(&result);
  return result;
}

}  // namespace rowbloom::fuzz

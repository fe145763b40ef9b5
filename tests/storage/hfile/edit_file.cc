#include "tests/storage/hfile/edit_file.h"

#include <stdexcept>
#include <string_view>

#include "storage/format/coding.h"
#include "storage/hfile/trailer.h"

namespace rowbloom::test {

using hfile::BlockHeader;
using hfile::BlockType;
using hfile::kBlockHeaderBytes;
using hfile::kTrailerBytes;

namespace {

bool ReadHeader(const std::string& file, size_t offset, BlockHeader* header) {
  if (file.size() < kTrailerBytes + kBlockHeaderBytes ||
      offset > file.size() - kTrailerBytes - kBlockHeaderBytes) {
    return false;
  }
  const std::string_view bytes =
      std::string_view(file).substr(offset, kBlockHeaderBytes);
  return hfile::ParseBlockHeader(bytes, header).ok() &&
         header->block_bytes() <= file.size() - kTrailerBytes - offset;
}

}  // namespace

size_t FindBlock(const std::string& file, BlockType type, size_t nth) {
  BlockHeader header;
  for (size_t offset = 0; ReadHeader(file, offset, &header);
       offset += header.block_bytes()) {
    if (header.type == type && nth-- == 0) return offset;
  }
  throw std::runtime_error("no such block");
}

bool ResealBlock(std::string* file, size_t offset) {
  BlockHeader header;
  if (!ReadHeader(*file, offset, &header)) return false;
  const size_t covered_bytes = kBlockHeaderBytes + header.stored_bytes;
  std::string block = file->substr(offset, covered_bytes);
  hfile::AppendChecksums(header.checksum, header.bytes_per_checksum,
                         covered_bytes, &block);
  file->replace(offset, block.size(), block);
  return true;
}

void ResealBlocks(std::string* file) {
  BlockHeader header;
  for (size_t offset = 0; ReadHeader(*file, offset, &header);
       offset += header.block_bytes()) {
    ResealBlock(file, offset);
  }
}

void EditPayload(std::string* file, BlockType type,
                 const std::function<void(std::string*)>& change, size_t nth) {
  const size_t offset = FindBlock(*file, type, nth);
  BlockHeader header;
  ReadHeader(*file, offset, &header);
  std::string payload =
      file->substr(offset + kBlockHeaderBytes, header.stored_bytes);
  const size_t before = header.block_bytes();
  change(&payload);
  header.payload_bytes = static_cast<uint32_t>(payload.size());
  std::string block(kBlockHeaderBytes, '\0');
  block += payload;
  hfile::SealBlock(header, &block);
  file->replace(offset, before, block);
}

void EditHeader(std::string* file, BlockType type, size_t at, uint32_t value) {
  const size_t offset = FindBlock(*file, type);
  Overwrite32(file, offset + at, value);
  ResealBlock(file, offset);
}

void EditFileInfo(std::string* file,
                  const std::function<void(hfile::FileInfo*)>& change) {
  EditPayload(file, BlockType::kFileInfo, [&](std::string* payload) {
    hfile::FileInfo info;
    if (!hfile::ParseFileInfo(*payload, &info).ok()) {
      throw std::runtime_error("no file info");
    }
    change(&info);
    *payload = hfile::SerializeFileInfo(info);
  });
}

void EditTrailer(std::string* file,
                 const std::function<void(HFileTrailer*)>& change) {
  const size_t offset = file->size() - kTrailerBytes;
  HFileTrailer trailer;
  std::string bytes = file->substr(offset);
  if (!hfile::ParseTrailer(bytes, file->size(), &trailer).ok()) {
    throw std::runtime_error("no trailer");
  }
  change(&trailer);
  if (!hfile::SerializeTrailer(trailer, &bytes).ok()) {
    throw std::runtime_error("the trailer does not fit");
  }
  file->replace(offset, kTrailerBytes, bytes);
}

void Overwrite32(std::string* bytes, size_t at, uint32_t value) {
  std::string number;
  PutBig<uint32_t>(&number, value);
  bytes->replace(at, number.size(), number);
}

void Overwrite64(std::string* bytes, size_t at, uint64_t value) {
  std::string number;
  PutBig<uint64_t>(&number, value);
  bytes->replace(at, number.size(), number);
}

}  // namespace rowbloom::test

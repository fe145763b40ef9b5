#include "storage/hfile/block_reader.h"

#include <array>

#include "storage/format/status_text.h"
#include "storage/hfile/codec.h"

namespace rowbloom::hfile {
namespace {

using rocksdb::Status;

constexpr std::string_view kWhat = "block";

// Returns the largest size of a block on disk. Incompressible data grows a
// little beyond the payload, and each checksum of 4 bytes covers at least 33.
uint64_t MaxStoredBytes(uint64_t max_payload_bytes) {
  constexpr uint64_t kSmallBlockBytes = 64 * 1024;
  return max_payload_bytes + max_payload_bytes / 4 + kSmallBlockBytes;
}

}  // namespace

Status BlockReader::ReadHeader(uint64_t offset, uint64_t end_offset,
                               BlockHeader* header) const {
  if (offset > end_offset || end_offset - offset < kBlockHeaderBytes) {
    return file_.Located(kWhat, offset,
                         Corruption("expected it to end by offset ", end_offset,
                                    " at the latest"));
  }
  std::array<char, kBlockHeaderBytes> bytes;
  Status status = file_.ReadAt(offset, bytes.size(), bytes.data());
  if (!status.ok()) return status;
  status = ParseBlockHeader({bytes.data(), bytes.size()}, header);
  if (status.ok() && header->block_bytes() > end_offset - offset) {
    status = Corruption(header->block_bytes(), " bytes, expected at most ",
                        end_offset - offset);
  }
  return status.ok() ? status : file_.Located(kWhat, offset, status);
}

Status BlockReader::CheckHeader(const BlockLocation& location,
                                BlockType expected,
                                const BlockHeader& header) const {
  if (header.type != expected) {
    return Corruption("magic \"", Magic(expected), "\" expected, found \"",
                      Magic(header.type), "\"");
  }
  if (header.block_bytes() != location.block_bytes) {
    return Corruption(location.block_bytes,
                      " bytes expected by the index, found ",
                      header.block_bytes());
  }
  return CheckClaim(*CodecOf(codec_), header.stored_bytes, header.payload_bytes,
                    MaxBytes(expected));
}

Status BlockReader::Unpack(const BlockLocation& location,
                           std::string_view stored, Block* block) const {
  char* payload = nullptr;
  Status status = block->buffer.Reserve(block->header.payload_bytes, &payload);
  if (status.ok()) {
    status = DecompressPayload(
        codec_, stored.substr(kBlockHeaderBytes, block->header.stored_bytes),
        payload, block->header.payload_bytes);
  }
  if (!status.ok()) return file_.Located(kWhat, location.offset, status);
  block->payload = {payload, block->header.payload_bytes};
  return Status::OK();
}

Status BlockReader::Load(const BlockLocation& location, uint64_t max_bytes,
                         Buffer* target, BlockHeader* header,
                         std::string_view* stored) const {
  const uint64_t offset = location.offset;
  if (location.block_bytes < kBlockHeaderBytes || offset > file_.size_bytes() ||
      location.block_bytes > file_.size_bytes() - offset) {
    return file_.Located(
        kWhat, offset,
        Corruption(location.block_bytes, " bytes, expected ", kBlockHeaderBytes,
                   " and more, within the file's ", file_.size_bytes()));
  }
  if (location.block_bytes > MaxStoredBytes(max_bytes)) {
    return file_.Located(
        kWhat, offset,
        MemoryLimit(location.block_bytes, " bytes, expected at most ",
                    MaxStoredBytes(max_bytes)));
  }
  char* bytes = nullptr;
  Status status = target->Reserve(location.block_bytes, &bytes);
  if (!status.ok()) return file_.Located(kWhat, offset, status);
  status = file_.ReadAt(offset, location.block_bytes, bytes);
  if (!status.ok()) return status;
  *stored = {bytes, location.block_bytes};
  status = ParseBlockHeader(stored->substr(0, kBlockHeaderBytes), header);
  return status.ok() ? status : file_.Located(kWhat, offset, status);
}

Status BlockReader::Read(const BlockLocation& location, BlockType expected,
                         Block* block, Buffer* scratch) const {
  const bool packed = codec_ != HFileCompression::kNone;
  std::string_view stored;
  Status status =
      Load(location, MaxBytes(expected), packed ? scratch : &block->buffer,
           &block->header, &stored);
  if (!status.ok()) return status;
  status = CheckHeader(location, expected, block->header);
  if (status.ok() && verify_checksums_) {
    status = VerifyChecksums(block->header, stored);
  }
  if (!status.ok()) return file_.Located(kWhat, location.offset, status);
  block->offset = location.offset;
  if (packed) return Unpack(location, stored, block);
  block->payload = stored.substr(kBlockHeaderBytes, block->header.stored_bytes);
  return Status::OK();
}

Status BlockReader::ReadStored(const BlockLocation& location, Block* block,
                               Buffer* scratch) const {
  std::string_view stored;
  Status status =
      Load(location, max_data_block_bytes_, scratch, &block->header, &stored);
  if (!status.ok()) return status;
  block->offset = location.offset;
  block->payload = {};
  if (block->header.block_bytes() != stored.size()) {
    status = Corruption(stored.size(), " bytes expected, found ",
                        block->header.block_bytes(), " in its header");
  } else {
    status = VerifyChecksums(block->header, stored);
  }
  return status.ok() ? status : file_.Located(kWhat, location.offset, status);
}

}  // namespace rowbloom::hfile

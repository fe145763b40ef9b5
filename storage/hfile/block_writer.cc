#include "storage/hfile/block_writer.h"

#include "storage/format/status_text.h"

namespace rowbloom::hfile {

using rocksdb::Status;

BlockWriter::BlockWriter(const FileForm& options, OutputFile* file)
    : file_(file),
      compressor_(options),
      checksum_(options.checksum),
      bytes_per_checksum_(options.bytes_per_checksum) {
  previous_offsets_.fill(-1);
}

Status BlockWriter::CheckBytes(size_t block_bytes) const {
  if (block_bytes <= kHFileMaxBlockBytes) return Status::OK();
  return InvalidArgument(file_->path(), ": block of ", block_bytes,
                         " bytes at offset ", file_->size_bytes(),
                         ", expected at most ", kHFileMaxBlockBytes);
}

Status BlockWriter::Write(BlockType type, std::string_view payload,
                          BlockLocation* location) {
  stored_.assign(kBlockHeaderBytes, '\0');
  Status status = CheckBytes(payload.size());
  if (status.ok()) status = compressor_.Compress(payload, &stored_);
  if (status.ok()) status = CheckBytes(stored_.size());
  if (!status.ok()) return status;
  int64_t& previous = previous_offsets_[static_cast<size_t>(type)];
  BlockHeader header;
  header.type = type;
  header.payload_bytes = static_cast<uint32_t>(payload.size());
  header.previous_offset = previous;
  header.checksum = checksum_;
  header.bytes_per_checksum = bytes_per_checksum_;
  SealBlock(header, &stored_);
  location->offset = file_->size_bytes();
  location->block_bytes = static_cast<uint32_t>(stored_.size());
  previous = static_cast<int64_t>(location->offset);
  return file_->Append(stored_);
}

}  // namespace rowbloom::hfile

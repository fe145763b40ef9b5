#include "tools/sst/block_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "storage/format/status_text.h"

namespace rowbloom::sst {
namespace {

using rocksdb::Status;

constexpr std::string_view kDictionaryBlock = "rocksdb.compression_dict";

}  // namespace

// Reads the bytes at `offset_bytes`, and reads ahead.
Status BlockReader::Fill(uint64_t offset_bytes, uint64_t length_bytes) {
  // So few bytes stay in the processor's cache until their blocks are used.
  constexpr uint64_t kMostBytes = uint64_t{256} << 10;
  // Only a block that follows the last one reads ahead. Between blocks there
  // may be padding.
  const bool follows = last_end_ != 0 && offset_bytes >= last_end_ &&
                       offset_bytes - last_end_ < kMostBytes;
  most_bytes_ =
      follows ? std::max(length_bytes, std::min(4 * most_bytes_, kMostBytes))
              : length_bytes;
  size_bytes_ = 0;
  offset_bytes_ = offset_bytes;
  char* room = nullptr;
  const Status status = room_.Reserve(most_bytes_, &room);
  if (!status.ok()) return file_.file().Located("block", offset_bytes, status);
  return file_.file().ReadAhead(offset_bytes, length_bytes, most_bytes_, room,
                                &size_bytes_);
}

// Reads a block as it is stored, and sets compression_.
Status BlockReader::ReadStored(const BlockHandle& handle,
                               std::string_view* stored) {
  compression_ = CompressionType::kNone;
  Status status = file_.CheckHandle(handle);
  if (!status.ok()) return status;
  const uint64_t length_bytes = handle.size_bytes + kBlockTrailerBytes;
  const uint64_t end = handle.offset_bytes + length_bytes;
  if (handle.offset_bytes < offset_bytes_ ||
      end > offset_bytes_ + size_bytes_) {
    status = Fill(handle.offset_bytes, length_bytes);
    if (!status.ok()) return status;
  }
  last_end_ = end;
  const std::string_view bytes(
      room_.data() + (handle.offset_bytes - offset_bytes_), length_bytes);
  *stored = bytes.substr(0, handle.size_bytes);
  return file_.Verify(handle, bytes, &compression_);
}

Status BlockReader::LoadDictionary() {
  if (dictionary_loaded_) return Status::OK();
  const auto found = file_.meta_blocks().find(kDictionaryBlock);
  if (found != file_.meta_blocks().end()) {
    std::string bytes;
    const Status status = file_.ReadBlock(found->second, &bytes);
    if (!status.ok()) return status;
    if (!bytes.empty()) dictionary_.emplace(std::move(bytes));
  }
  dictionary_loaded_ = true;
  return Status::OK();
}

// Replaces the stored bytes of a block in *contents by its contents.
Status BlockReader::Unpack(const BlockHandle& handle,
                           const CodecDictionary* dictionary,
                           std::string_view* contents) {
  const std::string_view manager = file_.foreign_manager();
  const Status status =
      compression_ == CompressionType::kNone || manager.empty()
          ? Decompress(compression_, *contents, dictionary, &decompressed_,
                       contents)
          : NotSupported("compressed with ", ToString(compression_),
                         " by the compression manager ", manager,
                         ", expected RocksDB's own");
  return status.ok()
             ? status
             : file_.file().Located("block", handle.offset_bytes, status);
}

Status BlockReader::ReadData(const BlockHandle& handle,
                             std::string_view* contents) {
  Status status = ReadStored(handle, contents);
  if (!status.ok() || compression_ == CompressionType::kNone) return status;
  status = LoadDictionary();
  if (!status.ok()) return status;
  return Unpack(handle, dictionary_ ? &*dictionary_ : nullptr, contents);
}

Status BlockReader::ReadMeta(const BlockHandle& handle,
                             std::string_view* contents) {
  const Status status = ReadStored(handle, contents);
  return status.ok() ? Unpack(handle, nullptr, contents) : status;
}

}  // namespace rowbloom::sst

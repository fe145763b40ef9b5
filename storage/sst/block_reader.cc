#include "storage/sst/block_reader.h"

#include <fmt/format.h>

#include <utility>

namespace rowbloom::sst {
namespace {

using rocksdb::Status;

constexpr std::string_view kDictionaryBlock = "rocksdb.compression_dict";

}  // namespace

Status BlockReader::LoadDictionary() {
  if (with_dictionary_ != nullptr) return Status::OK();
  std::string dictionary;
  const auto found = file_.meta_blocks().find(kDictionaryBlock);
  if (found != file_.meta_blocks().end()) {
    const Status status = file_.ReadBlock(found->second, &dictionary);
    if (!status.ok()) return status;
  }
  with_dictionary_ = std::make_unique<Decompressor>(std::move(dictionary));
  return Status::OK();
}

Status BlockReader::Read(const BlockHandle& handle, Dictionary dictionary,
                         std::string* contents) {
  compression_ = CompressionType::kNone;
  Status status = file_.ReadStored(handle, &stored_, &compression_);
  if (!status.ok()) return status;
  if (compression_ == CompressionType::kNone) {
    contents->swap(stored_);
    return status;
  }
  Decompressor* decompressor = &plain_;
  if (dictionary == Dictionary::kOfFile) {
    status = LoadDictionary();
    if (!status.ok()) return status;
    decompressor = with_dictionary_.get();
  }
  status = decompressor->Decompress(compression_, stored_, contents);
  if (status.ok()) return status;
  const char* why = status.getState();
  if (status.IsCorruption()) return file_.Damaged(handle, "block", why);
  const std::string message = fmt::format(
      "{}: block at offset {}: {}", file_.path(), handle.offset_bytes, why);
  return status.IsNotSupported() ? Status::NotSupported(message)
                                 : Status::MemoryLimit(message);
}

}  // namespace rowbloom::sst

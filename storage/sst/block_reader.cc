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

Status BlockReader::Decompress(const BlockHandle& handle,
                               std::string_view stored, Decompressor* by,
                               std::string* contents) const {
  const Status status = by->Decompress(compression_, stored, contents);
  if (status.ok()) return status;
  const char* why = status.getState();
  if (status.IsCorruption()) return file_.Damaged(handle, "block", why);
  const std::string message = fmt::format(
      "{}: block at offset {}: {}", file_.path(), handle.offset_bytes, why);
  return status.IsNotSupported() ? Status::NotSupported(message)
                                 : Status::MemoryLimit(message);
}

Status BlockReader::ReadData(const BlockHandle& handle,
                             std::string_view* contents) {
  compression_ = CompressionType::kNone;
  Status status = file_.ReadStored(handle, &buffer_, contents, &compression_);
  if (!status.ok() || compression_ == CompressionType::kNone) return status;
  status = LoadDictionary();
  if (!status.ok()) return status;
  status =
      Decompress(handle, *contents, with_dictionary_.get(), &decompressed_);
  *contents = decompressed_;
  return status;
}

Status BlockReader::ReadIndex(const BlockHandle& handle,
                              std::string* contents) {
  compression_ = CompressionType::kNone;
  const Status status = file_.ReadStored(handle, contents, &compression_);
  if (!status.ok() || compression_ == CompressionType::kNone) return status;
  const std::string stored = std::exchange(*contents, {});
  return Decompress(handle, stored, &plain_, contents);
}

}  // namespace rowbloom::sst

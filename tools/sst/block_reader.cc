#include "tools/sst/block_reader.h"

#include <string>
#include <utility>

#include "storage/format/status_text.h"

namespace rowbloom::sst {
namespace {

using rocksdb::Status;

constexpr std::string_view kDictionaryBlock = "rocksdb.compression_dict";

}  // namespace

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

// Replaces the block as it is stored by its contents.
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
  compression_ = CompressionType::kNone;
  Status status = file_.ReadStored(handle, &buffer_, contents, &compression_);
  if (!status.ok() || compression_ == CompressionType::kNone) return status;
  status = LoadDictionary();
  if (!status.ok()) return status;
  return Unpack(handle, dictionary_ ? &*dictionary_ : nullptr, contents);
}

Status BlockReader::ReadIndex(const BlockHandle& handle,
                              std::string_view* contents) {
  compression_ = CompressionType::kNone;
  const Status status =
      file_.ReadStored(handle, &buffer_, contents, &compression_);
  return status.ok() ? Unpack(handle, nullptr, contents) : status;
}

}  // namespace rowbloom::sst

#include "tools/sst/sst_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "storage/format/codec.h"
#include "storage/format/coding.h"
#include "storage/format/status_text.h"

namespace rowbloom::sst {
namespace {

using rocksdb::Status;

constexpr std::string_view kPropertiesBlock = "rocksdb.properties";
// The name of that block up to RocksDB 2.7.
constexpr std::string_view kOldPropertiesBlock = "rocksdb.stats";
constexpr std::string_view kGlobalSequenceNumber =
    "rocksdb.external_sst_file.global_seqno";
constexpr std::string_view kIndexKeyIsUserKey = "rocksdb.index.key.is.user.key";
constexpr std::string_view kIndexValueIsDeltaEncoded =
    "rocksdb.index.value.is.delta.encoded";

constexpr std::string_view kIndexBlock = "rocksdb.index";
constexpr std::string_view kIndexType = "rocksdb.block.based.table.index.type";
constexpr std::string_view kExternalVersion =
    "rocksdb.external_sst_file.version";

constexpr std::string_view kFullFilter = "fullfilter.";
constexpr std::string_view kPartitionedFilter = "partitionedfilter.";
constexpr std::string_view kPerBlockFilter = "filter.";

// Tells whether a name is after all that were read. RocksDB writes names in
// order, once each, and refuses other properties.
template <typename Value>
bool Follows(const std::string& name,
             const std::map<std::string, Value, std::less<>>& read) {
  return read.empty() || read.rbegin()->first < name;
}

}  // namespace

Status SstFile::Open(const std::string& path, std::unique_ptr<SstFile>* file) {
  std::unique_ptr<InputFile> input;
  Status status = InputFile::Open(path, &input);
  if (!status.ok()) return status;
  std::unique_ptr<SstFile> opened(new SstFile(std::move(input)));
  status = opened->Load();
  if (status.ok()) *file = std::move(opened);
  return status;
}

Status SstFile::Load() {
  const uint64_t file_bytes = size_bytes();
  std::string tail(std::min<uint64_t>(file_bytes, kFooterBytes), '\0');
  Status status =
      file_->ReadAt(file_bytes - tail.size(), tail.size(), tail.data());
  if (status.ok()) status = DecodeFooter(path(), tail, file_bytes, &footer_);
  if (status.ok()) status = ReadMetaindex();
  if (status.ok()) status = ReadProperties();
  if (status.ok()) status = FindIndex();
  if (status.ok()) FindFilter();
  if (status.ok()) ReadKeyFormat();
  if (status.ok()) ReadValueFormat();
  return status;
}

Status SstFile::Damaged(const BlockHandle& handle, std::string_view what,
                        std::string_view problem) const {
  return file_->Located(what, handle.offset_bytes, Corruption(problem));
}

Status SstFile::CheckHandle(const BlockHandle& handle) const {
  if (!EndsWithin(handle, footer_.offset_bytes)) {
    return Damaged(handle, "block",
                   fmt::format("{} bytes, expected it to end before the footer "
                               "at offset {}",
                               handle.size_bytes, footer_.offset_bytes));
  }
  if (handle.size_bytes <= kMaxBlockBytes) return Status::OK();
  return file_->Located(
      "block", handle.offset_bytes,
      MemoryLimit(handle.size_bytes, " bytes, expected at most ",
                  kMaxBlockBytes));
}

Status SstFile::ReadWithTrailer(const BlockHandle& handle,
                                std::string* bytes) const {
  const Status status = CheckHandle(handle);
  if (!status.ok()) return status;
  try {
    bytes->resize(handle.size_bytes + kBlockTrailerBytes);
  } catch (const std::bad_alloc&) {
    return file_->Located(
        "block", handle.offset_bytes,
        MemoryLimit("no memory for ", handle.size_bytes, " bytes"));
  }
  return file_->ReadAt(handle.offset_bytes, bytes->size(), bytes->data());
}

Status SstFile::Verify(const BlockHandle& handle, std::string_view bytes,
                       CompressionType* compression) const {
  // The checksum covers the compression type, the trailer's first byte.
  const std::string_view covered = bytes.substr(0, handle.size_bytes + 1);
  const auto stored = LoadFixed<uint32_t>(bytes.data() + covered.size());
  const uint32_t expected =
      Checksum(footer_.checksum_type, covered) +
      ContextModifier(footer_.base_context_checksum, handle.offset_bytes);
  if (stored != expected) {
    return Damaged(handle, "block",
                   fmt::format("{} checksum {:08x} of its {} bytes expected, "
                               "found {:08x}",
                               ToString(footer_.checksum_type), expected,
                               handle.size_bytes, stored));
  }
  *compression = static_cast<CompressionType>(covered.back());
  return Status::OK();
}

Status SstFile::CheckUncompressed(const BlockHandle& handle,
                                  CompressionType compression) const {
  if (compression == CompressionType::kNone) return Status::OK();
  return file_->Located("block", handle.offset_bytes,
                        NotSupported("compressed with ", ToString(compression),
                                     ", expected no compression"));
}

Status SstFile::ReadBlock(const BlockHandle& handle,
                          std::string* contents) const {
  Status status = ReadWithTrailer(handle, contents);
  CompressionType compression{};
  if (status.ok()) status = Verify(handle, *contents, &compression);
  if (!status.ok()) return status;
  contents->resize(handle.size_bytes);
  return CheckUncompressed(handle, compression);
}

Status SstFile::ReadMetaindex() {
  const BlockHandle& metaindex = footer_.metaindex;
  std::string block;
  Status status = ReadBlock(metaindex, &block);
  if (!status.ok()) return status;
  EntryCursor entries(block, ValueForm::kSized, /*keeps_keys=*/true);
  uint64_t named_bytes = 0;
  while (entries.Next()) {
    std::string_view value = entries.value();
    BlockHandle handle;
    if (!GetBlockHandle(&value, &handle)) {
      return Damaged(metaindex, "metaindex",
                     "malformed handle of " + entries.key());
    }
    // The metaindex is written last: the blocks that it names are before it.
    if (!EndsWithin(handle, metaindex.offset_bytes)) {
      return Damaged(
          metaindex, "metaindex",
          fmt::format("{} of {} bytes at offset {}, expected it to "
                      "end before the metaindex",
                      entries.key(), handle.size_bytes, handle.offset_bytes));
    }
    // Many names of one block would make readers read it that many times.
    named_bytes += handle.size_bytes + kBlockTrailerBytes;
    if (named_bytes > metaindex.offset_bytes) {
      return Damaged(
          metaindex, "metaindex",
          fmt::format("names blocks of {} bytes, expected at most the {} "
                      "before it",
                      named_bytes, metaindex.offset_bytes));
    }
    if (!Follows(entries.key(), meta_blocks_)) {
      return Damaged(metaindex, "metaindex", "names out of order");
    }
    meta_blocks_.emplace_hint(meta_blocks_.end(), entries.key(), handle);
  }
  if (entries.status().ok()) return Status::OK();
  return Damaged(metaindex, "metaindex", entries.status().getState());
}

Status SstFile::ReadProperties() {
  auto found = meta_blocks_.find(kPropertiesBlock);
  if (found == meta_blocks_.end()) {
    found = meta_blocks_.find(kOldPropertiesBlock);
  }
  if (found == meta_blocks_.end()) return Status::OK();
  const BlockHandle handle = found->second;
  std::string block;
  Status status = ReadWithTrailer(handle, &block);
  if (!status.ok()) return status;

  std::string sequence_number;
  size_t sequence_number_at = 0;
  EntryCursor entries(std::string_view(block).substr(0, handle.size_bytes),
                      ValueForm::kSized, /*keeps_keys=*/true);
  bool in_order = true;
  while (entries.Next()) {
    if (entries.key() == kGlobalSequenceNumber) {
      sequence_number = entries.value();
      sequence_number_at = entries.value_offset_bytes();
    }
    in_order = in_order && Follows(entries.key(), properties_);
    properties_.insert_or_assign(entries.key(), std::string(entries.value()));
  }

  // Ingestion may write the global sequence number into the finished file. The
  // checksum remains that of the block with a 0 in its place.
  CompressionType compression{};
  status = Verify(handle, block, &compression);
  if (status.IsCorruption() && !sequence_number.empty()) {
    std::string original = block;
    original.replace(sequence_number_at, sequence_number.size(),
                     sequence_number.size(), '\0');
    if (Verify(handle, original, &compression).ok()) status = Status::OK();
  }
  if (status.ok()) status = CheckUncompressed(handle, compression);
  if (status.ok() && !entries.status().ok()) {
    status = Damaged(handle, "properties", entries.status().getState());
  }
  if (status.ok() && !in_order) {
    status = Damaged(handle, "properties", "names out of order");
  }
  return status;
}

std::optional<uint64_t> SstFile::NumberProperty(std::string_view name) const {
  const auto found = properties_.find(name);
  if (found == properties_.end()) return std::nullopt;
  std::string_view text = found->second;
  uint64_t value = 0;
  if (!GetVarint(&text, &value) || !text.empty()) return std::nullopt;
  return value;
}

std::string_view SstFile::TextProperty(std::string_view name) const {
  const auto found = properties_.find(name);
  return found == properties_.end() ? std::string_view() : found->second;
}

Status SstFile::FindIndex() {
  index_.handle = footer_.index;
  if (const auto found = meta_blocks_.find(kIndexBlock);
      !index_.handle && found != meta_blocks_.end()) {
    index_.handle = found->second;
  }
  std::string_view type = TextProperty(kIndexType);
  uint32_t form = 0;
  if (!type.empty() && !GetFixed(&type, &form)) {
    return Corruption(path(), ": property ", kIndexType, " of ", type.size(),
                      " bytes, expected 4");
  }
  constexpr auto kLast = static_cast<uint32_t>(IndexForm::kFirstKey);
  if (form > kLast) {
    return NotSupported(path(), ": index of type ", form, ", expected 0 to ",
                        kLast);
  }
  index_.form = static_cast<IndexForm>(form);
  index_.has_user_keys = NumberProperty(kIndexKeyIsUserKey).value_or(0) != 0;
  index_.delta_encoded =
      NumberProperty(kIndexValueIsDeltaEncoded).value_or(0) != 0;
  return Status::OK();
}

void SstFile::ReadKeyFormat() {
  const std::string_view comparator = TextProperty("rocksdb.comparator");
  key_order_ = KeyOrderOf(comparator);
  // If timestamps are not persisted, flushes strip them from the keys, and the
  // comparator keeps its name.
  const bool persisted =
      NumberProperty("rocksdb.user.defined.timestamps.persisted").value_or(1) !=
      0;
  timestamp_bytes_ = persisted ? TimestampBytesOf(comparator) : 0;
  std::string_view version = TextProperty(kExternalVersion);
  std::string_view sequence = TextProperty(kGlobalSequenceNumber);
  uint32_t number = 0;
  uint64_t global = 0;
  if (GetFixed(&version, &number) && number >= 2 &&
      GetFixed(&sequence, &global) && global <= kMaxSequence) {
    global_sequence_ = global;
  }
}

void SstFile::ReadValueFormat() {
  foreign_manager_ =
      ParseCompressionProperty(footer_.format_version,
                               TextProperty("rocksdb.compression"))
          .foreign_manager;
  has_embedded_blobs_ = properties_.contains("rocksdb.embedded.blob.stats");
}

void SstFile::FindFilter() {
  const std::pair<std::string_view, FilterForm> forms[] = {
      {kFullFilter, FilterForm::kFull},
      {kPartitionedFilter, FilterForm::kPartitioned},
      {kPerBlockFilter, FilterForm::kPerBlock}};
  for (const auto& [prefix, form] : forms) {
    const auto found = meta_blocks_.lower_bound(prefix);
    if (found != meta_blocks_.end() && found->first.starts_with(prefix)) {
      filter_ = {form, found->first.substr(prefix.size()), found->second};
      return;
    }
  }
}

Status SstFile::TakeIndexEntry(const EntryCursor& entries,
                               const BlockHandle& block, std::string_view what,
                               uint64_t* previous_end,
                               IndexEntry* entry) const {
  entry->handle = entries.handle();
  entry->first_key = entries.first_key();
  BlockHandle& handle = entry->handle;
  if (!index_.delta_encoded) {
    std::string_view value = entries.value();
    // The index of the filter's partitions has no first keys.
    const bool has_first_key =
        index_.form == IndexForm::kFirstKey && index_.handle == block;
    if (!GetBlockHandle(&value, &handle) ||
        (has_first_key && !GetSizedBytes(&value, &entry->first_key))) {
      return Damaged(block, what,
                     fmt::format("malformed handle at offset {} of the block",
                                 entries.value_offset_bytes()));
    }
  }
  entry->user_key = entries.key();
  if (!index_.has_user_keys) {
    if (entry->user_key.size() < kInternalKeySuffixBytes) {
      return Damaged(
          block, what,
          fmt::format("key of {} bytes, expected at least {}",
                      entry->user_key.size(), kInternalKeySuffixBytes));
    }
    entry->user_key.remove_suffix(kInternalKeySuffixBytes);
  }
  if (handle.offset_bytes < *previous_end ||
      !EndsWithin(handle, block.offset_bytes)) {
    return Damaged(
        block, what,
        fmt::format("names a block of {} bytes at offset {}, expected between "
                    "offsets {} and {}",
                    handle.size_bytes, handle.offset_bytes, *previous_end,
                    block.offset_bytes));
  }
  *previous_end = handle.offset_bytes + handle.size_bytes + kBlockTrailerBytes;
  return Status::OK();
}

Status SstFile::FilterPartitions(
    std::vector<FilterPartition>* partitions) const {
  const BlockHandle& index = filter_.handle;
  switch (filter_.form) {
    case FilterForm::kNone:
    case FilterForm::kPerBlock:
      partitions->clear();
      return Status::OK();
    case FilterForm::kFull:
      partitions->assign(1, {"", index});
      return Status::OK();
    case FilterForm::kPartitioned:
      break;
  }

  std::string block;
  Status status = ReadBlock(index, &block);
  if (!status.ok()) return status;
  std::vector<FilterPartition> result;
  // RocksDB writes an empty block when it added no key to any partition.
  if (block.empty()) {
    *partitions = std::move(result);
    return Status::OK();
  }
  constexpr std::string_view kWhat = "index of filter partitions";
  EntryCursor entries(
      block, index_.delta_encoded ? ValueForm::kHandle : ValueForm::kSized,
      /*keeps_keys=*/true);
  uint64_t previous_end = 0;
  while (entries.Next()) {
    IndexEntry entry;
    status = TakeIndexEntry(entries, index, kWhat, &previous_end, &entry);
    if (!status.ok()) return status;
    result.push_back({std::string(entry.user_key), entry.handle});
  }
  if (!entries.status().ok()) {
    return Damaged(index, kWhat, entries.status().getState());
  }
  *partitions = std::move(result);
  return Status::OK();
}

}  // namespace rowbloom::sst

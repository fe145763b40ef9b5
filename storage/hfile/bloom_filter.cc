#include "storage/hfile/bloom_filter.h"

#include "rowbloom/printable.h"
#include "storage/format/coding.h"
#include "storage/format/status_text.h"
#include "storage/hfile/cell.h"
#include "storage/hfile/vlong.h"

namespace rowbloom::hfile {
namespace {

using rocksdb::Status;

// More hashes than any useful filter has. A lookup takes a step for each.
constexpr uint32_t kMaxHashCount = 64;
constexpr uint32_t kMaxHashType = static_cast<uint32_t>(HFileHash::kMurmur3);

// Returns the number of times that `full_bytes` is halved to give
// `folded_bytes`; nullopt if no number does.
std::optional<uint32_t> FoldsBetween(uint64_t full_bytes,
                                     uint64_t folded_bytes) {
  for (uint32_t folds = 0; full_bytes >= folded_bytes; ++folds) {
    if (full_bytes == folded_bytes) return folds;
    if (full_bytes % 2 != 0) break;
    full_bytes /= 2;
  }
  return std::nullopt;
}

}  // namespace

Status ParseBloomDescription(const FileInfo& file_info,
                             BloomDescription* description) {
  const std::string* name = Find(file_info, info::kBloomType);
  if (name == nullptr) {
    return Status::Corruption("no BLOOM_FILTER_TYPE beside a Bloom filter");
  }
  const Result<BloomType> type = BloomTypeFromString(*name);
  if (!type || *type == BloomType::kNone) {
    return NotSupported("BLOOM_FILTER_TYPE \"", ToPrintable(*name), "\"");
  }
  description->type = *type;
  if (*type == BloomType::kRowPrefixFixedLength) {
    std::optional<uint32_t> bytes;
    const Status status = FindNumber(file_info, info::kBloomParameter, &bytes);
    if (!status.ok()) return status;
    description->prefix_bytes = bytes.value_or(0);
    if (description->prefix_bytes < 1 ||
        description->prefix_bytes > kHFileMaxRowBytes) {
      return Corruption("BLOOM_FILTER_PARAM ", bytes ? "" : "is missing, ",
                        description->prefix_bytes, ", expected 1 to ",
                        kHFileMaxRowBytes);
    }
  }
  const std::string* last_key = Find(file_info, info::kLastBloomKey);
  description->has_last_key = last_key != nullptr;
  if (last_key != nullptr) description->last_key = *last_key;
  HFileKey parsed;
  if (*type == BloomType::kRowCol &&
      (last_key == nullptr || !ParseKey(*last_key, &parsed))) {
    return Status::Corruption(
        "LAST_BLOOM_KEY of a ROWCOL filter is missing or malformed");
  }
  return Status::OK();
}

Status ParseBloomFilter(BloomType type, uint64_t end_at, BloomFilter* filter) {
  std::string_view cursor = filter->block.payload;
  uint32_t version = 0;
  uint32_t hash_type = 0;
  std::string_view comparator;
  HFileBloomInfo& info = filter->info;
  info.type = type;
  if (!GetBig(&cursor, &version)) return Status::Corruption("cut short");
  if (version != kBloomMetaVersion) {
    return NotSupported("Bloom filter of version ", version, ", expected ",
                        kBloomMetaVersion);
  }
  if (!GetBig(&cursor, &info.bytes) || !GetBig(&cursor, &info.hash_count) ||
      !GetBig(&cursor, &hash_type) || !GetBig(&cursor, &info.key_count) ||
      !GetBig(&cursor, &info.max_keys) || !GetBig(&cursor, &info.chunk_count) ||
      !GetByteArray(&cursor, &comparator)) {
    return Status::Corruption("cut short");
  }
  if (info.hash_count < 1 || info.hash_count > kMaxHashCount) {
    return Corruption(info.hash_count, " hashes per key, expected 1 to ",
                      kMaxHashCount);
  }
  if (hash_type > kMaxHashType) {
    return NotSupported("hash type ", hash_type, ", expected 0 to ",
                        kMaxHashType);
  }
  info.hash = static_cast<HFileHash>(hash_type);
  KeyForm form = KeyForm::kBytes;
  if (!comparator.empty()) {
    switch (ComparatorOf(comparator)) {
      case Comparator::kCells:
        form = KeyForm::kCellKey;
        break;
      case Comparator::kRawBytes:
        break;
      case Comparator::kMeta:
        return Status::NotSupported("comparator of hbase:meta");
    }
  }
  std::string_view rest;
  return RootIndex::Parse(cursor, info.chunk_count, form, end_at,
                          &filter->chunks, &rest);
}

std::optional<ChunkPlan> PlanChunks(const HFileBloomInfo& info,
                                    uint64_t full_bytes, uint64_t last_bytes) {
  constexpr uint64_t kMaxChunkKeys = uint64_t{1} << 31;  // as many as bits
  if (info.chunk_count == 0 || info.key_count == 0 ||
      info.max_keys / info.chunk_count > kMaxChunkKeys) {
    return std::nullopt;
  }
  const std::optional<uint32_t> folds = FoldsBetween(full_bytes, last_bytes);
  if (info.chunk_count == 1) {
    if (info.key_count > info.max_keys) return std::nullopt;
    return ChunkPlan{.last_keys = info.key_count,
                     .last_max_keys = info.max_keys,
                     .last_folds = folds};
  }
  if (!folds) return std::nullopt;
  // max_keys = full_chunks * full_keys + (full_keys >> folds), where the shift
  // rounds down. Only one full_keys satisfies this.
  const uint64_t full_chunks = info.chunk_count - 1;
  const uint64_t shares = (full_chunks << *folds) + 1;
  ChunkPlan plan{.last_folds = folds};
  plan.full_keys = ((info.max_keys << *folds) + shares - 1) / shares;
  plan.last_max_keys = plan.full_keys >> *folds;
  const uint64_t before = full_chunks * plan.full_keys;
  if (before + plan.last_max_keys != info.max_keys ||
      info.key_count <= before ||
      info.key_count - before > plan.last_max_keys) {
    return std::nullopt;
  }
  plan.last_keys = info.key_count - before;
  return plan;
}

std::string RowColBloomKey(std::string_view row, std::string_view qualifier) {
  std::string key;
  AppendKey({.row = row, .qualifier = qualifier}, &key);
  return key;
}

std::string BloomKey(const BloomDescription& description, std::string_view row,
                     std::string_view qualifier) {
  if (description.type == BloomType::kRowCol) {
    return RowColBloomKey(row, qualifier);
  }
  return std::string(description.type == BloomType::kRowPrefixFixedLength
                         ? row.substr(0, description.prefix_bytes)
                         : row);
}

Comparator ComparatorOf(std::string_view class_name) {
  const auto ends = [&](std::string_view name) {
    return class_name.ends_with(name);
  };
  if (ends("MetaComparator") || ends("MetaKeyComparator") ||
      ends("MetaCellComparator")) {
    return Comparator::kMeta;
  }
  if (ends("RawBytesComparator") || ends("ByteArrayComparator")) {
    return Comparator::kRawBytes;
  }
  // Applications have classes of other names, but with this order: HBase could
  // read nothing else.
  return Comparator::kCells;
}

}  // namespace rowbloom::hfile

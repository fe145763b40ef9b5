#include "tools/sst_inspect/key_format.h"

#include <fmt/format.h>

#include <algorithm>

#include "rowbloom/filter_block.h"
#include "rowbloom/printable.h"
#include "storage/sst/coding.h"
#include "tools/sst_inspect/text.h"

namespace rowbloom::sst_inspect {
namespace {

// rowbloom's prefix extractor is named so, with its layout.
constexpr std::string_view kRowExtractorPrefix = "rowbloom.row:";

// Of the first filter block that can be read, empty if it is not rowbloom's.
std::string LayoutOfFilter(const TableFile& file) {
  std::vector<sst::FilterPartition> partitions;
  if (!file.FilterPartitions(&partitions).ok()) return "";
  std::string contents;
  for (const sst::FilterPartition& partition : partitions) {
    if (!file.ReadFilter(partition.handle, &contents).ok()) continue;
    const FilterBlock block = FilterBlock::Open(contents);
    // An untrusted directory names no layout.
    return block.sections().empty() ? "" : block.layout_id();
  }
  return "";
}

}  // namespace

std::string KeyFormat::Text(std::string_view bytes) const {
  return hex ? ToHex(bytes) : ToPrintable(bytes);
}

std::string KeyFormat::ShortText(std::string_view bytes) const {
  constexpr size_t kMaxBytes = 32;
  if (bytes.size() <= kMaxBytes) return Text(bytes);
  return Text(bytes.substr(0, kMaxBytes)) + "...";
}

std::string_view KeyFormat::WithoutTimestamp(std::string_view user_key) const {
  user_key.remove_suffix(std::min(timestamp_bytes, user_key.size()));
  return user_key;
}

std::optional<uint64_t> KeyFormat::TimestampOf(
    std::string_view user_key) const {
  if (timestamp_bytes == 0) return std::nullopt;
  std::string_view in = user_key.substr(WithoutTimestamp(user_key).size());
  uint64_t value = 0;
  if (!sst::GetFixed64(&in, &value)) return std::nullopt;
  return value;
}

std::optional<SplitKey> KeyFormat::Split(std::string_view key) const {
  return layout ? layout->Split(key) : std::nullopt;
}

std::string KeyFormat::RowText(std::string_view row_bytes) const {
  const auto row = layout ? layout->DecodeRow(row_bytes) : std::nullopt;
  return Text(row ? *row : row_bytes);
}

rocksdb::Status FormatOf(const TableFile& file, const std::string& layout_id,
                         bool hex, KeyFormat* format) {
  format->hex = hex;
  format->timestamp_bytes = file.timestamp_bytes();
  std::string id = layout_id;
  if (id.empty()) id = LayoutOfFilter(file);
  if (id.empty()) {
    const std::string extractor = file.Facts().prefix_extractor;
    if (extractor.starts_with(kRowExtractorPrefix)) {
      id = extractor.substr(kRowExtractorPrefix.size());
    }
  }
  if (id.empty()) return rocksdb::Status::OK();
  const auto layout = KeyLayout::FromString(id);
  if (layout) {
    format->layout = *layout;
  } else if (!layout_id.empty()) {
    return rocksdb::Status::InvalidArgument("--key-layout: " + layout.error());
  }
  return rocksdb::Status::OK();
}

}  // namespace rowbloom::sst_inspect

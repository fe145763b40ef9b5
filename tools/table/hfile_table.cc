#include "tools/table/hfile_table.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <optional>

#include "lib/bytes/text.h"
#include "rowbloom/printable.h"
#include "storage/format/coding.h"
#include "storage/hfile/block_walk.h"
#include "storage/hfile/cell.h"
#include "storage/hfile/data_block.h"
#include "storage/hfile/file_info.h"
#include "storage/hfile/index_walk.h"
#include "storage/hfile/iterator.h"
#include "tools/cli/report.h"
#include "tools/table/key_format.h"

namespace rowbloom::table {
namespace {

using rocksdb::Status;

class HFileCellReader final : public CellReader {
 public:
  explicit HFileCellReader(const HFileTable& file)
      : file_(file), at_(file.reader(), kOptions) {}

  void SkipTo(std::string_view key) override {
    if (const auto column = ParseHFileColumn(key)) {
      Seek({.row = column->row,
            .family = column->family,
            .qualifier = column->qualifier});
    }
  }
  void SkipToRow(std::string_view row) override { Seek({.row = row}); }

  bool Next() override {
    if (started_) {
      if (at_.Valid()) at_.Next();
    } else if (!sought_) {
      at_.SeekToFirst();
    }
    started_ = true;
    if (!at_.Valid()) {
      file_.ReadUpTo(file_.size_bytes());
      return false;
    }
    if (at_.block().offset != block_offset_) {
      block_offset_ = at_.block().offset;
      file_.ReadUpTo(block_offset_);
    }
    key_.clear();
    hfile::AppendKey(at_.cell().key(), &key_);
    return true;
  }
  Cell cell() const override {
    const HFileCellView& cell = at_.cell();
    return {.user_key = key_,
            .sequence = static_cast<uint64_t>(cell.mvcc),
            .type = static_cast<uint8_t>(cell.type),
            .value = cell.value,
            .tags = cell.tags};
  }
  const Status& status() const override { return at_.status(); }

 private:
  void Seek(const HFileKey& key) {
    if (file_.key_order() == sst::KeyOrder::kUnknown) return;
    at_.Seek(key);
    sought_ = true;
  }

  static constexpr HFileReadOptions kOptions{.fill_cache = false};

  const HFileTable& file_;
  hfile::Iterator at_;
  bool sought_ = false;
  bool started_ = false;
  uint64_t block_offset_ = UINT64_MAX;
  std::string key_;
};

// Converts the type of a block.
BlockType TypeOf(hfile::BlockType type) {
  using enum BlockType;
  // In the order of hfile::BlockType.
  static constexpr BlockType kTypes[] = {
      kData,        kEncodedData,       kLeafIndex, kBloomChunk,
      kMeta,        kIntermediateIndex, kRootIndex, kFileInfo,
      kBloomFilter, kBloomFilter};
  static_assert(std::size(kTypes) == hfile::kBlockTypes);
  return kTypes[static_cast<size_t>(type)];
}

// The names of chunks and meta blocks, by their types and offsets.
using BlockNames = std::map<std::pair<hfile::BlockType, uint64_t>, std::string>;

BlockNames NamesOf(const hfile::Reader& reader) {
  BlockNames names;
  const auto add_chunks = [&](const std::optional<hfile::BloomFilter>& filter,
                              const char* name) {
    for (size_t i = 0; filter && i < filter->chunks.size(); ++i) {
      names.try_emplace(
          {hfile::BlockType::kBloomChunk, filter->chunks.location(i).offset},
          name);
    }
  };
  add_chunks(reader.general_bloom(), "general");
  add_chunks(reader.delete_family_bloom(), "delete family");
  const hfile::RootIndex& meta = reader.meta_root();
  for (size_t i = 0; i < meta.size(); ++i) {
    names.try_emplace({hfile::BlockType::kMeta, meta.location(i).offset},
                      meta.key(i));
  }
  return names;
}

// Returns the name of a block among several of its type.
std::string BlockNameOf(const BlockNames& names, const hfile::Reader& reader,
                        hfile::BlockType type, uint64_t offset) {
  switch (type) {
    case hfile::BlockType::kGeneralBloomMeta:
      return "general";
    case hfile::BlockType::kDeleteFamilyBloomMeta:
      return "delete family";
    case hfile::BlockType::kRootIndex:
      return offset == reader.trailer().load_on_open_offset ? "data" : "meta";
    default:
      const auto name = names.find({type, offset});
      return name == names.end() ? "" : name->second;
  }
}

namespace info = hfile::info;

// In the order of hfile::ChecksumType.
constexpr std::string_view kChecksumNames[] = {"none", "CRC32", "CRC32C"};

// Returns the number of this name; nullopt if there is none.
template <typename Number>
std::optional<uint64_t> NumberOf(const hfile::FileInfo& file_info,
                                 const char* name) {
  std::optional<Number> value;
  const Status status = hfile::FindNumber(file_info, name, &value);
  return status.ok() && value ? std::optional<uint64_t>(*value) : std::nullopt;
}

std::optional<std::string> TimeRangeText(const hfile::FileInfo& file_info) {
  bool found = false;
  hfile::TimeRange range;
  const auto status = hfile::FindTimeRange(file_info, &found, &range);
  if (!status.ok() || !found) return std::nullopt;
  // The range of a file without cells.
  if (range.min_ms > range.max_ms) return "none";
  return fmt::format("{} to {}", range.min_ms, range.max_ms);
}

KeyFormat TextFormat() {
  return {.form = KeyForm::kHFile,
          .timestamp_bytes = hfile::kTimestampTypeBytes};
}

// The form of the bytes of a file info entry.
enum class InfoForm : uint8_t { kBytes, kNumber, kFlag, kKey, kTimeRange };

InfoForm FormOf(std::string_view name) {
  static const std::map<std::string_view, InfoForm> kForms = {
      {info::kAverageKeyBytes, InfoForm::kNumber},
      {info::kAverageValueBytes, InfoForm::kNumber},
      {info::kBiggestCellBytes, InfoForm::kNumber},
      {info::kBiggestCellKey, InfoForm::kKey},
      {info::kBloomParameter, InfoForm::kNumber},
      {info::kBulkLoadTime, InfoForm::kNumber},
      {info::kCreateTime, InfoForm::kNumber},
      {info::kDeleteFamilyCount, InfoForm::kNumber},
      {info::kEarliestPut, InfoForm::kNumber},
      {info::kExcludeFromMinor, InfoForm::kFlag},
      {info::kHistorical, InfoForm::kFlag},
      {info::kKeyValueVersion, InfoForm::kNumber},
      {info::kLastKey, InfoForm::kKey},
      {info::kMajorCompaction, InfoForm::kFlag},
      {info::kMaxMvcc, InfoForm::kNumber},
      {info::kMaxSequenceId, InfoForm::kNumber},
      {info::kMaxTagsBytes, InfoForm::kNumber},
      {info::kTagsCompressed, InfoForm::kFlag},
      {info::kTimeRange, InfoForm::kTimeRange},
      {"MOB_CELLS_COUNT", InfoForm::kNumber},
      {"SKIP_RESET_SEQ_ID", InfoForm::kFlag}};
  const auto form = kForms.find(name);
  return form == kForms.end() ? InfoForm::kBytes : form->second;
}

// Decodes a number. A negative one becomes text, since Property::number is
// unsigned.
void DecodeNumber(Property* property) {
  int64_t value = 0;
  if (property->bytes.size() == sizeof(uint32_t)) {
    value = static_cast<int32_t>(LoadBig<uint32_t>(property->bytes.data()));
  } else if (property->bytes.size() == sizeof(uint64_t)) {
    value = static_cast<int64_t>(LoadBig<uint64_t>(property->bytes.data()));
  } else {
    return;
  }
  if (value >= 0) {
    property->number = static_cast<uint64_t>(value);
  } else {
    property->text = fmt::format("{}", value);
  }
}

// Decodes a property. It stays bytes if its size is not that of the form.
void Decode(InfoForm form, Property* property) {
  HFileKey key;
  switch (form) {
    case InfoForm::kBytes:
      return;
    case InfoForm::kNumber:
      return DecodeNumber(property);
    case InfoForm::kFlag:
      if (property->bytes.size() == 1) {
        property->text = property->bytes[0] != 0 ? "true" : "false";
      }
      return;
    case InfoForm::kKey:
      if (hfile::ParseKey(property->bytes, &key)) {
        property->text = TextFormat().KeyText(property->bytes);
      }
      return;
    case InfoForm::kTimeRange:
      if (const auto text =
              TimeRangeText({{info::kTimeRange, property->bytes}})) {
        property->text = *text;
      }
      return;
  }
}

Status CheckIndexBlock(const hfile::Reader& reader,
                       const hfile::BlockWalk& walk) {
  const Status status =
      hfile::NonRootIndex::Check(walk.block().payload, reader.index_key_form(),
                                 reader.trailer().load_on_open_offset);
  return status.ok()
             ? status
             : reader.file().Located("index block", walk.offset(), status);
}

}  // namespace

Status HFileTable::Open(const std::string& path,
                        std::unique_ptr<TableFile>* table) {
  std::unique_ptr<HFileReader> opened;
  // Blocks of any size that the writer writes: one has the whole of a value.
  const Status status = hfile::Reader::Open(
      {.max_data_block_bytes = kHFileMaxBlockBytes}, path, &opened);
  if (!status.ok()) return status;
  table->reset(new HFileTable(std::unique_ptr<hfile::Reader>(
      static_cast<hfile::Reader*>(opened.release()))));
  return status;
}

HFileTable::HFileTable(std::unique_ptr<hfile::Reader> reader)
    : TableFile({.path = reader->path(),
                 .size_bytes = reader->file_bytes(),
                 .key_order = reader->comparator() == hfile::Comparator::kCells
                                  ? sst::KeyOrder::kBytewise
                                  : sst::KeyOrder::kUnknown,
                 .key_form = KeyForm::kHFile,
                 .timestamp_bytes = hfile::kTimestampTypeBytes,
                 .index_keys_come_first = true,
                 .filter_part = "chunk"}),
      reader_(std::move(reader)) {}

Status HFileTable::ForEachBlock(
    Blocks which, const std::function<void(const BlockInfo&)>& use) const {
  const BlockNames names = NamesOf(*reader_);
  hfile::BlockWalk walk(*reader_);
  while (walk.Next()) {
    ReadUpTo(walk.offset());
    BlockInfo block{.type = BlockType::kGap,
                    .offset_bytes = walk.offset(),
                    .stored_bytes = walk.block_bytes(),
                    .status = walk.status()};
    if (walk.has_header()) {
      const hfile::BlockHeader& header = walk.block().header;
      block.type = TypeOf(header.type);
      block.name = BlockNameOf(names, *reader_, header.type, walk.offset());
      block.compression = ToString(reader_->trailer().compression);
      const bool is_index = block.type == BlockType::kLeafIndex ||
                            block.type == BlockType::kIntermediateIndex;
      if (block.status.ok() && is_index && reader_->is_readable()) {
        block.status = CheckIndexBlock(*reader_, walk);
      }
      if (block.status.ok()) block.contents_bytes = header.payload_bytes;
      if (block.status.ok() && block.type == BlockType::kEncodedData &&
          reader_->is_readable()) {
        const auto encoding = hfile::EncodingOf(walk.block().payload);
        block.encoding = encoding ? ToString(*encoding) : "unknown";
      }
    }
    if (which == Blocks::kAllButData && IsData(block.type)) continue;
    use(block);
  }
  ReadUpTo(size_bytes());
  use({.type = BlockType::kTrailer,
       .offset_bytes = reader_->blocks_end(),
       .stored_bytes = size_bytes() - reader_->blocks_end()});
  return Status::OK();
}

Status HFileTable::ForEachIndexEntry(
    const std::function<void(const IndexEntryInfo&)>& use) const {
  if (!reader_->is_readable()) return reader_->CellsStatus();
  if (reader_->data_root().size() == 0) {
    // The root of an index with entries of an unknown form is empty, too.
    return reader_->trailer().data_index_count == 0 ? Status::OK()
                                                    : reader_->CellsStatus();
  }
  const Status status = hfile::ForEachDataIndexEntry(
      *reader_, [&](const hfile::DataIndexEntry& entry) {
        ReadUpTo(entry.location.offset);
        use({.partition = entry.leaf,
             .user_key = entry.key,
             .handle = {entry.location.offset, entry.location.block_bytes}});
      });
  ReadUpTo(size_bytes());
  return status;
}

std::unique_ptr<CellReader> HFileTable::NewCellReader() const {
  return std::make_unique<HFileCellReader>(*this);
}

int HFileTable::CompareCells(const Cell& a, const Cell& b) const {
  return hfile::CompareIndexKeys(hfile::KeyForm::kCellKey, a.user_key,
                                 b.user_key);
}

std::string HFileTable::TypeName(uint8_t type) const {
  return HFileTypeName(type);
}

std::string SectionName(BloomType type) {
  return type == BloomType::kRowPrefixFixedLength ? "ROWPREFIX"
                                                  : std::string(ToString(type));
}

std::string FilterPolicyText(const hfile::Reader& reader) {
  if (reader.GeneralBloom() == nullptr) return "";
  const hfile::BloomDescription& description = reader.bloom_description();
  std::string text =
      "HBase " + std::string(rowbloom::ToString(description.type));
  if (description.type == BloomType::kRowPrefixFixedLength) {
    text += fmt::format(" of {} bytes", description.prefix_bytes);
  }
  return text;
}

TableFacts HFileTable::Facts() const {
  const HFileTrailer& trailer = reader_->trailer();
  const hfile::FileInfo& file_info = reader_->file_info();
  TableFacts facts;
  facts.format =
      fmt::format("HFile v{}.{}", trailer.major_version, trailer.minor_version);
  facts.checksum =
      reader_->is_readable()
          ? NameOf(reader_->data_root_header().checksum, kChecksumNames)
          : "unknown";
  facts.comparator = trailer.comparator;
  facts.compression = rowbloom::ToString(trailer.compression);
  facts.index_form = trailer.data_index_levels == 1
                         ? "1 level"
                         : fmt::format("{} levels", trailer.data_index_levels);
  facts.entries = trailer.entry_count;
  if (trailer.data_index_levels == 1) {
    facts.data_blocks = trailer.data_index_count;
  }
  facts.index_bytes = trailer.uncompressed_data_index_bytes;
  facts.uncompressed_bytes = trailer.total_uncompressed_bytes;
  facts.average_key_bytes =
      NumberOf<uint32_t>(file_info, info::kAverageKeyBytes);
  facts.average_value_bytes =
      NumberOf<uint32_t>(file_info, info::kAverageValueBytes);
  facts.family_deletions =
      NumberOf<uint64_t>(file_info, info::kDeleteFamilyCount);
  if (const auto created_ms =
          NumberOf<uint64_t>(file_info, info::kCreateTime)) {
    if (*created_ms > 0) facts.creation_time = *created_ms / 1000;
  }

  const HFileBloomInfo* general = reader_->GeneralBloom();
  const HFileBloomInfo* delete_family = reader_->DeleteFamilyBloom();
  facts.filter_form = "none";
  if (general != nullptr || delete_family != nullptr) {
    facts.filter_form = "compound";
    facts.filter_policy = FilterPolicyText(*reader_);
    facts.filter_bytes = (general == nullptr ? 0 : general->bytes) +
                         (delete_family == nullptr ? 0 : delete_family->bytes);
    if (delete_family != nullptr) {
      facts.filter_policy +=
          facts.filter_policy.empty() ? "delete family" : " + delete family";
    }
  } else if (!reader_->BloomStatus().ok()) {
    facts.filter_form = "unusable";
  }

  const auto first = reader_->FirstKey();
  const auto last = reader_->LastKey();
  if (first) facts.column_family = first->family;
  if (first && last) {
    facts.details.push_back(
        {"rows", fmt::format("{} to {}", ToPrintable(first->row),
                             ToPrintable(last->row))});
  }
  if (const auto times = TimeRangeText(file_info)) {
    facts.details.push_back({"times", *times});
  }
  if (reader_->encoding() != HFileEncoding::kNone) {
    facts.details.push_back(
        {"encoding", std::string(rowbloom::ToString(reader_->encoding()))});
  }
  if (!reader_->CellsStatus().ok()) {
    facts.details.push_back({"cells", cli::Describe(reader_->CellsStatus())});
  }
  return facts;
}

std::vector<Property> HFileTable::Properties() const {
  const HFileTrailer& trailer = reader_->trailer();
  std::vector<Property> properties;
  const auto number = [&](std::string_view name, uint64_t value) {
    properties.push_back({fmt::format("trailer.{}", name), "", value, ""});
  };
  const auto text = [&](std::string_view name, std::string value) {
    properties.push_back(
        {fmt::format("trailer.{}", name), "", std::nullopt, std::move(value)});
  };
  const auto offset = [&](std::string_view name,
                          const std::optional<uint64_t>& value) {
    value ? number(name, *value) : text(name, "none");
  };
  text("version",
       fmt::format("{}.{}", trailer.major_version, trailer.minor_version));
  number("file_info_offset", trailer.file_info_offset);
  number("load_on_open_offset", trailer.load_on_open_offset);
  number("uncompressed_data_index_bytes",
         trailer.uncompressed_data_index_bytes);
  number("total_uncompressed_bytes", trailer.total_uncompressed_bytes);
  number("data_index_count", trailer.data_index_count);
  number("meta_index_count", trailer.meta_index_count);
  number("entry_count", trailer.entry_count);
  number("data_index_levels", trailer.data_index_levels);
  offset("first_data_block_offset", trailer.first_data_block_offset);
  offset("last_data_block_offset", trailer.last_data_block_offset);
  text("comparator", ToPrintable(trailer.comparator));
  text("compression", rowbloom::ToString(trailer.compression));
  text("encrypted", trailer.encrypted ? "true" : "false");

  for (const auto& [name, bytes] : reader_->file_info()) {
    Property property{name, bytes, std::nullopt, ""};
    InfoForm form = FormOf(name);
    // In other filters the entry is a row, or the prefix of one.
    if (name == info::kLastBloomKey &&
        reader_->bloom_description().type == BloomType::kRowCol) {
      form = InfoForm::kKey;
    }
    Decode(form, &property);
    properties.push_back(std::move(property));
  }
  return properties;
}

}  // namespace rowbloom::table

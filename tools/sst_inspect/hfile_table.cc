#include "tools/sst_inspect/hfile_table.h"

#include <map>
#include <optional>
#include <utility>

#include "storage/hfile/block_walk.h"
#include "storage/hfile/cell.h"
#include "storage/hfile/data_block.h"
#include "storage/hfile/index_walk.h"
#include "storage/hfile/iterator.h"
#include "storage/hfile/trailer.h"
#include "tools/sst_inspect/key_format.h"

namespace rowbloom::sst_inspect {
namespace {

using rocksdb::Status;

class HFileCellReader final : public CellReader {
 public:
  HFileCellReader(const HFileTable& file, const TableFile::Progress& progress)
      : file_(file), progress_(progress), at_(file.reader(), kOptions) {}

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
      if (progress_) progress_(file_.size_bytes());
      return false;
    }
    if (progress_ && at_.block().offset != block_offset_) {
      block_offset_ = at_.block().offset;
      progress_(block_offset_);
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
  const TableFile::Progress& progress_;
  hfile::Iterator at_;
  bool sought_ = false;
  bool started_ = false;
  uint64_t block_offset_ = UINT64_MAX;
  std::string key_;
};

// The entry of each block of an index, by the block's offset.
std::map<uint64_t, size_t> EntriesOf(const hfile::RootIndex& index) {
  std::map<uint64_t, size_t> entries;
  for (size_t entry = 0; entry < index.size(); ++entry) {
    entries.try_emplace(index.location(entry).offset, entry);
  }
  return entries;
}

const hfile::RootIndex& ChunksOf(
    const std::optional<hfile::BloomFilter>& filter) {
  static const hfile::RootIndex kNone;
  return filter ? filter->chunks : kNone;
}

// Says of each block what it is.
class BlockNamer {
 public:
  explicit BlockNamer(const hfile::Reader& reader)
      : reader_(reader),
        general_(EntriesOf(ChunksOf(reader.general_bloom()))),
        delete_family_(EntriesOf(ChunksOf(reader.delete_family_bloom()))),
        meta_(EntriesOf(reader.meta_root())) {}

  void Name(hfile::BlockType type, BlockInfo* block) const {
    const uint64_t offset = block->offset_bytes;
    switch (type) {
      case hfile::BlockType::kData:
        block->type = BlockType::kData;
        return;
      case hfile::BlockType::kEncodedData:
        block->type = BlockType::kEncodedData;
        return;
      case hfile::BlockType::kLeafIndex:
        block->type = BlockType::kLeafIndex;
        return;
      case hfile::BlockType::kIntermediateIndex:
        block->type = BlockType::kIntermediateIndex;
        return;
      case hfile::BlockType::kBloomChunk:
        block->type = BlockType::kBloomChunk;
        block->name = general_.contains(offset)         ? kGeneral
                      : delete_family_.contains(offset) ? kDeleteFamily
                                                        : "";
        return;
      case hfile::BlockType::kMeta:
        block->type = BlockType::kMeta;
        if (const auto entry = meta_.find(offset); entry != meta_.end()) {
          block->name = reader_.meta_root().key(entry->second);
        }
        return;
      case hfile::BlockType::kRootIndex:
        block->type = BlockType::kRootIndex;
        block->name =
            offset == reader_.trailer().load_on_open_offset ? "data" : "meta";
        return;
      case hfile::BlockType::kFileInfo:
        block->type = BlockType::kFileInfo;
        return;
      case hfile::BlockType::kGeneralBloomMeta:
        block->type = BlockType::kBloomFilter;
        block->name = kGeneral;
        return;
      case hfile::BlockType::kDeleteFamilyBloomMeta:
        block->type = BlockType::kBloomFilter;
        block->name = kDeleteFamily;
        return;
    }
  }

 private:
  static constexpr const char* kGeneral = "general";
  static constexpr const char* kDeleteFamily = "delete family";

  const hfile::Reader& reader_;
  const std::map<uint64_t, size_t> general_;
  const std::map<uint64_t, size_t> delete_family_;
  const std::map<uint64_t, size_t> meta_;
};

}  // namespace

Status HFileTable::Open(const std::string& path,
                        std::unique_ptr<TableFile>* table) {
  std::unique_ptr<HFileReader> opened;
  const Status status = hfile::Reader::Open({}, path, &opened);
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
                 .timestamp_bytes = kHFileKeySuffixBytes,
                 .index_keys_come_first = true,
                 .filter_part = "chunk"}),
      reader_(std::move(reader)) {}

Status HFileTable::ForEachBlock(
    Blocks which, const std::function<void(const BlockInfo&)>& use) const {
  const BlockNamer namer(*reader_);
  const bool ordered = reader_->comparator() == hfile::Comparator::kCells;
  hfile::BlockWalk walk(*reader_);
  while (walk.Next()) {
    if (progress()) progress()(walk.offset());
    BlockInfo block{.type = BlockType::kGap,
                    .offset_bytes = walk.offset(),
                    .stored_bytes = walk.block_bytes(),
                    .status = walk.status()};
    if (walk.has_header()) {
      const hfile::BlockHeader& header = walk.block().header;
      namer.Name(header.type, &block);
      block.compression = ToString(reader_->trailer().compression);
      const bool is_index = block.type == BlockType::kLeafIndex ||
                            block.type == BlockType::kIntermediateIndex;
      if (block.status.ok() && is_index && reader_->is_readable()) {
        block.status = hfile::NonRootIndex::Check(walk.block().payload,
                                                  reader_->bounds(), ordered);
        if (!block.status.ok()) {
          block.status = reader_->file().Located("index block", walk.offset(),
                                                 block.status);
        }
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
  if (progress()) progress()(size_bytes());
  use({.type = BlockType::kTrailer,
       .offset_bytes = size_bytes() - hfile::kTrailerBytes,
       .stored_bytes = hfile::kTrailerBytes});
  return Status::OK();
}

Status HFileTable::ForEachIndexEntry(
    const std::function<void(const IndexEntryInfo&)>& use) const {
  if (!reader_->is_readable()) return reader_->CellsStatus();
  if (reader_->data_root().size() == 0) {
    // Nothing was taken from an index whose entries have another form.
    return reader_->trailer().data_index_count == 0 ? Status::OK()
                                                    : reader_->CellsStatus();
  }
  return hfile::ForEachDataIndexEntry(
      *reader_, [&](const hfile::DataIndexEntry& entry) {
        use({.partition = entry.leaf,
             .user_key = entry.key,
             .handle = {entry.location.offset, entry.location.block_bytes}});
      });
}

std::unique_ptr<CellReader> HFileTable::NewCellReader() const {
  return std::make_unique<HFileCellReader>(*this, progress());
}

int HFileTable::CompareCells(const Cell& a, const Cell& b) const {
  return hfile::CompareIndexKeys(hfile::KeyForm::kCellKey, a.user_key,
                                 b.user_key);
}

std::string HFileTable::TypeName(uint8_t type) const {
  return HFileTypeName(type);
}

}  // namespace rowbloom::sst_inspect

#include "tools/table/sst_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "lib/bytes/text.h"
#include "rowbloom/printable.h"
#include "storage/format/coding.h"
#include "tools/cli/text.h"
#include "tools/sst/block_reader.h"
#include "tools/sst/data_cursor.h"
#include "tools/sst/index_cursor.h"

namespace rowbloom::table {
namespace {

using rocksdb::Status;
using sst::BlockHandle;
using sst::kBlockTrailerBytes;

class SstCellReader final : public CellReader {
 public:
  explicit SstCellReader(const SstTable& file)
      : file_(file), data_(file.file()), blobs_(file.file()) {}

  void SkipTo(std::string_view user_key) override { data_.SkipTo(user_key); }
  bool Next() override {
    if (!status_.ok()) return false;
    while (!data_.NextEntry()) {
      if (!data_.block_status().ok()) return false;
      const bool more = data_.NextBlock();
      file_.ReadUpTo(more ? data_.block().offset_bytes : file_.size_bytes());
      if (!more) return false;
    }
    is_blob_ = IsEmbeddedBlob(file_.file(), data_.key().type, data_.value());
    if (is_blob_) status_ = blobs_.Read(data_.value(), &blob_);
    return status_.ok();
  }
  Cell cell() const override {
    const sst::InternalKey& key = data_.key();
    const sst::EntryType type = is_blob_ ? sst::EntryType::kPut : key.type;
    return {.user_key = key.user_key,
            .sequence = key.sequence,
            .type = static_cast<uint8_t>(type),
            .value = is_blob_ ? blob_ : data_.value()};
  }
  const Status& status() const override {
    return status_.ok() ? data_.status() : status_;
  }

 private:
  const SstTable& file_;
  sst::DataCursor data_;
  sst::EmbeddedBlobReader blobs_;
  // The value of the present entry, if it is an embedded blob.
  bool is_blob_ = false;
  std::string blob_;
  Status status_;  // of reading embedded blobs
};

// The start of the name of a user-defined index block.
constexpr std::string_view kUserIndex = "rocksdb.user_defined_index.";

// In the order of the enums. SstFile opens no file with another form.
constexpr std::string_view kIndexForms[] = {"binary search", "hash search",
                                            "two levels",
                                            "binary search with first keys"};
constexpr std::string_view kFilterForms[] = {"none", "full", "partitioned",
                                             "per data block"};

BlockType TypeOfMetaBlock(std::string_view name) {
  if (name == "rocksdb.properties" || name == "rocksdb.stats") {
    return BlockType::kProperties;
  }
  if (name == "rocksdb.range_del") return BlockType::kRangeDeletions;
  if (name == "rocksdb.compression_dict") return BlockType::kDictionary;
  if (name == "rocksdb.index") return BlockType::kIndex;
  if (name.starts_with("partitionedfilter.")) return BlockType::kFilterIndex;
  if (name.starts_with("fullfilter.") || name.starts_with("filter.")) {
    return BlockType::kFilter;
  }
  return BlockType::kMeta;
}

BlockInfo InfoOf(BlockType type, const BlockHandle& handle) {
  return {.type = type,
          .offset_bytes = handle.offset_bytes,
          .stored_bytes = handle.size_bytes + kBlockTrailerBytes};
}

// Returns the value of a property that is a number, else nullopt.
std::optional<uint64_t> NumberOf(const sst::SstFile& file,
                                 std::string_view name,
                                 std::string_view bytes) {
  // Properties of text or bytes. Their value could pass for a varint.
  static const std::set<std::string_view> kBytes = {
      "rocksdb.block.based.table.decoupled.partitioned.filters",
      "rocksdb.block.based.table.prefix.filtering",
      "rocksdb.block.based.table.whole.key.filtering",
      "rocksdb.column.family.name",
      "rocksdb.comparator",
      "rocksdb.creating.db.identity",
      "rocksdb.creating.host.identity",
      "rocksdb.filter.policy",
      "rocksdb.merge.operator",
      "rocksdb.prefix.extractor.name",
      "rocksdb.seqno.time.map",
      "rocksdb.timestamp_max",
      "rocksdb.timestamp_min"};
  uint32_t narrow = 0;
  uint64_t wide = 0;
  if (name == "rocksdb.block.based.table.index.type" ||
      name == "rocksdb.external_sst_file.version") {
    if (GetFixed(&bytes, &narrow) && bytes.empty()) return narrow;
  } else if (name == "rocksdb.external_sst_file.global_seqno") {
    if (GetFixed(&bytes, &wide) && bytes.empty()) return wide;
  } else if (name.starts_with("rocksdb.") && !kBytes.contains(name)) {
    return file.NumberProperty(name);
  }
  return std::nullopt;
}

}  // namespace

Status SstTable::Open(const std::string& path,
                      std::unique_ptr<TableFile>* table) {
  std::unique_ptr<sst::SstFile> file;
  const Status status = sst::SstFile::Open(path, &file);
  if (status.ok()) table->reset(new SstTable(std::move(file)));
  return status;
}

TableFacts SstTable::Facts() const {
  const auto text = [this](std::string_view name) {
    return std::string(file_->TextProperty(name));
  };
  const auto number = [this](std::string_view name) {
    return file_->NumberProperty(name);
  };
  TableFacts facts;
  facts.format = fmt::format("RocksDB table, format_version {}",
                             file_->footer().format_version);
  facts.checksum = ToString(file_->footer().checksum_type);
  facts.comparator = text("rocksdb.comparator");
  facts.column_family = text("rocksdb.column.family.name");
  facts.compression =
      sst::ParseCompressionProperty(file_->footer().format_version,
                                    file_->TextProperty("rocksdb.compression"))
          .codecs;
  facts.index_form = NameOf(file_->index().form, kIndexForms);
  facts.filter_form = NameOf(file_->filter().form, kFilterForms);
  facts.filter_policy = text("rocksdb.filter.policy");
  if (facts.filter_policy.empty()) {
    facts.filter_policy = file_->filter().compatibility_name;
  }
  facts.prefix_extractor = text("rocksdb.prefix.extractor.name");
  facts.whole_key_filter =
      text("rocksdb.block.based.table.whole.key.filtering") != "0";
  facts.prefix_filter =
      text("rocksdb.block.based.table.prefix.filtering") == "1";
  facts.entries = number("rocksdb.num.entries");
  facts.deletions = number("rocksdb.deleted.keys");
  facts.merges = number("rocksdb.merge.operands");
  facts.range_deletions = number("rocksdb.num.range-deletions");
  facts.filter_entries = number("rocksdb.num.filter_entries");
  facts.raw_key_bytes = number("rocksdb.raw.key.size");
  facts.raw_value_bytes = number("rocksdb.raw.value.size");
  facts.data_blocks = number("rocksdb.num.data.blocks");
  facts.data_bytes = number("rocksdb.data.size");
  facts.has_embedded_blobs = file_->has_embedded_blobs();
  facts.index_bytes = number("rocksdb.index.size");
  facts.filter_bytes = number("rocksdb.filter.size");
  facts.creation_time = number("rocksdb.file.creation.time");
  if (facts.creation_time.value_or(0) == 0) {
    facts.creation_time = number("rocksdb.creation.time");
  }
  if (facts.creation_time.value_or(0) == 0) facts.creation_time.reset();
  AddDetails(&facts);
  return facts;
}

// Adds facts about features that tables of format_version 6 lack.
void SstTable::AddDetails(TableFacts* facts) const {
  const auto add = [facts](std::string name, std::string text) {
    facts->details.emplace_back(std::move(name), std::move(text));
  };
  const auto number = [this](std::string_view name) {
    return file_->NumberProperty(name).value_or(0);
  };
  if (!file_->foreign_manager().empty()) {
    add("codecs", "those of the compression manager " +
                      ToPrintable(file_->foreign_manager()));
  }
  if (number("rocksdb.separate.key.value.in.data.block") != 0) {
    add("values", "apart from the keys of their block");
  }
  if (std::string_view stats =
          file_->TextProperty("rocksdb.embedded.blob.stats");
      file_->has_embedded_blobs()) {
    uint64_t count = 0;
    uint64_t bytes = 0;
    add("blobs", GetVarint(&stats, &count) && GetVarint(&stats, &bytes)
                     ? fmt::format("{} embedded, {}", cli::Grouped(count),
                                   cli::HumanBytes(bytes))
                     : "embedded, of unknown number");
  }
  if (const uint64_t blocks = number("rocksdb.num.uniform.blocks")) {
    add("spread", fmt::format("keys are even in {} of the index blocks",
                              cli::Grouped(blocks)));
  }
  const auto& meta = file_->meta_blocks();
  if (const auto block = meta.lower_bound(kUserIndex);
      block != meta.end() && block->first.starts_with(kUserIndex)) {
    const bool is_primary = number("rocksdb.udi.is.primary.index") != 0;
    add("udi", fmt::format("index {} of {}{}, not read",
                           ToPrintable(block->first.substr(kUserIndex.size())),
                           cli::HumanBytes(block->second.size_bytes),
                           is_primary ? ", the primary one" : ""));
  }
}

std::vector<Property> SstTable::Properties() const {
  std::vector<Property> properties;
  for (const auto& [name, bytes] : file_->properties()) {
    properties.push_back(
        {name, bytes, NumberOf(*file_, name, bytes), /*text=*/{}});
  }
  return properties;
}

// Finds the blocks that the footer and the metaindex name, and the partitions
// of index and filter.
Status SstTable::FindMetaBlocks(std::vector<BlockInfo>* blocks) const {
  const auto add = [blocks](BlockType type, const BlockHandle& handle) {
    blocks->push_back(InfoOf(type, handle));
    return &blocks->back();
  };
  const sst::Footer& footer = file_->footer();
  add(BlockType::kMetaindex, footer.metaindex);
  for (const auto& [name, handle] : file_->meta_blocks()) {
    add(TypeOfMetaBlock(name), handle)->name = name;
  }
  if (footer.index) add(BlockType::kIndex, *footer.index);
  Status status;
  if (file_->filter().form == sst::FilterForm::kPartitioned) {
    std::vector<sst::FilterPartition> partitions;
    status = file_->FilterPartitions(&partitions);
    size_t number = 0;
    for (const sst::FilterPartition& partition : partitions) {
      add(BlockType::kFilterPartition, partition.handle)->partition = ++number;
    }
  }
  if (file_->index().form != sst::IndexForm::kTwoLevel) return status;
  size_t last = 0;
  sst::IndexCursor index(*file_);
  const auto add_new = [&] {
    if (index.partition() == last) return;
    last = index.partition();
    add(BlockType::kIndexPartition, index.block())->partition = last;
  };
  for (;;) {
    while (index.Next()) add_new();
    if (index.status().ok()) return status;
    const Status damage = index.status();
    add_new();
    if (!index.SkipDamagedPartition()) {  // it is in the index block itself
      return status.ok() ? damage : status;
    }
    blocks->back().status = damage;
  }
}

void SstTable::ReadMetaBlock(BlockInfo* block) const {
  const BlockHandle handle{block->offset_bytes,
                           block->stored_bytes - kBlockTrailerBytes};
  // Open verified the properties, and allowed for the change that ingestion
  // makes in them.
  if (block->type == BlockType::kProperties) {
    block->contents_bytes = handle.size_bytes;
    block->compression = "none";
    return;
  }
  sst::BlockReader reader(*file_);
  std::string_view contents;
  const Status status = reader.ReadMeta(handle, &contents);
  // Its status may already have a problem of its entries.
  if (block->status.ok()) block->status = status;
  block->compression = ToString(reader.compression());
  if (block->status.ok()) block->contents_bytes = contents.size();
}

Status SstTable::ForEachBlock(
    Blocks which, const std::function<void(const BlockInfo&)>& use) const {
  std::vector<BlockInfo> others;
  Status status = FindMetaBlocks(&others);
  if (which == Blocks::kAllButData) {
    for (BlockInfo& block : others) {
      ReadMetaBlock(&block);
      use(block);
    }
    return status;
  }

  std::ranges::stable_sort(others, {}, &BlockInfo::offset_bytes);
  const BlockType between =
      file_->has_embedded_blobs() ? BlockType::kBlobs : BlockType::kGap;
  uint64_t end = 0;  // of the blocks that `use` has received
  const auto pass = [&](const BlockInfo& block) {
    if (block.offset_bytes > end) {
      use({.type = between,
           .offset_bytes = end,
           .stored_bytes = block.offset_bytes - end});
    }
    use(block);
    end = std::max(end, block.offset_bytes + block.stored_bytes);
  };
  auto next = others.begin();
  const auto pass_others_before = [&](uint64_t offset_bytes) {
    for (; next != others.end() && next->offset_bytes < offset_bytes; ++next) {
      ReadMetaBlock(&*next);
      pass(*next);
    }
  };
  sst::DataCursor data(*file_);
  do {
    while (data.NextBlock()) {
      BlockInfo block = InfoOf(BlockType::kData, data.block());
      block.status = data.block_status();
      block.compression = ToString(data.compression());
      if (block.status.ok()) block.contents_bytes = data.contents_bytes();
      block.partition = data.index().partition();
      pass_others_before(block.offset_bytes);
      pass(block);
      ReadUpTo(block.offset_bytes);
    }
    // The status of an index partition was reported with the partition.
    if (status.ok() && file_->index().form != sst::IndexForm::kTwoLevel) {
      status = data.index().status();
    }
  } while (data.SkipDamagedPartition());
  ReadUpTo(size_bytes());
  pass_others_before(UINT64_MAX);
  pass({.type = BlockType::kFooter,
        .offset_bytes = file_->footer().offset_bytes,
        .stored_bytes = sst::kFooterBytes});
  return status;
}

Status SstTable::ForEachIndexEntry(
    const std::function<void(const IndexEntryInfo&)>& use) const {
  sst::IndexCursor index(*file_);
  while (index.Next()) {
    ReadUpTo(index.handle().offset_bytes);
    use({index.partition(), index.user_key(), index.first_key(),
         index.handle()});
  }
  ReadUpTo(size_bytes());
  return index.status();
}

int SstTable::CompareCells(const Cell& a, const Cell& b) const {
  const int keys =
      CompareUserKeys(key_order(), timestamp_bytes(), a.user_key, b.user_key);
  if (keys != 0) return keys;
  if (a.sequence != b.sequence) return a.sequence > b.sequence ? -1 : 1;
  return static_cast<int>(b.type) - static_cast<int>(a.type);
}

std::unique_ptr<CellReader> SstTable::NewCellReader() const {
  return std::make_unique<SstCellReader>(*this);
}

Status SstTable::ForEachRangeDeletion(
    const std::function<void(const RangeDeletion&)>& use) const {
  return sst::ForEachRangeDeletion(*file_, use);
}

}  // namespace rowbloom::table

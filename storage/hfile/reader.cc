#include "storage/hfile/reader.h"

#include <algorithm>
#include <array>
#include <new>

#include "lib/bytes/text.h"
#include "rowbloom/printable.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/status_text.h"
#include "storage/hfile/bloom_chunk.h"
#include "storage/hfile/codec.h"
#include "storage/hfile/iterator.h"
#include "storage/hfile/trailer.h"

namespace rowbloom::hfile {
namespace {

using rocksdb::Status;

// HBase writes two after the file info. Without a limit, a large file could
// have millions of empty ones.
constexpr size_t kMaxLoadOnOpenBlocks = 100;

}  // namespace

Reader::~Reader() {
  if (cache_ != nullptr) cache_->Erase(file_id_);
}

Status Reader::Open(const HFileReaderOptions& options, const std::string& path,
                    std::unique_ptr<HFileReader>* reader) {
  return CatchNoMemory(path, [&] {
    std::unique_ptr<Reader> opened(new Reader(options));
    const Status status = opened->Load(path);
    if (status.ok()) *reader = std::move(opened);
    return status;
  });
}

Status Reader::Load(const std::string& path) {
  Status status = InputFile::Open(path, &file_);
  if (status.ok()) status = LoadTrailer();
  if (!status.ok()) return status;
  blocks_ =
      std::make_unique<BlockReader>(*file_, trailer_.compression, options_);
  cache_ = options_.block_cache;
  if (cache_ == nullptr) {
    cache_ = NewHFileBlockCache(options_.block_cache_bytes);
  }
  file_id_ = cache_->NewFileId();
  comparator_ = ComparatorOf(trailer_.comparator);
  if (is_readable()) return LoadOnOpen();
  // Only the trailer can be read.
  cells_status_ = bloom_status_ = NotSupported(
      file_->path(), ": ",
      trailer_.encrypted
          ? "the file is encrypted"
          : Concat("compressed with ", ToString(trailer_.compression)),
      ", which is not supported");
  return Status::OK();
}

Status Reader::LoadTrailer() {
  const uint64_t tail_bytes =
      std::min<uint64_t>(file_->size_bytes(), kTrailerBytes);
  std::array<char, kTrailerBytes> tail;
  Status status =
      file_->ReadAt(file_->size_bytes() - tail_bytes, tail_bytes, tail.data());
  if (!status.ok()) return status;
  status =
      ParseTrailer({tail.data(), tail_bytes}, file_->size_bytes(), &trailer_);
  if (status.ok()) return status;
  const uint64_t bytes = std::min<uint64_t>(tail_bytes, TrailerBytes(trailer_));
  return file_->Located("trailer", file_->size_bytes() - bytes, status);
}

// Reads the block of this type at `*offset` and moves `*offset` past it.
Status Reader::LoadBlock(uint64_t* offset, BlockType type, Block* block) {
  BlockHeader header;
  Status status = blocks_->ReadHeader(*offset, blocks_end(), &header);
  if (!status.ok()) return status;
  const BlockLocation location{*offset,
                               static_cast<uint32_t>(header.block_bytes())};
  Buffer scratch;
  status = blocks_->Read(location, type, block, &scratch);
  *offset += location.block_bytes;
  return status;
}

Status Reader::LoadOnOpen() {
  uint64_t offset = trailer_.load_on_open_offset;
  Block file_info_block;
  Status status = LoadBlock(&offset, BlockType::kRootIndex, &data_root_block_);
  if (status.ok()) {
    status = LoadBlock(&offset, BlockType::kRootIndex, &meta_root_block_);
  }
  if (status.ok()) {
    status = LoadBlock(&offset, BlockType::kFileInfo, &file_info_block);
  }
  if (!status.ok()) return status;
  if (file_info_block.payload.size() > kMaxFileInfoBytes) {
    return file_->Located(
        "file info", file_info_block.offset,
        MemoryLimit(file_info_block.payload.size(), " bytes, expected at most ",
                    kMaxFileInfoBytes));
  }
  status = ParseFileInfo(file_info_block.payload, &file_info_);
  if (status.ok()) status = InterpretFileInfo();
  if (!status.ok()) {
    return file_->Located("file info", file_info_block.offset, status);
  }

  std::string_view rest;
  // The entries of an encoded index have another form.
  if (Find(file_info_, info::kIndexBlockEncoding) == nullptr ||
      *Find(file_info_, info::kIndexBlockEncoding) == "NONE") {
    status = RootIndex::Parse(data_root_block_.payload,
                              trailer_.data_index_count, index_key_form(),
                              trailer_.load_on_open_offset, &data_root_, &rest);
    // The data of entries beyond the trailer's count would never be read.
    const size_t rest_bytes = trailer_.data_index_levels > 1 ? kMidKeyBytes : 0;
    if (status.ok() && rest.size() != rest_bytes) {
      status = Corruption(
          rest.size(), " bytes after the ", trailer_.data_index_count,
          " entries that the trailer counts, expected ", rest_bytes);
    }
    if (!status.ok()) {
      return file_->Located("data index", data_root_block_.offset, status);
    }
  }
  status = RootIndex::Parse(meta_root_block_.payload, trailer_.meta_index_count,
                            KeyForm::kName, trailer_.load_on_open_offset,
                            &meta_root_, &rest);
  if (!status.ok()) {
    return file_->Located("meta index", meta_root_block_.offset, status);
  }
  LoadBlooms(offset);
  return Status::OK();
}

Status Reader::InterpretFileInfo() {
  const std::string* last_key = Find(file_info_, info::kLastKey);
  HFileKey key;
  if (last_key != nullptr && comparator_ != Comparator::kRawBytes &&
      !ParseKey(*last_key, &key)) {
    return Corruption(info::kLastKey, " of ", last_key->size(),
                      " bytes is not the key of a cell");
  }
  for (const char* name : {info::kAverageKeyBytes, info::kAverageValueBytes}) {
    std::optional<uint32_t> value;
    const Status status = FindNumber(file_info_, name, &value);
    if (!status.ok()) return status;
  }
  const auto refuse = [this](std::string_view why) {
    cells_status_ = NotSupported(file_->path(), ": ", why);
  };
  if (comparator_ == Comparator::kRawBytes) {
    refuse(Concat("comparator ", ToPrintable(trailer_.comparator),
                  ": its keys are not those of cells"));
  }
  const std::string* encoding = Find(file_info_, info::kDataBlockEncoding);
  if (encoding != nullptr) {
    const auto known = FindEncoding(*encoding);
    encoding_ = known.value_or(HFileEncoding::kNone);
    if (!known.has_value()) {
      refuse(Concat("unsupported encoding ", ToPrintable(*encoding),
                    " of data blocks"));
    }
  }
  encoding = Find(file_info_, info::kIndexBlockEncoding);
  if (encoding != nullptr && *encoding != "NONE") {
    refuse(Concat("unsupported encoding ", ToPrintable(*encoding),
                  " of index blocks"));
  }
  return FindCellForm();
}

Status Reader::FindCellForm() {
  std::optional<uint32_t> version;
  Status status = FindNumber(file_info_, info::kKeyValueVersion, &version);
  if (!status.ok()) return status;
  cell_form_.mvcc = version == 1U;
  if (cell_form_.mvcc) {
    std::optional<uint64_t> max_mvcc;
    status = FindNumber(file_info_, info::kMaxMvcc, &max_mvcc);
    if (!status.ok()) return status;
    if (!max_mvcc) {
      return Corruption(info::kMaxMvcc, " is missing beside ",
                        info::kKeyValueVersion, " 1");
    }
    cell_form_.mvcc_is_zero = *max_mvcc == 0;
  }
  cell_form_.tags = Find(file_info_, info::kMaxTagsBytes) != nullptr;
  std::optional<uint8_t> compressed;
  status = FindNumber(file_info_, info::kTagsCompressed, &compressed);
  cell_form_.tags_compressed = compressed.value_or(0) != 0;
  return status;
}

void Reader::LoadBlooms(uint64_t offset) {
  const uint64_t end = blocks_end();
  for (size_t blocks = 0; offset < end; ++blocks) {
    BlockHeader header;
    Status status = blocks_->ReadHeader(offset, end, &header);
    if (status.ok() && blocks == kMaxLoadOnOpenBlocks) {
      status = file_->Located(
          "load-on-open section", trailer_.load_on_open_offset,
          Corruption("more than ", blocks, " blocks after the file info"));
    }
    if (!status.ok()) {
      bloom_status_ = status;
      return;
    }
    LoadBloom({offset, static_cast<uint32_t>(header.block_bytes())},
              header.type);
    offset += header.block_bytes();
  }
}

// Loads a filter, unless it has loaded one of the same type.
void Reader::LoadBloom(const BlockLocation& location, BlockType type) {
  const bool general = type == BlockType::kGeneralBloomMeta;
  if (!general && type != BlockType::kDeleteFamilyBloomMeta) return;
  std::optional<BloomFilter>& filter =
      general ? general_bloom_ : delete_family_bloom_;
  if (filter.has_value()) return;
  Status status;
  if (general) {
    status = ParseBloomDescription(file_info_, &bloom_description_);
  }
  BloomFilter loaded;
  Buffer scratch;
  if (status.ok()) {
    status = blocks_->Read(location, type, &loaded.block, &scratch);
    if (status.ok()) {
      status =
          ParseBloomFilter(general ? bloom_description_.type : BloomType::kRow,
                           trailer_.load_on_open_offset, &loaded);
    }
  }
  if (!status.ok()) {
    // A filter of a kind that is not read may be sound, another is damaged.
    if (bloom_status_.ok() || bloom_status_.IsNotSupported()) {
      bloom_status_ = file_->Located("Bloom filter", location.offset, status);
    }
    return;
  }
  filter = std::move(loaded);
}

bool Reader::is_readable() const {
  return !trailer_.encrypted && CodecOf(trailer_.compression).has_value();
}

uint64_t Reader::blocks_end() const {
  return file_->size_bytes() - TrailerBytes(trailer_);
}

std::optional<HFileKey> Reader::FirstKey() const {
  HFileKey key;
  if (data_root_.size() == 0 || !ParseKey(data_root_.key(0), &key)) {
    return std::nullopt;
  }
  return key;
}

std::optional<HFileKey> Reader::LastKey() const {
  const std::string* last_key = Find(file_info_, info::kLastKey);
  HFileKey key;
  if (last_key == nullptr || !ParseKey(*last_key, &key)) return std::nullopt;
  return key;
}

std::shared_ptr<const Block> Reader::FindCached(const BlockLocation& location,
                                                BlockType type) const {
  std::shared_ptr<const Block> block = cache_->Find(file_id_, location.offset);
  // Another index entry may have named another type or size for this place.
  if (block != nullptr &&
      (block->header.type != type ||
       block->header.block_bytes() != location.block_bytes)) {
    return nullptr;
  }
  return block;
}

Status Reader::CachedBlock(const BlockLocation& location, BlockType type,
                           std::shared_ptr<const Block>* block) const {
  *block = FindCached(location, type);
  if (*block != nullptr) return Status::OK();
  auto loaded = std::make_shared<Block>();
  Buffer scratch;
  Status status = blocks_->Read(location, type, loaded.get(), &scratch);
  if (status.ok() && (type == BlockType::kLeafIndex ||
                      type == BlockType::kIntermediateIndex)) {
    status = NonRootIndex::Check(loaded->payload, index_key_form(),
                                 trailer_.load_on_open_offset);
    if (!status.ok()) {
      return file_->Located("index block", location.offset, status);
    }
  }
  if (!status.ok()) return status;
  cache_->Insert(file_id_, loaded);
  *block = std::move(loaded);
  return status;
}

std::unique_ptr<HFileIterator> Reader::NewIterator(
    const HFileReadOptions& options) const {
  return std::make_unique<Iterator>(*this, options);
}

Status Reader::Collect(const HFileKey& column, bool whole_row,
                       std::vector<HFileCell>* cells) const {
  cells->clear();
  if (!cells_status_.ok()) return cells_status_;
  // No file has such names, and their lengths would not fit into a key.
  if (column.row.size() > kHFileMaxRowBytes ||
      column.family.size() > kHFileMaxFamilyBytes) {
    return Status::OK();
  }
  if (whole_row ? !MayContainRow(column.row)
                : !MayContainRowCol(column.row, column.qualifier)) {
    return Status::OK();
  }
  Iterator at(*this, {});
  uint64_t bytes = 0;
  for (at.Seek(column); at.Valid(); at.Next()) {
    const HFileCellView& cell = at.cell();
    if (cell.row != column.row) break;
    if (!whole_row &&
        (cell.family != column.family || cell.qualifier != column.qualifier)) {
      break;
    }
    bytes += KeyBytes(cell.key()) + cell.value.size() + cell.tags.size();
    if (bytes > options_.max_get_bytes) {
      return MemoryLimit(file_->path(), ": cells of row \"",
                         ToPrintable(column.row), "\" have more than ",
                         options_.max_get_bytes, " bytes");
    }
    cells->emplace_back(cell);
  }
  return at.status();
}

Status Reader::GetRow(std::string_view row,
                      std::vector<HFileCell>* cells) const {
  return CatchNoMemory(
      path(), [&] { return Collect({.row = row}, /*whole_row=*/true, cells); });
}

Status Reader::GetColumn(std::string_view row, std::string_view family,
                         std::string_view qualifier,
                         std::vector<HFileCell>* cells) const {
  return CatchNoMemory(path(), [&] {
    return Collect({.row = row, .family = family, .qualifier = qualifier},
                   /*whole_row=*/false, cells);
  });
}

const HFileBloomInfo* Reader::GeneralBloom() const {
  return general_bloom_.has_value() ? &general_bloom_->info : nullptr;
}

const HFileBloomInfo* Reader::DeleteFamilyBloom() const {
  return delete_family_bloom_.has_value() ? &delete_family_bloom_->info
                                          : nullptr;
}

HFileBloomStats Reader::BloomStats() const {
  const uint64_t absent = bloom_absent_.load(std::memory_order_relaxed);
  return {bloom_passed_.load(std::memory_order_relaxed) + absent, absent,
          bloom_unusable_.load(std::memory_order_relaxed)};
}

Status Reader::CachedChunk(const BloomFilter& filter, size_t entry,
                           std::shared_ptr<const Block>* chunk) const {
  const BlockLocation location = filter.chunks.location(entry);
  const Status status = CachedBlock(location, BlockType::kBloomChunk, chunk);
  if (!status.ok()) return status;
  const size_t bytes = (*chunk)->payload.size();
  if (bytes > 0 && bytes <= kMaxChunkBytes) return status;
  return file_->Located(
      "Bloom chunk", location.offset,
      Corruption(bytes, " bytes, expected 1 to ", kMaxChunkBytes));
}

bool Reader::Probe(const BloomFilter& filter, std::string_view key) const {
  bool may = false;
  const size_t entry = filter.chunks.Find(key);
  if (entry < filter.chunks.size()) {
    std::shared_ptr<const Block> chunk;
    const Status status = CatchNoMemory(
        path(), [&] { return CachedChunk(filter, entry, &chunk); });
    if (!status.ok()) {
      bloom_unusable_.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
    may = ChunkMayContain(chunk->payload, filter.info.hash,
                          filter.info.hash_count, key);
  }
  (may ? bloom_passed_ : bloom_absent_).fetch_add(1, std::memory_order_relaxed);
  return may;
}

bool Reader::ProbeForRow(std::string_view key) const {
  if (bloom_description_.has_last_key && key > bloom_description_.last_key) {
    bloom_absent_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  return Probe(*general_bloom_, key);
}

bool Reader::MayContainWithoutFilter() const {
  if (!bloom_status_.ok()) {
    bloom_unusable_.fetch_add(1, std::memory_order_relaxed);
  }
  return true;
}

bool Reader::MayContainRow(std::string_view row) const {
  if (!general_bloom_.has_value()) return MayContainWithoutFilter();
  if (trailer_.entry_count == 0) return false;
  switch (bloom_description_.type) {
    case BloomType::kRow:
      return ProbeForRow(row);
    case BloomType::kRowPrefixFixedLength:
      return ProbeForRow(row.substr(0, bloom_description_.prefix_bytes));
    default:
      return true;
  }
}

bool Reader::MayContainRowCol(std::string_view row,
                              std::string_view qualifier) const {
  if (!general_bloom_.has_value() ||
      bloom_description_.type != BloomType::kRowCol) {
    return MayContainRow(row);
  }
  if (trailer_.entry_count == 0) return false;
  // No file has a row of this size, and its length would not fit into a key.
  if (row.size() > kHFileMaxRowBytes) return false;
  std::string row_key;
  std::string key;
  try {
    // Family deletes have the empty qualifier, the first one of a row.
    row_key = RowColBloomKey(row, {});
    key = RowColBloomKey(row, qualifier);
  } catch (const std::bad_alloc&) {
    bloom_unusable_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  if (CompareIndexKeys(KeyForm::kCellKey, row_key,
                       bloom_description_.last_key) > 0) {
    bloom_absent_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  return Probe(*general_bloom_, key) ||
         (!qualifier.empty() && Probe(*general_bloom_, row_key));
}

bool Reader::MayContainScan(std::string_view start_row,
                            std::string_view stop_row) const {
  if (!general_bloom_.has_value()) return MayContainWithoutFilter();
  const uint32_t prefix_bytes = bloom_description_.prefix_bytes;
  if (bloom_description_.type != BloomType::kRowPrefixFixedLength) return true;
  const auto shared =
      static_cast<size_t>(std::mismatch(start_row.begin(), start_row.end(),
                                        stop_row.begin(), stop_row.end())
                              .first -
                          start_row.begin());
  if (shared < prefix_bytes) return true;
  if (trailer_.entry_count == 0) return false;
  return ProbeForRow(start_row.substr(0, prefix_bytes));
}

bool Reader::MayContainDeleteFamily(std::string_view row) const {
  if (!is_readable()) return MayContainWithoutFilter();
  if (trailer_.entry_count == 0) return false;
  std::optional<uint64_t> count;
  const Status status = CatchNoMemory(path(), [&] {
    return FindNumber(file_info_, info::kDeleteFamilyCount, &count);
  });
  if (!status.ok() || !count) return true;
  if (*count == 0) return false;
  return delete_family_bloom_.has_value() ? Probe(*delete_family_bloom_, row)
                                          : MayContainWithoutFilter();
}

bool Reader::KeyRangeMayContain(std::string_view start_row,
                                std::string_view stop_row) const {
  if (!is_readable() || comparator_ != Comparator::kCells) {
    return true;
  }
  if (trailer_.entry_count == 0) return false;
  const std::optional<HFileKey> first = FirstKey();
  const std::optional<HFileKey> last = LastKey();
  return (!first.has_value() || stop_row.empty() || stop_row >= first->row) &&
         (!last.has_value() || start_row <= last->row);
}

bool Reader::TimeRangeMayContain(int64_t min_ms, int64_t max_ms) const {
  bool found = false;
  TimeRange range;
  const Status status = CatchNoMemory(
      path(), [&] { return FindTimeRange(file_info_, &found, &range); });
  if (!status.ok() || !found) return true;
  return range.min_ms <= max_ms && min_ms <= range.max_ms;
}

std::vector<std::string> Reader::MetaBlockNames() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < meta_root_.size(); ++i) {
    names.emplace_back(meta_root_.key(i));
  }
  return names;
}

Status Reader::ReadMetaBlock(std::string_view name,
                             std::string* contents) const {
  return CatchNoMemory(path(), [&] {
    for (size_t i = 0; i < meta_root_.size(); ++i) {
      if (meta_root_.key(i) != name) continue;
      Block block;
      Buffer scratch;
      const Status status = blocks_->Read(meta_root_.location(i),
                                          BlockType::kMeta, &block, &scratch);
      if (status.ok()) *contents = block.payload;
      return status;
    }
    return NotFound(path(), ": no meta block \"", ToPrintable(name), "\"");
  });
}

}  // namespace rowbloom::hfile

namespace rowbloom {

rocksdb::Status HFileReader::Open(const HFileReaderOptions& options,
                                  const std::string& path,
                                  std::unique_ptr<HFileReader>* reader) {
  return hfile::Reader::Open(options, path, reader);
}

}  // namespace rowbloom

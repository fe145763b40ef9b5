// Implements HFileWriter. Writes blocks in HBase's order, so that the same
// cells and options give the same bytes.
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lib/bytes/text.h"
#include "rowbloom/hfile_cell.h"
#include "rowbloom/hfile_format.h"
#include "rowbloom/hfile_reader.h"
#include "rowbloom/printable.h"
#include "storage/format/key_text.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/output_file.h"
#include "storage/format/status_text.h"
#include "storage/format/wall_clock.h"
#include "storage/hfile/block_writer.h"
#include "storage/hfile/bloom_filter.h"
#include "storage/hfile/bloom_writer.h"
#include "storage/hfile/cell.h"
#include "storage/hfile/codec.h"
#include "storage/hfile/data_block.h"
#include "storage/hfile/file_form.h"
#include "storage/hfile/file_info.h"
#include "storage/hfile/index_writer.h"
#include "storage/hfile/tag_dictionary.h"
#include "storage/hfile/trailer.h"

namespace rowbloom::hfile {
namespace {

using rocksdb::Status;

Status CheckRange(std::string_view option, uint64_t value, uint64_t least,
                  uint64_t most) {
  if (value >= least && value <= most) return Status::OK();
  return InvalidArgument(option, " ", value, ", expected ", least, " to ",
                         most);
}

Status CheckBloomOptions(const FileForm& options) {
  if (!(options.bloom_error_rate > 0 && options.bloom_error_rate < 1)) {
    return InvalidArgument("bloom_error_rate ",
                           std::to_string(options.bloom_error_rate),
                           ", expected one between 0 and 1");
  }
  Status status;
  if (options.bloom_type == BloomType::kRowPrefixFixedLength) {
    status = CheckRange("bloom_prefix_bytes", options.bloom_prefix_bytes, 1,
                        kHFileMaxRowBytes);
  }
  if (!status.ok()) return status;
  const ChunkSizing sizing =
      SizeChunk(options.bloom_block_bytes,
                ChunkErrorRate(options.bloom_type, options.bloom_error_rate),
                options.bloom_max_fold);
  if (sizing.max_keys < 1 || sizing.hash_count < 1 || sizing.hash_count > 64) {
    return InvalidArgument(
        "bloom_block_bytes ", options.bloom_block_bytes,
        " at bloom_error_rate ", std::to_string(options.bloom_error_rate),
        ": chunks of ", sizing.max_keys, " keys and ", sizing.hash_count,
        " hashes, expected at least 1 key and 1 to 64 hashes");
  }
  return status;
}

Status CheckInfoName(std::string_view name) {
  if (!IsReserved(name)) return Status::OK();
  return InvalidArgument("file info name \"", ToPrintable(name),
                         "\" is reserved");
}

// Checks the options that are HFileWriterOptions.
Status CheckOptions(const FileForm& options) {
  if (!CodecOf(options.compression)) {
    return NotSupported("compression ", ToString(options.compression));
  }
  const int max_level = options.compression == HFileCompression::kZstd ? 22 : 9;
  if (options.compression_level < -1 || options.compression_level > max_level) {
    return InvalidArgument("compression_level ", options.compression_level,
                           ", expected -1 to ", max_level);
  }
  // A block that has less takes one more cell, of any size.
  constexpr uint64_t kMaxDataBlockBytes = uint64_t{1} << 29;
  static_assert(kMaxDataBlockBytes + kHFileMaxCellBytes < kHFileMaxBlockBytes);
  Status status =
      CheckRange("block_bytes", options.block_bytes, 1, kMaxDataBlockBytes);
  if (status.ok() &&
      FindEncoding(ToString(options.encoding)) != options.encoding) {
    status =
        InvalidArgument("encoding ", static_cast<uint16_t>(options.encoding),
                        ", expected 0, 2, 3, 4 or 7");
  }
  if (status.ok()) status = CheckBloomOptions(options);
  for (const auto& [name, value] : options.file_info) {
    if (status.ok()) status = CheckInfoName(name);
  }
  return status;
}

// Returns true for encodings that give a cell the family of the cell before.
bool HasOneFamily(HFileEncoding encoding) {
  return encoding == HFileEncoding::kPrefix ||
         encoding == HFileEncoding::kDiff ||
         encoding == HFileEncoding::kFastDiff;
}

bool IsWritten(HFileCellType type) {
  switch (type) {
    case HFileCellType::kPut:
    case HFileCellType::kDelete:
    case HFileCellType::kDeleteFamilyVersion:
    case HFileCellType::kDeleteColumn:
    case HFileCellType::kDeleteFamily:
      return true;
    default:
      return false;
  }
}

// The totals of all cells, for the file info.
struct Totals {
  uint64_t cells = 0;
  uint64_t key_bytes = 0;
  uint64_t value_bytes = 0;
  size_t max_tags_bytes = 0;
  int64_t max_mvcc = 0;
  uint64_t family_deletes = 0;
  int64_t min_ms = std::numeric_limits<int64_t>::max();
  int64_t max_ms = -1;
  int64_t earliest_put_ms = std::numeric_limits<int64_t>::max();
  uint64_t biggest_cell_bytes = 0;
  std::string biggest_cell_key;
};

class Writer : public HFileWriter {
 public:
  Writer(const FileForm& options, std::unique_ptr<OutputFile> file);

  Status Append(const HFileCellView& cell) override;
  Status AddMetaBlock(std::string_view name,
                      std::string_view contents) override;
  Status AddFileInfo(std::string_view name, std::string_view value) override;
  Status Finish() override;
  uint64_t file_bytes() const override { return file_->size_bytes(); }
  uint64_t cell_count() const override { return totals_.cells; }

 private:
  // Returns the status of a call. If a call runs out of memory, all later ones
  // fail.
  template <typename Call>
  Status Run(const Call& call);
  // Returns the error of the file, or InvalidArgument after Finish.
  Status CheckUnfinished() const;
  Status Check(const HFileCellView& cell) const;
  Status Add(const HFileCellView& cell);
  void AddToBlooms(const HFileCellView& cell);
  void Count(const HFileCellView& cell);
  Status FinishDataBlock();
  Status WriteInlineBlocks(bool closing);
  Status WriteMetaBlocks(std::string* index);
  Status WriteLoadOnOpen(const std::string& meta_index);
  Status WriteTrailer();
  Status WriteAll();
  // Writes a block and adds its uncompressed size to the total.
  Status WriteCounted(BlockType type, std::string_view payload,
                      BlockLocation* location);
  FileInfo MakeFileInfo() const;
  HFileKey LastKey() const;
  // Stores the first error, after which the file stays incomplete.
  Status Fail(const Status& status);

  const FileForm options_;
  const std::unique_ptr<OutputFile> file_;
  BlockWriter blocks_;
  IndexWriter index_;
  std::optional<BloomWriter> general_bloom_;
  std::optional<BloomWriter> delete_family_bloom_;
  Status failed_;
  bool finished_ = false;

  const std::unique_ptr<BlockBuilder> data_;  // the open data block
  std::string first_key_;                     // the open data block's
  std::string last_key_;                      // the last of all cells
  std::string key_before_;  // the last one before the open data block
  std::map<std::string, std::string> meta_blocks_;
  FileInfo file_info_;
  Totals totals_;
  HFileTrailer trailer_;
};

Writer::Writer(const FileForm& options, std::unique_ptr<OutputFile> file)
    : options_(options),
      file_(std::move(file)),
      blocks_(options_, file_.get()),
      index_(options_, &blocks_),
      data_(NewBlockBuilder(options.encoding,
                            {.tags = options.tags,
                             .mvcc = options.mvcc,
                             .tags_compressed = options.compress_tags})),
      file_info_(options.file_info) {
  if (options_.bloom_type != BloomType::kNone) {
    general_bloom_.emplace(options_, options_.bloom_type, &blocks_);
  }
  if (options_.delete_family_bloom &&
      options_.bloom_type != BloomType::kRowCol) {
    delete_family_bloom_.emplace(options_, BloomType::kRow, &blocks_);
  }
}

HFileKey Writer::LastKey() const {
  HFileKey key;
  if (!ParseKey(last_key_, &key)) return {};
  return key;
}

Status Writer::Fail(const Status& status) {
  if (!status.ok() && failed_.ok()) failed_ = status;
  return status;
}

Status Writer::Check(const HFileCellView& cell) const {
  const auto invalid = [this](const std::string& what) {
    return InvalidArgument(file_->path(), ": cell ", totals_.cells, ": ", what);
  };
  if (cell.row.empty() || cell.row.size() > kHFileMaxRowBytes) {
    return invalid(Concat("row of ", cell.row.size(), " bytes, expected 1 to ",
                          kHFileMaxRowBytes));
  }
  if (cell.family.size() > kHFileMaxFamilyBytes) {
    return invalid(Concat("family of ", cell.family.size(),
                          " bytes, expected at most ", kHFileMaxFamilyBytes));
  }
  if (cell.qualifier.size() > kHFileMaxCellBytes ||
      cell.value.size() > kHFileMaxCellBytes ||
      KeyBytes(cell.key()) + cell.value.size() > kHFileMaxCellBytes) {
    return invalid(Concat("qualifier of ", cell.qualifier.size(),
                          " and value of ", cell.value.size(),
                          " bytes, expected a cell of at most ",
                          kHFileMaxCellBytes));
  }
  if (cell.tags.size() > (options_.tags ? kHFileMaxTagsBytes : 0)) {
    return invalid(Concat("tags of ", cell.tags.size(),
                          " bytes, expected at most ",
                          options_.tags ? kHFileMaxTagsBytes : 0));
  }
  if (cell.mvcc < 0 || (cell.mvcc != 0 && !options_.mvcc)) {
    return invalid(Concat("mvcc ", cell.mvcc, ", expected 0",
                          options_.mvcc ? " or more" : ""));
  }
  if (options_.compress_tags && !AreTags(cell.tags)) {
    return invalid("tags are not lengths and as many bytes");
  }
  if (!IsWritten(cell.type)) {
    return invalid(Concat("type ", static_cast<int>(cell.type),
                          ", expected 4, 8, 10, 12 or 14"));
  }
  if (totals_.cells == 0) return Status::OK();
  const HFileKey last = LastKey();
  const auto place = [](const HFileKey& key) {
    return Concat("row \"", ToPrintable(key.row), "\", qualifier \"",
                  KeyText(key.qualifier), "\", timestamp ", key.timestamp_ms,
                  ", type ", static_cast<int>(key.type));
  };
  if (CompareHFileKeys(last, cell.key()) > 0) {
    return invalid(Concat(place(cell.key()), ": sorts before the last cell, ",
                          place(last)));
  }
  // The filter's keys have no family: with a second one they would not ascend.
  if (options_.bloom_type == BloomType::kRowCol && cell.row == last.row &&
      cell.family != last.family) {
    return invalid(Concat("a second family in row \"", ToPrintable(cell.row),
                          "\"; with a ROWCOL filter there may be one"));
  }
  if (HasOneFamily(options_.encoding) && cell.family != last.family) {
    return invalid(Concat("family \"", ToPrintable(cell.family), "\" after \"",
                          ToPrintable(last.family), "\"; encoded with ",
                          ToString(options_.encoding), " there may be one"));
  }
  return Status::OK();
}

void Writer::AddToBlooms(const HFileCellView& cell) {
  if (general_bloom_.has_value()) {
    switch (options_.bloom_type) {
      case BloomType::kRowCol:
        general_bloom_->Add(RowColBloomKey(cell.row, cell.qualifier));
        break;
      case BloomType::kRowPrefixFixedLength:
        general_bloom_->Add(cell.row.substr(0, options_.bloom_prefix_bytes));
        break;
      default:
        general_bloom_->Add(cell.row);
    }
  }
  if (cell.type != HFileCellType::kDeleteFamily &&
      cell.type != HFileCellType::kDeleteFamilyVersion) {
    return;
  }
  ++totals_.family_deletes;
  if (delete_family_bloom_.has_value()) delete_family_bloom_->Add(cell.row);
}

void Writer::Count(const HFileCellView& cell) {
  const size_t key_bytes = KeyBytes(cell.key());
  ++totals_.cells;
  totals_.key_bytes += key_bytes;
  totals_.value_bytes += cell.value.size();
  totals_.max_tags_bytes = std::max(totals_.max_tags_bytes, cell.tags.size());
  totals_.max_mvcc = std::max(totals_.max_mvcc, cell.mvcc);
  totals_.min_ms = std::min(totals_.min_ms, cell.timestamp_ms);
  totals_.max_ms = std::max(totals_.max_ms, cell.timestamp_ms);
  if (cell.type == HFileCellType::kPut) {
    totals_.earliest_put_ms =
        std::min(totals_.earliest_put_ms, cell.timestamp_ms);
  }
  // These delete all older cells.
  if (cell.type == HFileCellType::kDeleteColumn ||
      cell.type == HFileCellType::kDeleteFamily) {
    totals_.min_ms = std::min<int64_t>(totals_.min_ms, 0);
    totals_.max_ms = std::max<int64_t>(totals_.max_ms, 0);
  }
  // HBase's estimate of a cell on the wire, with a length before it.
  const uint64_t cell_bytes =
      sizeof(uint32_t) + kCellFixedBytes + key_bytes + cell.value.size() +
      (cell.tags.empty() ? 0 : sizeof(uint16_t) + cell.tags.size());
  if (options_.biggest_cell && cell_bytes > totals_.biggest_cell_bytes) {
    totals_.biggest_cell_bytes = cell_bytes;
    totals_.biggest_cell_key = last_key_;
  }
}

template <typename Call>
Status Writer::Run(const Call& call) {
  Status status = CatchNoMemory(file_->path(), call);
  if (status.IsMemoryLimit() && failed_.ok()) {
    failed_ = NoMemoryFor(file_->path());
  }
  return status;
}

Status Writer::Append(const HFileCellView& cell) {
  return Run([&] {
    Status status = CheckUnfinished();
    if (status.ok()) status = Check(cell);
    return status.ok() ? Fail(Add(cell)) : status;
  });
}

Status Writer::Add(const HFileCellView& cell) {
  const bool same_key =
      totals_.cells > 0 && CompareHFileKeys(LastKey(), cell.key()) == 0;
  AddToBlooms(cell);
  // Cells of one key stay in one block.
  if (!same_key && data_->size_bytes() >= options_.block_bytes) {
    Status status = FinishDataBlock();
    if (status.ok()) status = WriteInlineBlocks(/*closing=*/false);
    if (!status.ok()) return status;
  }
  if (data_->empty()) {
    key_before_ = last_key_;
    first_key_.clear();
    AppendKey(cell.key(), &first_key_);
  }
  data_->Add(cell);
  last_key_.clear();
  AppendKey(cell.key(), &last_key_);
  Count(cell);
  return blocks_.CheckBytes(data_->size_bytes());
}

Status Writer::CheckUnfinished() const {
  if (!failed_.ok() || !finished_) return failed_;
  return Status::InvalidArgument(file_->path() + ": finished");
}

Status Writer::AddMetaBlock(std::string_view name, std::string_view contents) {
  return Run([&] {
    Status status = CheckUnfinished();
    if (status.ok() && !meta_blocks_.emplace(name, contents).second) {
      status = InvalidArgument(file_->path(), ": meta block \"",
                               ToPrintable(name), "\" twice");
    }
    return status;
  });
}

Status Writer::AddFileInfo(std::string_view name, std::string_view value) {
  return Run([&] {
    Status status = CheckUnfinished();
    if (!status.ok()) return status;
    status = Prefixed(file_->path() + ": ", CheckInfoName(name));
    if (status.ok()) file_info_[std::string(name)] = value;
    return status;
  });
}

Status Writer::WriteCounted(BlockType type, std::string_view payload,
                            BlockLocation* location) {
  trailer_.total_uncompressed_bytes += kBlockHeaderBytes + payload.size();
  return blocks_.Write(type, payload, location);
}

Status Writer::FinishDataBlock() {
  if (data_->empty()) return Status::OK();
  BlockLocation location;
  Status status = WriteCounted(DataBlockType(options_.encoding),
                               data_->Finish(), &location);
  if (!status.ok()) return status;
  if (!trailer_.first_data_block_offset.has_value()) {
    trailer_.first_data_block_offset = location.offset;
  }
  trailer_.last_data_block_offset = location.offset;
  HFileKey before;
  HFileKey first;
  // Readers take the file's first key from its index: it is not shortened.
  if (ParseKey(key_before_, &before) && ParseKey(first_key_, &first)) {
    index_.Add(location, IndexKey(options_.index_key_rule, before, first));
  } else {
    index_.Add(location, first_key_);
  }
  data_->Clear();
  return status;
}

Status Writer::WriteInlineBlocks(bool closing) {
  size_t leaf_bytes = 0;
  Status status = index_.WriteLeaf(closing, &leaf_bytes);
  if (leaf_bytes > 0) {
    trailer_.total_uncompressed_bytes += kBlockHeaderBytes + leaf_bytes;
  }
  for (std::optional<BloomWriter>* bloom :
       {&general_bloom_, &delete_family_bloom_}) {
    if (status.ok() && bloom->has_value()) {
      status =
          (*bloom)->WriteChunks(closing, &trailer_.total_uncompressed_bytes);
    }
  }
  return status;
}

FileInfo Writer::MakeFileInfo() const {
  const FileForm& options = options_;
  const bool is_encoded = options.encoding != HFileEncoding::kNone;
  FileInfo all = file_info_;
  const auto average = [this](uint64_t total) {
    return U32Bytes(
        totals_.cells == 0 ? 0 : static_cast<uint32_t>(total / totals_.cells));
  };
  if (totals_.cells > 0) all[info::kLastKey] = last_key_;
  all[info::kAverageKeyBytes] = average(totals_.key_bytes);
  all[info::kAverageValueBytes] = average(totals_.value_bytes);
  all[info::kCreateTime] = U64Bytes(
      options.create_time_ms ? static_cast<uint64_t>(*options.create_time_ms)
                             : SystemWallClock());
  if (options.biggest_cell && totals_.cells > 0) {
    all[info::kBiggestCellKey] = totals_.biggest_cell_key;
    all[info::kBiggestCellBytes] = U64Bytes(totals_.biggest_cell_bytes);
  }
  if (options.tags) {
    all[info::kMaxTagsBytes] =
        U32Bytes(static_cast<uint32_t>(totals_.max_tags_bytes));
    all[info::kTagsCompressed] = BoolByte(options.compress_tags && is_encoded);
  }
  if (is_encoded) {
    all[info::kDataBlockEncoding] = ToString(options.encoding);
  }
  if (options.mvcc) {
    all[info::kKeyValueVersion] = U32Bytes(1);
    all[info::kMaxMvcc] = U64Bytes(static_cast<uint64_t>(totals_.max_mvcc));
  }
  const auto set_number = [&all](const char* name,
                                 const std::optional<int64_t>& value) {
    if (value.has_value()) all[name] = U64Bytes(static_cast<uint64_t>(*value));
  };
  const auto set_bool = [&all](const char* name,
                               const std::optional<bool>& value) {
    if (value.has_value()) all[name] = BoolByte(*value);
  };
  set_number(info::kMaxSequenceId, options.max_sequence_id);
  set_number(info::kBulkLoadTime, options.bulk_load_time_ms);
  set_bool(info::kMajorCompaction, options.major_compaction);
  set_bool(info::kExcludeFromMinor, options.exclude_from_minor_compaction);
  set_bool(info::kHistorical, options.historical);
  if (options.bulk_load_task.has_value()) {
    all[info::kBulkLoadTask] = *options.bulk_load_task;
  }
  if (options.time_range) {
    all[info::kTimeRange] = U64Bytes(static_cast<uint64_t>(totals_.min_ms)) +
                            U64Bytes(static_cast<uint64_t>(totals_.max_ms));
    all[info::kEarliestPut] =
        U64Bytes(static_cast<uint64_t>(totals_.earliest_put_ms));
  }
  all[info::kDeleteFamilyCount] = U64Bytes(totals_.family_deletes);
  if (general_bloom_.has_value() && !general_bloom_->empty()) {
    all[info::kBloomType] = ToString(options.bloom_type);
    all[info::kLastBloomKey] = general_bloom_->last_key();
    if (options.bloom_type == BloomType::kRowPrefixFixedLength) {
      all[info::kBloomParameter] = U32Bytes(options.bloom_prefix_bytes);
    }
  }
  return all;
}

// Writes the user's blocks in the order of names and lists them in `*index`.
Status Writer::WriteMetaBlocks(std::string* index) {
  for (const auto& [name, contents] : meta_blocks_) {
    BlockLocation location;
    const Status status = WriteCounted(BlockType::kMeta, contents, &location);
    if (!status.ok()) return status;
    AppendRootEntry(location, name, index);
  }
  return Status::OK();
}

Status Writer::WriteLoadOnOpen(const std::string& meta_index) {
  BlockLocation location;
  Status status = index_.WriteRoot(&location);
  if (!status.ok()) return status;
  trailer_.load_on_open_offset = location.offset;
  status = WriteCounted(BlockType::kRootIndex, meta_index, &location);
  if (!status.ok()) return status;
  const std::string file_info = SerializeFileInfo(MakeFileInfo());
  if (file_info.empty()) {
    return InvalidArgument(file_->path(), ": file info of more than ",
                           kMaxFileInfoBytes, " bytes");
  }
  status = WriteCounted(BlockType::kFileInfo, file_info, &location);
  trailer_.file_info_offset = location.offset;
  for (const auto& [bloom, type] :
       {std::pair(&general_bloom_, BlockType::kGeneralBloomMeta),
        std::pair(&delete_family_bloom_, BlockType::kDeleteFamilyBloomMeta)}) {
    if (status.ok() && bloom->has_value() && !(*bloom)->empty()) {
      status = WriteCounted(type, (*bloom)->Describe(), &location);
    }
  }
  return status;
}

Status Writer::WriteTrailer() {
  trailer_.total_uncompressed_bytes += kTrailerBytes;
  trailer_.uncompressed_data_index_bytes = index_.payload_bytes();
  trailer_.data_index_count = static_cast<uint32_t>(index_.root_entries());
  trailer_.meta_index_count = static_cast<uint32_t>(meta_blocks_.size());
  trailer_.entry_count = totals_.cells;
  trailer_.data_index_levels = index_.levels();
  trailer_.comparator = options_.comparator;
  trailer_.compression = options_.compression;
  std::string bytes;
  const Status status = SerializeTrailer(trailer_, &bytes);
  return status.ok() ? file_->Append(bytes) : status;
}

Status Writer::WriteAll() {
  std::string meta_index;
  Status status = FinishDataBlock();
  if (status.ok()) status = WriteInlineBlocks(/*closing=*/true);
  if (status.ok()) status = WriteMetaBlocks(&meta_index);
  if (status.ok()) status = WriteLoadOnOpen(meta_index);
  if (status.ok()) status = WriteTrailer();
  if (status.ok()) status = file_->Commit();
  return status;
}

Status Writer::Finish() {
  return Run([&] {
    Status status = CheckUnfinished();
    if (!status.ok()) return status;
    finished_ = true;
    return Fail(WriteAll());
  });
}

}  // namespace

Status OpenWriter(const FileForm& form, const std::string& path,
                  std::unique_ptr<HFileWriter>* writer) {
  Status status = CheckOptions(form);
  if (!status.ok()) return status;
  std::unique_ptr<OutputFile> file;
  status = OutputFile::Create(form.env, path, &file);
  if (!status.ok()) return status;
  *writer = std::make_unique<Writer>(form, std::move(file));
  return status;
}

}  // namespace rowbloom::hfile

rocksdb::Status rowbloom::HFileWriter::Open(
    const HFileWriterOptions& options, const std::string& path,
    std::unique_ptr<HFileWriter>* writer) {
  return rowbloom::CatchNoMemory(
      path, [&] { return hfile::OpenWriter({options}, path, writer); });
}

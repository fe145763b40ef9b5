// Verifies a file: recomputes its metadata from its blocks and cells.
#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "lib/bytes/text.h"
#include "rowbloom/printable.h"
#include "storage/format/key_text.h"
#include "storage/format/no_exceptions.h"
#include "storage/hfile/block_walk.h"
#include "storage/hfile/iterator.h"
#include "storage/hfile/reader.h"

namespace rowbloom::hfile {
namespace {

using rocksdb::Status;

class Verifier {
 public:
  Verifier(const Reader& reader, const std::function<void(uint64_t)>& progress,
           HFileReport* report)
      : reader_(reader), progress_(progress), report_(report) {}

  Status Run() {
    const bool all_blocks = WalkBlocks();
    if (first_error_.IsIOError()) return first_error_;
    const bool all_cells = ScanCells();
    if (all_blocks) CheckBlockTotals();
    if (all_cells) {
      CheckCellTotals();
      CheckFileInfo();
      CheckBlooms();
    }
    const Status& blooms = reader_.BloomStatus();
    // A sound filter may be of a kind that is not read.
    if (!blooms.ok() && !blooms.IsNotSupported()) Tell(blooms);
    return first_error_;
  }

 private:
  // `sentence` names the file.
  void Report(std::string sentence) {
    ++report_->problem_count;
    if (report_->problems.size() < HFileReport::kMaxProblems) {
      report_->problems.push_back(std::move(sentence));
    }
  }
  void Problem(const std::string& sentence) {
    Report(Concat(reader_.path(), ": ", sentence));
  }
  // Damage is a problem of the file. Other errors are not.
  void Failure(const Status& status) {
    if (first_error_.ok()) first_error_ = status;
    if (status.IsCorruption()) Tell(status);
  }
  void Tell(const Status& status) {
    const std::string sentence = status.getState();
    if (told_.contains(sentence)) return;
    if (told_.size() < kMaxTold) told_.insert(sentence);
    Report(sentence);
  }
  template <typename T>
  void Expect(std::string_view what, const T& expected, const T& found) {
    if (expected == found) return;
    Problem(Concat(what, ": expected ", expected, ", found ", found));
  }
  void ExpectKey(std::string_view what, std::string_view expected,
                 std::string_view found) {
    if (expected == found) return;
    Problem(Concat(what, ": expected ", KeyText(expected), ", found ",
                   KeyText(found)));
  }

  // Each returns whether it saw all blocks or all cells.
  bool WalkBlocks();
  bool ScanCells();
  void CountBlock(const BlockWalk& walk);
  void CheckChain(const BlockHeader& header, uint64_t offset);
  void EnterBlock(const Iterator& at, bool is_first);
  void CountCell(const HFileCellView& cell);
  void ProbeBlooms(const HFileCellView& cell);
  void CheckBlockTotals();
  void CheckCellTotals();
  void CheckFileInfo();
  void CheckNumber(const char* name, bool mandatory, uint64_t expected);
  // A flush of HBase 1 counts cells, too, that it drops, and the halves of a
  // file that a bulk load splits have its numbers: times may be of more cells.
  void CheckTimeRange();
  void CheckEarliestPut();
  void CheckBlooms();

  const Reader& reader_;
  const std::function<void(uint64_t)>& progress_;
  HFileReport* const report_;
  Status first_error_;
  // Damage that was reported: both passes may find it. Beyond kMaxTold
  // sentences it may count twice.
  static constexpr size_t kMaxTold = 10'000;
  std::set<std::string> told_;

  // Facts about the blocks, in the order of the file. An offset of -1 in
  // last_offsets_ means that there was none.
  std::array<int64_t, kBlockTypes> last_offsets_ = {};
  uint64_t data_blocks_ = 0;
  uint64_t uncompressed_bytes_ = reader_.file_bytes() - reader_.blocks_end();
  uint64_t index_bytes_ = 0;
  std::optional<uint64_t> first_data_offset_;
  std::optional<uint64_t> last_data_offset_;
  std::optional<uint64_t> file_info_offset_;

  // Facts about the cells.
  uint64_t block_offset_ = std::numeric_limits<uint64_t>::max();
  std::string last_key_;
  uint64_t key_bytes_ = 0;
  uint64_t value_bytes_ = 0;
  uint64_t max_tags_bytes_ = 0;
  int64_t max_mvcc_ = 0;
  int64_t min_ms_ = std::numeric_limits<int64_t>::max();
  int64_t max_ms_ = -1;
  int64_t earliest_put_ms_ = std::numeric_limits<int64_t>::max();
  uint64_t family_deletes_ = 0;
  std::string last_general_key_;
  uint64_t general_keys_ = 0;
  std::string last_deleted_row_;
  uint64_t deleted_rows_ = 0;
};

void Verifier::CheckChain(const BlockHeader& header, uint64_t offset) {
  // Encoded and plain data blocks form one chain.
  const BlockType chain = IsData(header.type) ? BlockType::kData : header.type;
  int64_t& last = last_offsets_[static_cast<size_t>(chain)];
  Expect(Concat("block at offset ", offset, ": offset of the ",
                Magic(header.type), " block before it"),
         last, header.previous_offset);
  last = static_cast<int64_t>(offset);
}

bool Verifier::WalkBlocks() {
  last_offsets_.fill(-1);
  BlockWalk walk(reader_);
  while (walk.Next()) {
    if (progress_) progress_(walk.offset());
    ++report_->blocks;
    if (walk.status().ok()) {
      CountBlock(walk);
      continue;
    }
    ++report_->damaged_blocks;
    Failure(walk.status());
    if (walk.status().IsIOError()) break;
  }
  return first_error_.ok();
}

void Verifier::CountBlock(const BlockWalk& walk) {
  const BlockHeader& header = walk.block().header;
  const uint64_t offset = walk.offset();
  // After damage the previous block of a type is unknown.
  if (first_error_.ok()) CheckChain(header, offset);
  const bool is_data_root = offset == reader_.trailer().load_on_open_offset;
  const bool is_index = header.type == BlockType::kLeafIndex ||
                        header.type == BlockType::kIntermediateIndex ||
                        is_data_root;
  if (is_index) index_bytes_ += header.payload_bytes;
  if (!is_data_root && header.type != BlockType::kIntermediateIndex) {
    uncompressed_bytes_ += kBlockHeaderBytes + header.payload_bytes;
  }
  if (IsData(header.type)) {
    if (!first_data_offset_.has_value()) first_data_offset_ = offset;
    last_data_offset_ = offset;
    ++data_blocks_;
  }
  if (header.type == BlockType::kFileInfo) file_info_offset_ = offset;
}

void Verifier::EnterBlock(const Iterator& at, bool is_first) {
  ++report_->data_blocks;
  HFileKey index_key;
  HFileKey last;
  const HFileKey first = at.cell().key();
  if (!ParseKey(at.index_key(), &index_key)) return;
  const std::string block = Concat("data block at offset ", at.block().offset);
  if (is_first) {
    if (CompareHFileKeys(index_key, first) != 0) {
      Problem(block + ": the first index key is not that of its first cell");
    }
  } else if (reader_.comparator() == Comparator::kCells &&
             ParseKey(last_key_, &last) &&
             CompareHFileKeys(last, index_key) >= 0) {
    Problem(block + ": its index key is not after the cell before it");
  }
}

void Verifier::CountCell(const HFileCellView& cell) {
  ++report_->cells;
  key_bytes_ += KeyBytes(cell.key());
  value_bytes_ += cell.value.size();
  max_tags_bytes_ = std::max<uint64_t>(max_tags_bytes_, cell.tags.size());
  max_mvcc_ = std::max(max_mvcc_, cell.mvcc);
  min_ms_ = std::min(min_ms_, cell.timestamp_ms);
  max_ms_ = std::max(max_ms_, cell.timestamp_ms);
  if (cell.type == HFileCellType::kPut) {
    earliest_put_ms_ = std::min(earliest_put_ms_, cell.timestamp_ms);
  }
  if (cell.type == HFileCellType::kDeleteColumn ||
      cell.type == HFileCellType::kDeleteFamily) {
    min_ms_ = std::min<int64_t>(min_ms_, 0);
    max_ms_ = std::max<int64_t>(max_ms_, 0);
  }
  ProbeBlooms(cell);
}

void Verifier::ProbeBlooms(const HFileCellView& cell) {
  if (const auto& filter = reader_.general_bloom()) {
    std::string key =
        BloomKey(reader_.bloom_description(), cell.row, cell.qualifier);
    if (general_keys_ == 0 || key != last_general_key_) {
      ++general_keys_;
      ++report_->bloom_keys_checked;
      if (!reader_.Probe(*filter, key)) {
        ++report_->false_negatives;
        Problem(Concat("Bloom filter: no for key \"", KeyText(key),
                       "\", which is there"));
      }
      last_general_key_ = std::move(key);
    }
  }
  if (cell.type != HFileCellType::kDeleteFamily &&
      cell.type != HFileCellType::kDeleteFamilyVersion) {
    return;
  }
  ++family_deletes_;
  if (deleted_rows_ > 0 && cell.row == last_deleted_row_) return;
  ++deleted_rows_;
  last_deleted_row_ = cell.row;
  if (const auto& filter = reader_.delete_family_bloom()) {
    ++report_->bloom_keys_checked;
    if (!reader_.Probe(*filter, cell.row)) {
      ++report_->false_negatives;
      Problem(Concat("delete-family filter: no for row \"",
                     ToPrintable(cell.row), "\", which has a marker"));
    }
  }
}

bool Verifier::ScanCells() {
  if (!reader_.CellsStatus().ok()) {
    Failure(reader_.CellsStatus());
    return false;
  }
  bool complete = true;
  Iterator at(reader_, {.fill_cache = false});
  at.SeekToFirst();
  do {
    for (; at.Valid(); at.Next()) {
      if (at.block().offset != block_offset_) {
        block_offset_ = at.block().offset;
        if (progress_) progress_(reader_.file_bytes() + block_offset_);
        EnterBlock(at, complete && report_->cells == 0);
      }
      last_key_.clear();
      AppendKey(at.cell().key(), &last_key_);
      CountCell(at.cell());
    }
    if (at.status().ok()) return complete;
    complete = false;
    Failure(at.status());
  } while (at.SkipDamage());
  return complete;
}

void Verifier::CheckBlockTotals() {
  const HFileTrailer& trailer = reader_.trailer();
  const auto offset = [](const std::optional<uint64_t>& value) {
    return value.has_value() ? std::to_string(*value) : std::string("none");
  };
  Expect("trailer: first data block", offset(first_data_offset_),
         offset(trailer.first_data_block_offset));
  Expect("trailer: last data block", offset(last_data_offset_),
         offset(trailer.last_data_block_offset));
  Expect("trailer: file info", offset(file_info_offset_),
         std::to_string(trailer.file_info_offset));
  Expect("trailer: uncompressed bytes", uncompressed_bytes_,
         trailer.total_uncompressed_bytes);
  Expect("trailer: uncompressed index bytes", index_bytes_,
         trailer.uncompressed_data_index_bytes);
}

void Verifier::CheckCellTotals() {
  Expect("trailer: cells", report_->cells, reader_.trailer().entry_count);
  // The type of a damaged block is not always known.
  if (report_->damaged_blocks == 0) {
    Expect("data blocks in the index", data_blocks_, report_->data_blocks);
  }
}

void Verifier::CheckNumber(const char* name, bool mandatory,
                           uint64_t expected) {
  const std::string* bytes = Find(reader_.file_info(), name);
  if (bytes == nullptr) {
    if (mandatory) {
      Problem(Concat("file info ", name,
                     " is missing, without which HBase does not read it"));
    }
    return;
  }
  uint64_t found = 0;
  for (const char byte : *bytes)
    found = found << 8 | static_cast<uint8_t>(byte);
  Expect(Concat("file info ", name), expected, found);
}

void Verifier::CheckTimeRange() {
  bool found = false;
  TimeRange range;
  const Status status = FindTimeRange(reader_.file_info(), &found, &range);
  if (!status.ok()) {
    Problem(status.getState());
  } else if (found && report_->cells > 0) {  // versions differ without cells
    Expect("file info TIMERANGE, from", min_ms_,
           std::max(min_ms_, range.min_ms));
    Expect("file info TIMERANGE, to", max_ms_, std::min(max_ms_, range.max_ms));
  }
}

void Verifier::CheckEarliestPut() {
  std::optional<uint64_t> earliest_ms;
  const Status status =
      FindNumber(reader_.file_info(), info::kEarliestPut, &earliest_ms);
  if (!status.ok()) {
    Problem(status.getState());
  } else if (earliest_ms) {
    Expect(Concat("file info ", info::kEarliestPut), earliest_put_ms_,
           std::max(earliest_put_ms_, static_cast<int64_t>(*earliest_ms)));
  }
}

void Verifier::CheckFileInfo() {
  const auto average = [this](uint64_t total) {
    return report_->cells == 0 ? 0 : total / report_->cells;
  };
  CheckNumber(info::kAverageKeyBytes, true, average(key_bytes_));
  CheckNumber(info::kAverageValueBytes, true, average(value_bytes_));
  CheckNumber(info::kMaxTagsBytes, false, max_tags_bytes_);
  CheckNumber(info::kDeleteFamilyCount, false, family_deletes_);
  if (reader_.cell_form().mvcc) {
    CheckNumber(info::kMaxMvcc, true, static_cast<uint64_t>(max_mvcc_));
  }
  CheckTimeRange();
  CheckEarliestPut();
  const std::string* last_key = Find(reader_.file_info(), info::kLastKey);
  if (last_key != nullptr) {
    ExpectKey("file info hfile.LASTKEY", last_key_, *last_key);
  } else if (report_->cells > 0) {
    Problem(
        "file info hfile.LASTKEY is missing, without which HBase does not "
        "read it");
  }
}

void Verifier::CheckBlooms() {
  if (const HFileBloomInfo* general = reader_.GeneralBloom()) {
    Expect("keys in the Bloom filter", general_keys_, general->key_count);
    const BloomDescription& description = reader_.bloom_description();
    if (description.has_last_key) {
      ExpectKey("file info LAST_BLOOM_KEY", last_general_key_,
                description.last_key);
    }
  }
  if (const HFileBloomInfo* deletes = reader_.DeleteFamilyBloom()) {
    Expect("rows in the delete-family filter", deleted_rows_,
           deletes->key_count);
  }
}

}  // namespace

Status Reader::Verify(HFileReport* report) const { return Verify({}, report); }

Status Reader::Verify(const std::function<void(uint64_t)>& progress,
                      HFileReport* report) const {
  return CatchNoMemory(path(), [&] {
    *report = {};
    const uint64_t unusable = BloomStats().unusable;
    Status status = Verifier(*this, progress, report).Run();
    const uint64_t unread = BloomStats().unusable - unusable;
    if (unread > 0) {
      ++report->problem_count;
      report->problems.push_back(Concat(
          path(), ": ", unread, " keys fell to Bloom chunks that are damaged"));
    }
    return status;
  });
}

}  // namespace rowbloom::hfile

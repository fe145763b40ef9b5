#include "storage/hfile_transfer/cell_loader.h"

#include "rowbloom/cell.h"

namespace rowbloom::hfile_transfer {

using rocksdb::Status;

namespace {

// HBase's TagType.
constexpr uint8_t kMobReferenceTag = 5;
constexpr uint8_t kTtlTag = 8;

// InvalidArgument: the tags are there but `drop` is not set, or the cell is
// not itself without them.
Status CheckTags(std::string_view tags, bool drop) {
  constexpr size_t kLengthBytes = 2;
  std::string lifetime;
  for (std::string_view rest = tags; !rest.empty();) {
    size_t bytes = 0;  // of type and contents
    if (rest.size() > kLengthBytes) {
      bytes = size_t{static_cast<uint8_t>(rest[0])} << 8 |
              static_cast<uint8_t>(rest[1]);
      rest.remove_prefix(kLengthBytes);
    }
    if (bytes == 0 || bytes > rest.size()) {
      return Status::InvalidArgument(std::to_string(tags.size()) +
                                     " bytes of tags: expected a length of "
                                     "each, and as many bytes");
    }
    if (rest[0] == kMobReferenceTag) {
      return Status::InvalidArgument(
          "a reference to a MOB file (tag type 5) in place of its value: the "
          "value is not in this file");
    }
    if (rest[0] == kTtlTag) lifetime = ", a lifetime (tag type 8) among them";
    rest.remove_prefix(bytes);
  }
  if (tags.empty() || drop) return Status::OK();
  return Status::InvalidArgument(
      std::to_string(tags.size()) + " bytes of tags" + lifetime +
      ", which a store does not keep; drop_tags takes such cells without them");
}

}  // namespace

CellLoader::CellLoader(const HFileImportOptions& options, BulkLoad* load,
                       const std::string& family,
                       const FamilyOptions& family_options,
                       HFileImportReport* report)
    : options_(options),
      load_(load),
      family_(family),
      latest_(family_options.KeepsLatest()),
      report_(report) {}

Status CellLoader::Check(const HFileCellView& cell) const {
  switch (cell.type) {
    case HFileCellType::kPut:
    case HFileCellType::kDelete:
    case HFileCellType::kDeleteColumn:
      break;
    case HFileCellType::kDeleteFamily:
    case HFileCellType::kDeleteFamilyVersion:
      if (cell.qualifier.empty()) break;
      return Status::InvalidArgument(
          "a delete of the whole family: expected no qualifier");
    default:
      return Status::NotSupported("type " +
                                  std::to_string(static_cast<int>(cell.type)) +
                                  ", expected 4, 8, 10, 12 or 14");
  }
  if (cell.timestamp_ms < 0) {
    return Status::InvalidArgument("timestamp " +
                                   std::to_string(cell.timestamp_ms) +
                                   ", expected 0 or more");
  }
  return CheckTags(cell.tags, options_.drop_tags);
}

Status CellLoader::Add(const HFileCellView& cell) {
  Status s = Check(cell);
  const auto timestamp_ms = static_cast<uint64_t>(cell.timestamp_ms);
  if (!s.ok()) return s;
  if (cell.row != row_) EnterRow(cell.row);
  EnterColumn(cell.qualifier);
  ++report_->cells;
  const uint64_t loaded_before = report_->puts + report_->deletes;
  const std::pair place(timestamp_ms, cell.type);
  if (last_ == place) {
    ++report_->skipped;
    return s;
  }
  last_ = place;
  switch (cell.type) {
    case HFileCellType::kDelete:
      s = AddDeleteVersion(timestamp_ms);
      break;
    case HFileCellType::kDeleteColumn:
      s = AddDeleteColumn(timestamp_ms);
      break;
    case HFileCellType::kDeleteFamily:
      s = AddDeleteFamily(timestamp_ms);
      break;
    case HFileCellType::kDeleteFamilyVersion:
      s = AddDeleteFamilyVersion(timestamp_ms);
      break;
    default:
      s = AddPut(timestamp_ms, cell.value);
  }
  if (report_->puts + report_->deletes == loaded_before) ++report_->skipped;
  return s;
}

void CellLoader::EnterRow(std::string_view row) {
  row_ = row;
  family_deleted_ms_.reset();
  versions_deleted_.clear();
  in_column_ = false;
}

void CellLoader::EnterColumn(std::string_view qualifier) {
  if (in_column_ && qualifier == qualifier_) return;
  in_column_ = true;
  qualifier_ = qualifier;
  column_deleted_ = false;
  version_deleted_ms_.reset();
  puts_ = 0;
  value_bytes_ = 0;
  last_.reset();
}

bool CellLoader::IsDeleted(uint64_t timestamp_ms) const {
  // After the delete of a column, the cells that follow in it are not newer.
  return column_deleted_ ||
         (family_deleted_ms_ && timestamp_ms <= *family_deleted_ms_);
}

Status CellLoader::AddPut(uint64_t timestamp_ms, std::string_view value) {
  // The versions beyond max_versions are the store's to drop: it may have
  // deleted some of these already. A load takes kMaxCellBytes of a cell.
  const bool surplus =
      puts_ > 0 && (latest_ || value_bytes_ + value.size() > kMaxCellBytes);
  if (IsDeleted(timestamp_ms) || version_deleted_ms_ == timestamp_ms ||
      versions_deleted_.contains(timestamp_ms) || surplus) {
    return Status::OK();
  }
  const bool is_past = timestamp_ms < load_->timestamp_ms();
  Status s = latest_ && !is_past
                 ? load_->Add(row_, family_, qualifier_, value)
                 : load_->Add(row_, family_, qualifier_, value, timestamp_ms);
  if (!s.ok()) return s;
  ++puts_;
  value_bytes_ += value.size();
  ++report_->puts;
  return s;
}

Status CellLoader::AddDeleteVersion(uint64_t timestamp_ms) {
  if (IsDeleted(timestamp_ms) || version_deleted_ms_ == timestamp_ms) {
    return Status::OK();
  }
  version_deleted_ms_ = timestamp_ms;
  return Load(ChangeType::kDeleteVersion, timestamp_ms);
}

Status CellLoader::AddDeleteColumn(uint64_t timestamp_ms) {
  if (IsDeleted(timestamp_ms)) return Status::OK();
  column_deleted_ = true;
  return Load(ChangeType::kDelete, timestamp_ms);
}

Status CellLoader::AddDeleteFamily(uint64_t timestamp_ms) {
  // They come newest first.
  if (family_deleted_ms_) return Status::OK();
  family_deleted_ms_ = timestamp_ms;
  return Load(ChangeType::kDeleteFamily, timestamp_ms);
}

Status CellLoader::AddDeleteFamilyVersion(uint64_t timestamp_ms) {
  versions_deleted_.insert(timestamp_ms);
  // A delete of the column here, the empty one, takes nothing of the others.
  if (family_deleted_ms_ && timestamp_ms <= *family_deleted_ms_) {
    return Status::OK();
  }
  return Load(ChangeType::kDeleteFamilyVersion, timestamp_ms);
}

Status CellLoader::Load(ChangeType type, uint64_t timestamp_ms) {
  if (latest_) return Status::OK();
  Status s = load_->Add({type, row_, family_, qualifier_, {}, timestamp_ms});
  if (s.ok()) ++report_->deletes;
  return s;
}

}  // namespace rowbloom::hfile_transfer

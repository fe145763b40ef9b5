#include "storage/hfile_transfer/cell_loader.h"

#include <algorithm>

#include "rowbloom/cell.h"
#include "rowbloom/printable.h"
#include "storage/format/status_text.h"

namespace rowbloom::hfile_transfer {

using rocksdb::Status;

namespace {

// InvalidArgument: the tags are there but `drop` is not set, or the cell refers
// to no MOB file.
Status CheckTags(const HFileCellView& cell, bool drop, CellTags* tags,
                 std::optional<MobReference>* reference) {
  if (Status s = ParseTags(cell.tags, tags); !s.ok()) return s;
  if (tags->is_mob_reference) {
    Status s = ParseMobReference(cell, tags->mob_table, &reference->emplace());
    if (!s.ok()) return s;
  }
  if (tags->names.empty() || drop) return Status::OK();
  return InvalidArgument("tags (", tags->names,
                         "), which a store does not keep; drop_tags takes such "
                         "cells without them");
}

// The errors that the cell has for every store and without its MOB file. *tags
// is set if the cell has some, *reference if it refers to a MOB file. A
// `latest` family takes puts without a timestamp: Hudi's have none.
Status CheckAlone(const HFileCellView& cell, bool latest, bool drop_tags,
                  std::optional<CellTags>* tags,
                  std::optional<MobReference>* reference) {
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
  if (cell.timestamp_ms == kHFileLatestTimestamp &&
      !(latest && cell.type == HFileCellType::kPut)) {
    return Status::InvalidArgument("timestamp " +
                                   std::to_string(cell.timestamp_ms) +
                                   ", which HBase takes for none");
  }
  if (cell.tags.empty()) return Status::OK();
  return CheckTags(cell, drop_tags, &tags->emplace(), reference);
}

// A TTL below 1 runs out as soon as the cell's time has come.
std::optional<uint64_t> TtlOf(const std::optional<CellTags>& tags) {
  if (!tags || !tags->ttl_ms) return std::nullopt;
  return static_cast<uint64_t>(std::max<int64_t>(*tags->ttl_ms, 1));
}

}  // namespace

CellLoader::CellLoader(Mode mode, const HFileImportOptions& options,
                       uint64_t wall_ms, BulkLoad* load,
                       const std::string& family,
                       const FamilyOptions& family_options, MobFiles* mob_files,
                       HFileImportReport* report)
    : mode_(mode),
      options_(options),
      load_(load),
      now_ms_(load == nullptr ? wall_ms : load->timestamp_ms()),
      wall_ms_(std::min(wall_ms, now_ms_)),
      family_(family),
      family_options_(family_options),
      latest_(family_options.KeepsLatest()),
      mob_files_(mob_files),
      report_(report) {}

Status CellLoader::Check(const HFileCellView& cell) {
  std::optional<CellTags> tags;
  std::optional<MobReference> reference;
  Status s = CheckAlone(cell, latest_, options_.drop_tags, &tags, &reference);
  if (s.ok()) s = CheckLabels(cell, tags);
  if (s.ok()) s = CheckFamily(cell);
  if (!s.ok() || (tags && IsOver(cell, *tags))) return s;
  if (cell.type != HFileCellType::kPut) {
    if (load_ == nullptr || latest_) return s;
    return load_->Check({static_cast<ChangeType>(cell.type),
                         cell.row,
                         family_,
                         cell.qualifier,
                         {},
                         static_cast<uint64_t>(cell.timestamp_ms)});
  }
  has_references_ = has_references_ || reference.has_value();
  if (load_ == nullptr) return s;
  // Add checks the size of a value in a MOB file.
  const std::string root;
  return load_->Check(PutOf({cell, reference, root, TtlOf(tags)},
                            reference ? std::string_view() : cell.value));
}

Status CellLoader::Add(const HFileCellView& cell, const std::string& root) {
  std::optional<CellTags> tags;
  std::optional<MobReference> reference;
  Status s = CheckAlone(cell, latest_, options_.drop_tags, &tags, &reference);
  if (s.ok()) s = CheckLabels(cell, tags);
  if (s.ok()) s = CheckFamily(cell);
  if (!s.ok()) return s;
  if (tags && !tags->names.empty()) ++report_->without_tags;
  if (tags && IsOver(cell, *tags)) {
    ++report_->cells;
    ++report_->skipped;
    return Status::OK();
  }
  if (cell.row != row_) EnterRow(cell.row);
  EnterColumn(cell.qualifier);
  ++report_->cells;
  const uint64_t loaded_before = report_->puts + report_->deletes;
  const auto timestamp_ms = static_cast<uint64_t>(cell.timestamp_ms);
  const std::pair place(timestamp_ms, cell.type);
  if (last_ == place) {
    ++report_->skipped;
    return Status::OK();
  }
  last_ = place;
  s = AddAs(cell.type, timestamp_ms, {cell, reference, root, TtlOf(tags)});
  if (report_->puts + report_->deletes == loaded_before) ++report_->skipped;
  return s;
}

Status CellLoader::AddAs(HFileCellType type, uint64_t timestamp_ms,
                         const Value& value) {
  switch (type) {
    case HFileCellType::kDelete:
      return AddDeleteVersion(timestamp_ms);
    case HFileCellType::kDeleteColumn:
      return AddDeleteColumn(timestamp_ms);
    case HFileCellType::kDeleteFamily:
      return AddDeleteFamily(timestamp_ms);
    case HFileCellType::kDeleteFamilyVersion:
      return AddDeleteFamilyVersion(timestamp_ms);
    default:
      return AddPut(timestamp_ms, value);
  }
}

bool CellLoader::IsOver(const HFileCellView& cell, const CellTags& tags) const {
  // Both times are positive, so their difference is a number.
  const int64_t age_ms = static_cast<int64_t>(wall_ms_) - cell.timestamp_ms;
  if (tags.ttl_ms && *tags.ttl_ms < age_ms) return true;
  return tags.is_mob_reference && family_options_.ttl_ms > 0 &&
         family_options_.min_versions == 0 && age_ms > 0 &&
         static_cast<uint64_t>(age_ms) > family_options_.ttl_ms;
}

Status CellLoader::CheckLabels(const HFileCellView& cell,
                               const std::optional<CellTags>& tags) {
  const bool has_label = tags && tags->has_visibility_label;
  const bool is_delete = cell.type != HFileCellType::kPut;
  if ((has_label && (is_delete || has_deletes_)) ||
      (is_delete && has_labels_)) {
    return NotSupported(
        is_delete ? "a delete" : "a visibility label", " in a family with ",
        is_delete ? "visibility labels" : "deletes",
        ": a delete takes only cells of its own label in HBase, and cells of "
        "any in a store. A major compaction in HBase leaves no deletes");
  }
  has_labels_ = has_labels_ || has_label;
  has_deletes_ = has_deletes_ || is_delete;
  return Status::OK();
}

// CheckLabels has noted the kind of the cell.
Status CellLoader::CheckFamily(const HFileCellView& cell) {
  if (!first_family_) first_family_ = cell.family;
  if (!other_family_ && cell.family != *first_family_) {
    other_family_ = cell.family;
  }
  if (!other_family_ || !has_deletes_) return Status::OK();
  return NotSupported("cells of families \"", ToPrintable(*first_family_),
                      "\" and \"", ToPrintable(*other_family_),
                      "\" for one family, and some of them are deletes, which "
                      "would take cells of both. A major compaction in HBase "
                      "leaves no deletes");
}

Status CellLoader::ReadValue(const Value& value, std::string_view* bytes) {
  *bytes = value.cell.value;
  if (!value.reference) return Status::OK();
  Status s =
      mob_files_->Read(value.root, value.cell, *value.reference, &mob_value_);
  *bytes = mob_value_;
  return s;
}

Change CellLoader::PutOf(const Value& value, std::string_view bytes) const {
  const auto timestamp_ms = static_cast<uint64_t>(value.cell.timestamp_ms);
  Change put{ChangeType::kPut,     value.cell.row, family_,
             value.cell.qualifier, bytes,          timestamp_ms,
             value.ttl_ms};
  if (latest_ && timestamp_ms >= now_ms_) {
    put.timestamp_ms.reset();
    if (put.ttl_ms) {
      put.ttl_ms =
          std::min(*put.ttl_ms + (timestamp_ms - now_ms_), kMaxTimestampMs);
    }
  }
  return put;
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

Status CellLoader::AddPut(uint64_t timestamp_ms, const Value& value) {
  // The versions beyond max_versions are the store's to drop: it may have
  // deleted some of these already. A load takes kMaxCellBytes of a cell.
  const bool surplus =
      puts_ > 0 &&
      (latest_ || value_bytes_ + value.size_bytes() > kMaxCellBytes);
  if (IsDeleted(timestamp_ms) || version_deleted_ms_ == timestamp_ms ||
      versions_deleted_.contains(timestamp_ms) || surplus) {
    return Status::OK();
  }
  std::string_view bytes;
  Status s = ReadValue(value, &bytes);
  if (s.ok()) s = Load(PutOf(value, bytes));
  if (!s.ok()) return s;
  ++puts_;
  value_bytes_ += bytes.size();
  ++report_->puts;
  return s;
}

Status CellLoader::AddDeleteVersion(uint64_t timestamp_ms) {
  if (IsDeleted(timestamp_ms) || version_deleted_ms_ == timestamp_ms) {
    return Status::OK();
  }
  version_deleted_ms_ = timestamp_ms;
  return LoadDelete(ChangeType::kDeleteVersion, timestamp_ms);
}

Status CellLoader::AddDeleteColumn(uint64_t timestamp_ms) {
  if (IsDeleted(timestamp_ms)) return Status::OK();
  column_deleted_ = true;
  return LoadDelete(ChangeType::kDelete, timestamp_ms);
}

Status CellLoader::AddDeleteFamily(uint64_t timestamp_ms) {
  // They come newest first.
  if (family_deleted_ms_) return Status::OK();
  family_deleted_ms_ = timestamp_ms;
  return LoadDelete(ChangeType::kDeleteFamily, timestamp_ms);
}

Status CellLoader::AddDeleteFamilyVersion(uint64_t timestamp_ms) {
  versions_deleted_.insert(timestamp_ms);
  // A delete of the column here, the empty one, takes nothing of the others.
  if (family_deleted_ms_ && timestamp_ms <= *family_deleted_ms_) {
    return Status::OK();
  }
  return LoadDelete(ChangeType::kDeleteFamilyVersion, timestamp_ms);
}

Status CellLoader::LoadDelete(ChangeType type, uint64_t timestamp_ms) {
  if (latest_) return Status::OK();
  Status s = Load({type, row_, family_, qualifier_, {}, timestamp_ms});
  if (s.ok()) ++report_->deletes;
  return s;
}

Status CellLoader::Load(const Change& change) {
  if (load_ == nullptr) return Status::OK();
  return mode_ == Mode::kTry ? load_->Check(change) : load_->Add(change);
}

}  // namespace rowbloom::hfile_transfer

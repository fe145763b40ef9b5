#include "storage/store/reclaim.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "storage/store/cell_value.h"

namespace rowbloom {
namespace {

using rocksdb::CompactionFilter;
using rocksdb::Slice;
using Decision = CompactionFilter::Decision;

// Values that cannot be decoded stay: reading them says what is wrong.

// One (sub)compaction: keys come in order, from one thread. FilterV2 is const
// in RocksDB's interface, hence the mutable members.
class Reclaim final : public CompactionFilter {
 public:
  Reclaim(CellFormat format, std::shared_ptr<const SharedRules> family,
          const KeyLayout& key_layout, SharedState* shared)
      : format_(format),
        family_(std::move(family)),
        rules_(family_->Get()),
        key_layout_(key_layout),
        shared_(shared),
        // RocksDB asks filters about what a snapshot still sees, too. Whoever
        // takes a snapshot from now on sees all deletes that are compacted.
        apply_family_deletes_(shared->snapshots == 0) {}

  const char* Name() const override { return "rowbloom.Reclaim"; }

  Decision FilterV2(int /*level*/, const Slice& key, ValueType type,
                    const Slice& stored, std::string* new_value,
                    std::string* /*skip_until*/) const override {
    if (type != ValueType::kValue && type != ValueType::kMergeOperand) {
      return Decision::kKeep;
    }
    const uint64_t wall_ms = shared_->clock.WallNow();
    if (format_ == CellFormat::kLatest) {
      CellValue cell;
      const bool expired = DecodeCellValue(stored.ToStringView(), &cell) &&
                           rules_.min_versions == 0 &&
                           rules_.Expired(cell.timestamp_ms, wall_ms);
      return expired ? Decision::kRemove : Decision::kKeep;
    }
    std::string problem;
    if (!DecodeEntries(stored.ToStringView(), &entries_, &problem)) {
      return Decision::kKeep;
    }
    if (apply_family_deletes_) EnterRow(key.ToStringView());
    const bool removed = RemoveDead(
        rules_, {wall_ms, family_->NoPutsBeforeMs(), &row_deletes_}, &entries_);
    if (entries_.empty()) return Decision::kRemove;
    if (!removed) return Decision::kKeep;
    *new_value = EncodeEntries(entries_);
    return Decision::kChangeValue;
  }

 private:
  // Notes the deletes of the row, which come before its cells.
  void EnterRow(std::string_view key) const {
    const size_t row_bytes = key_layout_.RowBytes(key);
    if (row_bytes == KeyLayout::kNoRow) {
      row_deletes_.clear();
      return;
    }
    const std::string_view row = key.substr(0, row_bytes);
    if (row != row_) {
      row_ = row;
      row_deletes_.clear();
    }
    if (row_bytes == key.size()) row_deletes_.Add(entries_);
  }

  const CellFormat format_;
  const std::shared_ptr<const SharedRules> family_;
  const VersionRules rules_;
  const KeyLayout key_layout_;
  SharedState* const shared_;
  const bool apply_family_deletes_;
  mutable Entries entries_;
  mutable std::string row_;
  mutable RowDeletes row_deletes_;  // none while they may not be applied
};

class ReclaimFactory final : public rocksdb::CompactionFilterFactory {
 public:
  ReclaimFactory(CellFormat format, std::shared_ptr<const SharedRules> rules,
                 const KeyLayout& key_layout,
                 std::shared_ptr<SharedState> shared)
      : format_(format),
        rules_(std::move(rules)),
        key_layout_(key_layout),
        shared_(std::move(shared)) {}

  const char* Name() const override { return "rowbloom.Reclaim"; }

  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& /*context*/) override {
    if (format_ == CellFormat::kLatest && rules_->Get().ttl_ms == 0) {
      return nullptr;
    }
    return std::make_unique<Reclaim>(format_, rules_, key_layout_,
                                     shared_.get());
  }

 private:
  const CellFormat format_;
  const std::shared_ptr<const SharedRules> rules_;
  const KeyLayout key_layout_;
  const std::shared_ptr<SharedState> shared_;  // outlives the filters
};

}  // namespace

std::shared_ptr<rocksdb::CompactionFilterFactory> NewReclaim(
    CellFormat format, std::shared_ptr<const SharedRules> rules,
    const KeyLayout& key_layout, std::shared_ptr<SharedState> shared) {
  return std::make_shared<ReclaimFactory>(format, std::move(rules), key_layout,
                                          std::move(shared));
}

}  // namespace rowbloom

#include "storage/store/reclaim.h"

#include <algorithm>
#include <functional>
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

class LatestReclaim final : public CompactionFilter {
 public:
  LatestReclaim(const VersionRules& rules, SharedState* shared)
      : rules_(rules), shared_(shared) {}

  const char* Name() const override { return "rowbloom.LatestReclaim"; }

  Decision FilterV2(int /*level*/, const Slice& /*key*/, ValueType type,
                    const Slice& stored, std::string* /*new_value*/,
                    std::string* /*skip_until*/) const override {
    CellValue cell;
    if (type != ValueType::kValue ||
        !DecodeCellValue(stored.ToStringView(), &cell) ||
        !rules_.Expired(cell.timestamp_ms, shared_->clock.WallNow())) {
      return Decision::kKeep;
    }
    return Decision::kRemove;
  }

 private:
  const VersionRules rules_;
  SharedState* const shared_;
};

// One (sub)compaction: keys come in order, from one thread. FilterV2 is const
// in RocksDB's interface, hence the mutable members.
class VersionReclaim final : public CompactionFilter {
 public:
  VersionReclaim(std::shared_ptr<const SharedRules> family,
                 const KeyLayout& key_layout, SharedState* shared)
      : family_(std::move(family)),
        rules_(family_->Get()),
        key_layout_(key_layout),
        shared_(shared),
        // RocksDB asks filters about what a snapshot still sees, too. Whoever
        // takes a snapshot from now on sees all deletes that are compacted.
        apply_family_deletes_(shared->snapshots == 0) {}

  const char* Name() const override { return "rowbloom.VersionReclaim"; }

  Decision FilterV2(int /*level*/, const Slice& key, ValueType type,
                    const Slice& stored, std::string* new_value,
                    std::string* /*skip_until*/) const override {
    std::string problem;
    if ((type != ValueType::kValue && type != ValueType::kMergeOperand) ||
        !DecodeEntries(stored.ToStringView(), &entries_, &problem)) {
      return Decision::kKeep;
    }
    if (apply_family_deletes_) EnterRow(key.ToStringView());
    const bool removed = RemoveDead(
        rules_,
        {shared_->clock.WallNow(), family_->NoPutsBeforeMs(), &row_deletes_},
        &entries_);
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
  using Make = std::function<std::unique_ptr<CompactionFilter>()>;
  ReclaimFactory(std::shared_ptr<SharedState> shared, Make make)
      : shared_(std::move(shared)), make_(std::move(make)) {}

  const char* Name() const override { return "rowbloom.Reclaim"; }

  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& /*context*/) override {
    return make_();
  }

 private:
  const std::shared_ptr<SharedState> shared_;  // outlives the filters
  const Make make_;
};

}  // namespace

std::shared_ptr<rocksdb::CompactionFilterFactory> NewLatestReclaim(
    std::shared_ptr<const SharedRules> rules,
    std::shared_ptr<SharedState> shared) {
  SharedState* const state = shared.get();
  return std::make_shared<ReclaimFactory>(
      std::move(shared),
      [rules = std::move(rules), state]() -> std::unique_ptr<LatestReclaim> {
        const VersionRules& now = rules->Get();
        if (now.ttl_ms == 0 || now.min_versions > 0) return nullptr;
        return std::make_unique<LatestReclaim>(now, state);
      });
}

std::shared_ptr<rocksdb::CompactionFilterFactory> NewVersionReclaim(
    std::shared_ptr<const SharedRules> rules, const KeyLayout& key_layout,
    std::shared_ptr<SharedState> shared) {
  SharedState* const state = shared.get();
  return std::make_shared<ReclaimFactory>(
      std::move(shared), [rules = std::move(rules), key_layout, state] {
        return std::make_unique<VersionReclaim>(rules, key_layout, state);
      });
}

}  // namespace rowbloom

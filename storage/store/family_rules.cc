#include "storage/store/family_rules.h"

#include <deque>
#include <optional>
#include <string>

#include "rocksdb/env.h"
#include "rowbloom/printable.h"
#include "storage/store/compaction_gate.h"

namespace rowbloom {
namespace {

using rocksdb::CompactionFilter;
using rocksdb::Slice;

// Operands of more bytes are not joined: joining would copy them once per
// level, and once more for a read.
constexpr size_t kMaxCombinedBytes = size_t{64} << 20;

// Tells whether `body` returned true. An exception would end the process in a
// thread of RocksDB, and in a read leave a state that stops the next read.
template <typename Body>
bool Succeeds(Body body) noexcept {
  try {
    return body();
  } catch (...) {
    return false;
  }
}

// Removes what the running compaction would remove from a value of a family
// with these rules. Does nothing in a thread that runs none of that family.
void ReclaimMerged(const SharedRules* rules, std::string_view key,
                   Entries* merged);

class VersionMergeOperator final : public rocksdb::MergeOperator {
 public:
  explicit VersionMergeOperator(std::shared_ptr<const SharedRules> rules)
      : rules_(std::move(rules)) {}

  const char* Name() const override { return "rowbloom.VersionMerge"; }

  bool FullMergeV2(const MergeOperationInput& in,
                   MergeOperationOutput* out) const override {
    return Succeeds([&] { return Merge(in, out); });
  }

  bool PartialMergeMulti(const Slice& key, const std::deque<Slice>& operands,
                         std::string* combined,
                         rocksdb::Logger* logger) const override {
    return Succeeds([&] { return Combine(key, operands, combined, logger); });
  }

 private:
  bool Merge(const MergeOperationInput& in, MergeOperationOutput* out) const {
    Entries entries;
    if (in.existing_value == nullptr && in.operand_list.size() == 1) {
      // A single entry is not surplus, but some of several may be. Reads report
      // bytes that cannot be decoded.
      const Slice& stored = in.operand_list.front();
      std::string problem;
      if (!DecodeEntries(stored.ToStringView(), &entries, &problem) ||
          entries.size() <= 1) {
        out->existing_operand = stored;
        return true;
      }
      entries.clear();
    }
    const VersionRules rules = rules_->Merging();
    if (in.existing_value != nullptr &&
        !Decode(in.key, *in.existing_value, &entries, in.logger)) {
      return false;
    }
    const auto apply = [&](const Entries& operand) {
      entries = ApplyOperand(entries, operand, rules);
      return true;
    };
    const size_t state_bytes =
        in.existing_value == nullptr ? 0 : in.existing_value->size();
    if (!ForEachRun(in.key, in.operand_list, state_bytes, in.logger, apply)) {
      return false;
    }
    // RocksDB passes no merged value to the compaction filter. A cell may have
    // a new operand in each compaction.
    ReclaimMerged(rules_.get(), in.key.ToStringView(), &entries);
    out->new_value = EncodeEntries(entries);
    return true;
  }

  bool Combine(const Slice& key, const std::deque<Slice>& operands,
               std::string* combined, rocksdb::Logger* logger) const {
    if (BytesOf(operands) > kMaxCombinedBytes) return false;
    Entries entries;
    const auto apply = [&](const Entries& operand) {
      auto joined = CombineOperands(entries, operand);
      if (joined) entries = *std::move(joined);
      return joined.has_value();
    };
    if (!ForEachRun(key, operands, /*state_bytes=*/0, logger, apply)) {
      return false;
    }
    *combined = EncodeEntries(entries);
    return true;
  }

  template <typename Operands>
  static size_t BytesOf(const Operands& operands) {
    size_t byte_count = 0;
    for (const Slice& stored : operands) byte_count += stored.size();
    return byte_count;
  }

  // Calls apply(operand) for the operands in order, until it returns false.
  // Returns whether all calls returned true. Neighbours that have only puts
  // share a call, as each call takes time for all versions. Versions that may
  // be too large together are applied one by one: which of them are surplus
  // depends on those before them.
  template <typename Operands, typename Apply>
  static bool ForEachRun(const Slice& key, const Operands& operands,
                         size_t state_bytes, rocksdb::Logger* logger,
                         const Apply& apply) {
    const bool joins = state_bytes + BytesOf(operands) <= kMaxCellBytes;
    Entries puts;
    const auto end_run = [&] {
      const bool applied = puts.empty() || apply(JoinPuts(puts));
      puts.clear();
      return applied;
    };
    Entries operand;
    for (const Slice& stored : operands) {
      if (!Decode(key, stored, &operand, logger)) return false;
      const bool has_deletes = std::ranges::any_of(
          operand,
          [](const Entry& entry) { return entry.type != ChangeType::kPut; });
      if (joins && !has_deletes && !operand.empty()) {
        puts.insert(puts.end(), operand.begin(), operand.end());
      } else if (!end_run() || !apply(operand)) {
        return false;
      }
    }
    return end_run();
  }

  static bool Decode(const Slice& key, const Slice& stored, Entries* entries,
                     rocksdb::Logger* logger) {
    std::string problem;
    if (DecodeEntries(stored.ToStringView(), entries, &problem)) return true;
    // RocksDB's own status has neither key nor reason.
    rocksdb::Error(logger, "rowbloom: key \"%s\", versions of a cell: %s",
                   ToPrintable(key.ToStringView()).c_str(), problem.c_str());
    return false;
  }

  const std::shared_ptr<const SharedRules> rules_;
};

// Filters one (sub)compaction: one thread makes the filter, passes the keys in
// order, merges their values, and destroys it. FilterV2 is const in RocksDB's
// interface, hence the mutable members. Values that cannot be decoded stay:
// reads report them.
class Reclaim final : public CompactionFilter {
 public:
  explicit Reclaim(const ReclaimParts& parts)
      : parts_(parts),
        begun_(CompactionGate::TakeBegun()),
        wall_ms_(parts.shared->clock.WallNow()),
        // AlterFamily changes no rules while a compaction runs.
        rules_(parts.rules->Get()),
        drops_surplus_(parts.rules->Merging() == rules_),
        // RocksDB also passes entries that a snapshot still sees. A snapshot
        // taken from now on sees all deletes that are compacted. RocksDB also
        // passes deletes that were removed. Later ones (kLaterPuts) must not
        // take entries that were written after the removal.
        apply_family_deletes_(!begun_.has_snapshots &&
                              !parts.shared->MayHave(kLaterPuts)) {
    running_ = this;
  }
  ~Reclaim() override { running_ = nullptr; }

  // The filter of the compaction that this thread runs, or null.
  static const Reclaim* Running() { return running_; }

  const SharedRules* rules() const { return parts_.rules.get(); }

  const char* Name() const override { return "rowbloom.Reclaim"; }

  Decision FilterV2(int /*level*/, const Slice& key, ValueType type,
                    const Slice& stored, std::string* new_value,
                    std::string* /*skip_until*/) const override {
    Decision decision = Decision::kKeep;
    Succeeds([&] {
      decision = Decide(key, type, stored, new_value);
      return true;
    });
    return decision;
  }

  // Removes dead entries of a record. True: there were some.
  bool RemoveDeadOf(std::string_view key, bool is_operand,
                    Entries* entries) const {
    if (apply_family_deletes_) EnterRow(key, *entries);
    const uint64_t no_puts_before_ms = NoPutsBeforeMs(*entries);
    const bool keeps_row_deletes = no_puts_before_ms > 0 && KeepsRowDeletes();
    return RemoveDead(rules_,
                      {wall_ms_, no_puts_before_ms, &row_deletes_, is_operand,
                       keeps_row_deletes},
                      entries);
  }

 private:
  Decision Decide(const Slice& key, ValueType type, const Slice& stored,
                  std::string* new_value) const {
    if (type != ValueType::kValue && type != ValueType::kMergeOperand) {
      return Decision::kKeep;
    }
    if (parts_.format == CellFormat::kLatest) {
      CellValue cell;
      return DecodeCellValue(stored.ToStringView(), &cell) &&
                     rules_.Hide(cell, wall_ms_)
                 ? Decision::kRemove
                 : Decision::kKeep;
    }
    std::string problem;
    if (!DecodeEntries(stored.ToStringView(), &entries_, &problem)) {
      return Decision::kKeep;
    }
    bool removed = RemoveDeadOf(key.ToStringView(),
                                type == ValueType::kMergeOperand, &entries_);
    // Merges left surplus versions if max_versions became smaller afterwards.
    if (type == ValueType::kValue && drops_surplus_) {
      removed |= DropSurplus(rules_, &entries_);
    }
    if (entries_.empty()) return Decision::kRemove;
    if (!removed) return Decision::kKeep;
    *new_value = EncodeEntries(entries_);
    return Decision::kChangeValue;
  }

  // Returns ReclaimFacts::no_puts_before_ms. The first expired delete makes it
  // inspect the family's files, of which there may be many.
  uint64_t NoPutsBeforeMs(const Entries& entries) const {
    const bool has_expired_delete =
        std::ranges::any_of(entries, [this](const Entry& entry) {
          return (entry.type != ChangeType::kPut || entry.ttl_ms == 0) &&
                 rules_.Expired(entry.timestamp_ms, wall_ms_);
        });
    if (!has_expired_delete || rules_.min_versions > 0) return 0;
    if (!oldest_put_) oldest_put_.emplace(parts_.rules->oldest_put);
    return oldest_put_->ms();
  }

  // Returns ReclaimFacts::keeps_row_deletes. Files below the level that the
  // compaction writes to, or a part of it that a snapshot sees, may have older
  // records of the key with deletes of the row. A later compaction, which may
  // not have what hides them, would apply them to puts that no delete takes any
  // more.
  bool KeepsRowDeletes() const {
    // None is applied.
    if (parts_.shared->MayHave(kLaterPuts)) return false;
    if (!is_lowest_) {
      is_lowest_ = parts_.rules->oldest_put.IsLowest(begun_.output_level);
    }
    return !apply_family_deletes_ || !*is_lowest_;
  }

  // Notes the deletes of the row, which come before its cells.
  void EnterRow(std::string_view key, const Entries& entries) const {
    const size_t row_bytes = parts_.key_layout.RowBytes(key);
    if (row_bytes == KeyLayout::kNoRow) {
      row_deletes_.clear();
      return;
    }
    const std::string_view row = key.substr(0, row_bytes);
    if (row != row_) {
      row_ = row;
      row_deletes_.clear();
    }
    if (row_bytes == key.size()) row_deletes_.Add(entries);
  }

  static inline thread_local const Reclaim* running_ = nullptr;

  const ReclaimParts parts_;
  const BegunCompaction begun_;
  const uint64_t wall_ms_;
  const VersionRules rules_;
  const bool drops_surplus_;
  const bool apply_family_deletes_;
  // Once they are needed:
  mutable std::optional<OldestPut::Bound> oldest_put_;
  mutable std::optional<bool> is_lowest_;  // its level
  mutable Entries entries_;
  mutable std::string row_;
  mutable RowDeletes row_deletes_;  // none while they may not be applied
};

void ReclaimMerged(const SharedRules* rules, std::string_view key,
                   Entries* merged) {
  const Reclaim* const running = Reclaim::Running();
  if (running == nullptr || running->rules() != rules) return;
  running->RemoveDeadOf(key, /*is_operand=*/false, merged);
}

class ReclaimFactory final : public rocksdb::CompactionFilterFactory {
 public:
  explicit ReclaimFactory(ReclaimParts parts) : parts_(std::move(parts)) {}

  const char* Name() const override { return "rowbloom.Reclaim"; }

  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& /*context*/) override {
    if (parts_.format == CellFormat::kLatest &&
        parts_.rules->Get().ttl_ms == 0 && !parts_.shared->MayHave(kCellTtls)) {
      return nullptr;
    }
    std::unique_ptr<CompactionFilter> filter;  // null keeps everything
    Succeeds([&] {
      filter = std::make_unique<Reclaim>(parts_);
      return true;
    });
    return filter;
  }

 private:
  const ReclaimParts parts_;
};

}  // namespace

std::shared_ptr<rocksdb::MergeOperator> NewVersionMergeOperator(
    std::shared_ptr<const SharedRules> rules) {
  return std::make_shared<VersionMergeOperator>(std::move(rules));
}

std::shared_ptr<rocksdb::CompactionFilterFactory> NewReclaim(
    ReclaimParts parts) {
  return std::make_shared<ReclaimFactory>(std::move(parts));
}

}  // namespace rowbloom

#include "storage/store/version_merge.h"

#include <deque>
#include <string>
#include <utility>

#include "rocksdb/env.h"
#include "rowbloom/printable.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;

// Operands of more bytes are left apart: joining them would copy them once per
// level, and once more for a read.
constexpr size_t kMaxCombinedBytes = size_t{64} << 20;

class VersionMergeOperator final : public rocksdb::MergeOperator {
 public:
  explicit VersionMergeOperator(std::shared_ptr<const SharedRules> rules)
      : rules_(std::move(rules)) {}

  const char* Name() const override { return "rowbloom.VersionMerge"; }

  bool FullMergeV2(const MergeOperationInput& in,
                   MergeOperationOutput* out) const override {
    Entries entries;
    if (in.existing_value == nullptr && in.operand_list.size() == 1) {
      // Of several writes, some may be surplus. What cannot be decoded is
      // named by whoever reads it.
      const Slice& stored = in.operand_list.front();
      std::string problem;
      if (!DecodeEntries(stored.ToStringView(), &entries, &problem) ||
          entries.size() <= 1) {
        out->existing_operand = stored;
        return true;
      }
      entries.clear();
    }
    const VersionRules& rules = rules_->Get();
    if (in.existing_value != nullptr &&
        !Decode(in.key, *in.existing_value, &entries, in.logger)) {
      return false;
    }
    Entries operand;
    for (const Slice& stored : in.operand_list) {
      if (!Decode(in.key, stored, &operand, in.logger)) return false;
      entries = ApplyOperand(entries, operand, rules);
    }
    out->new_value = EncodeEntries(entries);
    return true;
  }

  bool PartialMergeMulti(const Slice& key, const std::deque<Slice>& operands,
                         std::string* combined,
                         rocksdb::Logger* logger) const override {
    size_t byte_count = 0;
    for (const Slice& stored : operands) byte_count += stored.size();
    if (byte_count > kMaxCombinedBytes) return false;
    Entries entries;
    Entries operand;
    for (const Slice& stored : operands) {
      if (!Decode(key, stored, &operand, logger)) return false;
      auto joined = CombineOperands(entries, operand);
      if (!joined) return false;
      entries = *std::move(joined);
    }
    *combined = EncodeEntries(entries);
    return true;
  }

 private:
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

}  // namespace

std::shared_ptr<rocksdb::MergeOperator> NewVersionMergeOperator(
    std::shared_ptr<const SharedRules> rules) {
  return std::make_shared<VersionMergeOperator>(std::move(rules));
}

}  // namespace rowbloom

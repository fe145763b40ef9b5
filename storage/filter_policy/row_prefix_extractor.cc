#include <string>

#include "rowbloom/filter_policy.h"
#include "storage/filter_policy/ids.h"
#include "storage/filter_policy/objects.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;

class RowPrefixExtractor final : public rocksdb::SliceTransform {
 public:
  explicit RowPrefixExtractor(const KeyLayout& layout)
      : layout_(layout),
        name_(std::string(kExtractorIdPrefix) + layout.ToString()) {}

  const char* Name() const override { return name_.c_str(); }

  // RocksDB also transforms seek keys and bounds: any bytes have an answer.
  Slice Transform(const Slice& key) const override {
    const auto row_bytes = RowBytes(key);
    return row_bytes ? Slice(key.data(), *row_bytes) : key;
  }

  bool InDomain(const Slice& key) const override {
    return RowBytes(key).has_value();
  }

  bool FullLengthEnabled(size_t* len) const override {
    const auto fixed = layout_.FixedRowBytes();
    if (fixed) *len = *fixed;
    return fixed.has_value();
  }

  bool SameResultWhenAppended(const Slice& prefix) const override {
    return InDomain(prefix);
  }

 private:
  std::optional<size_t> RowBytes(const Slice& key) const {
    try {
      const auto split = layout_.Split({key.data(), key.size()});
      if (split) return split->row.size();
    } catch (...) {  // of a custom layout; RocksDB is not exception-safe
    }
    return std::nullopt;
  }

  KeyLayout layout_;
  std::string name_;
};

}  // namespace

std::unique_ptr<const rocksdb::SliceTransform> MakeRowPrefixExtractor(
    const KeyLayout& key_layout) {
  return std::make_unique<RowPrefixExtractor>(key_layout);
}

std::shared_ptr<const rocksdb::SliceTransform> NewRowPrefixExtractor(
    const KeyLayout& key_layout) {
  return MakeRowPrefixExtractor(key_layout);
}

}  // namespace rowbloom

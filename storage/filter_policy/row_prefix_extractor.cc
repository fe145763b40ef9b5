#include <atomic>
#include <cstddef>
#include <new>
#include <string>

#include "rowbloom/filter_policy.h"
#include "storage/filter_policy/ids.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;

constinit std::atomic<uint64_t> failures{0};

class RowPrefixExtractor final : public rocksdb::SliceTransform {
 public:
  explicit RowPrefixExtractor(const KeyLayout& layout)
      : layout_(layout),
        name_(std::string(kExtractorIdPrefix) + layout.ToString()) {}

  const char* Name() const override { return name_.c_str(); }

  // RocksDB also transforms seek keys and bounds: any bytes have an answer.
  Slice Transform(const Slice& key) const override {
    const size_t row_bytes = RowBytes(key);
    return row_bytes == KeyLayout::kNoRow ? key : Slice(key.data(), row_bytes);
  }

  bool InDomain(const Slice& key) const override {
    return RowBytes(key) != KeyLayout::kNoRow;
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
  // A seek calls it three times for each file.
  size_t RowBytes(const Slice& key) const {
    try {
      return layout_.RowBytes(key.ToStringView());
    } catch (const std::bad_alloc&) {
      failures.fetch_add(1, std::memory_order_relaxed);
    } catch (...) {  // a custom layout; RocksDB is not exception-safe
    }
    return KeyLayout::kNoRow;
  }

  KeyLayout layout_;
  std::string name_;
};

}  // namespace

uint64_t ExtractorFailures() {
  return failures.load(std::memory_order_relaxed);
}

std::unique_ptr<const rocksdb::SliceTransform> MakeRowPrefixExtractor(
    const KeyLayout& key_layout) {
  if (!KeyLayout::FromString(key_layout.ToString())) return nullptr;
  return std::make_unique<RowPrefixExtractor>(key_layout);
}

std::shared_ptr<const rocksdb::SliceTransform> NewRowPrefixExtractor(
    const KeyLayout& key_layout) {
  return MakeRowPrefixExtractor(key_layout);
}

}  // namespace rowbloom

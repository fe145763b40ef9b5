#include "storage/store/row_counter.h"

#include <string>
#include <string_view>

#include "lib/bytes/text.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::UserCollectedProperties;

// On disk, never rename.
constexpr char kRowsProperty[] = "rowbloom.rows";
constexpr char kPutsProperty[] = "rowbloom.puts";

class RowCounter final : public rocksdb::TablePropertiesCollector {
 public:
  explicit RowCounter(const KeyLayout& key_layout) : key_layout_(key_layout) {}

  const char* Name() const override { return "rowbloom.RowCounter"; }

  Status AddUserKey(const Slice& slice, const Slice& /*value*/,
                    rocksdb::EntryType type, rocksdb::SequenceNumber /*seq*/,
                    uint64_t /*file_bytes*/) override {
    if (type != rocksdb::kEntryPut && type != rocksdb::kEntryMerge) {
      return Status::OK();
    }
    ++counts_.puts;
    const std::string_view key = slice.ToStringView();
    if (counts_.rows > 0 && key.starts_with(row_)) return Status::OK();
    const size_t row_bytes = key_layout_.RowBytes(key);
    if (row_bytes == KeyLayout::kNoRow) return Status::OK();
    row_ = key.substr(0, row_bytes);
    ++counts_.rows;
    return Status::OK();
  }

  Status Finish(UserCollectedProperties* properties) override {
    *properties = GetReadableProperties();
    return Status::OK();
  }

  UserCollectedProperties GetReadableProperties() const override {
    return {{kRowsProperty, std::to_string(counts_.rows)},
            {kPutsProperty, std::to_string(counts_.puts)}};
  }

 private:
  const KeyLayout key_layout_;
  RowCounts counts_;
  std::string row_;  // row bytes of the last row
};

class RowCounterFactory final
    : public rocksdb::TablePropertiesCollectorFactory {
 public:
  explicit RowCounterFactory(const KeyLayout& key_layout)
      : key_layout_(key_layout) {}

  const char* Name() const override { return "rowbloom.RowCounter"; }

  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(
      Context /*context*/) override {
    return new RowCounter(key_layout_);
  }

 private:
  const KeyLayout key_layout_;
};

}  // namespace

std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> NewRowCounterFactory(
    const KeyLayout& key_layout) {
  return std::make_shared<RowCounterFactory>(key_layout);
}

std::optional<RowCounts> CountsOf(const rocksdb::TableProperties& properties) {
  RowCounts counts;
  const auto read = [&properties](const char* name, uint64_t* count) {
    const auto& collected = properties.user_collected_properties;
    const auto found = collected.find(name);
    return found != collected.end() && ParseNumber(found->second, count);
  };
  if (!read(kRowsProperty, &counts.rows) ||
      !read(kPutsProperty, &counts.puts) || counts.rows > counts.puts) {
    return std::nullopt;
  }
  return counts;
}

}  // namespace rowbloom

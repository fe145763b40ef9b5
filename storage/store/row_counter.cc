#include "storage/store/row_counter.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "lib/block/filter_block_builder.h"
#include "lib/bytes/text.h"
#include "rowbloom/front_filter.h"
#include "storage/cells/cell_versions.h"
#include "storage/format/no_exceptions.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::UserCollectedProperties;

// The limit for a file, as RocksDB holds properties of open files in memory.
constexpr size_t kMostBareRows = size_t{1} << 16;

bool IsDelete(rocksdb::EntryType type) {
  return type == rocksdb::kEntryDelete || type == rocksdb::kEntrySingleDelete ||
         type == rocksdb::kEntryRangeDeletion;
}

class RowCounter final : public rocksdb::TablePropertiesCollector {
 public:
  RowCounter(const KeyLayout& key_layout, CellFormat format)
      : key_layout_(key_layout),
        bare_rows_(FilterBlockOptions{.bloom_type = BloomType::kRow,
                                      .key_layout = key_layout}),
        has_times_(format == CellFormat::kVersioned) {}

  const char* Name() const override { return "rowbloom.RowCounter"; }

  Status AddUserKey(const Slice& key, const Slice& value,
                    rocksdb::EntryType type, rocksdb::SequenceNumber sequence,
                    uint64_t /*file_bytes*/) override {
    const Status s = CatchExceptions([&] {
      if (has_times_) NoteTimes(value, type, sequence);
      return IsDelete(type) ? Status::OK() : Count(key.ToStringView());
    });
    if (!s.ok()) {
      has_times_ = false;
      bare_rows_.reset();
    }
    return s;
  }

  Status Finish(UserCollectedProperties* properties) override {
    return CatchExceptions([&] {
      *properties = GetReadableProperties();
      if (bare_rows_) (*properties)[kBareRowsProperty] = bare_rows_->Finish();
      return Status::OK();
    });
  }

  UserCollectedProperties GetReadableProperties() const override {
    UserCollectedProperties properties = {
        {kRowsProperty, std::to_string(rows_)},
        {kPutsProperty, std::to_string(puts_)}};
    if (has_times_) {
      properties[kOldestPutProperty] = std::to_string(oldest_put_ms_);
    }
    if (has_times_ && !may_hide_ && newest_ms_) {
      properties[kNewestProperty] = std::to_string(*newest_ms_);
    }
    return properties;
  }

 private:
  // Notes the times of a record of a `versioned` family. A value in a blob file
  // cannot be read here.
  void NoteTimes(const Slice& value, rocksdb::EntryType type,
                 rocksdb::SequenceNumber sequence) {
    const bool is_operand = type == rocksdb::kEntryMerge;
    const bool is_value = type == rocksdb::kEntryPut;
    // A read that needs only later times can skip the file if its records hide
    // nothing in other files. Merge operands hide nothing else, nor do puts
    // with the sequence number 0, which RocksDB gives to puts with nothing
    // older beneath: the versions that a cell shows of a time depend only on
    // its entries of that time and later. Other records may hide entries of
    // other files, which may be newer: tombstones, and puts of joined values,
    // which may have had a tombstone beneath or have lost expired entries.
    may_hide_ |= !is_operand && !(is_value && sequence == 0);
    if (IsDelete(type)) return;
    std::string problem;
    has_times_ = (is_operand || is_value) &&
                 DecodeEntries(value.ToStringView(), &entries_, &problem);
    if (!has_times_ || entries_.empty()) return;
    newest_ms_ =
        std::max(newest_ms_, std::optional(entries_.front().timestamp_ms));
    for (const Entry& entry : entries_) {
      if (entry.type != ChangeType::kPut || entry.ttl_ms == 0) continue;
      oldest_put_ms_ = std::min(oldest_put_ms_, entry.timestamp_ms);
    }
  }

  Status Count(std::string_view key) {
    ++puts_;
    if (rows_ > 0 && key.starts_with(row_)) return Status::OK();
    const size_t row_bytes = key_layout_.RowBytes(key);
    if (row_bytes == KeyLayout::kNoRow) return Status::OK();
    row_ = key.substr(0, row_bytes);
    ++rows_;
    // A bare row is the first key of its row.
    if (row_bytes != key.size() || !bare_rows_) return Status::OK();
    bare_rows_->AddKey(key);
    if (bare_rows_->EstimateEntries() > kMostBareRows) bare_rows_.reset();
    return Status::OK();
  }

  const KeyLayout key_layout_;
  uint64_t rows_ = 0;
  uint64_t puts_ = 0;
  std::string row_;                              // row bytes of the last row
  std::optional<FilterBlockBuilder> bare_rows_;  // nullopt: too many
  bool has_times_;                               // all times are known
  bool may_hide_ = false;
  std::optional<uint64_t> newest_ms_;  // nullopt: no entry yet
  uint64_t oldest_put_ms_ = std::numeric_limits<uint64_t>::max();
  Entries entries_;  // NoteTimes's
};

class RowCounterFactory final
    : public rocksdb::TablePropertiesCollectorFactory {
 public:
  RowCounterFactory(const KeyLayout& key_layout, CellFormat format)
      : key_layout_(key_layout), format_(format) {}

  const char* Name() const override { return "rowbloom.RowCounter"; }

  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(
      Context /*context*/) override {
    return new RowCounter(key_layout_, format_);
  }

 private:
  const KeyLayout key_layout_;
  const CellFormat format_;
};

}  // namespace

std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> NewRowCounterFactory(
    const KeyLayout& key_layout, CellFormat format) {
  return std::make_shared<RowCounterFactory>(key_layout, format);
}

std::optional<uint64_t> NumberOf(const rocksdb::TableProperties& properties,
                                 const char* property) {
  const auto& collected = properties.user_collected_properties;
  const auto found = collected.find(property);
  uint64_t number = 0;
  if (found == collected.end() || !ParseNumber(found->second, &number)) {
    return std::nullopt;
  }
  return number;
}

}  // namespace rowbloom

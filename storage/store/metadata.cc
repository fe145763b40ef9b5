#include "storage/store/metadata.h"

#include <charconv>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "nlohmann/json.hpp"
#include "rocksdb/iterator.h"
#include "rowbloom/printable.h"
#include "storage/store/clock.h"
#include "storage/store/family_options.h"
#include "storage/store/status_text.h"

namespace rowbloom {
namespace {

using nlohmann::json;
using rocksdb::Slice;
using rocksdb::Status;

constexpr char kStoreKey[] = "store";
constexpr char kClockKey[] = "clock";
constexpr std::string_view kFamilyKeyPrefix = "family/";
constexpr std::string_view kDroppedKeyPrefix = "dropped/";

constexpr uint64_t kStoreFormat = 1;

constexpr char kRowAlignedFiles[] = "row_aligned_files";
constexpr char kRowDeletes[] = "row_deletes";
constexpr char kFamilyVersionDeletes[] = "family_version_deletes";

// Takes the fields of a JSON record one by one. The first problem stays; a
// record whose fields were not all taken is of a later version.
class Record {
 public:
  explicit Record(std::string_view text)
      : json_(json::parse(text, nullptr, /*allow_exceptions=*/false)) {
    if (!json_.is_object()) {
      status_ = Status::Corruption("expected a JSON object, found \"" +
                                   ToPrintable(text) + "\"");
    }
  }

  bool ok() const { return status_.ok(); }
  void Fail(const Status& status) {
    if (status_.ok()) status_ = status;
  }

  std::string TakeText(const char* field) {
    const json value = Take(field);
    if (value.is_string()) return value.get<std::string>();
    FailField(field, "a string", value);
    return {};
  }

  bool Has(const char* field) const {
    return json_.is_object() && json_.contains(field);
  }

  bool TakeTruth(const char* field) {
    const json value = Take(field);
    if (value.is_boolean()) return value.get<bool>();
    FailField(field, "true or false", value);
    return false;
  }

  double TakeNumber(const char* field) {
    const json value = Take(field);
    if (value.is_number()) return value.get<double>();
    FailField(field, "a number", value);
    return 0;
  }

  uint64_t TakeCount(const char* field, uint64_t max) {
    const json value = Take(field);
    if (value.is_number_unsigned() && value.get<uint64_t>() <= max) {
      return value.get<uint64_t>();
    }
    FailField(field, "a whole number up to " + std::to_string(max), value);
    return 0;
  }

  // An option that this version does not know may change what the cells mean:
  // a store with one is not opened.
  Status Finish() {
    if (status_.ok() && !json_.empty()) {
      status_ =
          Status::NotSupported("option \"" + ToPrintable(json_.begin().key()) +
                               "\" is of a later version of rowbloom");
    }
    return status_;
  }

 private:
  json Take(const char* field) {
    if (!Has(field)) return {};
    json value = std::move(json_[field]);
    json_.erase(field);
    return value;
  }

  void FailField(const char* field, const std::string& expected,
                 const json& found) {
    Fail(Status::Corruption(
        "field \"" + std::string(field) + "\": expected " + expected +
        ", found " +
        (found.is_null()
             ? "none"
             : ToPrintable(found.dump(-1, ' ', true,
                                      json::error_handler_t::replace)))));
  }

  json json_;
  Status status_;
};

Status ParseStoreRecord(std::string_view text, StoreRecord* store) {
  Record record(text);
  const uint64_t format =
      record.TakeCount("format", std::numeric_limits<uint64_t>::max());
  if (record.ok() && format != kStoreFormat) {
    return Status::NotSupported("store format " + std::to_string(format) +
                                " is of another version of rowbloom; this one "
                                "reads format " +
                                std::to_string(kStoreFormat));
  }
  const auto layout = KeyLayout::FromString(record.TakeText("key_layout"));
  if (!layout) {
    record.Fail(Status::NotSupported(ToPrintable(layout.error())));
  } else if (!layout->PreservesRowOrder()) {
    record.Fail(Status::NotSupported("key layout " + layout->ToString() +
                                     " does not keep the order of rows"));
  } else {
    store->key_layout = *layout;
  }
  // An earlier version ended files between rows. It means nothing any more.
  if (record.Has(kRowAlignedFiles)) record.TakeTruth(kRowAlignedFiles);
  if (record.Has(kRowDeletes)) {
    store->row_deletes = record.TakeTruth(kRowDeletes);
  }
  if (record.Has(kFamilyVersionDeletes)) {
    store->family_version_deletes = record.TakeTruth(kFamilyVersionDeletes);
  }
  return record.Finish();
}

Status ParseFamilyRecord(std::string_view text, FamilyOptions* options) {
  Record record(text);
  const std::string cell_format = record.TakeText("cell_format");
  if (record.ok() && cell_format != ToString(CellFormat::kLatest) &&
      cell_format != ToString(CellFormat::kVersioned)) {
    return Status::NotSupported("cell format \"" + ToPrintable(cell_format) +
                                "\" is of another version of rowbloom; this "
                                "one reads \"latest\" and \"versioned\"");
  }
  const std::string bloom_type = record.TakeText("bloom_type");
  if (const auto parsed = BloomTypeFromString(bloom_type)) {
    options->bloom_type = *parsed;
  } else {
    record.Fail(Status::NotSupported(parsed.error()));
  }
  // Without it: the family is from before there were kinds.
  if (record.Has("filter_kind")) {
    const std::string filter_kind = record.TakeText("filter_kind");
    if (const auto parsed = FilterKindFromString(filter_kind)) {
      options->filter_kind = *parsed;
    } else {
      record.Fail(Status::NotSupported(parsed.error()));
    }
  }
  const std::string compression = record.TakeText("compression");
  if (const auto parsed = CompressionFromString(compression)) {
    options->compression = *parsed;
  } else {
    record.Fail(Status::NotSupported("unknown compression \"" +
                                     ToPrintable(compression) + "\""));
  }
  constexpr uint64_t kMax = std::numeric_limits<uint32_t>::max();
  options->false_positive_rate = record.TakeNumber("false_positive_rate");
  options->row_prefix_length =
      static_cast<uint32_t>(record.TakeCount("row_prefix_length", kMax));
  options->block_size_bytes =
      static_cast<uint32_t>(record.TakeCount("block_size_bytes", kMax));
  const std::string timestamps = record.TakeText("timestamps");
  if (const auto parsed = TimestampsFromString(timestamps)) {
    options->timestamps = *parsed;
  } else {
    record.Fail(Status::NotSupported("unknown timestamps \"" +
                                     ToPrintable(timestamps) + "\""));
  }
  options->max_versions =
      static_cast<uint32_t>(record.TakeCount("max_versions", kMax));
  options->min_versions =
      static_cast<uint32_t>(record.TakeCount("min_versions", kMax));
  options->ttl_ms = record.TakeCount("ttl_ms", kMaxTimestampMs);
  const std::string_view fitting = ToString(CellFormatOf(*options));
  if (record.ok() && cell_format != fitting) {
    record.Fail(Status::Corruption("cell format \"" + cell_format +
                                   "\" with options that stand for \"" +
                                   std::string(fitting) + "\""));
  }
  return record.Finish();
}

Status ParseClockRecord(std::string_view text, uint64_t* bound_ms) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *bound_ms);
  if (error != std::errc() || stop != end || *bound_ms > kMaxTimestampMs) {
    return Status::Corruption("expected milliseconds from 0 to " +
                              std::to_string(kMaxTimestampMs) + ", found \"" +
                              ToPrintable(text) + "\"");
  }
  return Status::OK();
}

std::string FamilyKey(const std::string& name) {
  return std::string(kFamilyKeyPrefix) + name;
}

std::string DroppedKey(const std::string& name) {
  return std::string(kDroppedKeyPrefix) + name;
}

// Reads a record whose key is `prefix` and the name of a family.
Status ReadFamily(std::string_view prefix, std::string_view key,
                  std::string_view value,
                  std::map<std::string, FamilyOptions>* families) {
  const std::string name(key.substr(prefix.size()));
  if (Status s = CheckFamilyName(name); !s.ok()) {
    return Status::Corruption(s.getState());
  }
  return ParseFamilyRecord(value, &(*families)[name]);
}

std::string FamilyRecord(const FamilyOptions& options) {
  const json record = {
      {"cell_format", ToString(CellFormatOf(options))},
      {"bloom_type", ToString(options.bloom_type)},
      {"filter_kind", ToString(options.filter_kind)},
      {"compression", ToString(options.compression)},
      {"false_positive_rate", options.false_positive_rate},
      {"row_prefix_length", options.row_prefix_length},
      {"block_size_bytes", options.block_size_bytes},
      {"timestamps", ToString(options.timestamps)},
      {"max_versions", options.max_versions},
      {"min_versions", options.min_versions},
      {"ttl_ms", options.ttl_ms},
  };
  return record.dump();
}

}  // namespace

Status ReadMetadata(rocksdb::DB* db, const std::string& path,
                    std::optional<Metadata>* metadata) {
  metadata->reset();
  const auto in_record = [&path](std::string_view key, const Status& s) {
    return Prefixed(path + ": record \"" + ToPrintable(key) + "\": ", s);
  };
  // Without it the other keys are somebody else's.
  std::string store_record;
  Status s = db->Get(rocksdb::ReadOptions(), kStoreKey, &store_record);
  if (s.IsNotFound()) return Status::OK();
  if (!s.ok()) return s;
  Metadata read;
  s = ParseStoreRecord(store_record, &read.store);
  if (!s.ok()) return in_record(kStoreKey, s);

  const std::unique_ptr<rocksdb::Iterator> records(
      db->NewIterator(rocksdb::ReadOptions()));
  // Keys of other kinds have no meaning yet.
  for (records->SeekToFirst(); records->Valid(); records->Next()) {
    const std::string_view key = records->key().ToStringView();
    const std::string_view value = records->value().ToStringView();
    if (key == kClockKey) {
      s = ParseClockRecord(value, &read.clock_bound_ms);
    } else if (key.starts_with(kFamilyKeyPrefix)) {
      s = ReadFamily(kFamilyKeyPrefix, key, value, &read.families);
    } else if (key.starts_with(kDroppedKeyPrefix)) {
      s = ReadFamily(kDroppedKeyPrefix, key, value, &read.dropped);
    }
    if (!s.ok()) return in_record(key, s);
  }
  if (s = records->status(); s.ok()) *metadata = std::move(read);
  return s;
}

Status PutStoreRecord(const StoreRecord& store, rocksdb::WriteBatch* batch) {
  json record = {{"format", kStoreFormat},
                 {"key_layout", store.key_layout.ToString()}};
  // Versions that do not know these fields can read a store without them.
  if (!store.row_deletes) record[kRowDeletes] = false;
  if (store.family_version_deletes) record[kFamilyVersionDeletes] = true;
  return batch->Put(kStoreKey, record.dump());
}

Status PutFamilyRecord(const std::string& name, const FamilyOptions& options,
                       rocksdb::WriteBatch* batch) {
  Status s = batch->Delete(DroppedKey(name));
  return s.ok() ? batch->Put(FamilyKey(name), FamilyRecord(options)) : s;
}

Status PutDroppedRecord(const std::string& name, const FamilyOptions& options,
                        rocksdb::WriteBatch* batch) {
  Status s = batch->Delete(FamilyKey(name));
  return s.ok() ? batch->Put(DroppedKey(name), FamilyRecord(options)) : s;
}

Status DeleteDroppedRecord(const std::string& name,
                           rocksdb::WriteBatch* batch) {
  return batch->Delete(DroppedKey(name));
}

Status PutClockRecord(uint64_t bound_ms, rocksdb::WriteBatch* batch) {
  return batch->Put(kClockKey, std::to_string(bound_ms));
}

}  // namespace rowbloom

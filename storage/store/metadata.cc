#include "storage/store/metadata.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "lib/bytes/text.h"
#include "nlohmann/json.hpp"
#include "rocksdb/iterator.h"
#include "rowbloom/printable.h"
#include "storage/format/status_text.h"
#include "storage/store/family_options.h"

namespace rowbloom {

// These names are on disk: never rename them.
NLOHMANN_JSON_SERIALIZE_ENUM(BloomType, {{BloomType::kNone, "NONE"},
                                         {BloomType::kRow, "ROW"},
                                         {BloomType::kRowCol, "ROWCOL"},
                                         {BloomType::kRowPrefixFixedLength,
                                          "ROWPREFIX_FIXED_LENGTH"}})
NLOHMANN_JSON_SERIALIZE_ENUM(FilterKind, {{FilterKind::kBloom, "bloom"},
                                          {FilterKind::kRibbon, "ribbon"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Compression, {{Compression::kNone, "NONE"},
                                           {Compression::kLz4, "LZ4"},
                                           {Compression::kZstd, "ZSTD"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Timestamps, {{Timestamps::kStore, "store"},
                                          {Timestamps::kClient, "client"}})
NLOHMANN_JSON_SERIALIZE_ENUM(CellFormat,
                             {{CellFormat::kLatest, "latest"},
                              {CellFormat::kVersioned, "versioned"}})

namespace {

using nlohmann::json;
using rocksdb::Status;

constexpr char kStoreKey[] = "store";
constexpr char kClockKey[] = "clock";
constexpr std::string_view kFamilyKeyPrefix = "family/";
constexpr std::string_view kDroppedKeyPrefix = "dropped/";
constexpr std::string_view kMergedKeyPrefix = "merged/";
constexpr std::string_view kPendingKeyPrefix = "pending/";
constexpr std::string_view kLoadKeyPrefix = "load/";
constexpr std::string_view kLoadEndKeyPrefix = "loaded/";

constexpr uint64_t kStoreFormat = 1;

// A record has these fields only if they differ from the defaults, so that
// versions that do not know them can read other records.
bool IsRare(std::string_view field) {
  return field == "bottom_compression" || field == "dictionary_bytes" ||
         field == "min_blob_bytes";
}

constexpr char kRowAlignedFiles[] = "row_aligned_files";
constexpr std::pair<const char*, RareKinds> kRareKindFields[] = {
    {"row_deletes", kRowDeletes},
    {"family_version_deletes", kFamilyVersionDeletes},
    {"cell_ttls", kCellTtls},
    {"later_puts", kLaterPuts}};

// Calls visit(name, &field) for each option in the record of a family.
template <typename Options, typename Visit>
void VisitFields(Options* options, Visit visit) {
  visit("bloom_type", &options->bloom_type);
  visit("filter_kind", &options->filter_kind);
  visit("compression", &options->compression);
  visit("false_positive_rate", &options->false_positive_rate);
  visit("row_prefix_length", &options->row_prefix_length);
  visit("block_size_bytes", &options->block_size_bytes);
  visit("timestamps", &options->timestamps);
  visit("max_versions", &options->max_versions);
  visit("min_versions", &options->min_versions);
  visit("ttl_ms", &options->ttl_ms);
  visit("bottom_compression", &options->bottom_compression);
  visit("dictionary_bytes", &options->dictionary_bytes);
  visit("min_blob_bytes", &options->min_blob_bytes);
}

template <typename T>
json ToJson(const T& value) {
  return value;
}
json ToJson(const std::optional<Compression>& compression) {
  return compression ? json(*compression) : json("that of compression");
}

json FieldsOf(const FamilyOptions& options) {
  json fields;
  VisitFields(&options, [&fields](const char* name, const auto* field) {
    fields[name] = ToJson(*field);
  });
  return fields;
}

std::string ToText(const json& value) {
  // A text of values that are nested deeply would take too much stack.
  if (value.is_structured()) return value.type_name();
  return value.is_string()
             ? value.get<std::string>()
             : value.dump(-1, ' ', true, json::error_handler_t::replace);
}

// Takes the fields of a JSON record one by one, and keeps the first error. A
// record with fields that were not taken is of a later version.
class Record {
 public:
  explicit Record(std::string_view text)
      : json_(json::parse(text, nullptr, /*allow_exceptions=*/false)) {
    if (!json_.is_object()) {
      status_ = Corruption("expected a JSON object, found \"",
                           ToPrintable(text), "\"");
    }
  }

  bool ok() const { return status_.ok(); }
  void Fail(const Status& status) {
    if (status_.ok()) status_ = status;
  }

  bool Has(std::string_view field) const {
    return json_.is_object() && json_.contains(field);
  }

  template <typename T>
  void Take(std::string_view field, T* value) {
    // No copy, for which values may be nested too deeply.
    static const json kNone;
    const json& found = Has(field) ? json_[field] : kNone;
    const json before = *value;
    bool fits = found.type() == before.type();
    std::string expected = before.is_boolean() ? "true or false" : "a string";
    if constexpr (std::is_same_v<T, double>) {
      fits = found.is_number();
      expected = "a number";
    } else if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>) {
      const uint64_t max =
          std::min<uint64_t>(std::numeric_limits<T>::max(), kMaxTimestampMs);
      fits =
          found.is_number_unsigned() && found.template get<uint64_t>() <= max;
      expected = "a whole number up to " + std::to_string(max);
    }
    if (!fits) {
      return Fail(Status::Corruption(
          "field \"" + std::string(field) + "\": expected " + expected +
          ", found " +
          (found.is_null() ? "none" : ToPrintable(ToText(found)))));
    }
    found.get_to(*value);
    // An unknown text becomes the first value of an enumeration.
    if (json(*value) != found) {
      Fail(NotSupported(field, " \"", ToPrintable(ToText(found)),
                        "\" is of another version of rowbloom"));
    }
    json_.erase(field);
  }

  template <typename T>
  void Take(std::string_view field, std::optional<T>* value) {
    Take(field, &value->emplace());
  }

  // An option that this version does not know may change the meaning of cells:
  // a store with such an option is not opened.
  Status Finish() {
    if (status_.ok() && !json_.empty()) {
      status_ = NotSupported("option \"", ToPrintable(json_.begin().key()),
                             "\" is of a later version of rowbloom");
    }
    return status_;
  }

 private:
  json json_;
  Status status_;
};

Status ParseStoreRecord(std::string_view text, StoreRecord* store) {
  Record record(text);
  uint64_t format = 0;
  record.Take("format", &format);
  if (record.ok() && format != kStoreFormat) {
    return NotSupported("store format ", format,
                        " is of another version of rowbloom; this one "
                        "reads format ",
                        kStoreFormat);
  }
  std::string key_layout;
  record.Take("key_layout", &key_layout);
  const auto layout = KeyLayout::FromString(key_layout);
  if (!layout) {
    record.Fail(Status::NotSupported(ToPrintable(layout.error())));
  } else if (!layout->PreservesRowOrder()) {
    record.Fail(NotSupported("key layout ", layout->ToString(),
                             " does not keep the order of rows"));
  } else {
    store->key_layout = *layout;
  }
  // An earlier version ended files between rows. The field is now meaningless.
  bool may_be = false;
  if (record.Has(kRowAlignedFiles)) record.Take(kRowAlignedFiles, &may_be);
  for (const auto& [name, kind] : kRareKindFields) {
    if (!record.Has(name)) continue;
    record.Take(name, &may_be);
    const int others = store->rare_kinds & ~kind;
    store->rare_kinds = static_cast<RareKinds>(may_be ? others | kind : others);
  }
  return record.Finish();
}

Status ParseFamilyRecord(std::string_view text, FamilyOptions* options) {
  Record record(text);
  CellFormat cell_format{};
  record.Take("cell_format", &cell_format);
  VisitFields(options, [&record](std::string_view name, auto* field) {
    // Records from before there were filter kinds lack filter_kind.
    const bool may_lack = IsRare(name) || name == "filter_kind";
    if (!may_lack || record.Has(name)) record.Take(name, field);
  });
  if (cell_format != CellFormatOf(*options)) {
    record.Fail(Corruption("cell format \"", ToText(cell_format),
                           "\" with options that stand for \"",
                           ToText(CellFormatOf(*options)), "\""));
  }
  return record.Finish();
}

std::string FamilyKey(FamilyState state, const std::string& name) {
  return Concat(
      state == FamilyState::kKept ? kFamilyKeyPrefix : kDroppedKeyPrefix, name);
}

// No family has ':' in its name.
Status ReadPendingDelete(std::string_view key, PendingDelete* pending) {
  pending->key = key;
  key.remove_prefix(kPendingKeyPrefix.size());
  const size_t name_end = std::min(key.find(':'), key.size());
  const size_t time_end = key.find(':', name_end + 1);
  if (time_end == key.npos ||
      !ParseNumber(key.substr(name_end + 1, time_end - name_end - 1),
                   &pending->timestamp_ms)) {
    return Status::Corruption("expected a key of a family, time and row");
  }
  pending->family = key.substr(0, name_end);
  pending->row = key.substr(time_end + 1);
  return Status::OK();
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

}  // namespace

std::string ToString(CellFormat format) { return ToText(format); }

std::string DescribeDifferences(const FamilyOptions& kept,
                                const FamilyOptions& given) {
  std::string text;
  const json kept_fields = FieldsOf(kept);
  const json given_fields = FieldsOf(given);
  for (const auto& [name, value] : kept_fields.items()) {
    const json& other = given_fields[name];
    if (value == other) continue;
    if (!text.empty()) text += "; ";
    text += name + " " + ToText(value) + ", not " + ToText(other);
  }
  return text;
}

Status ReadMetadata(rocksdb::DB* db, const std::string& path,
                    Metadata* metadata) {
  *metadata = {};
  const auto in_record = [&path](std::string_view key, const Status& s) {
    return Prefixed(path + ": record \"" + ToPrintable(key) + "\": ", s);
  };
  // Without this record the other keys are not a store's.
  std::string store_record;
  Status s = db->Get(rocksdb::ReadOptions(), kStoreKey, &store_record);
  if (s.IsNotFound()) return Status::OK();
  if (!s.ok()) return s;
  s = ReadRecord(kStoreKey, store_record, metadata);
  if (!s.ok()) return in_record(kStoreKey, s);

  const std::unique_ptr<rocksdb::Iterator> records(
      db->NewIterator(rocksdb::ReadOptions()));
  for (records->SeekToFirst(); records->Valid(); records->Next()) {
    const std::string_view key = records->key().ToStringView();
    s = ReadRecord(key, records->value().ToStringView(), metadata);
    if (!s.ok()) return in_record(key, s);
  }
  return records->status();
}

Status ReadRecord(std::string_view key, std::string_view value,
                  Metadata* metadata) {
  if (key == kStoreKey) {
    metadata->exists = true;
    return ParseStoreRecord(value, &metadata->store);
  }
  if (key == kClockKey) {
    uint64_t& bound_ms = metadata->clock_bound_ms;
    if (ParseNumber(value, &bound_ms) && bound_ms <= kMaxTimestampMs) return {};
    return Corruption("expected milliseconds from 0 to ", kMaxTimestampMs,
                      ", found \"", ToPrintable(value), "\"");
  }
  if (key.starts_with(kFamilyKeyPrefix)) {
    return ReadFamily(kFamilyKeyPrefix, key, value, &metadata->families);
  }
  if (key.starts_with(kPendingKeyPrefix)) {
    return ReadPendingDelete(key, &metadata->pending_deletes.emplace_back());
  }
  if (key.starts_with(kMergedKeyPrefix)) {
    const std::string name(key.substr(kMergedKeyPrefix.size()));
    if (ParseNumber(value, &metadata->merged_versions[name])) return {};
    return Corruption("expected a number of versions, found \"",
                      ToPrintable(value), "\"");
  }
  if (key.starts_with(kDroppedKeyPrefix)) {
    return ReadFamily(kDroppedKeyPrefix, key, value, &metadata->dropped);
  }
  return Status::OK();
}

void PutStoreRecord(const StoreRecord& store, rocksdb::WriteBatch* batch) {
  json record = {{"format", kStoreFormat},
                 {"key_layout", store.key_layout.ToString()}};
  // Versions that do not know these fields can read a store without them.
  for (const auto& [name, kind] : kRareKindFields) {
    const bool may_be = (store.rare_kinds & kind) != 0;
    const bool without = (StoreRecord().rare_kinds & kind) != 0;
    if (may_be != without) record[name] = may_be;
  }
  batch->Put(kStoreKey, record.dump()).PermitUncheckedError();
}

void PutFamilyRecord(FamilyState state, const std::string& name,
                     const FamilyOptions& options, rocksdb::WriteBatch* batch) {
  json record = FieldsOf(options);
  const json defaults = FieldsOf({});
  for (const auto& [field, value] : defaults.items()) {
    if (IsRare(field) && record[field] == value) record.erase(field);
  }
  record["cell_format"] = CellFormatOf(options);
  const FamilyState other =
      state == FamilyState::kKept ? FamilyState::kDropped : FamilyState::kKept;
  batch->Delete(FamilyKey(other, name)).PermitUncheckedError();
  batch->Put(FamilyKey(state, name), record.dump()).PermitUncheckedError();
  PutMergedVersions(name, 0, batch);
}

void PutMergedVersions(const std::string& name, uint32_t max_versions,
                       rocksdb::WriteBatch* batch) {
  const std::string key = Concat(kMergedKeyPrefix, name);
  if (max_versions > 0) {
    batch->Put(key, std::to_string(max_versions)).PermitUncheckedError();
  } else {
    batch->Delete(key).PermitUncheckedError();
  }
}

void PutTruncation(const std::string& name, const FamilyOptions& options,
                   rocksdb::WriteBatch* batch) {
  PutFamilyRecord(FamilyState::kDropped, name, options, batch);
  PutFamilyRecord(FamilyState::kKept, name, options, batch);
}

void DeleteDroppedRecord(const std::string& name, rocksdb::WriteBatch* batch) {
  batch->Delete(FamilyKey(FamilyState::kDropped, name)).PermitUncheckedError();
}

void PutClockRecord(uint64_t bound_ms, rocksdb::WriteBatch* batch) {
  batch->Put(kClockKey, std::to_string(bound_ms)).PermitUncheckedError();
}

void MarkLoad(const std::string& family, uint64_t files,
              rocksdb::WriteBatch* batch) {
  batch->Delete(Concat(kLoadKeyPrefix, files, "/", family))
      .PermitUncheckedError();
}

bool ReadLoadMark(std::string_view key, std::string* family, uint64_t* files) {
  if (!key.starts_with(kLoadKeyPrefix)) return false;
  key.remove_prefix(kLoadKeyPrefix.size());
  const size_t slash = key.find('/');
  if (slash == key.npos || !ParseNumber(key.substr(0, slash), files)) {
    return false;
  }
  *family = key.substr(slash + 1);
  return true;
}

void MarkLoadEnd(uint64_t numbers, rocksdb::WriteBatch* batch) {
  batch->Delete(Concat(kLoadEndKeyPrefix, numbers)).PermitUncheckedError();
}

void MarkStream(rocksdb::WriteBatch* batch) {
  batch->Delete("streamed").PermitUncheckedError();
}

bool ReadLoadEnd(std::string_view key, uint64_t* numbers) {
  return key.starts_with(kLoadEndKeyPrefix) &&
         ParseNumber(key.substr(kLoadEndKeyPrefix.size()), numbers);
}

}  // namespace rowbloom

// The filters of a RocksDB database, for C.
#include <memory>
#include <string>

#include "rocksdb/table.h"
#include "rowbloom/c.h"
#include "rowbloom/filter_policy.h"
#include "storage/c/boundary.h"
#include "storage/c/rocksdb_handles.h"
#include "storage/c/stats_json.h"
#include "storage/filter_policy/ids.h"
#include "storage/format/status_text.h"

namespace rowbloom::c {

char no_memory_message[] =
    "Operation aborted: Memory limit reached: out of memory";

namespace {

using rocksdb::Status;

// Sets *value to the parsed value, or returns the error of parsing.
template <typename Parsed, typename Value>
Status Take(const Parsed& parsed, Value* value) {
  if (!parsed) return Status::InvalidArgument(parsed.error());
  *value = *parsed;
  return Status::OK();
}

// Parses the options of an id and checks them by making their policy.
Status OptionsOfId(const char* id, FilterPolicyOptions* options,
                   std::unique_ptr<const rocksdb::FilterPolicy>* policy) {
  Status s = CheckRocksDbIsShared();
  if (s.ok()) s = Take(ParsePolicyId(id), options);
  return s.ok() ? MakePolicy(*options, policy) : s;
}

Status Register() {
  const Status s = CheckRocksDbIsShared();
  return s.ok() ? RegisterRowbloom() : s;
}

Status ReadFilterStats(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                       std::string* text) {
  // The options keep the table factory, and so the policy, alive.
  const rocksdb::Options options = db->GetOptions(family);
  const auto* table =
      options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  const rocksdb::FilterPolicy* const policy =
      table == nullptr ? nullptr : table->filter_policy.get();
  PolicyStats stats;
  stats.active = IsFilterActive(db, family);
  if (policy != nullptr) {
    stats.policy = policy->GetId();
    FilterStats counters;
    if (GetFilterStats(*policy, &counters).ok()) stats.filter = counters;
  }
  *text = ToJson(stats);
  return Status::OK();
}

}  // namespace
}  // namespace rowbloom::c

using rocksdb::Status;
using rowbloom::c::DbOf;
using rowbloom::c::FamilyOf;
using rowbloom::c::HandleOf;
using rowbloom::c::NewBytes;
using rowbloom::c::OptionsOfId;
using rowbloom::c::Run;
using rowbloom::c::Take;

const char* rowbloom_version() { return ROWBLOOM_VERSION; }

void rowbloom_free(void* memory) {
  if (memory != rowbloom::c::no_memory_message) std::free(memory);
}

bool rowbloom_register(char** error) {
  return Run(error, [] { return rowbloom::c::Register(); });
}

char* rowbloom_filter_id(const char* key_layout, const char* bloom_type,
                         const char* kind, double false_positive_rate,
                         char** error) {
  char* id = nullptr;
  Run(error, [&] {
    rowbloom::FilterPolicyOptions options;
    Status s =
        Take(rowbloom::KeyLayout::FromString(key_layout), &options.key_layout);
    if (s.ok() && bloom_type != nullptr) {
      s = Take(rowbloom::BloomTypeFromString(bloom_type), &options.bloom_type);
    }
    if (s.ok() && kind != nullptr) {
      s = Take(rowbloom::FilterKindFromString(kind), &options.kind);
    }
    if (false_positive_rate != 0) {
      options.false_positive_rate = false_positive_rate;
    }
    std::unique_ptr<const rocksdb::FilterPolicy> policy;
    if (s.ok()) s = MakePolicy(options, &policy);
    if (s.ok()) id = NewBytes(PolicyId(options));
    return s;
  });
  return id;
}

char* rowbloom_options_string(const char* filter_id, char** error) {
  char* text = nullptr;
  Run(error, [&] {
    rowbloom::FilterPolicyOptions options;
    std::unique_ptr<const rocksdb::FilterPolicy> policy;
    const Status s = OptionsOfId(filter_id, &options, &policy);
    if (s.ok()) {
      text = NewBytes(rowbloom::Concat(
          "prefix_extractor=", rowbloom::kExtractorIdPrefix,
          options.key_layout->ToString(),
          ";block_based_table_factory={filter_policy=", PolicyId(options),
          "}"));
    }
    return s;
  });
  return text;
}

rocksdb_filterpolicy_t* rowbloom_filterpolicy_create(const char* filter_id,
                                                     char** error) {
  std::unique_ptr<const rocksdb::FilterPolicy> policy;
  Run(error, [&] {
    rowbloom::FilterPolicyOptions options;
    return OptionsOfId(filter_id, &options, &policy);
  });
  return HandleOf(policy.release());
}

rocksdb_slicetransform_t* rowbloom_slicetransform_create(const char* filter_id,
                                                         char** error) {
  std::unique_ptr<const rocksdb::SliceTransform> extractor;
  Run(error, [&] {
    rowbloom::FilterPolicyOptions options;
    std::unique_ptr<const rocksdb::FilterPolicy> policy;
    const Status s = OptionsOfId(filter_id, &options, &policy);
    if (s.ok()) {
      extractor = rowbloom::MakeRowPrefixExtractor(*options.key_layout);
    }
    return s;
  });
  return HandleOf(extractor.release());
}

char* rowbloom_filter_stats(rocksdb_t* db,
                            rocksdb_column_family_handle_t* family,
                            char** error) {
  char* json = nullptr;
  Run(error, [&] {
    // This refuses a RocksDB of another version: the code is compiled for one.
    Status s = rowbloom::c::Register();
    std::string text;
    if (s.ok()) {
      rocksdb::DB* const opened = DbOf(db);
      s = rowbloom::c::ReadFilterStats(
          opened,
          family == nullptr ? opened->DefaultColumnFamily() : FamilyOf(family),
          &text);
    }
    if (s.ok()) json = NewBytes(text);
    return s;
  });
  return json;
}

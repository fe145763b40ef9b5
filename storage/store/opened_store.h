// What an open store is made of, and how names become keys.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "rocksdb/cache.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/status.h"
#include "rowbloom/key_layout.h"
#include "rowbloom/store_options.h"
#include "storage/store/cell_versions.h"
#include "storage/store/database.h"
#include "storage/store/family_options.h"
#include "storage/store/shared_state.h"

namespace rowbloom {

// A family of an open store.
struct Family {
  FamilyOptions options;
  CellFormat format = CellFormat::kLatest;
  VersionRules rules;
  rocksdb::ColumnFamilyHandle* handle = nullptr;  // owned by the Database
  std::shared_ptr<const rocksdb::FilterPolicy> filter_policy;
};

using FamilyMap = std::map<std::string, Family, std::less<>>;

struct OpenedStore {
  std::string path;
  bool read_only = false;
  KeyLayout key_layout = KeyLayout::Escaped();
  std::shared_ptr<rocksdb::Cache> block_cache;
  std::shared_ptr<SharedState> shared;
  Database database;
  FamilyMap families;

  // Each is InvalidArgument when the argument is out of its limits.
  rocksdb::Status EncodeRow(std::string_view row, std::string* row_bytes) const;
  rocksdb::Status FindFamily(std::string_view name,
                             FamilyMap::const_iterator* family) const;
  rocksdb::Status CheckWritable() const;
};

// InvalidArgument: no such family; the message lists those there are.
rocksdb::Status UnknownFamily(std::string_view name, const OpenedStore& opened);

// InvalidArgument: more than `max_bytes`.
rocksdb::Status CheckSize(const char* what, std::string_view bytes,
                          size_t max_bytes);
rocksdb::Status CheckQualifier(std::string_view qualifier);

// For ends of ranges, which need not be rows: InvalidArgument when `row` is
// longer than any.
rocksdb::Status CheckRowBound(std::string_view row);
// The first key of the rows from `row` on. Empty: that of all rows for an empty
// `row`; otherwise there are no such rows. REQUIRES CheckRowBound.
std::string FirstKey(const KeyLayout& layout, std::string_view row);

// The end, exclusive, of the byte strings that start with `prefix`. Empty:
// there is none, as it is all ff, or empty.
std::string PrefixEnd(std::string_view prefix);

}  // namespace rowbloom

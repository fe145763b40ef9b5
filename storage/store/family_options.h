// Checks the options of a family, and translates them to RocksDB options.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <unordered_map>

#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/status.h"
#include "rowbloom/store_options.h"
#include "storage/cells/cell_value.h"
#include "storage/cells/cell_versions.h"
#include "storage/format/family_name.h"
#include "storage/store/database.h"
#include "storage/store/family_rules.h"

namespace rowbloom {

// The format version of all tables, the records' too. Both RocksDB 7.8 and 9.10
// read and write it. RocksDB 7.8 does not know later versions, and would refuse
// the files.
inline constexpr uint32_t kTableFormatVersion = 5;

CellFormat CellFormatOf(const FamilyOptions& options);
// "latest", "versioned".
std::string ToString(CellFormat format);

// A numeric option, its value, and the smallest and largest permitted value.
struct OptionRange {
  const char* option;
  uint64_t value;
  uint64_t min;
  uint64_t max;
};
// InvalidArgument: an option that is not within its range.
rocksdb::Status CheckRanges(std::initializer_list<OptionRange> ranges);

// A family of an open store.
struct Family {
  FamilyOptions options;
  CellFormat format = CellFormat::kLatest;
  ColumnFamily column_family;
  std::shared_ptr<AlterableFilterPolicy> filter_policy;
  std::shared_ptr<SharedRules> shared_rules;  // rules(), as merges see them

  // Connects the family to the open column family of that name.
  void Connect(const Database& database, const std::string& name) {
    column_family = database.Find(name);
    shared_rules->oldest_put.Watch(database.get(), column_family);
  }
  rocksdb::ColumnFamilyHandle* handle() const { return column_family.get(); }
  VersionRules rules() const {
    return {options.max_versions, options.min_versions, options.ttl_ms};
  }
  // Tells whether its deletes may expire.
  bool has_expiring_deletes() const {
    return options.ttl_ms > 0 && format == CellFormat::kVersioned;
  }
};

// The RocksDB descriptor of a family, and its Family without the column family.
struct FamilySetup {
  rocksdb::ColumnFamilyDescriptor descriptor;
  // The policy to which the family's policy forwards calls.
  std::shared_ptr<const rocksdb::FilterPolicy> filter_policy;
  Family family;
};

// Creates nothing on disk. InvalidArgument: an option is out of its range; the
// message names the family and the option. REQUIRES that `store` has no option
// unset, as OpenedStore::options. Its block cache and `shared` are needed only
// to open the result.
rocksdb::Status MakeFamilySetup(const std::string& name,
                                const FamilyOptions& family,
                                const StoreOptions& store,
                                const std::shared_ptr<SharedState>& shared,
                                FamilySetup* setup);

// Returns the RocksDB options that can be altered with the family's while it is
// open, for rocksdb::DB::SetOptions.
std::unordered_map<std::string, std::string> AlterableOptions(
    const FamilyOptions& family);

}  // namespace rowbloom

// RocksDB databases with the filter policy: one for each key layout, with full
// and with partitioned filters, in which a column family for each kind of
// filter has the same keys. The text beside it:
//
//   layout ID
//   key BYTES VALUE
#include <map>
#include <memory>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/open_db.h"
#include "tests/golden/store_contents.h"
#include "tests/golden/write_golden.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::golden {
namespace {

namespace fs = std::filesystem;

std::map<std::string, FilterPolicyOptions> Policies(const KeyLayout& layout) {
  std::map<std::string, FilterPolicyOptions> policies;
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol,
                               BloomType::kRowPrefixFixedLength}) {
    for (const FilterKind kind : {FilterKind::kBloom, FilterKind::kRibbon}) {
      FilterPolicyOptions options{.bloom_type = type, .kind = kind};
      if (type == BloomType::kRowPrefixFixedLength) {
        options.row_prefix_length = kRowPrefixBytes;
      }
      policies[std::string(ToString(type)) + "-" +
               std::string(ToString(kind))] = options;
    }
  }
  policies["default"] = {.bloom_type = BloomType::kNone};
  if (layout == KeyLayout::Escaped()) {
    policies["optimal"] = {.level_allocation =
                               LevelShape{.levels = 3, .size_ratio = 8}};
    policies["adaptive"] = {.row_spread = 0.125};
    policies["bloom_before_level_1"] = {.kind = FilterKind::kRibbon,
                                        .bloom_before_level = 1};
    policies["rate"] = {.false_positive_rate = 0.001};
  }
  for (auto& [name, options] : policies) options.key_layout = layout;
  return policies;
}

rocksdb::ColumnFamilyOptions OptionsOf(const FilterPolicyOptions& filter,
                                       bool partitioned) {
  rocksdb::BlockBasedTableOptions table;
  Check(NewFilterPolicy(filter, &table.filter_policy));
  // The newest that RocksDB 7.8 reads.
  table.format_version = 5;
  table.block_size = 1024;
  if (partitioned) {
    table.partition_filters = true;
    table.index_type =
        rocksdb::BlockBasedTableOptions::IndexType::kTwoLevelIndexSearch;
    table.metadata_block_size = 128;
    table.block_size = 256;
  }
  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.prefix_extractor = NewRowPrefixExtractor(*filter.key_layout);
  options.table_properties_collector_factories = {NewFilterPropertiesFactory()};
  options.compression = rocksdb::kLZ4Compression;
  options.disable_auto_compactions = true;
  return options;
}

class DatabaseWriter {
 public:
  DatabaseWriter(const fs::path& path, const KeyLayout& layout,
                 bool partitioned)
      : layout_(layout) {
    rocksdb::DBOptions options;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.db_host_id = kHostName;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const auto& [name, filter] : Policies(layout)) {
      families.emplace_back(name, OptionsOf(filter, partitioned));
    }
    Check(rocksdb::DB::Open(options, path.string(), families, &families_,
                            Into(&db_)));
  }
  ~DatabaseWriter() {
    for (auto* family : families_) {
      db_->DestroyColumnFamilyHandle(family).PermitUncheckedError();
    }
  }
  DatabaseWriter(const DatabaseWriter&) = delete;
  DatabaseWriter& operator=(const DatabaseWriter&) = delete;

  // Files in the last level and in level 0, and the rest in the log.
  void Write() {
    const Lines rows = RowsFor(layout_, 40);
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::string row_bytes = *layout_.EncodeRow(rows[i]);
      for (const char* qualifier : {"\xff", "mail", "name", "tags"}) {
        Put(row_bytes + qualifier, "value " + std::to_string(i));
      }
      if (i % 5 == 0) Put(row_bytes, "");
    }
    // No row of "escaped", "fixed:8", "delimited::", "u16", "custom:golden".
    Put("\xff\xff\x7f", "outside of the layout");
    for (auto* family : families_) {
      Check(db_->CompactRange({}, family, nullptr, nullptr));
    }
    for (size_t i = 0; i < rows.size(); i += 3) {
      const std::string row_bytes = *layout_.EncodeRow(rows[i]);
      Put(row_bytes + "mail", std::to_string(i) + " overwritten");
      Delete(row_bytes + "name");
      Put(row_bytes + "new", "in level 0");
    }
    for (auto* family : families_) Check(db_->Flush({}, family));
    for (size_t i = 0; i < rows.size(); i += 7) {
      const std::string row_bytes = *layout_.EncodeRow(rows[i]);
      Put(row_bytes + "tags", "in the log");
      Delete(row_bytes + "\xff");
    }
  }

  Lines KeyLines() const {
    Lines lines = {"layout " + layout_.ToString()};
    for (const auto& [key, value] : keys_) {
      lines.push_back("key " + Hex(key) + " " + Hex(value));
    }
    return lines;
  }

 private:
  void Put(const std::string& key, const std::string& value) {
    keys_[key] = value;
    for (auto* family : families_) Check(db_->Put({}, family, key, value));
  }
  void Delete(const std::string& key) {
    keys_.erase(key);
    for (auto* family : families_) Check(db_->Delete({}, family, key));
  }

  const KeyLayout layout_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  std::map<std::string, std::string> keys_;
};

// All but the newest OPTIONS, and what a database opens the same without.
void Trim(const fs::path& path) {
  std::set<fs::path> options;
  std::vector<fs::path> unused = {path / "LOCK"};
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("LOG")) unused.push_back(entry.path());
    if (name.starts_with("OPTIONS-")) options.insert(entry.path());
  }
  unused.insert(unused.end(), options.begin(), std::prev(options.end()));
  for (const fs::path& file : unused) fs::remove(file);
}

}  // namespace

void WriteDatabases(const fs::path& folder) {
  for (const char* id :
       {"escaped", "fixed:8", "delimited::", "u16", "custom:golden"}) {
    for (const bool partitioned : {false, true}) {
      std::string name = id;
      std::replace(name.begin(), name.end(), ':', '_');
      name += partitioned ? "-partitioned" : "-full";
      const test::TempDir dir;
      Lines lines;
      {
        DatabaseWriter writer(dir.path() / "db", LayoutOf(id), partitioned);
        writer.Write();
        lines = writer.KeyLines();
      }
      Trim(dir.path() / "db");
      Pack(dir.path() / "db", folder, name);
      WriteLines(folder / (name + ".keys.txt"), lines);
    }
  }
}

}  // namespace rowbloom::golden

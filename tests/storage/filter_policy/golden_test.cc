// RocksDB databases with filters that earlier states of this code wrote. Their
// OPTIONS name the policies.
#include "tests/golden/golden.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "rocksdb/utilities/options_util.h"
#include "rowbloom/open_db.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/stride.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::test {
namespace {

using golden::Lines;

struct Keys {
  explicit Keys(const Lines& lines)
      : layout(golden::LayoutOf(golden::Words(lines.at(0)).at(1))) {
    std::set<std::string> rows;
    for (const std::string& line : golden::LinesOf(lines, "key")) {
      const Lines words = golden::Words(line);
      const std::string key = golden::Unhex(words.at(1));
      values[key] = golden::Unhex(words.at(2));
      if (const auto split = layout.Split(key)) {
        by_row[std::string(split->row)].push_back(key);
        rows.insert(*layout.DecodeRow(split->row));
      }
    }
    for (const std::string& row : golden::AbsentRows(rows)) {
      absent_rows.push_back(*layout.EncodeRow(row));
    }
  }

  KeyLayout layout;
  std::map<std::string, std::string> values;
  std::map<std::string, Lines> by_row;  // in key order
  Lines absent_rows;
};

// A database that is open with the options that it names.
class GoldenDatabase {
 public:
  GoldenDatabase(const std::string& path, bool read_only) {
    ExpectOk(RegisterRowbloom());
    rocksdb::DBOptions options;
    rocksdb::ConfigOptions config;
    config.ignore_unsupported_options = false;
    ExpectOk(rocksdb::LoadLatestOptions(config, path, &options, &descriptors_));
    ExpectOk(read_only
                 ? rocksdb::DB::OpenForReadOnly(options, path, descriptors_,
                                                &families_, Into(&db_))
                 : rocksdb::DB::Open(options, path, descriptors_, &families_,
                                     Into(&db_)));
  }
  ~GoldenDatabase() {
    for (auto* family : families_) {
      ExpectOk(db_->DestroyColumnFamilyHandle(family));
    }
  }
  GoldenDatabase(const GoldenDatabase&) = delete;
  GoldenDatabase& operator=(const GoldenDatabase&) = delete;

  rocksdb::DB* db() const { return db_.get(); }
  const std::vector<rocksdb::ColumnFamilyHandle*>& families() const {
    return families_;
  }
  const rocksdb::FilterPolicy& Policy(size_t family) const {
    return *descriptors_[family]
                .options.table_factory
                ->GetOptions<rocksdb::BlockBasedTableOptions>()
                ->filter_policy;
  }

 private:
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  std::unique_ptr<rocksdb::DB> db_;
};

void ExpectKeys(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                const Keys& keys) {
  for (const auto& [key, value] : keys.values) {
    std::string found;
    ExpectOk(db->Get({}, family, key, &found));
    ASSERT_EQ(found, value) << golden::Hex(key);
  }
  std::map<std::string, std::string> all;
  rocksdb::ReadOptions in_order;
  in_order.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> it(
      db->NewIterator(in_order, family));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    all[it->key().ToString()] = it->value().ToString();
  }
  ExpectOk(it->status());
  ASSERT_EQ(all, keys.values);
  for (const auto& [row_bytes, expected] : keys.by_row) {
    Lines found;
    const std::unique_ptr<rocksdb::Iterator> row(
        db->NewIterator(SamePrefix(), family));
    for (row->Seek(row_bytes); row->Valid(); row->Next()) {
      found.push_back(row->key().ToString());
    }
    ExpectOk(row->status());
    ASSERT_EQ(found, expected) << golden::Hex(row_bytes);
  }
}

void ExpectAbsentRowsAreRuledOut(const GoldenDatabase& database, size_t family,
                                 const Keys& keys) {
  const rocksdb::FilterPolicy& policy = database.Policy(family);
  const FilterStats before = StatsOf(policy);
  for (const std::string& row_bytes : keys.absent_rows) {
    std::string found;
    ASSERT_TRUE(
        database.db()
            ->Get({}, database.families()[family], row_bytes + "mail", &found)
            .IsNotFound());
  }
  const FilterStats after = StatsOf(policy);
  EXPECT_EQ(after.blocks_unusable, 0u);
  EXPECT_EQ(after.row.unusable + after.row_col.unusable, 0u);
  EXPECT_GT(after.blocks_opened, 0u);
  const uint64_t asked = after.asked - before.asked;
  ASSERT_GT(keys.absent_rows.size(), 20u);
  // Few are outside of the range of a file, and need no filter.
  EXPECT_GT(asked, keys.absent_rows.size() / 2);
  EXPECT_LT(after.may_match - before.may_match, asked / 5);
}

void ExpectDatabase(const GoldenDatabase& database, const Keys& keys) {
  EXPECT_GE(database.families().size(), 7u);
  for (size_t i = 0; i < database.families().size(); ++i) {
    const std::string& name = database.families()[i]->GetName();
    SCOPED_TRACE("column family " + name);
    // "default" is the one without filters.
    const bool filtered = name != rocksdb::kDefaultColumnFamilyName;
    EXPECT_EQ(IsFilterActive(database.db(), database.families()[i]), filtered);
    ASSERT_NO_FATAL_FAILURE(
        ExpectKeys(database.db(), database.families()[i], keys));
    if (!filtered) continue;
    ASSERT_NO_FATAL_FAILURE(ExpectAbsentRowsAreRuledOut(database, i, keys));
  }
}

TEST(GoldenDatabases, HaveTheirKeysAndFilters) {
  const Lines archives = golden::Archives("databases");
  EXPECT_GE(archives.size(), 10u) << "those of folder 1";
  const auto folder = [](const std::string& archive) {
    return std::filesystem::path(archive).parent_path();
  };
  for (size_t i = 0; i < archives.size(); ++i) {
    const std::string& archive = archives[i];
    // A short run reads the newest folder, and every fourth archive of the
    // older ones.
    const bool newest = folder(archive) == folder(archives.back());
    if (!newest && i % Stride(4) != 0) continue;
    SCOPED_TRACE(archive);
    const TempDir dir;
    const std::string path = golden::Unpack(archive, dir.path());
    const Keys keys(golden::ReadLines(archive + ".keys.txt"));
    ASSERT_NO_FATAL_FAILURE(ExpectDatabase(GoldenDatabase(path, true), keys));
    const GoldenDatabase database(path, false);
    ASSERT_NO_FATAL_FAILURE(ExpectDatabase(database, keys));
    for (auto* family : database.families()) {
      ExpectOk(database.db()->CompactRange({}, family, nullptr, nullptr));
    }
    ASSERT_NO_FATAL_FAILURE(ExpectDatabase(database, keys));
  }
}

}  // namespace
}  // namespace rowbloom::test

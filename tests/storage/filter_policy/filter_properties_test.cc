// The property that tells of a file's filter, with and without rowbloom.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table_properties.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::filter_properties_test {
namespace {

using test::ExpectOk;
using test::MakeFilterPolicy;
using test::OpenDb;
using test::TempDir;
using test::TestDbOptions;

const KeyLayout kLayout = KeyLayout::Delimited(':');

class FilterProperties : public testing::Test {
 protected:
  static rocksdb::Options Options(
      const std::shared_ptr<const rocksdb::FilterPolicy>& policy,
      bool partitioned = false) {
    rocksdb::Options options =
        TestDbOptions({policy, NewRowPrefixExtractor(kLayout), partitioned});
    options.table_properties_collector_factories.push_back(
        NewFilterPropertiesFactory());
    return options;
  }
  // One file of 300 rows with 3 columns each.
  static void WriteFile(rocksdb::DB* db) {
    for (int row = 1000; row < 1300; ++row) {
      for (const char* column : {"a", "b", "c"}) {
        ExpectOk(db->Put({}, std::to_string(row) + ":" + column, "v"));
      }
    }
    ExpectOk(db->Flush({}));
  }
  // The property of the only file; "" without one.
  static std::string Property(rocksdb::DB* db) {
    rocksdb::TablePropertiesCollection all;
    ExpectOk(db->GetPropertiesOfAllTables(&all));
    EXPECT_EQ(all.size(), 1u);
    const auto& found = all.begin()->second->user_collected_properties;
    const auto property = found.find(kFilterProperty);
    return property == found.end() ? "" : property->second;
  }
  static uint64_t Value(const std::string& property, const std::string& name) {
    const size_t at = property.find(" " + name + "=");
    EXPECT_NE(at, std::string::npos) << name << " in " << property;
    return std::strtoull(property.c_str() + at + name.size() + 2, nullptr, 10);
  }

  TempDir dir_;
};

TEST_F(FilterProperties, TellTypeKeysAndBits) {
  const auto db = OpenDb(Options(MakeFilterPolicy({.key_layout = kLayout})),
                         dir_.File("db"));
  WriteFile(db.get());
  // 300 rows of 9.92 bits fill 6 blocks of 64 bytes, 900 cells fill 18.
  EXPECT_EQ(Property(db.get()),
            "version=1 type=ROWCOL kind=bloom blocks=1 bytes=1637 row.keys=300 "
            "row.bits_per_key=10.24 row_col.keys=900 "
            "row_col.bits_per_key=10.24 layout=delimited::");
}

TEST_F(FilterProperties, SumOverPartitionsAndSurviveRowbloom) {
  {
    const auto db =
        OpenDb(Options(MakeFilterPolicy({.key_layout = kLayout}), true),
               dir_.File("db"));
    WriteFile(db.get());
  }
  const auto db =
      OpenDb(TestDbOptions({nullptr, nullptr, true}), dir_.File("db"));
  const std::string property = Property(db.get());
  EXPECT_GT(Value(property, "blocks"), 3u);
  EXPECT_EQ(Value(property, "row_col.keys"), 900u);
  // A partition knows the row that the one before ended with.
  EXPECT_GE(Value(property, "row.keys"), 300u);
  EXPECT_LE(Value(property, "row.keys"), 300u + 2 * Value(property, "blocks"));
}

TEST_F(FilterProperties, EachTypeHasItsSections) {
  for (const BloomType type :
       {BloomType::kRow, BloomType::kRowPrefixFixedLength}) {
    const bool prefix = type == BloomType::kRowPrefixFixedLength;
    TempDir dir;
    const auto db = OpenDb(
        Options(MakeFilterPolicy({.bloom_type = type,
                                  .key_layout = kLayout,
                                  .row_prefix_length = prefix ? 3u : 0u})),
        dir.File("db"));
    WriteFile(db.get());
    const std::string property = Property(db.get());
    EXPECT_EQ(property.find("row_col"), std::string::npos) << property;
    // Rows 1000 to 1299 have 30 prefixes of 3 bytes; the extractor adds rows,
    // which are cut alike.
    EXPECT_EQ(Value(property, prefix ? "row_prefix.keys" : "row.keys"),
              prefix ? 30u : 300u);
  }
}

TEST_F(FilterProperties, FilesWithoutOurFilterHaveNone) {
  const auto ours = MakeFilterPolicy({.key_layout = kLayout});
  {
    // A builder without a collector leaves nothing behind for the next file.
    rocksdb::Options options = Options(ours);
    options.table_properties_collector_factories.clear();
    TempDir dir;
    const auto db = OpenDb(options, dir.File("db"));
    WriteFile(db.get());
    EXPECT_EQ(Property(db.get()), "");
  }
  for (const auto& policy :
       {std::shared_ptr<const rocksdb::FilterPolicy>(), test::StockBloom(),
        MakeFilterPolicy(
            {.bloom_type = BloomType::kNone, .key_layout = kLayout})}) {
    TempDir dir;
    const auto db = OpenDb(Options(policy), dir.File("db"));
    WriteFile(db.get());
    EXPECT_EQ(Property(db.get()), "");
  }
}

// On one thread, a writer that skips filters while the builder of another
// file is alive.
TEST_F(FilterProperties, FilesWrittenSideBySideAreToldApart) {
  rocksdb::Options options = Options(MakeFilterPolicy({.key_layout = kLayout}));
  rocksdb::SstFileWriter first(rocksdb::EnvOptions(), options);
  ExpectOk(first.Open(dir_.File("first.sst")));
  rocksdb::Options plain = Options(nullptr);
  rocksdb::SstFileWriter second(rocksdb::EnvOptions(), plain);
  ExpectOk(second.Open(dir_.File("second.sst")));
  ExpectOk(second.Put("a:x", "v"));
  ExpectOk(first.Put("a:x", "v"));
  ExpectOk(second.Finish());
  ExpectOk(first.Finish());
  for (const bool is_first : {true, false}) {
    TempDir dir;
    const auto db = OpenDb(options, dir.File("db"));
    ExpectOk(db->IngestExternalFile(
        {dir_.File(is_first ? "first.sst" : "second.sst")}, {}));
    EXPECT_EQ(Property(db.get()).empty(), !is_first);
  }
}

// The same, where the file with our filter has no collector of ours.
TEST_F(FilterProperties, AFileBesideOneWithoutACollectorHasNone) {
  rocksdb::Options bare = Options(MakeFilterPolicy({.key_layout = kLayout}));
  bare.table_properties_collector_factories.clear();
  rocksdb::SstFileWriter first(rocksdb::EnvOptions(), bare);
  ExpectOk(first.Open(dir_.File("first.sst")));
  ExpectOk(first.Put("a:x", "v"));
  const rocksdb::Options plain = Options(nullptr);
  rocksdb::SstFileWriter second(rocksdb::EnvOptions(), plain);
  ExpectOk(second.Open(dir_.File("second.sst")));
  ExpectOk(second.Put("a:x", "v"));
  ExpectOk(first.Finish());
  ExpectOk(second.Finish());
  const auto db = OpenDb(plain, dir_.File("db"));
  ExpectOk(db->IngestExternalFile({dir_.File("second.sst")}, {}));
  EXPECT_EQ(Property(db.get()), "");
}

}  // namespace
}  // namespace rowbloom::filter_properties_test

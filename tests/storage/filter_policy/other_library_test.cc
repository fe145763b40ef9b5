// A program compiled with rowbloom runs on a RocksDB library of another
// version: rowbloom makes no policy, and says why.
//
// The library's version is whatever this program says: its own
// GetRocksVersionAsString comes before the library's one. So everything but the
// version is of the installed RocksDB, and the test runs in every build;
// tests/compat/debian13.sh does the same with another library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/utilities/object_registry.h"
#include "rocksdb/utilities/options_util.h"
#include "rocksdb/version.h"
#include "rowbloom/front_filter.h"
#include "rowbloom/store.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace {

const std::string kCompiledVersion =
    std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR);

// The version of the library that the program believes to run on.
std::string& LibraryVersion() {
  static std::string version = kCompiledVersion + ".0";
  return version;
}

}  // namespace

namespace rocksdb {

std::string GetRocksVersionAsString(bool with_patch) {
  const std::string& version = LibraryVersion();
  return with_patch ? version : version.substr(0, version.rfind('.'));
}

}  // namespace rocksdb

namespace rowbloom {
namespace {

using test::ExpectOk;
using test::MakeFilterPolicy;
using test::OpenDb;
using test::StatusIs;
using test::TempDir;
using test::TestDbOptions;
using testing::AllOf;
using testing::HasSubstr;

const FilterPolicyOptions kFilter = {.key_layout = KeyLayout::Delimited(':')};

// Versions of every layout there has been, the first and the last of each; of
// one that is not known yet; and what is no version.
const std::vector<std::string> kVersions = {
    "7.1.0",  "7.8.3",  "9.5.2",  "9.6.0",  "9.10.0",  "10.8.3",
    "10.9.1", "11.9.0", "12.0.0", "6.29.5", "garbage", "."};

bool IsOtherMinor(const std::string& version) {
  return !version.starts_with(kCompiledVersion + ".");
}

// While it lives, the library has this version.
class Library {
 public:
  explicit Library(const std::string& version) { LibraryVersion() = version; }
  ~Library() { LibraryVersion() = kCompiledVersion + ".0"; }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
};

rocksdb::Status LoadOptions(const std::string& path, rocksdb::Options* options,
                            bool ignore_unsupported = false) {
  rocksdb::ConfigOptions config;
  config.ignore_unsupported_options = ignore_unsupported;
  rocksdb::DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  const rocksdb::Status status =
      rocksdb::LoadLatestOptions(config, path, &db, &families);
  if (status.ok()) *options = {db, families.at(0).options};
  return status;
}

const rocksdb::FilterPolicy* PolicyOf(const rocksdb::Options& options) {
  return options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()
      ->filter_policy.get();
}

size_t RegisteredFactories() {
  size_t types = 0;
  return rocksdb::ObjectLibrary::Default()->GetFactoryCount(&types);
}

// A database whose OPTIONS name policy and extractor, and whose one file has
// a filter.
void MakeDatabase(const std::string& path) {
  const auto db =
      OpenDb(TestDbOptions({MakeFilterPolicy(kFilter),
                            NewRowPrefixExtractor(*kFilter.key_layout)}),
             path);
  ExpectOk(db->Put({}, "a:x", "1"));
  ExpectOk(db->Put({}, "c:x", "2"));
  ExpectOk(db->Flush({}));
}

// This test runs before RegisterRowbloom was called anywhere in this process.
TEST(OtherLibrary, NothingIsRegisteredWithAnotherMinorVersion) {
  const size_t before = RegisteredFactories();
  std::vector<std::string> versions = kVersions;
  // The minor version before has the same filter layout, but the registry's
  // classes change more often.
  versions.push_back(std::to_string(ROCKSDB_MAJOR) + "." +
                     std::to_string(ROCKSDB_MINOR - 1) + ".0");
  for (const std::string& version : versions) {
    if (!IsOtherMinor(version)) continue;
    const Library library(version);
    EXPECT_THAT(RegisterRowbloom(),
                StatusIs(rocksdb::Status::kNotSupported,
                         AllOf(HasSubstr("RocksDB " + kCompiledVersion + ","),
                               HasSubstr("loaded is " + version))));
    EXPECT_EQ(RegisteredFactories(), before) << version;
  }
  // The right version can still be registered.
  EXPECT_THAT(RegisterRowbloom(), test::IsOk());
  EXPECT_GT(RegisteredFactories(), 0u);
}

// These use classes and structs of RocksDB's that change with the minor
// version.
TEST(OtherLibrary, AnotherMinorVersionIsRefusedBeforeAnythingIsOpened) {
  const TempDir dir;
  for (const std::string& version : kVersions) {
    if (!IsOtherMinor(version)) continue;
    const Library library(version);
    const auto is_refused =
        StatusIs(rocksdb::Status::kNotSupported,
                 AllOf(HasSubstr("RocksDB " + kCompiledVersion + ","),
                       HasSubstr("loaded is " + version)));
    std::shared_ptr<const rocksdb::FilterPolicy> policy;
    EXPECT_THAT(NewFilterPolicy(kFilter, &policy), is_refused);
    EXPECT_EQ(policy, nullptr);
    rocksdb::ColumnFamilyOptions family;
    EXPECT_THAT(ConfigureRowFilters(kFilter, &family), is_refused);
    EXPECT_EQ(family.prefix_extractor, nullptr);
    std::shared_ptr<FrontFilter> filter;
    EXPECT_THAT(FrontFilter::Create({}, &filter), is_refused);
    std::unique_ptr<FrontFilterDB> db;
    rocksdb::Options options;
    options.create_if_missing = true;
    EXPECT_THAT(OpenWithFrontFilter({}, options, dir.File("db"), &db),
                is_refused);
    std::unique_ptr<Store> store;
    EXPECT_THAT(Store::Open({}, dir.File("store"), {{"f", {}}}, &store),
                is_refused);
    // These need no open store. BackupInfo grew from 7.8 to 7.10.
    const std::string backups = dir.File("backups");
    std::vector<BackupInfo> list;
    EXPECT_THAT(ListBackups(backups, &list), is_refused);
    EXPECT_THAT(VerifyBackup(backups, 1), is_refused);
    EXPECT_THAT(RestoreBackup(backups, 1, dir.File("restored")), is_refused);
    EXPECT_THAT(DeleteBackup(backups, 1), is_refused);
    EXPECT_THAT(PurgeBackups(backups, 1), is_refused);
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

// The program registered rowbloom, and OPTIONS are loaded: RocksDB passes over
// a policy that cannot be made, and has no object of ours to call. The
// extractor has RocksDB's public interface.
TEST(OtherLibrary, OptionsLeaveNoPolicyAndNoKeyIsLost) {
  ExpectOk(RegisterRowbloom());
  const TempDir dir;
  for (const std::string& version : kVersions) {
    SCOPED_TRACE(version);
    const std::string path = dir.File("db" + version);
    MakeDatabase(path);
    rocksdb::Options options;
    ASSERT_THAT(LoadOptions(path, &options), test::IsOk());
    ASSERT_NE(PolicyOf(options), nullptr) << "the right library has it";

    const Library library(version);
    if (!IsOtherMinor(version)) continue;
    for (const bool ignore_unsupported : {false, true}) {
      options = {};
      const rocksdb::Status status =
          LoadOptions(path, &options, ignore_unsupported);
      if (!status.ok()) {
        EXPECT_FALSE(ignore_unsupported);
        EXPECT_THAT(status.ToString(), HasSubstr(version));
        continue;
      }
      ASSERT_EQ(PolicyOf(options), nullptr);
      options.statistics = rocksdb::CreateDBStatistics();
      const auto db = OpenDb(options, path);
      ASSERT_NE(db, nullptr);
      EXPECT_FALSE(IsFilterActive(db.get()));
      std::string value;
      ExpectOk(db->Get({}, "a:x", &value));
      EXPECT_EQ(value, "1");
      EXPECT_TRUE(db->Get({}, "b:x", &value).IsNotFound());
      // Files written and compacted here have no filter.
      ExpectOk(db->Put({}, "b:x", "3"));
      ExpectOk(db->Flush({}));
      ExpectOk(db->CompactRange({}, nullptr, nullptr));
      ExpectOk(db->Get({}, "b:x", &value));
      ExpectOk(db->Delete({}, "b:x"));
      EXPECT_EQ(
          options.statistics->getTickerCount(rocksdb::BLOOM_FILTER_USEFUL), 0u);
    }
  }
}

TEST(OtherLibrary, ExtractorsWorkWithAny) {
  for (const std::string& version : kVersions) {
    const Library library(version);
    const auto extractor = NewRowPrefixExtractor(*kFilter.key_layout);
    ASSERT_NE(extractor, nullptr);
    EXPECT_EQ(extractor->Transform("row:q"), "row:");
    EXPECT_FALSE(extractor->InDomain("none"));
  }
}

}  // namespace
}  // namespace rowbloom

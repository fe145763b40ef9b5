// tree: databases by family and level.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/version.h"
#include "rowbloom/open_db.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/files.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/sst_inspect/run_tool.h"

namespace rowbloom::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class LastWins : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const rocksdb::Slice& /*key*/, const rocksdb::Slice* /*existing*/,
             const rocksdb::Slice& value, std::string* merged,
             rocksdb::Logger* /*logger*/) const override {
    *merged = value.ToString();
    return true;
  }
  const char* Name() const override { return "test.LastWins"; }
};

class OddOrder : public rocksdb::Comparator {
 public:
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    return a.compare(b);
  }
  const char* Name() const override { return "test.OddOrder"; }
  void FindShortestSeparator(std::string*,
                             const rocksdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class TreeVerb : public testing::Test {
 protected:
  TreeVerb() : path_(dir_.File("db")), options_(test::DelimitedDbOptions()) {
    // The default of RocksDB 8.4 and later has the first files in level 6.
    options_.level_compaction_dynamic_level_bytes = false;
  }

  // Writes a file of level 0 with the rows [from, to), a cell each.
  static void WriteFile(rocksdb::DB* db, int from, int to) {
    for (int i = from; i < to; ++i) {
      ExpectOk(db->Put({}, std::to_string(100 + i) + ":q", "value"));
    }
    ExpectOk(db->Flush({}));
  }

  // Two files of level 0 above one of level 1.
  void WriteDatabase() {
    const auto db = OpenDb(options_, path_);
    WriteFile(db.get(), 0, 60);
    ExpectOk(db->CompactRange({}, nullptr, nullptr));
    WriteFile(db.get(), 10, 30);
    WriteFile(db.get(), 20, 40);
    ExpectOk(db->Put({}, "999:q", "in the log alone"));
    ExpectOk(db->Close());
  }

  std::vector<nlohmann::json> Files() {
    return Records(RunTool({"tree", "--files", "--json", path_}), "tree_file");
  }

  // Replaces each `from` in the OPTIONS files of the database.
  void ReplaceInOptions(const std::string& from, const std::string& to) {
    for (const auto& entry : fs::directory_iterator(path_)) {
      const std::string path = entry.path().string();
      if (path.find("/OPTIONS-") == std::string::npos) continue;
      std::string options = ReadFile(path);
      for (size_t at = 0; (at = options.find(from, at)) != std::string::npos;
           at += to.size()) {
        options.replace(at, from.size(), to);
      }
      test::WriteFile(path, options);
    }
  }

  TempDir dir_;
  const std::string path_;
  rocksdb::Options options_;
};

TEST_F(TreeVerb, SumsUpLevelsAndFamilies) {
  WriteDatabase();
  const Output output = RunFine({"tree", "--json", path_});
  const auto levels = Records(output, "tree_level");
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(levels[0].at("level"), 0);
  EXPECT_EQ(levels[0].at("files"), 2);
  EXPECT_EQ(levels[0].at("entries"), 40);
  EXPECT_EQ(levels[1].at("level"), 1);
  EXPECT_EQ(levels[1].at("files"), 1);
  EXPECT_EQ(levels[1].at("entries"), 60);
  EXPECT_EQ(
      levels[1].at("filters"),
      options_.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()
          ->filter_policy->Name());
  const auto family = Records(output, "tree_family").at(0);
  EXPECT_EQ(family.at("family"), "default");
  EXPECT_EQ(family.at("new_prefix_extractor"), "rowbloom.row:delimited::");
  uint64_t file_bytes = 0;
  uint64_t filter_bytes = 0;
  for (const auto& file : Files()) {
    file_bytes += fs::file_size(file.at("path").get<std::string>());
    const auto summary =
        Records(RunTool({"summary", "--json", file.at("path")}), "summary");
    EXPECT_EQ(file.at("filter_bytes"), summary.at(0).at("filter_bytes"));
    filter_bytes += file.at("filter_bytes").get<uint64_t>();
  }
  EXPECT_GT(filter_bytes, 0U);
  for (const auto& sums : {family, Records(output, "tree").at(0)}) {
    EXPECT_EQ(sums.at("files"), 3);
    EXPECT_EQ(sums.at("bytes"), file_bytes);
    EXPECT_EQ(sums.at("entries"), 100);
    EXPECT_EQ(sums.at("filter_bytes"), filter_bytes);
  }
}

TEST_F(TreeVerb, IsTheDefaultForDatabases) {
  WriteDatabase();
  EXPECT_EQ(RunTool({path_}).out, RunTool({"tree", path_}).out);
  EXPECT_EQ(RunTool({path_, "--json"}).out,
            RunTool({"tree", path_, "--json"}).out);
}

TEST_F(TreeVerb, WritesNothing) {
  WriteDatabase();
  // RocksDB deletes these when it opens a database, for reading, too.
  std::ofstream(path_ + "/000099.sst.trash") << "trash";
  const auto before = Contents(path_);
  EXPECT_EQ(RunTool({"tree", path_}).code, 0);
  EXPECT_TRUE(Contents(path_) == before);
}

TEST_F(TreeVerb, ReadsADatabaseThatIsOpen) {
  const auto db = OpenDb(options_, path_);
  WriteFile(db.get(), 0, 60);
  // The database itself writes its info log, and deletes its logs, meanwhile.
  const auto contents = [this] {
    auto all = Contents(path_);
    std::erase_if(all, [](const auto& file) {
      return file.first.ends_with("LOG") || file.first.ends_with(".log");
    });
    return all;
  };
  const auto before = contents();
  EXPECT_EQ(Files().size(), 1U);
  EXPECT_TRUE(contents() == before);
  WriteFile(db.get(), 10, 30);
  EXPECT_EQ(Files().size(), 2U);
}

TEST_F(TreeVerb, NeedsNoMergeOperatorAndNoKnownPolicy) {
  class OtherPolicy : public rocksdb::FilterPolicy {
   public:
    const char* Name() const override { return "test.Policy"; }
    const char* CompatibilityName() const override { return "test.Policy"; }
    rocksdb::FilterBitsBuilder* GetBuilderWithContext(
        const rocksdb::FilterBuildingContext&) const override {
      return nullptr;
    }
    rocksdb::FilterBitsReader* GetFilterBitsReader(
        const rocksdb::Slice&) const override {
      return nullptr;
    }
  };
  options_ = TestDbOptions({.policy = std::make_shared<OtherPolicy>()});
  options_.merge_operator = std::make_shared<LastWins>();
  {
    const auto db = OpenDb(options_, path_);
    ExpectOk(db->Merge({}, "a:q", "1"));
    ExpectOk(db->Flush({}));
    ExpectOk(db->Merge({}, "a:q", "2"));
  }
  const Output output = RunFine({"tree", path_, "--json"});
  EXPECT_EQ(Records(output, "tree").at(0).at("files"), 1);
}

// The MANIFEST gets the size of the log that "default" still needs.
TEST_F(TreeVerb, ShowsADatabaseThatTracksItsLogs) {
  options_.track_and_verify_wals_in_manifest = true;
  options_.wal_dir = dir_.File("logs");
  {
    const auto db = OpenDb(options_, path_);
    rocksdb::ColumnFamilyHandle* family = nullptr;
    ExpectOk(db->CreateColumnFamily(options_, "other", &family));
    ExpectOk(db->Put({}, "a:q", "in the log alone"));
    ExpectOk(db->Put({}, family, "a:q", "in a file"));
    ExpectOk(db->Flush({}, family));
    ExpectOk(db->DestroyColumnFamilyHandle(family));
  }
  const Output output = RunFine({"tree", path_, "--json"});
  EXPECT_EQ(Records(output, "tree").at(0).at("files"), 1);
  // A copy has all its files in one directory. The original is without the log.
  fs::copy(options_.wal_dir, path_);
  fs::remove_all(options_.wal_dir);
  fs::create_directory(options_.wal_dir);
  const Output of_copy = RunFine({"tree", path_, "--json"});
  EXPECT_EQ(Records(of_copy, "tree").at(0).at("files"), 1);
}

// The factory then has no options of its own, either.
TEST_F(TreeVerb, NeedsNoKnownTableFactory) {
  WriteDatabase();
  ReplaceInOptions("BlockBasedTable", "test.OtherTable");
  const Output output = RunFine({"tree", path_, "--json"});
  EXPECT_EQ(Records(output, "tree").at(0).at("files"), 3);
  EXPECT_EQ(Records(output, "tree_family").at(0).at("new_filter_policy"), "");
  EXPECT_THAT(RunFine({"tree", path_}).out,
              HasSubstr("  none, or not known here"));
}

// Those of a later version may have one.
TEST_F(TreeVerb, ShowsADatabaseWhoseOptionsHaveAnUnknownValue) {
  WriteDatabase();
  ReplaceInOptions("compaction_pri=k", "compaction_pri=kNew");
  const Output output = RunTool({"tree", path_, "--json"});
  EXPECT_EQ(output.code, 2);
  EXPECT_THAT(output.err, HasSubstr(path_ + ": OPTIONS cannot be used: "));
  EXPECT_EQ(Records(output, "tree").at(0).at("files"), 3);
  EXPECT_EQ(Records(output, "tree_family").at(0).at("new_filter_policy"),
            "unknown");
}

TEST_F(TreeVerb, ShowsKeysWithoutTheirTimestamps) {
  options_ = TestDbOptions({});
  ExpectOk(rocksdb::Comparator::CreateFromString(
      {}, "leveldb.BytewiseComparator.u64ts", &options_.comparator));
  {
    const auto db = OpenDb(options_, path_);
    const std::string time("\x2a\0\0\0\0\0\0\0", 8);
    ExpectOk(db->Put({}, "a", time, "v"));
    ExpectOk(db->Put({}, "b", time, "v"));
    ExpectOk(db->Flush({}));
  }
  for (const bool missing : {false, true}) {
    const auto file = Files().at(0);
    EXPECT_EQ(file.at("read"), !missing);
    EXPECT_EQ(file.at("smallest_key"), "a");
    EXPECT_EQ(file.at("largest_key"), "b");
    const std::string path = file.at("path");
    fs::remove(path);
  }
}

#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 806
// The MANIFEST says so since RocksDB 8.6, which opens such a family in no other
// way.
TEST_F(TreeVerb, ShowsAFamilyWhoseTimestampsAreInMemoryAlone) {
  options_ = TestDbOptions({});
  ExpectOk(rocksdb::Comparator::CreateFromString(
      {}, "leveldb.BytewiseComparator.u64ts", &options_.comparator));
  options_.persist_user_defined_timestamps = false;
  options_.allow_concurrent_memtable_write = false;  // RocksDB requires it
  {
    const auto db = OpenDb(options_, path_);
    ExpectOk(db->Put({}, "a", std::string("\x2a\0\0\0\0\0\0\0", 8), "v"));
    ExpectOk(db->Flush({}));
  }
  const auto files = Files();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].at("smallest_key"), "a");
  EXPECT_EQ(files[0].at("largest_key"), "a");
}
#endif

TEST_F(TreeVerb, NamesAComparatorThatIsNotKnown) {
  const OddOrder order;
  options_ = TestDbOptions({});
  options_.comparator = &order;
  WriteFile(OpenDb(options_, path_).get(), 0, 10);
  const Output output = RunTool({"tree", path_});
  EXPECT_EQ(output.code, 2);
  EXPECT_EQ(output.out, "");
  EXPECT_THAT(output.err, AllOf(HasSubstr(path_), HasSubstr("test.OddOrder")));
}

TEST_F(TreeVerb, ShowsTheRestOfADamagedDatabase) {
  WriteDatabase();
  const auto files = Files();
  fs::resize_file(files[0].at("path").get<std::string>(), 100);
  fs::remove(files[1].at("path").get<std::string>());
  const Output output = RunTool({"tree", "--files", "--json", path_});
  EXPECT_THAT(output.err,
              AllOf(HasSubstr("not a RocksDB table"), HasSubstr("not there")));
  EXPECT_EQ(output.code, 1);
  const auto sums = Records(output, "tree").at(0);
  EXPECT_EQ(sums.at("files"), 3);
  EXPECT_EQ(sums.at("unread_files"), 2);
  EXPECT_EQ(sums.at("entries"), 60);
  EXPECT_EQ(Records(output, "tree_file").at(0).at("read"), false);
  EXPECT_THAT(RunTool({path_}).out, HasSubstr("2 (2 NOT READ)"));
}

// As a flush or compaction of another process has it.
TEST_F(TreeVerb, VerifyPassesOverAFileThatIsBeingWritten) {
  WriteDatabase();
  test::WriteFile(path_ + "/000099.sst", "the beginning of a table");
  EXPECT_THAT(RunFine({"verify", path_}).err,
              HasSubstr("000099.sst: not whole, and not in the MANIFEST"));
  fs::resize_file(Files()[0].at("path").get<std::string>(), 100);
  EXPECT_EQ(RunTool({"verify", path_}).code, 1);
}

TEST_F(TreeVerb, FindsFilesInOtherDirectories) {
  WriteDatabase();
  const std::string other = dir_.File("other");
  fs::create_directory(other);
  const std::string moved = Files()[2].at("path");
  fs::rename(moved, fs::path(other) / fs::path(moved).filename());
  EXPECT_EQ(RunTool({"tree", path_}).code, 1);
  const Output output =
      RunFine({"tree", "--db-path", dir_.File("absent"), "--db-path", other,
               "--files", "--json", path_});
  EXPECT_THAT(Records(output, "tree_file").at(2).at("path"),
              HasSubstr("/other/"));
}

// A link to itself stands for a directory of another user: the system resolves
// no name below it.
TEST_F(TreeVerb, AFileInADirectoryThatCannotBeSearchedIsNotMissing) {
  WriteDatabase();
  fs::remove(Files()[2].at("path").get<std::string>());
  const std::string closed = dir_.File("closed");
  fs::create_symlink(closed, closed);
  const Output output = RunTool({"tree", "--db-path", closed, path_});
  EXPECT_EQ(output.code, 2);
  EXPECT_THAT(output.err,
              AllOf(HasSubstr(closed + "/"), HasSubstr("cannot open")));
}

TEST_F(TreeVerb, RefusesWhatIsNoDatabase) {
  fs::create_directory(path_);
  const Output output = RunTool({"tree", path_});
  EXPECT_EQ(output.code, 2);
  EXPECT_THAT(output.err,
              HasSubstr("expected a directory with a file CURRENT"));
  std::ofstream(path_ + "/CURRENT") << "MANIFEST-000001\n";
  EXPECT_EQ(RunTool({path_}).code, 2);
  std::ofstream(path_ + "/CURRENT") << "";
  EXPECT_THAT(RunTool({path_}).err, HasSubstr(path_ + ": CURRENT file"));
}

}  // namespace
}  // namespace rowbloom::test

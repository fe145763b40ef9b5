// The files that an import finds, without a look into them.
#include "storage/hfile_transfer/store_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "hbase.pb.h"
#include "tests/storage/hfile/test_cells.h"
#include "tests/support/files.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::hfile_transfer {
namespace {

namespace fs = std::filesystem;
using rocksdb::Status;
using test::IsOk;
using test::StatusIs;
using test::TempDir;
using test::WriteFile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class StoreFiles : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& bytes = "") {
    fs::create_directories(fs::path(dir_.File(name)).parent_path());
    WriteFile(dir_.File(name), bytes);
  }
  // Tells the rows of a region in the directory `t`.
  void WriteInfo(const std::string& name, uint64_t id, const RowRange& rows,
                 const std::string& table = "t", int replica_id = 0) {
    proto::RegionInfo info;
    info.set_region_id(id);
    info.mutable_table_name()->set_name_space("default");
    info.mutable_table_name()->set_qualifier(table);
    info.set_start_key(rows.start_row);
    info.set_end_key(rows.stop_row);
    info.set_replica_id(replica_id);
    const std::string bytes = info.SerializeAsString();
    Write("t/" + name + "/.regioninfo",
          "PBUF" + std::string(1, static_cast<char>(bytes.size())) + bytes);
  }
  // A region with one file.
  void WriteRegion(const std::string& name, uint64_t id, const RowRange& rows) {
    WriteInfo(name, id, rows);
    Write("t/" + name + "/f/" + name);
  }
  // The names of the files that are found in the directories of the regions of
  // table `t`, which need not have all rows.
  std::vector<std::string> FindInRegions() {
    std::vector<std::string> regions;
    for (const auto& entry : fs::directory_iterator(dir_.File("t"))) {
      regions.push_back(entry.path().string());
    }
    std::sort(regions.begin(), regions.end());
    return NamesOf(Find(regions));
  }
  std::vector<std::string> FindInTable() {
    return NamesOf(Find({dir_.File("t")}));
  }
  static std::vector<std::string> NamesOf(const std::vector<StoreFile>& files) {
    std::vector<std::string> names;
    for (const StoreFile& file : files) {
      EXPECT_THAT(file.problem, IsOk());
      names.push_back(fs::path(file.path).filename().string());
    }
    return names;
  }
  std::vector<StoreFile> Find(const std::vector<std::string>& paths) {
    std::vector<StoreFile> files;
    EXPECT_THAT(Run(paths, &files), IsOk());
    return files;
  }
  Status Run(const std::vector<std::string>& paths,
             std::vector<StoreFile>* files) {
    files->clear();
    passed_over_.clear();
    return FindStoreFiles(
        paths, [](const std::string&) { return false; }, files, &passed_over_);
  }
  void ExpectRefused(const std::string& path, Status::Code code,
                     const std::vector<std::string>& parts) {
    std::vector<StoreFile> files;
    const Status s = Run({dir_.File(path)}, &files);
    EXPECT_EQ(s.code(), code) << s.ToString();
    for (const std::string& part : parts) {
      EXPECT_THAT(s.ToString(), HasSubstr(part));
    }
  }

  TempDir dir_;
  PassedOver passed_over_;
};

TEST_F(StoreFiles, OfARegionThatWasSplitArePassedOver) {
  WriteRegion("aa", 1, {"b", "e"});
  EXPECT_THAT(FindInRegions(), ElementsAre("aa"));
  WriteRegion("bb", 2, {"b", "c"});
  EXPECT_THAT(FindInRegions(), ElementsAre("aa", "bb"));
  WriteRegion("cc", 2, {"c", "e"});
  EXPECT_THAT(FindInRegions(), ElementsAre("bb", "cc"));
  EXPECT_EQ(passed_over_[kFilesOfSplitRegions], 1u);
  // Later splits of its halves change nothing for the first region.
  WriteRegion("dd", 3, {"c", "d"});
  WriteRegion("ee", 3, {"d", "e"});
  EXPECT_THAT(FindInRegions(), ElementsAre("bb", "dd", "ee"));
}

TEST_F(StoreFiles, OfRegionsThatWereMergedArePassedOver) {
  WriteRegion("aa", 1, {"", "c"});
  WriteRegion("bb", 2, {"c", ""});
  EXPECT_THAT(FindInRegions(), ElementsAre("aa", "bb"));
  WriteRegion("cc", 3, {"", ""});
  EXPECT_THAT(FindInRegions(), ElementsAre("cc"));
}

// HBase makes them when a server dies (hbase.wal.split.to.hfile), and reads
// them when it opens the region.
TEST_F(StoreFiles, FromLogsAreThoseOfTheirRegion) {
  WriteRegion("aa", 1, {"b", "e"});
  Write("t/aa/f/recovered.hfiles/01");
  EXPECT_THAT(FindInRegions(), ElementsAre("aa", "01"));
  WriteRegion("bb", 2, {"b", "c"});
  WriteRegion("cc", 2, {"c", "e"});
  EXPECT_THAT(FindInRegions(), ElementsAre("bb", "cc"));
  EXPECT_EQ(passed_over_[kFilesOfSplitRegions], 2u);
}

TEST_F(StoreFiles, OfARegionWithRowsOfItsOwnAreFound) {
  WriteRegion("aa", 5, {"b", "f"});
  for (const auto& [id, rows] : std::vector<std::pair<uint64_t, RowRange>>{
           {5, {"a", "g"}},     // as old
           {4, {"a", "g"}},     // older
           {6, {"a", "e"}},     // all but its end
           {6, {"bb", ""}},     // all but its start
           {6, {"f", "g"}}}) {  // beside it
    WriteRegion("bb", id, rows);
    EXPECT_THAT(FindInRegions(), testing::Contains("aa"))
        << rows.start_row << "-" << rows.stop_row;
  }
  WriteRegion("bb", 6, {"a", "c"});
  WriteRegion("cc", 6, {"d", "g"});
  EXPECT_THAT(FindInRegions(), ElementsAre("aa", "bb", "cc"));
}

TEST_F(StoreFiles, OfATableHaveEachRowOnce) {
  WriteRegion("aa", 1, {"", "c"});
  WriteRegion("bb", 2, {"c", "f"});
  WriteRegion("cc", 3, {"f", ""});
  EXPECT_THAT(FindInTable(), ElementsAre("aa", "bb", "cc"));
  const auto expect_overlap = [this](const std::string& part) {
    ExpectRefused("t", Status::kCorruption,
                  {dir_.File("t/" + part), "by their .regioninfo"});
  };
  const auto expect_gap = [this](const std::string& part) {
    ExpectRefused("t", Status::kCorruption, {dir_.File("t") + ": " + part});
  };
  WriteInfo("bb", 2, {"c", "g"});
  expect_overlap("cc: has the rows from \"f\" on, as " + dir_.File("t/bb") +
                 " has");
  WriteInfo("bb", 2, {"b", "f"});
  expect_overlap("bb: has the rows from \"b\" on, as " + dir_.File("t/aa") +
                 " has");
  WriteInfo("bb", 2, {"c", ""});
  expect_overlap("cc: has the rows from \"f\" on, as " + dir_.File("t/bb") +
                 " has");
  // This is known whatever another directory has, and a gap is not.
  fs::remove(dir_.File("t/aa/.regioninfo"));
  expect_overlap("cc: has the rows from");
  WriteInfo("bb", 2, {"c", "e"});
  EXPECT_THAT(FindInTable(), ElementsAre("aa", "bb", "cc"));
  WriteInfo("aa", 1, {"", "c"});
  expect_gap(
      "no region has the rows from \"e\" to \"f\", by the .regioninfo of bb "
      "and cc;");
  // A file is no region.
  Write("t/_SUCCESS");
  expect_gap("no region has the rows from \"e\" to \"f\"");
  fs::remove(dir_.File("t/_SUCCESS"));
  WriteInfo("bb", 2, {"c", "f"});
  WriteInfo("cc", 3, {"f", "g"});
  expect_gap("no region has the rows from \"g\" on, by the .regioninfo of cc;");
  WriteInfo("cc", 3, {"f", ""});
  WriteInfo("aa", 1, {"a", "c"});
  expect_gap(
      "no region has the rows from \"\" to \"a\", by the .regioninfo of aa;");
  EXPECT_THAT(FindInRegions(), ElementsAre("aa", "bb", "cc"));
}

// Without its rows a region that was split would be taken for one in use.
TEST_F(StoreFiles, OfARegionThatCannotBeReadAreRefused) {
  WriteRegion("aa", 1, {"", ""});
  WriteRegion("bb", 2, {"", "m"});
  WriteRegion("cc", 2, {"m", ""});
  EXPECT_THAT(FindInTable(), ElementsAre("bb", "cc"));
  for (const std::string region : {"aa", "bb", "cc"}) {
    const std::string path = dir_.File("t/" + region + "/.regioninfo");
    const std::string whole = test::ReadFile(path);
    for (const std::string& bytes :
         {std::string(), std::string("PBUF"), whole.substr(1),
          whole.substr(0, whole.size() - 1)}) {
      WriteFile(path, bytes);
      ExpectRefused("t", Status::kCorruption, {path});
      ExpectRefused("t/aa", Status::kCorruption, {path});
    }
    WriteInfo(region, 2, {"m", "m"});
    ExpectRefused("t", Status::kCorruption, {path, "from row \"m\" to \"m\""});
    fs::remove(path);
    fs::create_directory(path);
    ExpectRefused("t", Status::kIOError, {path});
    fs::remove(path);
    WriteFile(path, whole);
  }
  EXPECT_THAT(FindInTable(), ElementsAre("bb", "cc"));
}

// The names are those that HBase's MD5 of the table, first row and id has.
TEST_F(StoreFiles, AreInDirectoriesWithTheNameOfTheirRegion) {
  // The text is "t,m,7".
  const std::string name = "39f192d1121b5f4f5a372ea57404a418";
  WriteRegion(name, 7, {"m", ""});
  EXPECT_THAT(FindInRegions(), ElementsAre(name));
  const auto expect_refused = [&] {
    ExpectRefused("t", Status::kCorruption,
                  {dir_.File("t/" + name + "/.regioninfo"), "HBase names"});
  };
  WriteInfo(name, 6, {"m", ""});
  expect_refused();
  WriteInfo(name, 7, {"n", ""});
  expect_refused();
  WriteInfo(name, 7, {"m", ""}, "s");
  expect_refused();
  WriteInfo(name, 7, {"m", ""}, "t", 1);
  expect_refused();
  // "t,m,7_001F"
  fs::remove_all(dir_.File("t"));
  const std::string of_replica = "75ec8139307efae60000616ac1af6d89";
  Write("t/" + of_replica + "/f/01");
  WriteInfo(of_replica, 7, {"m", ""}, "t", 31);
  EXPECT_THAT(FindInRegions(), ElementsAre("01"));
}

TEST_F(StoreFiles, OfTwoTablesAreRefused) {
  WriteInfo("aa", 1, {"", ""});
  Write("t/aa/f/01");
  WriteInfo("../s/bb", 1, {"", ""}, "s");
  Write("s/bb/f/02");
  ExpectRefused("", Status::kInvalidArgument,
                {"has regions of table s (" + dir_.File("s/bb") +
                     ") and of table t (" + dir_.File("t/aa") + ")",
                 "name the directory of one table"});
  // A directory that is named is known to be of this table.
  EXPECT_THAT(NamesOf(Find({dir_.File("s"), dir_.File("t")})),
              ElementsAre("02", "01"));
}

TEST_F(StoreFiles, OfLinksAreLookedForAsHBaseDoes) {
  const std::string in_data = "root/data/ns/other/aa/f/01";
  const std::string in_archive = "root/archive/data/ns/other/aa/f/01";
  for (const std::string link :
       {"root/data/default/t/bb/f/ns=other=aa-01",
        "root/archive/data/default/t/bb/f/ns=other=aa-01"}) {
    Write(link);
    Write(in_archive);
    std::vector<StoreFile> files = Find({dir_.File(link)});
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(files[0].path, dir_.File(in_archive));
    Write(in_data);
    files = Find({dir_.File(link)});
    EXPECT_EQ(files[0].path, dir_.File(in_data));
    fs::remove(dir_.File(in_data));
    fs::remove(dir_.File(in_archive));
    EXPECT_TRUE(Find({dir_.File(link)})[0].problem.IsNotSupported());
  }
  // A table that is alone has others beside it.
  Write("default/t/bb/f/other=aa-01");
  Write("default/other/aa/f/01");
  EXPECT_EQ(Find({dir_.File("default/t")})[0].path,
            dir_.File("default/other/aa/f/01"));
  EXPECT_THAT(passed_over_, IsEmpty());
}

// The archive has files that its tables have no more, however it is named.
TEST_F(StoreFiles, OfTheArchiveAreRefusedBehindALink) {
  Write("root/.hbase-snapshot/s/.snapshotinfo");
  Write("root/archive/data/default/t/aa/f/01");
  fs::create_directory_symlink("root/archive/data/default/t",
                               dir_.File("link"));
  for (const std::string path : {"link", "link/", "link/aa"}) {
    ExpectRefused(path, Status::kInvalidArgument,
                  {dir_.File(path) + ": holds HBase's archive"});
  }
  fs::create_directory(dir_.File("links"));
  fs::create_directory_symlink("../root/archive/data/default/t",
                               dir_.File("links/t"));
  ExpectRefused("links", Status::kInvalidArgument,
                {dir_.File("links/t") + ": holds HBase's archive"});
  // So are those of a link in the archive.
  Write("t/aa/f/02");
  fs::create_directory_symlink(dir_.File("t"),
                               dir_.File("root/archive/data/default/u"));
  ExpectRefused("root/archive/data/default/u", Status::kInvalidArgument,
                {": holds HBase's archive"});
}

TEST_F(StoreFiles, OfAFamilyNamedDataAreNoArchive) {
  Write("archive/data/01");
  EXPECT_THAT(NamesOf(Find({dir_.File("archive")})), ElementsAre("01"));
}

TEST_F(StoreFiles, OfOtherKindsAreCounted) {
  Write("t/aa/f/01");
  WriteInfo("aa", 1, {"", ""});
  Write("t/aa/.tmp/f/02");
  Write("t/aa/recovered.edits/7.seqid");
  Write("t/.tabledesc/.tableinfo.0000000001.700");
  Write("t/aa/f/01-copy");
  EXPECT_THAT(FindInTable(), ElementsAre("01"));
  EXPECT_THAT(passed_over_,
              ElementsAre(Pair(".regioninfo", 1), Pair(".tabledesc", 1),
                          Pair(".tmp", 1), Pair(kOtherFiles, 1),
                          Pair("recovered.edits", 1)));
  // Other writers, and bulk loads, may give such names.
  EXPECT_THAT(NamesOf(Find({dir_.File("t/aa/f/01-copy")})),
              ElementsAre("01-copy"));
  Write("out/f/part-0");
  EXPECT_THAT(NamesOf(Find({dir_.File("out")})), ElementsAre("part-0"));
}

TEST_F(StoreFiles, ThatAListOfHBaseTellsApartAreRefused) {
  Write("t/aa/f/01");
  Write("t/aa/f/.filelist/f1.1700000000000");
  ExpectRefused("t", Status::kNotSupported, {"t/aa/f/.filelist"});
}

TEST_F(StoreFiles, OfARegionWithWritesInNoneAreRefused) {
  Write("t/aa/f/01");
  const std::string edits = "t/aa/recovered.edits/";
  // HBase takes writes from none of these.
  Write(edits + "0000000000000000009");
  Write(edits + "0000000000000000009.temp", "writes");
  Write(edits + "9.1700000000000", "writes");
  EXPECT_THAT(FindInRegions(), ElementsAre("01"));
  const std::string writes = edits + "0000000000000000008";
  Write(edits + "0000000000000000006", "writes");
  Write(writes, "writes");
  for (const char* older : {"2.seqid", "7.seqid", "3_seqid"}) {
    Write(edits + older);
    ExpectRefused("t", Status::kNotSupported, {writes, "enable the table"});
  }
  // They were in HFiles when the region was closed.
  Write(edits + "8.seqid");
  EXPECT_THAT(FindInRegions(), ElementsAre("01"));
}

// A link to itself stands for a directory of another user.
TEST_F(StoreFiles, InADirectoryThatCannotBeReadAreNamedWithIt) {
  Write("t/aa/f/01");
  fs::create_symlink(dir_.File("t/aa/g"), dir_.File("t/aa/g"));
  ExpectRefused("t", Status::kIOError,
                {dir_.File("t/aa/g") + ": cannot read the directory"});
}

TEST(FindTarget, ADirectoryThatCannotBeSearchedIsAnError) {
  const TempDir dir;
  const std::string table = dir.File("t");
  fs::create_symlink(table, table);
  StoreFileTarget target;
  target.region = "aa";
  target.file = "bb";
  std::string path;
  EXPECT_THAT(FindTarget({table}, target, "f", &path),
              StatusIs(Status::kIOError, HasSubstr(table + "/aa/f/bb: ")));
}

}  // namespace
}  // namespace rowbloom::hfile_transfer

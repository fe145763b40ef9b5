// The files that an import finds, without a look into them.
#include "storage/hfile_transfer/store_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
using test::IsOk;
using test::TempDir;
using test::WriteFile;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class StoreFiles : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& bytes = "") {
    fs::create_directories(fs::path(dir_.File(name)).parent_path());
    WriteFile(dir_.File(name), bytes);
  }
  // Tells the rows of a region of table `t`.
  void WriteInfo(const std::string& name, uint64_t id, const RowRange& rows) {
    proto::RegionInfo info;
    info.set_region_id(id);
    info.mutable_table_name()->set_name_space("default");
    info.mutable_table_name()->set_qualifier("t");
    info.set_start_key(rows.start_row);
    info.set_end_key(rows.stop_row);
    const std::string bytes = info.SerializeAsString();
    Write("t/" + name + "/.regioninfo",
          "PBUF" + std::string(1, static_cast<char>(bytes.size())) + bytes);
  }
  // A region with one file.
  void WriteRegion(const std::string& name, uint64_t id, const RowRange& rows) {
    WriteInfo(name, id, rows);
    Write("t/" + name + "/f/" + name);
  }
  // The names of the files that are found in table `t`.
  std::vector<std::string> Find() {
    std::vector<std::string> names;
    for (const StoreFile& file : Find(dir_.File("t"))) {
      EXPECT_THAT(file.problem, IsOk());
      names.push_back(fs::path(file.path).filename().string());
    }
    return names;
  }
  std::vector<StoreFile> Find(const std::string& path) {
    std::vector<StoreFile> files;
    passed_over_.clear();
    EXPECT_THAT(FindStoreFiles(
                    {path}, [](const std::string&) { return false; }, &files,
                    &passed_over_),
                IsOk());
    return files;
  }

  TempDir dir_;
  PassedOver passed_over_;
};

TEST_F(StoreFiles, OfARegionThatWasSplitArePassedOver) {
  WriteInfo("old", 0, {"", ""});  // has the rows that others leave out
  WriteRegion("aa", 1, {"b", "e"});
  EXPECT_THAT(Find(), ElementsAre("aa"));
  WriteRegion("bb", 2, {"b", "c"});
  EXPECT_THAT(Find(), ElementsAre("aa", "bb"));
  WriteRegion("cc", 2, {"c", "e"});
  EXPECT_THAT(Find(), ElementsAre("bb", "cc"));
  EXPECT_EQ(passed_over_[kFilesOfSplitRegions], 1u);
  // Later splits of its halves change nothing for the first region.
  WriteRegion("dd", 3, {"c", "d"});
  WriteRegion("ee", 3, {"d", "e"});
  EXPECT_THAT(Find(), ElementsAre("bb", "dd", "ee"));
}

TEST_F(StoreFiles, OfRegionsThatWereMergedArePassedOver) {
  WriteRegion("aa", 1, {"", "c"});
  WriteRegion("bb", 2, {"c", ""});
  EXPECT_THAT(Find(), ElementsAre("aa", "bb"));
  WriteRegion("cc", 3, {"", ""});
  EXPECT_THAT(Find(), ElementsAre("cc"));
}

TEST_F(StoreFiles, OfARegionWithRowsOfItsOwnAreFound) {
  WriteInfo("old", 0, {"", ""});  // has the rows that others leave out
  WriteRegion("aa", 5, {"b", "f"});
  for (const auto& [id, rows] : std::vector<std::pair<uint64_t, RowRange>>{
           {5, {"a", "g"}},     // as old
           {4, {"a", "g"}},     // older
           {6, {"a", "e"}},     // all but its end
           {6, {"bb", ""}},     // all but its start
           {6, {"f", "g"}}}) {  // beside it
    WriteRegion("bb", id, rows);
    EXPECT_THAT(Find(), testing::Contains("aa"))
        << rows.start_row << "-" << rows.stop_row;
  }
  WriteRegion("bb", 6, {"a", "c"});
  WriteRegion("cc", 6, {"d", "g"});
  EXPECT_THAT(Find(), ElementsAre("aa", "bb", "cc"));
  // Nothing is known of a region whose file is damaged.
  WriteRegion("bb", 6, {"a", "g"});
  Write("t/bb/.regioninfo", "PBUF\x7f");
  EXPECT_THAT(Find(), ElementsAre("aa", "bb", "cc"));
}

TEST_F(StoreFiles, OfLinksAreLookedForAsHBaseDoes) {
  const std::string in_data = "root/data/ns/other/aa/f/01";
  const std::string in_archive = "root/archive/data/ns/other/aa/f/01";
  for (const std::string link :
       {"root/data/default/t/bb/f/ns=other=aa-01",
        "root/archive/data/default/t/bb/f/ns=other=aa-01"}) {
    Write(link);
    Write(in_archive);
    std::vector<StoreFile> files = Find(dir_.File(link));
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(files[0].path, dir_.File(in_archive));
    Write(in_data);
    files = Find(dir_.File(link));
    EXPECT_EQ(files[0].path, dir_.File(in_data));
    fs::remove(dir_.File(in_data));
    fs::remove(dir_.File(in_archive));
    EXPECT_TRUE(Find(dir_.File(link))[0].problem.IsNotSupported());
  }
  // A table that is alone has others beside it.
  Write("default/t/bb/f/other=aa-01");
  Write("default/other/aa/f/01");
  EXPECT_EQ(Find(dir_.File("default/t"))[0].path,
            dir_.File("default/other/aa/f/01"));
  EXPECT_THAT(passed_over_, IsEmpty());
}

TEST_F(StoreFiles, OfOtherKindsAreCounted) {
  Write("t/aa/f/01");
  Write("t/aa/.regioninfo");
  Write("t/aa/.tmp/f/02");
  Write("t/aa/recovered.edits/7.seqid");
  Write("t/.tabledesc/.tableinfo.0000000001.700");
  EXPECT_THAT(Find(), ElementsAre("01"));
  EXPECT_THAT(passed_over_,
              ElementsAre(Pair(".regioninfo", 1), Pair(".tabledesc", 1),
                          Pair(".tmp", 1), Pair("recovered.edits", 1)));
}

TEST_F(StoreFiles, ThatAListOfHBaseTellsApartAreRefused) {
  Write("t/aa/f/01");
  Write("t/aa/f/.filelist/f1.1700000000000");
  std::vector<StoreFile> files;
  EXPECT_THAT(FindStoreFiles(
                  {dir_.File("t")}, [](const std::string&) { return false; },
                  &files, &passed_over_),
              StatusIs(rocksdb::Status::kNotSupported,
                       testing::HasSubstr("t/aa/f/.filelist")));
}

}  // namespace
}  // namespace rowbloom::hfile_transfer

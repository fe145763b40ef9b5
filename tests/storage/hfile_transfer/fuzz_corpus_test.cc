// The corpus of the fuzz target for HBase's records: what its files are, and
// that they still are. To write it anew:
//
//   ROWBLOOM_WRITE_CORPUS=1 ctest --preset release -R HBaseRecordsCorpus
//
// Files of other names in that folder are inputs that a fuzzer found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "hbase.pb.h"
#include "storage/hfile_transfer/cell_tags.h"
#include "storage/hfile_transfer/hbase_records.h"
#include "storage/hfile_transfer/store_file_name.h"
#include "tests/storage/hfile/test_cells.h"
#include "tests/support/data.h"
#include "tests/support/files.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::hfile_transfer {
namespace {

namespace fs = std::filesystem;
using rocksdb::Status;
using test::DataPath;
using test::IsOk;
using test::ReadFile;
using test::StatusIs;
using test::WriteFile;
using testing::HasSubstr;

const std::string kSnapshot =
    DataPath("hbase/snapshot/export/.hbase-snapshot/orders-20261122");

std::string SeedPath(const std::string& name) {
  return std::string(ROWBLOOM_CORPUS_DIR) + "/hbase_records/" + name;
}

std::map<std::string, std::string> MakeSeeds() {
  std::map<std::string, std::string> seeds;
  seeds["manifest"] = ReadFile(kSnapshot + "/data.manifest");
  seeds["description"] = ReadFile(kSnapshot + "/.snapshotinfo");
  seeds["reference"] = ReadFile(
      DataPath("hbase/snapshot/references/790eb351bb9df5719e1f96be8230ce3e/f/"
               "137cb12a8e0a4f84b0493addfeaabdc8."
               "8bdf7aeb78389f57428bb7b5b424c0ce"));
  proto::SnapshotDataManifest manifest;
  EXPECT_TRUE(manifest.ParseFromString(seeds["manifest"]));
  const std::string region =
      manifest.region_manifests(0).region_info().SerializeAsString();
  seeds["region"] =
      "PBUF" + std::string(1, static_cast<char>(region.size())) + region;
  manifest.mutable_region_manifests()->DeleteSubrange(1, 2);
  auto* files = manifest.mutable_region_manifests(0)->mutable_family_files(0);
  files->mutable_store_files()->DeleteSubrange(1,
                                               files->store_files_size() - 1);
  files->mutable_store_files(0)->set_name("../../0123");
  seeds["manifest_with_a_name_that_leads_up"] = manifest.SerializeAsString();
  seeds["tags"] = std::string(
      "\0\2\2v\0\x09\x08\0\0\0\0\0\0\1\0\0\1\5\0\x0a\6ns:orders", 30);
  seeds["name"] = "ns=orders=0123-4567_SeqId_4_.89ab";
  return seeds;
}

TEST(HBaseRecordsCorpus, IsWhatItsNamesSay) {
  const auto seeds = MakeSeeds();
  if (std::getenv("ROWBLOOM_WRITE_CORPUS") != nullptr) {
    fs::create_directories(SeedPath(""));
    for (const auto& [name, bytes] : seeds) {
      WriteFile(SeedPath(name), bytes);
    }
  }
  for (const auto& [name, bytes] : seeds) {
    EXPECT_EQ(ReadFile(SeedPath(name)), bytes) << name;
    EXPECT_LT(bytes.size(), 3000u) << name;
  }
  RowRange rows;
  EXPECT_THAT(ReadReference(SeedPath("reference"), &rows), IsOk());
  RegionInfo region;
  EXPECT_THAT(ReadRegionInfo(SeedPath("region"), &region), IsOk());
  const test::TempDir dir;
  fs::copy(SeedPath("description"), dir.File(".snapshotinfo"));
  fs::copy(SeedPath("manifest"), dir.File("data.manifest"));
  SnapshotManifest manifest;
  EXPECT_THAT(ReadSnapshotManifest(dir.path().string(), &manifest), IsOk());
  fs::copy(SeedPath("manifest_with_a_name_that_leads_up"),
           dir.File("data.manifest"), fs::copy_options::overwrite_existing);
  EXPECT_THAT(ReadSnapshotManifest(dir.path().string(), &manifest),
              StatusIs(Status::kCorruption, HasSubstr("../../0123")));
  CellTags tags;
  ASSERT_THAT(ParseTags(seeds.at("tags"), &tags), IsOk());
  EXPECT_EQ(tags.mob_table, "ns:orders");
  EXPECT_TRUE(tags.is_mob_reference && tags.ttl_ms);
  const auto target = TargetInName(seeds.at("name"));
  ASSERT_TRUE(target);
  EXPECT_EQ(target->parent, "89ab");
}

}  // namespace
}  // namespace rowbloom::hfile_transfer

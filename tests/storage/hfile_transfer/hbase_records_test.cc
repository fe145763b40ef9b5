// Records that HBase wrote, read as they are and damaged in every way.
#include "storage/hfile_transfer/hbase_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "hbase.pb.h"
#include "tests/storage/hfile/test_cells.h"
#include "tests/storage/hfile_transfer/transfers.h"
#include "tests/support/data.h"
#include "tests/support/files.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::hfile_transfer::hbase_records_test {
namespace {

namespace fs = std::filesystem;
using rocksdb::Status;
using test::DataPath;
using test::IsOk;
using test::ReadFile;
using test::StatusIs;
using test::TempDir;
using test::WriteFile;
using testing::AllOf;
using testing::HasSubstr;

constexpr char kSplitRow[] = "user00170";
const std::string kReference = DataPath(
    "hbase/snapshot/references/790eb351bb9df5719e1f96be8230ce3e/f/"
    "137cb12a8e0a4f84b0493addfeaabdc8."
    "8bdf7aeb78389f57428bb7b5b424c0ce");
const std::string kSnapshot =
    DataPath("hbase/snapshot/export/.hbase-snapshot/orders-20261122");

TEST(Reference, HasTheRowsOfItsHalf) {
  // Family f has both halves of two files, family g the upper ones of two.
  size_t lower = 0;
  size_t upper = 0;
  for (const std::string& path :
       test::FilesIn(DataPath("hbase/snapshot/references"))) {
    if (fs::file_size(path) == 0) continue;  // a link
    RowRange rows;
    ASSERT_THAT(ReadReference(path, &rows), IsOk());
    EXPECT_EQ(rows.start_row + rows.stop_row, kSplitRow);
    EXPECT_EQ(rows.stop_row.empty(), path.find("/790eb351") != path.npos)
        << path;
    ++(rows.start_row.empty() ? lower : upper);
  }
  EXPECT_EQ(lower, 2u);
  EXPECT_EQ(upper, 4u);
}

TEST(Reference, OfAMergeIsToTheWholeFile) {
  TempDir dir;
  const std::string path = dir.File("reference");
  const std::string key("\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 12);
  WriteFile(path, "PBUF\n\x0c" + key + std::string("\x10\0", 2));
  RowRange rows{"start", "stop"};
  ASSERT_THAT(ReadReference(path, &rows), IsOk());
  EXPECT_EQ(rows.start_row, "");
  EXPECT_EQ(rows.stop_row, "");
  // No row is before all others.
  WriteFile(path, "PBUF\n\x0c" + key + "\x10\1");
  EXPECT_THAT(ReadReference(path, &rows),
              StatusIs(Status::kCorruption,
                       AllOf(HasSubstr(path), HasSubstr("before the empty"))));
}

// No bytes crash the reader, and an error names the file.
TEST(Reference, ThatIsDamagedIsRefused) {
  TempDir dir;
  const std::string path = dir.File("reference");
  const std::string bytes = ReadFile(kReference);
  RowRange rows;
  for (size_t size = 0; size < bytes.size(); ++size) {
    WriteFile(path, bytes.substr(0, size));
    EXPECT_THAT(ReadReference(path, &rows),
                StatusIs(Status::kCorruption, HasSubstr(path)))
        << size;
  }
  size_t refused = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] ^= static_cast<char>(1 << bit);
      WriteFile(path, damaged);
      const Status s = ReadReference(path, &rows);
      if (s.ok()) continue;
      ++refused;
      EXPECT_THAT(s, StatusIs(Status::kCorruption, HasSubstr(path)));
    }
  }
  // The row's bytes, and the bit that tells the halves apart, may be any.
  EXPECT_EQ(refused, (bytes.size() - sizeof(kSplitRow) + 1) * 8 - 1);
  EXPECT_THAT(ReadReference(dir.File("none"), &rows),
              StatusIs(Status::kIOError, HasSubstr("/none")));
}

TEST(SnapshotManifest, HasWhatHBaseWrote) {
  SnapshotManifest manifest;
  ASSERT_THAT(ReadSnapshotManifest(kSnapshot, &manifest), IsOk());
  EXPECT_EQ(manifest.name_space, "default");
  EXPECT_EQ(manifest.table, "orders");
  ASSERT_EQ(manifest.families.size(), 2u);
  EXPECT_EQ(manifest.families[0].name, "f");
  EXPECT_EQ(manifest.families[0].settings["DATA_BLOCK_ENCODING"], "FAST_DIFF");
  EXPECT_EQ(manifest.families[1].settings["VERSIONS"], "1");
  // A copy for each family would take memory out of proportion.
  ASSERT_NE(manifest.families[0].of_table, nullptr);
  EXPECT_EQ(manifest.families[1].of_table, manifest.families[0].of_table);
  ASSERT_EQ(manifest.regions.size(), 3u);
  size_t files = 0;
  size_t halves = 0;
  size_t split = 0;
  for (const SnapshotRegion& region : manifest.regions) {
    split += region.is_split ? 1 : 0;
    for (const SnapshotFile& file : region.files) {
      ++files;
      EXPECT_GT(file.file_bytes.value_or(0), 4096u);
      if (!file.half) continue;
      ++halves;
      EXPECT_EQ(file.half->start_row + file.half->stop_row, kSplitRow);
    }
  }
  EXPECT_EQ(files, 22u);
  EXPECT_EQ(halves, 6u);
  EXPECT_EQ(split, 1u);
}

// The files of all regions with rows, with what is read of each.
std::vector<std::string> FilesWithRows(const SnapshotManifest& manifest) {
  std::vector<std::string> files;
  for (const SnapshotRegion& region : manifest.regions) {
    if (region.is_split || region.is_mob) continue;
    for (const SnapshotFile& file : region.files) {
      files.push_back(
          file.half ? file.half->start_row + "-" + file.half->stop_row : "all");
    }
  }
  return files;
}

// HBase's manifests have no checksum. A byte that cannot be told from another
// one is part of a name, of a setting or of what nothing depends on.
TEST(SnapshotManifest, ThatIsDamagedIsRefusedOrHasTheSameFiles) {
  TempDir dir;
  SnapshotManifest whole;
  ASSERT_THAT(ReadSnapshotManifest(kSnapshot, &whole), IsOk());
  const std::vector<std::string> files = FilesWithRows(whole);
  for (const char* name : {"/.snapshotinfo", "/data.manifest"}) {
    fs::copy(
        kSnapshot, dir.path(),
        fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    const std::string path = dir.path().string() + name;
    const std::string bytes = ReadFile(path);
    for (size_t size = 0; size < bytes.size(); ++size) {
      WriteFile(path, bytes.substr(0, size));
      SnapshotManifest manifest;
      const Status s = ReadSnapshotManifest(dir.path().string(), &manifest);
      EXPECT_FALSE(s.ok()) << name << " of " << size << " bytes";
      EXPECT_THAT(s.ToString(), HasSubstr(path));
    }
    for (size_t at = 0; at < bytes.size(); ++at) {
      std::string damaged = bytes;
      damaged[at] ^= static_cast<char>(1 << at % 8);
      WriteFile(path, damaged);
      SnapshotManifest manifest;
      const Status s = ReadSnapshotManifest(dir.path().string(), &manifest);
      if (!s.ok()) {
        EXPECT_THAT(s.ToString(), HasSubstr(path));
        continue;
      }
      ASSERT_EQ(FilesWithRows(manifest), files) << name << ", byte " << at;
    }
  }
}

// Each change is one that HBase's own list of regions may have, too.
TEST(SnapshotManifest, HasAllRowsOnce) {
  TempDir dir;
  fs::copy(kSnapshot, dir.path(), fs::copy_options::recursive);
  const std::string path = dir.File("data.manifest");
  proto::SnapshotDataManifest whole;
  ASSERT_TRUE(whole.ParseFromString(ReadFile(path)));
  proto::RegionInfo* lower = nullptr;
  proto::RegionInfo* upper = nullptr;
  proto::RegionInfo* parent = nullptr;
  proto::SnapshotDataManifest changed;
  const auto expect = [&](const auto& change, const std::string& found) {
    changed = whole;
    for (auto& region : *changed.mutable_region_manifests()) {
      proto::RegionInfo* const info = region.mutable_region_info();
      if (info->split()) {
        parent = info;
      } else {
        (info->start_key().empty() ? lower : upper) = info;
      }
    }
    change();
    WriteFile(path, changed.SerializeAsString());
    SnapshotManifest manifest;
    EXPECT_THAT(ReadSnapshotManifest(dir.path().string(), &manifest),
                StatusIs(Status::kCorruption,
                         AllOf(HasSubstr(path + ": "), HasSubstr(found))));
  };
  expect([&] { changed.clear_region_manifests(); }, "no region that has rows");
  expect([&] { upper->set_split(true); },
         "no region for the rows from \"user00170\" on; if HBase's own list");
  expect([&] { lower->set_split(true); },
         "a region that begins with row \"user00170\" where the rows before "
         "end with \"\"");
  expect([&] { parent->set_split(false); },
         "a region that begins with row \"\" where the rows before end with");
  const auto without_halves = [&] {
    for (auto& region : *changed.mutable_region_manifests()) {
      region.clear_family_files();
    }
  };
  expect(
      [&] {
        without_halves();
        upper->set_start_key("user00171");
      },
      "a region that begins with row \"user00171\" where the rows before end "
      "with \"user00170\"");
  expect(
      [&] {
        without_halves();
        upper->set_end_key("user00400");
      },
      "no region for the rows from \"user00400\" on");
  const std::string too_long(32768, 'v');
  for (const bool is_start : {true, false}) {
    expect(
        [&] {
          is_start ? upper->set_start_key(too_long)
                   : lower->set_end_key(too_long);
        },
        "a region with a bound of 32768 bytes, expected at most 32767");
  }
}

TEST(SnapshotManifest, HasNoFieldsThatHBaseDoesNotHave) {
  TempDir dir;
  fs::copy(kSnapshot, dir.path(), fs::copy_options::recursive);
  const std::string path = dir.File("data.manifest");
  proto::SnapshotDataManifest whole;
  ASSERT_TRUE(whole.ParseFromString(ReadFile(path)));
  const auto expect = [&](const auto& message_of, const std::string& what) {
    proto::SnapshotDataManifest changed = whole;
    *message_of(&changed)->mutable_unknown_fields() = "\x78\1";
    WriteFile(path, changed.SerializeAsString());
    SnapshotManifest manifest;
    EXPECT_THAT(ReadSnapshotManifest(dir.path().string(), &manifest),
                StatusIs(Status::kCorruption,
                         HasSubstr(path + ": " + what +
                                   " with 2 bytes of fields that HBase does "
                                   "not have")));
  };
  const auto region = [](auto* manifest) {
    return manifest->mutable_region_manifests(0);
  };
  expect([](auto* manifest) { return manifest; }, "a manifest");
  expect(region, "a region");
  expect([&](auto* m) { return region(m)->mutable_region_info(); },
         "a region's description");
  expect(
      [&](auto* m) {
        return region(m)->mutable_region_info()->mutable_table_name();
      },
      "a region's table");
  expect([&](auto* m) { return region(m)->mutable_family_files(0); },
         "a family of a region");
  expect(
      [&](auto* m) {
        return region(m)->mutable_family_files(0)->mutable_store_files(0);
      },
      "a file");
}

TEST(RegionInfo, HasNoFieldsThatHBaseDoesNotHave) {
  TempDir dir;
  const std::string path = dir.File(".regioninfo");
  const auto read = [&](const proto::RegionInfo& info, RegionInfo* region) {
    const std::string bytes = info.SerializeAsString();
    WriteFile(path,
              "PBUF" + std::string(1, static_cast<char>(bytes.size())) + bytes);
    return ReadRegionInfo(path, region);
  };
  proto::RegionInfo info;
  info.set_region_id(7);
  info.mutable_table_name()->set_name_space("ns");
  info.mutable_table_name()->set_qualifier("t");
  info.set_start_key("a");
  info.set_end_key("b");
  RegionInfo region;
  ASSERT_THAT(read(info, &region), IsOk());
  EXPECT_EQ(region.table, "ns:t");
  EXPECT_EQ(region.id, 7u);
  EXPECT_EQ(region.rows.start_row + "-" + region.rows.stop_row, "a-b");
  proto::RegionInfo changed = info;
  *changed.mutable_unknown_fields() = "\x78\1";
  EXPECT_THAT(read(changed, &region),
              StatusIs(Status::kCorruption,
                       HasSubstr(path + ": a region's description with 2")));
  changed = info;
  *changed.mutable_table_name()->mutable_unknown_fields() = "\x78\1";
  EXPECT_THAT(read(changed, &region),
              StatusIs(Status::kCorruption,
                       HasSubstr(path + ": a region's table with 2")));
  info.mutable_table_name()->set_name_space("default");
  ASSERT_THAT(read(info, &region), IsOk());
  EXPECT_EQ(region.table, "t");
}

// A region that was split leaves a half to each of the new ones; a region that
// was merged with others leaves all from its first row on.
TEST(Half, IsOfItsRegion) {
  const auto is_of = [](RowRange half, const RowRange& region) {
    const bool is_upper = half.stop_row.empty();
    const Status s = FitHalf(region, &half);
    EXPECT_TRUE(s.ok() || s.IsCorruption()) << s.ToString();
    if (s.ok()) {
      EXPECT_EQ(half.start_row, is_upper ? region.start_row : "");
      EXPECT_EQ(half.stop_row, is_upper ? "" : region.stop_row);
    }
    return s.ok();
  };
  EXPECT_TRUE(is_of({"m", ""}, {"m", ""}));
  EXPECT_TRUE(is_of({"m", ""}, {"m", "t"}));
  EXPECT_TRUE(is_of({"m", ""}, {"a", "t"}));
  EXPECT_TRUE(is_of({"", ""}, {"", "t"}));
  EXPECT_FALSE(is_of({"m", ""}, {"n", ""}));
  EXPECT_FALSE(is_of({"", ""}, {"n", ""}));
  EXPECT_FALSE(is_of({"m", ""}, {"a", "m"}));
  EXPECT_TRUE(is_of({"", "m"}, {"", "m"}));
  EXPECT_TRUE(is_of({"", "m"}, {"a", "m"}));
  EXPECT_FALSE(is_of({"", "m"}, {"", ""}));
  EXPECT_FALSE(is_of({"", "m"}, {"", "n"}));
  EXPECT_FALSE(is_of({"", "m"}, {"", "l"}));
  RowRange lower{"", "m"};
  EXPECT_THAT(FitHalf({"n", "\xff"}, &lower),
              StatusIs(Status::kCorruption,
                       HasSubstr("a half before row \"m\", in a region from "
                                 "row \"n\" to \"\\xFF\"")));
}

TEST(SnapshotManifest, NamesLeadToNoOtherDirectory) {
  TempDir dir;
  fs::copy(kSnapshot, dir.path(), fs::copy_options::recursive);
  const std::string path = dir.File("data.manifest");
  const std::string bytes = ReadFile(path);
  for (const auto& [name, evil] :
       std::vector<std::pair<std::string, std::string>>{
           {"orders", "../..."},
           {"orders", "or/ers"},
           {"default", ".efault"},
           {"1a7acbb728524995a9015ade90e411d4",
            "../cbb728524995a9015ade90e411d4."}}) {
    std::string damaged = bytes;
    const size_t at = damaged.find(name);
    ASSERT_NE(at, damaged.npos);
    damaged.replace(at, name.size(), evil);
    WriteFile(path, damaged);
    SnapshotManifest manifest;
    EXPECT_THAT(
        ReadSnapshotManifest(dir.path().string(), &manifest),
        StatusIs(Status::kCorruption, AllOf(HasSubstr(path), HasSubstr(evil))));
  }
}

TEST(SnapshotManifest, OfOldHBasesIsNamed) {
  TempDir dir;
  fs::copy(kSnapshot, dir.path(), fs::copy_options::recursive);
  std::string bytes = ReadFile(dir.File(".snapshotinfo"));
  ASSERT_EQ(bytes.substr(bytes.size() - 2), "\x28\x02");
  WriteFile(dir.File(".snapshotinfo"), bytes.substr(0, bytes.size() - 2));
  SnapshotManifest manifest;
  EXPECT_THAT(ReadSnapshotManifest(dir.path().string(), &manifest),
              StatusIs(Status::kNotSupported,
                       HasSubstr("snapshot version 0, expected 2")));
}

TEST(RowRange, ClipsToAnother) {
  const auto clipped = [](RowRange rows, const RowRange& other) {
    rows.ClipTo(other);
    return rows.start_row + "-" + rows.stop_row;
  };
  EXPECT_EQ(clipped({}, {}), "-");
  EXPECT_EQ(clipped({"b", "d"}, {}), "b-d");
  EXPECT_EQ(clipped({}, {"b", "d"}), "b-d");
  EXPECT_EQ(clipped({"b", "d"}, {"a", "c"}), "b-c");
  EXPECT_EQ(clipped({"b", "d"}, {"c", "e"}), "c-d");
}

}  // namespace
}  // namespace rowbloom::hfile_transfer::hbase_records_test

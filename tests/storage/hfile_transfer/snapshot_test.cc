// The import of the table `orders`, as HBase wrote it: from an exported
// snapshot, and from region directories. Judge is HBase's own scan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "hbase.pb.h"
#include "storage/hfile_transfer/hbase_records.h"
#include "storage/hfile_transfer/store_file_name.h"
#include "storage/store/open_store.h"
#include "tests/storage/hfile/dump.h"
#include "tests/storage/hfile/test_cells.h"
#include "tests/storage/hfile_transfer/transfers.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/data.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/status_matchers.h"
#include "tests/support/stride.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::test {
namespace {

namespace fs = std::filesystem;
using rocksdb::Status;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr char kName[] = "orders-20261122";
constexpr char kOrders[] = "data/default/orders";
// The region that was split, and the two that it became.
constexpr char kParent[] = "8bdf7aeb78389f57428bb7b5b424c0ce";
constexpr char kUpper[] = "790eb351bb9df5719e1f96be8230ce3e";
constexpr char kLower[] = "0764d23e3d9ada3de323a41d0c17d55d";

struct Shown {
  std::string row;
  Cell cell;
  friend bool operator==(const Shown&, const Shown&) = default;
};

void PrintTo(const Shown& shown, std::ostream* out) {
  *out << shown.row << " " << shown.cell.family << ":" << shown.cell.qualifier
       << "@" << shown.cell.timestamp_ms << "=" << shown.cell.value;
}

// The cells that HBase's scan showed.
std::vector<Shown> ShownByHBase(const std::string& name) {
  std::vector<Shown> cells;
  for (const std::string& line :
       ReadGzipLines(DataPath("hbase/snapshot/" + name + ".jsonl.gz"))) {
    const auto cell = nlohmann::json::parse(line);
    const auto bytes = [&cell](const char* member) {
      return FromHex(cell[member].get<std::string>());
    };
    cells.push_back({bytes("row"),
                     {bytes("family"), bytes("qualifier"),
                      cell["timestamp"].get<uint64_t>(), bytes("value")}});
  }
  return cells;
}

std::vector<Shown> ShownBy(Store* store, const ScanOptions& options) {
  std::vector<Shown> cells;
  for (const Row& row : RowsOf(*store, options)) {
    for (const Cell& cell : row.cells) cells.push_back({row.row, cell});
  }
  return cells;
}

std::vector<Shown> AllVersions(Store* store) {
  return ShownBy(store, {.row = {.max_versions = kManyVersions}});
}

std::string Exported(const std::string& path) {
  return DataPath("hbase/snapshot/export/" + path);
}

class ImportOfASnapshot : public ::testing::Test {
 protected:
  void SetUp() override { Open({}); }
  void Open(const std::vector<FamilyDescriptor>& families) {
    store_ =
        OpenOrFail({}, dir_.File("db" + std::to_string(++stores_)), families);
  }
  Status Import(const HFileImportOptions& options = {}) {
    return ImportHFileSnapshot(options, snapshot_, store_.get(), &report_);
  }
  // A copy of the export, which a test may change.
  void Copy() {
    snapshot_.directory = dir_.File("copy");
    fs::copy(
        Exported(""), snapshot_.directory,
        fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }
  // Copies the export with a manifest that differs from HBase's.
  void CopyWith(
      const std::function<void(hfile_transfer::proto::SnapshotDataManifest*)>&
          change) {
    Copy();
    const std::string path =
        Copied(".hbase-snapshot/orders-20261122/data.manifest");
    hfile_transfer::proto::SnapshotDataManifest manifest;
    ASSERT_TRUE(manifest.ParseFromString(ReadFile(path)));
    change(&manifest);
    WriteFile(path, manifest.SerializeAsString());
  }
  // Copies the export, and damages a file of the upper region's family g.
  // Returns its path.
  std::string CopyWithDamage() {
    Copy();
    const std::string path =
        Copied("archive/" + std::string(kOrders) + "/" + kUpper +
               "/g/c4aa58e9b2984d32a60471168bb27f80");
    FlipBit(path, fs::file_size(path) / 4);
    return path;
  }
  std::string Copied(const std::string& path) {
    return snapshot_.directory + "/" + path;
  }

  TempDir dir_;
  std::unique_ptr<Store> store_;
  int stores_ = 0;
  HFileSnapshot snapshot_ = {Exported(""), kName};
  HFileImportReport report_;
};

TEST_F(ImportOfASnapshot, ShowsWhatHBaseShows) {
  ASSERT_THAT(Import(), IsOk());
  const std::vector<Shown> expected = ShownByHBase("cells_all_versions");
  ASSERT_EQ(expected.size(), 2184u);
  EXPECT_EQ(AllVersions(store_.get()), expected);
  const std::vector<Shown> latest = ShownByHBase("cells_latest");
  ASSERT_EQ(latest.size(), 1609u);
  EXPECT_EQ(ShownBy(store_.get(), {}), latest);
  EXPECT_THAT(
      report_.passed_over,
      ElementsAre(Pair("files of regions that were split or merged", 6)));
  EXPECT_THAT(report_.left_out, IsEmpty());
  // Nothing is loaded twice, and compaction changes nothing.
  ASSERT_THAT(Import(), IsOk());
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_EQ(AllVersions(store_.get()), expected);
}

TEST_F(ImportOfASnapshot, FamiliesHaveTheSettingsOfTheTable) {
  ASSERT_THAT(Import(), IsOk());
  FamilyOptions f;
  f.timestamps = Timestamps::kClient;
  f.max_versions = 3;
  f.bloom_type = BloomType::kRow;
  f.block_size_bytes = 4096;
  f.compression = Compression::kNone;
  FamilyOptions g;
  g.timestamps = Timestamps::kClient;
  g.bloom_type = BloomType::kRowCol;
  g.block_size_bytes = 8192;
  EXPECT_THAT(store_->Families(), ElementsAre(Pair("f", f), Pair("g", g)));
}

TEST_F(ImportOfASnapshot, FamiliesThatAreThereKeepTheirOptions) {
  FamilyOptions one;
  one.timestamps = Timestamps::kClient;
  Open({{"f", one}});
  ASSERT_THAT(Import({.families = {"f"}}), IsOk());
  EXPECT_THAT(store_->Families(), ElementsAre(Pair("f", one)));
  std::vector<Shown> latest = ShownByHBase("cells_latest");
  std::erase_if(latest,
                [](const Shown& shown) { return shown.cell.family != "f"; });
  EXPECT_EQ(AllVersions(store_.get()), latest);
}

// Each of its last calls that write fails once. (If reads fail, RocksDB 7.8.3
// stops with an assertion as it takes over a file.)
TEST_F(ImportOfASnapshot, SaysWhetherAFailureLeftNothing) {
  const size_t all = ShownByHBase("cells_latest").size();
  uint64_t calls = 0;
  int may_be_loaded = 0;
  int loaded = 0;
  int nothing = 0;
  for (uint64_t from_end = 0; from_end < 60; from_end += Stride(3)) {
    const std::string path = dir_.File("failing" + std::to_string(from_end));
    FaultPlan plan;
    const auto env = NewFaultEnv(&plan);
    std::unique_ptr<Store> store;
    const auto open = [&] {
      store.reset();
      ASSERT_THAT(
          OpenStore({.env = env.get()}, path, {}, SystemWallClock, &store),
          IsOk());
    };
    ASSERT_NO_FATAL_FAILURE(open());
    const uint64_t before = plan.calls();
    plan.FailCall(from_end == 0 ? UINT32_MAX : calls - from_end + 1,
                  /*for_good=*/false, FaultPlan::Kind::kNoSpace);
    const Status s = ImportHFileSnapshot({}, snapshot_, store.get(), &report_);
    if (from_end == 0) calls = plan.calls() - before;
    plan.FailNoCall();
    SCOPED_TRACE(std::to_string(from_end) + ": " + s.ToString());
    const bool some = s.ok() || report_.may_be_loaded;
    EXPECT_EQ(report_.new_families.size(), some ? 2u : 0u);
    EXPECT_EQ(report_.puts, some ? 2291u : 0u);
    EXPECT_EQ(report_.deletes, some ? 282u : 0u);
    ASSERT_NO_FATAL_FAILURE(open());
    const size_t shown =
        store->Families().empty() ? 0 : ShownBy(store.get(), {}).size();
    if (s.ok()) {
      EXPECT_FALSE(report_.may_be_loaded);
      EXPECT_EQ(shown, all);
    } else if (report_.may_be_loaded) {
      ++may_be_loaded;
      loaded += shown > 0 ? 1 : 0;
      EXPECT_TRUE(shown == 0 || shown == all) << shown;
      EXPECT_EQ(store->Families().size(), 2u);
    } else {
      ++nothing;
      EXPECT_EQ(shown, 0u);
    }
  }
  EXPECT_GT(may_be_loaded, 0);
  EXPECT_GT(loaded, 0);
  EXPECT_GT(nothing, 0);
}

TEST_F(ImportOfASnapshot, NamesThatNoFamilyHasAreRefusedInADryRunToo) {
  CopyWith([](auto* manifest) {
    manifest->mutable_table_schema()->mutable_column_families(1)->set_name(
        "g h");
  });
  for (const bool dry_run : {true, false}) {
    EXPECT_THAT(
        Import({.dry_run = dry_run}),
        StatusIs(Status::kInvalidArgument,
                 AllOf(HasSubstr("table default:orders: family \"g h\": "),
                       HasSubstr("leave it out"))));
  }
  EXPECT_THAT(store_->Families(), IsEmpty());
  EXPECT_THAT(Import({.families = {"f"}, .dry_run = true}), IsOk());
}

TEST_F(ImportOfASnapshot, SettingsWithoutACounterpartAreRefusedByName) {
  CopyWith([](auto* manifest) {
    for (auto& pair : *manifest->mutable_table_schema()
                           ->mutable_column_families(1)
                           ->mutable_attributes()) {
      if (pair.first() == "KEEP_DELETED_CELLS") pair.set_second("TRUE");
    }
  });
  const Status s = Import();
  EXPECT_TRUE(s.IsNotSupported());
  EXPECT_THAT(s.ToString(), AllOf(HasSubstr("family \"g\" of table "
                                            "default:orders"),
                                  HasSubstr("KEEP_DELETED_CELLS TRUE"),
                                  HasSubstr("create it before")));
  EXPECT_THAT(store_->Families(), IsEmpty());
  // One may do without the family, or say what it is to be.
  ASSERT_THAT(Import({.families = {"f"}}), IsOk());
  ASSERT_THAT(store_->CreateFamily("g", ManyVersions("g").options), IsOk());
  ASSERT_THAT(Import(), IsOk());
  EXPECT_EQ(ShownBy(store_.get(), {}), ShownByHBase("cells_latest"));
}

TEST_F(ImportOfASnapshot, SaysWhatItWouldDo) {
  ASSERT_THAT(Import({.dry_run = true}), IsOk());
  EXPECT_THAT(store_->Families(), IsEmpty());
  EXPECT_EQ(report_.files, 16u);
  EXPECT_EQ(report_.puts, 0u);
  ASSERT_EQ(report_.new_families.size(), 2u);
  HFileImportReport of_none;
  ASSERT_THAT(
      ImportHFileSnapshot({.dry_run = true}, snapshot_, nullptr, &of_none),
      IsOk());
  EXPECT_EQ(of_none.cells, report_.cells);
  ASSERT_THAT(Import(), IsOk());
  EXPECT_GE(of_none.cells, report_.cells);
  EXPECT_EQ(of_none.new_families.size(), report_.new_families.size());
  EXPECT_EQ(store_->Families()["f"], of_none.new_families[0].options);
  // Families that are there, and what only a look at all cells finds.
  ASSERT_THAT(Import({.dry_run = true}), IsOk());
  EXPECT_THAT(report_.new_families, IsEmpty());
  CopyWithDamage();
  ASSERT_THAT(Import({.keep_going = true, .dry_run = true}), IsOk());
  EXPECT_EQ(report_.left_out.size(), 1u);
}

TEST_F(ImportOfASnapshot, FamiliesInheritSettingsOfTheTable) {
  CopyWith([](auto* manifest) {
    auto* table = manifest->mutable_table_schema();
    auto* pair = table->add_configuration();
    pair->set_first("RowPrefixBloomFilter.prefix_length");
    pair->set_second("4");
    // The family's own setting comes first.
    pair = table->add_attributes();
    pair->set_first("VERSIONS");
    pair->set_second("7");
    for (auto& bloom :
         *table->mutable_column_families(0)->mutable_attributes()) {
      if (bloom.first() == "BLOOMFILTER") {
        bloom.set_second("ROWPREFIX_FIXED_LENGTH");
      }
    }
  });
  ASSERT_THAT(Import(), IsOk());
  const FamilyOptions f = store_->Families()["f"];
  EXPECT_EQ(f.bloom_type, BloomType::kRowPrefixFixedLength);
  EXPECT_EQ(f.row_prefix_length, 4u);
  EXPECT_EQ(f.max_versions, 3u);
  EXPECT_EQ(AllVersions(store_.get()), ShownByHBase("cells_all_versions"));
}

// Newer versions of HBase have a field for the name.
TEST_F(ImportOfASnapshot, RegionsMayTellTheirNames) {
  CopyWith([](auto* manifest) {
    for (auto& region : *manifest->mutable_region_manifests()) {
      auto* const info = region.mutable_region_info();
      info->set_region_encoded_name(info->split()               ? kParent
                                    : info->start_key().empty() ? kLower
                                                                : kUpper);
    }
  });
  ASSERT_THAT(Import(), IsOk());
  EXPECT_EQ(ShownBy(store_.get(), {}), ShownByHBase("cells_latest"));
  CopyWith([](auto* manifest) {
    for (auto& region : *manifest->mutable_region_manifests()) {
      region.mutable_region_info()->set_region_encoded_name(kUpper);
    }
  });
  EXPECT_THAT(Import(), StatusIs(Status::kCorruption,
                                 HasSubstr("a region that HBase names ")));
}

TEST_F(ImportOfASnapshot, PassesOverFilesOfMobValues) {
  CopyWith([](auto* manifest) {
    // The files of the split parent, which hold cells that are no more.
    for (int i = 0; i < 3; ++i) {
      auto* info = manifest->mutable_region_manifests(i)->mutable_region_info();
      if (!info->split()) continue;
      info->set_split(false);
      info->set_start_key(".mob");
      info->set_region_id(0);
    }
  });
  ASSERT_THAT(Import(), IsOk());
  EXPECT_EQ(AllVersions(store_.get()), ShownByHBase("cells_all_versions"));
  EXPECT_THAT(report_.passed_over, ElementsAre(Pair("files of MOB values", 6)));
}

// The file with the reference, and that with the value, are none of HBase's.
TEST_F(ImportOfASnapshot, HasTheValuesOfMobFiles) {
  HFileCell cell = MakeCell("zz", "q", 7, HFileCellType::kPut, "large");
  CopyWith([&](auto* manifest) {
    const auto add = [&](auto* region, const std::string& directory,
                         const std::string& name) {
      const std::string path = Copied("archive/" + std::string(kOrders) + "/" +
                                      directory + "/f/" + name);
      fs::create_directories(fs::path(path).parent_path());
      HFileWriterOptions options;
      options.tags = true;
      WriteCells({options}, path, {cell});
      auto* family = region->add_family_files();
      family->set_family_name("f");
      auto* file = family->add_store_files();
      file->set_name(name);
      file->set_file_size(fs::file_size(path));
    };
    auto* region = manifest->add_region_manifests();
    *region->mutable_region_info() =
        manifest->region_manifests(0).region_info();
    region->mutable_region_info()->set_split(false);
    region->mutable_region_info()->set_start_key(".mob");
    region->mutable_region_info()->set_region_id(0);
    add(region, "5f9e", "01");
    cell.value = std::string("\0\0\0\5", 4) + "01";
    cell.tags = std::string("\0\1\5\0\7\6", 6) + "orders";
    for (int i = 0; i < 3; ++i) {
      region = manifest->mutable_region_manifests(i);
      if (region->region_info().end_key().empty() &&
          !region->region_info().split()) {
        add(region, kUpper, "02");
      }
    }
  });
  ASSERT_THAT(Import(), IsOk());
  std::vector<Shown> expected = ShownByHBase("cells_all_versions");
  expected.push_back({"zz", {"f", "q", 7, "large"}});
  EXPECT_EQ(AllVersions(store_.get()), expected);
  EXPECT_EQ(report_.passed_over["files of MOB values"], 1u);
}

TEST_F(ImportOfASnapshot, TakesTheRowsAskedFor) {
  // The split was at user00170: a row in each half, and the split itself.
  for (const hfile_transfer::RowRange& rows :
       {hfile_transfer::RowRange{"user00120", "user00200"},
        hfile_transfer::RowRange{"", "user00170"},
        hfile_transfer::RowRange{"user00170", ""},
        hfile_transfer::RowRange{"user00300", "user00200"}}) {
    Open({});
    ASSERT_THAT(
        Import({.start_row = rows.start_row, .stop_row = rows.stop_row}),
        IsOk());
    std::vector<Shown> expected = ShownByHBase("cells_all_versions");
    std::erase_if(expected, [&rows](const Shown& shown) {
      return shown.row < rows.start_row ||
             (!rows.stop_row.empty() && shown.row >= rows.stop_row);
    });
    EXPECT_EQ(AllVersions(store_.get()), expected)
        << rows.start_row << " " << rows.stop_row;
    EXPECT_EQ(expected.empty(), rows.start_row == "user00300");
  }
}

TEST_F(ImportOfASnapshot, FailuresLeaveNothing) {
  const auto fails = [this](const HFileImportOptions& options,
                            Status::Code code,
                            const std::vector<std::string>& parts) {
    Open({});
    const Status s = Import(options);
    EXPECT_EQ(s.code(), code) << s.ToString();
    for (const std::string& part : parts) {
      EXPECT_THAT(s.ToString(), HasSubstr(part));
    }
    EXPECT_THAT(store_->Families(), IsEmpty());
  };
  fails({.families = {"x"}}, Status::kInvalidArgument,
        {"table default:orders has no family \"x\""});
  // A family has been created when the cells are read.
  fails({.progress = [](const HFileProgress& done) { return done.cells == 0; }},
        Status::kIncomplete, {"stopped after"});
  fails({.progress = [](const HFileProgress& done) -> bool {
          if (done.cells > 0) throw "no std::exception";
          return true;
        }},
        Status::kAborted, {"an exception that is no std::exception"});
  snapshot_.name = "other";
  fails({}, Status::kNotFound, {"/.hbase-snapshot/other/.snapshotinfo"});
  EXPECT_TRUE(CheckHFileSnapshot(snapshot_).IsNotFound());
  Copy();
  snapshot_.name = kName;
  const std::string file =
      Copied("archive/" + std::string(kOrders) + "/" + kParent +
             "/f/137cb12a8e0a4f84b0493addfeaabdc8");
  fs::resize_file(file, 25843);
  fails({}, Status::kCorruption,
        {"/f/137cb12a8e0a4f84b0493addfeaabdc8: 25843 bytes, expected 25844"});
  fs::remove(file);
  fails({}, Status::kNotSupported,
        {"f/137cb12a8e0a4f84b0493addfeaabdc8.", "a half of file 137cb12a",
         "which is in none of", "/archive/" + std::string(kOrders)});
  Copy();
  fs::remove(Copied(".hbase-snapshot/orders-20261122/data.manifest"));
  fails({}, Status::kIOError, {"/data.manifest: cannot open: No such file"});
}

// A link to itself stands for a directory of another user: the system resolves
// no name below it.
TEST_F(ImportOfASnapshot, AnArchiveThatCannotBeSearchedIsNoDamage) {
  Copy();
  const std::string archive = Copied("archive");
  fs::remove_all(archive);
  fs::create_symlink(archive, archive);
  const Status s = Import({.keep_going = true});
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr(archive + "/" + kOrders));
}

TEST_F(ImportOfASnapshot, OneThatCannotBeLookedForIsNotAbsent) {
  Copy();
  const std::string snapshots = Copied(".hbase-snapshot");
  fs::remove_all(snapshots);
  fs::create_symlink(snapshots, snapshots);
  const Status s = CheckHFileSnapshot(snapshot_);
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("/.snapshotinfo: "));
}

TEST_F(ImportOfASnapshot, LeavesDamagedFilesOutWhenAsked) {
  const std::string damaged = CopyWithDamage();
  const Status s = Import();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr(damaged));
  EXPECT_THAT(store_->Families(), IsEmpty());
  ASSERT_THAT(Import({.keep_going = true}), IsOk());
  ASSERT_EQ(report_.left_out.size(), 1u);
  EXPECT_TRUE(report_.left_out[0].IsCorruption());
  EXPECT_THAT(report_.left_out[0].ToString(), HasSubstr(damaged));
  // All that is not in the file is there: the lower region, and family f.
  const auto is_apart = [](const Shown& shown) {
    return shown.row < "user00170" || shown.cell.family == "f";
  };
  const auto apart = [&is_apart](std::vector<Shown> cells) {
    std::erase_if(cells, [&](const Shown& cell) { return !is_apart(cell); });
    return cells;
  };
  EXPECT_EQ(apart(AllVersions(store_.get())),
            apart(ShownByHBase("cells_all_versions")));
}

// A table's own directory, with the reference files that HBase wrote.
class ImportOfATable : public ImportOfASnapshot {
 protected:
  // Lays the regions out below `root`, the one that was split below `parent`.
  std::string LayOut(const std::string& root, const std::string& parent) {
    const std::string table = dir_.File(root + kOrders);
    const auto copy = [](const std::string& from, const std::string& to) {
      fs::create_directories(to);
      fs::copy(
          from, to,
          fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    };
    const std::string exported = Exported("archive/" + std::string(kOrders));
    for (const std::string region : {kUpper, kLower}) {
      copy(exported + "/" + region, table + "/" + region);
      copy(DataPath("hbase/snapshot/references/" + region),
           table + "/" + region);
    }
    if (!parent.empty()) {
      copy(exported + "/" + kParent,
           dir_.File(parent + kOrders + "/" + kParent));
    }
    return table;
  }
  Status Import(const std::vector<std::string>& paths,
                const HFileImportOptions& options = {}) {
    Open({ManyVersions("f"), ManyVersions("g")});
    return ImportHFiles(options, paths, store_.get(), &report_);
  }
  // The bytes that HBase wrote of each region in the manifest, as it writes
  // them in a region's directory, too.
  static std::map<std::string, std::string> RegionInfos() {
    const std::string manifest =
        ReadFile(Exported(".hbase-snapshot/orders-20261122/data.manifest"));
    const auto info = [&manifest](const std::string& start,
                                  const std::string& stop) {
      // The fields 2 to 7 of a RegionInfo, which is field 2 of its region.
      const auto bytes = [](const std::string& text) {
        return std::string(1, static_cast<char>(text.size())) + text;
      };
      const std::string fields = "\x12\x11" +
                                 std::string(
                                     "\x0a\x07"
                                     "default"
                                     "\x12\x06"
                                     "orders") +
                                 "\x1a" + bytes(start) + "\x22" + bytes(stop);
      const size_t found = manifest.find(fields);
      EXPECT_NE(found, manifest.npos);
      constexpr size_t kIdBytes = 7;  // with its tag
      const auto length = static_cast<uint8_t>(manifest[found - kIdBytes - 1]);
      return manifest.substr(found - kIdBytes, length);
    };
    return {{kLower, info("", "user00170")},
            {kUpper, info("user00170", "")},
            {kParent, info("", "")}};
  }
  static void WriteRegionInfo(const std::string& table,
                              const std::string& region) {
    const std::string info = RegionInfos().at(region);
    WriteFile(table + "/" + region + "/.regioninfo",
              "PBUF" + std::string(1, static_cast<char>(info.size())) + info);
  }
  // Imports the table with each bit of the file wrong: the error names what is
  // to be named, or `expect` looks at what was imported. Returns the number of
  // bits with which there was no error, and leaves the file as it was.
  template <typename Expect>
  size_t FlipEachBit(const std::string& table, const std::string& path,
                     const std::string& named, const Expect& expect) {
    const std::string bytes = ReadFile(path);
    size_t accepted = 0;
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      SCOPED_TRACE(path + ", byte " + std::to_string(bit / 8) + ", bit " +
                   std::to_string(bit % 8));
      std::string damaged = bytes;
      damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
      WriteFile(path, damaged);
      const Status s =
          ImportHFiles({.dry_run = true}, {table}, store_.get(), &report_);
      if (!s.ok()) {
        EXPECT_TRUE(s.IsCorruption()) << s.ToString();
        EXPECT_THAT(s.ToString(), HasSubstr(named));
        continue;
      }
      ++accepted;
      EXPECT_THAT(Import({table}), IsOk());
      expect();
    }
    WriteFile(path, bytes);
    return accepted;
  }
  // The families of these tests keep more versions than the table.
  void ExpectTheTable() {
    std::vector<Shown> kept;
    for (const Shown& shown : AllVersions(store_.get())) {
      size_t same = 0;
      for (auto last = kept.rbegin();
           last != kept.rend() && last->row == shown.row &&
           last->cell.family == shown.cell.family &&
           last->cell.qualifier == shown.cell.qualifier;
           ++last) {
        ++same;
      }
      if (same < (shown.cell.family == "f" ? 3u : 1u)) kept.push_back(shown);
    }
    EXPECT_EQ(kept, ShownByHBase("cells_all_versions"));
  }
};

TEST_F(ImportOfATable, FollowsReferencesAndLinksToTheRegionBeside) {
  const std::string table = LayOut("", "./");
  for (const char* name : {".regioninfo", ".tabledesc/.tableinfo.0000000001"}) {
    fs::create_directories(fs::path(table + "/" + name).parent_path());
    WriteFile(table + "/" + name, "no HFile");
  }
  const std::string edits = table + "/" + kUpper + "/recovered.edits";
  fs::create_directories(edits);
  WriteFile(edits + "/7.seqid", "");
  ASSERT_THAT(Import({table}), IsOk());
  ExpectTheTable();
  EXPECT_THAT(report_.passed_over,
              UnorderedElementsAre(
                  Pair(".regioninfo", 1), Pair(".tabledesc", 1),
                  Pair("recovered.edits", 1),
                  Pair("files of regions that were split or merged", 6)));
}

// HBase keeps a region that was split for some minutes after the last
// reference to it is gone.
TEST_F(ImportOfATable, PassesOverASplitRegionThatNothingRefersTo) {
  const std::string table = LayOut("", "./");
  for (const std::string region : {kUpper, kLower}) {
    for (const std::string& path : FilesIn(table + "/" + region)) {
      const std::string name = fs::path(path).filename().string();
      if (hfile_transfer::TargetInName(name)) fs::remove(path);
    }
  }
  // HBase had major compacted family g of the lower region.
  const std::vector<std::string> paths = {table + "/" + kLower + "/g",
                                          table + "/" + kParent + "/g"};
  std::vector<Shown> expected = ShownByHBase("cells_latest");
  std::erase_if(expected, [](const Shown& shown) {
    return shown.row >= "user00170" || shown.cell.family != "g";
  });
  const auto latest = [this] { return ShownBy(store_.get(), {}); };
  ASSERT_THAT(Import(paths), IsOk());
  EXPECT_NE(latest(), expected);
  for (const std::string region : {kParent, kLower, kUpper}) {
    WriteRegionInfo(table, region);
    // A region that is newer in a part alone takes the place of none.
    if (region != kLower) continue;
    ASSERT_THAT(Import(paths), IsOk());
    EXPECT_NE(latest(), expected);
  }
  ASSERT_THAT(Import(paths), IsOk());
  EXPECT_EQ(latest(), expected);
  EXPECT_THAT(
      report_.passed_over,
      ElementsAre(Pair("files of regions that were split or merged", 3)));
  // A parent without files of its own is passed over, too.
  fs::remove_all(table + "/" + kUpper + "/f");
  fs::remove_all(table + "/" + kUpper + "/g");
  ASSERT_THAT(Import({table + "/" + kParent}), IsOk());
  EXPECT_EQ(report_.files, 0u);
}

// A bit more or less in what tells a region's rows loses no cell and brings
// back none that was deleted.
TEST_F(ImportOfATable, IsTheSameOrRefusedWithADamagedRegion) {
  // HBase keeps the parent after it has compacted what refers to it.
  const std::string table = dir_.File("t");
  const auto write = [&](const std::string& region,
                         const std::vector<HFileCell>& cells) {
    fs::create_directories(table + "/" + region + "/f");
    WriteCells({}, table + "/" + region + "/f/" + region, cells);
    WriteRegionInfo(table, region);
  };
  const HFileCell lower = MakeCell("user00001", "q", 7);
  const HFileCell upper = MakeCell("user00200", "q", 7);
  write(kParent, {lower, MakeCell("user00002", "q", 7), upper});
  write(kLower, {lower});
  write(kUpper, {upper});
  ASSERT_THAT(Import({table}), IsOk());
  const std::vector<Shown> whole = AllVersions(store_.get());
  ASSERT_EQ(whole.size(), 2u);
  size_t accepted = 0;
  for (const std::string region : {kParent, kLower, kUpper}) {
    const std::string path = table + "/" + region + "/.regioninfo";
    accepted += FlipEachBit(table, path, /*named=*/region, [&] {
      EXPECT_EQ(AllVersions(store_.get()), whole);
    });
  }
  // Nothing depends on `offline`, `split` and the first bits of their tags.
  EXPECT_GT(accepted, 0u);
}

// A damaged reference in a region that tells its rows loses no cell: one bit
// has the other half, and others move the row of the split.
TEST_F(ImportOfATable, HasTheHalvesOfItsRegions) {
  const std::string table = LayOut("", "./");
  WriteRegionInfo(table, kLower);
  WriteRegionInfo(table, kUpper);
  ASSERT_THAT(Import({table}), IsOk());
  ExpectTheTable();
  const std::string file = "/f/137cb12a8e0a4f84b0493addfeaabdc8.";
  size_t accepted = 0;
  for (const std::string region : {kLower, kUpper}) {
    const std::string path = table + "/" + region + file + kParent;
    accepted +=
        FlipEachBit(table, path, /*named=*/path, [&] { ExpectTheTable(); });
  }
  // Rows after that of the split are in the upper region, too.
  EXPECT_GT(accepted, 0u);
}

// The parent has the rows of a region that is missing, but is read through
// references alone once the other one has some to it.
TEST_F(ImportOfATable, IsRefusedWhereARegionIsMissing) {
  for (const std::string missing : {kLower, kUpper}) {
    const std::string table = LayOut("", "./");
    for (const std::string region : {kParent, kLower, kUpper}) {
      WriteRegionInfo(table, region);
    }
    ASSERT_THAT(Import({table}), IsOk());
    ExpectTheTable();
    fs::remove_all(table + "/" + missing);
    for (const std::string& searched :
         {table, table + "/", dir_.File("data")}) {
      const Status s = Import({searched});
      EXPECT_TRUE(s.IsCorruption()) << s.ToString();
      EXPECT_THAT(s.ToString(),
                  HasSubstr(table + ": no region has the rows from " +
                            (missing == kLower ? "\"\" to \"user00170\","
                                               : "\"user00170\" on,")));
    }
    const std::string other = missing == kLower ? kUpper : kLower;
    ASSERT_THAT(Import({table + "/" + other}), IsOk());
    EXPECT_GT(report_.cells, 0u);
    // A directory that does not tell its rows may have any.
    fs::remove(table + "/" + kParent + "/.regioninfo");
    EXPECT_THAT(Import({table}), IsOk());
    fs::remove_all(table);
  }
}

TEST_F(ImportOfATable, TakesTheFamiliesAskedFor) {
  const std::string table = LayOut("", "./");
  ASSERT_THAT(Import({table}, {.families = {"g"}}), IsOk());
  std::vector<Shown> expected = ShownByHBase("cells_latest");
  std::erase_if(expected,
                [](const Shown& shown) { return shown.cell.family != "g"; });
  EXPECT_EQ(ShownBy(store_.get(), {}), expected);
  EXPECT_THAT(report_.passed_over,
              UnorderedElementsAre(
                  Pair("files of other families", 10),
                  Pair("files of regions that were split or merged", 6)));
  const Status s = Import({table}, {.families = {"g", "mistyped"}});
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("family \"mistyped\""));
}

TEST_F(ImportOfATable, FollowsThemToTheArchive) {
  ASSERT_THAT(Import({LayOut("root/", "root/archive/")}), IsOk());
  ExpectTheTable();
  EXPECT_THAT(report_.passed_over, IsEmpty());
}

TEST_F(ImportOfATable, TakesOneRegionOfASplit) {
  const std::string table = LayOut("", "./");
  ASSERT_THAT(Import({table + "/" + kLower}), IsOk());
  const std::vector<Shown> lower = AllVersions(store_.get());
  ASSERT_FALSE(lower.empty());
  EXPECT_LT(lower.back().row, "user00170");
  ASSERT_THAT(ImportHFiles({}, {table + "/" + kUpper}, store_.get(), &report_),
              IsOk());
  ExpectTheTable();
}

TEST_F(ImportOfATable, NamesWhatLeadsNowhere) {
  const std::string table = LayOut("", "");
  for (const std::string& path :
       FilesIn(DataPath("hbase/snapshot/references"))) {
    const std::string file =
        table + path.substr(DataPath("hbase/snapshot/references").size());
    const Status s = Import({file});
    EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
    EXPECT_THAT(
        s.ToString(),
        AllOf(HasSubstr(file), HasSubstr(std::string(" of region ") + kParent),
              HasSubstr("none of " + table), HasSubstr("/archive/"),
              HasSubstr(file.find('=') == std::string::npos
                            ? "a reference to a half of file"
                            : "a link to file"),
              HasSubstr("export a snapshot")));
  }
  EXPECT_TRUE(Import({table}).IsNotSupported());
  EXPECT_THAT(AllVersions(store_.get()), IsEmpty());
  ASSERT_THAT(Import({table}, {.keep_going = true}), IsOk());
  EXPECT_EQ(report_.left_out.size(), 7u);
  EXPECT_EQ(report_.files, 9u);
}

TEST_F(ImportOfATable, RefusesDirectoriesThatHoldTheArchive) {
  const std::string table = LayOut("root/", "root/archive/");
  const std::string root = dir_.File("root");
  fs::create_directories(dir_.File("other/.hbase-snapshot"));
  fs::create_directories(root + "/mobdir/data/default/orders/" + kParent +
                         "/f");
  fs::create_directories(dir_.File("mobs/mobdir/data"));
  for (const std::string& directory :
       {root, root + "/archive", root + "/archive/", root + "/archive/data",
        root + "/archive/data/default", root + "/archive/data/default/orders",
        root + "/archive/data/default/orders/" + kParent,
        root + "/archive/data/default/orders/" + kParent + "/f",
        root + "/mobdir", root + "/mobdir/data/default/orders",
        root + "/mobdir/data/default/orders/" + kParent + "/f",
        dir_.File("other"), dir_.File("mobs")}) {
    const Status s = Import({directory});
    EXPECT_TRUE(s.IsInvalidArgument()) << directory << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr(directory + ": holds HBase's archive"));
  }
  ASSERT_THAT(Import({root + "/data"}), IsOk());
  ExpectTheTable();
  // Others have directories of these names, too.
  fs::create_directories(dir_.File("my"));
  fs::rename(root + "/data", dir_.File("my/data"));
  fs::create_directories(dir_.File("archive"));
  fs::rename(dir_.File("my/data"), dir_.File("archive/data"));
  EXPECT_TRUE(
      Import({dir_.File("archive/data/default/orders")}).IsNotSupported());
}

}  // namespace
}  // namespace rowbloom::test

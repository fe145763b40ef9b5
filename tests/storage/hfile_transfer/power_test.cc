// An export that was acknowledged survives a cut of the power, and one that was
// cut short has whole families alone. Each sync of an export is needed for
// that. An import that was cut short has loaded nothing or all, and goes
// through when it is begun again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/bytes/text.h"
#include "rowbloom/hfile_transfer.h"
#include "storage/store/found_store.h"
#include "tests/storage/hfile/test_cells.h"
#include "tests/storage/hfile_transfer/transfers.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/power_cuts.h"

namespace rowbloom::test {
namespace {

using rocksdb::Env;
using rocksdb::Status;

const std::vector<FamilyDescriptor> kFamilies = {{"a", {}}, {"b", {}}};

// The fault of an export's family; empty, if it can be imported.
std::string CheckFamily(const std::string& path, const std::string& family) {
  const TempDir dir;
  std::unique_ptr<Store> store;
  Status s = Store::Open({}, dir.File("db"), kFamilies, &store);
  HFileImportReport report;
  if (s.ok()) {
    s = ImportHFiles({.latest_as_new = true}, {path + "/" + family},
                     store.get(), &report);
  }
  std::optional<std::string> value;
  if (s.ok()) s = store->Get("row", family, "q", &value);
  if (!s.ok()) return s.ToString();
  return value ? "" : "the cell is lost";
}

PowerScenario Export() {
  return {
      .prepare =
          [](Env* env, const std::string& directory) {
            const auto store =
                OpenOrFail({.env = env}, directory + "/db", kFamilies);
            for (const FamilyDescriptor& family : kFamilies) {
              ASSERT_THAT(store->Put("row", family.name, "q", "value"), IsOk());
            }
          },
      .act =
          [](Env* env, const std::string& directory,
             const std::function<void()>& begin) {
            const auto store = OpenOrFail({.env = env}, directory + "/db", {});
            begin();
            HFileExportReport report;
            return ExportHFiles({}, store.get(), directory + "/export", &report)
                .ok();
          },
      .check = [](Env* /*env*/, const std::string& directory,
                  bool acknowledged) -> std::string {
        const std::string path = directory + "/export";
        for (const FamilyDescriptor& family : kFamilies) {
          if (!acknowledged &&
              !std::filesystem::exists(path + "/" + family.name)) {
            continue;
          }
          std::string wrong = CheckFamily(path, family.name);
          if (!wrong.empty()) return wrong;
        }
        return {};
      }};
}

TEST(PowerCutOfAnExport, LosesNothingThatWasAcknowledged) {
  EXPECT_EQ(CutEverywhere(Export()), "");
}

TEST(PowerCutOfAnExport, LosesNoDirectoryThatTheCallerHasJustCreated) {
  PowerScenario scenario = Export();
  scenario.act = [](Env* env, const std::string& directory,
                    const std::function<void()>& begin) {
    const auto store = OpenOrFail({.env = env}, directory + "/db", {});
    begin();
    const std::string path = directory + "/export";
    HFileExportReport report;
    return env->CreateDir(path).ok() &&
           ExportHFiles({}, store.get(), path, &report).ok();
  };
  EXPECT_EQ(CutEverywhere(scenario), "");
}

TEST(PowerCutOfAnExport, IsNoticedWithoutAnyOfOurSyncs) {
  for (const char* pattern :
       {"*/.export-*/a/_*", "*/.export-*/a", "*/disk/export", "*/disk"}) {
    SCOPED_TRACE(pattern);
    uint64_t ignored = 0;
    EXPECT_NE(CutEverywhere(Export(), {.pattern = pattern}, &ignored), "");
    EXPECT_GT(ignored, 0u);
  }
}

// The rows of an import, each with a version in the first file and one in the
// second.
const std::vector<std::string> kImported = {"r1", "r2", "r3"};

std::string HFileOf(const std::string& directory, const std::string& family,
                    int timestamp_ms) {
  return directory + "/" + family + std::to_string(timestamp_ms);
}

std::vector<std::string> HFilesIn(const std::string& directory) {
  return {HFileOf(directory, "a", 1), HFileOf(directory, "a", 2),
          HFileOf(directory, "v", 1), HFileOf(directory, "v", 2)};
}

Status ImportAll(Env* env, const std::string& directory,
                 const std::function<void()>& begin) {
  std::unique_ptr<Store> store;
  Status s =
      OpenStore({.env = env}, directory + "/db", {}, SystemWallClock, &store);
  begin();
  HFileImportReport report;
  return s.ok() ? ImportHFiles({.latest_as_new = true}, HFilesIn(directory),
                               store.get(), &report)
                : s;
}

// All versions of all cells, as text; "?" where they cannot be read.
std::string ShownCells(Env* env, const std::string& directory) {
  std::unique_ptr<Store> store;
  Status s = OpenStore({.read_only = true, .env = env}, directory + "/db", {},
                       SystemWallClock, &store);
  if (!s.ok()) return "?" + s.ToString();
  std::string shown;
  RowScanner rows = ScanOf(*store, {.row = {.max_versions = kManyVersions}});
  for (const Row& row : rows) {
    for (const Cell& cell : row.cells) {
      shown += Concat(row.row, " ", cell.family, ":", cell.qualifier, "@",
                      cell.timestamp_ms, "=", cell.value, "\n");
    }
  }
  return rows.status().ok() ? shown : "?" + rows.status().ToString();
}

size_t StagedFiles(const std::string& directory) {
  size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(directory + "/db")) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kLoadDirectoryPrefix)) ++count;
  }
  return count;
}

PowerScenario Import() {
  static constexpr char kBefore[] = "r0 v:q@1=before\n";
  return {
      .prepare =
          [](Env* env, const std::string& directory) {
            const auto store = OpenOrFail({.env = env}, directory + "/db",
                                          {{"a", {}}, ManyVersions("v")});
            ASSERT_THAT(
                store->Put("r0", "v", "q", "before", {.timestamp_ms = 1}),
                IsOk());
            for (const char* family : {"a", "v"}) {
              for (const int timestamp_ms : {1, 2}) {
                std::vector<HFileCell> cells;
                for (const std::string& row : kImported) {
                  cells.push_back(MakeCell(row, "q", timestamp_ms,
                                           HFileCellType::kPut, "imported"));
                  cells.back().family = family;
                }
                WriteCells({}, HFileOf(directory, family, timestamp_ms), cells);
              }
            }
          },
      .act =
          [](Env* env, const std::string& directory,
             const std::function<void()>& begin) {
            return ImportAll(env, directory, begin).ok();
          },
      .check = [](Env* env, const std::string& directory,
                  bool acknowledged) -> std::string {
        std::string all = kBefore;
        for (const std::string& row : kImported) {
          all += row + " a:q@2=imported\n" + row + " v:q@2=imported\n" + row +
                 " v:q@1=imported\n";
        }
        const std::string shown = ShownCells(env, directory);
        if (shown != all && (acknowledged || shown != kBefore)) {
          return "after the cut it shows " + shown;
        }
        const Status s = ImportAll(env, directory, [] {});
        if (!s.ok()) return "begun again: " + s.ToString();
        const std::string again = ShownCells(env, directory);
        if (again != all) return "begun again it shows " + again;
        return StagedFiles(directory) > 0 ? "staged files are left" : "";
      }};
}

TEST(PowerCutOfAnImport, LoadsNothingOrAllAndGoesThroughTheNextTime) {
  EXPECT_EQ(CutEverywhere(Import()), "");
}

}  // namespace
}  // namespace rowbloom::test

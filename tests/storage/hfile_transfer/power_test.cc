// An export that was acknowledged survives a cut of the power, and one that was
// cut short has whole families alone. Each sync of an export is needed for
// that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rowbloom/hfile_transfer.h"
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
  std::string value;
  if (s.ok()) s = store->Get("row", family, "q", &value);
  return s.ok() ? std::string() : s.ToString();
}

PowerScenario Export() {
  return {
      .prepare =
          [](Env* env, const std::string& directory) {
            const auto store =
                OpenOrFail({}, directory + "/db", kFamilies, {.env = env});
            ASSERT_NE(store, nullptr);
            for (const FamilyDescriptor& family : kFamilies) {
              ASSERT_THAT(store->Put("row", family.name, "q", "value"), IsOk());
            }
          },
      .act =
          [](Env* env, const std::string& directory,
             const std::function<void()>& begin) {
            const auto store =
                OpenOrFail({}, directory + "/db", {}, {.env = env});
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

TEST(PowerCutOfAnExport, IsNoticedWithoutAnyOfOurSyncs) {
  for (const char* pattern :
       {"*/.export-*/a/_*", "*/.export-*/a", "*/disk/export", "*/disk"}) {
    SCOPED_TRACE(pattern);
    uint64_t ignored = 0;
    EXPECT_NE(CutEverywhere(Export(), {.pattern = pattern}, &ignored), "");
    EXPECT_GT(ignored, 0u);
  }
}

}  // namespace
}  // namespace rowbloom::test

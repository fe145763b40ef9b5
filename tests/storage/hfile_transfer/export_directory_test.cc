// The directory of an export that ends while memory runs out.
#include "storage/hfile_transfer/export_directory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "tests/support/failing_new.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

// RocksDB's list of a directory leaves it open if there is no memory for a
// name (staging_test.cc).
extern "C" const char* __lsan_default_suppressions() { return "leak:libc.so"; }

namespace rowbloom::hfile_transfer {
namespace {

using test::Attempt;
using test::FailingNew;
using test::IsOk;

TEST(ExportDirectory, EndsWithoutMemory) {
  const test::TempDir dir;
  const std::string path = dir.File("out");
  const auto end = [&path](Attempt* attempt) {
    std::filesystem::remove_all(path);
    std::unique_ptr<ExportDirectory> directory;
    ASSERT_THAT(
        ExportDirectory::Create(rocksdb::Env::Default(), path, &directory),
        IsOk());
    std::string file;
    ASSERT_THAT(directory->StagedPath("family", "file", &file), IsOk());
    std::ofstream(file) << "bytes";
    attempt->Begin();
    directory.reset();
    attempt->End();
  };
  EXPECT_GT(test::WithEachFailure(FailingNew::For::kAllCalls, end), 3u);
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace rowbloom::hfile_transfer

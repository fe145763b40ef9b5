// A directory in which something is put together, while memory or the disk runs
// out.
#include "storage/format/staging.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "tests/support/calling_file_system.h"
#include "tests/support/failing_new.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

// RocksDB's list of a directory leaves it open if there is no memory for a
// name. The C library, which has no symbol for the function that allocates, is
// the one other module in that stack.
extern "C" const char* __lsan_default_suppressions() { return "leak:libc.so"; }

namespace rowbloom {
namespace {

using test::Attempt;
using test::FailingNew;
using test::IsOk;
using test::WithEachFailure;

// A Staging is destroyed while the exception of missing memory goes through.
TEST(Staging, EndsWithoutMemory) {
  const test::TempDir dir;
  const std::string path = dir.File("made");
  const auto end = [&path](Attempt* attempt) {
    std::optional<Staging> staging(std::in_place, rocksdb::Env::Default(), path,
                                   ".making");
    ASSERT_THAT(staging->Begin(), IsOk());  // removes what was left
    ASSERT_FALSE(std::filesystem::exists(staging->contents()));
    std::filesystem::create_directory(staging->contents());
    std::ofstream(staging->contents() + "/file") << "bytes";
    attempt->Begin();
    staging.reset();
    attempt->End();
  };
  EXPECT_GT(WithEachFailure(FailingNew::For::kAllCalls, end), 9u);
  EXPECT_FALSE(std::filesystem::exists(path + ".making"));
}

// One that has no memory to say that the directory is in use.
TEST(Staging, LeavesTheContentsOfAnotherAlone) {
  const test::TempDir dir;
  const std::string path = dir.File("made");
  Staging first(rocksdb::Env::Default(), path, ".making");
  ASSERT_THAT(first.Begin(), IsOk());
  std::filesystem::create_directory(first.contents());
  const auto begin = [&](Attempt* attempt) {
    {
      Staging second(rocksdb::Env::Default(), path, ".making");
      attempt->Begin();
      EXPECT_FALSE(CatchExceptions([&] { return second.Begin(); }).ok());
      attempt->End();
    }
    ASSERT_TRUE(std::filesystem::exists(first.contents()));
  };
  EXPECT_GT(WithEachFailure(FailingNew::For::kOneCall, begin), 4u);
}

// Such as one that another user's restore left.
TEST(Staging, ThatMayNotBeReadIsNamed) {
  const test::TempDir dir;
  const auto files = std::make_shared<test::CallingFileSystem>();
  const auto env = rocksdb::NewCompositeEnv(files);
  files->On(test::FileCall::kList, [](const std::string& /*path*/) {
    return rocksdb::IOStatus::NotFound();  // as RocksDB for EACCES
  });
  Staging staging(env.get(), dir.File("made"), ".making");
  const rocksdb::Status s = staging.Begin();
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_NE(s.ToString().find(dir.File("made.making")), std::string::npos);
}

TEST(Staging, WhoseMarkCannotBeMadeLeavesNothing) {
  const test::TempDir dir;
  const auto files = std::make_shared<test::CallingFileSystem>();
  const auto env = rocksdb::NewCompositeEnv(files);
  files->On(test::FileCall::kMake, [](const std::string& path) {
    return path.ends_with(kStagingMark) ? rocksdb::IOStatus::NoSpace()
                                        : rocksdb::IOStatus::OK();
  });
  {
    Staging staging(env.get(), dir.File("made"), ".making");
    const rocksdb::Status s = staging.Begin();
    EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
  }
  EXPECT_FALSE(std::filesystem::exists(dir.File("made.making")));
}

}  // namespace
}  // namespace rowbloom

// Paths that cannot be looked up or listed.
#include "storage/format/directory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

// Takes the place of the C library's, for RocksDB's calls, too. ENOTCONN is the
// error of a FUSE mount without its server, ESTALE one of NFS. Root may search
// each directory, and does not meet EACCES.
extern "C" int access(const char* path, int mode) noexcept {
  const std::string_view name(path);
  if (name.ends_with("/dead") || name.ends_with("/closed/db")) {
    errno = name.ends_with("/dead") ? ENOTCONN : EACCES;
    return -1;
  }
  return faccessat(AT_FDCWD, path, mode, 0);
}

namespace rowbloom {
namespace {

using rocksdb::Status;
using test::IsOk;
using test::StatusIs;
using testing::HasSubstr;

TEST(FileExists, APathThatCannotBeLookedUpIsAnError) {
  const test::TempDir dir;
  rocksdb::Env* const env = rocksdb::Env::Default();
  EXPECT_THAT(FileExists(env, dir.File("dead")),
              StatusIs(Status::kIOError, HasSubstr(dir.File("dead"))));
  EXPECT_THAT(FileExists(env, dir.File("closed/db")),
              StatusIs(Status::kIOError, HasSubstr("/closed/db: ")));
  EXPECT_TRUE(FileExists(env, dir.File("none")).IsNotFound());
  EXPECT_THAT(FileExists(env, dir.path().string()), IsOk());
}

TEST(ListDirectory, SaysWhyItCannot) {
  const test::TempDir dir;
  rocksdb::Env* const env = rocksdb::Env::Default();
  std::vector<std::string> names;
  test::WriteFile(dir.File("file"), "");
  EXPECT_THAT(ListDirectory(env, dir.File("file"), &names),
              StatusIs(Status::kInvalidArgument,
                       HasSubstr(dir.File("file") + " is not a directory")));
  EXPECT_THAT(ListDirectory(env, dir.File("closed/db"), &names),
              StatusIs(Status::kIOError,
                       HasSubstr(dir.File("closed/db") + ": cannot be listed: "
                                                         "Permission denied")));
}

}  // namespace
}  // namespace rowbloom

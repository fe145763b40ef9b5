// A path whose file system does not answer.
#include "storage/format/directory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

// Takes the place of the C library's, for RocksDB's calls, too. ENOTCONN is the
// error of a FUSE mount without its server, ESTALE one of NFS.
extern "C" int access(const char* path, int mode) noexcept {
  if (std::string_view(path).ends_with("/dead")) {
    errno = ENOTCONN;
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
  EXPECT_TRUE(FileExists(env, dir.File("none")).IsNotFound());
  EXPECT_THAT(FileExists(env, dir.path().string()), IsOk());
}

}  // namespace
}  // namespace rowbloom

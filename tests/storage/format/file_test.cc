// Files that are read at any offset, and files that appear complete or not at
// all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <memory>
#include <string>

#include "storage/format/input_file.h"
#include "storage/format/output_file.h"
#include "tests/support/files.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace rowbloom {
namespace {

using rocksdb::Status;
using test::IsOk;
using test::ReadFile;
using test::StatusIs;
using test::WriteFile;
using testing::HasSubstr;

class FileTest : public testing::Test {
 protected:
  const test::TempDir dir_;
  const std::string path_ = dir_.File("file");
};

TEST_F(FileTest, IsReadWhereItIsAsked) {
  WriteFile(path_, "0123456789");
  std::unique_ptr<InputFile> file;
  ASSERT_THAT(InputFile::Open(path_, &file), IsOk());
  EXPECT_EQ(file->path(), path_);
  EXPECT_EQ(file->size_bytes(), 10U);
  std::string out(4, '?');
  ASSERT_THAT(file->ReadAt(3, out.size(), out.data()), IsOk());
  EXPECT_EQ(out, "3456");
  out.assign(8, '?');
  size_t found = 0;
  ASSERT_THAT(file->ReadAhead(6, 2, out.size(), out.data(), &found), IsOk());
  EXPECT_EQ(found, 4U);
  EXPECT_EQ(out, "6789????");
}

TEST_F(FileTest, ThatBecameShorterIsNamed) {
  WriteFile(path_, "0123456789");
  std::unique_ptr<InputFile> file;
  ASSERT_THAT(InputFile::Open(path_, &file), IsOk());
  ASSERT_EQ(truncate(path_.c_str(), 5), 0);
  std::string out(4, '?');
  EXPECT_THAT(file->ReadAt(3, out.size(), out.data()),
              StatusIs(Status::kIOError,
                       HasSubstr(path_ + ": became shorter while it was read: "
                                         "4 bytes at offset 3 expected, found "
                                         "2")));
}

TEST_F(FileTest, OtherThingsThanFilesAreNotOpened) {
  std::unique_ptr<InputFile> file;
  EXPECT_THAT(InputFile::Open(dir_.path(), &file),
              StatusIs(Status::kIOError, HasSubstr("a directory, expected")));
  EXPECT_THAT(InputFile::Open("/dev/null", &file),
              StatusIs(Status::kIOError, HasSubstr("device, expected a file")));
  EXPECT_THAT(InputFile::Open(dir_.File("none"), &file),
              StatusIs(Status::kIOError, HasSubstr("none: cannot open: ")));
  EXPECT_EQ(file, nullptr);
}

TEST_F(FileTest, AppearsAtItsPathWhenItIsComplete) {
  WriteFile(path_, "old");
  {
    std::unique_ptr<OutputFile> file;
    ASSERT_THAT(OutputFile::Create(nullptr, path_, &file), IsOk());
    ASSERT_THAT(file->Append("given "), IsOk());
    ASSERT_THAT(file->Append("up"), IsOk());
    EXPECT_EQ(file->size_bytes(), 8U);
    EXPECT_EQ(ReadFile(path_), "old");
  }
  EXPECT_EQ(ReadFile(path_), "old");
  std::unique_ptr<OutputFile> file;
  ASSERT_THAT(OutputFile::Create(nullptr, path_, &file), IsOk());
  ASSERT_THAT(file->Append("new"), IsOk());
  ASSERT_THAT(file->Commit(), IsOk());
  EXPECT_EQ(ReadFile(path_), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_.path()),
                          std::filesystem::directory_iterator()),
            1);
}

TEST_F(FileTest, StaysWhenAChildOfForkGivesItUp) {
  std::unique_ptr<OutputFile> file;
  ASSERT_THAT(OutputFile::Create(nullptr, path_, &file), IsOk());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    file.reset();
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_THAT(file->Append("of the parent"), IsOk());
  ASSERT_THAT(file->Commit(), IsOk());
  EXPECT_EQ(ReadFile(path_), "of the parent");
}

TEST_F(FileTest, ThatCannotBeCreatedIsNamed) {
  std::unique_ptr<OutputFile> file;
  EXPECT_THAT(OutputFile::Create(nullptr, dir_.File("no/such"), &file),
              StatusIs(Status::kIOError, HasSubstr("no/such: cannot create")));
  EXPECT_EQ(file, nullptr);
}

}  // namespace
}  // namespace rowbloom

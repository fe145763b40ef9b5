// LOG, and a disk that is full.
#include "storage/store/info_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/storage/store/test_store.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"

namespace rowbloom::test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class InfoLogFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::unique_ptr<rocksdb::WritableFile> file;
    ASSERT_THAT(env_->NewWritableFile(path_, &file, {}), IsOk());
    log_ = std::make_unique<InfoLog>(std::move(file));
  }
  std::string Text() {
    log_->Flush();
    return ReadFile(path_);
  }

  TempDir dir_;
  const std::string path_ = dir_.File("LOG");
  FaultPlan plan_;
  std::unique_ptr<rocksdb::Env> env_ = NewFaultEnv(&plan_);
  std::unique_ptr<InfoLog> log_;
};

TEST_F(InfoLogFile, HasLinesWithTheirTime) {
  rocksdb::Log(log_.get(), "a line of %d and %s", 7, "text");
  EXPECT_THAT(Text(), MatchesRegex("[0-9/]+-[0-9:]+\\.[0-9]+ [0-9]+ "
                                   ".*a line of 7 and text\n"));
  const std::string large(100'000, 'x');
  rocksdb::Warn(log_.get(), "%s", large.c_str());
  rocksdb::Warn(log_.get(), "with an end\n");
  EXPECT_THAT(Text(), HasSubstr(" " + large + "\n"));
  EXPECT_THAT(Text(), Not(HasSubstr("\n\n")));
  EXPECT_THAT(log_->Close(), IsOk());
}

TEST_F(InfoLogFile, GoesOnWithoutLinesThatAFullDiskRefused) {
  rocksdb::Warn(log_.get(), "before");
  EXPECT_THAT(Text(), HasSubstr("before"));
  plan_.FailCall(1, /*for_good=*/false, FaultPlan::Kind::kNoSpace);
  rocksdb::Warn(log_.get(), "refused");
  log_->Flush();
  EXPECT_EQ(plan_.faults(), 1u);
  rocksdb::Warn(log_.get(), "after");
  EXPECT_THAT(Text(), Not(HasSubstr("after")));
  EXPECT_THAT(log_->Close(), IsOk());
}

TEST(FullDisk, IsAnErrorUntilTheStoreIsOpenedAgain) {
  const TempDir dir;
  FaultPlan plan;
  const auto env = NewFaultEnv(&plan);
  const auto open = [&] {
    return OpenOrFail({.env = env.get()}, dir.File("db"), {{"f", {}}});
  };
  auto store = open();
  ASSERT_NE(store, nullptr);
  EXPECT_THAT(ReadFile(dir.File("db") + "/LOG"), HasSubstr("RocksDB version"));
  ASSERT_THAT(store->Put("kept", "f", "q", "v"), IsOk());
  plan.FailCall(1, /*for_good=*/true, FaultPlan::Kind::kNoSpace);
  EXPECT_FALSE(store->Flush().ok());
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(store->Put("lost", "f", "q", "v").ok());
    EXPECT_FALSE(store->Flush().ok());
  }
  plan.FailNoCall();
  store.reset();
  store = open();
  ASSERT_NE(store, nullptr);
  for (const char* row : {"kept", "lost"}) {
    std::optional<std::string> value;
    ASSERT_THAT(store->Get(row, "f", "q", &value), IsOk());
    EXPECT_EQ(value.has_value(), row == std::string("kept")) << row;
  }
  EXPECT_THAT(store->Put("new", "f", "q", "v"), IsOk());
}

}  // namespace
}  // namespace rowbloom::test

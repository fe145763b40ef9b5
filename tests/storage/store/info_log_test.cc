// LOG, and a disk that is full.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "storage/store/opening_env.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/calling_logger.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"

namespace rowbloom::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(InfoLog, EndsAtTheFirstLineThatAFullDiskRefuses) {
  const TempDir dir;
  const std::string path = dir.File("LOG");
  FaultPlan plan;
  const auto env = NewFaultEnv(&plan);
  const auto listener = std::make_shared<Listener>();
  StoreEnv of_store(
      env.get(), std::make_shared<StoreFiles>(env->GetFileSystem(), listener),
      listener, dir.path());
  std::shared_ptr<rocksdb::Logger> log;
  ASSERT_THAT(of_store.NewLogger(path, &log), IsOk());
  rocksdb::Error(log.get(), "before");
  log->Flush();
  EXPECT_THAT(ReadFile(path), HasSubstr("before"));
  plan.FailCall(1, /*for_good=*/false, FaultPlan::Kind::kNoSpace);
  rocksdb::Error(log.get(), "refused");
  log->Flush();
  EXPECT_EQ(plan.faults(), 1u);
  rocksdb::Error(log.get(), "after");
  log->Flush();
  EXPECT_THAT(ReadFile(path), Not(HasSubstr("after")));
  EXPECT_THAT(log->Close(), IsOk());
}

// The last step of an opening fails. The store is not left open.
TEST(InfoLog, WithoutMemoryForAWarningLeavesTheLockFree) {
  constexpr uint64_t kWeekMs = uint64_t{7} * 24 * 60 * 60 * 1000;
  const TempDir dir;
  const std::string path = dir.File("db");
  auto store = OpenOrFail({}, path, {{"f", {}}},
                          [] { return SystemWallClock() + kWeekMs; });
  ASSERT_THAT(store->Put("r", "f", "q", "v"), IsOk());
  store.reset();
  StoreOptions options;
  options.info_log = std::make_shared<CallingLogger>([](std::string_view line) {
    if (line.find("timestamps that are") != line.npos) throw std::bad_alloc();
  });
  const rocksdb::Status s = Store::Open(options, path, {}, &store);
  EXPECT_TRUE(s.IsMemoryLimit()) << s.ToString();
  EXPECT_THAT(Store::Open({}, path, {}, &store), IsOk());
}

TEST(FullDisk, IsAnErrorUntilTheStoreIsOpenedAgain) {
  const TempDir dir;
  FaultPlan plan;
  const auto env = NewFaultEnv(&plan);
  const auto open = [&] {
    return OpenOrFail({.env = env.get()}, dir.File("db"), {{"f", {}}});
  };
  auto store = open();
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
  for (const char* row : {"kept", "lost"}) {
    std::optional<std::string> value;
    ASSERT_THAT(store->Get(row, "f", "q", &value), IsOk());
    EXPECT_EQ(value.has_value(), row == std::string("kept")) << row;
  }
  EXPECT_THAT(store->Put("new", "f", "q", "v"), IsOk());
}

}  // namespace
}  // namespace rowbloom::test

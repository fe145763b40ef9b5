// The store after errors of RocksDB's flushes and compactions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/calling_file_system.h"
#include "tests/support/calling_logger.h"

namespace rowbloom::test {
namespace {

using rocksdb::IOStatus;
using rocksdb::Status;

class BackgroundErrors : public ::testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open() {
    store_.reset();
    StoreOptions options{.write_buffer_bytes = 64 << 10};
    options.env = env_.get();
    options.info_log =
        std::make_shared<CallingLogger>([this](std::string_view line) {
          if (line.find("Stopping writes") != line.npos) writes_wait_ = true;
        });
    store_ = OpenOrFail(options, dir_.File("db"), {{"f", {}}});
    ASSERT_NE(store_, nullptr);
  }
  Status Put(int row) {
    return store_->Put(std::to_string(row), "f", "q", std::string(3000, 'v'));
  }

  void OnTable(std::function<IOStatus()> on_table) {
    files_->OnMaking([on_table = std::move(on_table)](const std::string& path) {
      return path.ends_with(".sst") ? on_table() : IOStatus::OK();
    });
  }

  TempDir dir_;
  const std::shared_ptr<CallingFileSystem> files_ =
      std::make_shared<CallingFileSystem>();
  const std::unique_ptr<rocksdb::Env> env_ = rocksdb::NewCompositeEnv(files_);
  std::atomic<bool> writes_wait_ = false;
  std::unique_ptr<Store> store_;
};

// Writes that come faster than flushes wait, and do not fail by an error that
// is over.
TEST_F(BackgroundErrors, OfACompactionWithoutSpaceIsOver) {
  for (int i = 0; i < 2; ++i) {
    ASSERT_THAT(Put(i), IsOk());
    ASSERT_THAT(store_->Flush(), IsOk());
  }
  OnTable([] { return IOStatus::NoSpace("injected"); });
  EXPECT_TRUE(store_->Compact().IsNoSpace());
  std::atomic<bool> may_flush{false};
  OnTable([&may_flush] {
    while (!may_flush) std::this_thread::yield();
    return IOStatus::OK();
  });
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 200; ++i) EXPECT_THAT(Put(i), IsOk());
    done = true;
  });
  while (!done && !writes_wait_) std::this_thread::yield();
  EXPECT_FALSE(done);
  may_flush = true;
  writer.join();
  EXPECT_THAT(store_->Compact(), IsOk());
}

TEST_F(BackgroundErrors, OfFlushesStopWritesUntilTheStoreIsOpenedAgain) {
  IOStatus retryable = IOStatus::IOError("injected");
  retryable.SetRetryable(true);
  IOStatus of_file = IOStatus::IOError("injected");
  of_file.SetScope(IOStatus::kIOErrorScopeFile);
  int row = 0;
  for (const IOStatus& error : {IOStatus::IOError("injected"), retryable,
                                of_file, IOStatus::NoSpace("injected")}) {
    SCOPED_TRACE(error.ToString());
    ASSERT_THAT(Put(++row), IsOk());
    OnTable([&error] { return error; });
    EXPECT_FALSE(store_->Flush().ok());
    files_->OnMaking(nullptr);
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    do {
      EXPECT_FALSE(Put(0).ok());
      std::this_thread::yield();
    } while (std::chrono::steady_clock::now() < end && !HasFailure());
    ASSERT_NO_FATAL_FAILURE(Open());
    for (int i = 1; i <= row; ++i) {
      std::optional<std::string> value;
      EXPECT_THAT(store_->Get(std::to_string(i), "f", "q", &value), IsOk());
      EXPECT_TRUE(value.has_value());
    }
  }
}

}  // namespace
}  // namespace rowbloom::test

// No exception crosses the C interface, and nothing is lost, wherever memory
// runs out in its own code. RocksDB is not exception-safe, so the calls are
// those that do not enter it.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "rowbloom/c.h"
#include "tests/support/failing_new.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::test {
namespace {

// Runs `call(&error)` with its first operator new failing, then with its
// second, until none fails. Each failure has a message, that there was no
// memory. Returns the number of failures.
template <typename Call>
size_t CountFailures(Call call) {
  for (const auto failures :
       {FailingNew::For::kOneCall, FailingNew::For::kAllCalls}) {
    for (size_t count = 0;; ++count) {
      char* error = nullptr;
      bool failed = false;
      {
        const FailingNew failing(count, failures);
        call(&error);
        failed = FailingNew::HasFailed();
      }
      const std::string message = error == nullptr ? "" : error;
      rowbloom_free(error);
      if (!failed) {
        EXPECT_EQ(message, "");
        if (failures == FailingNew::For::kAllCalls) return count;
        break;
      }
      EXPECT_NE(message.find("emory"), std::string::npos)
          << "operator new " << count << " fails: " << message;
    }
  }
  return 0;
}

constexpr char kFilter[] =
    "rowbloom.filter:ROWCOL:bloom:0.01:0:uniform:delimited::";

TEST(NoMemory, IdsAndOptionStrings) {
  EXPECT_GT(CountFailures([](char** error) {
              rowbloom_free(rowbloom_filter_id("delimited::", "ROWCOL",
                                               "ribbon", 0.001, error));
            }),
            0u);
  EXPECT_GT(CountFailures([](char** error) {
              rowbloom_free(rowbloom_options_string(kFilter, error));
            }),
            0u);
}

TEST(NoMemory, Batches) {
  EXPECT_GT(CountFailures([](char** error) {
              rowbloom_batch_t* const batch = rowbloom_batch_create(error);
              if (batch == nullptr) return;
              rowbloom_batch_add(batch, ROWBLOOM_PUT, "row", 3, "family",
                                 "qualifier", 9, "value", 5, 17, error);
              rowbloom_batch_destroy(batch);
            }),
            0u);
}

TEST(NoMemory, FrontFilters) {
  EXPECT_GT(CountFailures([](char** error) {
              rowbloom_front_filter_destroy(
                  rowbloom_front_filter_create(UINT64_MAX, 0, error));
            }),
            0u);
}

TEST(NoMemory, ARowThatWasReadIsGivenByTheNextCall) {
  const TempDir dir;
  char* error = nullptr;
  const char* const family = "info";
  rowbloom_store_t* const store =
      rowbloom_store_open(dir.File("db").c_str(), &family, 1, nullptr, &error);
  ASSERT_EQ(error, nullptr);
  ASSERT_TRUE(
      rowbloom_store_put(store, "row", 3, family, "q", 1, "value", 5, &error));
  rowbloom_rows_t* const rows =
      rowbloom_store_get_row(store, "row", 3, nullptr, &error);
  ASSERT_EQ(error, nullptr);
  rowbloom_row_t row;
  {
    const FailingNew failing(0, FailingNew::For::kOneCall);
    EXPECT_FALSE(rowbloom_rows_next(rows, &row, &error));
  }
  EXPECT_NE(error, nullptr);
  rowbloom_free(error);
  ASSERT_TRUE(rowbloom_rows_next(rows, &row, &error));
  ASSERT_EQ(row.cell_count, 1u);
  EXPECT_EQ(std::string(row.cells->value, row.cells->value_size), "value");
  EXPECT_FALSE(rowbloom_rows_next(rows, &row, &error));
  EXPECT_EQ(error, nullptr);
  rowbloom_rows_destroy(rows);
  rowbloom_store_close(store);
}

TEST(NoMemory, OptionsOfAStore) {
  // Refused, and before RocksDB is entered.
  char* error = nullptr;
  const char* const family = "info,versions=3,colour=red,ttl=7d";
  for (size_t count = 0;; ++count) {
    bool failed = false;
    {
      const FailingNew failing(count, FailingNew::For::kOneCall);
      EXPECT_EQ(rowbloom_store_open("none", &family, 1, nullptr, &error),
                nullptr);
      failed = FailingNew::HasFailed();
    }
    ASSERT_NE(error, nullptr);
    const std::string message = error;
    rowbloom_free(error);
    EXPECT_NE(message.find(failed ? "emory" : "colour"), std::string::npos)
        << "operator new " << count << ": " << message;
    if (!failed) {
      EXPECT_GT(count, 0u);
      break;
    }
  }
}

}  // namespace
}  // namespace rowbloom::test

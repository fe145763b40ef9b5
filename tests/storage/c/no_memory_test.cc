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

// Calls `call(&error)` with each failure, which has a message, that there was
// no memory. Returns the number of failures.
template <typename Call>
size_t CountFailures(Call call) {
  return WithEachFailure([&](Attempt* attempt) {
    char* error = nullptr;
    attempt->Begin();
    call(&error);
    attempt->End();
    const std::string message = error == nullptr ? "" : error;
    rowbloom_free(error);
    if (attempt->failed()) {
      EXPECT_NE(message.find("emory"), std::string::npos) << message;
    } else {
      EXPECT_EQ(message, "");
    }
  });
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
  const char* const family = "info,versions=3,colour=red,ttl=7d";
  const auto open = [&family](Attempt* attempt) {
    char* error = nullptr;
    attempt->Begin();
    EXPECT_EQ(rowbloom_store_open("none", &family, 1, nullptr, &error),
              nullptr);
    attempt->End();
    ASSERT_NE(error, nullptr);
    const std::string message = error;
    rowbloom_free(error);
    EXPECT_NE(message.find(attempt->failed() ? "emory" : "colour"),
              std::string::npos)
        << message;
  };
  EXPECT_GT(WithEachFailure(FailingNew::For::kOneCall, open), 0u);
}

}  // namespace
}  // namespace rowbloom::test

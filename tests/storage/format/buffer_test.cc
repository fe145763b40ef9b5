#include "storage/format/buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/failing_new.h"
#include "tests/support/status_matchers.h"

namespace rowbloom {
namespace {

using rocksdb::Status;
using test::FailingNew;
using test::IsOk;

TEST(Buffer, GrowsAndSaysWhenItCannot) {
  Buffer buffer;
  char* bytes = nullptr;
  ASSERT_THAT(buffer.Reserve(100, &bytes), IsOk());
  EXPECT_EQ(buffer.data(), bytes);
  EXPECT_EQ(buffer.capacity(), 100U);
  ASSERT_THAT(buffer.Reserve(50, &bytes), IsOk());
  EXPECT_EQ(buffer.capacity(), 100U);
  for (const size_t too_many : {size_t{200}, kHugePageBytes}) {
    const FailingNew failing(0, FailingNew::For::kOneCall);
    const Status refused = buffer.Reserve(too_many, &bytes);
    EXPECT_TRUE(refused.IsMemoryLimit());
    EXPECT_THAT(
        refused.ToString(),
        testing::HasSubstr("no memory for " + std::to_string(too_many)));
    EXPECT_EQ(buffer.capacity(), 0U);
  }
  ASSERT_THAT(buffer.Reserve(100, &bytes), IsOk());
  EXPECT_EQ(buffer.data(), bytes);
}

}  // namespace
}  // namespace rowbloom

#include "rowbloom/result.h"

#include <gtest/gtest.h>

#include <string>

namespace rowbloom {
namespace {

TEST(Result, HoldsAValueOrAnError) {
  Result<std::string> value = std::string("row");
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, "row");
  EXPECT_EQ(value->size(), 3u);
  EXPECT_EQ(*std::move(value), "row");
  const Result<std::string> error = Error{"no row"};
  EXPECT_FALSE(error);
  EXPECT_EQ(error.error(), "no row");
}

TEST(Result, WrongUseEndsTheProcess) {
  const Result<std::string> error = Error{"no row"};
  EXPECT_DEATH(static_cast<void>(error.value().size()), "");
  EXPECT_DEATH(static_cast<void>(error->size()), "");
  const Result<std::string> value = std::string("row");
  EXPECT_DEATH(static_cast<void>(value.error().size()), "");
}

}  // namespace
}  // namespace rowbloom

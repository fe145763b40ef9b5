// GoogleTest matchers for rocksdb::Status. There is none for "not ok": a test
// names the error that it expects, and what the message must say.
//
//   EXPECT_THAT(store->Flush(), IsOk());
//   EXPECT_THAT(s, StatusIs(rocksdb::Status::kNotFound, HasSubstr("no
//   store")));
#pragma once

#include <gmock/gmock.h>

#include <string>

#include "rocksdb/status.h"

namespace rowbloom::test {

MATCHER(IsOk, "is OK") {
  *result_listener << "status " << arg.ToString();
  return arg.ok();
}

MATCHER_P2(StatusIs, code, message_matcher,
           "has code " + std::to_string(static_cast<int>(code)) +
               " and a message that " +
               ::testing::DescribeMatcher<std::string>(message_matcher)) {
  *result_listener << "status " << arg.ToString();
  return arg.code() == code &&
         ::testing::ExplainMatchResult(message_matcher, arg.ToString(),
                                       result_listener);
}

}  // namespace rowbloom::test

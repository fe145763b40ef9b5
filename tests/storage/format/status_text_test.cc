#include "storage/format/status_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace rowbloom {
namespace {

using rocksdb::Status;

TEST(StatusText, LocatedSaysFileWhatAndWhere) {
  const Status s =
      Located("a/b", "block", 17, Corruption(3, " bytes, expected ", 4));
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_EQ(s.ToString(),
            "Corruption: a/b: block at offset 17: 3 bytes, "
            "expected 4");
}

TEST(StatusText, PrefixedKeepsTheKind) {
  EXPECT_TRUE(Prefixed("p", InvalidArgument("x")).IsInvalidArgument());
  EXPECT_TRUE(Prefixed("p", NotSupported("x")).IsNotSupported());
  const Status memory = Prefixed("p: ", MemoryLimit("no memory for ", 5));
  EXPECT_TRUE(memory.IsMemoryLimit());
  EXPECT_THAT(memory.ToString(), testing::HasSubstr("p: no memory for 5"));
  // A full disk stays one, and the system's errors stay as they are.
  EXPECT_TRUE(Prefixed("p", Status::NoSpace("x")).IsNoSpace());
  EXPECT_THAT(Prefixed("p", IOError("x")).ToString(),
              testing::Not(testing::HasSubstr("p")));
}

}  // namespace
}  // namespace rowbloom

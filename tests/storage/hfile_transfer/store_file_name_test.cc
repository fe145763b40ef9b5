// Names of HBase's store files.
#include "storage/hfile_transfer/store_file_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/support/status_matchers.h"

namespace rowbloom::hfile_transfer {
namespace {

using rocksdb::Status;
using test::IsOk;
using test::StatusIs;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(StoreFileName, HasTheNumberOfItsBulkLoad) {
  const auto number = [](const std::string& name) {
    std::optional<int64_t> sequence_id = 77;
    EXPECT_THAT(SequenceIdInName(name, &sequence_id), IsOk()) << name;
    return sequence_id;
  };
  EXPECT_EQ(number("b5d11686c5434642b9e88ed71076cf2e_SeqId_2293_"), 2293);
  EXPECT_EQ(number("b5_SeqId_0_"), 0);
  // The last load counts.
  EXPECT_EQ(number("b5_SeqId_7__SeqId_12_"), 12);
  EXPECT_EQ(number("b5_SeqId_9223372036854775807_"), INT64_MAX);
  EXPECT_EQ(number("b5"), std::nullopt);
  EXPECT_EQ(number("b5_SeqId"), std::nullopt);
  EXPECT_EQ(number(""), std::nullopt);
}

TEST(StoreFileName, OfABulkLoadWithoutANumberIsRefused) {
  for (const char* name :
       {"b5_SeqId_", "b5_SeqId_7", "b5_SeqId__", "b5_SeqId_x_", "b5_SeqId_-1_",
        "b5_SeqId_7x_", "b5_SeqId_9223372036854775808_"}) {
    std::optional<int64_t> sequence_id;
    EXPECT_THAT(SequenceIdInName(name, &sequence_id),
                StatusIs(Status::kInvalidArgument,
                         HasSubstr("after \"_SeqId_\", expected the number")))
        << name;
    EXPECT_EQ(sequence_id, std::nullopt) << name;
  }
}

TEST(StoreFileName, TellsReferencesAndLinks) {
  const std::string region = "8bdf7aeb78389f57428bb7b5b424c0ce";
  EXPECT_THAT(DescribeReference("137cb12a." + region),
              AllOf(StartsWith("a reference, left by a split, to a half of "
                               "file 137cb12a of region 8bdf"),
                    HasSubstr("run major_compact on its table")));
  EXPECT_THAT(DescribeReference("137c_SeqId_7_." + region),
              StartsWith("a reference"));
  EXPECT_THAT(DescribeReference("my.orders=" + region + "-7efe." + region),
              StartsWith("a reference"));
  EXPECT_THAT(DescribeReference("my.orders=" + region + "-7efe"),
              AllOf(StartsWith("a link to file 7efe of region 8bdf"),
                    HasSubstr("of table my.orders, not followed; in HBase")));
  EXPECT_THAT(DescribeReference("ns=orders=" + region + "-7efe_SeqId_1_"),
              HasSubstr("of table ns=orders"));
  for (const char* name :
       {"", "137cb12a", "137cb12a_SeqId_7_", "1.hfile", "file.abc", "=abc-de",
        "orders=abc", "orders=abc-", "orders=xyz-abc", "orders=abc-xyz", "."}) {
    EXPECT_EQ(DescribeReference(name), "") << name;
  }
}

}  // namespace
}  // namespace rowbloom::hfile_transfer

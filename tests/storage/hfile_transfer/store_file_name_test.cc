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
using testing::HasSubstr;

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
  const auto target = [](const std::string& name) {
    const auto found = TargetInName(name);
    EXPECT_TRUE(found) << name;
    return found.value_or(StoreFileTarget());
  };
  StoreFileTarget found = target("137cb12a." + region);
  EXPECT_EQ(Describe(found), "file 137cb12a of region " + region);
  EXPECT_EQ(found.parent, region);
  EXPECT_EQ(target("137c_SeqId_7_." + region).file, "137c_SeqId_7_");
  found = target("my.orders=abcd-7efe");
  EXPECT_EQ(Describe(found),
            "file 7efe of region abcd of table default:my.orders");
  EXPECT_FALSE(found.is_reference());
  found = target("my.orders=abcd-7efe." + region);
  EXPECT_EQ(Describe(found),
            "file 7efe of region abcd of table default:my.orders");
  EXPECT_EQ(found.parent, region);
  EXPECT_EQ(Describe(target("ns=orders=abcd-7efe_SeqId_1_")),
            "file 7efe_SeqId_1_ of region abcd of table ns:orders");
  for (const char* name :
       {"", "137cb12a", "137cb12a_SeqId_7_", "1.hfile", "file.xyz", "=abc-de",
        "orders=abc", "orders=abc-", "orders=xyz-abc", "orders=abc-xyz", ".",
        "..=abc-de", ".=abc-de", "ns=..=abc-de", "..=orders=abc-de"}) {
    EXPECT_FALSE(TargetInName(name)) << name;
  }
}

}  // namespace
}  // namespace rowbloom::hfile_transfer

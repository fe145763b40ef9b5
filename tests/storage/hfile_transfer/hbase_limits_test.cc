// HBase's limits: values at each are accepted, values beyond it refused.
#include "storage/hfile_transfer/hbase_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/support/status_matchers.h"

namespace rowbloom::hfile_transfer {
namespace {

using rocksdb::Status;
using test::IsOk;
using test::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(HBaseLimits, NamesOfFamilies) {
  for (const std::string& name :
       {std::string("f"), std::string(127, 'f'), std::string("_f.x-y"),
        std::string("recovered.edits2"), std::string("\xc3\xa9")}) {
    EXPECT_THAT(CheckFamilyName(name), IsOk()) << name;
  }
  const auto is_refused = [](const std::string& why) {
    return StatusIs(Status::kInvalidArgument, HasSubstr(why));
  };
  EXPECT_THAT(CheckFamilyName(""), is_refused("without a name"));
  EXPECT_THAT(CheckFamilyName(std::string(128, 'f')),
              is_refused("more than 127 bytes, found 128"));
  EXPECT_THAT(CheckFamilyName(".f"), is_refused("starts with '.'"));
  EXPECT_THAT(CheckFamilyName("recovered.edits"), is_refused("reserved"));
  for (const std::string character : {":", "/", "\\", "\n", "\x7f"}) {
    EXPECT_THAT(CheckFamilyName("f" + character + "f"),
                is_refused("control characters"));
  }
}

TEST(HBaseLimits, Cells) {
  HFileCellView cell;
  cell.row = "r";
  cell.family = "f";
  cell.qualifier = "q";
  cell.timestamp_ms = kHFileLatestTimestamp - 1;
  EXPECT_THAT(CheckCell(cell), IsOk());
  cell.timestamp_ms = kHFileLatestTimestamp;
  EXPECT_THAT(CheckCell(cell), StatusIs(Status::kInvalidArgument,
                                        AllOf(HasSubstr("cell f:q: "),
                                              HasSubstr("takes for none"))));
}

// A qualifier may have as many bytes as a block.
TEST(HBaseLimits, TextsOfCellsHaveALimit) {
  const std::string qualifier(1'000'000, 'q');
  HFileCellView cell{.row = "r", .family = "f"};
  cell.qualifier = std::string_view(qualifier).substr(0, 65536);
  EXPECT_EQ(DescribeCell(cell),
            "row \"r\", cell f:" + std::string(cell.qualifier));
  const std::string text = DescribeCell(cell) + "...";
  cell.qualifier = qualifier;
  EXPECT_EQ(DescribeCell(cell), text);
}

}  // namespace
}  // namespace rowbloom::hfile_transfer

// HBase's limits: values at each are accepted, values beyond it refused.
#include "storage/hfile_transfer/hbase_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "rowbloom/cell.h"
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
  const auto is_refused = [](const std::string& why) {
    return StatusIs(Status::kInvalidArgument,
                    AllOf(HasSubstr("cell f:q: "), HasSubstr(why)));
  };
  cell.timestamp_ms = kHFileLatestTimestamp;
  EXPECT_THAT(CheckCell(cell), is_refused("takes for none"));
  cell.timestamp_ms = 0;
  cell.row = "";
  EXPECT_THAT(CheckCell(cell), is_refused("a row of 0 bytes"));
  const std::string row(32768, 'r');
  cell.row = row;
  EXPECT_THAT(CheckCell(cell), is_refused("a row of 32768 bytes"));
  cell.row.remove_suffix(1);
  EXPECT_THAT(CheckCell(cell), IsOk());
  // Nothing reads these bytes.
  cell.row = "r";
  const size_t most = kHFileMaxCellBytes - 12 - 3;
  cell.value = std::string_view(row.data(), most);
  EXPECT_THAT(CheckCell(cell), IsOk());
  cell.value = std::string_view(row.data(), most + 1);
  EXPECT_THAT(CheckCell(cell), is_refused("1075838977 bytes of key and value"));
  // The largest one of a store.
  cell.row = std::string_view(row).substr(0, kMaxRowBytes);
  cell.qualifier = std::string_view(row.data(), kMaxQualifierBytes);
  cell.value = std::string_view(row.data(), kMaxValueBytes);
  EXPECT_THAT(CheckCell(cell), IsOk());
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

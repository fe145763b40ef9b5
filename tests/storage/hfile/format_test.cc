// FORMAT.md shows bytes: they are those that are written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "rowbloom/hfile.h"
#include "storage/hfile/data_block.h"
#include "storage/hfile/file_form.h"
#include "storage/hfile/trailer.h"
#include "tests/storage/hfile/test_cells.h"
#include "tests/support/files.h"
#include "tests/support/hex.h"
#include "tests/support/temp_dir.h"

namespace rowbloom {
namespace {

// A block of FORMAT.md that has these bytes, 16 in a line.
std::string HexBlock(const std::string& bytes) {
  std::string text = "\n```\n";
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) text += i % 16 == 0 ? '\n' : ' ';
    text += test::ToHex({&bytes[i], 1});
  }
  return text + "\n```\n";
}

TEST(HFileFormatExample, FormatMdShowsTheBytes) {
  const test::TempDir dir;
  const HFileCell cell = test::MakeCell("r", "q", 1, HFileCellType::kPut, "v");
  hfile::FileForm options;
  options.bloom_type = BloomType::kNone;
  options.create_time_ms = 0;
  ASSERT_NO_FATAL_FAILURE(
      test::WriteCells(options, dir.File("example"), {cell}));
  std::string file = test::ReadFile(dir.File("example"));
  const std::string text = test::ReadFile(ROWBLOOM_HFILE_DIR "/FORMAT.md");
  const size_t second_block = file.find("IDXROOT2");
  ASSERT_NE(second_block, std::string::npos);
  EXPECT_THAT(text, testing::HasSubstr(HexBlock(file.substr(0, second_block))));
  // The example shows the trailer without its padding.
  const std::string trailer = file.substr(file.size() - hfile::kTrailerBytes);
  const size_t end = trailer.find(std::string(16, '\0'));
  EXPECT_THAT(text, testing::HasSubstr(HexBlock(trailer.substr(0, end))));
}

TEST(HFileFormatExample, FormatMdShowsEncodedCells) {
  HFileCell cell;
  cell.row = "row";
  cell.family = "f";
  cell.value = "value";
  const std::string text = test::ReadFile(ROWBLOOM_HFILE_DIR "/FORMAT.md");
  for (const HFileEncoding encoding :
       {HFileEncoding::kFastDiff, HFileEncoding::kDiff,
        HFileEncoding::kPrefix}) {
    const auto block = hfile::NewBlockBuilder(encoding, {});
    cell.qualifier = "a";
    cell.timestamp_ms = 258;
    block->Add(cell.View());
    cell.qualifier = "b";
    cell.timestamp_ms = 257;
    block->Add(cell.View());
    EXPECT_THAT(text,
                testing::HasSubstr(HexBlock(std::string(block->Finish()))));
  }
}

}  // namespace
}  // namespace rowbloom

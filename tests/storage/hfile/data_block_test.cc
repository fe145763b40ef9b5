// Payloads of data blocks are tested without a file around them: a walk gives
// back what a builder makes; damage is found or makes no harm.
#include "storage/hfile/data_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/hfile.h"
#include "storage/format/coding.h"
#include "storage/hfile/cell.h"
#include "storage/hfile/tag_dictionary.h"
#include "tests/storage/hfile/test_cells.h"
#include "tests/support/random.h"
#include "tests/support/status_matchers.h"

namespace rowbloom {

// Names in test listings.
void PrintTo(HFileEncoding encoding, std::ostream* out) {
  *out << ToString(encoding);
}

namespace hfile {
namespace {

using rocksdb::Status;
using test::MakeCell;
using test::StatusIs;
using testing::HasSubstr;

constexpr HFileCellType kPut = HFileCellType::kPut;

constexpr uint64_t kMaxCellsBytes = 1 << 20;

constexpr HFileEncoding kAll[] = {
    HFileEncoding::kNone, HFileEncoding::kPrefix, HFileEncoding::kDiff,
    HFileEncoding::kFastDiff, HFileEncoding::kRowIndexV1};

bool IsDelta(HFileEncoding encoding) {
  return encoding != HFileEncoding::kNone &&
         encoding != HFileEncoding::kRowIndexV1;
}

std::string Encode(HFileEncoding encoding, const CellForm& form,
                   const std::vector<HFileCell>& cells) {
  const auto builder = NewBlockBuilder(encoding, form);
  // A block before must leave nothing behind.
  for (const HFileCell& cell : cells) builder->Add(cell.View());
  builder->Finish();
  builder->Clear();
  EXPECT_TRUE(builder->empty());
  for (const HFileCell& cell : cells) builder->Add(cell.View());
  EXPECT_FALSE(builder->empty());
  return std::string(builder->Finish());
}

// Reads all cells of a payload, and says how that ended.
Status Decode(BlockCells* block, std::string_view payload,
              std::vector<HFileCell>* cells) {
  cells->clear();
  if (!block->Start(payload)) return block->status();
  while (true) {
    cells->emplace_back(block->cell());
    if (!block->HasNext()) return Status::OK();
    const HFileKey before = block->cell().key();
    const std::string row(before.row);
    const bool moved = block->Next();
    // The key before outlives one move, also one that fails.
    EXPECT_EQ(before.row, row);
    if (!moved) return block->status();
  }
}

Status Decode(HFileEncoding encoding, const CellForm& form,
              std::string_view payload, std::vector<HFileCell>* cells) {
  const auto block = NewBlockCells(encoding, form, kMaxCellsBytes);
  return Decode(block.get(), payload, cells);
}

class DataBlock : public ::testing::TestWithParam<HFileEncoding> {};

std::vector<CellForm> Forms(HFileEncoding encoding) {
  std::vector<CellForm> forms = {
      {}, {.tags = true}, {.mvcc = true}, {.tags = true, .mvcc = true}};
  if (IsDelta(encoding)) {
    forms.push_back({.tags = true, .mvcc = true, .tags_compressed = true});
  }
  return forms;
}

TEST_P(DataBlock, GivesBackWhatWasPutIn) {
  test::Random random(test::SeedFromEnv());
  for (const CellForm& form : Forms(GetParam())) {
    const auto block = NewBlockCells(GetParam(), form, kMaxCellsBytes);
    for (int round = 0; round < 20; ++round) {
      const auto cells = test::RandomCells(
          {.rows = 1 + random.Below(60), .tags = form.tags, .mvcc = form.mvcc},
          &random);
      std::vector<HFileCell> found;
      ASSERT_THAT(Decode(block.get(), Encode(GetParam(), form, cells), &found),
                  test::IsOk());
      ASSERT_EQ(found, cells);
    }
  }
}

// Keys, timestamps and types are at their limits, each beside the next.
TEST_P(DataBlock, GivesBackExtremes) {
  std::vector<HFileCell> cells;
  const auto timestamps = {
      INT64_MAX,    INT64_MAX - 1, int64_t{1} << 56, (int64_t{1} << 56) - 1,
      int64_t{256}, int64_t{255},  int64_t{1},       int64_t{0},
      int64_t{-1},  int64_t{-256}, INT64_MIN};
  for (const size_t row_bytes : {1, 127, 128, 255, 256, 257, 32767}) {
    for (const size_t qualifier_bytes : {0, 1, 127, 16384}) {
      for (const int64_t timestamp_ms : timestamps) {
        cells.push_back(MakeCell(std::string(row_bytes, 'r'),
                                 std::string(qualifier_bytes, 'q'),
                                 timestamp_ms, kPut, "v"));
        cells.push_back(cells.back());
        cells.back().type = HFileCellType::kDelete;
        cells.back().value.clear();
      }
    }
  }
  cells.push_back(MakeCell("s", "", 5, kPut, std::string(100'000, 'v')));
  cells.back().family = "f";
  std::vector<HFileCell> found;
  const auto block = NewBlockCells(GetParam(), {}, uint64_t{1} << 30);
  ASSERT_THAT(Decode(block.get(), Encode(GetParam(), {}, cells), &found),
              test::IsOk());
  EXPECT_EQ(found, cells);
}

// Every byte is changed, and every end cut off. There is a sentence or there
// are cells; sanitizers see the rest.
TEST_P(DataBlock, AnyDamageIsFoundOrHarmless) {
  test::Random random(11);
  for (const CellForm& form : Forms(GetParam())) {
    const auto cells = test::RandomCells(
        {.rows = 4, .max_value_bytes = 9, .tags = form.tags, .mvcc = form.mvcc},
        &random);
    const std::string good = Encode(GetParam(), form, cells);
    std::vector<HFileCell> found;
    uint64_t errors = 0;
    const auto check = [&](const std::string& payload) {
      const Status status = Decode(GetParam(), form, payload, &found);
      if (status.ok()) return;
      ++errors;
      EXPECT_TRUE(status.IsCorruption() || status.IsMemoryLimit());
      EXPECT_TRUE(std::string_view(status.getState()).starts_with("byte "));
    };
    for (size_t at = 0; at < good.size(); ++at) {
      for (const int change : {1, 0x80}) {
        std::string payload = good;
        payload[at] = static_cast<char>(payload[at] ^ change);
        check(payload);
      }
      check(std::string(good, 0, at));
    }
    EXPECT_GT(errors, good.size() / 2);
  }
}

TEST_P(DataBlock, SkipsToTheKeyOrBeforeIt) {
  test::Random random(12);
  const CellForm form = {.mvcc = true};
  const auto cells = test::RandomCells({.rows = 30}, &random);
  const std::string payload = Encode(GetParam(), form, cells);
  const auto block = NewBlockCells(GetParam(), form, kMaxCellsBytes);
  const auto skip = [&](const HFileKey& key) {
    EXPECT_TRUE(block->Start(payload));
    EXPECT_TRUE(block->SkipTo(key));
    size_t steps = 0;
    for (; CompareHFileKeys(block->cell().key(), key) < 0; ++steps) {
      if (!block->HasNext()) break;
      EXPECT_TRUE(block->Next());
    }
    return steps;
  };
  size_t steps = 0;
  for (const HFileCell& cell : cells) {
    const auto at =
        std::find_if(cells.begin(), cells.end(), [&](const HFileCell& other) {
          return CompareHFileKeys(other.View().key(), cell.View().key()) == 0;
        });
    steps += skip(cell.View().key());
    EXPECT_EQ(HFileCell(block->cell()), *at);
  }
  // An index of rows spares the walk through the rows before.
  EXPECT_EQ(GetParam() == HFileEncoding::kRowIndexV1,
            steps < cells.size() * 15);
  EXPECT_GT(skip({.row = std::string(9, '\xff')}), 0U);
  EXPECT_EQ(HFileCell(block->cell()), cells.back());
}

INSTANTIATE_TEST_SUITE_P(
    Encodings, DataBlock, ::testing::ValuesIn(kAll),
    [](const ::testing::TestParamInfo<HFileEncoding>& test) {
      return std::string(ToString(test.param));
    });

TEST(DataBlockEncoding, NamesAndNumbers) {
  for (const HFileEncoding encoding : kAll) {
    EXPECT_EQ(FindEncoding(ToString(encoding)), encoding);
    if (encoding == HFileEncoding::kNone) continue;
    const std::string payload =
        Encode(encoding, {}, {MakeCell("r", "q", 1, kPut, "v")});
    EXPECT_EQ(EncodingOf(payload), encoding);
  }
  EXPECT_EQ(FindEncoding("PREFIX_TREE"), std::nullopt);
  EXPECT_EQ(EncodingOf(std::string("\0\2", 2)), HFileEncoding::kPrefix);
  EXPECT_EQ(EncodingOf(std::string("\0\6", 2)), std::nullopt);
  EXPECT_EQ(EncodingOf(std::string("\0\0", 2)), std::nullopt);
  EXPECT_EQ(EncodingOf(std::string(1, '\0')), std::nullopt);
  EXPECT_EQ(ToString(static_cast<HFileEncoding>(6)), "unknown");
}

// ----------------------------------------------------------- what is refused

class DamagedBlock : public ::testing::Test {
 protected:
  // Two cells of one row, the second without a value of its own.
  const std::vector<HFileCell> cells_ = {
      MakeCell("row", "a", 0x0102, kPut, "value"),
      MakeCell("row", "b", 0x0101, kPut, "value")};

  void Refuses(HFileEncoding encoding,
               const std::function<void(std::string*)>& change,
               const std::string& why, const CellForm& form = {}) {
    std::string payload = Encode(encoding, form, cells_);
    change(&payload);
    std::vector<HFileCell> found;
    EXPECT_THAT(Decode(encoding, form, payload, &found),
                StatusIs(Status::kCorruption, HasSubstr(why)));
  }
  // Changes one byte.
  void RefusesByte(HFileEncoding encoding, size_t at, uint8_t value,
                   const std::string& why, const CellForm& form = {}) {
    Refuses(
        encoding,
        [&](std::string* p) {
          ASSERT_LT(at, p->size());
          (*p)[at] = static_cast<char>(value);
        },
        why, form);
  }
};

TEST_F(DamagedBlock, HeadsOfDeltaBlocks) {
  for (const HFileEncoding encoding :
       {HFileEncoding::kPrefix, HFileEncoding::kDiff,
        HFileEncoding::kFastDiff}) {
    SCOPED_TRACE(ToString(encoding));
    Refuses(
        encoding, [](std::string* p) { p->resize(1); }, "encoding is cut off");
    RefusesByte(encoding, 1, 7, "encoding 7, expected ");
    Refuses(
        encoding, [](std::string* p) { p->resize(5); },
        "size of cells is cut off");
    Refuses(
        encoding, [](std::string* p) { p->resize(6); },
        encoding == HFileEncoding::kDiff ? "family is cut off"
                                         : "at least one cell expected");
    // 60 bytes in two cells: 8 + 17 + 5 each.
    RefusesByte(encoding, 5, 61,
                "cells of 60 bytes up to the end, expected 61");
    RefusesByte(encoding, 5, 59,
                "cell with a key of 17 and a value of 5 bytes, expected at "
                "least 12 and at most 21 that are left of all cells' 59");
    RefusesByte(encoding, 5, 7, "expected at least 12 and at most 0");
    Refuses(
        encoding, [](std::string* p) { p->pop_back(); }, "byte ");
  }
}

TEST_F(DamagedBlock, TagsAndMvcc) {
  for (const HFileEncoding encoding :
       {HFileEncoding::kPrefix, HFileEncoding::kDiff,
        HFileEncoding::kFastDiff}) {
    SCOPED_TRACE(ToString(encoding));
    const CellForm tags = {.tags = true};
    const CellForm compressed = {.tags = true, .tags_compressed = true};
    const auto at_end = [](const std::string& bytes) {
      return [bytes](std::string* p) {
        p->pop_back();  // the last cell's tags, of which there are none
        *p += bytes;
      };
    };
    Refuses(encoding, at_end(""), "tags are cut off", tags);
    Refuses(encoding, at_end("\x80"), "tags are cut off", tags);
    Refuses(encoding, at_end("\x01"), "expected at most", tags);
    Refuses(encoding, at_end("\x80\x80\x04"),
            "tags of 65536 bytes, expected at most 65535", tags);
    const auto grow = [&](uint8_t tags_bytes, const std::string& bytes) {
      return [=](std::string* p) {
        (*p)[5] = static_cast<char>((*p)[5] + tags_bytes);
        p->back() = static_cast<char>(tags_bytes);
        *p += bytes;
      };
    };
    Refuses(encoding, grow(4, "abc"), "tags are longer than what is left",
            tags);
    Refuses(encoding, grow(4, "abcde"), "cell is cut off", tags);
    Refuses(encoding, grow(4, ""), "tags are cut off", compressed);
    Refuses(encoding, grow(4, "\xff"), "a tag is longer than what is left",
            compressed);
    Refuses(encoding, grow(4, "\xff\x03xy"),
            "a tag is longer than what is left", compressed);
    Refuses(encoding, grow(4, "\xff\x03xyz"),
            "tags are longer than their length", compressed);
    Refuses(encoding, grow(4, std::string("\0", 1)), "tags are cut off",
            compressed);
    Refuses(encoding, grow(4, std::string("\0\0", 2)),
            "a tag that the block did not have before", compressed);
    Refuses(encoding, [](std::string* p) { p->back() = '\x80'; },
            "mvcc number is cut off", {.mvcc = true});
  }
}

TEST_F(DamagedBlock, Prefix) {
  // 00 02, size; 11 05 00, key at 9, value at 26; the second cell at 31:
  // rest 0b, value 05, common 06.
  const auto prefix = HFileEncoding::kPrefix;
  RefusesByte(prefix, 31, 0x7f, "key of 7 common bytes and 127, expected");
  RefusesByte(prefix, 33, 18, "key of 18 common bytes");
  RefusesByte(prefix, 8, 1, "key of 1 common bytes and 17, expected at most 0");
  RefusesByte(prefix, 9, 0x80, "row and family do not fit into the key");
  RefusesByte(prefix, 14, 0x7f, "row and family do not fit into the key");
  Refuses(
      prefix, [](std::string* p) { p->resize(33); }, "cell is cut off");
  Refuses(
      prefix, [](std::string* p) { p->resize(p->size() - 2); },
      "value of 5 bytes, expected at most 3");
}

TEST_F(DamagedBlock, FastDiff) {
  // 00 04, size; 00 11 05 00, key at 10, value at 27; the second cell at 32:
  // flags 7f, common 07, b, 01.
  const auto fast_diff = HFileEncoding::kFastDiff;
  RefusesByte(fast_diff, 6, 0x08, "flags 8, expected at most 0");
  RefusesByte(fast_diff, 9, 1, "key of 17 bytes, of which 1 are common");
  RefusesByte(fast_diff, 32, 0x80, "flags 128, expected at most 127");
  RefusesByte(fast_diff, 33, 9, "of which 9 are common, expected at most 8");
  RefusesByte(fast_diff, 33, 6, "of which 6 are common");
  RefusesByte(fast_diff, 33, 4, "cell is cut off");
  RefusesByte(fast_diff, 33, 1, "row of 98 and family of 1 bytes do not fit");
  RefusesByte(fast_diff, 32, 0x78, "cell is cut off");
  RefusesByte(fast_diff, 32, 0x5f, "cell is cut off");
  Refuses(
      fast_diff,
      [](std::string* p) {
        (*p)[5] = static_cast<char>((*p)[5] - 1);
        (*p)[32] = 0x6f;
        p->insert(33, 1, '\4');
      },
      "value of 4 bytes, expected 5 as those of the cell before");
}

TEST_F(DamagedBlock, Diff) {
  // 00 03, size, 01 66; flags 10, 11 05 00, row at 12, qualifier 61,
  // timestamp, type, value at 21; the second cell at 26: flags 0f, common 07,
  // b, 01, value.
  const auto diff = HFileEncoding::kDiff;
  RefusesByte(diff, 6, 0x80, "family of 128 bytes, expected at most");
  RefusesByte(diff, 6, 0x7f, "family of 127 bytes, expected at most 28");
  for (const uint8_t flags : {0x11, 0x12, 0x14, 0x18}) {
    RefusesByte(diff, 8, flags,
                "of a first cell, expected 0 in the lowest four");
  }
  RefusesByte(diff, 11, 1, "of which 1 are common, expected at most 0");
  RefusesByte(diff, 12, 0x80, "row of 32771 and family of 1 bytes");
  const size_t second = 26;
  RefusesByte(diff, second + 1, 9, "of which 9 are common");
  RefusesByte(diff, second, 0x7f, "cell is cut off");
}

TEST_F(DamagedBlock, RowIndex) {
  std::vector<HFileCell> found;
  std::vector<HFileCell> cells = cells_;
  cells.push_back(MakeCell("s", "a", 1));
  const auto encoding = HFileEncoding::kRowIndexV1;
  const std::string good = Encode(encoding, {}, cells);
  // Cells of 60 and 23 bytes; 2 rows, at 0 and 60; 83.
  ASSERT_EQ(good.size(), 2 + 83 + 4 + 8 + 4);
  const auto refuses = [&](size_t at, uint32_t value, const std::string& why) {
    std::string payload = good;
    std::string number;
    PutBig<uint32_t>(&number, value);
    payload.replace(at, 4, number);
    EXPECT_THAT(Decode(encoding, {}, payload, &found),
                StatusIs(Status::kCorruption, HasSubstr(why)));
  };
  const size_t index = 2 + 83;
  refuses(good.size() - 4, 92, "cells of 92 bytes, expected at most 91");
  refuses(good.size() - 4, 0x80000000, "cells of 2147483648 bytes");
  refuses(good.size() - 4, 82, "rows in");
  refuses(index, 1, "index of 1 rows in 16 bytes, expected 8 and 4 a row");
  refuses(index, 0xffffffff, "index of 4294967295 rows");
  refuses(index + 4, 1, "row 0 of 2 starts at 1, expected 0");
  for (const uint32_t at : {59, 0, 83}) {
    refuses(index + 8, at, "row 1 of 2 starts here, the index has none");
  }
  refuses(index + 8, 30, "row 1 of 2 starts here, inside of a row");
  // Fewer rows in the cells.
  const std::string one_row =
      Encode(encoding, {}, {cells[0], cells[0], cells[1]});
  std::string two_rows = one_row;
  two_rows.replace(2 + 90, 4, std::string("\0\0\0\2", 4));
  two_rows.insert(2 + 90 + 8, std::string("\0\0\0\x5a", 4));
  EXPECT_THAT(
      Decode(encoding, {}, two_rows, &found),
      StatusIs(Status::kCorruption, HasSubstr("cells of 1 rows, expected 2")));
  EXPECT_THAT(Decode(encoding, {}, good.substr(0, 9), &found),
              StatusIs(Status::kCorruption, HasSubstr("row index is cut off")));
  EXPECT_THAT(
      Decode(encoding, {}, std::string("\0\7\0\0\0\0\0\0\0\0", 10), &found),
      StatusIs(Status::kCorruption, HasSubstr("at least one row expected")));
  // A seek that an index leads out of the cells.
  const auto block = NewBlockCells(encoding, {}, kMaxCellsBytes);
  std::string payload = good;
  payload[index + 11] = 83;
  ASSERT_TRUE(block->Start(payload));
  EXPECT_FALSE(block->SkipTo({.row = "s"}));
  EXPECT_THAT(block->status(),
              StatusIs(Status::kCorruption,
                       HasSubstr("starts at 83, expected less than 83")));
}

// ---------------------------------------------------------------------- tags

TEST(TagDictionary, ForgetsTheLeastRecentlyUsed) {
  TagDictionary dictionary;
  const auto tag = [](size_t i) { return "tag" + std::to_string(i); };
  for (size_t i = 0; i < TagDictionary::kCapacity; ++i) dictionary.Add(tag(i));
  EXPECT_EQ(dictionary.Find(tag(0)), 0U);  // used now
  EXPECT_EQ(*dictionary.Get(1), tag(1));
  EXPECT_EQ(dictionary.Find(tag(500)), std::nullopt);
  dictionary.Add(tag(500));
  EXPECT_EQ(dictionary.Find(tag(2)), std::nullopt);
  EXPECT_EQ(dictionary.Find(tag(500)), 2U);
  EXPECT_EQ(dictionary.Find(tag(0)), 0U);
  EXPECT_EQ(dictionary.Get(TagDictionary::kCapacity), nullptr);
  dictionary.Add("");
  EXPECT_EQ(dictionary.Find(tag(3)), 3U);
  dictionary.Clear();
  EXPECT_EQ(dictionary.Get(0), nullptr);
  EXPECT_EQ(dictionary.Find(tag(0)), std::nullopt);
}

TEST(TagDictionary, CompressesAndUncompresses) {
  const std::string tags = std::string("\0\3abc\0\1x\0\3abc", 13);
  EXPECT_TRUE(AreTags(tags));
  EXPECT_FALSE(AreTags(tags.substr(0, 12)));
  EXPECT_FALSE(AreTags(tags.substr(0, 1)));
  TagDictionary writers;
  std::string compressed;
  CompressTags(tags, &writers, &compressed);
  EXPECT_EQ(compressed, std::string("\xff\3abc\xff\1x\0\0", 10));
  TagDictionary readers;
  std::string_view in = compressed;
  std::string out;
  EXPECT_EQ(UncompressTags(tags.size(), &readers, &in, &out), nullptr);
  EXPECT_EQ(out, tags);
  EXPECT_EQ(in.size(), 0U);
}

// A dictionary keeps its memory for the next block. A tag may claim to have as
// many bytes as its block.
TEST(TagDictionary, KeepsNoTagThatIsTooLong) {
  TagDictionary readers;
  std::string_view in = "\xff\3abc";
  std::string out;
  EXPECT_STREQ(UncompressTags(4, &readers, &in, &out),
               "tags are longer than their length");
  EXPECT_EQ(readers.Get(0), nullptr);
}

}  // namespace
}  // namespace hfile
}  // namespace rowbloom

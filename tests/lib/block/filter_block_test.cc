#include "rowbloom/filter_block.h"

#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/block/filter_block_builder.h"
#include "lib/block/format.h"
#include "lib/block/hash.h"
#include "lib/bytes/integers.h"
#include "tests/support/random.h"

namespace rowbloom {
namespace {

using test::DistinctKey;
using test::Random;
using test::SeedFromEnv;
using namespace std::string_literals;

std::string Build(const FilterBlockOptions& options,
                  const std::vector<std::string>& keys) {
  FilterBlockBuilder builder(options);
  for (const std::string& key : keys) builder.AddKey(key);
  return builder.Finish();
}

const FilterSection* Find(const FilterBlock& block, SectionType type) {
  for (const FilterSection& section : block.sections()) {
    if (section.type == type) return &section;
  }
  return nullptr;
}

struct Configuration {
  std::string name;
  FilterBlockOptions options;
};

void PrintTo(const Configuration& configuration, std::ostream* out) {
  *out << configuration.name;
}

// Every layout with every type.
std::vector<Configuration> Configurations() {
  static const KeyLayout custom = *KeyLayout::RegisterCustom(
      "seven", [](std::string_view key) -> std::optional<size_t> {
        if (key.size() < 7) return std::nullopt;
        return 7;
      });
  std::vector<Configuration> all;
  for (const auto& [layout_name, layout] : std::map<std::string, KeyLayout>{
           {"Escaped", KeyLayout::Escaped()},
           {"Fixed", KeyLayout::FixedRow(7)},
           {"Delimited", KeyLayout::Delimited(':')},
           {"LengthPrefixed", KeyLayout::LengthPrefixed()},
           {"Custom", custom}}) {
    for (const BloomType type : {BloomType::kRow, BloomType::kRowCol,
                                 BloomType::kRowPrefixFixedLength}) {
      const bool prefix = type == BloomType::kRowPrefixFixedLength;
      all.push_back(
          {layout_name + (prefix ? "ROWPREFIX" : ToString(type).data()),
           {.bloom_type = type,
            .key_layout = layout,
            .row_prefix_length = prefix ? 5u : 0u}});
    }
  }
  return all;
}

class EachConfiguration : public testing::TestWithParam<Configuration> {
 protected:
  const FilterBlockOptions& options() const { return GetParam().options; }
  std::string Row(uint64_t number) const {
    std::string row = std::to_string(1'000'000 + number);  // 7 digits
    return *options().key_layout.EncodeRow(row);
  }
};

INSTANTIATE_TEST_SUITE_P(FilterBlock, EachConfiguration,
                         testing::ValuesIn(Configurations()),
                         [](const auto& test) { return test.param.name; });

TEST_P(EachConfiguration, HasNoFalseNegativesAndSkipsWhatIsAbsent) {
  std::vector<std::string> keys;
  for (uint64_t row = 0; row < 2'000; ++row) {
    for (uint64_t column = 0; column < row % 5; ++column) {
      keys.push_back(Row(row * 100) + "q" + std::to_string(column));
    }
  }
  const std::string bytes = Build(options(), keys);
  const FilterBlock block = FilterBlock::Open(bytes);
  ASSERT_EQ(block.problem(), "");
  EXPECT_EQ(block.layout_id(), options().key_layout.ToString());
  EXPECT_EQ(block.row_prefix_length(), options().row_prefix_length);
  for (const std::string& key : keys) {
    ASSERT_TRUE(block.MayMatch(key).may_match());
    const auto split = options().key_layout.Split(key);
    ASSERT_TRUE(block.MayMatchRow(split->row));
    ASSERT_TRUE(block.MayMatchRowCol(split->row, split->qualifier));
    ASSERT_TRUE(block.MayMatch(split->row).may_match()) << "as a bare row";
  }
  // Rows 100 apart differ in the first five of seven digits.
  uint64_t rows_passed = 0;
  uint64_t columns_passed = 0;
  constexpr uint64_t kAbsent = 20'000;
  for (uint64_t i = 0; i < kAbsent; ++i) {
    rows_passed += block.MayMatchRow(Row(1'000'000 + i * 100));
    columns_passed += block
                          .MayMatch(Row(i % 2'000 / 5 * 500 + 100) + "absent" +
                                    std::to_string(i))
                          .may_match();
  }
  EXPECT_LT(rows_passed, kAbsent * 3 / 100);
  if (options().bloom_type == BloomType::kRowCol) {
    EXPECT_LT(columns_passed, kAbsent * 3 / 100);
  } else {
    EXPECT_EQ(columns_passed, kAbsent) << "only the row is known";
  }
}

TEST_P(EachConfiguration, BatchAnswersAsOneByOne) {
  Random random(SeedFromEnv());
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < 500; ++i) {
    keys.push_back(Row(i * 100) + DistinctKey(i));
  }
  const std::string bytes = Build(options(), keys);
  const FilterBlock block = FilterBlock::Open(bytes);
  for (size_t batch : {0, 1, 2, 31, 32, 33, 100}) {
    std::vector<std::string> asked;
    for (size_t i = 0; i < batch; ++i) {
      switch (random.Below(4)) {
        case 0:  // present, often of the row before
          asked.push_back(keys[random.Below(10)]);
          break;
        case 1:
          asked.push_back(Row(random.Below(500) * 100) + "absent");
          break;
        case 2:
          asked.push_back(Row(1'000'000 + random.Below(5) * 100));
          break;
        default:
          asked.push_back(random.Bytes(random.Below(4)));
      }
    }
    const std::vector<std::string_view> views(asked.begin(), asked.end());
    std::vector<MatchResult> results(batch);
    block.MayMatch(views, results);
    for (size_t i = 0; i < batch; ++i) {
      ASSERT_EQ(results[i], block.MayMatch(views[i]));
    }
  }
}

// The block as it was written before the attribute of whole keys came: it is
// the last one, of three bytes.
std::string WithoutWholeKeys(const std::string& block) {
  const format::Trailer trailer = format::GetTrailer(block);
  const size_t attribute_at = trailer.at - trailer.layout_bytes - 3;
  EXPECT_EQ(block[attribute_at], 3);
  std::string end = block.substr(trailer.at + 8);
  std::string attribute_bytes;
  PutFixed(&attribute_bytes, trailer.attribute_bytes - 3, 2);
  end.replace(2, 2, attribute_bytes);
  const size_t directory_at = trailer.at - trailer.DirectoryBytes();
  const std::string directory =
      block.substr(directory_at, attribute_at - directory_at) +
      block.substr(attribute_at + 3, trailer.layout_bytes);
  std::string old = block.substr(0, directory_at) + directory;
  PutFixed(&old, Checksum(directory, Checksum(end)), 8);
  return old + end;
}

TEST(FilterBlock, KnowsWhereItsFileWasMade) {
  const auto origin = [](const FileOrigin& given) {
    const std::string bytes = Build(
        {.key_layout = KeyLayout::Delimited(':'), .origin = given}, {"a:x"});
    const FilterBlock block = FilterBlock::Open(bytes);
    EXPECT_FALSE(block.MayMatch("b:x").may_match());
    return block.origin();
  };
  EXPECT_EQ(origin({}), FileOrigin());
  EXPECT_EQ(origin({"users", 0}), (FileOrigin{"users", 0}));
  EXPECT_EQ(origin({"", 6}), (FileOrigin{"", 6}));
  EXPECT_EQ(origin({std::string(1, '\0') + "\xff", -1}),
            (FileOrigin{std::string(1, '\0') + "\xff", -1}));
  EXPECT_EQ(origin({std::string(300, 'n'), 255}),
            (FileOrigin{std::string(255, 'n'), 255}));
  EXPECT_EQ(origin({"users", 256}), (FileOrigin{"users", -1}));
}

TEST(FilterBlock, RowIsAskedBeforeTheColumn) {
  const std::string bytes =
      Build({.key_layout = KeyLayout::Delimited(':')}, {"a:x", "a:y", "b:x"});
  const FilterBlock block = FilterBlock::Open(bytes);
  const MatchResult absent_row = block.MayMatch("c:x");
  EXPECT_FALSE(absent_row.may_match());
  EXPECT_EQ(absent_row.row(), Verdict::kNoMatch);
  EXPECT_EQ(absent_row.row_col(), Verdict::kNotProbed);
  const MatchResult absent_column = block.MayMatch("b:y");
  EXPECT_FALSE(absent_column.may_match());
  EXPECT_EQ(absent_column.row(), Verdict::kMayMatch);
  EXPECT_EQ(absent_column.row_col(), Verdict::kNoMatch);
  const MatchResult bare_row = block.MayMatch("b:");
  EXPECT_TRUE(bare_row.may_match());
  EXPECT_EQ(bare_row.row_col(), Verdict::kNotProbed);
  EXPECT_EQ(block.ProbeSection(SectionType::kRowCol, "c:", "x"),
            Verdict::kNoMatch);
  EXPECT_EQ(block.ProbeSection(SectionType::kRowPrefix, "a:", ""),
            Verdict::kNotProbed);
}

TEST(FilterBlock, CountsDistinctEntriesOfEachSection) {
  const std::string bytes =
      Build({.key_layout = KeyLayout::Delimited(':'), .bits_per_key = 10},
            {"a:", "a:x", "a:x", "a:y", "b:x", "b:"});
  const FilterBlock block = FilterBlock::Open(bytes);
  ASSERT_EQ(block.sections().size(), 2u);
  EXPECT_EQ(Find(block, SectionType::kRow)->keys, 2u);
  EXPECT_EQ(Find(block, SectionType::kRowCol)->keys, 3u);
  EXPECT_EQ(FilterBlock::BitsPerKey(block.sections()[0]), 256);
  const double fill = block.FillRatio(block.sections()[0]);
  EXPECT_GT(fill, 6.0 / 512);
  EXPECT_LE(fill, 12.0 / 512);
}

TEST(FilterBlock, SectionsOfAnotherBlockHaveNoFillRatio) {
  const std::string large =
      Build({.key_layout = KeyLayout::FixedRow(1), .bits_per_key = 60},
            {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"});
  const std::string small = Build({.bloom_type = BloomType::kRow}, {});
  const FilterBlock block = FilterBlock::Open(large);
  ASSERT_GT(block.sections()[0].size_bytes, small.size());
  EXPECT_EQ(FilterBlock::Open(small).FillRatio(block.sections()[0]), 0);
  FilterSection behind = block.sections()[0];
  behind.offset_bytes = large.size() + 1;
  behind.size_bytes = 1;
  EXPECT_EQ(block.FillRatio(behind), 0);
}

template <typename Bytes>
concept CanBeOpened = requires(Bytes bytes) {
  FilterBlock::Open(std::forward<Bytes>(bytes));
};
// A view of a temporary would dangle.
static_assert(!CanBeOpened<std::string>);
static_assert(!CanBeOpened<const std::string>);
static_assert(CanBeOpened<const std::string&>);
static_assert(CanBeOpened<std::string_view>);
static_assert(CanBeOpened<const char*>);

TEST(FilterBlock, KeysOutsideTheLayoutAreIndexedWhole) {
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol,
                               BloomType::kRowPrefixFixedLength}) {
    SCOPED_TRACE(ToString(type));
    const bool prefix = type == BloomType::kRowPrefixFixedLength;
    const std::string bytes = Build({.bloom_type = type,
                                     .key_layout = KeyLayout::Delimited(':'),
                                     .bits_per_key = 20,
                                     .row_prefix_length = prefix ? 2u : 0u},
                                    {"", "a:x", "outside", "zebra"});
    const FilterBlock block = FilterBlock::Open(bytes);
    const SectionType section = type == BloomType::kRow ? SectionType::kRow
                                : prefix ? SectionType::kRowPrefix
                                         : SectionType::kRowCol;
    EXPECT_EQ(block.whole_keys(), section);
    EXPECT_EQ(Find(block, section)->keys, 4u);
    for (const char* present : {"", "outside", "zebra", "a:x"}) {
      EXPECT_TRUE(block.MayMatch(present).may_match()) << present;
    }
    for (const char* absent : {"another", "outsid", "outside2", "b:x"}) {
      EXPECT_FALSE(block.MayMatch(absent).may_match()) << absent;
    }
    // Their parts are no rows, not even one that is as long as a prefix.
    for (const char* part : {"ou", "ab", "another"}) {
      EXPECT_TRUE(block.MayMatchRowCol(part, "tside")) << part;
      EXPECT_EQ(block.ProbeSection(section, part, "tside"),
                Verdict::kNotProbed);
    }
    const MatchResult outside = block.MayMatch("another");
    EXPECT_EQ(type == BloomType::kRowCol ? outside.row_col() : outside.row(),
              Verdict::kNoMatch);
    EXPECT_EQ(type == BloomType::kRowCol ? outside.row() : outside.row_col(),
              Verdict::kNotProbed);
    // A block from before filters out none of them.
    const std::string old = WithoutWholeKeys(bytes);
    const FilterBlock before = FilterBlock::Open(old);
    EXPECT_TRUE(before.usable()) << before.problem();
    EXPECT_EQ(before.whole_keys(), std::nullopt);
    EXPECT_TRUE(before.MayMatch("another").may_match());
    EXPECT_EQ(before.MayMatch("another"), MatchResult());
    EXPECT_FALSE(before.MayMatch("b:x").may_match());
  }
}

TEST(FilterBlock, BytesThatAreNoRowAreNeverFilteredOut) {
  const std::string bytes =
      Build({.key_layout = KeyLayout::Delimited(':')}, {"a:x"});
  const FilterBlock block = FilterBlock::Open(bytes);
  for (const char* no_row : {"", "a", "z", "z:x"}) {
    EXPECT_TRUE(block.MayMatchRow(no_row)) << no_row;
    EXPECT_TRUE(block.MayMatchRowCol(no_row, "y")) << no_row;
    EXPECT_EQ(block.ProbeSection(SectionType::kRow, no_row, ""),
              Verdict::kNotProbed);
  }
  EXPECT_FALSE(block.MayMatchRow("z:"));
}

TEST(FilterBlock, WithoutKeysOfTheLayoutNoRowMatches) {
  for (const auto& keys :
       std::vector<std::vector<std::string>>{{}, {"outside"}}) {
    const std::string bytes =
        Build({.key_layout = KeyLayout::Delimited(':')}, keys);
    EXPECT_GE(bytes.size(), 6u) << "RocksDB takes less for 'never matches'";
    const FilterBlock block = FilterBlock::Open(bytes);
    ASSERT_TRUE(block.usable());
    EXPECT_FALSE(block.MayMatchRow("a:"));
    EXPECT_FALSE(block.MayMatch("a:x").may_match());
    EXPECT_EQ(block.MayMatch("outside").may_match(), !keys.empty());
  }
}

TEST(FilterBlock, BareRowsAloneMakeNoRowColSection) {
  const std::string bytes =
      Build({.key_layout = KeyLayout::Delimited(':')}, {"a:", "b:"});
  const FilterBlock block = FilterBlock::Open(bytes);
  EXPECT_EQ(Find(block, SectionType::kRowCol), nullptr);
  EXPECT_TRUE(block.MayMatch("a:").may_match());
  EXPECT_TRUE(block.MayMatch("a:x").may_match()) << "cells were not indexed";
  EXPECT_FALSE(block.MayMatch("c:x").may_match());
  EXPECT_EQ(block.whole_keys(), SectionType::kRow);
  EXPECT_FALSE(block.MayMatch("outside").may_match());
}

TEST(FilterBlock, RowPrefixServesShortRowsAndBarePrefixes) {
  const std::string bytes =
      Build({.bloom_type = BloomType::kRowPrefixFixedLength,
             .key_layout = KeyLayout::Delimited(':'),
             .row_prefix_length = 4},
            {"ab:x", "abcdef:x", "abcdeg:y"});
  const FilterBlock block = FilterBlock::Open(bytes);
  EXPECT_EQ(block.sections()[0].keys, 2u);
  EXPECT_TRUE(block.MayMatch("abcdzzz:x").may_match()) << "same four bytes";
  EXPECT_TRUE(block.MayMatch("abcd").may_match()) << "a bare prefix";
  EXPECT_TRUE(block.MayMatch("ab:zz").may_match());
  EXPECT_FALSE(block.MayMatch("zbcd").may_match());
  EXPECT_FALSE(block.MayMatch("ac:x").may_match());
  EXPECT_FALSE(block.MayMatch("zbc").may_match()) << "shorter than the prefix";
}

// Bytes as long as a prefix, with a row in them, are a cell.
TEST(FilterBlock, CellsAsLongAsARowPrefixAreNoRows) {
  FilterBlockBuilder builder({.bloom_type = BloomType::kRowPrefixFixedLength,
                              .key_layout = KeyLayout::Delimited(':'),
                              .row_prefix_length = 3});
  builder.AddKey("a:bcd");
  builder.AddPrefix("a:b");
  const std::string bytes = builder.Finish();
  const FilterBlock block = FilterBlock::Open(bytes);
  for (const char* cell : {"a:b", "a:c"}) {
    EXPECT_TRUE(block.MayMatch(cell).may_match()) << cell;
    EXPECT_TRUE(block.MayMatchRow(cell)) << cell;
    EXPECT_EQ(block.ProbeSection(SectionType::kRowPrefix, cell, ""),
              Verdict::kNotProbed);
  }
  // A prefix without a row in it is looked up whole.
  EXPECT_FALSE(block.MayMatchRow("abc"));
  EXPECT_EQ(block.ProbeSection(SectionType::kRowPrefix, "abc", ""),
            Verdict::kNoMatch);
}

TEST(FilterBlock, RowPrefixOfLengthPrefixedRowsStartsAfterTheLength) {
  const KeyLayout layout = KeyLayout::LengthPrefixed();
  const std::string bytes =
      Build({.bloom_type = BloomType::kRowPrefixFixedLength,
             .key_layout = layout,
             .row_prefix_length = 2},
            {*layout.EncodeRow("abX") + "q"});
  const FilterBlock block = FilterBlock::Open(bytes);
  EXPECT_TRUE(block.MayMatchRow(*layout.EncodeRow("abY")));
  EXPECT_FALSE(block.MayMatchRow(*layout.EncodeRow("acX")));
}

// RocksDB 9.6 and later hand over each key together with its prefix.
TEST(FilterBlock, RepeatedPrefixesCountOnce) {
  FilterBlockBuilder builder({.key_layout = KeyLayout::Delimited(':')});
  for (int key = 0; key < 100; ++key) {
    // Another extractor than the layout's makes prefixes as long as cells.
    builder.AddKey("row:common" + std::to_string(key));
    builder.AddPrefix("row:common");
  }
  const std::string first = builder.Finish();
  const FilterBlock block = FilterBlock::Open(first);
  EXPECT_EQ(Find(block, SectionType::kRow)->keys, 1u);
  EXPECT_EQ(Find(block, SectionType::kRowCol)->keys, 101u);
  EXPECT_TRUE(block.MayMatch("row:common").may_match());
  // The next partition knows the prefix as well.
  builder.AddKey("row:common7");
  builder.AddPrefix("row:common");
  const std::string second = builder.Finish();
  EXPECT_TRUE(FilterBlock::Open(second).MayMatch("row:common").may_match());
}

TEST(FilterBlock, BuilderIsEmptyAfterFinish) {
  FilterBlockBuilder builder({.key_layout = KeyLayout::Delimited(':')});
  EXPECT_EQ(builder.EstimateEntries(), 0u);
  builder.AddKey("outside");
  EXPECT_EQ(builder.EstimateEntries(), 1u) << "zero only if nothing was added";
  builder.AddKey("a:x");
  EXPECT_EQ(builder.EstimateEntries(), 3u) << "a row and two cells";
  const std::string first = builder.Finish();
  EXPECT_EQ(builder.EstimateEntries(), 0u);
  builder.AddKey("b:x");
  const std::string second = builder.Finish();
  EXPECT_FALSE(FilterBlock::Open(second).MayMatchRow("a:"));
  EXPECT_TRUE(FilterBlock::Open(second).MayMatchRow("b:"));
}

TEST(FilterBlock, LargePayloadsStartOnACacheLine) {
  for (const uint64_t rows : {100u, 5'000u, 60'000u}) {
    FilterBlockBuilder builder({.bloom_type = BloomType::kRowCol,
                                .key_layout = KeyLayout::FixedRow(8)});
    const uint64_t columns = 60'000 / rows;
    for (uint64_t i = 0; i < rows * columns; ++i) {
      builder.AddKey(DistinctKey(i / columns) + DistinctKey(i));
    }
    const std::string bytes = builder.Finish();
    const FilterBlock block = FilterBlock::Open(bytes);
    ASSERT_EQ(block.sections().size(), 2u) << block.problem();
    size_t end = 8;  // after the head
    size_t aligned = 0;
    for (const FilterSection& section : block.sections()) {
      const bool large = section.size_bytes >= 65536;
      EXPECT_EQ(section.offset_bytes, large ? (end + 63) / 64 * 64 : end);
      for (; end < section.offset_bytes; ++end) ASSERT_EQ(bytes[end], '\0');
      end += section.size_bytes;
      aligned += large ? 1 : 0;
    }
    EXPECT_EQ(aligned, rows == 60'000 ? 2u : 1u);
    for (uint64_t i = 0; i < rows * columns; ++i) {
      ASSERT_TRUE(block.MayMatch(DistinctKey(i / columns) + DistinctKey(i))
                      .may_match());
    }
  }
}

TEST(FilterBlock, EntriesThatFitFillTheBlockAndNoMore) {
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    FilterBlockBuilder builder(
        {.bloom_type = type, .key_layout = KeyLayout::FixedRow(8)});
    for (const size_t block_bytes : {1u, 200u, 512u, 4096u, 100'000u}) {
      const size_t entries = builder.EntriesThatFit(block_bytes);
      ASSERT_GE(entries, 1u);
      for (uint64_t i = 0; i < entries; ++i) {
        if (type == BloomType::kRow) {
          builder.AddKey(DistinctKey(i));
        } else {  // one row of entries - 1 columns
          builder.AddKey(DistinctKey(0) + (i == 0 ? "" : DistinctKey(i)));
        }
      }
      const size_t size = builder.Finish().size();
      // Each section is rounded up to whole 64-byte blocks.
      EXPECT_LE(size, std::max<size_t>(block_bytes, 100) + 128);
      if (block_bytes > 1000) {
        EXPECT_GE(size, block_bytes * 9 / 10);
      }
    }
  }
}

}  // namespace
}  // namespace rowbloom

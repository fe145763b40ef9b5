// A filter block with damaged bytes answers "may match" to all keys that are in
// it. Under ASan these tests also prove that no length is trusted.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/block/filter_block_builder.h"
#include "lib/block/format.h"
#include "lib/block/hash.h"
#include "rowbloom/filter_block.h"
#include "tests/support/random.h"

namespace rowbloom {
namespace {

using test::Random;
using test::SeedFromEnv;

struct Sample {
  std::string name;
  std::vector<std::string> keys;
  std::string bytes;
};

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol,
                               BloomType::kRowPrefixFixedLength}) {
    const bool prefix = type == BloomType::kRowPrefixFixedLength;
    Sample sample{prefix ? "ROWPREFIX" : std::string(ToString(type)),
                  {"a:x", "a:y", "bb:x", "ccc:", "dddd:longer"},
                  ""};
    FilterBlockBuilder builder({.bloom_type = type,
                                .key_layout = KeyLayout::Delimited(':'),
                                .row_prefix_length = prefix ? 2u : 0u});
    for (const std::string& key : sample.keys) builder.AddKey(key);
    sample.bytes = builder.Finish();
    samples.push_back(sample);
  }
  Sample ribbon{"RIBBON", {}, ""};
  FilterBlockBuilder builder({.bloom_type = BloomType::kRow,
                              .key_layout = KeyLayout::Delimited(':'),
                              .kind = FilterKind::kRibbon});
  for (int i = 100; i < 160; ++i) {
    ribbon.keys.push_back(std::to_string(i) + ":");
    builder.AddKey(ribbon.keys.back());
  }
  ribbon.bytes = builder.Finish();
  ribbon.keys.resize(5);  // 5 of 60 are looked up
  EXPECT_EQ(FilterBlock::Open(ribbon.bytes).sections()[0].kind,
            FilterKind::kRibbon);
  samples.push_back(ribbon);
  return samples;
}

// Makes every lookup that there is.
void ExpectNoFalseNegative(std::string_view bytes, const Sample& sample) {
  const KeyLayout layout = KeyLayout::Delimited(':');
  const FilterBlock block = FilterBlock::Open(bytes);
  const std::vector<std::string_view> keys(sample.keys.begin(),
                                           sample.keys.end());
  std::vector<MatchResult> results(keys.size());
  block.MayMatch(keys, results);
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto split = layout.Split(keys[i]);
    ASSERT_TRUE(results[i].may_match());
    ASSERT_TRUE(block.MayMatch(keys[i]).may_match());
    ASSERT_TRUE(block.MayMatchRow(split->row));
    ASSERT_TRUE(block.MayMatchRowCol(split->row, split->qualifier));
  }
  for (const FilterSection& section : block.sections()) {
    block.FillRatio(section);
    FilterBlock::ExpectedFalsePositiveRate(section);
  }
}

class Damage : public testing::TestWithParam<size_t> {
 protected:
  Sample sample_ = Samples()[GetParam()];
};

INSTANTIATE_TEST_SUITE_P(FilterBlock, Damage, testing::Range<size_t>(0, 4),
                         [](const auto& test) {
                           return Samples()[test.param].name;
                         });

TEST_P(Damage, EveryByteSetToEveryValueIsSafe) {
  for (size_t at = 0; at < sample_.bytes.size(); ++at) {
    std::string bytes = sample_.bytes;
    for (int value = 0; value < 256; ++value) {
      bytes[at] = static_cast<char>(value);
      ASSERT_TRUE(FilterBlock::IsFilterBlock(bytes))
          << "one bad byte must not make it a foreign filter";
      ExpectNoFalseNegative(bytes, sample_);
      if (HasFatalFailure()) {
        FAIL() << "byte " << at << " set to " << value;
      }
    }
  }
}

TEST_P(Damage, EveryTruncationIsSafe) {
  for (size_t length = 0; length < sample_.bytes.size(); ++length) {
    // Exact copies, so that ASan sees a read past the end.
    const std::vector<char> front(sample_.bytes.begin(),
                                  sample_.bytes.begin() + length);
    ExpectNoFalseNegative({front.data(), front.size()}, sample_);
    const std::vector<char> back(sample_.bytes.end() - length,
                                 sample_.bytes.end());
    ExpectNoFalseNegative({back.data(), back.size()}, sample_);
    if (length >= 8) {
      EXPECT_TRUE(FilterBlock::IsFilterBlock({front.data(), front.size()}));
      EXPECT_TRUE(FilterBlock::IsFilterBlock({back.data(), back.size()}));
    }
    if (HasFatalFailure()) FAIL() << "length " << length;
  }
}

TEST_P(Damage, RandomBytesBetweenHeadAndTailAreSafe) {
  Random random(SeedFromEnv());
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(format::kHead);
    bytes += random.Bytes(random.Below(120));
    bytes += format::kVersion;
    bytes += format::kTail;
    ExpectNoFalseNegative(bytes, sample_);
  }
}

// One entry of the directory.
struct DirectoryEntry {
  uint8_t type = 0;
  uint8_t kind = 0;
  uint8_t probes = 0;
  uint32_t scope = 0;
  uint32_t offset = 0;
  uint32_t size = 0;
  uint32_t keys = 0;
  uint32_t checksum = 0;
};

// Directories whose checksum is right and whose claims are not.
class ForgedDirectory : public testing::Test {
 protected:
  static std::string Forge(const DirectoryEntry& first,
                           const std::string& layout_id = "delimited::",
                           uint8_t version = format::kVersion,
                           const std::string& attributes = "",
                           std::vector<DirectoryEntry> entries = {}) {
    entries.insert(entries.begin(), first);
    std::string directory;
    for (const DirectoryEntry& entry : entries) {
      PutFixed(&directory, entry.type, 1);
      PutFixed(&directory, entry.kind, 1);
      PutFixed(&directory, entry.probes, 1);
      PutFixed(&directory, 0, 1);
      PutFixed(&directory, entry.scope, 4);
      PutFixed(&directory, entry.offset, 4);
      PutFixed(&directory, entry.size, 4);
      PutFixed(&directory, entry.keys, 4);
      PutFixed(&directory, entry.checksum, 4);
    }
    directory += attributes;
    directory += layout_id;
    std::string end;
    PutFixed(&end, layout_id.size(), 2);
    PutFixed(&end, attributes.size(), 2);
    PutFixed(&end, entries.size(), 1);
    PutFixed(&end, version, 1);
    end += format::kTail;
    std::string bytes(format::kHead);
    bytes += std::string(64, '\0');
    bytes += directory;
    PutFixed(&bytes, Checksum(directory, Checksum(end)), 8);
    return bytes + end;
  }

  // A section of 64 zero bytes: it would rule out everything.
  static DirectoryEntry Entry() {
    return {.type = static_cast<uint8_t>(SectionType::kRow),
            .kind = static_cast<uint8_t>(FilterKind::kBloom),
            .probes = 6,
            .offset = 8,
            .size = 64,
            .keys = 1,
            .checksum = static_cast<uint32_t>(Checksum(std::string(64, '\0')))};
  }

  static void ExpectUnusableSection(const DirectoryEntry& entry,
                                    const std::string& problem) {
    const std::string bytes = Forge(entry);
    const FilterBlock block = FilterBlock::Open(bytes);
    ASSERT_EQ(block.problem(), "");
    ASSERT_EQ(block.sections().size(), 1u);
    EXPECT_NE(block.sections()[0].problem.find(problem), std::string::npos)
        << block.sections()[0].problem;
    EXPECT_TRUE(block.MayMatchRow("a:"));
    EXPECT_EQ(block.MayMatch("a:x").row(), Verdict::kUnusable);
  }
};

TEST_F(ForgedDirectory, RightClaimsAreBelieved) {
  const std::string bytes = Forge(Entry());
  const FilterBlock block = FilterBlock::Open(bytes);
  ASSERT_TRUE(block.usable());
  ASSERT_TRUE(block.sections()[0].usable()) << block.sections()[0].problem;
  EXPECT_FALSE(block.MayMatchRow("a:"));
}

TEST_F(ForgedDirectory, SectionOutsideTheBlockIsUnusable) {
  DirectoryEntry entry = Entry();
  entry.offset = 0xffffffff;
  ExpectUnusableSection(entry, "section at offset 4294967295: 64 bytes");
  entry = Entry();
  entry.offset = 0;
  ExpectUnusableSection(entry, "expected them between 8 and 72");
  entry = Entry();
  entry.size = 0xffffffc0;
  ExpectUnusableSection(entry, "4294967232 bytes");
  entry = Entry();
  entry.offset = 9;
  ExpectUnusableSection(entry, "section at offset 9");
}

// Each would be read: 255 of them take a second for each 40 MB of the block.
TEST_F(ForgedDirectory, SectionsThatOverlapAreUnusable) {
  DirectoryEntry second = Entry();
  second.type = static_cast<uint8_t>(SectionType::kRowCol);
  const std::string bytes =
      Forge(Entry(), "delimited::", format::kVersion, "", {second});
  const FilterBlock block = FilterBlock::Open(bytes);
  ASSERT_EQ(block.sections().size(), 2u);
  EXPECT_EQ(block.sections()[0].problem, "");
  EXPECT_EQ(block.sections()[1].problem,
            "section at offset 8: 64 bytes, expected them between 72 and 72");
}

TEST_F(ForgedDirectory, ClaimsOutOfRangeMakeASectionUnusable) {
  DirectoryEntry entry = Entry();
  entry.kind = 3;
  ExpectUnusableSection(entry, "unknown filter kind 3");
  entry = Entry();
  entry.probes = 0;
  ExpectUnusableSection(entry, "0 probes, expected 1 to 16");
  entry = Entry();
  entry.probes = 17;
  ExpectUnusableSection(entry, "17 probes");
  entry = Entry();
  entry.size = 63;
  ExpectUnusableSection(entry, "63 bytes for 1 keys");
  entry = Entry();
  entry.size = 0;
  ExpectUnusableSection(entry, "0 bytes for 1 keys");
  entry = Entry();
  entry.keys = 0;
  ExpectUnusableSection(entry, "64 bytes for 0 keys");
  entry = Entry();
  entry.type = static_cast<uint8_t>(SectionType::kRowPrefix);
  ExpectUnusableSection(entry, "row prefix of 0 bytes, expected 1 to 65535");
  entry = Entry();
  entry.checksum ^= 1;
  ExpectUnusableSection(entry, "checksum");
}

TEST_F(ForgedDirectory, UnknownSectionTypeIsShownAndNotAsked) {
  DirectoryEntry entry = Entry();
  entry.type = 9;
  const std::string bytes = Forge(entry);
  const FilterBlock block = FilterBlock::Open(bytes);
  ASSERT_TRUE(block.usable());
  EXPECT_EQ(ToString(block.sections()[0].type), "unknown");
  EXPECT_TRUE(block.MayMatchRow("a:"));
  EXPECT_EQ(block.MayMatch("a:x").row(), Verdict::kNotProbed);
}

TEST_F(ForgedDirectory, UnknownLayoutOrVersionMakesTheBlockUnusable) {
  for (const std::string& id :
       {std::string("custom:unregistered"), std::string("snake"),
        std::string("fixed:0"), std::string()}) {
    const std::string bytes = Forge(Entry(), id);
    const FilterBlock block = FilterBlock::Open(bytes);
    EXPECT_FALSE(block.usable()) << id;
    EXPECT_TRUE(block.MayMatchRow("a:"));
    EXPECT_EQ(block.MayMatch("a:x").row(), Verdict::kUnusable);
    EXPECT_EQ(block.ProbeSection(SectionType::kRow, "a:", ""),
              Verdict::kUnusable);
  }
  for (const int version : {0, 2, 255}) {
    const std::string bytes =
        Forge(Entry(), "delimited::", static_cast<uint8_t>(version));
    const FilterBlock block = FilterBlock::Open(bytes);
    EXPECT_NE(block.problem().find("version " + std::to_string(version)),
              std::string::npos)
        << block.problem();
    EXPECT_TRUE(block.MayMatchRow("a:"));
  }
}

TEST_F(ForgedDirectory, AttributesThatAreNotUnderstoodChangeNothing) {
  const auto origin = [](const std::string& attributes) {
    const std::string bytes =
        Forge(Entry(), "delimited::", format::kVersion, attributes);
    const FilterBlock block = FilterBlock::Open(bytes);
    EXPECT_TRUE(block.usable());
    EXPECT_EQ(block.layout_id(), "delimited::");
    EXPECT_FALSE(block.MayMatchRow("a:"));
    return block.origin();
  };
  EXPECT_EQ(origin("\x01\x02"
                   "cf"
                   "\x02\x01\x05"),
            (FileOrigin{"cf", 5}));
  EXPECT_EQ(origin("\x09\x03new\x02\x01\x05"), (FileOrigin{"", 5}));
  EXPECT_EQ(origin("\x02\x02\x05\x06"), FileOrigin()) << "a level of two bytes";
  EXPECT_EQ(origin("\x01\xff"
                   "cf"),
            FileOrigin())
      << "longer than there is";
  EXPECT_EQ(origin("\x02"), FileOrigin());
}

TEST(FilterBlock, ForeignBytesAreNotTakenForOurs) {
  for (const std::string& bytes :
       {std::string(), std::string(100, '\0'), std::string("ROWBLOO"),
        std::string(64, 'x') + "\xff\x00\x06\x00\x00"}) {
    EXPECT_FALSE(FilterBlock::IsFilterBlock(bytes));
    EXPECT_TRUE(FilterBlock::Open(bytes).MayMatchRow("a:"));
    EXPECT_FALSE(FilterBlock::Open(bytes).usable());
  }
}

}  // namespace
}  // namespace rowbloom

// Table files of several RocksDB versions (tests/data/tables) have the cells
// that their version's own tools read in them. What is not read is refused by
// name, and all else of such a file is still there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <regex>
#include <string>
#include <tuple>
#include <vector>

#include "rowbloom/filter_block.h"
#include "tests/support/data.h"
#include "tests/support/files.h"
#include "tests/support/hex.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/sst/make_sst.h"
#include "tools/sst/data_cursor.h"
#include "tools/sst/index_cursor.h"
#include "tools/sst/sst_file.h"
#include "tools/sst/stock_filter.h"

namespace rowbloom::sst::tables_test {
namespace {

using rocksdb::Status;
using test::IsOk;
using test::StatusIs;
using testing::HasSubstr;

// Tests that name no version are of what only 11.8 writes.
std::string Table(const std::string& name,
                  const std::string& version = "11.8.1") {
  return test::DataPath("tables/" + version + "/" + name);
}

// Key, sequence number, type and value.
using Entry = std::tuple<std::string, uint64_t, int, std::string>;
using Entries = std::vector<Entry>;

// The value to compare. An entity counts as empty: sst_dump prints it in a form
// that depends on its columns.
std::string ValueOf(int type, const std::string& value) {
  return type == static_cast<int>(EntryType::kWideColumnEntity) ? "" : value;
}

// The entries that `sst_dump --command=scan --output_hex` printed to a file.
Entries Scanned(const std::string& path) {
  static const std::regex form("'([0-9A-F]*)' seq:(\\d+), type:(\\d+) => (.*)");
  std::ifstream in(path);
  Entries entries;
  for (std::string line; std::getline(in, line);) {
    std::smatch parts;
    if (!std::regex_match(line, parts, form)) {
      ADD_FAILURE() << path << ": " << line;
      continue;
    }
    const int type = std::stoi(parts[3]);
    entries.emplace_back(test::FromHex(parts[1]), std::stoull(parts[2]), type,
                         ValueOf(type, test::FromHex(parts[4])));
  }
  EXPECT_FALSE(entries.empty()) << path;
  return entries;
}

Entries ReadAll(const SstFile& file) {
  Entries entries;
  DataCursor data(file);
  while (data.Next()) {
    const InternalKey& key = data.key();
    const int type = static_cast<int>(key.type);
    entries.emplace_back(key.user_key, key.sequence, type,
                         ValueOf(type, std::string(data.value())));
  }
  EXPECT_THAT(data.status(), IsOk());
  return entries;
}

struct Case {
  std::string version;
  std::string name;

  std::string Path() const { return Table(name + ".sst", version); }
  std::string ScanPath() const {
    const std::string cells = name == "flushed" ? name : "cells";
    return Table(cells + ".scan.txt", version);
  }
};

void PrintTo(const Case& test_case, std::ostream* out) {
  *out << test_case.version << " " << test_case.name;
}

std::string NameOf(const testing::TestParamInfo<Case>& test_case) {
  return test_case.param.name;
}

auto Of(const std::string& version, const std::vector<std::string>& names) {
  std::vector<Case> cases;
  for (const std::string& name : names) cases.push_back({version, name});
  return testing::ValuesIn(cases);
}

class Tables : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Of10_11_2, Tables,
                         Of("10.11.2", {"aligned", "dictionary", "flushed",
                                        "hash", "partitioned", "row", "rowcol",
                                        "rowcol_partitioned", "user_index"}),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(
    Of11_8_1, Tables,
    Of("11.8.1", {"aligned", "apart", "apart_hash", "dictionary", "even",
                  "even_partitioned", "flushed", "row", "rowcol",
                  "rowcol_partitioned", "trie", "trie_primary"}),
    NameOf);

TEST_P(Tables, EntriesAreThoseThatRocksDbReads) {
  const auto file = test::OpenSst(GetParam().Path());
  EXPECT_EQ(file->footer().format_version, 7U);
  EXPECT_EQ(ReadAll(*file), Scanned(GetParam().ScanPath()));
}

// Whatever byte of a block is wrong, with a checksum that is right, the walk
// ends, and an error names the block.
TEST_P(Tables, DamagedBlocksAreReadWithinTheirBounds) {
  const test::TempDir dir;
  const std::string path = dir.File("damaged.sst");
  test::WriteFile(path, test::ReadFile(GetParam().Path()));
  BlockHandle block;
  {
    const auto file = test::OpenSst(path);
    DataCursor data(*file);
    ASSERT_TRUE(data.NextBlock());
    block = data.block();
  }
  size_t refused = 0;
  for (size_t i = 0; i < block.size_bytes; ++i) {
    const auto flip = [i](std::string* contents) {
      (*contents)[i] = static_cast<char>(~(*contents)[i]);
    };
    test::ChangeBlock(path, block, flip);
    const auto file = test::OpenSst(path);
    DataCursor data(*file);
    while (data.Next()) {
      ASSERT_LE(data.value().size(), data.contents_bytes());
    }
    if (!data.status().ok()) {
      ++refused;
      ASSERT_TRUE(data.status().IsCorruption()) << data.status().ToString();
      ASSERT_THAT(data.status().getState(), HasSubstr("block at offset 0: "));
    }
    test::ChangeBlock(path, block, flip);
  }
  EXPECT_GT(refused, 0U);
}

// A block's footer says where its values are, and that it has a hash index. Its
// last byte has the flags from 2^24 on (block.h).
TEST(TablesBlocks, SayThatTheirValuesAreApartAndThatTheyHaveAHashIndex) {
  for (const Case& of : {Case{"10.11.2", "hash"}, Case{"10.11.2", "rowcol"},
                         Case{"11.8.1", "apart"}, Case{"11.8.1", "apart_hash"},
                         Case{"11.8.1", "rowcol"}}) {
    SCOPED_TRACE(of.Path());
    const auto file = test::OpenSst(of.Path());
    DataCursor data(*file);
    ASSERT_TRUE(data.NextBlock());
    BlockReader reader(*file);
    std::string_view contents;
    ASSERT_THAT(reader.ReadData(data.block(), &contents), IsOk());
    const EntryCursor entries(contents, ValueForm::kData);
    EXPECT_EQ((contents.back() & 0x10) != 0, of.name.starts_with("apart"));
    EXPECT_EQ(entries.has_hash_index(), of.name.ends_with("hash"));
  }
}

TEST(TablesEven, SayThatTheKeysOfTheirIndexAreEven) {
  for (const char* name : {"even.sst", "rowcol.sst"}) {
    const auto file = test::OpenSst(Table(name));
    BlockReader reader(*file);
    std::string_view contents;
    ASSERT_THAT(reader.ReadMeta(*file->index().handle, &contents), IsOk());
    EXPECT_EQ((contents.back() & 0x20) != 0, name == std::string("even.sst"));
  }
}

// The filter blocks of a file, and the number of keys that they let pass of
// those given.
size_t CountMatches(const SstFile& file, const std::vector<std::string>& keys) {
  std::vector<FilterPartition> partitions;
  EXPECT_THAT(file.FilterPartitions(&partitions), IsOk());
  EXPECT_FALSE(partitions.empty());
  size_t matches = 0;
  for (const std::string& key : keys) {
    auto found = partitions.begin();
    // An absent key may come after all partitions.
    while (found + 1 != partitions.end() && found->index_key < key) ++found;
    std::string block;
    EXPECT_THAT(file.ReadBlock(found->handle, &block), IsOk());
    const FilterBlock rowbloom = FilterBlock::Open(block);
    const bool is_match = rowbloom.usable()
                              ? rowbloom.MayMatch(key).may_match()
                              : StockFilter::Open(block).MayMatch(key);
    matches += is_match ? 1 : 0;
  }
  return matches;
}

class TablesFilters : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Of10_11_2, TablesFilters,
                         Of("10.11.2", {"custom", "hash", "partitioned", "row",
                                        "rowcol", "rowcol_partitioned"}),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Of11_8_1, TablesFilters,
                         Of("11.8.1", {"custom", "even", "even_partitioned",
                                       "row", "rowcol", "rowcol_partitioned"}),
                         NameOf);

TEST_P(TablesFilters, LetEveryKeyPassAndFewOthers) {
  std::vector<std::string> present;
  for (const Entry& entry : Scanned(GetParam().ScanPath())) {
    present.push_back(std::get<0>(entry));
  }
  std::vector<std::string> absent;
  for (int i = 0; i < 200; ++i) {
    absent.push_back("user" + std::to_string(1000 + i) + ":mail");
  }
  const auto file = test::OpenSst(GetParam().Path());
  EXPECT_EQ(CountMatches(*file, present), present.size());
  EXPECT_LE(CountMatches(*file, absent), absent.size() / 20);
}

// The cells of the file with embedded blobs as RocksDB reads them.
std::vector<std::pair<std::string, std::string>> ReadBlobs(const SstFile& file,
                                                           Status* status,
                                                           size_t* blobs) {
  std::vector<std::pair<std::string, std::string>> cells;
  DataCursor data(file);
  EmbeddedBlobReader reader(file);
  while (data.Next()) {
    std::string value(data.value());
    if (IsEmbeddedBlob(file, data.key().type, data.value())) {
      ++*blobs;
      *status = reader.Read(data.value(), &value);
      if (!status->ok()) return cells;
    }
    cells.emplace_back(data.key().user_key, value);
  }
  *status = data.status();
  return cells;
}

TEST(TablesBlobs, ValuesAreThoseThatRocksDbReads) {
  const auto file = test::OpenSst(Table("blobs.sst"));
  EXPECT_TRUE(file->has_embedded_blobs());
  Status status;
  size_t blobs = 0;
  auto cells = ReadBlobs(*file, &status, &blobs);
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(blobs, 8U);
  // RocksDB's iterator gives no value for an entity without a default column.
  ASSERT_EQ(cells.back().first, "user0030:");
  cells.back().second.clear();
  std::ifstream in(Table("blobs.read.txt"));
  std::string key;
  std::string value;
  std::vector<std::pair<std::string, std::string>> expected;
  while (in >> key >> value) {
    expected.emplace_back(test::FromHex(key), test::FromHex(value));
  }
  EXPECT_EQ(cells, expected);
}

TEST(TablesBlobs, DamageIsNamedWithThePlaceOfTheRecord) {
  const test::TempDir dir;
  const std::string path = dir.File("damaged.sst");
  test::WriteFile(path, test::ReadFile(Table("blobs.sst")));
  test::WriteByte(path, 0, 'x');  // the first record is the first in the file
  const auto file = test::OpenSst(path);
  Status status;
  size_t blobs = 0;
  EXPECT_TRUE(ReadBlobs(*file, &status, &blobs).empty());
  EXPECT_THAT(status, StatusIs(Status::kCorruption,
                               HasSubstr("damaged.sst: block at offset 0: xxh3 "
                                         "checksum")));
}

TEST(TablesBlobs, ReferencesAreNotBelieved) {
  const auto file = test::OpenSst(Table("blobs.sst"));
  const auto other = test::OpenSst(Table("rowcol.sst"));
  using namespace std::string_literals;
  const std::string reference = "\1\0\0\x50\0"s;
  EXPECT_TRUE(IsEmbeddedBlob(*file, EntryType::kBlobIndex, reference));
  EXPECT_FALSE(IsEmbeddedBlob(*file, EntryType::kPut, reference));
  EXPECT_FALSE(IsEmbeddedBlob(*other, EntryType::kBlobIndex, reference));
  // A blob file, and a value with a time to live.
  EXPECT_FALSE(IsEmbeddedBlob(*file, EntryType::kBlobIndex, "\1\7\0\x50\0"s));
  EXPECT_FALSE(IsEmbeddedBlob(*file, EntryType::kBlobIndex, "\2\0\0\x50\0"s));
  const auto read = [&file](const std::string& value) {
    std::string contents;
    return EmbeddedBlobReader(*file).Read(value, &contents);
  };
  for (const std::string& malformed :
       {""s, "\1"s, "\1\0"s, "\1\0\0"s, "\1\0\0\x50"s, "\1\0\0\x50\0\0"s}) {
    EXPECT_THAT(read(malformed),
                StatusIs(Status::kCorruption,
                         HasSubstr("blobs.sst: malformed place of a value of " +
                                   std::to_string(malformed.size()))));
  }
  EXPECT_THAT(read("\1\0\0\xff\xff\x03\0"s),
              StatusIs(Status::kCorruption,
                       HasSubstr("block at offset 0: 65535 bytes, expected it "
                                 "to end before the footer")));
  // No record is read again and again.
  EmbeddedBlobReader reader(*file);
  std::string contents;
  EXPECT_THAT(reader.Read(reference, &contents), IsOk());
  EXPECT_EQ(contents, std::string(80, 'a'));
  EXPECT_THAT(reader.Read(reference, &contents),
              StatusIs(Status::kCorruption,
                       HasSubstr("blobs.sst: embedded blob at offset 0: "
                                 "expected at offset 85 or later")));
}

class TablesRefused : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Of10_11_2, TablesRefused, Of("10.11.2", {"custom"}),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Of11_8_1, TablesRefused, Of("11.8.1", {"custom"}),
                         NameOf);

TEST_P(TablesRefused, CodecsOfAnotherManagerAreNamedAndAllElseIsThere) {
  const auto file = test::OpenSst(GetParam().Path());
  EXPECT_EQ(file->foreign_manager(), "GoldenCodecs");
  EXPECT_EQ(file->NumberProperty("rocksdb.num.entries"), 61U);
  IndexCursor index(*file);
  EXPECT_FALSE(index.Next());
  EXPECT_THAT(index.status(),
              StatusIs(Status::kNotSupported,
                       HasSubstr("custom.sst: block at offset ")));
  EXPECT_THAT(index.status().getState(),
              HasSubstr("compressed with Custom81 by the compression manager "
                        "GoldenCodecs, expected RocksDB's own"));
  size_t ranges = 0;
  EXPECT_THAT(ForEachRangeDeletion(
                  *file, [&ranges](const RangeDeletion&) { ++ranges; }),
              IsOk());
  EXPECT_EQ(ranges, 1U);
}

}  // namespace
}  // namespace rowbloom::sst::tables_test

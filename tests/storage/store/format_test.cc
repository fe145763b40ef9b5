// FORMAT.md's examples against the bytes that the store writes, and the answers
// to bytes that it does not write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "rowbloom/printable.h"
#include "storage/cells/cell_value.h"
#include "tests/storage/store/test_store.h"

namespace rowbloom::test::format_test {
namespace {

using rocksdb::Status;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uint64_t kNow = 1'700'000'000'000;

// The fenced blocks of FORMAT.md, in order.
std::vector<std::string> FencedBlocks() {
  std::ifstream in(ROWBLOOM_STORE_DIR "/FORMAT.md");
  EXPECT_TRUE(in.is_open());
  std::vector<std::string> blocks;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line == "```") {
      inside = !inside;
      if (inside) blocks.emplace_back();
    } else if (inside) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

// The bytes of each named part of an annotated block: hex pairs up to two
// spaces.
std::map<std::string, std::string> ParseHex(const std::string& block) {
  std::map<std::string, std::string> parts;
  std::string part;
  std::istringstream lines(block);
  for (std::string line; std::getline(lines, line);) {
    if (line == "key" || line == "value") {
      part = line;
      continue;
    }
    std::istringstream pairs(line.substr(0, line.find("  ")));
    for (std::string pair; pairs >> pair;) {
      parts[part] += static_cast<char>(std::stoi(pair, nullptr, 16));
    }
  }
  return parts;
}

// `key  value` lines.
std::map<std::string, std::string> ParseRecords(const std::string& block) {
  std::map<std::string, std::string> records;
  std::istringstream lines(block);
  for (std::string line; std::getline(lines, line);) {
    const size_t key_end = line.find(' ');
    records[line.substr(0, key_end)] =
        line.substr(line.find_first_not_of(' ', key_end));
  }
  return records;
}

std::map<std::string, std::string> ReadAllRaw(Database* database,
                                              const std::string& family) {
  std::map<std::string, std::string> all;
  const std::unique_ptr<rocksdb::Iterator> it((*database)->NewIterator(
      rocksdb::ReadOptions(), database->Find(family).get()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    all[it->key().ToString()] = it->value().ToString();
  }
  EXPECT_THAT(it->status(), IsOk());
  return all;
}

class StoreFormat : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto store = OpenOrFail(
        {}, path_,
        {{"info", {}},
         {"log", {.timestamps = Timestamps::kClient, .max_versions = 2}}},
        [] { return kNow; });
    ASSERT_THAT(store->Put(std::string("a\0b", 3), "info", "mail", "x@y"),
                IsOk());
    // Out of order; the version at 400 is surplus, the one at 200 deleted.
    ASSERT_THAT(store->DeleteVersion("a", "log", "q", {.timestamp_ms = 800}),
                IsOk());
    ASSERT_THAT(store->Delete("a", "log", "q", {.timestamp_ms = 300}), IsOk());
    for (const uint64_t timestamp_ms : {400, 500, 200, 600}) {
      ASSERT_THAT(store->Put("a", "log", "q", std::to_string(timestamp_ms),
                             {.timestamp_ms = timestamp_ms}),
                  IsOk());
    }
  }

  Status Reopen() {
    std::unique_ptr<Store> store;
    return Store::Open({}, path_, {}, &store);
  }

  TempDir dir_;
  const std::string path_ = dir_.File("db");
};

TEST_F(StoreFormat, ExampleOfFormatMdIsWhatTheStoreWrites) {
  const std::vector<std::string> blocks = FencedBlocks();
  ASSERT_EQ(blocks.size(), 3u);
  const auto cell = ParseHex(blocks[0]);
  const auto versioned = ParseHex(blocks[1]);
  const auto records = ParseRecords(blocks[2]);
  ASSERT_EQ(cell.size(), 2u);
  ASSERT_EQ(versioned.size(), 2u);
  ASSERT_EQ(records.size(), 4u);

  Database database;
  ASSERT_NO_FATAL_FAILURE(OpenRaw(path_, &database));
  const std::map<std::string, std::string> expected_cells = {
      {cell.at("key"), cell.at("value")}};
  EXPECT_EQ(ReadAllRaw(&database, "info"), expected_cells);
  const std::map<std::string, std::string> expected_versions = {
      {versioned.at("key"), versioned.at("value")}};
  EXPECT_EQ(ReadAllRaw(&database, "log"), expected_versions);
  EXPECT_EQ(ReadAllRaw(&database, "default"), records);
}

// A later format_version, which newer RocksDBs have as default, is one that 7.8
// cannot read. Opening writes what the log has, the records among it, to SSTs.
TEST_F(StoreFormat, EveryTableCanBeReadByRocksDb78) {
  OpenOrFail({}, path_, {});
  int tables = 0;
  for (const auto& [name, bytes] : Contents(path_)) {
    if (!name.ends_with(".sst")) continue;
    ++tables;
    // The version stands before the magic number, little-endian.
    ASSERT_GT(bytes.size(), 12u);
    EXPECT_EQ(bytes.substr(bytes.size() - 12, 4), std::string("\5\0\0\0", 4))
        << name;
  }
  EXPECT_EQ(tables, 3) << "of the records and of the families";
}

TEST_F(StoreFormat, EveryOptionComesBack) {
  const FamilyOptions options = {BloomType::kRowPrefixFixedLength,
                                 FilterKind::kRibbon,
                                 0.1 + 0.2,
                                 7,
                                 Compression::kNone,
                                 4096,
                                 Timestamps::kClient,
                                 UINT32_MAX,
                                 3,
                                 kMaxTimestampMs,
                                 Compression::kZstd,
                                 1 << 20,
                                 1 << 30};
  OpenOrFail({}, path_, {{"odd", options}});
  const auto store = OpenOrFail({}, path_, {});
  EXPECT_EQ(store->Families().at("odd"), options);
  EXPECT_EQ(store->Families().at("info"), FamilyOptions());
}

TEST_F(StoreFormat, EveryShorterValueAndEveryOtherVersionIsCorruption) {
  const std::string key(
      "a\0\xff"
      "b\0\1mail",
      10);
  std::vector<std::pair<std::string, std::string>> cases;
  for (const uint64_t ttl_ms : {kNoTtl, uint64_t{5}}) {
    const std::string good = EncodeCellHead(kNow, ttl_ms);
    for (size_t bytes = 0; bytes < good.size(); ++bytes) {
      cases.emplace_back(good.substr(0, bytes),
                         "expected a value of at least " +
                             std::to_string(bytes == 0 ? 9 : good.size()) +
                             " bytes, found " + std::to_string(bytes));
    }
  }
  for (const int version : {0, 2, 4, 127, 255}) {
    std::string value = EncodeCellHead(kNow, /*ttl_ms=*/5);
    value[0] = static_cast<char>(version);
    cases.emplace_back(value,
                       "expected a value of format version 1 or 3, found " +
                           std::to_string(version));
  }
  cases.emplace_back(EncodeCellHead(kNow, kMaxTimestampMs + 1),
                     "expected a TTL of at most 9223372036854775807, found "
                     "9223372036854775808");
  cases.emplace_back(EncodeCellHead(kMaxTimestampMs + 1, kNoTtl),
                     "expected a timestamp of at most 9223372036854775807, "
                     "found 9223372036854775808");
  for (const auto& [value, problem] : cases) {
    ASSERT_NO_FATAL_FAILURE(PutRaw(path_, "info", key, value));
    const auto store = OpenOrFail({}, path_, {});
    const auto is_corruption =
        StatusIs(Status::kCorruption,
                 HasSubstr("row \"a\\x00b\", cell info:mail: " + problem));
    std::optional<std::string> found;
    EXPECT_THAT(store->Get(std::string("a\0b", 3), "info", "mail", &found),
                is_corruption);
    std::vector<Cell> cells;
    EXPECT_THAT(store->GetRow(std::string("a\0b", 3), &cells), is_corruption);
  }
}

// A program that goes on from the token would else pass over the row.
TEST_F(StoreFormat, TheTokenOfAScanThatFailsLeadsToTheRowThatFailed) {
  {
    const auto store = OpenOrFail({}, path_, {});
    for (const char* row : {"c", "d", "e"}) {
      ASSERT_THAT(store->Put(row, "info", "q", "v"), IsOk());
    }
  }
  const std::string key("d\0\1q", 4);
  ScanOptions options{.start_row = "c"};
  for (const bool damaged : {true, false}) {
    ASSERT_NO_FATAL_FAILURE(PutRaw(
        path_, "info", key, damaged ? "" : EncodeCellHead(kNow, kNoTtl) + "v"));
    const auto store = OpenOrFail({}, path_, {});
    RowScanner rows = ScanOf(*store, options);
    std::string names;
    for (const Row& row : rows) names += row.row;
    EXPECT_EQ(names, damaged ? "c" : "de");
    EXPECT_EQ(rows.status().IsCorruption(), damaged);
    options.token = rows.Token();
  }
}

TEST_F(StoreFormat, ValueOfNoBytesIsAValue) {
  const auto store = OpenOrFail({}, path_, {});
  ASSERT_THAT(store->Put("r", "info", "q", ""), IsOk());
  std::optional<std::string> value = "unchanged";
  ASSERT_THAT(store->Get("r", "info", "q", &value), IsOk());
  EXPECT_EQ(value, "");
}

// The record of a family in which a member has this value.
std::string FamilyWith(const std::string& member, const std::string& value) {
  std::map<std::string, std::string> members = {
      {"cell_format", "\"latest\""}, {"bloom_type", "\"ROW\""},
      {"compression", "\"LZ4\""},    {"false_positive_rate", "0.01"},
      {"row_prefix_length", "0"},    {"block_size_bytes", "16384"},
      {"timestamps", "\"store\""},   {"max_versions", "1"},
      {"min_versions", "0"},         {"ttl_ms", "0"}};
  members[member] = value;
  std::string record;
  for (const auto& [name, text] : members) {
    record += (record.empty() ? "{\"" : ",\"") + name + "\":" + text;
  }
  return record + "}";
}

struct RecordCase {
  const char* key;
  std::string value;
  Status::Code code;
  const char* message;
};

void PrintTo(const RecordCase& record, std::ostream* out) {
  *out << record.key << " " << record.value;
}

class StoreRecord : public StoreFormat,
                    public ::testing::WithParamInterface<RecordCase> {};

TEST_P(StoreRecord, OfAnotherVersionOrDamagedIsNotOpened) {
  const RecordCase& param = GetParam();
  ASSERT_NO_FATAL_FAILURE(PutRaw(path_, "default", param.key, param.value));
  EXPECT_THAT(Reopen(),
              StatusIs(param.code, AllOf(HasSubstr(path_ + ": record \"" +
                                                   param.key + "\": "),
                                         HasSubstr(param.message))));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, StoreRecord,
    ::testing::Values(
        RecordCase{"store", R"({"format":2,"key_layout":"escaped","x":1})",
                   Status::kNotSupported, "store format 2"},
        RecordCase{"store", R"({"format":1,"key_layout":"escaped","x":1})",
                   Status::kNotSupported, "option \"x\" is of a later version"},
        RecordCase{"store", R"({"key_layout":"escaped"})", Status::kCorruption,
                   "field \"format\": expected a whole number"},
        RecordCase{"store", R"({"format":1})", Status::kCorruption,
                   "field \"key_layout\": expected a string, found none"},
        RecordCase{"store",
                   R"({"format":1,"key_layout":"escaped",
                       "row_aligned_files":"yes"})",
                   Status::kCorruption,
                   "field \"row_aligned_files\": expected true or false"},
        RecordCase{"store", R"({"format":1,"key_layout":"wide"})",
                   Status::kNotSupported, "unknown key layout \"wide\""},
        RecordCase{"store", R"({"format":1,"key_layout":"u16"})",
                   Status::kNotSupported, "u16"},
        RecordCase{"store", "not json", Status::kCorruption,
                   "expected a JSON object, found \"not json\""},
        RecordCase{"store", "[1]", Status::kCorruption,
                   "expected a JSON object"},
        RecordCase{"family/info", "", Status::kCorruption,
                   "expected a JSON object"},
        RecordCase{"family/info", R"({"cell_format":"wide"})",
                   Status::kNotSupported, "cell_format \"wide\""},
        RecordCase{"family/info", R"({"cell_format":7})", Status::kCorruption,
                   "field \"cell_format\": expected a string, found 7"},
        RecordCase{"family/info", FamilyWith("later", "5"),
                   Status::kNotSupported,
                   "option \"later\" is of a later version"},
        RecordCase{"family/info", FamilyWith("compression", "\"ZIP\""),
                   Status::kNotSupported, "compression \"ZIP\""},
        RecordCase{"family/info", FamilyWith("bloom_type", "\"COL\""),
                   Status::kNotSupported, "COL"},
        RecordCase{"family/info", FamilyWith("row_prefix_length", "-1"),
                   Status::kCorruption,
                   "field \"row_prefix_length\": expected a whole number"},
        RecordCase{"family/info", FamilyWith("block_size_bytes", "4294967296"),
                   Status::kCorruption,
                   "field \"block_size_bytes\": expected a whole number"},
        RecordCase{"family/info", FamilyWith("max_versions", "2"),
                   Status::kCorruption, "options that stand for \"versioned\""},
        RecordCase{"family/info", FamilyWith("timestamps", "\"moon\""),
                   Status::kNotSupported, "timestamps \"moon\""},
        RecordCase{"family/info", FamilyWith("filter_kind", "\"cone\""),
                   Status::kNotSupported, "cone"},
        RecordCase{"family/a:b", "{}", Status::kCorruption, "family \"a:b\""},
        RecordCase{"dropped/a:b", "{}", Status::kCorruption, "family \"a:b\""},
        RecordCase{"dropped/info", "", Status::kCorruption,
                   "expected a JSON object"},
        RecordCase{"clock", "", Status::kCorruption, "expected milliseconds"},
        RecordCase{"clock", "12x", Status::kCorruption, "found \"12x\""},
        RecordCase{"clock", "9223372036854775808", Status::kCorruption,
                   "expected milliseconds from 0 to 9223372036854775807"}));

TEST_F(StoreFormat, RecordsThatAreNestedDeeplyAreNotOpened) {
  constexpr size_t kDepth = 200'000;
  const std::string nested =
      std::string(kDepth, '[') + std::string(kDepth, ']');
  ASSERT_NO_FATAL_FAILURE(PutRaw(path_, "default", "family/info",
                                 R"({"cell_format":)" + nested + "}"));
  EXPECT_THAT(Reopen(), StatusIs(Status::kCorruption,
                                 HasSubstr("expected a string, found array")));
  ASSERT_NO_FATAL_FAILURE(
      PutRaw(path_, "default", "store",
             R"({"format":1,"key_layout":"escaped","x":)" + nested + "}"));
  EXPECT_THAT(Reopen(),
              StatusIs(Status::kNotSupported, HasSubstr("option \"x\"")));
}

TEST_F(StoreFormat, KeptOptionsOutOfRangeAreNamed) {
  ASSERT_NO_FATAL_FAILURE(PutRaw(path_, "default", "family/info",
                                 FamilyWith("false_positive_rate", "2.0")));
  EXPECT_THAT(Reopen(),
              StatusIs(Status::kInvalidArgument,
                       AllOf(HasSubstr(path_), HasSubstr("family \"info\""),
                             HasSubstr("false_positive_rate"))));
}

TEST_F(StoreFormat, FamilyFromBeforeThereWereKindsHasBloomFilters) {
  ASSERT_NO_FATAL_FAILURE(PutRaw(path_, "default", "family/info",
                                 FamilyWith("false_positive_rate", "0.5")));
  const auto store = OpenOrFail({}, path_, {});
  EXPECT_EQ(store->Families().at("info"),
            (FamilyOptions{.bloom_type = BloomType::kRow,
                           .false_positive_rate = 0.5}));
}

TEST_F(StoreFormat, RecordsOfOtherNamesAreLeftAlone) {
  ASSERT_NO_FATAL_FAILURE(PutRaw(path_, "default", "later", "anything"));
  EXPECT_THAT(Reopen(), IsOk());
}

}  // namespace
}  // namespace rowbloom::test::format_test

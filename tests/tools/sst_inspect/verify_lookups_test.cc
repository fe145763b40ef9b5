// `sst_inspect verify` looks up many keys at once, a model one by one: both
// must make the same lookups and find the same false negatives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/sst_file_writer.h"
#include "tests/support/files.h"
#include "tests/support/random.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/sst/make_sst.h"
#include "tests/tools/sst_inspect/run_tool.h"
#include "tools/sst/data_cursor.h"
#include "tools/table/key_format.h"
#include "tools/table/sst_filter.h"
#include "tools/table/table_file.h"

namespace rowbloom::verify_lookups_test {
namespace {

using test::IsOk;
using test::Output;
using test::RunTool;
using test::SstSpec;
using test::TempDir;
using testing::HasSubstr;

struct Counts {
  uint64_t cells = 0;
  uint64_t keys_probed = 0;
  uint64_t rows_probed = 0;
  uint64_t false_negatives = 0;

  bool operator==(const Counts&) const = default;
};

void PrintTo(const Counts& counts, std::ostream* out) {
  *out << counts.cells << " cells, " << counts.keys_probed << " keys and "
       << counts.rows_probed << " rows probed, " << counts.false_negatives
       << " false negatives";
}

// The model looks up one key after the other.
Counts ByModel(const std::string& path, const std::string& key_layout) {
  std::unique_ptr<table::TableFile> file;
  EXPECT_THAT(table::OpenTable(path, &file), IsOk());
  const table::KeyFormat format =
      sst_inspect::FormatOf(*file, key_layout, /*hex=*/false).value();
  table::SstFilterReader filter(static_cast<const table::SstTable&>(*file));
  EXPECT_THAT(filter.Open(), IsOk());
  table::FilterAnswer answer;
  Counts counts;
  std::optional<std::string> last;
  const auto cells = file->NewCellReader();
  while (cells->Next()) {
    ++counts.cells;
    const std::string key(format.WithoutTimestamp(cells->cell().user_key));
    if (last == key) continue;
    last = key;
    filter.LookUp({.key = key}, &answer);
    EXPECT_FALSE(answer.unusable);
    ++counts.keys_probed;
    counts.false_negatives += answer.may_match ? 0 : 1;
    // A row is in the partition of its key.
    rocksdb::Status status;
    const auto* block = filter.Load(filter.PartitionFor(key), &status);
    EXPECT_THAT(status, IsOk());
    std::optional<std::string_view> row;
    if (!block->rowbloom()) {
      row = filter.entries().PrefixOf(key);
    } else if (const auto split = format.Split(key)) {
      row = split->row;
    }
    if (!row) continue;
    ++counts.rows_probed;
    answer = block->LookUp({.key = *row, .is_row = true});
    counts.false_negatives += answer.may_match ? 0 : 1;
  }
  EXPECT_THAT(cells->status(), IsOk());
  return counts;
}

Counts ByVerify(const std::string& path, const std::string& key_layout) {
  std::vector<std::string> args = {"verify", "--json", path};
  if (!key_layout.empty())
    args.insert(args.end(), {"--key-layout", key_layout});
  const Output output = RunTool(args);
  EXPECT_EQ(output.err, "");
  const auto records = test::Records(output, "verify");
  EXPECT_EQ(records.size(), 1U) << output.out;
  if (records.empty()) return {};
  const nlohmann::json& record = records.front();
  EXPECT_EQ(record.at("false_negatives"), record.at("problems"));
  EXPECT_EQ(output.code, record.at("problems") == 0 ? 0 : 1);
  return {record.at("cells"), record.at("keys_probed"),
          record.at("rows_probed"), record.at("false_negatives")};
}

struct Case {
  std::string name;
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
};

std::vector<Case> Cases() {
  const auto rowbloom = [](BloomType type, FilterKind kind) {
    return test::MakeFilterPolicy(
        {.bloom_type = type,
         .key_layout = KeyLayout::FixedRow(8),
         .kind = kind,
         .row_prefix_length =
             type == BloomType::kRowPrefixFixedLength ? 6U : 0U});
  };
  return {{"Bloom", test::StockBloom()},
          {"Ribbon", test::StockRibbon()},
          {"Row", rowbloom(BloomType::kRow, FilterKind::kBloom)},
          {"RowCol", rowbloom(BloomType::kRowCol, FilterKind::kBloom)},
          {"RowColRibbon", rowbloom(BloomType::kRowCol, FilterKind::kRibbon)},
          {"RowPrefix",
           rowbloom(BloomType::kRowPrefixFixedLength, FilterKind::kBloom)}};
}

class VerifyLookups : public testing::TestWithParam<std::tuple<Case, bool>> {
 protected:
  SstSpec Spec() const {
    const auto& [tested, partitioned] = GetParam();
    return {.policy = tested.policy,
            .prefix_extractor = std::shared_ptr<const rocksdb::SliceTransform>(
                rocksdb::NewFixedPrefixTransform(7)),
            .partitioned = partitioned,
            .change = [](auto*, auto* table) { table->block_size = 4096; }};
  }

  void ExpectSameLookups(bool false_negatives) const {
    // Layouts split keys as the filter does, and otherwise.
    for (const char* layout : {"", "fixed:8", "fixed:7", "fixed:40"}) {
      SCOPED_TRACE(layout);
      const Counts model = ByModel(path_, layout);
      EXPECT_EQ(ByVerify(path_, layout), model);
      EXPECT_EQ(model.false_negatives > 0, false_negatives);
    }
  }

  const uint64_t seed_ = test::SeedFromEnv();
  const TempDir dir_;
  const std::string path_ = dir_.File("a.sst");
};

INSTANTIATE_TEST_SUITE_P(Filters, VerifyLookups,
                         testing::Combine(testing::ValuesIn(Cases()),
                                          testing::Bool()),
                         [](const auto& tested) {
                           return std::get<0>(tested.param).name +
                                  (std::get<1>(tested.param) ? "Partitioned"
                                                             : "");
                         });

// Keys of any length around that of a row, some within it.
TEST_P(VerifyLookups, HaveEachKeyAndRow) {
  test::Random random(seed_);
  std::map<std::string, std::string> cells;
  for (const std::string& row : test::NumberedKeys(500)) {
    const uint64_t columns = random.Below(6);
    for (uint64_t i = 0; i < columns; ++i) {
      const std::string column = random.Bytes(random.Below(4));
      cells[row.substr(0, random.OneIn(20) ? 6 : 8) + column] = "v";
    }
  }
  ASSERT_NO_FATAL_FAILURE(test::WriteSst(Spec(), path_, cells));
  ExpectSameLookups(false);
  EXPECT_EQ(ByVerify(path_, "").keys_probed, cells.size());
}

// The filter of a file of other keys, of which a part are the same.
TEST_P(VerifyLookups, CountEachFalseNegative) {
  test::Random random(seed_);
  std::map<std::string, std::string> cells;
  for (const std::string& key : test::NumberedKeys(3000)) cells[key] = "v";
  ASSERT_NO_FATAL_FAILURE(test::WriteSst(Spec(), path_, cells));
  const std::vector<std::string> own = test::FilterBlocks(path_);
  const std::string other_path = dir_.File("b.sst");
  size_t changed = 0;
  // A ribbon of some keys is larger than that of as many others.
  for (int tries = 0; changed == 0 && tries < 10; ++tries) {
    std::map<std::string, std::string> others;
    for (const auto& [key, value] : cells) {
      // Prefixes, rows and single keys, moved behind the digits.
      std::string other = key;
      const auto move = [&](size_t at) {
        other[at] = static_cast<char>(other[at] + 10);
      };
      if (key[5] == '2') move(5);
      if (key[6] == '7') move(7);
      if (random.OneIn(3)) move(8);
      others[other] = value;
    }
    ASSERT_EQ(others.size(), cells.size());
    ASSERT_NO_FATAL_FAILURE(test::WriteSst(Spec(), other_path, others));
    const std::vector<std::string> foreign = test::FilterBlocks(other_path);
    for (size_t i = 0; i < std::min(own.size(), foreign.size()); ++i) {
      if (own[i].size() != foreign[i].size()) continue;
      ++changed;
      test::ChangeBlock(path_, test::FilterHandle(path_, i),
                        [&](std::string* contents) { *contents = foreign[i]; });
    }
  }
  ASSERT_GT(changed, 0U);
  ExpectSameLookups(true);
}

// Versions of a key lie next to each other, on both sides of the end of those
// keys that are looked up at once.
TEST_P(VerifyLookups, AreOneForTheVersionsOfAKey) {
  const auto db = test::NewDb(Spec(), dir_.File("db"));
  std::list<rocksdb::ManagedSnapshot> snapshots;
  uint64_t versions = 0;
  uint64_t keys = 0;
  for (const std::string& key : test::NumberedKeys(60)) {
    for (uint64_t i = 0; i <= (keys % 20 == 7 ? 150 : keys % 3); ++i) {
      ASSERT_THAT(db->Put({}, key, std::to_string(i)), IsOk());
      snapshots.emplace_back(db.get());
      ++versions;
    }
    ++keys;
  }
  ASSERT_THAT(db->Flush({}), IsOk());
  const std::string file = test::OnlySst(db.get());
  const Counts counts = ByVerify(file, "");
  EXPECT_EQ(counts, ByModel(file, ""));
  EXPECT_EQ(counts.cells, versions);
  EXPECT_EQ(counts.keys_probed, keys);
}

TEST_P(VerifyLookups, LeaveOutTimestamps) {
  const rocksdb::Comparator* with_timestamps = nullptr;
  ASSERT_THAT(rocksdb::Comparator::CreateFromString(
                  {}, "leveldb.BytewiseComparator.u64ts", &with_timestamps),
              IsOk());
  SstSpec spec = Spec();
  spec.comparator = with_timestamps;
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), test::MakeOptions(spec));
  ASSERT_THAT(writer.Open(path_), IsOk());
  uint64_t keys = 0;
  for (const std::string& key : test::NumberedKeys(700)) {
    for (uint64_t time = keys++ % 3 + 1; time > 0; --time) {
      const std::string stamp{static_cast<char>(time), 0, 0, 0, 0, 0, 0, 0};
      ASSERT_THAT(writer.Put(key, stamp, "v"), IsOk());
    }
  }
  ASSERT_THAT(writer.Finish(), IsOk());
  ExpectSameLookups(false);
  EXPECT_EQ(ByVerify(path_, "").keys_probed, keys);
}

// Some of what is read at once ends before each of these keys, or behind it.
TEST(VerifyOrder, AKeyOutOfOrderIsFoundWhereverItIs) {
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  const std::vector<std::string> keys = test::NumberedKeys(300);
  ASSERT_NO_FATAL_FAILURE(test::WriteSst({.change =
                                              [](auto*, auto* table) {
                                                table->use_delta_encoding =
                                                    false;
                                                table->block_size = 64 << 10;
                                              }},
                                         path, keys));
  const auto file = test::OpenSst(path);
  sst::IndexCursor index(*file);
  ASSERT_TRUE(index.Next());
  const sst::BlockHandle block = index.handle();
  ASSERT_FALSE(index.Next()) << "expected one block";
  const std::string good = test::ReadFile(path);
  for (const size_t i : {1, 31, 32, 33, 63, 64, 65, 128, 298}) {
    test::ChangeBlock(path, block, [&](std::string* contents) {
      contents->at(contents->find(keys[i]) + 3) = '/';
    });
    const Output output = RunTool({"verify", path});
    EXPECT_EQ(output.code, 1);
    EXPECT_THAT(output.out,
                HasSubstr("key key/" + keys[i].substr(4) +
                          "@0 out of order after " + keys[i - 1] + "\n"));
    EXPECT_THAT(output.out, HasSubstr("problems  1\n")) << output.out;
    test::WriteFile(path, good);
  }
  EXPECT_EQ(RunTool({"verify", path}).code, 0);
}

// More keys than one lookup takes.
TEST(VerifyManyKeys, FalseNegativesAreToldInTheirOrder) {
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  const std::string other_path = dir.File("b.sst");
  const SstSpec spec = {.policy = test::StockBloom()};
  std::map<std::string, std::string> cells;
  std::map<std::string, std::string> others;
  for (const std::string& key : test::NumberedKeys(60'000)) {
    cells[key] = "v";
    others[key.ends_with('4') ? key + "not" : key] = "v";
  }
  ASSERT_NO_FATAL_FAILURE(test::WriteSst(spec, path, cells));
  ASSERT_NO_FATAL_FAILURE(test::WriteSst(spec, other_path, others));
  const std::string foreign = test::FilterBlocks(other_path).at(0);
  test::ChangeBlock(path, test::FilterHandle(path, 0),
                    [&](std::string* contents) { *contents = foreign; });
  const Counts counts = ByVerify(path, "");
  EXPECT_EQ(counts, ByModel(path, ""));
  EXPECT_EQ(counts.keys_probed, cells.size());
  EXPECT_GT(counts.false_negatives, 5'500U);

  const std::string out = RunTool({"verify", path}).out;
  std::vector<std::string> told;
  size_t at = 0;
  constexpr std::string_view kMark = "false negative: key ";
  while ((at = out.find(kMark, at)) != std::string::npos) {
    at += kMark.size();
    told.push_back(out.substr(at, out.find(' ', at) - at));
  }
  EXPECT_EQ(told.size(), 20U);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()))
      << testing::PrintToString(told);
}

// Keys that are longer than what is held of several.
TEST_P(VerifyLookups, HaveLongKeys) {
  std::map<std::string, std::string> cells;
  for (const std::string& key : test::NumberedKeys(40)) {
    cells[key + std::string(30'000, 'k') + key] = "v";
    cells[key] = "v";
  }
  SstSpec spec = Spec();
  spec.change = [](auto*, auto* table) { table->block_size = 1 << 20; };
  ASSERT_NO_FATAL_FAILURE(test::WriteSst(spec, path_, cells));
  ExpectSameLookups(false);
}

}  // namespace
}  // namespace rowbloom::verify_lookups_test

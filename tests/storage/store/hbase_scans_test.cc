// HBase judges reads: a store takes the cells of the cases in
// tests/data/hbase/scans as HBase took them, and answers their queries as
// HBase's region scanner did, from memory, from files and after compaction.
// Each difference on purpose has a rule in ReadRules: the rule decides which
// queries it concerns and what their answers are. ROWBLOOM_SEED decides when
// the store flushes and compacts between writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/storage/store/hbase_cases.h"
#include "tests/storage/store/hbase_read_rules.h"
#include "tests/storage/store/store_model.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"

namespace rowbloom::test {
namespace {

bool NamesColumnsOfMortalVersions(const HBaseCase& of,
                                  const HBaseQuery& query) {
  return query.qualifiers && of.family.ttl_ms != 0 &&
         of.family.min_versions > 0;
}

bool HasTimeRange(const HBaseCase&, const HBaseQuery& query) {
  return query.time_range != TimeRange::All();
}

bool HasWriteOf(const HBaseCase& of, const std::set<HBaseType>& types) {
  return std::any_of(
      of.writes.begin(), of.writes.end(),
      [&types](const HBaseWrite& write) { return types.contains(write.type); });
}

bool HasDeletesAndMorePutsThanAreKept(const HBaseCase& of, const HBaseQuery&) {
  std::map<std::pair<std::string, std::string>, std::set<uint64_t>> puts;
  size_t most = 0;
  for (const HBaseWrite& write : of.writes) {
    if (write.type != HBaseType::kPut) continue;
    auto& timestamps = puts[{write.row, write.qualifier}];
    timestamps.insert(write.timestamp_ms);
    most = std::max(most, timestamps.size());
  }
  return most > of.family.max_versions &&
         HasWriteOf(
             of, {HBaseType::kDelete, HBaseType::kDeleteColumn,
                  HBaseType::kDeleteFamily, HBaseType::kDeleteFamilyVersion});
}

bool DeletesSingleOnesOfMortalVersions(const HBaseCase& of, const HBaseQuery&) {
  return of.family.ttl_ms != 0 && of.family.min_versions > 0 &&
         HasWriteOf(of, {HBaseType::kDelete, HBaseType::kDeleteFamilyVersion});
}

// One rule of the store on top of those before it.
struct RuleStep {
  const char* name;
  ReadRules rules;  // this one and those before
  // Returns true for the cells and queries that the rule is about; the rule
  // changes no other answer.
  bool (*is_about)(const HBaseCase&, const HBaseQuery&);
  int changed_answers;  // out of 15,148
};
constexpr std::array<RuleStep, 4> kRuleSteps = {{
    {"names show no more",
     {.names_show_no_more = true},
     NamesColumnsOfMortalVersions,
     22},
    {"time ranges choose among the newest",
     {.names_show_no_more = true, .range_within_newest = true},
     HasTimeRange,
     547},
    {"surplus versions stay gone",
     {.names_show_no_more = true,
      .range_within_newest = true,
      .surplus_stays_gone = true},
     HasDeletesAndMorePutsThanAreKept,
     126},
    {"expired versions stay gone", kStoreRules,
     DeletesSingleOnesOfMortalVersions, 166},
}};

TEST(HBaseReadModel, GivesTheAnswersOfHBaseAndCountsWhatTheRulesChange) {
  int query_count = 0;
  int differing = 0;
  std::array<int, kRuleSteps.size()> changed{};
  for (const HBaseCase& of : ReadHBaseCases()) {
    const ReadModel hbase(of, {});
    std::vector<ReadModel> steps;
    for (const RuleStep& step : kRuleSteps) steps.emplace_back(of, step.rules);
    for (size_t q = 0; q < of.queries.size(); ++q) {
      const HBaseQuery& query = of.queries[q];
      SCOPED_TRACE(of.id + ", query " + std::to_string(q));
      std::vector<HBaseCell> answer = hbase.Answer(query);
      EXPECT_EQ(answer, query.answer);
      for (size_t i = 0; i < steps.size(); ++i) {
        std::vector<HBaseCell> next = steps[i].Answer(query);
        if (next != answer) {
          ++changed[i];
          EXPECT_TRUE(kRuleSteps[i].is_about(of, query)) << kRuleSteps[i].name;
        }
        answer = std::move(next);
      }
      if (answer != query.answer) ++differing;
      ++query_count;
    }
  }
  EXPECT_EQ(query_count, 14'992 + 156);
  EXPECT_EQ(differing, 836);
  for (size_t i = 0; i < changed.size(); ++i) {
    EXPECT_EQ(changed[i], kRuleSteps[i].changed_answers) << kRuleSteps[i].name;
  }
}

// A case, and what a store with it answers.
struct StoredCase {
  explicit StoredCase(const HBaseCase& hbase_case)
      : of(hbase_case),
        family(FamilyName(of)),
        row_prefix(RowPrefix(of)),
        moved_ms(MovedMs(of)) {
    const ReadModel model(of, kStoreRules);
    for (const HBaseQuery& query : of.queries) {
      answers.push_back(model.Answer(query));
    }
  }

  const HBaseCase& of;
  std::string family;
  std::string row_prefix;
  uint64_t moved_ms;
  // The store's expected answer to each query: HBase's, unless a rule changes
  // it.
  std::vector<std::vector<HBaseCell>> answers;
};

void Add(const HBaseWrite& write, const StoredCase& to, WriteBatch* batch) {
  const std::string row = to.row_prefix + write.row;
  const uint64_t timestamp_ms = write.timestamp_ms + to.moved_ms;
  switch (write.type) {
    case HBaseType::kPut:
      batch->Put(row, to.family, write.qualifier, write.value, timestamp_ms);
      break;
    case HBaseType::kDelete:
      batch->DeleteVersion(row, to.family, write.qualifier, timestamp_ms);
      break;
    case HBaseType::kDeleteColumn:
      batch->Delete(row, to.family, write.qualifier, timestamp_ms);
      break;
    case HBaseType::kDeleteFamily:
      batch->DeleteFamily(row, to.family, timestamp_ms);
      break;
    case HBaseType::kDeleteFamilyVersion:
      batch->DeleteFamilyVersion(row, to.family, timestamp_ms);
      break;
  }
}

enum class Flushes { kAfterAllWrites, kBetweenWrites };

class HBaseScans : public ::testing::Test {
 protected:
  // A store without cells.
  void Open(const std::vector<FamilyDescriptor>& families) {
    store_.reset();
    dir_.emplace();
    store_ = OpenOrFail({}, dir_->File("db"), families,
                        [] { return kHBaseStoreMs; });
  }

  void Write(const StoredCase& to, const HBaseWrite& write) {
    WriteBatch batch;
    Add(write, to, &batch);
    ASSERT_THAT(store_->Write(batch), IsOk()) << to.of.id;
  }

  // The first write of each case, the second of each, and so on.
  void WriteAll(const std::vector<StoredCase>& cases, Flushes flushes) {
    bool more = true;
    for (size_t i = 0; more; ++i) {
      more = false;
      for (const StoredCase& stored : cases) {
        if (i >= stored.of.writes.size()) continue;
        ASSERT_NO_FATAL_FAILURE(Write(stored, stored.of.writes[i]));
        more = true;
      }
      // Most cases have few cells.
      if (flushes == Flushes::kBetweenWrites && random_.OneIn(2 + i)) {
        ASSERT_THAT(store_->Flush(), IsOk());
        if (random_.OneIn(3)) {
          ASSERT_THAT(store_->Compact(), IsOk());
        }
      }
    }
  }

  static void AddCells(const StoredCase& in, const std::string& row,
                       const std::vector<Cell>& cells,
                       std::vector<HBaseCell>* answer) {
    for (const Cell& cell : cells) {
      answer->push_back(
          {row, cell.qualifier, cell.timestamp_ms - in.moved_ms, cell.value});
    }
  }

  std::vector<HBaseCell> Scan(const StoredCase& in, const ScanOptions& scan) {
    std::vector<HBaseCell> answer;
    for (const Row& row : RowsOf(*store_, scan)) {
      AddCells(in, row.row.substr(in.row_prefix.size()), row.cells, &answer);
    }
    return answer;
  }

  std::vector<HBaseCell> GetRow(const StoredCase& in, const HBaseQuery& query,
                                const RowOptions& options) {
    const std::vector<Cell> cells =
        GetRowOf(*store_, in.row_prefix + *query.start_row, options);
    std::vector<HBaseCell> answer;
    AddCells(in, *query.start_row, cells, &answer);
    return answer;
  }

  // REQUIRES a get of columns by name.
  std::vector<HBaseCell> GetCells(const StoredCase& in, const HBaseQuery& query,
                                  const ReadOptions& options) {
    const std::string row = in.row_prefix + *query.start_row;
    std::vector<CellAddress> addresses;
    std::vector<std::vector<Cell>> each;
    for (const std::string& qualifier : *query.qualifiers) {
      addresses.push_back({row, in.family, qualifier});
      EXPECT_THAT(store_->GetVersions(row, in.family, qualifier,
                                      &each.emplace_back(), options),
                  IsOk());
    }
    std::vector<std::vector<Cell>> all;
    EXPECT_THAT(store_->MultiGet(addresses, &all, options), IsOk());
    EXPECT_EQ(all, each);
    std::vector<HBaseCell> answer;
    for (const std::vector<Cell>& cells : all) {
      AddCells(in, *query.start_row, cells, &answer);
    }
    return answer;
  }

  void ExpectAnswers(const std::vector<StoredCase>& cases, const char* when) {
    for (const StoredCase& stored : cases) {
      for (size_t i = 0; i < stored.of.queries.size(); ++i) {
        const HBaseQuery& query = stored.of.queries[i];
        SCOPED_TRACE(stored.of.id + ", query " + std::to_string(i) + ", " +
                     when);
        const ScanOptions scan = ToScan(stored.of, query);
        EXPECT_EQ(Scan(stored, scan), stored.answers[i]);
        if (!query.IsGet()) continue;
        EXPECT_EQ(GetRow(stored, query, scan.row), stored.answers[i]);
        if (!query.qualifiers) continue;
        EXPECT_EQ(
            GetCells(stored, query, {scan.row.time_range, query.max_versions}),
            stored.answers[i]);
      }
    }
  }

  Random random_{SeedFromEnv()};
  std::optional<TempDir> dir_;
  std::unique_ptr<Store> store_;
};

// ROWBLOOM_TEST_SCALE below 1 takes as large a share of the cases.
TEST_F(HBaseScans, AreAnsweredInMemoryInFilesAndCompacted) {
  const std::vector<HBaseCase> cases = ReadHBaseCases();
  std::map<std::string, FamilyOptions> options_of;
  std::vector<StoredCase> stored;
  for (const HBaseCase& of : cases) {
    if (random_.Below(1000) >= Scaled(1000)) continue;
    options_of.emplace(FamilyName(of), of.family);
    stored.emplace_back(of);
  }
  for (const Flushes flushes :
       {Flushes::kAfterAllWrites, Flushes::kBetweenWrites}) {
    Open(Descriptors(options_of));
    ASSERT_NO_FATAL_FAILURE(WriteAll(stored, flushes));
    ExpectAnswers(stored, "as written");
    ASSERT_THAT(store_->Flush(), IsOk());
    ExpectAnswers(stored, "flushed");
    ASSERT_THAT(store_->Compact(), IsOk());
    ExpectAnswers(stored, "compacted");
  }
}

}  // namespace
}  // namespace rowbloom::test

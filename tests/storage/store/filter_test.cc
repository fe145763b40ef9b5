// Each filter by an example, the choices of columns and rows that go with them,
// and what is refused. versions_model_test.cc has the combinations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"

namespace rowbloom::test {
namespace {

using rocksdb::Status;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Rows a, b and c: of family f the columns age, mail and name, of v the column
// log with versions at 1, 2 and 3.
class Filters : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = OpenOrFail(
        {}, dir_.File("db"),
        {{"f", {}},
         {"v", {.timestamps = Timestamps::kClient, .max_versions = 3}}});
    WriteBatch batch;
    batch.Put("a", "f", "age", "30");
    batch.Put("a", "f", "mail", "ada@x.org");
    batch.Put("a", "f", "name", "Ada");
    batch.Put("b", "f", "age", "40");
    batch.Put("b", "f", "name", "Bob");
    batch.Put("c", "f", "mail", "eve@y.org\nold");
    batch.Put("c", "f", "name", "Eve");
    for (const uint64_t ms : {1, 2, 3}) {
      batch.Put("a", "v", "log", "l" + std::to_string(ms), ms);
    }
    ASSERT_THAT(store_->Write(batch), IsOk());
  }

  static std::vector<std::string> Text(RowScanner rows) {
    std::vector<std::string> text;
    for (const Row& row : rows) {
      for (const Cell& cell : row.cells) {
        text.push_back(row.row + " " + cell.qualifier + " " + cell.value);
      }
    }
    EXPECT_THAT(rows.status(), IsOk());
    return text;
  }
  // The cells that a scan of all versions of these families gives.
  std::vector<std::string> Scan(const Filter& filter,
                                const std::vector<Column>& columns = {{"f"}}) {
    ScanOptions options;
    options.row.columns = columns;
    options.row.max_versions = 3;
    options.row.filter = filter;
    return Text(ScanOf(*store_, options));
  }
  std::vector<std::string> Names(const Filter& filter) {
    return Scan(Filter::And({filter, Filter::Qualifier(Match::Equal("name"))}));
  }
  std::vector<std::string> Values(const Match& match) {
    return Scan(Filter::Value(match));
  }
  std::vector<std::string> Wide(const RowOptions& options) {
    const std::vector<Cell> cells = GetRowOf(*store_, "a", options);
    std::vector<std::string> text;
    for (const Cell& cell : cells) text.push_back(cell.qualifier + cell.value);
    return text;
  }
  Status Error(const Filter& filter) {
    ScanOptions options;
    options.row.filter = filter;
    std::vector<Cell> cells;
    const Status of_row = store_->GetRow("a", &cells, options.row);
    EXPECT_EQ(of_row.ToString(), filter.status().ToString());
    RowScanner rows;
    return store_->Scan(options, &rows);
  }

  TempDir dir_;
  std::unique_ptr<Store> store_;
};

TEST_F(Filters, MatchesCompareBytes) {
  EXPECT_THAT(Values(Match::Less("40")), ElementsAre("a age 30"));
  EXPECT_THAT(Values(Match::AtMost("40")), ElementsAre("a age 30", "b age 40"));
  EXPECT_THAT(Values(Match::Equal("40")), ElementsAre("b age 40"));
  EXPECT_THAT(Values(Match::AtLeast("eve")),
              ElementsAre("c mail eve@y.org\nold"));
  EXPECT_THAT(Values(Match::Greater("ada@x.org")),
              ElementsAre("c mail eve@y.org\nold"));
  EXPECT_THAT(Values(Match::Prefix("E")), ElementsAre("c name Eve"));
  EXPECT_THAT(
      Values(Match::Substring("o")),
      ElementsAre("a mail ada@x.org", "b name Bob", "c mail eve@y.org\nold"));
  // Bytes are unsigned, and a prefix comes first.
  EXPECT_TRUE(Match::Less("\xff").Fits("\x7f"));
  EXPECT_TRUE(Match::Less("ab").Fits("a"));
}

TEST_F(Filters, RegularExpressionsFindAnyBytes) {
  EXPECT_THAT(Values(Match::Regex("^[A-Z]..$")),
              ElementsAre("a name Ada", "b name Bob", "c name Eve"));
  EXPECT_THAT(Values(Match::Regex("@.*d$")),
              ElementsAre("c mail eve@y.org\nold"));
  EXPECT_THAT(Values(Match::Regex("(?i)EVE")),
              ElementsAre("c mail eve@y.org\nold", "c name Eve"));
  const std::string bytes("\xff\0\xc3", 3);
  EXPECT_TRUE(Match::Regex("^\\xff.\\xc3$").Fits(bytes));
  // Backtracking would take years, and recursion the stack.
  const std::string many(100'000, 'a');
  EXPECT_FALSE(Match::Regex("(a*)*b").Fits(many));
  EXPECT_TRUE(Match::Regex("(a|b)*$").Fits(many));
}

TEST_F(Filters, ChooseByRowFamilyQualifierAndTimestamp) {
  EXPECT_THAT(Names(Filter::Row(Match::Greater("a"))),
              ElementsAre("b name Bob", "c name Eve"));
  EXPECT_THAT(Scan(Filter::Family(Match::Equal("v")), {}),
              ElementsAre("a log l3", "a log l2", "a log l1"));
  EXPECT_THAT(Scan(Filter::Qualifier(Match::Prefix("m"))),
              ElementsAre("a mail ada@x.org", "c mail eve@y.org\nold"));
  EXPECT_THAT(Scan(Filter::Timestamp(TimeRange::At(2)), {{"v"}}),
              ElementsAre("a log l2"));
}

TEST_F(Filters, AndOrNotCompose) {
  const Filter name = Filter::Qualifier(Match::Equal("name"));
  const Filter of_b = Filter::Row(Match::Equal("b"));
  EXPECT_THAT(Scan(Filter::And({name, of_b})), ElementsAre("b name Bob"));
  EXPECT_THAT(
      Scan(Filter::Or({name, of_b})),
      ElementsAre("a name Ada", "b age 40", "b name Bob", "c name Eve"));
  EXPECT_THAT(
      Scan(Filter::And({Filter::Not(name), Filter::Not(of_b)})),
      ElementsAre("a age 30", "a mail ada@x.org", "c mail eve@y.org\nold"));
  // Filters that keep all: the default, and lists of none.
  const size_t cells = Scan({}).size();
  EXPECT_EQ(cells, 7u);
  EXPECT_EQ(Scan(Filter::And({})).size(), cells);
  EXPECT_EQ(Scan(Filter::Or({})).size(), cells);
  EXPECT_THAT(Scan(Filter::Not({})), IsEmpty());
}

// Filters before it in an And decide which cells it sees.
TEST_F(Filters, FirstCellIsTheFirstThatItSees) {
  const Filter mail = Filter::Qualifier(Match::AtLeast("mail"));
  EXPECT_THAT(Scan(Filter::FirstCell()),
              ElementsAre("a age 30", "b age 40", "c mail eve@y.org\nold"));
  EXPECT_THAT(
      Scan(Filter::And({mail, Filter::FirstCell()})),
      ElementsAre("a mail ada@x.org", "b name Bob", "c mail eve@y.org\nold"));
  EXPECT_THAT(Scan(Filter::And({Filter::FirstCell(), mail})),
              ElementsAre("c mail eve@y.org\nold"));
  EXPECT_THAT(Scan(Filter::Not(Filter::FirstCell())),
              ElementsAre("a mail ada@x.org", "a name Ada", "b name Bob",
                          "c name Eve"));
}

TEST_F(Filters, PageCountsTheRowsThatItSees) {
  EXPECT_THAT(Names(Filter::Page(2)), ElementsAre("a name Ada", "b name Bob"));
  EXPECT_THAT(Names(Filter::Page(0)), IsEmpty());
  EXPECT_THAT(Names(Filter::Not(Filter::Page(1))),
              ElementsAre("b name Bob", "c name Eve"));
  const Filter not_a = Filter::Row(Match::Greater("a"));
  EXPECT_THAT(Names(Filter::And({not_a, Filter::Page(1)})),
              ElementsAre("b name Bob"));
  EXPECT_THAT(Names(Filter::And({Filter::Page(1), not_a})), IsEmpty());
  // It sees a row's cells even if all of them are dropped after it.
  EXPECT_THAT(
      Scan(Filter::And(
          {Filter::Or({Filter::Qualifier(Match::Equal("age")),
                       Filter::And({Filter::Qualifier(Match::Equal("name")),
                                    Filter::Page(1)})}),
           not_a})),
      ElementsAre("b age 40"));
  // One of each kind.
  EXPECT_THAT(
      Scan(Filter::Or(
          {Filter::And({Filter::Value(Match::Prefix("4")), Filter::Page(1)}),
           Filter::And(
               {Filter::Value(Match::Substring("@")), Filter::Page(1)})})),
      ElementsAre("a mail ada@x.org", "b age 40"));
  // Cells behind the page of columns are not seen.
  ScanOptions options;
  options.row.columns = {{"f"}};
  options.row.column_limit = 1;
  options.row.filter =
      Filter::Or({Filter::Qualifier(Match::Equal("mail")),
                  Filter::And({Filter::Qualifier(Match::Equal("name")),
                               Filter::Page(1)})});
  EXPECT_THAT(
      Text(ScanOf(*store_, options)),
      ElementsAre("a mail ada@x.org", "b name Bob", "c mail eve@y.org\nold"));
}

TEST_F(Filters, RowsWithIsAConditionOnAColumn) {
  const Filter forty =
      Filter::RowsWith(Filter::And({Filter::Qualifier(Match::Equal("age")),
                                    Filter::Value(Match::AtLeast("40"))}));
  const Filter has_age =
      Filter::RowsWith(Filter::Qualifier(Match::Equal("age")));
  EXPECT_THAT(Scan(forty), ElementsAre("b age 40", "b name Bob"));
  // HBase's default: rows without the column pass.
  EXPECT_THAT(Names(Filter::Or({forty, Filter::Not(has_age)})),
              ElementsAre("b name Bob", "c name Eve"));
  EXPECT_THAT(Names(Filter::And({Filter::Not(forty), Filter::Page(1)})),
              ElementsAre("a name Ada"));
  // A row of HBase's SkipFilter: all its cells fit.
  EXPECT_THAT(Names(Filter::Not(Filter::RowsWith(
                  Filter::Not(Filter::Value(Match::Regex("^[0-9AB]")))))),
              ElementsAre("b name Bob"));
  // The page of columns need not have what decides.
  RowOptions options;
  options.columns = {{"f", "age"}, {"f", "name"}};
  options.column_limit = 1;
  options.filter = Filter::RowsWith(Filter::Value(Match::Equal("Ada")));
  EXPECT_THAT(Wide(options), ElementsAre("age30"));
  options.filter = Filter::RowsWith(Filter::Value(Match::Equal("Bob")));
  EXPECT_THAT(Wide(options), IsEmpty());
}

TEST_F(Filters, ColumnsInARangeOrFromTheEnd) {
  EXPECT_THAT(Wide({.qualifier_start = "b", .qualifier_stop = "name"}),
              ElementsAre("mailada@x.org", "logl3"));
  EXPECT_THAT(Wide({.qualifier_prefix = "m", .qualifier_start = "mb"}),
              IsEmpty());
  EXPECT_THAT(Wide({.qualifier_start = "n", .qualifier_stop = "b"}), IsEmpty());
  EXPECT_THAT(
      Wide({.columns = {{"f", "age"}, {"f", "name"}}, .qualifier_stop = "b"}),
      ElementsAre("age30"));
  EXPECT_THAT(
      Wide({.columns = {{"f"}}, .column_limit = 2, .columns_from_end = true}),
      ElementsAre("mailada@x.org", "nameAda"));
  EXPECT_THAT(
      Wide({.column_offset = 1, .column_limit = 1, .columns_from_end = true}),
      ElementsAre("nameAda"));
  EXPECT_THAT(Wide({.column_limit = 2,
                    .columns_from_end = true,
                    .filter = Filter::Not(Filter::FirstCell()),
                    .max_versions = 3}),
              ElementsAre("nameAda", "logl2", "logl1"));
  EXPECT_THAT(Wide({.columns = {{"f"}}, .keys_only = true}),
              ElementsAre("age", "mail", "name"));
}

TEST_F(Filters, ExistsAndCountReadNoMoreThanTheyNeed) {
  const auto exists = [&](const char* row, const RowOptions& options) {
    bool found = false;
    EXPECT_THAT(store_->Exists(row, &found, options), IsOk());
    return found;
  };
  EXPECT_TRUE(exists("b", {}));
  EXPECT_FALSE(exists("d", {}));
  EXPECT_TRUE(exists("b", {.columns = {{"f", "age"}}}));
  EXPECT_FALSE(exists("b", {.columns = {{"f", "mail"}}}));
  EXPECT_FALSE(exists("b", {.filter = Filter::Value(Match::Equal("30"))}));
  bool found = false;
  EXPECT_TRUE(store_->Exists("", &found).IsInvalidArgument());
  const auto count = [&](const ScanOptions& options) {
    ScanCounts counts;
    EXPECT_THAT(store_->Count(options, &counts), IsOk());
    return std::pair(counts.rows, counts.cells);
  };
  EXPECT_EQ(count({}), std::pair(uint64_t{3}, uint64_t{8}));
  EXPECT_EQ(count({.row = {.max_versions = 3}}),
            std::pair(uint64_t{3}, uint64_t{10}));
  EXPECT_EQ(count({.limit = 2, .row = {.columns = {{"f", "age"}}}}),
            std::pair(uint64_t{2}, uint64_t{2}));
  EXPECT_EQ(count({.start_row = "x"}), std::pair(uint64_t{0}, uint64_t{0}));
}

TEST_F(Filters, ScansTakeManyRangesAtOnce) {
  const auto rows = [&](ScanOptions options) {
    options.row.columns = {{"f", "name"}};
    std::string names;
    for (const std::string& row : Text(ScanOf(*store_, options)))
      names += row[0];
    return names;
  };
  EXPECT_EQ(rows({.ranges = {{"c", ""}, {"a", "b"}}}), "ac");
  EXPECT_EQ(rows({.ranges = {{"c", ""}, {"a", "b"}}, .reverse = true}), "ca");
  EXPECT_EQ(rows({.ranges = {{"a", "c"}, {"b", "c"}, {"a", "b"}}}), "ab");
  EXPECT_EQ(rows({.start_row = "b", .ranges = {{"a", "b"}, {"c", ""}}}), "c");
  EXPECT_EQ(rows({.stop_row = "c", .ranges = {{"b", ""}}}), "b");
  EXPECT_EQ(rows({.row_prefix = "b", .ranges = {{"", ""}}}), "b");
  EXPECT_EQ(rows({.ranges = {{"c", "a"}}}), "");
}

TEST_F(Filters, ScansGoOnFromAToken) {
  ScanOptions options;
  options.row.columns = {{"f", "name"}};
  options.limit = 1;
  for (const bool reverse : {false, true}) {
    options.reverse = reverse;
    options.token.clear();
    std::string names;
    for (int i = 0; i < 4; ++i) {
      RowScanner rows = ScanOf(*store_, options);
      EXPECT_EQ(rows.Token(), options.token);
      for (const Row& row : rows) names += row.row;
      options.token = rows.Token();
    }
    EXPECT_EQ(names, reverse ? "dcba" : "abc");
    // A row that comes later is found from the token at the end.
    ASSERT_THAT(store_->Put(reverse ? "0" : "d", "f", "name", "new"), IsOk());
    EXPECT_THAT(Text(ScanOf(*store_, options)),
                ElementsAre(reverse ? "0 name new" : "d name new"));
  }
}

// Whatever the token, a scan gives no row that its options do not choose.
TEST_F(Filters, TokensMayBeAnyBytes) {
  Random random(SeedFromEnv());
  ScanOptions options{.start_row = "b", .stop_row = "c", .limit = 1};
  RowScanner rows = ScanOf(*store_, options);
  rows.begin();
  const std::string token = rows.Token();
  int taken = 0;
  for (int i = 0; i < 10'000; ++i) {
    options.token = token;
    if (random.OneIn(4)) options.token += random.Bytes(random.Below(4));
    options.token.resize(random.Below(options.token.size() + 2), '\1');
    if (!options.token.empty() && random.OneIn(2)) {
      options.token[random.Below(options.token.size())] =
          static_cast<char>(random.OneIn(2) ? random.Below(3) : random.Next());
    }
    RowScanner resumed;
    const Status s = store_->Scan(options, &resumed);
    for (const Row& row : resumed) EXPECT_EQ(row.row, "b");
    if (s.ok()) {
      EXPECT_THAT(resumed.status(), IsOk());
      ++taken;
    } else {
      EXPECT_THAT(s, StatusIs(Status::kInvalidArgument, HasSubstr("token")));
    }
  }
  EXPECT_GT(taken, 0);
  EXPECT_LT(taken, 10'000);
  options.token = token;
  options.reverse = true;
  EXPECT_THAT(store_->Scan(options, &rows),
              StatusIs(Status::kInvalidArgument, HasSubstr("reverse scan")));
  options.token = token + std::string(size_t{1} << 20, 'x');
  EXPECT_TRUE(store_->Scan(options, &rows).IsInvalidArgument());
}

TEST_F(Filters, RefusedByName) {
  EXPECT_THAT(Error(Filter::Value(Match::Regex("(\xff"))),
              StatusIs(Status::kInvalidArgument, HasSubstr("missing )")));
  EXPECT_THAT(Error(Filter::Not(Filter::Row(Match::Regex("a{999}{999}")))),
              StatusIs(Status::kInvalidArgument, HasSubstr("RE2")));
  EXPECT_THAT(Error(Filter::RowsWith(Filter::And({Filter::Page(1)}))),
              StatusIs(Status::kInvalidArgument, HasSubstr("in a RowsWith")));
  Filter deep;
  for (uint32_t i = 0; i < Filter::kMaxDepth; ++i) deep = Filter::Not(deep);
  EXPECT_THAT(deep.status(), IsOk());
  EXPECT_EQ(Scan(deep).size(), 7u);
  // The stack would not hold it.
  for (int i = 0; i < 1'000'000; ++i) deep = Filter::Not(deep);
  EXPECT_THAT(Error(deep),
              StatusIs(Status::kInvalidArgument, HasSubstr("deeper than 100")));
  // Memory would not hold it, as a read takes some for each part.
  Filter wide = Filter::Page(1);
  for (int i = 0; i < 40; ++i) wide = Filter::And({wide, wide});
  const Filter none = Filter::And(std::vector<Filter>(1000));
  for (const Filter& filter :
       {wide, Filter::Or(std::vector<Filter>(1000, none))}) {
    EXPECT_THAT(Error(filter),
                StatusIs(Status::kInvalidArgument, HasSubstr("65536 parts")));
  }
}

}  // namespace
}  // namespace rowbloom::test

// The verbs that read, and the command line itself.
#include "tools/rowbloom/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "rowbloom/store.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/rowbloom/cli.h"

namespace rowbloom::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

TEST(CommandLine, HelpAndVersionAreDataAndSucceed) {
  CliResult result = Cli({"--version"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, MatchesRegex("rowbloom [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(result.err, "");
  result = Cli({"--help"});
  EXPECT_EQ(result.code, 0);
  for (const char* word :
       {"load", "get", "row", "stats", "filter", "Exit codes"}) {
    EXPECT_THAT(result.out, HasSubstr(word));
  }
  EXPECT_EQ(result.err, "");
  for (const char* verb : {"load", "get", "row", "stats"}) {
    result = Cli({verb, "--help"});
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.out, HasSubstr("--db"));
    EXPECT_EQ(result.err, "");
  }
}

TEST(CommandLine, WrongUsageIsOneSentence) {
  const struct {
    std::vector<std::string> args;
    const char* problem;
  } cases[] = {
      {{},
       "expected load, get, row, stats, export-hfile, import-hfile or filter, "
       "found nothing"},
      {{"fetch"},
       "expected load, get, row, stats, export-hfile, import-hfile or filter, "
       "found \"fetch\""},
      {{"--db", "x"}, "found \"--db\""},
      {{"get"}, "--db is required"},
      {{"get", "--db", "x"}, "ROW is required"},
      {{"get", "--db", "x", "r"}, "COLUMN is required"},
      {{"get", "--db", "x", "r", "f:q", "more"}, "more"},
      {{"get", "--db", "x", "r", "fq"},
       "expected FAMILY:QUALIFIER, found \"fq\""},
      {{"row", "--db", "x"}, "ROW is required"},
      {{"stats"}, "--db is required"},
      {{"stats", "--db"}, "--db"},
      {{"stats", "--db", "x", "--key-layout", "wide"},
       "unknown key layout \"wide\""},
      {{"load", "--db", "x"}, "FILE is required"},
  };
  for (const auto& c : cases) {
    const CliResult result = Cli(c.args);
    EXPECT_EQ(result.code, 2) << c.problem;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err,
                AllOf(StartsWith("rowbloom: "), HasSubstr(c.problem)));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1)
        << result.err;
  }
}

TEST(CommandLine, UnwritableStandardOutputIsAnError) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  out.setstate(std::ios::badbit);
  EXPECT_EQ(cli::Run({"--version"}, in, out, err, false), 2);
  EXPECT_EQ(err.str(), "rowbloom: cannot write to standard output\n");
}

class Verbs : public ::testing::Test {
 protected:
  void SetUp() override {
    std::unique_ptr<Store> store;
    ASSERT_THAT(Store::Open({}, db_,
                            {{"a", {}}, {"b", {.bloom_type = BloomType::kRow}}},
                            &store),
                IsOk());
    ASSERT_THAT(store->Put("r", "a", "mail", "x@y"), IsOk());
    ASSERT_THAT(store->Put("r", "a", std::string("\0:\xff", 3), "1\t2\n\\"),
                IsOk());
    ASSERT_THAT(store->Put("r", "b", "", ""), IsOk());
    ASSERT_THAT(store->Put(std::string("\0\1", 2), "a", "q", "binary"), IsOk());
    ASSERT_THAT(store->Put("C:\\dir", "a", "q", "backslash"), IsOk());
    ASSERT_THAT(store->Put("-r", "a", "q", "dash"), IsOk());
    ASSERT_THAT(store->Put("get", "a", "q", "verb"), IsOk());
    ASSERT_THAT(store->Flush(), IsOk());
  }

  TempDir dir_;
  const std::string db_ = dir_.File("db");
};

TEST_F(Verbs, GetPrintsTheValueAsItIs) {
  const struct {
    std::vector<std::string> cell;
    const char* value;
  } cases[] = {
      {{"r", "a:mail"}, "x@y\n"},
      {{"r", "b:"}, "\n"},
      {{"r", "a:\\x00:\\xff"}, "1\t2\n\\\n"},
      {{"\\x00\\x01", "a:q"}, "binary\n"},
      {{"C:\\dir", "a:q"}, "backslash\n"},
      {{"--", "-r", "a:q"}, "dash\n"},
      {{"get", "a:q"}, "verb\n"},
  };
  for (const auto& c : cases) {
    std::vector<std::string> args = {"get", "--db", db_};
    args.insert(args.end(), c.cell.begin(), c.cell.end());
    const CliResult result = Cli(args);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, c.value);
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(Verbs, GetOfAnAbsentCellIsAFinding) {
  const CliResult result = Cli({"get", "--db", db_, "r\\x0A", "a:q"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "rowbloom: no cell \"a:q\" in row \"r\\x0A\"\n");
}

TEST_F(Verbs, GetOfAnUnknownFamilyIsAnError) {
  const CliResult result = Cli({"get", "--db", db_, "r", "x:q"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err, "rowbloom: family \"x\" is not in the store at " + db_ +
                            "; it has: a, b\n");
}

TEST_F(Verbs, RowPrintsALinePerCell) {
  const CliResult result = Cli({"row", "--db", db_, "r"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(
      result.out,
      MatchesRegex("a:\\\\x00:\\\\xFF\t[0-9]{13}\t1\\\\x092\\\\x0A\\\\x5C\n"
                   "a:mail\t[0-9]{13}\tx@y\n"
                   "b:\t[0-9]{13}\t\n"));
  EXPECT_EQ(result.err, "");
}

TEST_F(Verbs, AbsentRowIsAFinding) {
  const CliResult result = Cli({"row", "--db", db_, "s"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "rowbloom: no row \"s\"\n");
}

TEST_F(Verbs, RowThatCannotBeIsAnError) {
  for (const std::string& row : {std::string(), std::string(40'000, 'r')}) {
    const CliResult result = Cli({"row", "--db", db_, row});
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.err, "rowbloom: a row of " + std::to_string(row.size()) +
                              " bytes: expected 1 to 32767\n");
  }
}

TEST_F(Verbs, StatsPrintsALinePerFamily) {
  const CliResult result = Cli({"stats", "--db", db_});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  std::istringstream lines(result.out);
  std::string header, a, b, rest;
  std::getline(lines, header);
  std::getline(lines, a);
  std::getline(lines, b);
  EXPECT_FALSE(std::getline(lines, rest)) << rest;
  EXPECT_THAT(header, MatchesRegex("family +bloom type +rate +cells +files "
                                   "+file bytes +filter bytes"));
  EXPECT_THAT(a, MatchesRegex("a +ROWCOL +0\\.01 +6 +1 +[0-9]+ +[0-9]+"));
  EXPECT_THAT(b, MatchesRegex("b +ROW +0\\.01 +1 +1 +[0-9]+ +[0-9]+"));
  EXPECT_EQ(header.size(), a.size());
  EXPECT_EQ(header.size(), b.size());
}

TEST_F(Verbs, StoreOfAnotherKeyLayoutIsAnError) {
  const CliResult result =
      Cli({"stats", "--db", db_, "--key-layout", "fixed:8"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err, "rowbloom: the store at " + db_ +
                            " has key layout escaped, not fixed:8\n");
}

TEST_F(Verbs, ReadingCreatesNothing) {
  const std::string absent = dir_.File("absent");
  const std::vector<std::vector<std::string>> commands = {
      {"get", "--db", absent, "r", "f:q"},
      {"row", "--db", absent, "r"},
      {"stats", "--db", absent}};
  for (const auto& args : commands) {
    const CliResult result = Cli(args);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.err, "rowbloom: no store at " + absent + "\n");
    EXPECT_FALSE(std::filesystem::exists(absent));
  }
  std::filesystem::create_directory(absent);
  EXPECT_EQ(Cli({"stats", "--db", absent}).code, 2);
  EXPECT_TRUE(std::filesystem::is_empty(absent));
}

}  // namespace
}  // namespace rowbloom::test

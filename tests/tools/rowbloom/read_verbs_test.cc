// The verbs that read.
#include "tools/rowbloom/read_verbs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
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

class Verbs : public ::testing::Test {
 protected:
  void SetUp() override {
    std::unique_ptr<Store> store;
    ASSERT_THAT(
        Store::Open({}, db_,
                    {{"a", {}},
                     {"b", {.bloom_type = BloomType::kRow, .max_versions = 2}}},
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

TEST_F(Verbs, GetPrintsTheValueAsHBaseDoes) {
  const struct {
    std::vector<std::string> cell;
    const char* value;
  } cases[] = {
      {{"r", "a:mail"}, "x@y\n"},
      {{"r", "b:"}, "\n"},
      {{"r", "a:\\x00:\\xff"}, "1\\x092\\x0A\\x5C\n"},
      {{"--hex", "r", "a:\\x00:\\xff"}, "3109320a5c\n"},
      {{"--raw", "r", "a:\\x00:\\xff"}, "1\t2\n\\"},
      {{"--raw", "r", "b:"}, ""},
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
  EXPECT_EQ(result.err, "rowbloom: no cells in row \"s\"\n");
}

TEST_F(Verbs, RowThatCannotBeIsAnError) {
  for (const std::string& row : {std::string(), std::string(40'000, 'r')}) {
    const CliResult result = Cli({"row", "--db", db_, row});
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.err, "rowbloom: a row of " + std::to_string(row.size()) +
                              " bytes: expected 1 to 32767\n");
  }
}

TEST_F(Verbs, StatsPrintsALinePerFamilyAndPerLevel) {
  const CliResult result = Cli({"stats", "--db", db_});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(
      result.out,
      MatchesRegex("family +bloom type +rate +rows +cells +memory bytes +files "
                   "+file bytes +filter bytes +other settings\n"
                   "a +ROWCOL +0\\.01 +5 +6 +[0-9]+ +1 +[0-9]+ +[0-9]+ *\n"
                   "b +ROW +0\\.01 +1 +1 +[0-9]+ +1 +[0-9]+ +[0-9]+ "
                   "+versions=2\n"
                   "\n"
                   "family +level +files +file bytes\n"
                   "a +0 +1 +[0-9]+\n"
                   "b +0 +1 +[0-9]+\n"));
}

TEST_F(Verbs, StatsHasAnObjectPerFamily) {
  const CliResult result = Cli({"stats", "--db", db_, "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  std::istringstream lines(result.out);
  std::string a, b, rest;
  std::getline(lines, a);
  std::getline(lines, b);
  EXPECT_FALSE(std::getline(lines, rest)) << rest;
  const auto family = nlohmann::json::parse(b);
  EXPECT_EQ(family["family"], "b");
  EXPECT_EQ(family["settings"]["bloom"], "ROW");
  EXPECT_EQ(family["settings"]["versions"], "2");
  EXPECT_EQ(family["rows"], 1);
  EXPECT_EQ(family["cells"], 1);
  EXPECT_EQ(family["files"], 1);
  EXPECT_EQ(family["levels"][0]["level"], 0);
  EXPECT_EQ(family["levels"][0]["file_bytes"], family["file_bytes"]);
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
      {"scan", "--db", absent},
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

TEST_F(Verbs, RowPrintsChosenColumns) {
  const CliResult result = Cli({"row", "--db", db_, "r", "b", "a:mail"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, MatchesRegex("a:mail\t[0-9]{13}\tx@y\n"
                                       "b:\t[0-9]{13}\t\n"));
  EXPECT_EQ(Cli({"row", "--db", db_, "r", "a:none"}).code, 1);
}

// Five rows with three versions of one cell each.
class Versions : public ::testing::Test {
 protected:
  void SetUp() override {
    std::unique_ptr<Store> store;
    ASSERT_THAT(
        Store::Open(
            {}, db_,
            {{"f", {.timestamps = Timestamps::kClient, .max_versions = 3}},
             {"g", {}}},
            &store),
        IsOk());
    for (const char* row : {"a1", "a2", "b1", "b\xff", "c"}) {
      for (const uint64_t at : {10, 30, 20}) {
        ASSERT_THAT(store->Put(row, "f", "q", "v" + std::to_string(at),
                               {.timestamp_ms = at}),
                    IsOk());
      }
    }
    ASSERT_THAT(store->Put("a1", "f", "\"", "quote", {.timestamp_ms = 7}),
                IsOk());
  }

  // The output of the verb, of this store.
  std::string Out(const std::string& verb,
                  const std::vector<std::string>& more_args) {
    std::vector<std::string> args = {verb, "--db", db_};
    args.insert(args.end(), more_args.begin(), more_args.end());
    const CliResult result = Cli(args);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return result.out;
  }

  TempDir dir_;
  const std::string db_ = dir_.File("db");
};

TEST_F(Versions, GetPrintsAVersionALine) {
  EXPECT_EQ(Out("get", {"c", "f:q"}), "v30\n");
  EXPECT_EQ(Out("get", {"c", "f:q", "--versions", "2"}), "30\tv30\n20\tv20\n");
  EXPECT_EQ(Out("get", {"c", "f:q", "--versions", "9"}),
            "30\tv30\n20\tv20\n10\tv10\n");
  EXPECT_EQ(Out("get", {"c", "f:q", "--until", "030"}), "v20\n");
  EXPECT_EQ(Out("get", {"c", "f:q", "--versions", "9", "--from", "20"}),
            "30\tv30\n20\tv20\n");
  EXPECT_EQ(Cli({"get", "--db", db_, "c", "f:q", "--versions", "0"}).code, 2);
  EXPECT_EQ(Cli({"get", "--db", db_, "c", "f:q", "--until", "10"}).code, 1);
}

TEST_F(Versions, RowPrintsVersions) {
  EXPECT_EQ(Out("row", {"a1", "--versions", "2"}),
            "f:\"\t7\tquote\nf:q\t30\tv30\nf:q\t20\tv20\n");
}

TEST_F(Versions, JsonHasAnObjectALine) {
  EXPECT_EQ(Out("get", {"c", "f:q", "--json"}),
            R"({"row":"c","family":"f","qualifier":"q",)"
            R"("timestamp":30,"value":"v30"})"
            "\n");
  EXPECT_EQ(Out("row", {"a1", "--json"}),
            R"({"row":"a1","family":"f","qualifier":"\"",)"
            R"("timestamp":7,"value":"quote"})"
            "\n"
            R"({"row":"a1","family":"f","qualifier":"q",)"
            R"("timestamp":30,"value":"v30"})"
            "\n");
  // The backslash is JSON's, and the escape as in text.
  EXPECT_EQ(Out("scan", {"--json", "--start", "b\\xFF", "--stop", "c"}),
            R"({"row":"b\\xFF","family":"f","qualifier":"q",)"
            R"("timestamp":30,"value":"v30"})"
            "\n");
  EXPECT_EQ(Out("scan", {"--json", "--hex", "--prefix", "b\\xFF"}),
            R"({"row":"62ff","family":"f","qualifier":"71",)"
            R"("timestamp":30,"value":"763330"})"
            "\n");
}

TEST_F(Versions, ScanTakesItsRange) {
  const std::string a1 = "a1\tf:q\t30\tv30\n";
  const std::string a2 = "a2\tf:q\t30\tv30\n";
  const std::string b1 = "b1\tf:q\t30\tv30\n";
  const std::string bff = "b\\xFF\tf:q\t30\tv30\n";
  const std::string c = "c\tf:q\t30\tv30\n";
  EXPECT_EQ(Out("scan", {"f:q"}), a1 + a2 + b1 + bff + c);
  EXPECT_EQ(Out("scan", {}), "a1\tf:\"\t7\tquote\n" + a1 + a2 + b1 + bff + c);
  EXPECT_EQ(Out("scan", {"f:q", "--start", "a2", "--stop", "b\\xFF"}), a2 + b1);
  EXPECT_EQ(Out("scan", {"f:q", "--prefix", "a"}), a1 + a2);
  EXPECT_EQ(Out("scan", {"f:q", "--reverse", "--limit", "2"}), c + bff);
  EXPECT_EQ(Out("scan", {"f:q", "--prefix", "c", "--versions", "2"}),
            c + "c\tf:q\t20\tv20\n");
  EXPECT_EQ(Out("scan", {"f:q", "--prefix", "c", "--until", "20"}),
            "c\tf:q\t10\tv10\n");
  // Nothing found is no failure of a scan.
  EXPECT_EQ(Out("scan", {"--prefix", "x"}), "");
  EXPECT_EQ(Out("scan", {"g"}), "");
}

TEST_F(Versions, ScanOfAnUnknownFamilyIsAnError) {
  const CliResult result = Cli({"scan", "--db", db_, "x"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err, "rowbloom: family \"x\" is not in the store at " + db_ +
                            "; it has: f, g\n");
}

// Takes so many bytes, and then none: a disk that is full, a pipe that nobody
// reads.
class FullBuffer : public std::streambuf {
 public:
  explicit FullBuffer(size_t bytes) : left_(bytes) {}
  size_t refused() const { return refused_; }

 protected:
  int_type overflow(int_type c) override {
    if (left_ > 0) {
      --left_;
      return traits_type::not_eof(c);
    }
    ++refused_;
    return traits_type::eof();
  }

 private:
  size_t left_;
  size_t refused_ = 0;
};

TEST_F(Versions, ScanEndsWhenNobodyReadsOn) {
  FullBuffer full(20);
  std::ostream out(&full);
  std::istringstream in;
  std::ostringstream err;
  EXPECT_EQ(cli::Run({"scan", "--db", db_}, {.in = in, .out = out, .err = err}),
            2);
  EXPECT_EQ(err.str(), "rowbloom: cannot write to standard output\n");
  EXPECT_EQ(full.refused(), 1u);
}

}  // namespace
}  // namespace rowbloom::test

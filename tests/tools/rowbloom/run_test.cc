// The command line itself.
#include "tools/rowbloom/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/tools/rowbloom/cli.h"
#include "tools/rowbloom/verbs.h"

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
       {"create", "alter", "drop", "load", "put", "delete", "checkpoint",
        "backup", "restore", "get", "row", "scan", "flush", "compact",
        "reset-clock", "stats", "filter", "Exit codes"}) {
    EXPECT_THAT(result.out, HasSubstr(word));
  }
  EXPECT_EQ(result.err, "");
}

TEST(CommandLine, EveryVerbHasHelp) {
  for (const cli::Verb& verb : cli::Verbs()) {
    const CliResult result = Cli({verb.name, "--help"});
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.out, AllOf(StartsWith(verb.summary), HasSubstr("--help"),
                                  HasSubstr("Exit codes")));
    EXPECT_EQ(result.err, "");
  }
}

TEST(CommandLine, WrongUsageIsOneSentence) {
  const struct {
    std::vector<std::string> args;
    const char* problem;
  } cases[] = {
      {{}, "expected a verb, found nothing; see rowbloom --help"},
      {{"fetch"}, "expected a verb, found \"fetch\"; see rowbloom --help"},
      {{"-x\n"}, "found \"-x\\x0A\""},
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
      {{"create", "--db", "x"}, "--family is required"},
      {{"alter", "--db", "x"}, "--family is required"},
      {{"alter", "--db", "x", "--family", "f,size=2"}, "found \"size=2\""},
      {{"drop", "--db", "x"}, "--family is required"},
      {{"checkpoint", "--db", "x"}, "TARGET is required"},
      {{"backup", "--db", "x"}, "BACKUPS is required"},
      {{"restore", "x"}, "--db is required"},
      {{"backups", "x", "--keep", "1", "--delete", "1"}, "excludes"},
      {{"put", "--db", "x", "r", "f:q"}, "VALUE is required"},
      {{"put", "--db", "x", "r", "f", "v"},
       "expected FAMILY:QUALIFIER, found \"f\""},
      {{"put", "--db", "x", "--ts", "-1", "r", "f:q", "v"},
       "--ts: expected a whole number of at most 18446744073709551615, "
       "found \"-1\""},
      {{"delete", "--db", "x"}, "ROW is required"},
      {{"delete", "--db", "x", "r", "f", "more"}, "more"},
      {{"get", "--db", "x", "r", "f:q", "--raw", "--json"}, "excludes"},
      {{"get", "--db", "x", "r", "f:q", "--raw", "--versions", "2"},
       "excludes"},
      {{"get", "--db", "x", "r", "f:q", "--versions", "many"}, "--versions"},
      {{"scan", "--db", "x", "--limit", "0x1"}, "found \"0x1\""},
      {{"scan", "--db", "x", "--limit", "18446744073709551616"},
       "--limit: expected a whole number"},
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
  EXPECT_EQ(cli::Run({"--version"}, {.in = in, .out = out, .err = err}), 2);
  EXPECT_EQ(err.str(), "rowbloom: cannot write to standard output\n");
}

}  // namespace
}  // namespace rowbloom::test

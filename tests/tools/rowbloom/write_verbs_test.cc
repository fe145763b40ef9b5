// The verbs that create, write and tidy up.
#include "tools/rowbloom/write_verbs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "rowbloom/store.h"
#include "storage/store/open_store.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/rowbloom/broken_stream.h"
#include "tests/tools/rowbloom/cli.h"

namespace rowbloom::test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class Writing : public ::testing::Test {
 protected:
  CliResult Run(const std::string& verb,
                const std::vector<std::string>& more_args,
                const std::string& input = "") {
    std::vector<std::string> args = {verb, "--db", db_};
    args.insert(args.end(), more_args.begin(), more_args.end());
    return Cli(args, input);
  }

  // Runs a verb that succeeds and has nothing to say.
  void Do(const std::string& verb, const std::vector<std::string>& more_args,
          const std::string& input = "") {
    const CliResult result = Run(verb, more_args, input);
    EXPECT_EQ(result.code, 0) << verb;
    EXPECT_EQ(result.out + result.err, "");
  }

  // All cells and versions of the store.
  std::string Scan() { return Run("scan", {"--versions", "9"}).out; }

  FamilyStats StatsOf(const std::string& family) {
    std::unique_ptr<Store> store;
    EXPECT_THAT(Store::Open({.read_only = true}, db_, {}, &store), IsOk());
    StoreStats stats;
    if (store == nullptr) return {};
    EXPECT_THAT(store->Stats(&stats), IsOk());
    return stats.families[family];
  }

  TempDir dir_;
  const std::string db_ = dir_.File("db");
};

TEST_F(Writing, CreateMakesFamiliesWithTheirSettings) {
  Do("create", {"--family", "a", "--family", "b,bloom=ROW,versions=3"});
  EXPECT_EQ(StatsOf("a").options, FamilyOptions());
  EXPECT_EQ(StatsOf("b").options,
            (FamilyOptions{.bloom_type = BloomType::kRow, .max_versions = 3}));
  // Adds what is missing, and leaves alone what is there.
  Do("create", {"--family", "b,bloom=ROW,versions=3", "--family", "c"});
  EXPECT_EQ(Run("put", {"r", "c:q", "v"}).code, 0);
  EXPECT_EQ(Run("put", {"r", "a:q", "v"}).code, 0);
}

TEST_F(Writing, CreateOfAFamilyWithOtherSettingsIsAnError) {
  Do("create", {"--family", "a"});
  const CliResult result = Run("create", {"--family", "a,bloom=ROW"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("bloom_type ROWCOL, not ROW"));
}

TEST_F(Writing, BadFamiliesCreateNothing) {
  for (const std::string family :
       {"a:b", "", "a,versions=0", "a,ttl=soon", "a,rate=2", "a,block=1"}) {
    const CliResult result = Run("create", {"--family", family});
    EXPECT_EQ(result.code, 2) << family;
    EXPECT_THAT(result.err, HasSubstr("family"));
    EXPECT_FALSE(std::filesystem::exists(db_)) << family;
  }
}

TEST_F(Writing, CreateTakesAKeyLayoutThatTheStoreKnowsFromThenOn) {
  Do("create", {"--family", "a", "--key-layout", "fixed:4"});
  Do("put", {"abcd", "a:q", "v"});
  EXPECT_EQ(Run("get", {"abcd", "a:q"}).out, "v\n");
  EXPECT_EQ(Run("get", {"abcd", "a:q", "--key-layout", "fixed:4"}).out, "v\n");
  EXPECT_EQ(Run("put", {"abc", "a:q", "v"}).code, 2);
  const CliResult other =
      Run("get", {"abcd", "a:q", "--key-layout", "escaped"});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("has key layout fixed:4, not escaped"));
}

TEST_F(Writing, PutWritesWhatGetPrints) {
  Do("create", {"--family", "f,timestamps=client"});
  Do("put", {"r\\x00", "f:\\xFF", "a\\x00b\\", "--ts", "5", "--sync"});
  EXPECT_EQ(Scan(), "r\\x00\tf:\\xFF\t5\ta\\x00b\\x5C\n");
  Do("put", {"--ts", "6", "--", "-r", "f:", "-"}, std::string("\0-\n", 3));
  EXPECT_EQ(Scan(),
            "-r\tf:\t6\t\\x00-\\x0A\nr\\x00\tf:\\xFF\t5\ta\\x00b\\x5C\n");
  EXPECT_EQ(Run("get", {"--raw", "--", "-r", "f:"}).out,
            std::string("\0-\n", 3));
}

TEST_F(Writing, PutTakesLargeValuesFromStandardInput) {
  Do("create", {"--family", "f"});
  std::string value(size_t{3} << 20, 'v');
  value += "end";
  Do("put", {"r", "f:q", "-"}, value);
  EXPECT_EQ(Run("get", {"r", "f:q", "--raw"}).out, value);
}

TEST_F(Writing, PutOfBrokenInputWritesNothing) {
  Do("create", {"--family", "f"});
  BrokenStream in("half");
  const CliResult result = Cli({"put", "--db", db_, "r", "f:q", "-"}, in);
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err, "rowbloom: standard input: cannot be read\n");
  EXPECT_EQ(Scan(), "");
}

TEST_F(Writing, WhatTheStoreRefusesIsOneSentence) {
  Do("create", {"--family", "f"});
  const struct {
    const char* verb;
    std::vector<std::string> args;
    const char* problem;
  } cases[] = {
      {"put", {"r", "x:q", "v"}, "family \"x\" is not in the store at "},
      {"put", {"", "f:q", "v"}, "a row of 0 bytes"},
      {"put", {"r", "f:q", "v", "--ts", "5"}, "a put takes no timestamp"},
      {"delete", {"r", "x"}, "family \"x\" is not in the store at "},
      {"delete", {"r", "f:q", "--ts", "5"}, "a delete takes no timestamp"},
      {"delete", {"r", "f:q", "--exact"}, "--exact wants --ts and FAMILY"},
      {"delete",
       {"r", "f", "--ts", "5", "--exact"},
       "a delete takes no timestamp"},
      {"delete", {"r", "--ts", "5", "--exact"}, "--exact wants"},
      {"compact", {"--family", "x"}, "family \"x\" is not in the store at "},
  };
  for (const auto& c : cases) {
    const CliResult result = Run(c.verb, c.args);
    EXPECT_EQ(result.code, 2) << c.problem;
    EXPECT_THAT(result.err, HasSubstr(c.problem));
    EXPECT_EQ(result.out, "");
  }
}

// Each form takes what it names and nothing else.
TEST_F(Writing, DeleteTakesWhatItNames) {
  Do("create", {"--family", "f,timestamps=client,versions=3", "--family",
                "g,timestamps=client"});
  for (const std::string at : {"100", "200", "300"}) {
    ASSERT_EQ(Run("load", {"-", "--ts", at},
                  "r\tf:q\t" + at + "\ns\tf:q\t" + at + "\n")
                  .code,
              0);
  }
  ASSERT_EQ(Run("load", {"-", "--ts", "100"},
                "r\tf:q2\tw\ns\tf:q2\tw\nr\tg:q\tx\ns\tg:q\tx\n")
                .code,
            0);
  const std::string s =
      "s\tf:q\t300\t300\ns\tf:q\t200\t200\ns\tf:q\t100\t100\n"
      "s\tf:q2\t100\tw\ns\tg:q\t100\tx\n";
  Do("delete", {"r", "f:q", "--ts", "200", "--exact"});
  EXPECT_EQ(Scan(),
            "r\tf:q\t300\t300\nr\tf:q\t100\t100\n"
            "r\tf:q2\t100\tw\nr\tg:q\t100\tx\n" +
                s);
  Do("delete", {"t", "f", "--ts", "100", "--exact"});
  ASSERT_EQ(Run("load", {"-", "--ts", "100"}, "t\tf:q\tx\nt\tg:q\tx\n").code,
            0);
  EXPECT_EQ(Run("row", {"t"}).out, "g:q\t100\tx\n");
  Do("delete", {"t", "g", "--ts", "100", "--exact"});
  EXPECT_EQ(Run("row", {"t"}).code, 1);
  Do("delete", {"r", "f:q", "--ts", "200"});
  EXPECT_EQ(Scan(), "r\tf:q\t300\t300\nr\tf:q2\t100\tw\nr\tg:q\t100\tx\n" + s);
  Do("delete", {"r", "f:q"});
  EXPECT_EQ(Scan(), "r\tf:q2\t100\tw\nr\tg:q\t100\tx\n" + s);
  Do("delete", {"r", "f"});
  EXPECT_EQ(Scan(), "r\tg:q\t100\tx\n" + s);
  Do("delete", {"r"});
  EXPECT_EQ(Scan(), s);
  // What is not there can be deleted.
  Do("delete", {"t", "f:q"});
  EXPECT_EQ(Scan(), s);
}

TEST_F(Writing, FlushAndCompactMakeFiles) {
  Do("create", {"--family", "f"});
  for (const char* row : {"a", "b", "c"}) {
    Do("put", {row, "f:q", "v"});
    Do("flush", {});
  }
  EXPECT_EQ(StatsOf("f").files, 3u);
  Do("compact", {"--family", "f", "--start", "x", "--stop", "y"});
  EXPECT_EQ(StatsOf("f").files, 3u);
  Do("compact", {});
  EXPECT_EQ(StatsOf("f").files, 1u);
  EXPECT_EQ(Run("scan", {"--limit", "1"}).code, 0);
}

TEST_F(Writing, AlterChangesWhatIsNamedAndNothingElse) {
  Do("create", {"--family", "a,versions=3,bloom=ROW", "--family", "b"});
  Do("alter", {"--family", "a,ttl=7d,bloom=ROWCOL", "--family", "b,rate=0.1"});
  EXPECT_EQ(StatsOf("a").options,
            (FamilyOptions{.max_versions = 3, .ttl_ms = 604'800'000}));
  EXPECT_EQ(StatsOf("b").options, FamilyOptions{.false_positive_rate = 0.1});
  Do("alter", {"--family", "a,ttl=forever"});
  EXPECT_EQ(StatsOf("a").options, FamilyOptions{.max_versions = 3});
}

TEST_F(Writing, AlterRefusesWhatCannotBe) {
  Do("create", {"--family", "a"});
  // The cells of the family are of another format.
  EXPECT_EQ(Run("alter", {"--family", "a,versions=3"}).code, 2);
  EXPECT_EQ(Run("alter", {"--family", "a,rate=2"}).code, 2);
  const CliResult result = Run("alter", {"--family", "x,ttl=1d"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("family \"x\""));
  EXPECT_EQ(StatsOf("a").options, FamilyOptions());
}

TEST_F(Writing, DropTakesFamiliesWithTheirCells) {
  Do("create", {"--family", "a", "--family", "b"});
  Do("put", {"r", "a:q", "v"});
  Do("drop", {"--family", "a"});
  EXPECT_EQ(Run("get", {"r", "a:q"}).code, 2);
  Do("create", {"--family", "a"});
  EXPECT_EQ(Run("get", {"r", "a:q"}).code, 1);
  EXPECT_EQ(Run("drop", {"--family", "x"}).code, 2);
}

TEST_F(Writing, FamiliesAreChangedAllOrNone) {
  Do("create", {"--family", "a", "--family", "b"});
  Do("put", {"r", "a:q", "v"});
  const auto fails = [this](const char* verb, const std::string& second,
                            const std::string& why) {
    const CliResult result =
        Run(verb, {"--family", verb == std::string("drop") ? "a" : "a,ttl=1d",
                   "--family", second});
    EXPECT_EQ(result.code, 2) << verb << second;
    EXPECT_THAT(result.err, HasSubstr(why));
    EXPECT_EQ(Run("get", {"r", "a:q"}).out, "v\n");
    EXPECT_EQ(StatsOf("a").options, FamilyOptions());
  };
  fails("drop", "typo", "family \"typo\" is not in the store");
  fails("alter", "typo,ttl=1d", "family \"typo\" is not in the store");
  fails("alter", "b,rate=2", "family \"b\"");
  fails("alter", "b,versions=2", "cannot be altered");
  EXPECT_EQ(Run("create", {"--family", "c", "--family", "b,versions=2"}).code,
            2);
  EXPECT_EQ(Run("create", {"--family", "c", "--family", "d,rate=2"}).code, 2);
  fails("drop", "c", "family \"c\"");
  // A family that is named twice is one.
  Do("alter", {"--family", "a,ttl=1d", "--family", "a,rate=0.1"});
  EXPECT_EQ(StatsOf("a").options,
            (FamilyOptions{.false_positive_rate = 0.1, .ttl_ms = 86'400'000}));
  Do("drop", {"--family", "a", "--family", "a"});
  EXPECT_EQ(Run("get", {"r", "a:q"}).code, 2);
}

TEST_F(Writing, CheckpointIsAStoreOfItsOwn) {
  Do("create", {"--family", "f"});
  Do("put", {"r", "f:q", "old"});
  const std::string copy = dir_.File("copy");
  Do("checkpoint", {copy});
  Do("put", {"r", "f:q", "new"});
  EXPECT_EQ(Cli({"get", "--db", copy, "r", "f:q"}).out, "old\n");
  EXPECT_EQ(Run("get", {"r", "f:q"}).out, "new\n");
  // There is one already.
  EXPECT_EQ(Run("checkpoint", {copy}).code, 2);
}

// Backups of a store whose cell f:q of row r has their number as value.
class Backups : public Writing {
 protected:
  void MakeBackups(int count) {
    Do("create", {"--family", "f"});
    for (int i = 1; i <= count; ++i) {
      Do("put", {"r", "f:q", std::to_string(i)});
      const CliResult result = Run("backup", {backups_});
      EXPECT_EQ(result.code, 0) << result.err;
      EXPECT_THAT(result.out, HasSubstr(" made\n"));
    }
  }

  // The ids and the states that `backups` prints.
  std::string List(const std::vector<std::string>& more_args = {},
                   int expected_code = 0) {
    std::vector<std::string> args = {"backups", backups_, "--json"};
    args.insert(args.end(), more_args.begin(), more_args.end());
    const CliResult result = Cli(args);
    EXPECT_EQ(result.code, expected_code) << result.err;
    std::istringstream lines(result.out);
    std::string line, brief;
    while (std::getline(lines, line)) {
      const auto object = nlohmann::json::parse(line);
      brief += std::to_string(object["backup"].get<int>()) + " " +
               object["state"].get<std::string>() + "\n";
    }
    return brief;
  }

  std::string Restored(const std::vector<std::string>& more_args) {
    const std::string copy = dir_.File("copy");
    std::filesystem::remove_all(copy);
    std::vector<std::string> args = {"restore", "--db", copy, backups_};
    args.insert(args.end(), more_args.begin(), more_args.end());
    const CliResult result = Cli(args);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out + result.err, "");
    return Cli({"get", "--db", copy, "r", "f:q"}).out;
  }

  const std::string backups_ = dir_.File("backups");
};

TEST_F(Backups, AreListedAndRestored) {
  MakeBackups(2);
  const CliResult table = Cli({"backups", backups_});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out,
              testing::MatchesRegex("backup  made +files +bytes  state\n"
                                    " +1  20.*UTC +[0-9]+ +[0-9]+  listed\n"
                                    " +2  20.*UTC +[0-9]+ +[0-9]+  listed\n"));
  EXPECT_EQ(List({"--verify"}), "1 verified\n2 verified\n");
  EXPECT_EQ(Restored({}), "2\n");
  EXPECT_EQ(Restored({"--id", "1"}), "1\n");
  EXPECT_EQ(
      Cli({"restore", "--db", dir_.File("none"), backups_, "--id", "3"}).code,
      2);
}

TEST_F(Backups, OldOnesAreDeleted) {
  MakeBackups(4);
  EXPECT_EQ(List({"--delete", "3"}), "1 listed\n2 listed\n4 listed\n");
  EXPECT_EQ(List({"--keep", "1"}), "4 listed\n");
  EXPECT_EQ(Restored({}), "4\n");
  EXPECT_EQ(Cli({"backups", backups_, "--delete", "1"}).code, 2);
}

TEST_F(Backups, DamagedOnesAreFound) {
  MakeBackups(1);
  // A byte of the largest file, its length being as it was.
  std::filesystem::path largest;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(backups_)) {
    if (entry.path().extension() != ".sst") continue;
    if (largest.empty() || entry.file_size() > file_size(largest)) {
      largest = entry.path();
    }
  }
  ASSERT_FALSE(largest.empty());
  std::fstream file(largest, std::ios::in | std::ios::out | std::ios::binary);
  const char byte = static_cast<char>(file.peek() ^ 1);
  file.seekp(0);
  file.put(byte);
  file.close();
  EXPECT_EQ(List(), "1 listed\n");
  EXPECT_EQ(List({"--verify"}, 1), "1 damaged\n");
}

TEST_F(Backups, OfNothingAreAnError) {
  EXPECT_EQ(Cli({"backups", backups_}).code, 2);
  EXPECT_EQ(Cli({"restore", "--db", db_, backups_}).code, 2);
  EXPECT_FALSE(std::filesystem::exists(db_));
}

TEST_F(Writing, OneProcessWritesAndOthersRead) {
  Do("create", {"--family", "f"});
  std::unique_ptr<Store> writer;
  ASSERT_THAT(Store::Open({}, db_, {}, &writer), IsOk());
  ASSERT_THAT(writer->Put("r", "f", "q", "v"), IsOk());
  const CliResult result = Run("put", {"r", "f:q", "w"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr(db_));
  EXPECT_EQ(Run("get", {"r", "f:q"}).out, "v\n");
}

// A store that was written while the machine's clock was wrong.
class WrongClock : public Writing {
 protected:
  static constexpr uint64_t k2099 = 4'070'908'800'000;

  void SetUp() override {
    std::unique_ptr<Store> store;
    ASSERT_THAT(OpenStore({}, db_, {{"f", {}}},
                          {.wall_clock = [] { return k2099; }}, &store),
                IsOk());
    ASSERT_THAT(store->Put("r", "f", "q", "v"), IsOk());
    ASSERT_THAT(store->Backup(backups_), IsOk());
  }

  uint64_t TimestampOf(const std::string& row) {
    const CliResult result = Run("get", {row, "f:q", "--json"});
    return nlohmann::json::parse(result.out)["timestamp"];
  }

  const std::string backups_ = dir_.File("backups");
};

TEST_F(WrongClock, IsAWarningOfEveryVerbThatOpensTheStore) {
  const std::pair<std::string, std::vector<std::string>> commands[] = {
      {"create", {"--family", "g"}},
      {"alter", {"--family", "g,ttl=1d"}},
      {"drop", {"--family", "g"}},
      {"load", {"-"}},
      {"put", {"r", "f:q2", "v"}},
      {"delete", {"r", "f:q2"}},
      {"get", {"r", "f:q"}},
      {"row", {"r"}},
      {"scan", {}},
      {"flush", {}},
      {"compact", {}},
      {"checkpoint", {dir_.File("copy")}},
      {"backup", {backups_}},
      {"stats", {}}};
  for (const auto& [verb, args] : commands) {
    const CliResult result = Run(verb, args, "r\tf:q3\tv\n");
    EXPECT_EQ(result.code, 0) << verb;
    EXPECT_THAT(result.err, MatchesRegex("rowbloom: the store at .* days ahead "
                                         ".*`rowbloom reset-clock .*\n"))
        << verb;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
    EXPECT_THAT(result.out, Not(HasSubstr("reset-clock"))) << verb;
  }
  EXPECT_EQ(TimestampOf("r"), k2099);  // the output is JSON alone
}

TEST_F(WrongClock, IsPutRightByResetClock) {
  EXPECT_GE(Run("put", {"s", "f:q", "v"}).err.size(), 1u);
  EXPECT_GE(TimestampOf("s"), k2099);
  Do("reset-clock", {});
  EXPECT_EQ(Run("get", {"r", "f:q"}).err, "");
  const uint64_t before_ms = SystemWallClock();
  Do("put", {"t", "f:q", "v"});
  EXPECT_GE(TimestampOf("t"), before_ms);
  EXPECT_LE(TimestampOf("t"), SystemWallClock());
  EXPECT_EQ(TimestampOf("r"), k2099);
}

TEST_F(Writing, WritingCreatesNoStore) {
  const std::pair<std::string, std::vector<std::string>> commands[] = {
      {"put", {"r", "f:q", "v"}},
      {"delete", {"r"}},
      {"alter", {"--family", "f,ttl=1d"}},
      {"drop", {"--family", "f"}},
      {"flush", {}},
      {"compact", {}},
      {"reset-clock", {}},
      {"checkpoint", {dir_.File("copy")}},
      {"backup", {dir_.File("backups")}}};
  for (const auto& [verb, args] : commands) {
    const CliResult result = Run(verb, args);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.err, "rowbloom: no store at " + db_ + "\n");
    EXPECT_FALSE(std::filesystem::exists(db_));
  }
}

}  // namespace
}  // namespace rowbloom::test

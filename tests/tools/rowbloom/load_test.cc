#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <streambuf>
#include <utility>

#include "rowbloom/store.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/rowbloom/broken_stream.h"
#include "tests/tools/rowbloom/cli.h"
#include "tools/rowbloom/load_verb.h"

namespace rowbloom::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class Load : public ::testing::Test {
 protected:
  CliResult LoadText(const std::string& text,
                     const std::vector<std::string>& more_args = {}) {
    std::vector<std::string> args = {"load", "--db", db_};
    args.insert(args.end(), more_args.begin(), more_args.end());
    args.push_back("-");
    return Cli(args, text);
  }

  std::vector<std::string> Row(const std::string& row) {
    std::unique_ptr<Store> store;
    EXPECT_THAT(Store::Open({.read_only = true}, db_, {}, &store), IsOk());
    std::vector<std::string> brief;
    if (store == nullptr) return brief;
    std::vector<Cell> cells;
    EXPECT_THAT(store->GetRow(row, &cells), IsOk());
    for (const Cell& cell : cells) {
      brief.push_back(cell.family + ":" + cell.qualifier + "=" + cell.value);
    }
    return brief;
  }

  std::map<std::string, FamilyOptions> Families() {
    std::unique_ptr<Store> store;
    EXPECT_THAT(Store::Open({.read_only = true}, db_, {}, &store), IsOk());
    return store == nullptr ? std::map<std::string, FamilyOptions>()
                            : store->Families();
  }

  TempDir dir_;
  const std::string db_ = dir_.File("db");
};

TEST_F(Load, TsvFromAFile) {
  const std::string file = dir_.File("cells.tsv");
  WriteFile(file, "r\ta:q\tv\tw\nr\tb:q\t\n");
  const CliResult result =
      Cli({"load", "--db", db_, "--family", "a", "--family", "b", file});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out,
              MatchesRegex("2 cells, 17 bytes, [0-9]+\\.[0-9][0-9] s\n"));
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(Row("r"), ElementsAre("a:q=v\tw", "b:q="));
}

TEST_F(Load, LeavesEverythingInFilesWithFilters) {
  ASSERT_EQ(LoadText("r\tf:q\tv\n").code, 0);
  std::unique_ptr<Store> store;
  ASSERT_THAT(Store::Open({.read_only = true}, db_, {}, &store), IsOk());
  StoreStats stats;
  ASSERT_THAT(store->Stats(&stats), IsOk());
  EXPECT_EQ(stats.families["f"].files, 1u);
  EXPECT_GT(stats.families["f"].filter_bytes, 0u);
}

TEST_F(Load, PackageIndexGoesToTheFirstFamily) {
  const std::string text = "Package: zsh\nA: 1\n 2\n\nPackage: bash\n";
  ASSERT_EQ(LoadText(text, {"--family", "x", "--family", "a"}).code, 0);
  EXPECT_THAT(Row("zsh"), ElementsAre("x:A=1\n 2", "x:Package=zsh"));
  EXPECT_EQ(Families().size(), 2u);
}

TEST_F(Load, PackageIndexWithoutFamilyGoesToF) {
  ASSERT_EQ(LoadText("r\ta:q\tv\n", {"--family", "a"}).code, 0);
  ASSERT_EQ(LoadText("Package: zsh\n").code, 0);
  EXPECT_THAT(Row("zsh"), ElementsAre("f:Package=zsh"));
  EXPECT_THAT(Row("r"), ElementsAre("a:q=v"));
}

TEST_F(Load, TsvWithoutFamilyUsesWhatTheStoreHas) {
  ASSERT_EQ(LoadText("r\ta:q\tv\n", {"--family", "a"}).code, 0);
  ASSERT_EQ(LoadText("r\ta:q2\tw\n").code, 0);
  EXPECT_THAT(Row("r"), ElementsAre("a:q=v", "a:q2=w"));
  EXPECT_EQ(Families().size(), 1u);
}

TEST_F(Load, EmptyInputCreatesAnEmptyStore) {
  const CliResult result = LoadText("");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("0 cells, 0 bytes, "));
  EXPECT_EQ(Families().count("f"), 1u);
}

TEST_F(Load, MoreThanOneBatchIsLoadedWhole) {
  std::string text;
  const std::string value(1000, 'v');
  for (int i = 0; i < 3000; ++i) {
    text += "row" + std::to_string(i) + "\tf:q\t" + value + "\n";
  }
  ASSERT_GT(text.size(), 2 * cli::kLoadBatchBytes);
  const CliResult result = LoadText(text);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("3000 cells, "));
  for (const char* row : {"row0", "row1500", "row2999"}) {
    EXPECT_THAT(Row(row), ElementsAre("f:q=" + value));
  }
}

TEST_F(Load, MalformedLineKeepsTheCellsAboveIt) {
  const std::string file = dir_.File("cells.tsv");
  WriteFile(file, "a\tf:q\tv\nb\tf:q\tv\nno tabs\nc\tf:q\tv\n");
  const CliResult result = Cli({"load", "--db", db_, file});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "rowbloom: " + file +
                            ":3: expected row<TAB>family:qualifier<TAB>value, "
                            "found \"no tabs\"; cells loaded: 2\n");
  EXPECT_THAT(Row("a"), ElementsAre("f:q=v"));
  EXPECT_THAT(Row("b"), ElementsAre("f:q=v"));
  EXPECT_THAT(Row("c"), IsEmpty());
}

TEST_F(Load, MalformedStanzaKeepsTheCellsAboveIt) {
  const CliResult result =
      LoadText("Package: a\nA: 1\nnonsense\nB: 2\n\nPackage: c\n");
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "rowbloom: standard input:3: expected Field: value, found "
            "\"nonsense\"; cells loaded: 2\n");
  EXPECT_THAT(Row("a"), ElementsAre("f:A=1", "f:Package=a"));
  EXPECT_THAT(Row("c"), IsEmpty());
}

TEST_F(Load, CellsTheStoreWouldRefuseAreNamedByLine) {
  const struct {
    std::string line;
    std::string problem;
  } cases[] = {
      {"r\tx:q\tv",
       "family \"x\" is not in the store at " + db_ + "; it has: f"},
      {"r\t:q\tv", "family \"\" is not in the store at " + db_},
      {"\tf:q\tv", "expected a row of 1 to 32767 bytes, found 0"},
      {std::string(40'000, 'r') + "\tf:q\tv",
       "expected a row of 1 to 32767 bytes, found 40000"},
      {"r\tf:" + std::string(1'048'577, 'q') + "\tv",
       "expected a qualifier of at most 1048576 bytes, found 1048577"},
  };
  for (const auto& c : cases) {
    const CliResult result = LoadText("a\tf:q\tv\n" + c.line + "\n");
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err,
                AllOf(StartsWith("rowbloom: standard input:2: " + c.problem),
                      EndsWith("; cells loaded: 1\n")));
  }
}

TEST_F(Load, RowsOfAFixedLayoutAreCheckedByLine) {
  const CliResult result =
      LoadText("abcd\tf:q\tv\nabc\tf:q\tv\n", {"--key-layout", "fixed:4"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("standard input:2: expected a row of 4 "
                                    "bytes, found 3; cells loaded: 1"));
}

TEST_F(Load, BrokenInputKeepsTheCellsAboveIt) {
  BrokenStream in("a\tf:q\tv\nb\tf:q\tcut");
  const CliResult result = Cli({"load", "--db", db_, "-"}, in);
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "rowbloom: standard input:2: cannot be read; cells loaded: 1\n");
  EXPECT_THAT(Row("a"), ElementsAre("f:q=v"));
  EXPECT_THAT(Row("b"), IsEmpty());
}

TEST_F(Load, UnusableInputCreatesNoStore) {
  const std::string absent = dir_.File("absent.tsv");
  CliResult result = Cli({"load", "--db", db_, absent});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "rowbloom: " + absent + ": No such file or directory\n");
  result = Cli({"load", "--db", db_, dir_.path().string()});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr(":1: cannot be read"));
  result = LoadText("neither format\n");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("standard input:1: expected"));
  EXPECT_FALSE(std::filesystem::exists(db_));
}

TEST_F(Load, BloomTypeIsForNewFamiliesAndKeptForOld) {
  ASSERT_EQ(LoadText("r\ta:q\tv\n", {"--family", "a,bloom=row"}).code, 0);
  EXPECT_EQ(Families().at("a").bloom_type, BloomType::kRow);
  // Without settings a listed family keeps its own; a new one gets ROWCOL.
  ASSERT_EQ(LoadText("r\ta:q\tv\n", {"--family", "a", "--family", "b"}).code,
            0);
  EXPECT_EQ(Families().at("a").bloom_type, BloomType::kRow);
  EXPECT_EQ(Families().at("b").bloom_type, BloomType::kRowCol);
  ASSERT_EQ(LoadText("r\ta:q\tv\n", {"--family", "c,bloom=NONE"}).code, 0);
  EXPECT_EQ(Families().at("c").bloom_type, BloomType::kNone);
}

TEST_F(Load, AnotherBloomTypeThanKeptIsAnError) {
  ASSERT_EQ(LoadText("r\ta:q\tv\n", {"--family", "a"}).code, 0);
  const CliResult result =
      LoadText("r\ta:q\tnew\n", {"--family", "a,bloom=ROW"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("family \"a\" of the store at " + db_ +
                                    " has bloom_type ROWCOL, not ROW"));
  EXPECT_THAT(Row("r"), ElementsAre("a:q=v"));
}

TEST_F(Load, BadOptionsAreRefusedBeforeAnythingIsCreated) {
  const struct {
    std::vector<std::string> args;
    const char* problem;
  } cases[] = {
      {{"--family", "a,bloom=COL"}, "COL"},
      {{"--key-layout", "columns"}, "unknown key layout \"columns\""},
      {{"--key-layout", "u16"}, "does not keep the order of rows"},
      {{"--family", "a,rate=0"}, "false_positive_rate"},
      {{"--family", "a,rate=1.5"}, "false_positive_rate"},
      {{"--family", "a,rate=nan"}, "false_positive_rate"},
      {{"--family", "a,rate=x"}, "rate: expected a number"},
      {{"--family", "a,bloom=ROWPREFIX_FIXED_LENGTH"}, "row_prefix_length"},
      {{"--family", "a,ttl=1"}, "ttl"},
      {{"--family", "a", "--family", "a"}, "family \"a\" is listed twice"},
      {{"--family", "a:b"}, "family \"a:b\""},
      {{"--family", ""}, "family"},
      {{"--famly", "a"}, "--famly"},
  };
  for (const auto& c : cases) {
    const CliResult result = LoadText("r\tf:q\tv\n", c.args);
    EXPECT_EQ(result.code, 2) << c.args.back();
    EXPECT_THAT(result.err, AllOf(StartsWith("rowbloom: "),
                                  HasSubstr(c.problem), EndsWith("\n")));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1)
        << result.err;
    EXPECT_FALSE(std::filesystem::exists(db_)) << c.args.back();
  }
}

TEST_F(Load, FamiliesTakeSettings) {
  ASSERT_EQ(LoadText("r\tf:q\tv\n",
                     {"--family",
                      "f,bloom=ROWPREFIX_FIXED_LENGTH,prefix=3,rate=0.001"})
                .code,
            0);
  const FamilyOptions options = Families().at("f");
  EXPECT_EQ(options.bloom_type, BloomType::kRowPrefixFixedLength);
  EXPECT_EQ(options.row_prefix_length, 3u);
  EXPECT_EQ(options.false_positive_rate, 0.001);
}

TEST_F(Load, CellsTakeATimestamp) {
  ASSERT_EQ(
      LoadText("r\tf:q\tv\n", {"--family", "f,timestamps=client", "--ts", "5"})
          .code,
      0);
  EXPECT_EQ(Cli({"row", "--db", db_, "r"}).out, "f:q\t5\tv\n");
  const CliResult result =
      LoadText("r\tg:q\tv\n", {"--family", "g", "--ts", "5"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("a put takes no timestamp"),
                                EndsWith("; cells loaded: 0\n")));
}

TEST_F(Load, SummaryIsAnObjectOnRequest) {
  const CliResult result = LoadText("r\tf:q\tv\n", {"--json"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out,
              MatchesRegex(R"(\{"cells":1,"bytes":8,"seconds":[-0-9.e]+\})"
                           "\n"));
}

TEST_F(Load, DirectoryThatIsNoStoreIsNamedAndLeftAlone) {
  std::filesystem::create_directory(db_);
  WriteFile(db_ + "/notes.txt", "text");
  const CliResult result = LoadText("r\tf:q\tv\n");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr(db_ + " is not a rowbloom store"));
  const std::filesystem::directory_iterator entries(db_);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST_F(Load, ProgressIsForTerminalsOnly) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    text += "row" + std::to_string(i) + "\tf:q\tv\n";
  }
  EXPECT_EQ(LoadText(text).err, "");

  std::istringstream in(text);
  const CliResult result =
      Cli({"load", "--db", db_, "-"}, in, /*err_is_terminal=*/true);
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, StartsWith("20000 cells, "));
  EXPECT_THAT(result.err, AllOf(StartsWith("\rstandard input: "),
                                HasSubstr(" cells/s"), EndsWith("\r\x1b[K")));
}

// A stream that sends this process a signal once its bytes are read, as
// somebody who presses Ctrl-C in the middle, and goes on.
class SignallingStream : public std::istream {
 public:
  SignallingStream(std::string before, std::string after, int signal)
      : std::istream(nullptr),
        buffer_(std::move(before), std::move(after), signal) {
    rdbuf(&buffer_);
  }

 private:
  class Buffer : public std::streambuf {
   public:
    Buffer(std::string before, std::string after, int signal)
        : before_(std::move(before)),
          after_(std::move(after)),
          signal_(signal) {
      setg(before_.data(), before_.data(), before_.data() + before_.size());
    }

   protected:
    int_type underflow() override {
      if (signalled_) return traits_type::eof();
      signalled_ = true;
      std::raise(signal_);
      setg(after_.data(), after_.data(), after_.data() + after_.size());
      return traits_type::to_int_type(*gptr());
    }

   private:
    std::string before_;
    std::string after_;
    const int signal_;
    bool signalled_ = false;
  };

  Buffer buffer_;
};

TEST_F(Load, InterruptionKeepsTheCellsAboveAndSaysWhere) {
  for (const int signal : {SIGINT, SIGTERM}) {
    // Who started this may have it ignored.
    std::signal(signal, SIG_DFL);
    const std::string family = signal == SIGINT ? "f" : "g";
    SignallingStream in("a\t" + family + ":q\tv\nb\t" + family + ":q\tv\n",
                        "c\t" + family + ":q\tv\n", signal);
    const CliResult result =
        Cli({"load", "--db", db_, "--family", family, "-"}, in);
    EXPECT_EQ(result.code, 128 + signal);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err,
              "rowbloom: standard input:3: interrupted; cells loaded: 2\n");
    EXPECT_EQ(
        Cli({"scan", "--db", db_, family, "--limit", "9"}).out.substr(0, 2),
        "a\t");
    EXPECT_THAT(Row("b"), testing::Contains(family + ":q=v"));
    EXPECT_THAT(Row("c"), IsEmpty());
    // What follows can be loaded.
    EXPECT_EQ(LoadText("c2\t" + family + ":q\tv\n").code, 0);
  }
}

// What the process did with the signals before is as it was.
TEST_F(Load, InterruptionsAreHandledDuringTheLoadOnly) {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  ASSERT_EQ(LoadText("r\tf:q\tv\n").code, 0);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction after = {};
    ASSERT_EQ(sigaction(signal, nullptr, &after), 0);
    EXPECT_EQ(after.sa_handler, SIG_DFL);
  }
  // Background jobs of a script ignore it; so does their load.
  std::signal(SIGINT, SIG_IGN);
  SignallingStream in("a\tf:q\tv\n", "b\tf:q\tv\n", SIGINT);
  EXPECT_EQ(Cli({"load", "--db", db_, "-"}, in).code, 0);
  EXPECT_EQ(std::signal(SIGINT, SIG_DFL), SIG_IGN);
}

}  // namespace
}  // namespace rowbloom::test

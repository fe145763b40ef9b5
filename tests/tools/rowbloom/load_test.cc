// Loads whose input breaks or is interrupted, and their progress.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <csignal>
#include <sstream>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <utility>

#include "rowbloom/store.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/rowbloom/broken_stream.h"
#include "tests/tools/rowbloom/cli.h"

namespace rowbloom::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class Load : public ::testing::Test {
 protected:
  CliResult LoadText(const std::string& text) {
    return Cli({"load", "--db", db_, "-"}, text);
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

  TempDir dir_;
  const std::string db_ = dir_.File("db");
};

TEST_F(Load, BrokenInputKeepsTheCellsAboveIt) {
  BrokenStream in("a\tf:q\tv\nb\tf:q\tcut");
  const CliResult result = Cli({"load", "--db", db_, "-"}, in);
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "rowbloom: standard input:2: cannot be read; cells loaded: 1\n");
  EXPECT_THAT(Row("a"), ElementsAre("f:q=v"));
  EXPECT_THAT(Row("b"), IsEmpty());
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
    // The parent of this process may have the signal ignored.
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
    // Later loads succeed.
    EXPECT_EQ(LoadText("c2\t" + family + ":q\tv\n").code, 0);
  }
}

// A stream of these bytes, and of a read that a signal ends.
class StoppedBuffer : public std::stringbuf {
 public:
  explicit StoppedBuffer(const std::string& bytes)
      : std::stringbuf(bytes, std::ios::in) {}

 protected:
  int_type underflow() override {
    std::raise(SIGINT);
    throw std::runtime_error("interrupted");
  }
};

TEST_F(Load, InterruptionInAStanzaNamesItsFirstLine) {
  std::signal(SIGINT, SIG_DFL);
  StoppedBuffer buffer("Package: a\n\nPackage: b\nA: 1\nB");
  std::istream in(&buffer);
  const CliResult result = Cli({"load", "--db", db_, "-"}, in);
  EXPECT_EQ(result.code, 130);
  EXPECT_EQ(result.err,
            "rowbloom: standard input:3: interrupted; cells loaded: 1\n");
}

// Signal handlers are restored when the load ends.
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

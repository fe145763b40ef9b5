#include "tools/cli/program.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/cli/interruption.h"

namespace rowbloom::cli {
namespace {

Action AddSay(CLI::App* command) {
  const auto word = std::make_shared<std::string>();
  command->add_option("WORD", *word, "A \\word, 'A'")
      ->required()
      ->type_name("");
  return [word](const Streams& streams) {
    streams.out << *word << "\n";
    return *word == "nothing" ? ExitCode::kFinding : ExitCode::kOk;
  };
}

Action AddThrow(CLI::App* /*command*/) {
  return [](const Streams& /*streams*/) -> ExitCode {
    throw std::runtime_error("a\nline");
  };
}

// Interrupts itself.
Action AddWait(CLI::App* /*command*/) {
  return [](const Streams& streams) {
    const Interruption interruption;
    interruption.Check(streams.out);
    streams.out << "waits\n";
    raise(SIGTERM);
    interruption.Check(streams.out);
    return ExitCode::kOk;
  };
}

Action AddCheck(CLI::App* /*command*/) {
  return [](const Streams& streams) {
    streams.out.setstate(std::ios::badbit);
    Interruption().Check(streams.out);
    return ExitCode::kOk;
  };
}

constexpr Verb kVerbs[] = {
    {"say", "Says a word.", "hello\n'.a\\-b' <file", AddSay},
    {"throw", "Throws.", "", AddThrow},
    {"wait", "Waits.", "", AddWait},
    {"check", "Has no reader.", "", AddCheck}};
constexpr VerbTable kTool = {.name = "tool",
                             .summary = "A tool.",
                             .footer = "Outer footer.",
                             .verbs = kVerbs};

// The exit code, what was printed, and the diagnostics.
std::string RunTool(const std::vector<std::string>& args) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  const int code =
      RunProgram(kTool, args, {.in = in, .out = out, .err = {err}});
  return std::to_string(code) + "|" + out.str() + "|" + err.str();
}

TEST(Program, RunsTheVerbThatIsNamed) {
  EXPECT_EQ(RunTool({"say", "hello"}), "0|hello\n|");
  EXPECT_EQ(RunTool({"say", "nothing"}), "1|nothing\n|");
}

TEST(Program, RefusesWrongUsageByName) {
  EXPECT_EQ(RunTool({}),
            "2||tool: expected a verb, found nothing; see tool --help\n");
  EXPECT_EQ(RunTool({"sa\n"}),
            "2||tool: expected a verb, found \"sa\\x0A\"; see tool --help\n");
  EXPECT_EQ(RunTool({"say"}), "2||tool: WORD is required\n");
}

TEST(Program, HelpIsDataAndEndsWithTheExitCodes) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"--help"}, {"say", "--help"}}) {
    const std::string help = RunTool(args);
    EXPECT_EQ(help.substr(0, 2), "0|") << help;
    EXPECT_NE(help.find("Outer footer."), std::string::npos) << help;
    EXPECT_EQ(help.back(), '|') << help;
  }
}

TEST(Program, ExamplesAreWholeCommandLines) {
  const std::string help = RunTool({"say", "--help"});
  EXPECT_EQ(help.find("Outer footer."), help.rfind("Outer footer."));
  EXPECT_NE(help.find("\n\nExamples:\n  tool say hello\n"
                      "  tool say '.a\\-b' <file\n\nOuter footer."),
            std::string::npos);
}

TEST(Program, TheManualPageShowsBytesThatRoffWouldTakeForItsOwn) {
  const std::string page = RunTool({"--generate", "man"});
  EXPECT_EQ(page.substr(0, 13), "0|.TH tool 1 ") << page;
  EXPECT_NE(page.find("\n.SS tool say\nSays a word.\n.TP\n"
                      "\\fBWORD\\fR REQUIRED\nA \\eword, \\(aqA\\(aq\n"),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("\n  tool say \\(aq.a\\e\\-b\\(aq <file\n.fi\n"),
            std::string::npos)
      << page;
}

TEST(Program, FailuresAreOneLine) {
  EXPECT_EQ(RunTool({"throw"}), "2||tool: a\\x0Aline\n");
  EXPECT_EQ(RunTool({"check"}), "2||tool: cannot write to standard output\n");
}

TEST(Program, AnInterruptionKeepsWhatWasPrinted) {
  EXPECT_EQ(RunTool({"wait"}), "143|waits\n|tool: interrupted\n");
}

TEST(Report, TheKindOfAnErrorIsNamedIfItsMessageNeedsIt) {
  using rocksdb::Status;
  EXPECT_EQ(Describe(Status::Corruption("a\x1b[2J")), "a\\x1B[2J");
  EXPECT_EQ(Describe(Status::IOError("f: cannot open")), "f: cannot open");
  EXPECT_EQ(Describe(Status::Busy()), "Resource busy: ");
  std::ostringstream text;
  const Diagnostics err{.stream = text, .program = "tool"};
  EXPECT_EQ(Judge(err, Status::Corruption("damaged")), ExitCode::kFinding);
  EXPECT_EQ(Judge(err, Status::IOError("gone")), ExitCode::kFailed);
  EXPECT_EQ(text.str(), "tool: damaged\ntool: gone\n");
}

TEST(Report, AFailureHasTheCodeOfItsStatus) {
  using rocksdb::Status;
  const auto code_of = [](const Status& status) {
    try {
      Require(status);
    } catch (const Failure& failure) {
      return failure.code();
    }
    return ExitCode::kOk;
  };
  EXPECT_EQ(code_of(Status::OK()), ExitCode::kOk);
  EXPECT_EQ(code_of(Status::Corruption("damaged")), ExitCode::kFinding);
  EXPECT_EQ(code_of(Status::IOError("gone")), ExitCode::kFailed);
}

}  // namespace
}  // namespace rowbloom::cli

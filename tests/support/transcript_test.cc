// Transcripts notice what they are there to notice.
#include "tests/support/transcript.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/support/files.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::test {
namespace {

std::string Printed(const std::string& transcript) {
  const TranscriptResult result =
      RunTranscript(transcript, {{"another", "/bin/echo"}}, {{"WHO", "a b"}});
  EXPECT_EQ(result.problem, "");
  return result.text;
}

TEST(Transcript, ShowsStreamsAndExitCodeOfEachCommand) {
  const std::string transcript =
      "# Comments and empty lines stay.\n"
      "\n"
      "$ echo out; echo err >&2; exit 3\n"
      "  out\n"
      "! err\n"
      "exit 3\n"
      "$ true\n"
      "$ cat <<END\n"
      "> two\n"
      "> END\n"
      "  two\n"
      "$ another \"$WHO\"\n"
      "  a b\n";
  EXPECT_EQ(Printed(transcript), transcript);
}

TEST(Transcript, ReplacesWhatWasPrintedBefore) {
  EXPECT_EQ(Printed("$ echo now\n  before\n! before\nexit 2\n"),
            "$ echo now\n  now\n");
  EXPECT_EQ(Printed("$ true\n  before\nunterminated\n# end\n"),
            "$ true\n# end\n");
  EXPECT_EQ(Printed("$ echo first\n$ echo second"),
            "$ echo first\n  first\n$ echo second\n  second\n");
}

TEST(Transcript, ShowsEveryByte) {
  EXPECT_EQ(Printed("$ printf 'a\\tb\\r\\n\\n\\377\\0 \\n<tab><0x\\nend'"),
            "$ printf 'a\\tb\\r\\n\\n\\377\\0 \\n<tab><0x\\nend'\n"
            "  a<tab>b<0x0D>\n"
            "  <empty>\n"
            "  <0xFF><0x00><0x20>\n"
            "  <0x3C>tab><0x3C>0x\n"
            "  end\n"
            "unterminated\n");
}

TEST(Transcript, RulesNameWhatChangesAndNothingElse) {
  EXPECT_EQ(Printed("rule ms [0-9]{3}\n"
                    "$ echo 123 45 678\n"
                    "rule ms\n"
                    "rule size size=([0-9]+)\n"
                    "$ echo 123 size=9\n"),
            "rule ms [0-9]{3}\n"
            "$ echo 123 45 678\n"
            "  {ms} 45 {ms}\n"
            "rule ms\n"
            "rule size size=([0-9]+)\n"
            "$ echo 123 size=9\n"
            "  123 size={size}\n");
}

TEST(Transcript, CommandsShareADirectoryThatIsEmptyAtFirst) {
  EXPECT_EQ(Printed("$ ls -A\n$ echo x >file\n$ ls -A\n"),
            "$ ls -A\n$ echo x >file\n$ ls -A\n  file\n");
}

TEST(Transcript, MalformedOnesAreNamed) {
  for (const char* line : {"echo", "rule x (", "  output of nothing"}) {
    EXPECT_EQ(RunTranscript(std::string("# x\n") + line + "\n", {}).problem,
              "line 2: \"" + std::string(line) +
                  "\": expected a comment, a rule, a command or what it "
                  "prints");
  }
}

TEST(Transcript, FailsWhereAnythingElseIsPrinted) {
  if (std::getenv("ROWBLOOM_REWRITE") != nullptr) GTEST_SKIP() << "it writes";
  const TempDir dir;
  const std::string path = dir.File("transcript");
  WriteFile(path, "$ echo now\n  now\n");
  ExpectTranscript(path, {}, {});
  WriteFile(path, "$ echo now\n  before\n");
  EXPECT_NONFATAL_FAILURE(ExpectTranscript(path, {}, {}),
                          "\n-  before\n+  now\n");
}

void ExpectTranscriptOfNothing() {
  const TempDir dir;
  WriteFile(dir.File("transcript"), "# no command\n");
  ExpectTranscript(dir.File("transcript"), {}, {});
}

TEST(Transcript, FailsWithoutACommand) {
  EXPECT_FATAL_FAILURE(ExpectTranscriptOfNothing(), "found.commands");
}

}  // namespace
}  // namespace rowbloom::test

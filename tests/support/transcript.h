// Transcripts: text files of commands and of what they print. A test runs the
// commands again and compares; with ROWBLOOM_REWRITE=1 it writes what they
// print now into the file, to be read as a diff.
//
//   # A comment says what is proved.
//   rule ms "timestamp":([0-9]{13})
//   $ rowbloom get --db db r a:q --json
//     {"row":"r","family":"a","qualifier":"q","timestamp":{ms},"value":"v"}
//   $ rowbloom get --db db absent a:q |
//   > cat
//   ! rowbloom: no cell "a:q" in row "absent"
//   exit 1
//
// `$ ` begins a command of bash, `> ` continues it. Below it come the standard
// output, two spaces before each line, the standard error, `! ` before each
// line, and the exit code where it is not 0. The commands of a transcript run
// in one directory, which is empty at first, with standard input from
// /dev/null.
//
// A line of a stream shows a tab as <tab>, other bytes than printable ASCII as
// <0x0D>, spaces at its end as <0x20>, and nothing as <empty>. A last line
// without a newline is followed by `unterminated`.
//
// A rule replaces what another run may print in another way: from there on,
// whatever matches the regular expression (ECMAScript) in a line of a stream is
// {NAME}, or only its first group where it has one. `rule NAME` ends the rule.
#pragma once

#include <map>
#include <string>

namespace rowbloom::test {

struct TranscriptResult {
  // The transcript with what its commands printed now.
  std::string text;
  size_t commands = 0;
  // Line and problem of a transcript that is malformed, else empty.
  std::string problem;
};

// Runs the commands of a transcript in a directory of its own. They find a
// program under each name of `programs`, whose values are absolute paths, and
// have the variables of `environment`.
TranscriptResult RunTranscript(
    const std::string& transcript,
    const std::map<std::string, std::string>& programs,
    const std::map<std::string, std::string>& environment = {});

// Runs the transcript in the file at `path`. The test fails when commands print
// anything else than it says, or when there are none; with ROWBLOOM_REWRITE=1
// it is skipped, and the file says what they print.
void ExpectTranscript(const std::string& path,
                      const std::map<std::string, std::string>& programs,
                      const std::map<std::string, std::string>& environment);

}  // namespace rowbloom::test

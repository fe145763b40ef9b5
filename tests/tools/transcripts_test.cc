// The verbs of both programs, as transcripts: tests/support/transcript.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/transcript.h"

namespace rowbloom::test {
namespace {

namespace fs = std::filesystem;

// Their paths below tests/tools, without ".transcript".
std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& entry :
       fs::recursive_directory_iterator(ROWBLOOM_TRANSCRIPTS_DIR)) {
    if (entry.path().extension() != ".transcript") continue;
    names.push_back(fs::relative(entry.path(), ROWBLOOM_TRANSCRIPTS_DIR)
                        .replace_extension()
                        .string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Transcripts : public testing::TestWithParam<std::string> {};

TEST_P(Transcripts, AreWhatIsPrinted) {
  ExpectTranscript(
      ROWBLOOM_TRANSCRIPTS_DIR "/" + GetParam() + ".transcript",
      {{"rowbloom", ROWBLOOM_CLI}, {"sst_inspect", ROWBLOOM_SST_INSPECT}},
      {{"DATA", ROWBLOOM_TEST_DATA_DIR}});
}

INSTANTIATE_TEST_SUITE_P(, Transcripts, testing::ValuesIn(Names()),
                         [](const testing::TestParamInfo<std::string>& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name;
                         });

}  // namespace
}  // namespace rowbloom::test

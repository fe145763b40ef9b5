#include "tools/rowbloom/cell_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "tests/tools/rowbloom/broken_stream.h"

namespace rowbloom::cli {
namespace {

using test::BrokenStream;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Cells that a reader gave, each as row|family:qualifier|value, and its error.
struct Reading {
  std::vector<std::string> cells;
  std::string error;
  std::optional<InputFormat> format;
  uint64_t bytes = 0;
};

Reading Read(std::istream& in, size_t max_bytes = CellReader::kMaxBytes,
             const std::string& refused_row = "refused") {
  Reading reading;
  CellReader reader(in, "FILE", max_bytes);
  const auto format = reader.Detect();
  if (!format) {
    reading.error = format.error();
    return reading;
  }
  reading.format = *format;
  const auto check = [&](const InputCell& cell) -> std::optional<Error> {
    if (cell.row == refused_row) return Error{"row refused"};
    if (cell.qualifier == "Refused") return Error{"qualifier refused"};
    return std::nullopt;
  };
  const auto take = [&](const InputCell& cell) -> std::optional<Error> {
    reading.cells.push_back(std::string(cell.row) + "|" +
                            std::string(cell.family.value_or("NONE")) + ":" +
                            std::string(cell.qualifier) + "|" +
                            std::string(cell.value));
    return std::nullopt;
  };
  const auto error = reader.ReadAll({check, take});
  if (error) reading.error = error->message;
  reading.bytes = reader.bytes_consumed();
  return reading;
}

Reading Read(const std::string& text,
             size_t max_bytes = CellReader::kMaxBytes) {
  std::istringstream in(text);
  return Read(in, max_bytes);
}

TEST(FormatOfLine, TellsTsvFromFields) {
  EXPECT_EQ(FormatOfLine("r\tf:q\tv"), InputFormat::kTsv);
  EXPECT_EQ(FormatOfLine("a: b\tf:q\tv"), InputFormat::kTsv);
  EXPECT_EQ(FormatOfLine("\t:\t"), InputFormat::kTsv);
  EXPECT_EQ(FormatOfLine("Package: zsh"), InputFormat::kPackageIndex);
  EXPECT_EQ(FormatOfLine("Package:\tzsh\tx"), InputFormat::kPackageIndex);
  EXPECT_EQ(FormatOfLine("A:"), InputFormat::kPackageIndex);
  for (const char* line : {"", "text", ": value", "two words: value",
                           " Package: zsh", "r\tf:q", "r\tfq\tv"}) {
    EXPECT_EQ(FormatOfLine(line), std::nullopt) << line;
  }
}

TEST(CellReader, EmptyInputHasNoFormatAndNoCells) {
  for (const char* text : {"", "\n", "\n\n\n"}) {
    const Reading reading = Read(text);
    EXPECT_EQ(reading.format, std::nullopt);
    EXPECT_THAT(reading.cells, IsEmpty());
    EXPECT_EQ(reading.error, "");
  }
}

TEST(CellReader, InputOfNoKnownFormIsNamedByItsFirstLine) {
  EXPECT_EQ(Read("\nsome \x01 text\n").error,
            "FILE:2: expected row<TAB>family:qualifier<TAB>value or Field: "
            "value, found \"some \\x01 text\"");
  EXPECT_THAT(Read(std::string(1000, 'x')).error,
              HasSubstr("found \"" + std::string(60, 'x') + "\"..."));
}

TEST(TsvReader, SplitsAtTheFirstTabsAndTheFirstColon) {
  const std::string text = "r1\tf:q\tv\nr2\tf:a:b\tv\tw\t\nr3\tf:\t\n";
  const Reading reading = Read(text);
  EXPECT_EQ(reading.format, InputFormat::kTsv);
  EXPECT_THAT(reading.cells,
              ElementsAre("r1|f:q|v", "r2|f:a:b|v\tw\t", "r3|f:|"));
  EXPECT_EQ(reading.error, "");
  EXPECT_EQ(reading.bytes, text.size());
}

TEST(TsvReader, LastLineMayLackItsEnd) {
  EXPECT_THAT(Read("r\tf:q\tv\ns\tf:q\tw").cells,
              ElementsAre("r|f:q|v", "s|f:q|w"));
}

TEST(TsvReader, OtherBytesThanLfAreContent) {
  const std::string row("\0\xff\r", 3);
  const Reading reading = Read(row + "\tf:\r\tv\r\n");
  EXPECT_THAT(reading.cells, ElementsAre(row + "|f:\r|v\r"));
}

TEST(TsvReader, EmptyNamesAreForTheSinkToJudge) {
  EXPECT_THAT(Read("\t:\t\n").cells, ElementsAre("|:|"));
}

TEST(TsvReader, MalformedLineIsNamedAndCellsAboveItAreGiven) {
  const struct {
    const char* line;
    const char* problem;
  } cases[] = {
      {"", "expected row<TAB>family:qualifier<TAB>value, found \"\""},
      {"r\tf:q",
       "expected row<TAB>family:qualifier<TAB>value, found "
       "\"r\\x09f:q\""},
      {"r\tfq\tv",
       "expected family:qualifier in the second column, found \"fq\""},
  };
  for (const auto& c : cases) {
    const Reading reading =
        Read("a\tf:q\tv\nb\tf:q\tv\n" + std::string(c.line) + "\nc\tf:q\tv\n");
    EXPECT_EQ(reading.error, "FILE:3: " + std::string(c.problem));
    EXPECT_THAT(reading.cells, ElementsAre("a|f:q|v", "b|f:q|v"));
  }
  EXPECT_EQ(Read("\nr\tf:q\tv\n").error,
            "FILE:1: expected row<TAB>family:qualifier<TAB>value, found a "
            "blank line");
}

TEST(TsvReader, RefusedCellEndsTheReadingAtItsLine) {
  const Reading reading = Read("a\tf:q\tv\nrefused\tf:q\tv\nb\tf:q\tv\n");
  EXPECT_EQ(reading.error, "FILE:2: row refused");
  EXPECT_THAT(reading.cells, ElementsAre("a|f:q|v"));
}

TEST(TsvReader, LineMayBeAsLongAsTheLimit) {
  // Around the size of the chunks that are read, and far beyond.
  for (const size_t bytes :
       {size_t{262'143}, size_t{262'144}, size_t{262'145}, size_t{3'000'000}}) {
    const std::string value(bytes - 6, 'v');
    const std::string text = "r\tf:q\t" + value + "\ns\tf:q\tw\n";
    EXPECT_THAT(Read(text, bytes).cells,
                ElementsAre("r|f:q|" + value, "s|f:q|w"));
    EXPECT_EQ(Read("a\tf:q\tv\n" + text, bytes - 1).error,
              "FILE:2: expected a line of at most " +
                  std::to_string(bytes - 1) + " bytes, found a longer one");
    EXPECT_THAT(Read("a\tf:q\tv\n" + text, bytes - 1).cells,
                ElementsAre("a|f:q|v"));
  }
}

TEST(TsvReader, BrokenStreamLosesTheLineItBrokeIn) {
  BrokenStream in("a\tf:q\tv\nb\tf:q\tcut of");
  const Reading reading = Read(in);
  EXPECT_EQ(reading.error, "FILE:2: cannot be read");
  EXPECT_THAT(reading.cells, ElementsAre("a|f:q|v"));
  std::istringstream unusable("a\tf:q\tv\n");
  unusable.setstate(std::ios::failbit);
  EXPECT_EQ(Read(unusable).error, "FILE:1: cannot be read");
}

TEST(PackageIndexReader, FieldsOfAStanzaAreCellsOfItsPackage) {
  const Reading reading = Read(
      "Package: zsh\nVersion: 5.9\n\nVersion:2\nPackage:   bash \nEmpty:\n");
  EXPECT_EQ(reading.format, InputFormat::kPackageIndex);
  EXPECT_EQ(reading.error, "");
  EXPECT_THAT(reading.cells,
              ElementsAre("zsh|NONE:Package|zsh", "zsh|NONE:Version|5.9",
                          "bash |NONE:Version|2", "bash |NONE:Package|bash ",
                          "bash |NONE:Empty|"));
}

TEST(PackageIndexReader, ContinuationLinesAreKeptAfterALf) {
  const Reading reading =
      Read("Package: a\nDescription: short\n long\n .\n\tmore\r\nEnd: x");
  EXPECT_THAT(reading.cells,
              ElementsAre("a|NONE:Package|a",
                          "a|NONE:Description|short\n long\n .\n\tmore\r",
                          "a|NONE:End|x"));
}

TEST(PackageIndexReader, AnyNumberOfBlankLinesSeparatesStanzas) {
  EXPECT_THAT(Read("\n\nPackage: a\n\n\n\nPackage: b\n\n\n").cells,
              ElementsAre("a|NONE:Package|a", "b|NONE:Package|b"));
}

TEST(PackageIndexReader, MalformedLineIsNamedAndStanzasAboveItAreGiven) {
  const struct {
    const char* line;
    const char* problem;
  } cases[] = {
      {"no field", "expected Field: value, found \"no field\""},
      {": x", "expected Field: value, found \": x\""},
      {"\r", "expected Field: value, found \"\\x0D\""},
      {"Two words: x", "expected Field: value, found \"Two words: x\""},
      {"A: again", "expected a field once in a stanza, found \"A\" again"},
  };
  for (const auto& c : cases) {
    const Reading reading = Read("Package: a\n\nPackage: b\nA: 1\n" +
                                 std::string(c.line) + "\nB: 2\n");
    EXPECT_EQ(reading.error, "FILE:5: " + std::string(c.problem));
    EXPECT_THAT(reading.cells, ElementsAre("a|NONE:Package|a"));
  }
}

TEST(PackageIndexReader, StanzaMustNameItsPackage) {
  const Reading reading =
      Read("Package: a\n\nVersion: 1\nA: b\n\nPackage: c\n");
  EXPECT_EQ(reading.error,
            "FILE:3: expected a field Package in the stanza that starts here, "
            "found none");
  EXPECT_THAT(reading.cells, ElementsAre("a|NONE:Package|a"));
  EXPECT_THAT(Read("package: a\n").error, StartsWith("FILE:1: "));
}

TEST(PackageIndexReader, StanzaCannotStartWithAContinuation) {
  EXPECT_EQ(Read("Package: a\n\n more\n").error,
            "FILE:3: expected Field: value to start a stanza, found \" more\"");
}

TEST(PackageIndexReader, RefusedCellIsNamedByTheLineOfItsField) {
  std::istringstream in("Package: a\n\nA: 1\n more\nPackage: refused\n");
  EXPECT_EQ(Read(in).error, "FILE:3: row refused");
  // Nothing is taken of its stanza.
  const Reading reading = Read("Package: a\n\nPackage: b\nA: 1\nRefused: 2\n");
  EXPECT_EQ(reading.error, "FILE:5: qualifier refused");
  EXPECT_THAT(reading.cells, ElementsAre("a|NONE:Package|a"));
}

TEST(PackageIndexReader, StanzaMayBeAsLongAsTheLimit) {
  const std::string text = "Package: a\nA: 1\n 23456\n";
  EXPECT_THAT(Read(text, 20).cells,
              ElementsAre("a|NONE:Package|a", "a|NONE:A|1\n 23456"));
  const Reading reading = Read("Package: b\n\n" + text, 19);
  EXPECT_EQ(reading.error,
            "FILE:5: expected a stanza of at most 19 bytes, found a longer "
            "one");
  EXPECT_THAT(reading.cells, ElementsAre("b|NONE:Package|b"));
}

// A comparison of each field with all others would take hours.
TEST(PackageIndexReader, StanzaMayHaveManyFields) {
  constexpr int kFields = 1'000'000;
  std::string text = "Package: a\n";
  for (int i = 0; i < kFields; ++i) text += std::to_string(i) + ":\n";
  EXPECT_EQ(Read(text + "7:\n").error,
            "FILE:1000002: expected a field once in a stanza, found \"7\" "
            "again");
}

TEST(PackageIndexReader, BrokenStreamLosesTheStanzaItBrokeIn) {
  BrokenStream in("Package: a\n\nPackage: b\nB: 2\n and mo");
  const Reading reading = Read(in);
  EXPECT_EQ(reading.error, "FILE:5: cannot be read");
  EXPECT_THAT(reading.cells, ElementsAre("a|NONE:Package|a"));
}

}  // namespace
}  // namespace rowbloom::cli

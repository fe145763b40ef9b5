// Records as text and as JSON.
#include "tools/cli/output.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <sstream>
#include <string>

namespace rowbloom::cli {
namespace {

class OutputForms : public testing::Test {
 protected:
  // The output so far, which is forgotten.
  std::string Taken() {
    const std::string text = out_.str();
    out_.str("");
    return text;
  }

  std::ostringstream out_;
  const Diagnostics err_{out_};
  const Output text_{out_, err_};
  const Output json_{out_, err_, /*json=*/true};
};

TEST_F(OutputForms, TheKindOfAValueDecidesItsForms) {
  Record record("kind", "a\\\xc3\xa9.sst");
  record.Text("text", "a\x1b")
      .Number("number", 1234)
      .Signed("negative", -5)
      .Count("count", 1234)
      .Bytes("some_bytes", 2048)
      .Time("time", 0)
      .Real("real", 1.0 / 3)
      .Share("share", 0.25)
      .Seconds("seconds", 1.234)
      .Flag("flag", true)
      .Count("unknown", std::nullopt)
      .Real("infinite", std::numeric_limits<double>::infinity())
      .Text("empty", "")
      .InText("text_alone", "t")
      .InJson("json_alone", "j")
      .Object("object", Record().Number("n", 1))
      .Number("other", 7)
      .As("seven");
  json_.Print(record);
  EXPECT_EQ(Taken(),
            "{\"record\":\"kind\",\"file\":\"a\\\\\xc3\xa9.sst\","
            "\"text\":\"a\\u001b\","
            "\"number\":1234,\"negative\":-5,\"count\":1234,"
            "\"some_bytes\":2048,\"time\":0,\"real\":0.3333333333333333,"
            "\"share\":0.25,\"seconds\":1.234,\"flag\":true,"
            "\"unknown\":null,\"infinite\":null,\"empty\":\"\","
            "\"json_alone\":\"j\",\"object\":{\"n\":1},\"other\":7}\n");
  text_.Print(record);
  EXPECT_EQ(Taken(),
            "  text        a\\x1B\n"
            "  number      1234\n"
            "  negative    -5\n"
            "  count       1,234\n"
            "  some bytes  2.0 KiB (2048 bytes)\n"
            "  time        1970-01-01 00:00:00 UTC\n"
            "  real        0.3333\n"
            "  share       25 %\n"
            "  seconds     1.23\n"
            "  flag        yes\n"
            "  text alone  t\n"
            "  other       seven\n");
}

TEST_F(OutputForms, ASumIsALine) {
  const Record sum = Record().Number("files", 2).Number("left_out", 0);
  text_.PrintSum(sum);
  EXPECT_EQ(Taken(), "2 files, 0 left out\n");
  json_.PrintSum(sum);
  EXPECT_EQ(Taken(), "{\"files\":2,\"left_out\":0}\n");
}

TEST_F(OutputForms, LinesAreOfTextAlone) {
  text_.Line("a\nb");
  EXPECT_EQ(Taken(), "a\\x0Ab\n");
  json_.Line("a");
  EXPECT_EQ(Taken(), "");
}

TEST_F(OutputForms, TableColumnsAreAligned) {
  const auto list = [](const Output& output) {
    Listing listing(output, "name n=the_N no_one_has hidden note");
    listing.Add(
        Record().Text("name", "a").InJson("hidden", "x").Number("n", 100));
    listing.Add(
        Record().Text("name", "longer").Number("n", 1).Text("note", "x"));
    listing.AddRow(
        Record().InText("name", "all").Number("n", {}).Text("note", "y "));
  };
  list(text_);
  EXPECT_EQ(Taken(),
            "  name    the N  note\n"
            "  a         100  -\n"
            "  longer      1  x\n"
            "  all         -  y \n");
  list(json_);
  EXPECT_EQ(Taken(),
            "{\"name\":\"a\",\"hidden\":\"x\",\"n\":100}\n"
            "{\"name\":\"longer\",\"n\":1,\"note\":\"x\"}\n");
  Listing(text_, "name").Print();
  EXPECT_EQ(Taken(), "");
}

TEST_F(OutputForms, LongTextIsCutInTextAlone) {
  const std::string text(50, 'a');
  const Record record = Record().Long("text", text);
  json_.Print(record);
  EXPECT_EQ(Taken(), "{\"text\":\"" + text + "\"}\n");
  text_.Print(record);
  EXPECT_EQ(Taken(), "  text  " + std::string(40, 'a') + "...\n");
}

// A listing of any length is printed part by part. What was printed keeps its
// columns; a further one comes with the titles again.
TEST_F(OutputForms, LongListingsArePrintedAsTheyCome) {
  Listing listing(text_, "a b c", Prints::kAllTheWhile);
  const std::string large(70'000, 'x');
  listing.Add(Record().Text("a", "1").Text("c", large));
  EXPECT_EQ(Taken(), "  a  c\n  1  " + large + "\n");
  listing.Add(Record().Text("a", "wide").Text("c", "y"));
  EXPECT_EQ(Taken(), "");
  listing.Print();
  EXPECT_EQ(Taken(), "  wide  y\n");
  listing.Add(Record().Text("a", "3").Text("b", "z").Text("c", "y"));
  listing.Print();
  EXPECT_EQ(Taken(), "  a     b  c\n  3     z  y\n");
}

}  // namespace
}  // namespace rowbloom::cli

// What Match and MatchBatch probe, and in which order, with a kernel that
// writes it down.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lib/kernels/matcher.h"

namespace rowbloom {
namespace {

enum class Section { kRow, kRowCol };
std::vector<Section>* probed = nullptr;
bool all_answer = true;

// The sections of the matcher below differ in their number of blocks.
bool MayContainFew(const BloomBlocks& blocks, uint64_t /*hash*/) {
  probed->push_back(blocks.count == 1 ? Section::kRow : Section::kRowCol);
  return all_answer;
}
bool MayContainMany(const BloomBlocks& blocks, uint64_t hash) {
  return MayContainFew(blocks, hash);
}

// The matcher below has no ribbon.
bool ColumnsGive(const RibbonPlace& /*place*/, uint32_t /*fingerprint*/) {
  return false;
}

}  // namespace
}  // namespace rowbloom

#include "lib/kernels/match.h"
#include "lib/kernels/match_batch.h"

namespace rowbloom {
namespace {

class MatchTest : public testing::Test {
 protected:
  MatchTest() : data_(3 * 64) {
    probed = &probed_;
    all_answer = true;
    matcher_.SetLayout(KeyLayout::Kind::kDelimited, ':');
    matcher_.has_row_col = true;
    matcher_.row = BloomSection({data_.data(), 1, 6});
    matcher_.row_col = BloomSection({data_.data() + 64, 2, 6});
  }

  BatchAnswers Ask(const std::vector<std::string>& keys) {
    std::vector<KeyView> views;
    for (const std::string& key : keys)
      views.push_back({key.data(), key.size()});
    std::vector<const KeyView*> pointers;
    for (const KeyView& view : views) pointers.push_back(&view);
    BatchAnswers answers;
    MatchBatch<Sections::kFewProbes, RowsOfLayout<KeyLayout::Kind::kDelimited>>(
        matcher_, pointers.data(), pointers.size(), &answers);
    return answers;
  }
  Answer Match(const char* key, size_t size) {
    const KeyView view = {key, size};
    return rowbloom::Match<ReturnAnswer, Sections::kFewProbes,
                           KeyLayout::Kind::kDelimited>(matcher_, &view);
  }
  ptrdiff_t Count(Section section) const {
    return std::ranges::count(probed_, section);
  }

  std::vector<std::byte> data_;
  Matcher matcher_{};
  std::vector<Section> probed_;
};

TEST_F(MatchTest, BatchProbesTheRowOnceForAdjacentKeysOfIt) {
  std::vector<std::string> keys;
  for (int column = 0; column < 10; ++column) {
    keys.push_back("a:" + std::to_string(column));
  }
  keys.push_back("b:0");
  keys.push_back("a:10");
  const BatchAnswers answers = Ask(keys);
  EXPECT_EQ(Count(Section::kRow), 3) << "a, b and a again";
  EXPECT_EQ(Count(Section::kRowCol), 12);
  EXPECT_EQ(answers.row_col_may, (1u << 12) - 1);
}

TEST_F(MatchTest, BatchTellsRowsApartThatDifferInOneByte) {
  for (size_t row_bytes = 1; row_bytes < 40; ++row_bytes) {
    const std::string row(row_bytes, 'a');
    for (size_t at = 0; at < row_bytes; ++at) {
      std::string other = row;
      other[at] = 'b';
      probed_.clear();
      Ask({row + ":1", row + ":2", other + ":1", row + ":3", row + "a:3"});
      EXPECT_EQ(Count(Section::kRow), 4) << row_bytes << " bytes, byte " << at;
      EXPECT_EQ(Count(Section::kRowCol), 5);
    }
  }
}

TEST_F(MatchTest, BatchOfOneRowMayHaveKeysOutside) {
  Ask({"long enough:1", "long enough:2", "long enough", "long", "",
       "long enough:3"});
  EXPECT_EQ(Count(Section::kRow), 1);
  EXPECT_EQ(Count(Section::kRowCol), 3);
}

TEST_F(MatchTest, BatchProbesAllRowsBeforeTheFirstCell) {
  Ask({"a:1", "b:1", "c:1"});
  const std::vector<Section> expected = {Section::kRow,    Section::kRow,
                                         Section::kRow,    Section::kRowCol,
                                         Section::kRowCol, Section::kRowCol};
  EXPECT_EQ(probed_, expected);
}

TEST_F(MatchTest, AbsentRowSparesItsCells) {
  all_answer = false;
  const BatchAnswers answers = Ask({"a:1", "a:2", "outside", "b:"});
  EXPECT_EQ(Count(Section::kRow), 2);
  EXPECT_EQ(Count(Section::kRowCol), 0);
  EXPECT_EQ(answers.row_no, 0b1011u);
  probed_.clear();
  EXPECT_EQ(Match("a:1", 3), Answer::kRowNo);
  EXPECT_EQ(probed_.size(), 1u);
}

TEST_F(MatchTest, BareRowsAndKeysOutsideAskNoCell) {
  const BatchAnswers answers = Ask({"a:", "outside", "b:1", ""});
  EXPECT_EQ(Count(Section::kRow), 2);
  EXPECT_EQ(Count(Section::kRowCol), 1);
  EXPECT_EQ(answers.row_may, 0b0001u);
  EXPECT_EQ(answers.row_col_may, 0b0100u);
  EXPECT_EQ(answers.row_no | answers.row_col_no, 0u);
  EXPECT_EQ(Match("outside", 7), Answer::kOutside);
  EXPECT_EQ(Match("a:", 2), Answer::kRowMay);
  EXPECT_EQ(Match("a:1", 3), Answer::kRowColMay);
}

TEST_F(MatchTest, RowSectionAloneAnswersForCells) {
  matcher_.has_row_col = false;
  EXPECT_EQ(Match("a:1", 3), Answer::kRowMay);
  EXPECT_EQ(Ask({"a:1", "b:1"}).row_may, 0b11u);
  EXPECT_EQ(Count(Section::kRowCol), 0);
}

}  // namespace
}  // namespace rowbloom

// The corpus of cell_value; see corpus_test.cc for how it is written anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "storage/cells/cell_value.h"
#include "storage/cells/cell_versions.h"
#include "tests/fuzz/corpus.h"

namespace rowbloom {
namespace {

using testing::HasSubstr;

struct Seed {
  std::string bytes;    // two values and rules, as the fuzz target reads them
  std::string problem;  // the first value's error; "" when it is valid
  bool versioned = true;
};

// max_versions 3, min_versions 1, ttl 10, at 30.
std::string Input(const std::string& first, const std::string& second) {
  const std::string rules("\x02\x01\x0a\x00\x1e\x00\x00\x00", 8);
  const std::string first_bytes = {static_cast<char>(first.size()), '\0'};
  return rules + first_bytes + first + second;
}

std::map<std::string, Seed> Seeds() {
  const std::string puts = EncodeEntries({{ChangeType::kPut, 25, "new"},
                                          {ChangeType::kPut, 21, ""},
                                          {ChangeType::kPut, 5, "old"}});
  const std::string deletes =
      EncodeEntries({{ChangeType::kDeleteVersion, 25, {}},
                     {ChangeType::kPut, 23, "between"},
                     {ChangeType::kDelete, 6, {}}});
  const std::string of_family = EncodeEntries(
      {{ChangeType::kPut, 40, "x"}, {ChangeType::kDeleteFamily, 22, {}}});
  const auto latest_with = [](uint64_t ttl_ms) {
    return EncodeCellHead(7, ttl_ms) + "value";
  };
  const std::string latest = latest_with(kNoTtl);
  const std::string ttls = EncodeEntries({{ChangeType::kPut, 26, "over", 3},
                                          {ChangeType::kPut, 25, "new", 300},
                                          {ChangeType::kPut, 21, "", 0}});
  const auto with_byte = [&puts](size_t at, char byte) {
    std::string bytes = puts;
    bytes[at] = byte;
    return bytes;
  };
  const std::string overlong = std::string("\x02\x04", 2) +
                               std::string(8, '\0') +
                               std::string("\x80\x00", 2);
  const std::string endless = std::string("\x02\x04", 2) +
                              std::string(8, '\0') + std::string(20, '\x80');
  return {
      {"latest", {Input(latest, latest), "", false}},
      {"latest_cut", {Input(latest.substr(0, 8), ""), "at least 9", false}},
      {"latest_with_ttl", {Input(latest_with(5), latest), "", false}},
      {"ttls", {Input(ttls, puts), ""}},
      {"ttls_and_deletes", {Input(deletes, ttls), ""}},
      {"versions_and_deletes", {Input(puts, deletes), ""}},
      {"deletes_and_versions", {Input(deletes, puts), ""}},
      {"family_delete", {Input(of_family, puts), ""}},
      {"no_entries", {Input("\x02", puts), ""}},
      {"unknown_version", {Input(with_byte(0, 9), puts), "version"}},
      {"unknown_type", {Input(with_byte(1, 6), puts), "type"}},
      {"cut", {Input(puts.substr(0, puts.size() - 1), puts), "a value of"}},
      {"out_of_order", {Input(with_byte(2, 3), puts), "an older entry"}},
      {"overlong_length", {Input(overlong, puts), "as few bytes"}},
      {"length_without_end", {Input(endless, puts), "found no number"}},
  };
}

TEST(CellValueCorpus, SeedsAreWhatTheirNamesSay) {
  constexpr size_t kFirstAt = 10;
  fuzz::Files files;
  for (const auto& [name, seed] : Seeds()) {
    files[name] = seed.bytes;
    const auto size = static_cast<uint8_t>(seed.bytes[kFirstAt - 2]);
    const auto first = std::string_view(seed.bytes).substr(kFirstAt, size);
    std::string problem;
    Entries entries;
    CellValue cell;
    const bool good = seed.versioned ? DecodeEntries(first, &entries, &problem)
                                     : DecodeCellValue(first, &cell);
    if (!good && !seed.versioned) problem = ProblemOfCellValue(first);
    EXPECT_EQ(good, seed.problem.empty()) << name << ": " << problem;
    EXPECT_THAT(problem, HasSubstr(seed.problem)) << name;
  }
  fuzz::ExpectSeeds("cell_value", files);
}

}  // namespace
}  // namespace rowbloom

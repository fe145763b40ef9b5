// The format `versioned` and its merging, without a database.
#include "storage/cells/cell_versions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "lib/bytes/text.h"
#include "tests/support/random.h"

namespace rowbloom::test::cell_versions_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kPut = ChangeType::kPut;
constexpr auto kDeleteVersion = ChangeType::kDeleteVersion;
constexpr auto kDelete = ChangeType::kDelete;
constexpr auto kDeleteFamily = ChangeType::kDeleteFamily;

std::string Decoded(std::string_view stored, Entries* entries) {
  std::string problem;
  return DecodeEntries(stored, entries, &problem) ? "ok" : problem;
}

std::vector<uint64_t> Visible(const Entries& entries, const VersionRules& rules,
                              uint64_t now_ms = 0) {
  std::vector<uint64_t> visible;
  ForEachVisible(entries, RowDeletes(), rules, now_ms, [&](const Entry& entry) {
    visible.push_back(entry.timestamp_ms);
    return true;
  });
  return visible;
}

TEST(CellVersions, EntriesComeBack) {
  const std::string large(300, 'v');
  const Entries entries = {{kDeleteFamily, kMaxTimestampMs, {}},
                           {kPut, kMaxTimestampMs, ""},
                           {kDelete, 7, {}},
                           {kDeleteVersion, 7, {}},
                           {kPut, 7, large},
                           {kPut, 0, "x"}};
  Entries decoded;
  const std::string stored = EncodeEntries(entries);
  EXPECT_EQ(Decoded(stored, &decoded), "ok");
  EXPECT_EQ(decoded, entries);
  EXPECT_EQ(Decoded(EncodeEntries({}), &decoded), "ok");
  EXPECT_TRUE(decoded.empty());
  EXPECT_EQ(EncodeEntryHead({kPut, 7, large}) + large,
            EncodeEntries({{kPut, 7, large}}));
  EXPECT_EQ(EncodeEntryHead({kDelete, 7, {}}),
            EncodeEntries({{kDelete, 7, {}}}));
}

TEST(CellVersions, EveryCutInsideAnEntryIsNamed) {
  const Entries entries = {{kPut, 9, std::string_view("value")},
                           {kDelete, 8, {}}};
  const std::string stored = EncodeEntries(entries);
  const std::set<size_t> whole = {1, 1 + 1 + 8 + 1 + 5, stored.size()};
  for (size_t size = 0; size <= stored.size(); ++size) {
    Entries decoded;
    const std::string answer = Decoded(stored.substr(0, size), &decoded);
    if (whole.contains(size)) {
      EXPECT_EQ(answer, "ok") << size;
    } else {
      EXPECT_THAT(answer,
                  HasSubstr("of " + std::to_string(size) + ": expected "))
          << size;
    }
  }
}

TEST(CellVersions, HostileBytesAreRefusedByOffset) {
  const std::string put = EncodeEntries({{kPut, 5, "v"}});
  Entries decoded;
  std::string bad = put;
  bad[0] = 1;
  EXPECT_EQ(Decoded(bad, &decoded),
            "at offset 0 of 12: expected format version 2, found 1");
  for (int type = 0; type < 256; ++type) {
    bad = put;
    bad[1] = static_cast<char>(type);
    if (type == 4) continue;
    EXPECT_NE(Decoded(bad, &decoded), "ok") << type;
  }
  bad = put;
  bad[1] = 11;
  EXPECT_EQ(Decoded(bad, &decoded),
            "at offset 1 of 12: expected an entry of type 4, 5, 8, 10, 12 or "
            "14, found 11");
  bad = put;
  bad[9] = '\x80';
  EXPECT_THAT(Decoded(bad, &decoded),
              HasSubstr("at offset 2 of 12: expected a timestamp up to"));
  const std::string head = put.substr(0, 10);
  EXPECT_THAT(Decoded(head + std::string("\x81\0v", 3), &decoded),
              HasSubstr("in as few bytes as it needs"));
  EXPECT_THAT(
      Decoded(head + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", &decoded),
      HasSubstr("expected a length of up to 1073741824, found 1844674407370955"
                "1615"));
  EXPECT_THAT(Decoded(head + std::string(40, '\x80'), &decoded),
              HasSubstr("expected a length of up to 1073741824, found no"));
  EXPECT_THAT(Decoded(head + "\x81\x80\x80\x80\x04v", &decoded),
              HasSubstr("expected a length of up to 1073741824, found 107374"));
  EXPECT_THAT(Decoded(head + "\x80\x80\x80\x80\x04v", &decoded),
              HasSubstr("expected a value of 1073741824 bytes, found 1"));
  EXPECT_THAT(Decoded(put + put.substr(1), &decoded),
              HasSubstr("at offset 12 of 23: expected an older entry than the "
                        "one before, found type 4 at 5"));
}

TEST(CellVersions, ATtlIsANumberInItsLimits) {
  const std::string put = EncodeEntries({{kPut, 5, "v", 7}});
  Entries decoded;
  EXPECT_EQ(Decoded(put, &decoded), "ok");
  EXPECT_THAT(decoded, ElementsAre(Entry{kPut, 5, "v", 7}));
  const std::string head = put.substr(0, 10);
  const std::string end("\1v", 2);
  EXPECT_EQ(Decoded(head + "\7" + end, &decoded), "ok");
  EXPECT_THAT(Decoded(head + std::string("\x87\0", 2) + end, &decoded),
              HasSubstr("a TTL in as few bytes as it needs"));
  EXPECT_THAT(Decoded(head + "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01" + end,
                      &decoded),
              HasSubstr("expected a TTL of up to 9223372036854775807, found "
                        "9223372036854775808"));
  EXPECT_THAT(Decoded(head + std::string(40, '\x80'), &decoded),
              HasSubstr("expected a TTL of up to 9223372036854775807, found "
                        "no number"));
}

// A put that has run out is hidden, holds its place, and loses its value.
TEST(CellVersions, APutThatHasRunOutKeepsItsPlace) {
  const VersionRules rules{.max_versions = 2, .min_versions = 1, .ttl_ms = 500};
  Entries cell;
  for (const Entry& write :
       Entries{{kPut, 10, "a"}, {kPut, 20, "b"}, {kPut, 30, "c", 100}}) {
    cell = ApplyOperand(cell, {write}, rules);
  }
  const auto visible = [&](uint64_t wall_ms) {
    std::string values;
    ForEachVisible(cell, {}, rules, wall_ms, [&](const Entry& entry) {
      values += entry.value;
      return true;
    });
    return values;
  };
  EXPECT_EQ(visible(130), "cb");
  EXPECT_EQ(visible(131), "b");
  EXPECT_EQ(visible(520), "b");
  EXPECT_EQ(visible(521), "") << "a newer version counts for min_versions";
  EXPECT_FALSE(RemoveDead(rules, {.wall_ms = 130}, &cell));
  EXPECT_TRUE(RemoveDead(rules, {.wall_ms = 131}, &cell));
  EXPECT_THAT(cell, ElementsAre(Entry{kPut, 30, {}, 0}, Entry{kPut, 20, "b"}));
  EXPECT_EQ(visible(0), "b") << "the clock went back";
  cell = ApplyOperand(cell, {{kPut, 15, "late"}}, rules);
  EXPECT_EQ(visible(131), "b");
}

TEST(CellVersions, DeletesTakeWhatCameBeforeAndAfterThem) {
  const VersionRules rules{.max_versions = 10};
  Entries cell;
  for (const Entry& write : Entries{{kPut, 50, "a"},
                                    {kDeleteVersion, 50, {}},
                                    {kPut, 50, "b"},
                                    {kPut, 40, "c"},
                                    {kDelete, 45, {}},
                                    {kPut, 44, "d"},
                                    {kPut, 46, "e"},
                                    {kDelete, 30, {}}}) {
    cell = ApplyOperand(cell, {write}, rules);
  }
  EXPECT_THAT(cell, ElementsAre(Entry{kDeleteVersion, 50, {}},
                                Entry{kPut, 46, "e"}, Entry{kDelete, 45, {}}));
  EXPECT_THAT(Visible(cell, rules), ElementsAre(46));
}

TEST(CellVersions, SurplusVersionsAreGoneForGood) {
  const VersionRules rules{.max_versions = 2};
  Entries cell;
  for (const uint64_t timestamp_ms : {10, 30, 20}) {
    cell = ApplyOperand(cell, {{kPut, timestamp_ms, "v"}}, rules);
  }
  EXPECT_THAT(Visible(cell, rules), ElementsAre(30, 20));
  cell = ApplyOperand(cell, {{kDeleteVersion, 30, {}}}, rules);
  EXPECT_THAT(Visible(cell, rules), ElementsAre(20));
  // A version that was deleted takes no other's place.
  cell = ApplyOperand(cell, {{kPut, 5, "v"}}, rules);
  EXPECT_THAT(Visible(cell, rules), ElementsAre(20, 5));
  // Nor does it if both come in one operand, as a bulk load's.
  cell = ApplyOperand(cell, {{kDeleteVersion, 20, {}}, {kPut, 3, "v"}}, rules);
  EXPECT_THAT(Visible(cell, rules), ElementsAre(5, 3));
}

// Sizes are counted, and no value is read.
TEST(CellVersions, OlderOnesBeyondTheBytesOfACellAreSurplus) {
  const VersionRules rules{.max_versions = 9};
  const std::string_view half("", kMaxCellBytes / 2);
  Entries cell = ApplyOperand({}, {{kPut, 30, half}, {kPut, 20, half}}, rules);
  cell = ApplyOperand(cell, {{kPut, 10, "v"}}, rules);
  EXPECT_THAT(Visible(cell, rules), ElementsAre(30, 20));
  const std::string_view whole("", kMaxCellBytes);
  EXPECT_THAT(Visible({{kPut, 40, whole}, {kPut, 30, "v"}}, rules),
              ElementsAre(40));
  cell = ApplyOperand(cell, {{kPut, 40, whole}}, rules);
  EXPECT_EQ(cell.size(), 1u);
}

TEST(CellVersions, ExpiryLeavesTheNewestMinVersions) {
  const Entries cell = {{kPut, 100, ""}, {kPut, 90, ""}, {kPut, 80, ""}};
  const VersionRules rules{.max_versions = 3, .min_versions = 2, .ttl_ms = 10};
  EXPECT_THAT(Visible(cell, rules, 90), ElementsAre(100, 90, 80));
  EXPECT_THAT(Visible(cell, rules, 91), ElementsAre(100, 90));
  EXPECT_THAT(Visible(cell, rules, 1000), ElementsAre(100, 90));
  Entries left = cell;
  EXPECT_FALSE(RemoveDead(rules, {.wall_ms = 90}, &left));
  EXPECT_TRUE(RemoveDead(rules, {.wall_ms = 91}, &left));
  EXPECT_THAT(Visible(left, rules, 0), ElementsAre(100, 90));
}

TEST(CellVersions, DeadDeletesGoOnlyWhenAllTheyTakeIsExpired) {
  const Entries cell = {
      {kDeleteFamily, 95, {}}, {kDeleteVersion, 80, {}}, {kDelete, 70, {}}};
  Entries left = cell;
  const VersionRules rules = {.max_versions = 3, .ttl_ms = 10};
  // They have expired, but a put that they take may still be somewhere.
  EXPECT_FALSE(
      RemoveDead(rules, {.wall_ms = 91, .no_puts_before_ms = 70}, &left));
  EXPECT_TRUE(
      RemoveDead(rules, {.wall_ms = 91, .no_puts_before_ms = 71}, &left));
  EXPECT_THAT(left, ElementsAre(cell[0], cell[1]));
  EXPECT_TRUE(
      RemoveDead(rules, {.wall_ms = 91, .no_puts_before_ms = 81}, &left));
  EXPECT_THAT(left, ElementsAre(cell[0]));
  EXPECT_FALSE(RemoveDead(
      rules,
      {.wall_ms = 1000, .no_puts_before_ms = 1000, .keeps_row_deletes = true},
      &left));
  left = cell;
  EXPECT_FALSE(RemoveDead({.max_versions = 3, .min_versions = 1, .ttl_ms = 10},
                          {.wall_ms = 1000, .no_puts_before_ms = 1000}, &left));
  RowDeletes row_deletes;
  row_deletes.up_to_ms = 75;
  EXPECT_TRUE(RemoveDead({.max_versions = 3},
                         {.wall_ms = 1000, .row_deletes = &row_deletes},
                         &left));
  EXPECT_THAT(left, ElementsAre(cell[0], cell[1]));
}

// A model of one cell, which applies the rules in order and merges nothing.
struct Model {
  VersionRules rules;
  std::map<uint64_t, std::string> versions;
  std::set<uint64_t> deleted_singly;
  std::optional<uint64_t> deleted_upto;

  void Write(const Entry& entry) {
    if (entry.type == kPut) {
      if (deleted_singly.contains(entry.timestamp_ms)) return;
      versions[entry.timestamp_ms] = entry.value;
    } else if (entry.type == kDeleteVersion) {
      deleted_singly.insert(entry.timestamp_ms);
      versions.erase(entry.timestamp_ms);
    } else {
      deleted_upto = std::max(deleted_upto, {entry.timestamp_ms});
    }
    while (deleted_upto && !versions.empty() &&
           versions.begin()->first <= *deleted_upto) {
      versions.erase(versions.begin());
    }
    while (versions.size() > rules.max_versions) {
      versions.erase(versions.begin());
    }
  }
};

// The entries as a bulk load writes them: in order, each once, and without the
// puts that one of its deletes takes singly.
Entries LoadOf(Entries entries) {
  std::sort(entries.begin(), entries.end(), ComesBefore);
  const auto are_one = [](const Entry& a, const Entry& b) {
    return a.type == b.type && a.timestamp_ms == b.timestamp_ms;
  };
  entries.erase(std::unique(entries.begin(), entries.end(), are_one),
                entries.end());
  DropDeletedSingly(&entries);
  return entries;
}

// However a history is cut into operands, and these are combined, the cell is
// the same.
TEST(CellVersions, MergingInAnyGroupsGivesTheSame) {
  Random random(SeedFromEnv());
  uint64_t combined = 0;
  uint64_t refused = 0;
  const uint64_t rounds = Scaled(20'000);
  for (uint64_t round = 0; round < rounds; ++round) {
    const VersionRules rules{.max_versions =
                                 static_cast<uint32_t>(1 + random.Below(4))};
    Model model{rules, {}, {}, {}};
    std::vector<std::string> values;
    values.reserve(64);
    std::vector<Entries> operands;
    const uint64_t writes = 1 + random.Below(12);
    for (uint64_t i = 0; i < writes; ++i) {
      // A bulk load writes several entries at once.
      Entries operand;
      const bool of_load = random.OneIn(4);
      for (uint64_t left = of_load ? 4 : 1; left > 0; --left) {
        Entry write{kPut, random.Below(8), {}};
        const uint64_t dice = random.Below(10);
        if (dice < 2) {
          write.type = kDeleteVersion;
        } else if (dice == 2) {
          write.type = kDelete;
        } else if (dice == 3 && random.OneIn(2)) {
          write.type = kDeleteFamily;
        } else {
          values.push_back(Concat(i, "-", left));
          write.value = values.back();
        }
        operand.push_back(write);
      }
      operand = LoadOf(std::move(operand));
      for (const bool puts : {false, true}) {
        for (const Entry& entry : operand) {
          if (puts == (entry.type == kPut)) model.Write(entry);
        }
      }
      operands.push_back(std::move(operand));
    }
    // Neighbours are combined where that is possible.
    for (uint64_t tries = random.Below(10); tries > 0 && operands.size() > 1;
         --tries) {
      const size_t at = random.Below(operands.size() - 1);
      auto both = CombineOperands(operands[at], operands[at + 1]);
      if (!both) {
        ++refused;
        continue;
      }
      ++combined;
      operands[at] = *std::move(both);
      operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
    // The first operand may stand as the value, as RocksDB does it.
    Entries cell;
    size_t next = 0;
    if (random.OneIn(2)) cell = operands[next++];
    for (; next < operands.size(); ++next) {
      cell = ApplyOperand(cell, operands[next], rules);
    }
    ASSERT_TRUE(std::is_sorted(cell.begin(), cell.end(), ComesBefore));
    std::map<uint64_t, std::string> shown;
    ForEachVisible(cell, RowDeletes(), rules, 0, [&](const Entry& entry) {
      shown[entry.timestamp_ms] = entry.value;
      return true;
    });
    ASSERT_EQ(shown, model.versions) << "round " << round;
    Entries decoded;
    ASSERT_EQ(Decoded(EncodeEntries(cell), &decoded), "ok");
  }
  EXPECT_GT(combined, rounds);
  EXPECT_GT(refused, rounds / 10);
}

}  // namespace
}  // namespace rowbloom::test::cell_versions_test

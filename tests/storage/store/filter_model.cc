#include "tests/storage/store/filter_model.h"

#include <algorithm>
#include <iterator>
#include <regex>

#include "rowbloom/printable.h"
#include "tests/storage/store/random_names.h"

namespace rowbloom::test {
namespace {

bool Fits(FilterModel::Test test, const std::string& bytes,
          const std::string& text) {
  // Bytes compare as unsigned numbers.
  const bool less = std::ranges::lexicographical_compare(
      text, bytes, [](unsigned char a, unsigned char b) { return a < b; });
  switch (test) {
    case FilterModel::Test::kLess:
      return less;
    case FilterModel::Test::kAtMost:
      return less || text == bytes;
    case FilterModel::Test::kEqual:
      return text == bytes;
    case FilterModel::Test::kAtLeast:
      return !less;
    case FilterModel::Test::kGreater:
      return !less && text != bytes;
    case FilterModel::Test::kPrefix:
      return text.compare(0, bytes.size(), bytes) == 0;
    case FilterModel::Test::kSubstring:
      return text.find(bytes) != std::string::npos;
    case FilterModel::Test::kRegex:
      return std::regex_search(text, std::regex(bytes));
  }
  return false;
}

Match MatchOf(FilterModel::Test test, const std::string& bytes) {
  switch (test) {
    case FilterModel::Test::kLess:
      return Match::Less(bytes);
    case FilterModel::Test::kAtMost:
      return Match::AtMost(bytes);
    case FilterModel::Test::kEqual:
      return Match::Equal(bytes);
    case FilterModel::Test::kAtLeast:
      return Match::AtLeast(bytes);
    case FilterModel::Test::kGreater:
      return Match::Greater(bytes);
    case FilterModel::Test::kPrefix:
      return Match::Prefix(bytes);
    case FilterModel::Test::kSubstring:
      return Match::Substring(bytes);
    case FilterModel::Test::kRegex:
      break;
  }
  return Match::Regex(bytes);
}

std::set<size_t> Without(const std::set<size_t>& some,
                         const std::set<size_t>& others) {
  std::set<size_t> left;
  std::ranges::set_difference(some, others, std::inserter(left, left.end()));
  return left;
}

}  // namespace

Filter FilterModel::Build() const {
  std::vector<Filter> built;
  built.reserve(parts.size());
  for (const FilterModel& part : parts) built.push_back(part.Build());
  switch (kind) {
    case Kind::kAll:
      return {};
    case Kind::kRow:
      return Filter::Row(MatchOf(test, bytes));
    case Kind::kFamily:
      return Filter::Family(MatchOf(test, bytes));
    case Kind::kQualifier:
      return Filter::Qualifier(MatchOf(test, bytes));
    case Kind::kValue:
      return Filter::Value(MatchOf(test, bytes));
    case Kind::kTimestamp:
      return Filter::Timestamp(range);
    case Kind::kAnd:
      return Filter::And(built);
    case Kind::kOr:
      return Filter::Or(built);
    case Kind::kNot:
      return Filter::Not(built[0]);
    case Kind::kFirstCell:
      return Filter::FirstCell();
    case Kind::kPage:
      return Filter::Page(rows);
    case Kind::kRowsWith:
      return Filter::RowsWith(built[0]);
  }
  return {};
}

std::set<size_t> FilterModel::Keep(const std::vector<ReadCell>& all,
                                   const std::set<size_t>& seen) const {
  std::set<size_t> kept;
  std::set<std::string> noted;
  switch (kind) {
    case Kind::kAll:
      return seen;
    case Kind::kRow:
    case Kind::kFamily:
    case Kind::kQualifier:
    case Kind::kValue:
      for (const size_t i : seen) {
        const auto& [row, cell] = all[i];
        const std::string& text = kind == Kind::kRow         ? row
                                  : kind == Kind::kFamily    ? cell.family
                                  : kind == Kind::kQualifier ? cell.qualifier
                                                             : cell.value;
        if (Fits(test, bytes, text)) kept.insert(i);
      }
      return kept;
    case Kind::kTimestamp:
      for (const size_t i : seen) {
        const uint64_t timestamp_ms = all[i].cell.timestamp_ms;
        if (timestamp_ms >= range.begin_ms && timestamp_ms < range.end_ms) {
          kept.insert(i);
        }
      }
      return kept;
    case Kind::kAnd:
      kept = seen;
      for (const FilterModel& part : parts) kept = part.Keep(all, kept);
      return kept;
    case Kind::kOr:
      if (parts.empty()) return seen;
      for (const FilterModel& part : parts) kept.merge(part.Keep(all, seen));
      return kept;
    case Kind::kNot:
      return Without(seen, parts[0].Keep(all, seen));
    case Kind::kFirstCell:
      for (const size_t i : seen) {
        if (noted.insert(all[i].row).second) kept.insert(i);
      }
      return kept;
    case Kind::kPage:
      for (const size_t i : seen) {
        if (noted.size() < rows) noted.insert(all[i].row);
        if (noted.contains(all[i].row)) kept.insert(i);
      }
      return kept;
    case Kind::kRowsWith: {
      std::set<size_t> every;
      for (size_t i = 0; i < all.size(); ++i) every.insert(every.end(), i);
      for (const size_t i : parts[0].Keep(all, every)) noted.insert(all[i].row);
      for (const size_t i : seen) {
        if (noted.contains(all[i].row)) kept.insert(i);
      }
      return kept;
    }
  }
  return kept;
}

bool FilterModel::Has(Kind wanted) const {
  return kind == wanted ||
         std::ranges::any_of(parts, [wanted](const FilterModel& part) {
           return part.Has(wanted);
         });
}

std::string FilterModel::Text() const {
  static constexpr const char* kKinds[] = {
      "All", "Row", "Family", "Qualifier", "Value", "Timestamp",
      "And", "Or",  "Not",    "FirstCell", "Page",  "RowsWith"};
  static constexpr const char* kTests[] = {
      "<", "<=", "==", ">=", ">", "prefix", "substring", "regex"};
  std::string text = kKinds[static_cast<size_t>(kind)];
  if (kind >= Kind::kRow && kind <= Kind::kValue) {
    text += std::string(" ") + kTests[static_cast<size_t>(test)] + " \"" +
            ToPrintable(bytes) + "\"";
  }
  if (kind == Kind::kTimestamp) {
    text += " " + std::to_string(range.begin_ms) + " to " +
            std::to_string(range.end_ms);
  }
  if (kind == Kind::kPage) text += " " + std::to_string(rows);
  if (parts.empty()) return text;
  text += "(";
  for (const FilterModel& part : parts) text += part.Text() + "; ";
  return text + ")";
}

FilterModel RandomFilter(int levels, uint64_t now_ms, Random* random) {
  using Kind = FilterModel::Kind;
  FilterModel filter;
  filter.kind = static_cast<Kind>(
      random->Below(static_cast<uint64_t>(Kind::kRowsWith) + 1));
  size_t parts = 0;
  switch (filter.kind) {
    case Kind::kAnd:
    case Kind::kOr:
      parts = random->Below(4);
      break;
    case Kind::kNot:
    case Kind::kRowsWith:
      parts = 1;
      break;
    default:
      break;
  }
  if (parts > 0 && levels <= 1) return {};
  while (filter.parts.size() < parts) {
    FilterModel part = RandomFilter(levels - 1, now_ms, random);
    const bool is_taken = filter.kind != Kind::kRowsWith ||
                          !(part.Has(Kind::kFirstCell) ||
                            part.Has(Kind::kPage) || part.Has(Kind::kRowsWith));
    if (is_taken) filter.parts.push_back(std::move(part));
  }
  filter.test = static_cast<FilterModel::Test>(
      random->Below(static_cast<uint64_t>(FilterModel::Test::kRegex) + 1));
  if (filter.test == FilterModel::Test::kRegex) {
    constexpr const char* kPatterns[] = {"^a", "a$", "1.*v", "[123]", "^$", ""};
    filter.bytes = kPatterns[random->Below(std::size(kPatterns))];
  } else if (filter.kind == Kind::kValue) {
    filter.bytes = std::to_string(random->Below(300));
  } else if (filter.kind == Kind::kFamily) {
    constexpr const char* kNames[] = {"client", "latest", "one", "s"};
    filter.bytes = kNames[random->Below(std::size(kNames))];
  } else {
    filter.bytes = RandomName(random->Below(3), random);
  }
  filter.range.begin_ms = now_ms - random->Below(5000);
  filter.range.end_ms = filter.range.begin_ms + random->Below(5000);
  filter.rows = random->Below(5);
  return filter;
}

}  // namespace rowbloom::test

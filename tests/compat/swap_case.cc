#include "tests/compat/swap_case.h"

#include "tests/compat/failure.h"
#include "tests/support/hex.h"
#include "tests/support/random.h"

namespace rowbloom::compat {
namespace {

constexpr int kColumns = 5;
constexpr uint32_t kRowPrefixBytes = 4;
constexpr uint64_t kFirstAbsentRow = 1'000'000;

std::string Column(int column) { return "c" + std::to_string(column); }

// Any bytes where the layout takes them, with zeros among them, and rows of
// several lengths where it has such.
std::string MakeRow(const KeyLayout& layout, uint64_t number) {
  std::string row = test::DistinctKey(number);
  if (number % 4 == 0) row[5] = '\0';
  if (layout == KeyLayout::Delimited(':')) row = test::ToHex(row);
  if (!layout.FixedRowBytes()) row.append(number % 5, 'x');
  const auto row_bytes = layout.EncodeRow(row);
  Require(bool(row_bytes), "a row does not fit layout " + layout.ToString());
  return *row_bytes;
}

}  // namespace

std::string SwapCase::Name() const {
  std::string name = filter.key_layout->ToString() + "-" +
                     std::string(ToString(filter.bloom_type)) +
                     (partitioned ? "-partitioned" : "-full");
  for (char& c : name) {
    if (c == ':') c = '_';
  }
  return name;
}

std::string SwapCase::Row(int generation, Writer writer, int index) const {
  const int file =
      generation * static_cast<int>(kWriters.size()) + static_cast<int>(writer);
  return MakeRow(*filter.key_layout,
                 static_cast<uint64_t>(file) * kRowsPerFile +
                     static_cast<uint64_t>(index));
}

std::string SwapCase::AbsentRow(int index) const {
  return MakeRow(*filter.key_layout,
                 kFirstAbsentRow + static_cast<uint64_t>(index));
}

std::vector<Change> SwapCase::Changes(int generation, Writer writer) const {
  const std::string version = "g" + std::to_string(generation) + " ";
  std::vector<Change> changes;
  for (int i = 0; i < kRowsPerFile; ++i) {
    const std::string row = Row(generation, writer, i);
    for (int column = 0; column < kColumns; ++column) {
      changes.push_back({row + Column(column), version + std::to_string(i)});
    }
    if (i % 10 == 0) changes.push_back({row, version + "bare row"});
  }
  if (generation == 1) return changes;
  // Later generations change rows whose filters another writer built.
  const Writer other =
      kWriters[(static_cast<size_t>(writer) + 1) % kWriters.size()];
  for (int i = 0; i < kRowsPerFile; ++i) {
    const std::string row = Row(generation - 1, other, i);
    if (i % 5 == 0) {
      changes.push_back({row + Column(1), version + "overwritten"});
    } else if (i % 5 == 1) {
      changes.push_back({row + Column(2), std::nullopt});
    } else if (i % 20 == 2) {
      for (int column = 0; column < kColumns; ++column) {
        changes.push_back({row + Column(column), std::nullopt});
      }
    }
  }
  return changes;
}

std::vector<SwapCase> AllSwapCases() {
  std::vector<SwapCase> cases;
  for (const KeyLayout& layout :
       {KeyLayout::Escaped(), KeyLayout::FixedRow(8), KeyLayout::Delimited(':'),
        KeyLayout::LengthPrefixed()}) {
    for (const BloomType type : {BloomType::kRow, BloomType::kRowCol,
                                 BloomType::kRowPrefixFixedLength}) {
      for (const bool partitioned : {false, true}) {
        FilterPolicyOptions filter{.bloom_type = type, .key_layout = layout};
        if (type == BloomType::kRowPrefixFixedLength) {
          filter.row_prefix_length = kRowPrefixBytes;
        }
        cases.push_back({filter, partitioned});
      }
    }
  }
  return cases;
}

std::map<std::string, std::string> Expected(const SwapCase& swap_case,
                                            int generations) {
  std::map<std::string, std::string> keys;
  for (int generation = 1; generation <= generations; ++generation) {
    for (const Writer writer : kWriters) {
      for (const Change& change : swap_case.Changes(generation, writer)) {
        if (change.value) {
          keys[change.key] = *change.value;
        } else {
          keys.erase(change.key);
        }
      }
    }
  }
  return keys;
}

}  // namespace rowbloom::compat

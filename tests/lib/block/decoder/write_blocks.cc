// write_blocks DIR: writes filter blocks of all kinds, and what the library
// answers for keys that they have and keys that they have not, for a reader
// that does not share its code. Seeds the keys with ROWBLOOM_SEED.
//
// DIR/N.block has the bytes. DIR/N.answers has lines
//
//   key HEX PRESENT MAY_MATCH ROW CELL
//
// with 1, 0, or - where the section is absent or the key is no cell of a row;
// ROW is the answer of the ROW or ROWPREFIX section, CELL that of ROWCOL.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "lib/block/filter_block_builder.h"
#include "rowbloom/filter_block.h"
#include "tests/support/hex.h"
#include "tests/support/random.h"

namespace rowbloom {
namespace {

using test::Random;

std::optional<size_t> UpToHashMark(std::string_view key) {
  const size_t at = key.find('#');
  if (at == std::string_view::npos) return std::nullopt;
  return at + 1;
}

std::string Hex(std::string_view bytes) {
  return bytes.empty() ? "-" : test::ToHex(bytes);
}

// These bytes split in every way: a quarter of them mean something to a layout.
// Their lengths take each branch of the hash.
std::string SomeBytes(Random* random) {
  constexpr size_t kLongest[] = {4, 10, 20, 140, 260, 1400};
  const size_t longest =
      kLongest[std::min(random->Below(12), random->Below(6))];
  std::string bytes(random->Below(longest + 1), '\0');
  for (char& byte : bytes) {
    byte = random->OneIn(4) ? "\x00\x01\xff:#\n"[random->Below(6)]
                            : static_cast<char>(random->Next());
  }
  return bytes;
}

// A row of the layout, end mark included.
std::string SomeRow(const KeyLayout& layout, Random* random) {
  for (;;) {
    std::string row = SomeBytes(random);
    if (layout.FixedRowBytes()) {
      row = random->Bytes(*layout.FixedRowBytes());
    } else if (layout.kind() == KeyLayout::Kind::kCustom) {
      row += '#';
    }
    if (auto encoded = layout.EncodeRow(row)) return *encoded;
  }
}

// `rows` rows have three times as many keys: bare rows, cells, and keys outside
// the layout.
std::set<std::string> SomeKeys(const KeyLayout& layout, size_t rows,
                               Random* random) {
  std::set<std::string> keys;
  for (size_t i = 0; i < rows; ++i) {
    const std::string row = SomeRow(layout, random);
    if (random->OneIn(3)) keys.insert(row);
    for (uint64_t cells = random->Below(5); cells > 0; --cells) {
      keys.insert(row + SomeBytes(random));
    }
    const std::string any = SomeBytes(random);
    if (random->OneIn(3) && !layout.Split(any)) keys.insert(any);
  }
  return keys;
}

class BlockWriter {
 public:
  BlockWriter(const std::filesystem::path& directory, Random* random)
      : directory_(directory), random_(random) {}

  // A block of about three keys for each of `rows`, with the answers for about
  // `kept` of them and for some 500 others.
  void Write(const FilterBlockOptions& options, size_t rows,
             size_t kept = 300) {
    const std::set<std::string> keys =
        SomeKeys(options.key_layout, rows, random_);
    FilterBlockBuilder builder(options);
    for (const std::string& key : keys) builder.AddKey(key);
    const std::string bytes = builder.Finish();
    const FilterBlock block = FilterBlock::Open(bytes);
    if (!block.usable()) std::cerr << block.problem() << "\n";
    const std::string path = directory_ / std::to_string(blocks_++);
    std::ofstream(path + ".block", std::ios::binary) << bytes;
    std::ofstream answers(path + ".answers");
    for (const std::string& key : keys) {
      if (random_->Below(keys.size()) >= kept) continue;
      answers << Line(block, key, true);
    }
    for (const std::string& key : SomeKeys(options.key_layout, 100, random_)) {
      answers << Line(block, key, keys.contains(key));
      // A new cell of a row that may be there.
      const auto present = keys.lower_bound(key);
      if (present == keys.end()) continue;
      const auto split = options.key_layout.Split(*present);
      if (!split) continue;
      const std::string cell = std::string(split->row) + SomeBytes(random_);
      answers << Line(block, cell, keys.contains(cell));
    }
  }

 private:
  static std::string Line(const FilterBlock& block, const std::string& key,
                          bool present) {
    const auto text = [](Verdict verdict) {
      switch (verdict) {
        case Verdict::kMayMatch:
          return " 1";
        case Verdict::kNoMatch:
          return " 0";
        case Verdict::kNotProbed:
          return " -";
        case Verdict::kUnusable:
          return " unusable";
      }
      return " unknown";
    };
    Verdict row = Verdict::kNotProbed;
    Verdict cell = Verdict::kNotProbed;
    if (const auto layout = KeyLayout::FromString(block.layout_id())) {
      if (const auto split = layout->Split(key)) {
        row = block.ProbeSection(block.row_prefix_length() > 0
                                     ? SectionType::kRowPrefix
                                     : SectionType::kRow,
                                 split->row, split->qualifier);
        if (!split->qualifier.empty()) {
          cell = block.ProbeSection(SectionType::kRowCol, split->row,
                                    split->qualifier);
        }
      }
    }
    return "key " + Hex(key) + (present ? " 1" : " 0") +
           (block.MayMatch(key).may_match() ? " 1" : " 0") + text(row) +
           text(cell) + "\n";
  }

  const std::filesystem::path directory_;
  Random* const random_;
  int blocks_ = 0;
};

constexpr BloomType kTypes[] = {BloomType::kRow, BloomType::kRowCol,
                                BloomType::kRowPrefixFixedLength};
constexpr FilterKind kKinds[] = {FilterKind::kBloom, FilterKind::kRibbon};

int Main(const std::filesystem::path& directory) {
  const uint64_t seed = test::SeedFromEnv();
  std::cout << "ROWBLOOM_SEED=" << seed << "\n";
  Random random(seed);
  BlockWriter writer(directory, &random);
  const KeyLayout layouts[] = {
      KeyLayout::Escaped(),
      KeyLayout::FixedRow(8),
      KeyLayout::Delimited(':'),
      KeyLayout::Delimited('\n'),
      KeyLayout::LengthPrefixed(),
      *KeyLayout::RegisterCustom("up_to", UpToHashMark)};
  for (const KeyLayout& layout : layouts) {
    for (const BloomType type : kTypes) {
      for (const FilterKind kind : kKinds) {
        FilterBlockOptions options{
            .bloom_type = type, .key_layout = layout, .kind = kind};
        if (type == BloomType::kRowPrefixFixedLength) {
          options.row_prefix_length = 3;
        }
        writer.Write(options, 80);
      }
    }
  }
  const KeyLayout& layout = layouts[0];
  for (const FilterKind kind : kKinds) {
    for (const size_t rows : {0, 1, 3}) {
      writer.Write({.key_layout = layout, .kind = kind}, rows);
    }
    for (const double bits : {2.0, 5.0, 15.0, 30.0}) {
      writer.Write({.key_layout = layout, .kind = kind, .bits_per_key = bits},
                   300);
    }
    writer.Write({.key_layout = layout, .kind = kind, .row_spread = 0.25}, 300);
    writer.Write({.key_layout = layout, .kind = kind, .origin = {"users", 3}},
                 80);
    // Payloads exceed 64 KiB, and ribbons have several layers.
    writer.Write({.key_layout = layout, .kind = kind}, 25'000);
  }
  // Each place in a bucket of 128 slots has a key that starts there.
  for (const double slots : {0.9, 1.5}) {
    writer.Write({.key_layout = layout,
                  .kind = FilterKind::kRibbon,
                  .ribbon_slots_per_key = slots},
                 4000, 20'000);
  }
  return 0;
}

}  // namespace
}  // namespace rowbloom

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_blocks DIR\n";
    return 2;
  }
  return rowbloom::Main(argv[1]);
}

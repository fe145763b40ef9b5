#include "lib/block/lookup.h"

#include <string>
#include <utility>

#include "lib/block/format.h"
#include "lib/bytes/text.h"

namespace rowbloom {
namespace {

template <uint8_t kFill>
BloomBlocks FilledBlock() {
  static const std::array<std::byte, kBlockBytes> block = [] {
    std::array<std::byte, kBlockBytes> filled;
    filled.fill(std::byte{kFill});
    return filled;
  }();
  return {.data = block.data(), .count = 1, .probes = 1};
}

}  // namespace

SectionProbe::SectionProbe(Verdict if_found)
    : if_found_(if_found), blocks_(FilledBlock<0xff>()) {}

SectionProbe SectionProbe::Empty() { return SectionProbe(FilledBlock<0>()); }

Lookup::Lookup() { sections_.row = SectionProbe(Verdict::kUnusable); }

Lookup::Lookup(KeyLayout layout, Sections sections, const Kernel& kernel)
    : layout_(std::move(layout)),
      kind_(sections.row_prefix_length > 0 ? KeyLayout::Kind::kCustom
                                           : layout_.kind()),
      parameter_(layout_.parameter()),
      usable_(true),
      sections_(std::move(sections)),
      kernel_(&kernel) {}

// Tells whether a key has the length of the prefixes that a fixed-length prefix
// extractor returns.
bool Lookup::IsBarePrefix(std::string_view key) const {
  return sections_.row_prefix_length > 0 &&
         key.size() == layout_.RowOffset() + sections_.row_prefix_length;
}

Lookup::Entry Lookup::EntryOutside(std::string_view key) const {
  if (sections_.whole_keys == SectionType::kRowCol) {
    return {.in_row = false, .row = 0, .row_hash = HashRow({}), .cell = key};
  }
  const bool in_row = sections_.whole_keys == row_type() || IsBarePrefix(key);
  return {.in_row = in_row, .row = HashRow(key), .row_hash = 0, .cell = {}};
}

Lookup::Entry Lookup::RareEntryOf(std::string_view key) const {
  if (!usable_) return {.in_row = true, .row = 0, .row_hash = 0, .cell = {}};
  const size_t row_bytes = layout_.RowBytes(key);
  if (row_bytes == KeyLayout::kNoRow) return EntryOutside(key);
  const std::string_view row = key.substr(0, row_bytes);
  Entry entry = EntryOf(row, key.substr(row_bytes));
  if (sections_.row_prefix_length > 0) {
    entry.row =
        HashRow(format::RowPrefix(layout_, row, sections_.row_prefix_length));
  }
  return entry;
}

MatchResult Lookup::MatchRare(std::string_view key) const {
  return ResultOf(Match<1>(1, [&](size_t /*i*/) { return RareEntryOf(key); }),
                  0);
}

// A prefix with a qualifier may be a key outside the layout.
bool Lookup::IsRow(std::string_view row_bytes,
                   std::string_view qualifier) const {
  const size_t found = layout_.RowBytes(row_bytes);
  return found == row_bytes.size() ||
         (found == KeyLayout::kNoRow && qualifier.empty() &&
          IsBarePrefix(row_bytes));
}

Verdict Lookup::ProbeSection(SectionType type, std::string_view row_bytes,
                             std::string_view qualifier) const {
  if (!usable_) return Verdict::kUnusable;
  if (!IsRow(row_bytes, qualifier)) return Verdict::kNotProbed;
  const std::string key = Concat(row_bytes, qualifier);
  const Entry entry = RareEntryOf(key);
  if (type == SectionType::kRowCol) {
    if (entry.cell.empty()) return Verdict::kNotProbed;
    return ProbeHash(type, HashRowCol(entry.row_hash, entry.cell));
  }
  return entry.in_row ? ProbeHash(type, entry.row) : Verdict::kNotProbed;
}

Verdict Lookup::ProbeHash(SectionType type, uint64_t hash) const {
  if (!usable_) return Verdict::kUnusable;
  const SectionProbe absent;
  const SectionProbe& section = type == SectionType::kRowCol ? sections_.row_col
                                : type == row_type()         ? sections_.row
                                                             : absent;
  return section.VerdictOf(section.Find(*kernel_, hash));
}

}  // namespace rowbloom

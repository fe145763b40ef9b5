#include "lib/block/lookup.h"

#include <utility>

#include "lib/block/format.h"

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

Lookup::Lookup()
    : layout_(KeyLayout::Escaped()),
      kind_(KeyLayout::Kind::kCustom),
      parameter_(0),
      usable_(false),
      kernel_(&ActiveKernel()) {
  sections_.row = SectionProbe(Verdict::kUnusable);
}

Lookup::Lookup(KeyLayout layout, Sections sections, const Kernel& kernel)
    : layout_(std::move(layout)),
      kind_(sections.row_prefix_length > 0 ? KeyLayout::Kind::kCustom
                                           : layout_.kind()),
      parameter_(layout_.parameter()),
      usable_(true),
      sections_(std::move(sections)),
      kernel_(&kernel) {}

// Tells whether these bytes are what a fixed-length prefix extractor makes of a
// key.
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
  return RareEntryOf(key.substr(0, row_bytes), key.substr(row_bytes));
}

// REQUIRES usable_.
Lookup::Entry Lookup::RareEntryOf(std::string_view row_bytes,
                                  std::string_view qualifier) const {
  Entry entry = EntryOf(row_bytes, qualifier);
  if (sections_.row_prefix_length > 0) {
    entry.row = HashRow(
        format::RowPrefix(layout_, row_bytes, sections_.row_prefix_length));
  }
  return entry;
}

MatchResult Lookup::MatchRare(std::string_view key) const {
  return ResultOf(Match<1>(1, [&](size_t /*i*/) { return RareEntryOf(key); }),
                  0);
}

BatchAnswers Lookup::MayMatch(std::span<const KeyBytes> keys) const {
  return Match<Kernel::kMaxMany>(keys.size(), [&](size_t i) {
    return EntryOf({keys[i].data, keys[i].size});
  });
}

// The entry of a key by its parts; nullopt for bytes that cannot have been
// indexed as a row. A prefix with a qualifier may be a key outside the layout.
std::optional<Lookup::Entry> Lookup::EntryOfParts(
    std::string_view row_bytes, std::string_view qualifier) const {
  if (!usable_) return RareEntryOf(row_bytes);
  if (layout_.RowBytes(row_bytes) != row_bytes.size() &&
      !(qualifier.empty() && IsBarePrefix(row_bytes))) {
    return std::nullopt;
  }
  return RareEntryOf(row_bytes, qualifier);
}

MatchResult Lookup::MayMatch(std::string_view row_bytes,
                             std::string_view qualifier) const {
  const auto entry = EntryOfParts(row_bytes, qualifier);
  if (!entry) return {};
  return ResultOf(Match<1>(1, [&](size_t /*i*/) { return *entry; }), 0);
}

Verdict Lookup::ProbeSection(SectionType type, std::string_view row_bytes,
                             std::string_view qualifier) const {
  if (!usable_) return Verdict::kUnusable;
  const auto entry = EntryOfParts(row_bytes, qualifier);
  if (!entry) return Verdict::kNotProbed;
  if (type != SectionType::kRowCol) return ProbeHash(type, entry->row);
  if (entry->cell.empty()) return Verdict::kNotProbed;
  return ProbeHash(type, HashRowCol(entry->row_hash, entry->cell));
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

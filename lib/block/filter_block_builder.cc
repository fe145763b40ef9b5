#include "lib/block/filter_block_builder.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "lib/block/format.h"
#include "lib/block/parsed_block.h"
#include "lib/block/ribbon.h"
#include "lib/bytes/integers.h"
#include "lib/bytes/text.h"
#include "lib/kernels/kernel.h"
#include "lib/plan/kind_bits.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

// Returns the setting for these bits per key. Computing it takes some 10 us, as
// long as a filter of a thousand keys. The last one is kept, since a thread
// builds one file after the other with the same bits.
const BloomSetting& SettingFor(double bits_per_key) {
  thread_local BloomSetting last;
  if (last.bits_per_key != bits_per_key) {
    const int probes = BestProbes(bits_per_key);
    last = {bits_per_key, probes,
            BlockedFalsePositiveRate(bits_per_key, probes)};
  }
  return last;
}

// The number of zeros before a payload of kind bloom.
size_t PaddingOf(size_t offset, uint64_t payload_bytes) {
  if (payload_bytes < format::kAlignedFromBytes) return 0;
  return (format::kAlignment - offset % format::kAlignment) %
         format::kAlignment;
}

void PutEntry(std::string* out, const FilterSection& section,
              uint64_t checksum) {
  PutFixed(out, static_cast<uint64_t>(section.type), 1);
  PutFixed(out, static_cast<uint64_t>(section.kind), 1);
  PutFixed(out, section.probes, 1);
  PutFixed(out, 0, 1);
  PutFixed(out, section.row_prefix_length, 4);
  PutFixed(out, section.offset_bytes, 4);
  PutFixed(out, section.size_bytes, 4);
  PutFixed(
      out,
      std::min<uint64_t>(section.keys, std::numeric_limits<uint32_t>::max()),
      4);
  PutFixed(out, checksum, 4);
}

// The bytes of the attribute that tells where keys outside the layout are.
constexpr size_t kWholeKeysBytes = 3;

void PutAttribute(std::string* out, uint8_t tag, std::string_view value) {
  PutFixed(out, tag, 1);
  PutFixed(out, value.size(), 1);
  *out += value;
}

std::string OriginAttributes(const FileOrigin& origin) {
  std::string attributes;
  if (!origin.column_family.empty()) {
    PutAttribute(&attributes, format::kColumnFamilyTag,
                 std::string_view(origin.column_family)
                     .substr(0, format::kMaxAttributeBytes));
  }
  if (origin.level >= 0 && origin.level <= 255) {
    PutAttribute(&attributes, format::kLevelTag,
                 std::string(1, static_cast<char>(origin.level)));
  }
  return attributes;
}

}  // namespace

FilterBlockBuilder::FilterBlockBuilder(const FilterBlockOptions& options)
    : options_(options),
      setting_(SettingFor(
          std::clamp(options.bits_per_key, kMinBitsPerKey, kMaxBitsPerKey))),
      layout_id_(options.key_layout.ToString()),
      origin_(OriginAttributes(options.origin)),
      has_cells_(options.bloom_type == BloomType::kRowCol),
      plain_kind_(options.row_prefix_length > 0 || options.verify
                      ? KeyLayout::Kind::kCustom
                      : options.key_layout.kind()),
      plain_parameter_(options.key_layout.parameter()),
      hashes_{.rows = HashList(options.verify),
              .cells = HashList(options.verify)} {
  options_.ribbon_slots_per_key =
      std::clamp(options_.ribbon_slots_per_key, 0.9, 2.0);
}

void FilterBlockBuilder::AddKey(std::string_view key) {
  const size_t row_bytes = options_.key_layout.RowBytes(key);
  if (row_bytes == KeyLayout::kNoRow) {
    // In ROWCOL it is a cell of the empty row.
    has_cells_ ? hashes_.cells.Add(HashRowCol(HashRow({}), key))
               : hashes_.rows.Add(HashRow(key));
    return;
  }
  const std::string_view row = key.substr(0, row_bytes);
  if (options_.row_prefix_length > 0) {
    hashes_.rows.Add(HashRow(format::RowPrefix(options_.key_layout, row,
                                               options_.row_prefix_length)));
    return;
  }
  const uint64_t row_hash = HashRow(row);
  hashes_.rows.Add(row_hash);
  if (has_cells_ && row_bytes < key.size()) {
    hashes_.cells.Add(HashRowCol(row_hash, key.substr(row_bytes)));
  }
}

void FilterBlockBuilder::AddPrefix(std::string_view prefix) {
  if (last_prefix_ && *last_prefix_ == prefix) return;
  AddKey(prefix);
  last_prefix_ = prefix;
}

// Returns the sections of a block of these entries, in their order. There is no
// empty ROWCOL section: it would exclude cells that were never indexed, such as
// those of a file of bare rows.
std::vector<FilterBlockBuilder::Section> FilterBlockBuilder::SectionsOf(
    const Hashes& hashes) const {
  const bool prefixes = options_.bloom_type == BloomType::kRowPrefixFixedLength;
  std::vector<Section> sections = {
      {prefixes ? SectionType::kRowPrefix : SectionType::kRow, &hashes.rows}};
  if (!hashes.cells.empty()) {
    sections.push_back({SectionType::kRowCol, &hashes.cells});
  }
  return sections;
}

// The sizes of the sections to be written.
std::vector<SectionSize> FilterBlockBuilder::SizesOf(
    const std::vector<Section>& sections) const {
  std::vector<SectionSize> sizes;
  for (const Section& section : sections) {
    sizes.push_back({.keys = section.hashes->size()});
  }
  SizeSections(options_.kind, setting_, options_.row_spread, sizes);
  FitMemory(sizes);
  return sizes;
}

// Changes the sizes of the sections so that the block fills its allocation. The
// largest blocks do not change, as the format has a limit. Ribbons do not,
// either, as their size follows from their rate.
void FilterBlockBuilder::FitMemory(std::span<SectionSize> sizes) const {
  if (options_.memory_fit == nullptr || options_.kind != FilterKind::kBloom) {
    return;
  }
  uint64_t payload = 0;
  for (const SectionSize& size : sizes) payload += size.blocks * kBlockBytes;
  if (payload > kMaxSectionBytes / 2) return;
  options_.memory_fit->Choose(BlockBytes(sizes) - payload, sizes);
}

// The bytes of a block of these sections, of kind bloom.
size_t FilterBlockBuilder::BlockBytes(
    std::span<const SectionSize> sizes) const {
  size_t at = format::kHead.size();
  for (const SectionSize& size : sizes) {
    const uint64_t bytes = size.blocks * kBlockBytes;
    at += PaddingOf(at, bytes) + bytes;
  }
  return at + sizes.size() * format::kEntryBytes + origin_.size() +
         kWholeKeysBytes + layout_id_.size() + format::kTrailerBytes +
         format::kTail.size();
}

double FilterBlockBuilder::BitsPerEntry() const {
  return options_.kind == FilterKind::kRibbon
             ? RibbonBitsPerKey(setting_.rate, options_.ribbon_slots_per_key)
             : setting_.bits_per_key;
}

size_t FilterBlockBuilder::SpaceFor(size_t entries) const noexcept {
  const SectionSize sizes[2] = {{.blocks = BlocksFor(entries, BitsPerEntry())}};
  return BlockBytes(std::span(sizes).first(has_cells_ ? 2 : 1));
}

size_t FilterBlockBuilder::EntriesThatFit(size_t block_bytes) const noexcept {
  const size_t overhead = SpaceFor(0);
  size_t payload = std::max(block_bytes, overhead + kBlockBytes) - overhead;
  payload -= PaddingOf(format::kHead.size(), payload);
  return std::max<size_t>(1, static_cast<size_t>(static_cast<double>(payload) *
                                                 8 / BitsPerEntry()));
}

double FilterBlockBuilder::RateOf(size_t entries,
                                  size_t block_bytes) const noexcept {
  if (entries == 0) return 0;
  const size_t overhead = SpaceFor(0);
  if (block_bytes <= overhead) return 1;
  const double bits = 8.0 * static_cast<double>(block_bytes - overhead) /
                      static_cast<double>(entries);
  const double bloom = FalsePositiveRate(bits);
  return options_.kind == FilterKind::kRibbon
             ? std::min(bloom, RibbonRate(bits, options_.ribbon_slots_per_key))
             : bloom;
}

// Appends the section as a ribbon. False: it has to be of kind bloom, because
// that is smaller, the ribbon cannot be built, or there is no memory to build
// it. The block already has room for the bloom.
bool FilterBlockBuilder::AppendRibbonOf(const Section& section,
                                        const SectionSize& size,
                                        std::string* block) const {
  if (size.blocks == 0) return false;
  try {
    return AppendRibbon(section.hashes->chunks(), size.rate,
                        size.blocks * kBlockBytes - 1, block,
                        options_.ribbon_slots_per_key);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// Appends the payload of a section, and padding before it.
FilterSection FilterBlockBuilder::AppendSection(const Section& section,
                                                const SectionSize& size,
                                                std::string* block) const {
  FilterSection written{.type = section.type,
                        .kind = options_.kind,
                        .offset_bytes = block->size(),
                        .keys = size.keys};
  if (section.type == SectionType::kRowPrefix) {
    written.row_prefix_length = options_.row_prefix_length;
  }
  if (options_.kind != FilterKind::kRibbon ||
      !AppendRibbonOf(section, size, block)) {
    const uint64_t bytes = size.blocks * kBlockBytes;
    written.kind = FilterKind::kBloom;
    written.probes = static_cast<uint8_t>(size.probes);
    written.offset_bytes += PaddingOf(block->size(), bytes);
    block->resize(written.offset_bytes + bytes);
    auto* const data =
        reinterpret_cast<std::byte*>(block->data() + written.offset_bytes);
    for (const std::span<const uint64_t> chunk : section.hashes->chunks()) {
      ActiveKernel().add({data, size.blocks, size.probes}, data, chunk.data(),
                         chunk.size());
    }
  }
  written.size_bytes = block->size() - written.offset_bytes;
  return written;
}

std::string FilterBlockBuilder::Finish() {
  const std::vector<Section> sections = SectionsOf(hashes_);
  const std::vector<SectionSize> sizes = SizesOf(sections);
  std::string block;
  // A ribbon may end where the next section needs more padding.
  block.reserve(BlockBytes(sizes) + format::kAlignment);
  block += format::kHead;
  std::string directory;
  finished_sections_.clear();
  for (size_t i = 0; i < sections.size(); ++i) {
    finished_sections_.push_back(AppendSection(sections[i], sizes[i], &block));
    const FilterSection& written = finished_sections_.back();
    PutEntry(&directory, written,
             Checksum(std::string_view(block).substr(written.offset_bytes)));
  }
  directory += origin_;
  PutAttribute(&directory, format::kWholeKeysTag,
               std::string(1, static_cast<char>(sections.back().type)));
  directory += layout_id_;
  std::string end;
  PutFixed(&end, layout_id_.size(), 2);
  PutFixed(&end, origin_.size() + kWholeKeysBytes, 2);
  PutFixed(&end, sections.size(), 1);
  PutFixed(&end, format::kVersion, 1);
  end += format::kTail;
  block += directory;
  PutFixed(&block, Checksum(directory, Checksum(end)), 8);
  block += end;

  Hashes added = std::move(hashes_);
  Reset();
  if (options_.verify) finished_ = std::move(added);
  return block;
}

std::string FilterBlockBuilder::Verify(std::string_view block) {
  const Hashes hashes = std::move(finished_);
  const std::vector<Section> added = SectionsOf(hashes);
  for (const Section& section : added) {
    if (!section.hashes->Intact()) {
      return Concat("filter block: hashes of section ", ToString(section.type),
                    " are not those of the keys added");
    }
  }
  const ParsedBlock parsed = ParseFilterBlock(block);
  if (!parsed.problem.empty()) return parsed.problem;
  for (const FilterSection& section : parsed.sections) {
    if (!section.usable()) return "filter block " + section.problem;
  }
  for (const Section& section : added) {
    if (section.hashes->empty()) continue;
    const auto found =
        std::ranges::find(parsed.sections, section.type, &FilterSection::type);
    if (found == parsed.sections.end() || found->size_bytes == 0) {
      return Concat("filter block: section ", ToString(section.type),
                    " expected");
    }
    if (section.type == SectionType::kRowPrefix &&
        found->row_prefix_length != options_.row_prefix_length) {
      return Concat("filter block: row prefix of ", found->row_prefix_length,
                    " bytes, expected ", options_.row_prefix_length);
    }
    for (const std::span<const uint64_t> chunk : section.hashes->chunks()) {
      for (const uint64_t hash : chunk) {
        if (parsed.lookup.ProbeHash(section.type, hash) != Verdict::kMayMatch) {
          return Concat("filter block: a key that was added is not in section ",
                        ToString(section.type));
        }
      }
    }
  }
  return "";
}

void FilterBlockBuilder::Reset() {
  for (HashList* list :
       {&hashes_.rows, &hashes_.cells, &finished_.rows, &finished_.cells}) {
    list->Clear();
  }
  last_prefix_.reset();
}

}  // namespace rowbloom

#include "lib/block/parsed_block.h"

#include <memory>
#include <utility>

#include "lib/block/format.h"
#include "lib/block/hash.h"
#include "lib/block/ribbon.h"
#include "lib/bytes/little_endian.h"
#include "lib/kernels/kernel.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

format::Entry GetEntry(std::string_view directory, size_t index) {
  const std::string_view in = directory.substr(index * format::kEntryBytes);
  return {.type = static_cast<uint8_t>(in[0]),
          .kind = static_cast<uint8_t>(in[1]),
          .probes = static_cast<uint8_t>(in[2]),
          .scope = static_cast<uint32_t>(GetFixed(in, 4, 4)),
          .offset = static_cast<uint32_t>(GetFixed(in, 8, 4)),
          .size = static_cast<uint32_t>(GetFixed(in, 12, 4)),
          .keys = static_cast<uint32_t>(GetFixed(in, 16, 4)),
          .checksum = static_cast<uint32_t>(GetFixed(in, 20, 4))};
}

// Empty, or why a section cannot be trusted. `end` is where the directory
// starts.
std::string CheckSection(std::string_view contents, const format::Entry& entry,
                         size_t end) {
  const std::string at =
      "section at offset " + std::to_string(entry.offset) + ": ";
  if (entry.offset < format::kHead.size() || entry.offset > end ||
      entry.size > end - entry.offset) {
    return at + std::to_string(entry.size) + " bytes, expected them between " +
           std::to_string(format::kHead.size()) + " and " + std::to_string(end);
  }
  const auto kind = static_cast<FilterKind>(entry.kind);
  if (kind != FilterKind::kBloom && kind != FilterKind::kRibbon) {
    return at + "unknown filter kind " + std::to_string(entry.kind);
  }
  if (kind == FilterKind::kBloom &&
      (entry.probes < 1 || entry.probes > kMaxProbes)) {
    return at + std::to_string(entry.probes) + " probes, expected 1 to " +
           std::to_string(kMaxProbes);
  }
  if (entry.type == static_cast<uint8_t>(SectionType::kRowPrefix) &&
      (entry.scope < 1 || entry.scope > KeyLayout::kMaxRowBytes)) {
    return at + "row prefix of " + std::to_string(entry.scope) +
           " bytes, expected 1 to " + std::to_string(KeyLayout::kMaxRowBytes);
  }
  if ((kind == FilterKind::kBloom && entry.size % kBlockBytes != 0) ||
      (entry.size == 0) != (entry.keys == 0)) {
    return at + std::to_string(entry.size) + " bytes for " +
           std::to_string(entry.keys) + " keys, expected blocks of " +
           std::to_string(kBlockBytes) + " bytes";
  }
  const auto found = static_cast<uint32_t>(
      Checksum(contents.substr(entry.offset, entry.size)));
  if (found != entry.checksum) {
    return at + "checksum " + std::to_string(entry.checksum) +
           " expected, found " + std::to_string(found);
  }
  return "";
}

// Reads the attributes into *block. Tags that are not known are passed over.
void ParseAttributes(std::string_view attributes, ParsedBlock* block) {
  while (attributes.size() >= 2) {
    const auto tag = static_cast<uint8_t>(attributes[0]);
    const auto bytes = static_cast<uint8_t>(attributes[1]);
    attributes.remove_prefix(2);
    if (bytes > attributes.size()) return;
    const std::string_view value = attributes.substr(0, bytes);
    attributes.remove_prefix(bytes);
    if (tag == format::kColumnFamilyTag) {
      block->origin.column_family = value;
    } else if (tag == format::kLevelTag && bytes == 1) {
      block->origin.level = static_cast<uint8_t>(value[0]);
    } else if (tag == format::kWholeKeysTag && bytes == 1 && value[0] >= 1 &&
               value[0] <= static_cast<char>(SectionType::kRowPrefix)) {
      block->whole_keys = static_cast<SectionType>(value[0]);
    }
  }
}

// Makes a section ready to be probed; *section learns of a ribbon that cannot
// be read.
SectionProbe ProbeOf(std::string_view contents, FilterSection* section) {
  if (!section->usable()) return SectionProbe::Unusable();
  if (section->size_bytes == 0) return SectionProbe::Empty();
  const std::string_view payload =
      contents.substr(section->offset_bytes, section->size_bytes);
  if (section->kind == FilterKind::kBloom) {
    return SectionProbe(
        BloomBlocks{reinterpret_cast<const std::byte*>(payload.data()),
                    payload.size() / kBlockBytes, section->probes});
  }
  std::string problem;
  const auto ribbon = ParseRibbon(payload, &problem);
  if (!ribbon) {
    section->problem = "section at offset " +
                       std::to_string(section->offset_bytes) + ": " + problem;
    return SectionProbe::Unusable();
  }
  section->ribbon_rate = RibbonFalsePositiveRate(*ribbon);
  return SectionProbe(std::make_unique<const RibbonFilter>(*ribbon));
}

// Reads all but the lookup's layout. Returns what is wrong with the block as a
// whole, or "".
std::string Parse(std::string_view contents, ParsedBlock* block,
                  Lookup::Sections* probes) {
  const size_t size = contents.size();
  if (size < format::kMinBlockBytes) {
    return "filter block of " + std::to_string(size) +
           " bytes, expected at least " +
           std::to_string(format::kMinBlockBytes);
  }
  if (!contents.starts_with(format::kHead)) {
    return "filter block does not start with ROWBLOOM at offset 0";
  }
  if (!contents.ends_with(format::kTail)) {
    return "filter block does not end with the tail at offset " +
           std::to_string(size - format::kTail.size());
  }
  const format::Trailer trailer = format::GetTrailer(contents);
  block->format_version = trailer.version;
  if (trailer.version != format::kVersion) {
    return "filter block version " + std::to_string(trailer.version) +
           " at offset " + std::to_string(size - format::kTail.size() - 1) +
           ", expected " + std::to_string(format::kVersion);
  }
  const size_t directory_bytes = trailer.DirectoryBytes();
  if (directory_bytes > trailer.at - format::kHead.size()) {
    return "filter block directory of " + std::to_string(directory_bytes) +
           " bytes, expected at most " +
           std::to_string(trailer.at - format::kHead.size());
  }
  const size_t directory_at = trailer.at - directory_bytes;
  const std::string_view directory =
      contents.substr(directory_at, directory_bytes);
  const uint64_t found =
      Checksum(directory, Checksum(contents.substr(trailer.at + 8)));
  if (found != trailer.checksum) {
    return "filter block directory at offset " + std::to_string(directory_at) +
           ": checksum " + std::to_string(trailer.checksum) +
           " expected, found " + std::to_string(found);
  }

  const size_t attributes_at = trailer.section_count * format::kEntryBytes;
  ParseAttributes(directory.substr(attributes_at, trailer.attribute_bytes),
                  block);
  block->layout_id = directory.substr(attributes_at + trailer.attribute_bytes);
  SectionProbe row_prefix;
  uint32_t row_prefix_length = 0;
  for (size_t i = 0; i < trailer.section_count; ++i) {
    const format::Entry entry = GetEntry(directory, i);
    FilterSection& section = block->sections.emplace_back(
        FilterSection{.type = static_cast<SectionType>(entry.type),
                      .kind = static_cast<FilterKind>(entry.kind),
                      .probes = entry.probes,
                      .offset_bytes = entry.offset,
                      .size_bytes = entry.size,
                      .keys = entry.keys,
                      .row_prefix_length = entry.scope,
                      .problem = CheckSection(contents, entry, directory_at)});
    SectionProbe probe = ProbeOf(contents, &section);
    switch (section.type) {
      case SectionType::kRow:
        probes->row = std::move(probe);
        break;
      case SectionType::kRowCol:
        probes->row_col = std::move(probe);
        break;
      case SectionType::kRowPrefix:
        row_prefix = std::move(probe);
        row_prefix_length = entry.scope;
        break;
    }
  }
  if (!probes->row.present() && row_prefix.present()) {
    probes->row = std::move(row_prefix);
    probes->row_prefix_length = row_prefix_length;
  }
  return "";
}

}  // namespace

ParsedBlock ParseFilterBlock(std::string_view contents) {
  ParsedBlock block;
  Lookup::Sections probes;
  block.problem = Parse(contents, &block, &probes);
  if (!block.problem.empty()) return block;
  auto layout = KeyLayout::FromString(block.layout_id);
  if (!layout) {
    block.problem = layout.error();
    return block;
  }
  probes.whole_keys = block.whole_keys;
  block.lookup = Lookup(*std::move(layout), std::move(probes), ActiveKernel());
  return block;
}

}  // namespace rowbloom

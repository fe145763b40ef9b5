#include "lib/block/parsed_block.h"

#include <memory>
#include <utility>

#include "lib/block/format.h"
#include "lib/block/hash.h"
#include "lib/block/ribbon.h"
#include "lib/bytes/integers.h"
#include "lib/bytes/text.h"
#include "lib/kernels/kernel.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

// Returns why a section cannot be trusted, or "". *begin is the end of the
// section before, and becomes that of this one; `end` is the offset of the
// directory. So no byte is read twice, however many sections there are.
std::string CheckSection(std::string_view contents,
                         const FilterSection& section, uint64_t checksum,
                         uint64_t* begin, size_t end) {
  const std::string at =
      Concat("section at offset ", section.offset_bytes, ": ");
  if (section.offset_bytes < *begin || section.offset_bytes > end ||
      section.size_bytes > end - section.offset_bytes) {
    return Concat(at, section.size_bytes, " bytes, expected them between ",
                  *begin, " and ", end);
  }
  *begin = section.offset_bytes + section.size_bytes;
  const bool is_bloom = section.kind == FilterKind::kBloom;
  if (!is_bloom && section.kind != FilterKind::kRibbon) {
    return Concat(at, "unknown filter kind ", static_cast<int>(section.kind));
  }
  if (is_bloom && (section.probes < 1 || section.probes > kMaxProbes)) {
    return Concat(at, section.probes, " probes, expected 1 to ", kMaxProbes);
  }
  if (section.type == SectionType::kRowPrefix &&
      (section.row_prefix_length < 1 ||
       section.row_prefix_length > KeyLayout::kMaxRowBytes)) {
    return Concat(at, "row prefix of ", section.row_prefix_length,
                  " bytes, expected 1 to ", KeyLayout::kMaxRowBytes);
  }
  if ((is_bloom && section.size_bytes % kBlockBytes != 0) ||
      (section.size_bytes == 0) != (section.keys == 0)) {
    return Concat(at, section.size_bytes, " bytes for ", section.keys,
                  " keys, expected blocks of ", kBlockBytes, " bytes");
  }
  const auto found = static_cast<uint32_t>(
      Checksum(contents.substr(section.offset_bytes, section.size_bytes)));
  if (found != checksum) {
    return Concat(at, "checksum ", checksum, " expected, found ", found);
  }
  return "";
}

// Reads the attributes into *block. Unknown tags are skipped.
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

// Reads all but the lookup's layout. Returns the problem of the block as a
// whole, or "".
std::string Parse(std::string_view contents, ParsedBlock* block,
                  Lookup::Sections* probes) {
  const size_t size = contents.size();
  if (size < format::kMinBlockBytes) {
    return Concat("filter block of ", size, " bytes, expected at least ",
                  format::kMinBlockBytes);
  }
  if (!contents.starts_with(format::kHead)) {
    return "filter block does not start with ROWBLOOM at offset 0";
  }
  if (!contents.ends_with(format::kTail)) {
    return Concat("filter block does not end with the tail at offset ",
                  size - format::kTail.size());
  }
  const format::Trailer trailer = format::GetTrailer(contents);
  block->format_version = trailer.version;
  if (trailer.version != format::kVersion) {
    return Concat("filter block version ", trailer.version, " at offset ",
                  size - format::kTail.size() - 1, ", expected ",
                  format::kVersion);
  }
  const size_t directory_bytes = trailer.DirectoryBytes();
  if (directory_bytes > trailer.at - format::kHead.size()) {
    return Concat("filter block directory of ", directory_bytes,
                  " bytes, expected at most ",
                  trailer.at - format::kHead.size());
  }
  const size_t directory_at = trailer.at - directory_bytes;
  const std::string_view directory =
      contents.substr(directory_at, directory_bytes);
  const uint64_t found =
      Checksum(directory, Checksum(contents.substr(trailer.at + 8)));
  if (found != trailer.checksum) {
    return Concat("filter block directory at offset ", directory_at,
                  ": checksum ", trailer.checksum, " expected, found ", found);
  }

  const size_t attributes_at = trailer.section_count * format::kEntryBytes;
  ParseAttributes(directory.substr(attributes_at, trailer.attribute_bytes),
                  block);
  block->layout_id = directory.substr(attributes_at + trailer.attribute_bytes);
  uint64_t begin = format::kHead.size();
  for (size_t i = 0; i < trailer.section_count; ++i) {
    const std::string_view entry = directory.substr(i * format::kEntryBytes);
    FilterSection& section = block->sections.emplace_back(FilterSection{
        .type = static_cast<SectionType>(entry[0]),
        .kind = static_cast<FilterKind>(entry[1]),
        .probes = static_cast<uint8_t>(entry[2]),
        .offset_bytes = GetFixed(entry, 8, 4),
        .size_bytes = GetFixed(entry, 12, 4),
        .keys = GetFixed(entry, 16, 4),
        .row_prefix_length = static_cast<uint32_t>(GetFixed(entry, 4, 4))});
    section.problem = CheckSection(contents, section, GetFixed(entry, 20, 4),
                                   &begin, directory_at);
    SectionProbe probe = ProbeOf(contents, &section);
    switch (section.type) {
      case SectionType::kRow:
        probes->row = std::move(probe);
        probes->row_prefix_length = 0;
        break;
      case SectionType::kRowCol:
        probes->row_col = std::move(probe);
        break;
      case SectionType::kRowPrefix:
        if (probes->row.present()) break;  // ROW answers for more
        probes->row = std::move(probe);
        probes->row_prefix_length = section.row_prefix_length;
        break;
    }
  }
  return "";
}

}  // namespace

SectionProbe ProbeOf(std::string_view contents, FilterSection* section) {
  if (!section->usable()) return SectionProbe(Verdict::kUnusable);
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
    section->problem =
        Concat("section at offset ", section->offset_bytes, ": ", problem);
    return SectionProbe(Verdict::kUnusable);
  }
  section->ribbon_rate = RibbonFalsePositiveRate(*ribbon);
  return SectionProbe(std::make_unique<const RibbonFilter>(*ribbon));
}

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

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <new>
#include <span>
#include <utility>

#include "lib/block/format.h"
#include "lib/block/hash.h"
#include "lib/block/hash_list.h"
#include "lib/block/key_entries.h"
#include "lib/block/memory_fit.h"
#include "lib/block/ribbon.h"
#include "lib/kernels/kernel.h"
#include "lib/plan/rate_table.h"
#include "lib/plan/ribbon_math.h"
#include "rowbloom/bloom_math.h"
#include "rowbloom/filter_block.h"

namespace rowbloom {
namespace {

constexpr size_t kBlockBytes = kBloomBlockBits / 8;

// The bytes of a section of `keys` entries.
uint64_t SectionBytes(size_t keys, double bits_per_key) {
  const double blocks =
      std::ceil(static_cast<double>(keys) * bits_per_key / kBloomBlockBits);
  constexpr uint64_t kMaxBlocks = format::kMaxSectionBytes / kBlockBytes;
  return static_cast<uint64_t>(
             std::min(blocks, static_cast<double>(kMaxBlocks))) *
         kBlockBytes;
}

// Moves blocks between sections of kind bloom to give them these rates.
void SplitBlooms(const SectionRates& rates, MemoryFit::Section* row,
                 MemoryFit::Section* row_col) {
  const RateTable& table = RateTable::Get();
  const uint64_t blocks = row->blocks + row_col->blocks;
  const auto wanted = static_cast<uint64_t>(
      static_cast<double>(row->keys) * table.Bits(rates.row) / kBloomBlockBits +
      0.5);
  if (wanted <= row->blocks || wanted >= blocks) return;
  row->blocks = wanted;
  row_col->blocks = blocks - wanted;
  for (MemoryFit::Section* section : {row, row_col}) {
    section->probes =
        table.Probes(static_cast<double>(section->blocks) * kBloomBlockBits /
                     static_cast<double>(section->keys));
  }
}

// Gives the bloom that a ribbon stands for the rate of the ribbon.
void SetRate(double rate, MemoryFit::Section* section) {
  const RateTable& table = RateTable::Get();
  const double bits = table.Bits(rate);
  section->blocks = SectionBytes(section->keys, bits) / kBlockBytes;
  section->probes = table.Probes(bits);
}

struct BloomSetting {
  double bits_per_key = 0;
  int probes = 0;
  double rate = 0;
};

// Of these bits per key. Takes some 10 us to compute, as long as a filter of a
// thousand keys, and a thread builds one file after the other with the same.
const BloomSetting& SettingFor(double bits_per_key) {
  thread_local BloomSetting last;
  if (last.bits_per_key != bits_per_key) {
    const int probes = BestProbes(bits_per_key);
    last = {bits_per_key, probes,
            BlockedFalsePositiveRate(bits_per_key, probes)};
  }
  return last;
}

// How many zeros come before a payload of kind bloom.
size_t PaddingOf(size_t offset, uint64_t payload_bytes) {
  if (payload_bytes < format::kAlignedFromBytes) return 0;
  return (format::kAlignment - offset % format::kAlignment) %
         format::kAlignment;
}

// The sections of a block of this type, in their order.
std::span<const SectionType> SectionTypes(BloomType type) {
  static constexpr std::array kRowAndCells = {SectionType::kRow,
                                              SectionType::kRowCol};
  static constexpr std::array kRowPrefix = {SectionType::kRowPrefix};
  if (type == BloomType::kRowPrefixFixedLength) return kRowPrefix;
  const std::span<const SectionType> all = kRowAndCells;
  return type == BloomType::kRowCol ? all : all.first(1);
}

const BloomKernel& Kernel(const FilterBlockOptions& options) {
  return options.kernel != nullptr ? *options.kernel : ActiveKernel();
}

void PutEntry(std::string* out, const format::Entry& entry) {
  format::PutFixed(out, entry.type, 1);
  format::PutFixed(out, entry.kind, 1);
  format::PutFixed(out, entry.probes, 1);
  format::PutFixed(out, 0, 1);
  format::PutFixed(out, entry.scope, 4);
  format::PutFixed(out, entry.offset, 4);
  format::PutFixed(out, entry.size, 4);
  format::PutFixed(out, entry.keys, 4);
  format::PutFixed(out, entry.checksum, 4);
}

void PutAttribute(std::string* out, uint8_t tag, std::string_view value) {
  format::PutFixed(out, tag, 1);
  format::PutFixed(out, value.size(), 1);
  *out += value;
}

// The attributes that ParseOrigin reads.
std::string AttributesOf(const FileOrigin& origin) {
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

struct FilterBlockBuilder::Section {
  SectionType type;
  const HashList* hashes;
};

std::vector<FilterBlockBuilder::Section> FilterBlockBuilder::SectionsOf(
    const KeyEntries& entries) const {
  std::vector<Section> sections;
  for (const SectionType type : SectionTypes(options_.bloom_type)) {
    sections.push_back({type, type == SectionType::kRowCol ? &entries.cells()
                                                           : &entries.rows()});
  }
  return sections;
}

FilterBlockBuilder::FilterBlockBuilder(const FilterBlockOptions& options)
    : options_(options),
      layout_id_(options.key_layout.ToString()),
      attributes_(AttributesOf(options.origin)),
      entries_(std::make_unique<KeyEntries>(options)) {
  options_.bits_per_key =
      std::clamp(options_.bits_per_key, kMinBitsPerKey, kMaxBitsPerKey);
  options_.ribbon_slots_per_key =
      std::clamp(options_.ribbon_slots_per_key, 0.9, 2.0);
  const BloomSetting& setting = SettingFor(options_.bits_per_key);
  probes_ = setting.probes;
  rate_ = setting.rate;
}

FilterBlockBuilder::~FilterBlockBuilder() = default;

void FilterBlockBuilder::AddKey(std::string_view key) { entries_->AddKey(key); }

void FilterBlockBuilder::AddPrefix(std::string_view prefix) {
  if (last_prefix_ && *last_prefix_ == prefix) return;
  AddKey(prefix);
  last_prefix_ = prefix;
}

size_t FilterBlockBuilder::keys_added() const { return entries_->keys(); }

size_t FilterBlockBuilder::EstimateEntries() const {
  const size_t entries = entries_->rows().size() + entries_->cells().size();
  return std::max<size_t>(entries, keys_added() > 0 ? 1 : 0);
}

size_t FilterBlockBuilder::OverheadBytes() const {
  return format::kMinBlockBytes +
         SectionTypes(options_.bloom_type).size() * format::kEntryBytes +
         attributes_.size() + layout_id_.size();
}

double FilterBlockBuilder::BitsPerEntry() const {
  return options_.kind == FilterKind::kRibbon
             ? RibbonBitsPerKey(rate_, options_.ribbon_slots_per_key)
             : options_.bits_per_key;
}

size_t FilterBlockBuilder::SpaceFor(size_t entries) const noexcept {
  const uint64_t payload = SectionBytes(entries, BitsPerEntry());
  return OverheadBytes() + PaddingOf(format::kHead.size(), payload) + payload;
}

size_t FilterBlockBuilder::EntriesThatFit(size_t block_bytes) const noexcept {
  const size_t overhead = OverheadBytes();
  size_t payload = std::max(block_bytes, overhead + kBlockBytes) - overhead;
  payload -= PaddingOf(format::kHead.size(), payload);
  return std::max<size_t>(1, static_cast<size_t>(static_cast<double>(payload) *
                                                 8 / BitsPerEntry()));
}

// False if the section shall be of kind bloom: that is smaller, the ribbon
// cannot be built, or there is no memory to build it. The block has room for
// the bloom already.
bool FilterBlockBuilder::AppendRibbonOf(const Section& section, double rate,
                                        size_t bloom_bytes,
                                        std::string* block) const {
  if (section.hashes->empty() || bloom_bytes == 0) return false;
  try {
    return AppendRibbon(section.hashes->chunks(), rate, bloom_bytes - 1,
                        Kernel(options_), block, options_.ribbon_slots_per_key);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::string FilterBlockBuilder::Finish() {
  // An empty ROWCOL section would rule out cells that were never indexed, such
  // as those of a file of bare rows.
  std::vector<Section> written;
  std::vector<MemoryFit::Section> sizes;
  size_t total =
      format::kMinBlockBytes + attributes_.size() + layout_id_.size();
  for (const Section& section : SectionsOf(*entries_)) {
    if (section.type == SectionType::kRowCol && section.hashes->empty()) {
      continue;
    }
    const size_t keys = section.hashes->size();
    written.push_back(section);
    sizes.push_back(
        {.keys = keys,
         .blocks = SectionBytes(keys, options_.bits_per_key) / kBlockBytes,
         .probes = probes_});
    total += format::kEntryBytes;
  }
  SectionRates rates = {.row = rate_, .row_col = rate_};
  if (options_.row_spread && sizes.size() == 2) {
    rates = AdaptiveSplit(options_.kind, sizes[0].keys, sizes[1].keys, rate_,
                          *options_.row_spread);
    const bool equal = rates.row == rate_;
    if (!equal && options_.kind == FilterKind::kBloom) {
      SplitBlooms(rates, &sizes[0], &sizes[1]);
    } else if (!equal) {
      SetRate(rates.row, &sizes[0]);
      SetRate(rates.row_col, &sizes[1]);
    }
  }
  uint64_t payload = 0;
  size_t padding = 0;
  for (const MemoryFit::Section& size : sizes) {
    padding += PaddingOf(format::kHead.size() + payload + padding,
                         size.blocks * kBlockBytes);
    payload += size.blocks * kBlockBytes;
  }
  total += padding;
  // The largest blocks do not grow: the format has its limit. The size of a
  // ribbon follows from its rate.
  if (options_.memory_fit != nullptr && options_.kind == FilterKind::kBloom &&
      payload <= format::kMaxSectionBytes / 2) {
    options_.memory_fit->Choose(total, sizes);
  }
  for (const MemoryFit::Section& size : sizes) {
    total += size.blocks * kBlockBytes;
  }

  finished_sections_.clear();
  std::string block;
  block.reserve(total);
  block += format::kHead;
  std::string directory;
  const BloomKernel& kernel = Kernel(options_);
  for (size_t i = 0; i < written.size(); ++i) {
    const Section& section = written[i];
    size_t offset = block.size();
    FilterKind kind = options_.kind;
    auto probes = static_cast<uint8_t>(sizes[i].probes);
    const uint64_t bloom_bytes = sizes[i].blocks * kBlockBytes;
    const size_t keys = section.hashes->size();
    if (kind == FilterKind::kRibbon &&
        AppendRibbonOf(
            section,
            section.type == SectionType::kRowCol ? rates.row_col : rates.row,
            bloom_bytes, &block)) {
      probes = 0;
    } else {
      kind = FilterKind::kBloom;
      offset += PaddingOf(offset, bloom_bytes);
      block.resize(offset + bloom_bytes);
      auto* data = reinterpret_cast<std::byte*>(block.data() + offset);
      for (const std::span<const uint64_t> chunk : section.hashes->chunks()) {
        kernel.add({data, bloom_bytes / kBlockBytes, sizes[i].probes}, data,
                   chunk.data(), chunk.size());
      }
    }
    const size_t size = block.size() - offset;
    const uint64_t checksum =
        Checksum(std::string_view(block).substr(offset, size));
    const format::Entry entry{.type = static_cast<uint8_t>(section.type),
                              .kind = static_cast<uint8_t>(kind),
                              .probes = probes,
                              .scope = section.type == SectionType::kRowPrefix
                                           ? options_.row_prefix_length
                                           : 0,
                              .offset = static_cast<uint32_t>(offset),
                              .size = static_cast<uint32_t>(size),
                              .keys = static_cast<uint32_t>(std::min<size_t>(
                                  keys, std::numeric_limits<uint32_t>::max())),
                              .checksum = static_cast<uint32_t>(checksum)};
    PutEntry(&directory, entry);
    finished_sections_.push_back({.type = section.type,
                                  .kind = kind,
                                  .probes = entry.probes,
                                  .offset_bytes = entry.offset,
                                  .size_bytes = entry.size,
                                  .keys = entry.keys,
                                  .row_prefix_length = entry.scope});
  }

  directory += attributes_;
  directory += layout_id_;
  std::string end;
  format::PutFixed(&end, layout_id_.size(), 2);
  format::PutFixed(&end, attributes_.size(), 2);
  format::PutFixed(&end, written.size(), 1);
  format::PutFixed(&end, format::kVersion, 1);
  end += format::kTail;
  block += directory;
  format::PutFixed(&block, Checksum(directory, Checksum(end)), 8);
  block += end;

  std::unique_ptr<KeyEntries> finished;
  if (options_.verify) {
    finished = std::make_unique<KeyEntries>(std::move(*entries_));
  }
  Reset();
  finished_ = std::move(finished);
  return block;
}

std::string FilterBlockBuilder::Verify(std::string_view block) {
  const std::unique_ptr<KeyEntries> entries = std::move(finished_);
  const std::vector<Section> added =
      entries == nullptr ? std::vector<Section>() : SectionsOf(*entries);
  for (const Section& section : added) {
    if (!section.hashes->Intact()) {
      return "filter block: hashes of section " +
             std::string(ToString(section.type)) +
             " are not those of the keys added";
    }
  }
  const FilterBlock view = FilterBlock::Open(block, options_.kernel);
  if (!view.usable()) return view.problem();
  if (view.layout_id() != options_.key_layout.ToString()) {
    return "filter block: key layout \"" + view.layout_id() +
           "\", expected \"" + options_.key_layout.ToString() + "\"";
  }
  for (const FilterSection& section : view.sections()) {
    if (!section.usable()) return "filter block " + section.problem;
  }
  for (const Section& section : added) {
    if (section.hashes->empty()) continue;
    const std::string name(ToString(section.type));
    const auto found =
        std::ranges::find(view.sections(), section.type, &FilterSection::type);
    if (found == view.sections().end() || found->size_bytes == 0) {
      return "filter block: section " + name + " expected";
    }
    if (section.type == SectionType::kRowPrefix &&
        found->row_prefix_length != options_.row_prefix_length) {
      return "filter block: row prefix of " +
             std::to_string(found->row_prefix_length) + " bytes, expected " +
             std::to_string(options_.row_prefix_length);
    }
    for (const std::span<const uint64_t> chunk : section.hashes->chunks()) {
      for (const uint64_t hash : chunk) {
        if (view.AskHash(section.type, hash) != Verdict::kMayMatch) {
          return "filter block: a key that was added is not in section " + name;
        }
      }
    }
  }
  return "";
}

void FilterBlockBuilder::Reset() {
  entries_->Clear();
  last_prefix_.reset();
  finished_.reset();
}

size_t FilterBlockBuilder::MemoryBytes() const {
  return entries_->MemoryBytes() +
         (finished_ != nullptr ? finished_->MemoryBytes() : 0);
}

}  // namespace rowbloom

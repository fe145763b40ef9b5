// The compound Bloom filters of HFiles, chunk by chunk, and lookups in them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "lib/bytes/integers.h"
#include "lib/bytes/text.h"
#include "rowbloom/printable.h"
#include "storage/hfile/bloom_chunk.h"
#include "tools/sst_inspect/hfile_table.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/output.h"

namespace rowbloom::sst_inspect {
namespace {

using hfile::BloomFilter;
using rocksdb::Status;

constexpr const char* kDeleteFamily = "delete family";

double FillOf(std::string_view bits) {
  return static_cast<double>(BitsSet(bits)) /
         (8 * static_cast<double>(bits.size()));
}

// Keys of ROWCOL filters are keys without a family.
std::string KeyText(BloomType type, std::string_view key) {
  const auto column =
      type == BloomType::kRowCol && key.size() >= kHFileKeySuffixBytes
          ? ParseHFileColumn(key.substr(0, key.size() - kHFileKeySuffixBytes))
          : std::nullopt;
  if (!column) return ToPrintable(key);
  return ToPrintable(column->row) + "/" + ToPrintable(column->qualifier);
}

Status CheckSize(const hfile::Reader& reader,
                 const hfile::BlockLocation& location,
                 const hfile::Block& chunk) {
  const size_t bytes = chunk.payload.size();
  if (bytes > 0 && bytes <= hfile::kMaxChunkBytes) return Status::OK();
  return reader.file().Located(
      "Bloom chunk", location.offset,
      Status::Corruption(
          Concat(bytes, " bytes, expected 1 to ", hfile::kMaxChunkBytes)));
}

// The number of keys that set this share of the bits.
uint64_t KeysFromFill(double fill, uint64_t bits, uint32_t hash_count) {
  const double share = std::min(fill, 1 - 1 / static_cast<double>(bits));
  return static_cast<uint64_t>(std::llround(-static_cast<double>(bits) /
                                            hash_count * std::log1p(-share)));
}

// Reads the chunks of one filter.
class ChunkReader {
 public:
  // `full_bytes` is what a single chunk had before it was folded, if known.
  ChunkReader(const hfile::Reader& reader, const BloomFilter& filter,
              std::string section, std::optional<uint64_t> full_bytes)
      : reader_(reader),
        filter_(filter),
        section_(std::move(section)),
        full_bytes_(full_bytes) {}

  // The size of a chunk that is not folded; nullopt for a single chunk.
  std::optional<uint64_t> FullBytes() const {
    if (filter_.chunks.size() < 2) return std::nullopt;
    return BytesOf(0);
  }

  Status ForEach(const std::function<void(const FilterPart&)>& use) {
    const size_t count = filter_.chunks.size();
    if (count == 0) return Status::OK();
    plan_ = hfile::PlanChunks(
        filter_.info,
        FullBytes().value_or(full_bytes_.value_or(hfile::kDefaultChunkBytes)),
        BytesOf(count - 1));
    // Chunks follow each other in the file: an index cannot name one of them
    // any number of times.
    uint64_t next_offset = 0;
    for (size_t i = 0; i < count; ++i) {
      const hfile::BlockLocation location = filter_.chunks.location(i);
      if (location.offset < next_offset) {
        return reader_.file().Located(
            "Bloom chunk", location.offset,
            Status::Corruption(
                Concat("expected at offset ", next_offset, " or behind")));
      }
      next_offset = location.offset + location.block_bytes;
      use(Read(i, location));
    }
    return Status::OK();
  }

 private:
  // 0 when it cannot be read.
  uint64_t BytesOf(size_t entry) const {
    hfile::BlockHeader header;
    const Status status =
        reader_.blocks().ReadHeader(filter_.chunks.location(entry).offset,
                                    reader_.bounds().end_offset, &header);
    return status.ok() ? header.payload_bytes : 0;
  }

  FilterPart Read(size_t entry, const hfile::BlockLocation& location) {
    FilterPart part{
        .number = entry + 1,
        .offset_bytes = location.offset,
        .key_text = KeyText(filter_.info.type, filter_.chunks.key(entry)),
        .writer = "HBase",
        .parameters =
            fmt::format("{} hashes", rowbloom::ToString(filter_.info.hash))};
    SectionFacts facts{.section = section_,
                       .kind = "bloom",
                       .probes = static_cast<int>(filter_.info.hash_count)};
    if (plan_) {
      const bool last = entry + 1 == filter_.chunks.size();
      facts.keys = last ? plan_->last_keys : plan_->full_keys;
      facts.capacity_keys = last ? plan_->last_max_keys : plan_->full_keys;
      if (!last) {
        facts.folds = 0;
      } else if (plan_->last_folds) {
        facts.folds = *plan_->last_folds;
      }
      facts.folds_assumed =
          facts.folds && filter_.chunks.size() == 1 && !full_bytes_.has_value();
    }
    part.status = reader_.blocks().Read(location, hfile::BlockType::kBloomChunk,
                                        &block_, &scratch_);
    if (part.status.ok()) part.status = CheckSize(reader_, location, block_);
    if (part.status.ok()) {
      part.size_bytes = facts.size_bytes = block_.payload.size();
      facts.bits = block_.payload;
      facts.fill = FillOf(block_.payload);
      facts.rate = std::pow(*facts.fill, filter_.info.hash_count);
      if (!facts.keys) {
        facts.keys = KeysFromFill(*facts.fill, 8 * facts.size_bytes,
                                  filter_.info.hash_count);
        facts.keys_estimated = true;
      }
    }
    part.sections.push_back(std::move(facts));
    return part;
  }

  const hfile::Reader& reader_;
  const BloomFilter& filter_;
  const std::string section_;
  const std::optional<uint64_t> full_bytes_;
  std::optional<hfile::ChunkPlan> plan_;
  hfile::Block block_;
  Buffer scratch_;
};

// Probes the general filter for rows, prefixes or columns, as HBase does.
class HFileFilterReader final : public FilterReader {
 public:
  explicit HFileFilterReader(const hfile::Reader& reader)
      : reader_(reader), description_(reader.bloom_description()) {
    if (can_probe()) rates_.resize(reader.general_bloom()->chunks.size());
  }

  bool can_probe() const override { return reader_.GeneralBloom() != nullptr; }

  Status Probe(const FilterQuestion& question, Answer* answer) override {
    *answer = {};
    // A whole row is not looked up in a filter of columns; keys of others are
    // looked up as their rows.
    if (question.is_row == is_row_col()) return Status::OK();
    answer->probed = true;
    answer->of_prefix = is_prefix();
    answer->may_match = false;
    double passes = 1;  // the rate of those that all lookups rule out
    for (const Lookup& lookup : LookupsFor(ColumnOf(question))) {
      Chunk chunk;
      const Status status = ProbeChunk(lookup.key, &chunk);
      if (!status.ok()) return status;
      answer->may_match = answer->may_match || chunk.may_match;
      passes *= 1 - chunk.rate;
    }
    answer->rate = answer->column_rate = 1 - passes;
    return Status::OK();
  }

  void Explain(const FilterQuestion* question,
               FilterExplanation* explanation) override {
    explanation_ = explanation;
    const KeyParts column = ColumnOf(*question);
    ExplainFilter(column, question->is_row);
    const bool in_range = reader_.KeyRangeMayContain(column.row, column.row);
    Line("range", in_range ? "within first to last row"
                           : "outside of first to last row");
    if (reader_.DeleteFamilyBloom() != nullptr) {
      Line("family deletes",
           MayText(reader_.MayContainDeleteFamily(column.row)));
    }
    explanation->may_match =
        in_range && (question->is_row ? reader_.MayContainRow(column.row)
                                      : reader_.MayContainRowCol(
                                            column.row, column.qualifier));
  }

  // An absent row with a prefix that is there passes rightly, and so does an
  // absent cell of a row that has the empty qualifier, which is looked up,
  // too.
  std::optional<std::string_view> SharedByAbsent(
      const FilterQuestion& absent) const override {
    if (description_.type == BloomType::kRow) return std::nullopt;
    return SharedOf(ColumnOf(absent).row);
  }
  std::optional<std::string_view> SharedByPresent(
      std::string_view key) const override {
    const auto column = ParseHFileColumn(key);
    if (!column || (is_row_col() && !column->qualifier.empty())) {
      return std::nullopt;
    }
    return SharedOf(column->row);
  }

 private:
  struct Lookup {
    std::string name;
    std::string key;
  };
  struct Chunk {
    size_t entry = 0;
    bool may_match = false;
    std::string_view why;  // no chunk was probed
    double rate = 0;
  };

  bool is_row_col() const { return description_.type == BloomType::kRowCol; }
  bool is_prefix() const {
    return description_.type == BloomType::kRowPrefixFixedLength;
  }

  static std::string_view MayText(bool may) {
    return may ? "may be there" : "not there";
  }

  static KeyParts ColumnOf(const FilterQuestion& question) {
    if (question.is_row) return {.row = question.key};
    return ParseHFileColumn(question.key).value_or(KeyParts{});
  }

  std::string_view SharedOf(std::string_view row) const {
    return is_prefix() ? hfile::RowPrefix(row, description_.prefix_bytes) : row;
  }

  std::vector<Lookup> LookupsFor(const KeyParts& column) const {
    const std::string section = SectionName(description_.type);
    if (!is_row_col()) return {{section, std::string(SharedOf(column.row))}};
    std::vector<Lookup> lookups = {
        {section, hfile::RowColBloomKey(column.row, column.qualifier)}};
    // Markers of the family have the empty qualifier.
    if (!column.qualifier.empty()) {
      lookups.push_back(
          {section + " markers", hfile::RowColBloomKey(column.row, {})});
    }
    return lookups;
  }

  Status ProbeChunk(std::string_view key, Chunk* answer) {
    if (description_.has_last_key &&
        hfile::CompareIndexKeys(
            is_row_col() ? hfile::KeyForm::kCellKey : hfile::KeyForm::kBytes,
            key, description_.last_key) > 0) {
      answer->why = "after LAST_BLOOM_KEY";
      return Status::OK();
    }
    const BloomFilter& filter = *reader_.general_bloom();
    answer->entry = filter.chunks.Find(key);
    if (answer->entry == filter.chunks.size()) {
      answer->why = "before the first chunk";
      return Status::OK();
    }
    const hfile::BlockLocation location = filter.chunks.location(answer->entry);
    std::shared_ptr<const hfile::Block> chunk;
    Status status =
        reader_.CachedBlock(location, hfile::BlockType::kBloomChunk, &chunk);
    if (status.ok()) status = CheckSize(reader_, location, *chunk);
    if (!status.ok()) return status;
    std::optional<double>& rate = rates_[answer->entry];
    if (!rate) rate = std::pow(FillOf(chunk->payload), filter.info.hash_count);
    answer->rate = *rate;
    answer->may_match = hfile::ChunkMayContain(chunk->payload, filter.info.hash,
                                               filter.info.hash_count, key);
    return Status::OK();
  }

  void Line(std::string_view name, std::string_view text) const {
    explanation_->lines.push_back({std::string(name), std::string(text)});
  }

  void ExplainFilter(const KeyParts& column, bool is_row) {
    if (!can_probe()) {
      if (!reader_.BloomStatus().ok()) {
        explanation_->failures.push_back(reader_.BloomStatus());
      }
      Line("filter", reader_.BloomStatus().ok() ? "none" : "unusable");
      return;
    }
    Line("filter", FilterPolicyText(reader_));
    if (is_row && is_row_col()) {
      Line(SectionName(description_.type), "not probed: it holds no rows");
      return;
    }
    for (const Lookup& lookup : LookupsFor(column)) {
      Chunk chunk;
      const Status status = ProbeChunk(lookup.key, &chunk);
      if (!status.ok()) explanation_->failures.push_back(status);
      Line(
          lookup.name,
          chunk.why.empty()
              ? fmt::format(
                    "{}, chunk {} of {}",
                    status.ok() ? MayText(chunk.may_match) : "section unusable",
                    chunk.entry + 1, reader_.general_bloom()->chunks.size())
              : fmt::format("not there: {}", chunk.why));
    }
  }

  const hfile::Reader& reader_;
  const hfile::BloomDescription& description_;
  std::vector<std::optional<double>> rates_;  // of the chunks, once read
  FilterExplanation* explanation_ = nullptr;
};

}  // namespace

Status HFileTable::ForEachFilterPart(
    const std::function<void(const FilterPart&)>& use) const {
  Status status = reader_->BloomStatus();
  // A writer plans the chunks of both filters alike.
  std::optional<uint64_t> full_bytes;
  if (reader_->general_bloom()) {
    ChunkReader chunks(*reader_, *reader_->general_bloom(),
                       SectionName(reader_->bloom_description().type),
                       std::nullopt);
    full_bytes = chunks.FullBytes();
    const Status general = chunks.ForEach(use);
    if (status.ok()) status = general;
  }
  if (reader_->delete_family_bloom()) {
    ChunkReader chunks(*reader_, *reader_->delete_family_bloom(), kDeleteFamily,
                       full_bytes);
    const Status delete_family = chunks.ForEach(use);
    if (status.ok()) status = delete_family;
  }
  return status;
}

Status HFileTable::NewFilterReader(
    std::unique_ptr<FilterReader>* reader) const {
  *reader = std::make_unique<HFileFilterReader>(*reader_);
  return Status::OK();
}

void HFileTable::Verify(const KeyFormat& /*format*/, Findings* findings,
                        VerifyCounts* counts) const {
  if (key_order() == sst::KeyOrder::kUnknown) {
    findings->Note("the order of keys is not checked: comparator " +
                   reader_->trailer().comparator + " is not known");
  }
  HFileReport report;
  const Status status = reader_->Verify(
      [this](uint64_t twice_bytes) {
        if (progress()) progress()(twice_bytes / 2);
      },
      &report);
  if (progress()) progress()(size_bytes());
  for (const std::string& problem : report.problems) {
    findings->Problem(problem);
  }
  findings->MoreProblems(report.problem_count - report.problems.size());
  if (!status.ok() && !status.IsCorruption()) findings->Failure(status);
  *counts = {.blocks = report.blocks,
             .damaged_blocks = report.damaged_blocks,
             .cells = report.cells,
             .has_filter = reader_->GeneralBloom() != nullptr ||
                           reader_->DeleteFamilyBloom() != nullptr,
             .keys_probed = report.bloom_keys_checked,
             .false_negatives = report.false_negatives};
}

}  // namespace rowbloom::sst_inspect

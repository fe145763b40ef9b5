#include "tools/table/sst_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "lib/bytes/text.h"
#include "rowbloom/printable.h"
#include "storage/format/status_text.h"
#include "tools/table/key_format.h"

namespace rowbloom::table {
namespace {

using rocksdb::Status;

// The start of the name of rowbloom's prefix extractor; its layout follows.
constexpr std::string_view kRowExtractorPrefix = "rowbloom.row:";

constexpr const char* kNoEmptyQualifiers =
    "not probed: it holds no empty qualifiers";

std::string NameOfKind(const sst::StockFilter& filter) {
  // In the order of the kinds.
  static constexpr std::string_view kNames[] = {"bloom", "ribbon",
                                                "legacy bloom", "empty"};
  return std::string(NameOf(filter.kind(), kNames));
}

std::string ContentOf(bool keys, bool prefixes) {
  if (keys && prefixes) return "key+prefix";
  return prefixes ? "prefix" : "key";
}

SectionFacts FactsOf(const FilterBlock& block, const FilterSection& section,
                     std::string_view contents, SectionRates* rates) {
  SectionFacts facts{.section = std::string(ToString(section.type)),
                     .kind = std::string(ToString(section.kind)),
                     .probes = section.probes,
                     .keys = section.keys,
                     .size_bytes = section.size_bytes,
                     .problem = section.problem};
  if (section.usable()) {
    facts.fill = block.FillRatio(section);
    facts.rate = rates->Of(section);
    facts.bits = contents.substr(section.offset_bytes, section.size_bytes);
  }
  return facts;
}

std::optional<size_t> NumberAfter(std::string_view prefix,
                                  std::string_view text) {
  size_t number = 0;
  if (!text.starts_with(prefix) ||
      !ParseNumber(text.substr(prefix.size()), &number)) {
    return std::nullopt;
  }
  return number;
}

// Returns an empty function for an unknown name.
PrefixRule PrefixRuleOf(std::string_view extractor_name) {
  const auto fixed = NumberAfter("rocksdb.FixedPrefix.", extractor_name);
  const auto capped = NumberAfter("rocksdb.CappedPrefix.", extractor_name);
  if (fixed || capped) {
    return [shortest = fixed.value_or(0), length = fixed ? *fixed : *capped](
               std::string_view key) -> std::optional<std::string_view> {
      if (key.size() < shortest) return std::nullopt;
      return key.substr(0, length);
    };
  }
  if (extractor_name.starts_with(kRowExtractorPrefix)) {
    const auto layout = KeyLayout::FromString(
        extractor_name.substr(kRowExtractorPrefix.size()));
    if (!layout) return {};
    return [layout = *layout](
               std::string_view key) -> std::optional<std::string_view> {
      const auto split = layout.Split(key);
      if (!split) return std::nullopt;
      return split->row;
    };
  }
  return {};
}

}  // namespace

double SectionRates::Of(const FilterSection& section) {
  // The rate of a ribbon depends on its bytes, and is not cached.
  if (section.kind == FilterKind::kRibbon) {
    return FilterBlock::ExpectedFalsePositiveRate(section);
  }
  const auto [known, is_new] = known_.try_emplace(
      {section.kind, section.keys, section.size_bytes, section.probes}, 0);
  if (is_new) known->second = FilterBlock::ExpectedFalsePositiveRate(section);
  return known->second;
}

FilterEntries::FilterEntries(const SstTable& file)
    : policy(file.file().filter().compatibility_name) {
  const TableFacts facts = file.Facts();
  whole_keys = facts.whole_key_filter;
  prefixes = facts.prefix_filter;
  prefix_of = PrefixRuleOf(facts.prefix_extractor);
}

std::optional<std::string_view> FilterEntries::PrefixOf(
    std::string_view key) const {
  return prefixes && prefix_of ? prefix_of(key) : std::nullopt;
}

DecodedFilter::DecodedFilter(const FilterEntries& entries,
                             std::string_view contents)
    : entries_(entries), contents_(contents) {
  if (FilterBlock::IsFilterBlock(contents)) {
    rowbloom_ = FilterBlock::Open(contents);
    if (const auto layout = KeyLayout::FromString(rowbloom_->layout_id())) {
      layout_ = *layout;
    }
  } else if (std::ranges::count(sst::kStockPolicyNames,
                                std::string_view(entries.policy)) > 0) {
    stock_ = sst::StockFilter::Open(contents);
  }
}

std::vector<SectionFacts> DecodedFilter::Sections(SectionRates* rates) const {
  std::vector<SectionFacts> sections;
  if (rowbloom_) {
    for (const FilterSection& section : rowbloom_->sections()) {
      sections.push_back(FactsOf(*rowbloom_, section, contents_, rates));
    }
  } else if (stock_ && stock_->problem().empty()) {
    const sst::StockFilter::Estimates estimates = stock_->Estimate();
    SectionFacts facts{
        .section = ContentOf(entries_.whole_keys, entries_.prefixes),
        .kind = NameOfKind(*stock_),
        .probes = stock_->probes(),
        .size_bytes = stock_->size_bytes(),
        .fill = estimates.fill_ratio,
        .rate = estimates.false_positive_rate,
        .bits = contents_.substr(0, stock_->size_bytes())};
    if (estimates.entries) {
      facts.keys = static_cast<uint64_t>(std::llround(*estimates.entries));
      facts.keys_estimated = true;
    } else if (stock_->kind() == sst::StockFilterKind::kNoKeys) {
      facts.keys = 0;
    }
    sections.push_back(std::move(facts));
  }
  return sections;
}

std::string DecodedFilter::Foreign() const {
  if (rowbloom_) return "";
  constexpr std::string_view kStart = "not rowbloom's:";
  if (!stock_) {
    return fmt::format("{} of policy {}", kStart, ToPrintable(entries_.policy));
  }
  if (contents_.empty() || stock_->kind() == sst::StockFilterKind::kNoKeys) {
    return fmt::format("{} an empty filter of {} bytes", kStart,
                       contents_.size());
  }
  const int marker = stock_->marker();
  return fmt::format("{} {} (marker {}{})", kStart,
                     marker > 0     ? "RocksDB legacy Bloom"
                     : marker == -1 ? "RocksDB Bloom"
                     : marker == -2 ? "RocksDB Ribbon"
                                    : "unknown",
                     marker, marker > 0 ? ", its probes" : "");
}

FilterPart DecodedFilter::Describe(SectionRates* rates) const {
  FilterPart part{.size_bytes = contents_.size(), .foreign = Foreign()};
  part.writer = rowbloom_ ? "rowbloom" : "RocksDB";
  part.sections = Sections(rates);
  if (rowbloom_) {
    if (rowbloom_->usable() || !rowbloom_->sections().empty()) {
      part.version = rowbloom_->format_version();
      part.layout = rowbloom_->layout_id();
      part.row_prefix_bytes = rowbloom_->row_prefix_length();
    }
    if (!rowbloom_->usable()) {
      // If the sections can be listed, the block is not damaged: only its
      // layout is unknown.
      if (rowbloom_->sections().empty()) {
        part.problem = rowbloom_->problem();
      } else {
        part.note = rowbloom_->problem() +
                    ": its sections can be listed but not probed";
      }
    }
  } else if (stock_) {
    if (!stock_->problem().empty()) {
      part.note = "rules nothing out: " + stock_->problem();
    }
    part.parameters = stock_->ParametersText();
  }
  return part;
}

FilterAnswer DecodedFilter::LookUp(const FilterLookup& lookup) const {
  FilterAnswer answer;
  answer.filter = Foreign();
  if (!rowbloom_ || rowbloom_->usable()) {
    LookUpEntry(lookup, &answer);
  } else {
    answer.unusable = true;
    if (rowbloom_->sections().empty()) {
      answer.problems.push_back(
          {.status = Status::Corruption(rowbloom_->problem())});
    } else {  // only its layout is unknown
      answer.problems.push_back(
          {.status = Status::NotSupported(rowbloom_->problem())});
      answer.sections.push_back({"ROW", Verdict::kUnusable});
      if (!lookup.is_row) {
        answer.sections.push_back({"ROWCOL", Verdict::kUnusable});
      }
    }
  }
  answer.may_match =
      std::ranges::none_of(answer.sections, [](const SectionAnswer& section) {
        return section.verdict == Verdict::kNoMatch;
      });
  return answer;
}

void DecodedFilter::LookUpEntry(const FilterLookup& lookup,
                                FilterAnswer* answer) const {
  std::optional<std::string_view> row;  // as rowbloom's filter splits the key
  if (rowbloom_) {
    if (const auto split = layout_->Split(lookup.key)) row = split->row;
  }
  // Without whole keys, RocksDB adds and probes only the extractor's prefixes,
  // whatever the policy.
  if (!entries_.whole_keys || (lookup.is_row && !rowbloom_)) {
    answer->by = FilterAnswer::By::kPrefix;
    auto prefix = entries_.PrefixOf(lookup.key);
    // A row may have keys of other prefixes.
    if (lookup.is_row && prefix != lookup.key) prefix.reset();
    if (!row || prefix != row) return LookUpBytes("prefix", prefix, answer);
  }
  if (!rowbloom_) {
    LookUpBytes("key", lookup.key, answer);
  } else if (row || lookup.is_row) {
    LookUpSections(lookup.is_row ? lookup.key : *row, lookup, answer);
  } else {
    LookUpOutsideLayout(lookup.key, answer);
  }
}

void DecodedFilter::LookUpBytes(const char* section,
                                std::optional<std::string_view> bytes,
                                FilterAnswer* answer) const {
  if (!bytes || (!stock_ && !rowbloom_)) {
    const bool is_known =
        (stock_ || rowbloom_) && (!entries_.prefixes || entries_.prefix_of);
    answer->sections.push_back(
        {section, Verdict::kNotProbed,
         is_known ? "not probed: the filter has no such entries"
                  : "not probed: the filter's entries are not known"});
    return;
  }
  const bool may_match = stock_ ? stock_->MayMatch(*bytes)
                                : rowbloom_->MayMatch(*bytes).may_match();
  answer->sections.push_back(
      {section, may_match ? Verdict::kMayMatch : Verdict::kNoMatch});
}

void DecodedFilter::LookUpSections(std::string_view row,
                                   const FilterLookup& lookup,
                                   FilterAnswer* answer) const {
  const std::string_view qualifier = lookup.key.substr(row.size());
  const bool has_prefixes = rowbloom_->row_prefix_length() > 0;
  for (const SectionType type :
       {has_prefixes ? SectionType::kRowPrefix : SectionType::kRow,
        SectionType::kRowCol}) {
    if (lookup.is_row && type == SectionType::kRowCol) break;
    const auto& sections = rowbloom_->sections();
    const auto section =
        std::ranges::find(sections, type, &FilterSection::type);
    SectionAnswer found{
        .section = std::string(ToString(type)),
        .verdict = rowbloom_->ProbeSection(type, row, qualifier)};
    if (section == sections.end()) {
      found.note = "no such section";
    } else if (found.verdict == Verdict::kNotProbed) {
      found.note = kNoEmptyQualifiers;
    }
    answer->sections.push_back(std::move(found));
    // Damage of a section counts if the lookup needs the section.
    if (section != sections.end() && !section->usable()) {
      answer->problems.push_back(
          {.status = Status::Corruption(
               fmt::format("{} {}", ToString(type), section->problem))});
    }
  }
}

void DecodedFilter::LookUpOutsideLayout(std::string_view key,
                                        FilterAnswer* answer) const {
  if (!rowbloom_->whole_keys()) {
    answer->filter = "has no keys outside the layout, such as this one";
    return;
  }
  const MatchResult result = rowbloom_->MayMatch(key);
  const Verdict verdict =
      result.row_col() == Verdict::kNotProbed ? result.row() : result.row_col();
  answer->sections.push_back(
      {"outside the layout", verdict,
       verdict == Verdict::kNotProbed ? kNoEmptyQualifiers : ""});
}

void DecodedFilter::ProbeKeys(std::span<const std::string_view> keys,
                              std::span<KeyAnswer> answers) const {
  if (rowbloom_) {
    std::array<MatchResult, kMostKeys> results;
    rowbloom_->MayMatch(keys, results);
    // The row section may have keys outside the layout, too.
    const bool has_rows = rowbloom_->whole_keys() == SectionType::kRowCol;
    for (size_t i = 0; i < keys.size(); ++i) {
      answers[i] = {results[i].may_match(),
                    has_rows && results[i].row() == Verdict::kMayMatch};
    }
    return;
  }
  std::array<bool, kMostKeys> may_match;
  may_match.fill(true);
  if (stock_) stock_->MayMatch(keys, may_match);
  for (size_t i = 0; i < keys.size(); ++i) answers[i] = {may_match[i]};
}

Status SstFilterReader::Open() {
  const Status status = file_.file().FilterPartitions(&partitions_);
  can_probe_ =
      !partitions_.empty() &&
      (partitions_.size() == 1 || file_.key_order() != sst::KeyOrder::kUnknown);
  return status;
}

bool SstFilterReader::EndsBefore(const sst::FilterPartition& partition,
                                 std::string_view key) const {
  const size_t timestamp = file_.timestamp_bytes();
  std::string_view index_key = partition.index_key;
  if (index_key.size() >= timestamp) index_key.remove_suffix(timestamp);
  return CompareUserKeys(file_.key_order(), 0, index_key, key) < 0;
}

size_t SstFilterReader::PartitionFor(std::string_view key) const {
  if (partitions_.size() <= 1) return 0;
  // It is mostly that of the previous key.
  if (loaded_ < partitions_.size() && !EndsBefore(partitions_[loaded_], key) &&
      (loaded_ == 0 || EndsBefore(partitions_[loaded_ - 1], key))) {
    return loaded_;
  }
  const auto at =
      std::partition_point(partitions_.begin(), partitions_.end(),
                           [&](const sst::FilterPartition& partition) {
                             return EndsBefore(partition, key);
                           });
  // RocksDB probes the last partition for keys after the last index key.
  return std::min(static_cast<size_t>(at - partitions_.begin()),
                  partitions_.size() - 1);
}

size_t SstFilterReader::CountInOnePartition(
    std::span<const std::string_view> keys, bool ascending) const {
  if (partitions_.size() <= 1) return keys.size();
  const size_t partition = PartitionFor(keys.front());
  if (ascending && PartitionFor(keys.back()) == partition) return keys.size();
  size_t count = 1;
  while (count < keys.size() && PartitionFor(keys[count]) == partition) ++count;
  return count;
}

const DecodedFilter* SstFilterReader::Load(size_t partition, Status* status) {
  if (partition != loaded_) {
    loaded_ = partition;
    filter_.reset();
    std::string_view contents;
    loaded_status_ = blocks_.ReadMeta(partitions_[partition].handle, &contents);
    if (loaded_status_.ok()) filter_.emplace(entries_, contents);
  }
  *status = loaded_status_;
  return filter_ ? &*filter_ : nullptr;
}

// Returns the first and last partition to probe, counted from 0. A key can only
// be in the one that RocksDB probes for it. A row may be in several; if its
// keys do not follow it in the file's order, in any.
std::pair<size_t, size_t> SstFilterReader::PartitionsFor(
    const FilterLookup& lookup) const {
  const std::pair<size_t, size_t> all = {0, partitions_.size() - 1};
  if (!can_probe_) return all;
  const size_t first = PartitionFor(lookup.key);
  if (!lookup.is_row || !lookup.in_every_part) return {first, first};
  if (file_.key_order() != sst::KeyOrder::kBytewise) return all;
  size_t last = first;
  // A partition that ends with a key of the row may be followed by more.
  while (last < all.second &&
         partitions_[last].index_key.starts_with(lookup.key)) {
    ++last;
  }
  return {first, last};
}

FilterAnswer SstFilterReader::LookUpIn(size_t partition,
                                       const FilterLookup& lookup) {
  FilterAnswer answer;
  Status status;
  if (const DecodedFilter* const filter = Load(partition, &status)) {
    answer = filter->LookUp(lookup);
    if (lookup.with_rates) Rate(*filter, lookup, &answer);
    if (answer.unusable) {
      Status& why = answer.problems.front().status;
      why = Located(file_.path(), "filter",
                    partitions_[partition].handle.offset_bytes, why);
    }
  } else {
    answer.unusable = true;
    answer.problems.push_back({.status = status});
  }
  if (is_partitioned()) {
    for (FilterProblem& problem : answer.problems) {
      problem.place = fmt::format("partition {}: ", partition + 1);
    }
  }
  return answer;
}

void SstFilterReader::LookUp(const FilterLookup& lookup, FilterAnswer* answer) {
  *answer = {};
  if (partitions_.empty()) {
    const sst::FilterForm form = file_.file().filter().form;
    answer->filter = form == sst::FilterForm::kNone       ? "none"
                     : form == sst::FilterForm::kPerBlock ? kPerBlockText
                                                          : "no partitions";
    return;
  }
  const auto [first, last] = PartitionsFor(lookup);
  std::vector<FilterProblem> problems;
  bool may_match = false;
  bool unusable = false;
  for (size_t i = first; i <= last; ++i) {
    FilterAnswer part = LookUpIn(i, lookup);
    std::ranges::move(part.problems, std::back_inserter(problems));
    may_match = may_match || part.may_match;
    unusable = unusable || part.unusable;
    if (answer->sections.empty() || (part.may_match && !answer->may_match)) {
      *answer = std::move(part);
    }
  }
  // As in RocksDB, a part that cannot be probed may match.
  if (may_match && !answer->may_match) {
    for (SectionAnswer& section : answer->sections) {
      section.verdict = Verdict::kUnusable;
    }
  }
  if (unusable && answer->sections.empty()) answer->filter = "unusable";
  answer->problems = std::move(problems);
  answer->may_match = may_match;
  answer->unusable = unusable;
  if (is_partitioned() && (unusable || !answer->sections.empty())) {
    answer->parts =
        fmt::format("{}{} of {}", first + 1,
                    last == first ? "" : fmt::format(" to {}", last + 1),
                    partitions_.size());
  }
}

void SstFilterReader::Rate(const DecodedFilter& filter,
                           const FilterLookup& lookup, FilterAnswer* answer) {
  if (rated_ != loaded_) {
    rated_ = loaded_;
    row_rate_ = key_rate_ = 1;
    for (const SectionFacts& section : filter.Sections(&rates_)) {
      const bool is_row =
          filter.rowbloom().has_value() && section.section != "ROWCOL";
      (is_row ? row_rate_ : key_rate_) = section.rate.value_or(1);
    }
  }
  answer->column_rate = key_rate_;
  answer->rate = row_rate_;
  if (!lookup.is_row || !filter.rowbloom()) answer->rate *= key_rate_;
}

Status SstTable::ForEachFilterPart(
    const std::function<void(const FilterPart&)>& use) const {
  const sst::FilterLocation& location = file_->filter();
  if (location.form == sst::FilterForm::kPerBlock) {
    use({.number = 1,
         .offset_bytes = location.handle.offset_bytes,
         .size_bytes = location.handle.size_bytes,
         .writer = "RocksDB",
         .foreign = fmt::format("not rowbloom's: {}", kPerBlockText)});
  }
  SstFilterReader reader(*this);
  const Status opened = reader.Open();
  SectionRates rates;
  const KeyFormat keys{.timestamp_bytes = timestamp_bytes()};
  for (size_t i = 0; i < reader.partitions().size(); ++i) {
    const sst::FilterPartition& partition = reader.partitions()[i];
    ReadUpTo(partition.handle.offset_bytes);
    Status status;
    const DecodedFilter* const filter = reader.Load(i, &status);
    FilterPart part =
        filter != nullptr ? filter->Describe(&rates) : FilterPart();
    part.number = i + 1;
    part.offset_bytes = partition.handle.offset_bytes;
    part.size_bytes = partition.handle.size_bytes;
    part.key_text = keys.ColumnText(partition.index_key);
    part.status = status;
    use(part);
  }
  ReadUpTo(size_bytes());
  return opened;
}

Status SstTable::NewFilterReader(std::unique_ptr<FilterReader>* reader) const {
  auto opened = std::make_unique<SstFilterReader>(*this);
  const Status status = opened->Open();
  if (status.ok()) *reader = std::move(opened);
  return status;
}

std::string SstTable::KeyLayoutId() const {
  SstFilterReader reader(*this);
  // If the index of partitions is damaged, no filter names a layout.
  Status status = reader.Open();
  const DecodedFilter* filter = nullptr;
  for (size_t i = 0; i < reader.partitions().size() && !filter; ++i) {
    filter = reader.Load(i, &status);
  }
  if (filter && filter->rowbloom() && !filter->rowbloom()->sections().empty()) {
    return filter->rowbloom()->layout_id();
  }
  const std::string_view extractor =
      file_->TextProperty("rocksdb.prefix.extractor.name");
  return extractor.starts_with(kRowExtractorPrefix)
             ? std::string(extractor.substr(kRowExtractorPrefix.size()))
             : "";
}

}  // namespace rowbloom::table

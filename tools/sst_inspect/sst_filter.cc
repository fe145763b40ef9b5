#include "tools/sst_inspect/sst_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "lib/bytes/text.h"
#include "rowbloom/key_layout.h"
#include "rowbloom/printable.h"
#include "tools/sst_inspect/output.h"

namespace rowbloom::sst_inspect {
namespace {

using rocksdb::Status;

// rowbloom's prefix extractor is named so, with its layout.
constexpr std::string_view kRowExtractorPrefix = "rowbloom.row:";

std::string NameOfKind(const sst::StockFilter& filter) {
  switch (filter.kind()) {
    case sst::StockFilterKind::kBloom:
      return "bloom";
    case sst::StockFilterKind::kRibbon:
      return "ribbon";
    case sst::StockFilterKind::kLegacyBloom:
      return "legacy bloom";
    case sst::StockFilterKind::kNoKeys:
      return "empty";
    case sst::StockFilterKind::kReserved:
      break;
  }
  return "unknown";
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

}  // namespace

double SectionRates::Of(const FilterSection& section) {
  // A ribbon's lies in its bytes.
  if (section.kind == FilterKind::kRibbon) {
    return FilterBlock::ExpectedFalsePositiveRate(section);
  }
  const auto [known, is_new] = known_.try_emplace(
      {section.kind, section.keys, section.size_bytes, section.probes}, 0);
  if (is_new) known->second = FilterBlock::ExpectedFalsePositiveRate(section);
  return known->second;
}

DecodedFilter::DecodedFilter(const TableFacts& facts,
                             std::string_view compatibility_name,
                             std::string_view contents)
    : contents_(contents),
      policy_(compatibility_name),
      has_keys_(facts.whole_key_filter),
      has_prefixes_(facts.prefix_filter) {
  if (FilterBlock::IsFilterBlock(contents)) {
    rowbloom_ = FilterBlock::Open(contents);
  } else if (compatibility_name == sst::kStockPolicyName) {
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
    SectionFacts facts{.section = ContentOf(has_keys_, has_prefixes_),
                       .kind = NameOfKind(*stock_),
                       .probes = stock_->probes(),
                       .size_bytes = stock_->size_bytes(),
                       .fill = stock_->FillRatio(),
                       .rate = stock_->ExpectedFalsePositiveRate(),
                       .bits = contents_.substr(0, stock_->size_bytes())};
    if (const auto entries = stock_->EstimatedEntries()) {
      facts.keys = static_cast<uint64_t>(std::llround(*entries));
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
  const auto text = [this]() -> std::string {
    if (!stock_) return "of policy " + ToPrintable(policy_);
    if (stock_->kind() == sst::StockFilterKind::kNoKeys) {
      return fmt::format("an empty filter of {} bytes", contents_.size());
    }
    const int marker = stock_->marker();
    if (marker > 0) {
      return fmt::format("RocksDB legacy Bloom (marker {}, its probes)",
                         marker);
    }
    return fmt::format("{} (marker {})",
                       marker == -1   ? "RocksDB Bloom"
                       : marker == -2 ? "RocksDB Ribbon"
                                      : "unknown",
                       marker);
  };
  return "not rowbloom's: " + text();
}

FilterPart DecodedFilter::Describe(SectionRates* rates) const {
  FilterPart part{.size_bytes = contents_.size(), .foreign = Foreign()};
  part.writer = is_rowbloom() ? "rowbloom" : "RocksDB";
  part.sections = Sections(rates);
  if (rowbloom_) {
    if (rowbloom_->usable() || !rowbloom_->sections().empty()) {
      part.version = rowbloom_->format_version();
      part.layout = rowbloom_->layout_id();
      part.row_prefix_bytes = rowbloom_->row_prefix_length();
    }
    if (!rowbloom_->usable()) {
      // If its sections can be listed, only the layout is unknown here, and
      // nothing is damaged.
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

bool DecodedFilter::KeyMayMatch(std::string_view key) const {
  if (rowbloom_) return rowbloom_->MayMatch(key).may_match();
  return !stock_ || !has_keys_ || stock_->MayMatch(key);
}

bool DecodedFilter::PrefixMayMatch(std::string_view prefix) const {
  // Without whole keys it may be the prefix of another extractor than rows'.
  if (rowbloom_) {
    return has_keys_ ? rowbloom_->MayMatchRow(prefix)
                     : rowbloom_->MayMatch(prefix).may_match();
  }
  return !stock_ || !has_prefixes_ || stock_->MayMatch(prefix);
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
  if (stock_ && has_keys_) stock_->MayMatch(keys, may_match);
  for (size_t i = 0; i < keys.size(); ++i) answers[i] = {may_match[i]};
}

PrefixRule PrefixRuleOf(std::string_view extractor_name) {
  if (const auto length = NumberAfter("rocksdb.FixedPrefix.", extractor_name)) {
    return [length](std::string_view key) -> std::optional<std::string_view> {
      if (key.size() < *length) return std::nullopt;
      return key.substr(0, *length);
    };
  }
  if (const auto length =
          NumberAfter("rocksdb.CappedPrefix.", extractor_name)) {
    return [length](std::string_view key) -> std::optional<std::string_view> {
      return key.substr(0, *length);
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

Status FilterProber::Open(const SstTable& file) {
  file_ = &file;
  facts_ = file.Facts();
  can_probe_ = false;
  const Status status = file.file().FilterPartitions(&partitions_);
  if (!status.ok()) return status;
  can_probe_ =
      !partitions_.empty() &&
      (partitions_.size() == 1 || file.key_order() != sst::KeyOrder::kUnknown);
  return Status::OK();
}

bool FilterProber::EndsBefore(const sst::FilterPartition& partition,
                              std::string_view key) const {
  const size_t timestamp = file_->timestamp_bytes();
  std::string_view index_key = partition.index_key;
  if (index_key.size() >= timestamp) index_key.remove_suffix(timestamp);
  return CompareUserKeys(file_->key_order(), 0, index_key, key) < 0;
}

size_t FilterProber::PartitionFor(std::string_view key) const {
  if (partitions_.size() <= 1) return 0;
  // Mostly that of the key before.
  if (loaded_ < partitions_.size() && !EndsBefore(partitions_[loaded_], key) &&
      (loaded_ == 0 || EndsBefore(partitions_[loaded_ - 1], key))) {
    return loaded_;
  }
  const auto at =
      std::partition_point(partitions_.begin(), partitions_.end(),
                           [&](const sst::FilterPartition& partition) {
                             return EndsBefore(partition, key);
                           });
  // Past the last index key RocksDB probes the last partition.
  return std::min(static_cast<size_t>(at - partitions_.begin()),
                  partitions_.size() - 1);
}

size_t FilterProber::CountInOnePartition(std::span<const std::string_view> keys,
                                         bool ascending) const {
  if (partitions_.size() <= 1) return keys.size();
  const size_t partition = PartitionFor(keys.front());
  if (ascending && PartitionFor(keys.back()) == partition) return keys.size();
  size_t count = 1;
  while (count < keys.size() && PartitionFor(keys[count]) == partition) ++count;
  return count;
}

const DecodedFilter* FilterProber::Load(size_t partition, Status* status) {
  if (partition != loaded_) {
    loaded_ = partition;
    filter_.reset();
    loaded_status_ =
        file_->file().ReadBlock(partitions_[partition].handle, &contents_);
    if (loaded_status_.ok()) {
      filter_.emplace(facts_, file_->file().filter().compatibility_name,
                      contents_);
    }
  }
  *status = loaded_status_;
  return filter_ ? &*filter_ : nullptr;
}

namespace {

// The answer of one kind of section over the partitions probed.
class SectionAnswer {
 public:
  // A section of this kind exists and answers `verdict`. Among several
  // partitions, the answer that says most about all of them counts.
  void Add(Verdict verdict) {
    present_ = true;
    if (Rank(verdict) > Rank(verdict_)) verdict_ = verdict;
  }

  std::string Text() const {
    switch (verdict_) {
      case Verdict::kMayMatch:
        return "may be there";
      case Verdict::kNoMatch:
        return "not there";
      case Verdict::kUnusable:
        return "section unusable";
      case Verdict::kNotProbed:
        break;
    }
    return present_ ? "not probed: it holds no empty qualifiers"
                    : "no such section";
  }

 private:
  static std::ptrdiff_t Rank(Verdict verdict) {
    // From what says least.
    static constexpr std::array kRanks = {Verdict::kNotProbed,
                                          Verdict::kNoMatch, Verdict::kUnusable,
                                          Verdict::kMayMatch};
    return std::ranges::find(kRanks, verdict) - kRanks.begin();
  }

  Verdict verdict_ = Verdict::kNotProbed;
  bool present_ = false;
};

// Tells the lookup of one question, over all partitions that it has to probe.
class Explainer {
 public:
  Explainer(const SstTable& file, const TableFacts& facts, FilterProber* prober,
            const FilterQuestion& question, FilterExplanation* explanation)
      : file_(file),
        facts_(facts),
        prober_(*prober),
        question_(question),
        explanation_(*explanation) {}

  void Run() {
    const auto [first, last] = Choose();
    explanation_.may_match = false;
    for (size_t i = first; i <= last; ++i) ProbePartition(i);
    const size_t count = prober_.partitions().size();
    if (!any_readable_) {
      Line("filter", "unusable");
    } else if (is_outside_layout_ && !has_whole_keys_) {
      Line("filter", "has no keys outside the layout, such as this one");
      return;
    }
    if (file_.file().filter().form == sst::FilterForm::kPartitioned) {
      Line("partition",
           first == last
               ? fmt::format("{} of {}", first + 1, count)
               : fmt::format("{} to {} of {}", first + 1, last + 1, count));
    }
    if (!any_readable_) return;
    if (is_foreign_ || by_prefix_) {
      Line(by_prefix_ ? "prefix" : "key",
           not_probed_ ? "not probed: the filter has no such entries"
                       : row_.Text());
    } else if (is_outside_layout_) {
      Line("outside the layout", row_.Text());
    } else {
      Line(row_is_prefix_ ? "ROWPREFIX" : "ROW", row_.Text());
      if (!question_.is_row) Line("ROWCOL", row_col_.Text());
    }
  }

 private:
  void Line(std::string_view name, std::string text) {
    explanation_.lines.push_back({std::string(name), std::move(text)});
  }

  void Problem(std::string_view problem) {
    const bool partitioned =
        file_.file().filter().form == sst::FilterForm::kPartitioned;
    explanation_.problems.push_back(
        (partitioned ? fmt::format("partition {}: ", prober_.partition() + 1)
                     : "") +
        std::string(problem));
  }

  // The first and last partition to probe, counted from 0. A key is in the one
  // that RocksDB probes for it. A row may be in several; where the order does
  // not keep its keys behind it, in any.
  std::pair<size_t, size_t> Choose() const {
    const std::vector<sst::FilterPartition>& partitions = prober_.partitions();
    if (!prober_.can_probe()) return {0, partitions.size() - 1};
    const size_t first = prober_.PartitionFor(question_.key);
    if (!question_.is_row) return {first, first};
    if (file_.key_order() != sst::KeyOrder::kBytewise) {
      return {0, partitions.size() - 1};
    }
    size_t last = first;
    // A partition that ends with a key of the row may be followed by more.
    while (last + 1 < partitions.size() &&
           partitions[last].index_key.starts_with(question_.key)) {
      ++last;
    }
    return {first, last};
  }

  // As RocksDB does, takes the answer to be "may be there".
  void Unusable() {
    explanation_.may_match = true;
    has_whole_keys_ = true;  // for all that is known
    row_.Add(Verdict::kUnusable);
    row_col_.Add(Verdict::kUnusable);
  }

  void ProbePartition(size_t partition) {
    Status status;
    const DecodedFilter* const filter = prober_.Load(partition, &status);
    if (filter == nullptr) {
      if (status.IsCorruption()) {
        Problem(Describe(status));
      } else {
        explanation_.failures.push_back(status);
      }
      return Unusable();
    }
    if (!filter->rowbloom()) return ProbeForeign(*filter);
    const FilterBlock& block = *filter->rowbloom();
    if (block.sections().empty()) {
      Problem(block.problem());
      return Unusable();
    }
    any_readable_ = true;
    if (!block.usable()) {
      Problem(block.problem());
      return Unusable();
    }
    if (question_.is_row && block.layout_id() != question_.layout) {
      Problem(fmt::format("key layout {} expected, found {}", question_.layout,
                          block.layout_id()));
      return Unusable();
    }
    ProbeSections(*filter, block);
  }

  // The prefix that RocksDB probes a filter without whole keys for; nullopt: it
  // does not.
  std::optional<std::string_view> PrefixAlone() const {
    const PrefixRule prefix_of = PrefixRuleOf(facts_.prefix_extractor);
    if (!facts_.prefix_filter || !prefix_of) return std::nullopt;
    const auto prefix = prefix_of(question_.key);
    // A row may have keys of other prefixes.
    const bool is_probed = !question_.is_row || prefix == question_.key;
    return is_probed ? prefix : std::nullopt;
  }

  void ProbeForeign(const DecodedFilter& filter) {
    if (!is_foreign_) Line("filter", filter.Foreign());
    is_foreign_ = any_readable_ = true;
    if (question_.is_row || !facts_.whole_key_filter) {
      return ProbePrefix(filter, filter.stock() ? PrefixAlone() : std::nullopt);
    }
    not_probed_ = !filter.stock();
    AddAnswer(not_probed_ || filter.KeyMayMatch(question_.key));
  }

  void ProbePrefix(const DecodedFilter& filter,
                   std::optional<std::string_view> prefix) {
    by_prefix_ = true;
    not_probed_ = !prefix;
    AddAnswer(not_probed_ || filter.PrefixMayMatch(*prefix));
  }

  void AddAnswer(bool may_match) {
    row_.Add(may_match ? Verdict::kMayMatch : Verdict::kNoMatch);
    explanation_.may_match = explanation_.may_match || may_match;
  }

  void ProbeSections(const DecodedFilter& filter, const FilterBlock& block) {
    std::optional<std::string_view> found = question_.key;
    if (!question_.is_row) {
      const auto layout = KeyLayout::FromString(block.layout_id());
      const auto split = layout ? layout->Split(*found) : std::nullopt;
      found = split ? std::optional(split->row) : std::nullopt;
    }
    if (!facts_.whole_key_filter) {
      const auto prefix = PrefixAlone();
      if (!found || prefix != found) return ProbePrefix(filter, prefix);
    }
    if (!found) return ProbeOutsideLayout(block);
    const std::string_view row = *found;
    const std::string_view qualifier = question_.key.substr(row.size());
    for (const FilterSection& section : block.sections()) {
      const Verdict verdict = block.ProbeSection(section.type, row, qualifier);
      const bool is_row_col = section.type == SectionType::kRowCol;
      (is_row_col ? row_col_ : row_).Add(verdict);
      if (!is_row_col) row_is_prefix_ = section.type == SectionType::kRowPrefix;
      // Damage counts where it was met.
      if ((!is_row_col || !question_.is_row) && !section.usable()) {
        Problem(fmt::format("{} {}", ToString(section.type), section.problem));
      }
    }
    const bool may_match = question_.is_row
                               ? block.MayMatchRow(row)
                               : block.MayMatchRowCol(row, qualifier);
    explanation_.may_match = explanation_.may_match || may_match;
  }

  void ProbeOutsideLayout(const FilterBlock& block) {
    is_outside_layout_ = true;
    const MatchResult result = block.MayMatch(question_.key);
    row_.Add(result.row_col() == Verdict::kNotProbed ? result.row()
                                                     : result.row_col());
    has_whole_keys_ = has_whole_keys_ || block.whole_keys().has_value();
    explanation_.may_match = explanation_.may_match || result.may_match();
  }

  const SstTable& file_;
  const TableFacts& facts_;
  FilterProber& prober_;
  const FilterQuestion& question_;
  FilterExplanation& explanation_;
  SectionAnswer row_;  // or of RocksDB's own filter
  SectionAnswer row_col_;
  bool row_is_prefix_ = false;
  bool any_readable_ = false;
  bool is_foreign_ = false;
  bool by_prefix_ = false;
  bool not_probed_ = false;
  bool is_outside_layout_ = false;
  bool has_whole_keys_ = false;  // keys outside the layout
};

class SstFilterReader final : public FilterReader {
 public:
  explicit SstFilterReader(const SstTable& file)
      : file_(file),
        facts_(file.Facts()),
        prefix_of_(PrefixRuleOf(facts_.prefix_extractor)) {}

  Status Open() { return prober_.Open(file_); }

  bool can_probe() const override { return prober_.can_probe(); }

  Status Probe(const FilterQuestion& question, Answer* answer) override {
    *answer = {};
    Status status;
    const DecodedFilter* filter =
        prober_.Load(prober_.PartitionFor(question.key), &status);
    if (filter == nullptr) return status;
    // RocksDB's own filter, and one without whole keys, is probed for a row
    // only as the prefix that it would have been added as.
    const bool has_rows = filter->is_rowbloom() && facts_.whole_key_filter;
    if (!has_rows &&
        (question.is_row ? !facts_.prefix_filter || !prefix_of_ ||
                               prefix_of_(question.key) != question.key
                         : !facts_.whole_key_filter)) {
      return status;
    }
    if (prober_.partition() != rated_) Rate(*filter);
    answer->probed = true;
    answer->of_prefix = question.is_row && !has_rows;
    answer->may_match = question.is_row ? filter->PrefixMayMatch(question.key)
                                        : filter->KeyMayMatch(question.key);
    answer->column_rate = key_rate_ * stock_rate_;
    answer->rate = stock_rate_ * row_rate_ * (question.is_row ? 1 : key_rate_);
    return status;
  }

  void Explain(const FilterQuestion* question,
               FilterExplanation* explanation) override {
    const auto line = [explanation](const char* text) {
      explanation->lines.push_back({"filter", text});
    };
    if (file_.file().filter().form == sst::FilterForm::kNone) {
      return line("none");
    }
    if (prober_.partitions().empty()) return line("no partitions");
    if (question != nullptr) {
      Explainer(file_, facts_, &prober_, *question, explanation).Run();
      return;
    }
    Status status;
    const DecodedFilter* filter = prober_.Load(0, &status);
    line(filter == nullptr ? "unusable" : filter->Foreign().c_str());
    if (!status.ok()) explanation->failures.push_back(status);
  }

 private:
  // The rates that a partition predicts.
  void Rate(const DecodedFilter& filter) {
    rated_ = prober_.partition();
    row_rate_ = key_rate_ = stock_rate_ = 1;
    for (const SectionFacts& section : filter.Sections(&rates_)) {
      const double rate = section.rate.value_or(1);
      if (section.section == "ROWCOL") {
        key_rate_ = rate;
      } else if (section.section.starts_with("ROW")) {
        row_rate_ = rate;
      } else {
        stock_rate_ = rate;
      }
    }
  }

  const SstTable& file_;
  const TableFacts facts_;
  const PrefixRule prefix_of_;
  FilterProber prober_;
  SectionRates rates_;
  size_t rated_ = static_cast<size_t>(-1);
  double row_rate_ = 1;
  double key_rate_ = 1;
  double stock_rate_ = 1;
};

}  // namespace

Status SstTable::ForEachFilterPart(
    const std::function<void(const FilterPart&)>& use) const {
  std::vector<sst::FilterPartition> partitions;
  Status status = file_->FilterPartitions(&partitions);
  const TableFacts facts = Facts();
  SectionRates rates;
  std::string contents;
  for (size_t i = 0; i < partitions.size(); ++i) {
    FilterPart part;
    status = file_->ReadBlock(partitions[i].handle, &contents);
    if (status.ok()) {
      part = DecodedFilter(facts, file_->filter().compatibility_name, contents)
                 .Describe(&rates);
    }
    part.number = i + 1;
    part.offset_bytes = partitions[i].handle.offset_bytes;
    part.size_bytes = partitions[i].handle.size_bytes;
    part.key_text = ToPrintable(partitions[i].index_key);
    part.status = std::exchange(status, Status::OK());
    use(part);
  }
  return status;
}

Status SstTable::NewFilterReader(std::unique_ptr<FilterReader>* reader) const {
  auto opened = std::make_unique<SstFilterReader>(*this);
  const Status status = opened->Open();
  if (status.ok()) *reader = std::move(opened);
  return status;
}

std::string SstTable::KeyLayoutId() const {
  // An untrusted directory names no layout.
  std::vector<sst::FilterPartition> partitions;
  std::string contents;
  if (file_->FilterPartitions(&partitions).ok()) {
    for (const sst::FilterPartition& partition : partitions) {
      if (!file_->ReadBlock(partition.handle, &contents).ok()) continue;
      const FilterBlock block = FilterBlock::Open(contents);
      if (!block.sections().empty()) return block.layout_id();
      break;
    }
  }
  const std::string_view extractor =
      file_->TextProperty("rocksdb.prefix.extractor.name");
  return extractor.starts_with(kRowExtractorPrefix)
             ? std::string(extractor.substr(kRowExtractorPrefix.size()))
             : "";
}

}  // namespace rowbloom::sst_inspect

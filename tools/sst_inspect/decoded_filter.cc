#include "tools/sst_inspect/decoded_filter.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "rowbloom/key_layout.h"

namespace rowbloom::sst_inspect {
namespace {

using rocksdb::Status;

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
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  size_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
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
      origin_(OriginOf(compatibility_name, contents)),
      has_keys_(facts.whole_key_filter),
      has_prefixes_(facts.prefix_filter) {
  if (is_rowbloom()) {
    rowbloom_ = FilterBlock::Open(contents);
  } else if (compatibility_name == sst::kStockPolicyName) {
    stock_ = sst::StockFilter::Open(contents);
  }
}

std::vector<SectionFacts> DecodedFilter::Sections() const {
  SectionRates rates;
  return Sections(&rates);
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

bool DecodedFilter::KeyMayMatch(std::string_view key) const {
  if (rowbloom_) return rowbloom_->MayMatch(key).may_match();
  return !stock_ || !has_keys_ || stock_->MayMatch(key);
}

bool DecodedFilter::PrefixMayMatch(std::string_view prefix) const {
  if (rowbloom_) return rowbloom_->MayMatchRow(prefix);
  return !stock_ || !has_prefixes_ || stock_->MayMatch(prefix);
}

void DecodedFilter::AskForKeys(std::span<const std::string_view> keys,
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
  constexpr std::string_view kRowPrefix = "rowbloom.row:";
  if (extractor_name.starts_with(kRowPrefix)) {
    const auto layout =
        KeyLayout::FromString(extractor_name.substr(kRowPrefix.size()));
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

Status FilterAsker::Open(const TableFile& file) {
  file_ = &file;
  facts_ = file.Facts();
  const sst::FilterForm form = file.filter().form;
  askable_ = false;
  if (form == sst::FilterForm::kNone) return Status::OK();
  const Status status = file.FilterPartitions(&partitions_);
  if (!status.ok()) return status;
  askable_ =
      !partitions_.empty() &&
      (partitions_.size() == 1 || file.key_order() != sst::KeyOrder::kUnknown);
  return Status::OK();
}

bool FilterAsker::EndsBefore(const sst::FilterPartition& partition,
                             std::string_view key) const {
  const size_t timestamp = file_->timestamp_bytes();
  std::string_view index_key = partition.index_key;
  if (index_key.size() >= timestamp) index_key.remove_suffix(timestamp);
  return CompareUserKeys(file_->key_order(), 0, index_key, key) < 0;
}

size_t FilterAsker::PartitionFor(std::string_view key) const {
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

size_t FilterAsker::CountInOnePartition(std::span<const std::string_view> keys,
                                        bool ascending) const {
  if (partitions_.size() <= 1) return keys.size();
  const size_t partition = PartitionFor(keys.front());
  if (ascending && PartitionFor(keys.back()) == partition) return keys.size();
  size_t count = 1;
  while (count < keys.size() && PartitionFor(keys[count]) == partition) ++count;
  return count;
}

const DecodedFilter* FilterAsker::FilterFor(std::string_view key,
                                            Status* status) {
  return Load(PartitionFor(key), status);
}

const DecodedFilter* FilterAsker::Load(size_t partition, Status* status) {
  if (partition != loaded_) {
    loaded_ = partition;
    filter_.reset();
    loaded_status_ =
        file_->ReadFilter(partitions_[partition].handle, &contents_);
    if (loaded_status_.ok()) {
      filter_.emplace(facts_, file_->filter().compatibility_name, contents_);
    }
  }
  *status = loaded_status_;
  return filter_ ? &*filter_ : nullptr;
}

}  // namespace rowbloom::sst_inspect

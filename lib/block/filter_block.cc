#include "rowbloom/filter_block.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "lib/block/format.h"
#include "lib/bytes/bits_set.h"
#include "lib/block/hash.h"
#include "lib/block/ribbon.h"
#include "lib/kernels/kernel.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

constexpr size_t kBlockBytes = kBloomBlockBits / 8;

format::Entry GetEntry(std::string_view directory, size_t index) {
  const std::string_view in = directory.substr(index * format::kEntryBytes);
  return {.type = static_cast<uint8_t>(in[0]),
          .kind = static_cast<uint8_t>(in[1]),
          .probes = static_cast<uint8_t>(in[2]),
          .scope = static_cast<uint32_t>(format::GetFixed(in, 4, 4)),
          .offset = static_cast<uint32_t>(format::GetFixed(in, 8, 4)),
          .size = static_cast<uint32_t>(format::GetFixed(in, 12, 4)),
          .keys = static_cast<uint32_t>(format::GetFixed(in, 16, 4)),
          .checksum = static_cast<uint32_t>(format::GetFixed(in, 20, 4))};
}

// Why a section cannot be trusted, or "". `end` is where the directory starts.
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

MatchResult ToResult(Answer answer) {
  using enum Verdict;
  switch (answer) {
    case Answer::kOutside:
      break;
    case Answer::kRowMay:
      return {.row = kMayMatch};
    case Answer::kRowNo:
      return {.may_match = false, .row = kNoMatch};
    case Answer::kRowColMay:
      return {.row = kMayMatch, .row_col = kMayMatch};
    case Answer::kRowColNo:
      return {.may_match = false, .row = kMayMatch, .row_col = kNoMatch};
    case Answer::kCellNo:
      return {.may_match = false, .row_col = kNoMatch};
  }
  return {};
}

Answer AnswerOf(const BatchAnswers& answers, size_t key) {
  const uint32_t bit = uint32_t{1} << key;
  if (answers.row_no & bit) return Answer::kRowNo;
  if (answers.row_may & bit) return Answer::kRowMay;
  if (answers.row_col_no & bit) return Answer::kRowColNo;
  if (answers.row_col_may & bit) return Answer::kRowColMay;
  return Answer::kOutside;
}

// Tags that are not known are passed over.
FileOrigin ParseOrigin(std::string_view attributes) {
  FileOrigin origin;
  while (attributes.size() >= 2) {
    const auto tag = static_cast<uint8_t>(attributes[0]);
    const auto bytes = static_cast<uint8_t>(attributes[1]);
    attributes.remove_prefix(2);
    if (bytes > attributes.size()) break;
    const std::string_view value = attributes.substr(0, bytes);
    attributes.remove_prefix(bytes);
    if (tag == format::kColumnFamilyTag) {
      origin.column_family = value;
    } else if (tag == format::kLevelTag && bytes == 1) {
      origin.level = static_cast<uint8_t>(value[0]);
    }
  }
  return origin;
}

}  // namespace

std::string_view ToString(SectionType type) {
  switch (type) {
    case SectionType::kRow:
      return "ROW";
    case SectionType::kRowCol:
      return "ROWCOL";
    case SectionType::kRowPrefix:
      return "ROWPREFIX";
  }
  return "unknown";
}

bool FilterBlock::HasSection(SectionType type) const {
  return std::ranges::any_of(sections_, [type](const FilterSection& section) {
    return section.type == type;
  });
}

bool FilterBlock::IsFilterBlock(std::string_view contents) {
  return contents.starts_with(format::kHead) ||
         contents.ends_with(format::kTail);
}

FilterBlock FilterBlock::Open(std::string_view contents,
                              const BloomKernel* kernel) {
  FilterBlock block;
  block.contents_ = contents;
  block.kernel_ = kernel != nullptr ? kernel : &ActiveKernel();
  block.problem_ = block.Parse();
  block.usable_ = block.problem_.empty();
  block.matcher_ = block.MakeMatcher();
  return block;
}

std::string FilterBlock::Parse() {
  const size_t size = contents_.size();
  if (size < format::kMinBlockBytes) {
    return "filter block of " + std::to_string(size) +
           " bytes, expected at least " +
           std::to_string(format::kMinBlockBytes);
  }
  if (!contents_.starts_with(format::kHead)) {
    return "filter block does not start with ROWBLOOM at offset 0";
  }
  if (!contents_.ends_with(format::kTail)) {
    return "filter block does not end with the tail at offset " +
           std::to_string(size - format::kTail.size());
  }
  const format::Trailer trailer = format::GetTrailer(contents_);
  format_version_ = trailer.version;
  if (format_version_ != format::kVersion) {
    return "filter block version " + std::to_string(format_version_) +
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
      contents_.substr(directory_at, directory_bytes);
  const uint64_t found =
      Checksum(directory, Checksum(contents_.substr(trailer.at + 8)));
  if (found != trailer.checksum) {
    return "filter block directory at offset " + std::to_string(directory_at) +
           ": checksum " + std::to_string(trailer.checksum) +
           " expected, found " + std::to_string(found);
  }

  const size_t section_count = trailer.section_count;
  const size_t attributes_at = section_count * format::kEntryBytes;
  origin_ =
      ParseOrigin(directory.substr(attributes_at, trailer.attribute_bytes));
  layout_id_ = directory.substr(attributes_at + trailer.attribute_bytes);
  std::vector<std::shared_ptr<const RibbonFilter>> ribbons;
  for (size_t i = 0; i < section_count; ++i) {
    const format::Entry entry = GetEntry(directory, i);
    sections_.push_back(
        {.type = static_cast<SectionType>(entry.type),
         .kind = static_cast<FilterKind>(entry.kind),
         .probes = entry.probes,
         .offset_bytes = entry.offset,
         .size_bytes = entry.size,
         .keys = entry.keys,
         .row_prefix_length = entry.scope,
         .problem = CheckSection(contents_, entry, directory_at)});
    FilterSection& section = sections_.back();
    ribbons.emplace_back();
    if (!section.usable() || section.kind != FilterKind::kRibbon) continue;
    const auto ribbon = ParseRibbon(contents_.substr(entry.offset, entry.size),
                                    &section.problem);
    if (!ribbon) {
      section.problem = "section at offset " + std::to_string(entry.offset) +
                        ": " + section.problem;
      continue;
    }
    section.ribbon_rate = RibbonFalsePositiveRate(*ribbon);
    ribbons.back() = std::make_shared<const RibbonFilter>(*ribbon);
  }
  auto layout = KeyLayout::FromString(layout_id_);
  if (!layout) return layout.error();
  layout_ = *std::move(layout);
  for (size_t i = 0; i < sections_.size(); ++i) {
    const FilterSection& section = sections_[i];
    Probe probe;
    if (!section.usable()) {
      probe.state = Probe::State::kUnusable;
    } else if (section.size_bytes == 0) {
      probe.state = Probe::State::kEmpty;
    } else if (section.kind == FilterKind::kRibbon) {
      probe.state = Probe::State::kReady;
      probe.ribbon = ribbons[i];
    } else {
      probe.state = Probe::State::kReady;
      probe.blocks = reinterpret_cast<const std::byte*>(contents_.data()) +
                     section.offset_bytes;
      probe.block_count = section.size_bytes / kBlockBytes;
      probe.probes = section.probes;
    }
    switch (section.type) {
      case SectionType::kRow:
        row_ = probe;
        break;
      case SectionType::kRowCol:
        row_col_ = probe;
        break;
      case SectionType::kRowPrefix:
        row_prefix_ = probe;
        row_prefix_length_ = section.row_prefix_length;
        break;
    }
  }
  return "";
}

namespace {

// Keeps what the matcher points to.
struct OwningMatcher : Matcher {
  std::shared_ptr<const RibbonFilter> owned_row_ribbon;
  std::shared_ptr<const RibbonFilter> owned_row_col_ribbon;
};

}  // namespace

std::shared_ptr<const Matcher> FilterBlock::MakeMatcher() const {
  if (!usable_ || !kernel_->HasMatch()) return nullptr;
  const bool row_col_fits = row_col_.state == Probe::State::kAbsent ||
                            row_col_.state == Probe::State::kReady;
  const bool layout_fits =
      layout_->kind() == KeyLayout::Kind::kFixed
          ? layout_->parameter() - 1 < KeyLayout::kMaxRowBytes
          : layout_->kind() != KeyLayout::Kind::kCustom;
  if (!layout_fits || row_.state != Probe::State::kReady || !row_col_fits ||
      row_prefix_.state != Probe::State::kAbsent) {
    return nullptr;
  }
  const auto matcher = std::make_shared<OwningMatcher>();
  matcher->SetLayout(layout_->kind(), layout_->parameter());
  matcher->has_row_col = row_col_.state == Probe::State::kReady;
  matcher->row = BloomSection({row_.blocks, row_.block_count, row_.probes});
  matcher->row_col =
      BloomSection({row_col_.blocks, row_col_.block_count, row_col_.probes});
  matcher->row_ribbon = row_.ribbon.get();
  matcher->row_col_ribbon = row_col_.ribbon.get();
  matcher->owned_row_ribbon = row_.ribbon;
  matcher->owned_row_col_ribbon = row_col_.ribbon;
  return matcher;
}

// Whether these bytes can have been indexed as a row.
bool FilterBlock::IsRow(std::string_view row_bytes) const {
  return layout_->RowBytes(row_bytes) == row_bytes.size() ||
         IsBarePrefix(row_bytes);
}

// What a fixed-length prefix extractor makes of a key.
bool FilterBlock::IsBarePrefix(std::string_view key) const {
  return row_prefix_.state != Probe::State::kAbsent &&
         key.size() == layout_->RowOffset() + row_prefix_length_;
}

const FilterBlock::Probe& FilterBlock::RowProbe() const {
  return row_.state != Probe::State::kAbsent ? row_ : row_prefix_;
}

// The hash to ask RowProbe() with.
uint64_t FilterBlock::RowSectionHash(std::string_view row_bytes,
                                     uint64_t row_hash) const {
  if (row_.state != Probe::State::kAbsent ||
      row_prefix_.state == Probe::State::kAbsent) {
    return row_hash;
  }
  return HashRow(format::RowPrefix(*layout_, row_bytes, row_prefix_length_));
}

Verdict FilterBlock::Ask(const Probe& probe, uint64_t hash) const {
  switch (probe.state) {
    case Probe::State::kReady:
      if (probe.ribbon != nullptr) {
        return kernel_->ribbon_may_contain(*probe.ribbon, hash)
                   ? Verdict::kMayMatch
                   : Verdict::kNoMatch;
      }
      return kernel_->may_contain(
                 {probe.blocks, probe.block_count, probe.probes}, hash)
                 ? Verdict::kMayMatch
                 : Verdict::kNoMatch;
    case Probe::State::kEmpty:
      return Verdict::kNoMatch;
    case Probe::State::kUnusable:
      return Verdict::kUnusable;
    case Probe::State::kAbsent:
      break;
  }
  return Verdict::kNotAsked;
}

// REQUIRES a ready section.
void FilterBlock::Prefetch(const Probe& probe, uint64_t hash) const {
  if (probe.ribbon != nullptr) return;
  kernel_->prefetch({probe.blocks, probe.block_count, probe.probes}, hash);
}

MatchResult FilterBlock::Match(std::string_view row_bytes,
                               std::string_view qualifier) const {
  const uint64_t row_hash = HashRow(row_bytes);
  MatchResult result;
  result.row = Ask(RowProbe(), RowSectionHash(row_bytes, row_hash));
  if (result.row == Verdict::kNoMatch) {
    result.may_match = false;
  } else if (!qualifier.empty() && row_col_.state != Probe::State::kAbsent) {
    result.row_col = Ask(row_col_, HashRowCol(row_hash, qualifier));
    result.may_match = result.row_col != Verdict::kNoMatch;
  }
  return result;
}

MatchResult FilterBlock::MayMatch(std::string_view key) const {
  if (matcher_ == nullptr) return MatchLong(key);
  const KeyView view = {key.data(), key.size()};
  return ToResult(kernel_->MatchFor(*matcher_).match(*matcher_, &view));
}

MatchResult FilterBlock::MatchLong(std::string_view key) const {
  if (!usable_) return {.row = Verdict::kUnusable};
  const size_t row_bytes = layout_->RowBytes(key);
  if (row_bytes != KeyLayout::kNoRow) {
    return Match(key.substr(0, row_bytes), key.substr(row_bytes));
  }
  if (IsBarePrefix(key)) return Match(key, {});
  return {};
}

FilterBlock::Question FilterBlock::Hash(std::string_view key) const {
  size_t row_bytes = layout_->RowBytes(key);
  if (row_bytes == KeyLayout::kNoRow) {
    if (!IsBarePrefix(key)) return {};
    row_bytes = key.size();
  }
  const uint64_t row_hash = HashRow(key.substr(0, row_bytes));
  Question question;
  question.in_layout = true;
  question.row = RowSectionHash(key.substr(0, row_bytes), row_hash);
  if (row_bytes < key.size() && row_col_.state != Probe::State::kAbsent) {
    question.has_qualifier = true;
    question.row_col = HashRowCol(row_hash, key.substr(row_bytes));
  }
  return question;
}

void FilterBlock::MayMatch(std::span<const std::string_view> keys,
                           std::span<MatchResult> results) const {
  if (matcher_ == nullptr) return MatchLong(keys, results);
  const MatchFunctions& functions = kernel_->MatchFor(*matcher_);
  std::array<KeyView, BatchAnswers::kMaxKeys> views;
  std::array<const KeyView*, BatchAnswers::kMaxKeys> pointers;
  for (size_t start = 0; start < keys.size(); start += views.size()) {
    const size_t count = std::min(views.size(), keys.size() - start);
    for (size_t i = 0; i < count; ++i) {
      views[i] = {keys[start + i].data(), keys[start + i].size()};
      pointers[i] = &views[i];
    }
    BatchAnswers answers;
    functions.match_batch(*matcher_, pointers.data(), count, &answers);
    for (size_t i = 0; i < count; ++i) {
      results[start + i] = ToResult(AnswerOf(answers, i));
    }
  }
}

void FilterBlock::MatchLong(std::span<const std::string_view> keys,
                            std::span<MatchResult> results) const {
  if (!usable_) {
    std::fill_n(results.begin(), keys.size(),
                MatchResult{.row = Verdict::kUnusable});
    return;
  }
  // As many as RocksDB's MultiGet hands over at once.
  constexpr size_t kBatch = 32;
  std::array<Question, kBatch> questions;
  const Probe& row_probe = RowProbe();
  const bool row_ready = row_probe.state == Probe::State::kReady;
  const bool row_col_ready = row_col_.state == Probe::State::kReady;
  for (size_t start = 0; start < keys.size(); start += kBatch) {
    const size_t count = std::min(kBatch, keys.size() - start);
    for (size_t i = 0; i < count; ++i) {
      Question& question = questions[i] = Hash(keys[start + i]);
      if (!question.in_layout) continue;
      question.row_known = i > 0 && questions[i - 1].in_layout &&
                           question.row == questions[i - 1].row;
      if (row_ready && !question.row_known) Prefetch(row_probe, question.row);
      if (row_col_ready && question.has_qualifier) {
        Prefetch(row_col_, question.row_col);
      }
    }
    for (size_t i = 0; i < count; ++i) {
      const Question& question = questions[i];
      MatchResult& result = results[start + i] = {};
      if (!question.in_layout) continue;
      result.row = question.row_known ? results[start + i - 1].row
                                      : Ask(row_probe, question.row);
      if (result.row == Verdict::kNoMatch) {
        result.may_match = false;
      } else if (question.has_qualifier) {
        result.row_col = Ask(row_col_, question.row_col);
        result.may_match = result.row_col != Verdict::kNoMatch;
      }
    }
  }
}

bool FilterBlock::MayMatchRow(std::string_view row_bytes) const {
  return MayMatchRowCol(row_bytes, {});
}

bool FilterBlock::MayMatchRowCol(std::string_view row_bytes,
                                 std::string_view qualifier) const {
  return !usable_ || !IsRow(row_bytes) || Match(row_bytes, qualifier).may_match;
}

Verdict FilterBlock::AskHash(SectionType type, uint64_t hash) const {
  if (!usable_) return Verdict::kUnusable;
  switch (type) {
    case SectionType::kRow:
      return Ask(row_, hash);
    case SectionType::kRowPrefix:
      return Ask(row_prefix_, hash);
    case SectionType::kRowCol:
      return Ask(row_col_, hash);
  }
  return Verdict::kNotAsked;
}

Verdict FilterBlock::AskSection(SectionType type, std::string_view row_bytes,
                                std::string_view qualifier) const {
  if (!usable_) return Verdict::kUnusable;
  if (!IsRow(row_bytes)) return Verdict::kNotAsked;
  const uint64_t row_hash = HashRow(row_bytes);
  switch (type) {
    case SectionType::kRow:
      return Ask(row_, row_hash);
    case SectionType::kRowPrefix:
      return Ask(row_prefix_, HashRow(format::RowPrefix(*layout_, row_bytes,
                                                        row_prefix_length_)));
    case SectionType::kRowCol:
      // Bare rows are not indexed there.
      if (qualifier.empty()) return Verdict::kNotAsked;
      return Ask(row_col_, HashRowCol(row_hash, qualifier));
  }
  return Verdict::kNotAsked;
}

double FilterBlock::FillRatio(const FilterSection& section) const {
  if (!section.usable() || section.size_bytes == 0 ||
      section.offset_bytes > contents_.size() ||
      section.size_bytes > contents_.size() - section.offset_bytes) {
    return 0;
  }
  const uint64_t set =
      BitsSet(contents_.substr(section.offset_bytes, section.size_bytes));
  return static_cast<double>(set) /
         (8.0 * static_cast<double>(section.size_bytes));
}

double FilterBlock::BitsPerKey(const FilterSection& section) {
  if (section.keys == 0) return 0;
  return 8.0 * static_cast<double>(section.size_bytes) /
         static_cast<double>(section.keys);
}

double FilterBlock::ExpectedFalsePositiveRate(const FilterSection& section) {
  if (!section.usable()) return 1;
  if (section.keys == 0) return 0;
  if (section.kind == FilterKind::kRibbon) return section.ribbon_rate;
  return BlockedFalsePositiveRate(
      section.keys, section.size_bytes / kBlockBytes, section.probes);
}

}  // namespace rowbloom

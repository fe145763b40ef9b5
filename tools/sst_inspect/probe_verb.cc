#include "tools/sst_inspect/probe_verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "rowbloom/filter_block.h"
#include "storage/sst/sst_file.h"
#include "tools/sst_inspect/filter_origin.h"
#include "tools/sst_inspect/text.h"

namespace rowbloom::sst_inspect {
namespace {

using sst::FilterPartition;

// Partitions [first, last], counted from 0.
struct PartitionRange {
  size_t first = 0;
  size_t last = 0;
};

// A row, and perhaps a qualifier, in the bytes of a key layout.
struct Question {
  std::string layout_id;
  std::string row_bytes;
  std::string_view qualifier;
  bool is_cell = false;

  std::string Key() const { return row_bytes + std::string(qualifier); }
};

// What one kind of section said over the partitions asked.
class SectionAnswer {
 public:
  // A section of this kind exists and answers `verdict`. Of several partitions
  // the answer that says most about all of them together counts.
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
      case Verdict::kNotAsked:
        break;
    }
    return present_ ? "not asked: it holds no empty qualifiers"
                    : "no such section";
  }

 private:
  static int Rank(Verdict verdict) {
    switch (verdict) {
      case Verdict::kNotAsked:
        return 0;
      case Verdict::kNoMatch:
        return 1;
      case Verdict::kUnusable:
        return 2;
      case Verdict::kMayMatch:
        return 3;
    }
    return 3;
  }

  Verdict verdict_ = Verdict::kNotAsked;
  bool present_ = false;
};

bool HasBytewiseOrder(const sst::SstFile& file) {
  const auto name = file.properties().find("rocksdb.comparator");
  return name != file.properties().end() &&
         name->second == "leveldb.BytewiseComparator";
}

// The partitions to ask. REQUIRES at least one.
PartitionRange Choose(const std::vector<FilterPartition>& partitions,
                      const Question& question, bool bytewise) {
  const size_t count = partitions.size();
  if (!bytewise) return {0, count - 1};
  const std::string key = question.Key();
  const auto at = std::lower_bound(
      partitions.begin(), partitions.end(), key,
      [](const FilterPartition& partition, const std::string& wanted) {
        return partition.index_key < wanted;
      });
  const auto first = static_cast<size_t>(at - partitions.begin());
  if (first == count) return {count - 1, count - 1};
  size_t last = first;
  if (!question.is_cell) {
    // A partition that ends with a key of the row may be followed by more.
    while (last + 1 < count &&
           partitions[last].index_key.starts_with(question.row_bytes)) {
      ++last;
    }
  }
  return {first, last};
}

// One file's filter, asked.
class Prober {
 public:
  Prober(const sst::SstFile& file, const ProbeVerbOptions& options,
         std::ostream& out, std::ostream& err)
      : file_(file), options_(options), out_(out), err_(err) {}

  ExitCode Run(ProbeCounts* counts) {
    const bool answered = Answer();
    if (answered) {
      Line("verdict", may_be_there_ ? "may be there" : "not there");
      ++counts->answered;
      if (may_be_there_) ++counts->may_be_there;
    }
    for (const std::string& problem : problems_) {
      out_ << "  problem: " << problem << "\n";
    }
    return worst_;
  }

 private:
  void Line(std::string_view name, std::string_view text) {
    out_ << fmt::format("  {:<9}  {}\n", name, text);
  }

  void Problem(size_t partition, const std::string& problem) {
    problems_.push_back(IsPartitioned()
                            ? fmt::format("partition {}: {}", partition + 1,
                                          WithoutControls(problem))
                            : WithoutControls(problem));
    worst_ = std::max(worst_, ExitCode::kFindings);
  }

  bool IsPartitioned() const {
    return file_.filter().form == sst::FilterForm::kPartitioned;
  }

  // Reads a partition. On failure reports it and returns false; as RocksDB
  // does, take the answer to be "may be there".
  bool Read(size_t index, std::string* contents) {
    const rocksdb::Status status =
        file_.ReadBlock(partitions_[index].handle, contents);
    if (status.ok()) return true;
    if (status.IsCorruption()) {
      Problem(index, MessageOf(status));
    } else {
      worst_ = std::max(worst_, ReportStatus(status, err_));
    }
    return false;
  }

  // Returns whether there is an answer, in may_be_there_.
  bool Answer() {
    may_be_there_ = true;
    if (file_.filter().form == sst::FilterForm::kNone) {
      Line("filter", "none");
      return true;
    }
    const rocksdb::Status status = file_.FilterPartitions(&partitions_);
    if (status.IsCorruption()) {
      Problem(0, MessageOf(status));
      return true;
    }
    if (!status.ok()) {
      worst_ = ReportStatus(status, err_);
      return false;
    }
    if (partitions_.empty()) {
      Line("filter", "no partitions");
      return true;
    }
    std::string contents;
    const size_t sample = FindRowbloomBlock(&contents);
    if (sample == partitions_.size()) {
      Line("filter", foreign_.empty() ? "unusable" : foreign_);
      return true;
    }
    if (!Encode(FilterBlock::Open(contents).layout_id())) return false;
    Ask(Choose(partitions_, question_, HasBytewiseOrder(file_)));
    return true;
  }

  // The first partition whose directory can be trusted and so names the key
  // layout; partitions_.size() when there is none. Damaged partitions before it
  // count only when they are asked.
  size_t FindRowbloomBlock(std::string* contents) {
    for (size_t i = 0; i < partitions_.size(); ++i) {
      if (!Read(i, contents)) continue;
      const std::string& policy = file_.filter().compatibility_name;
      const FilterOrigin origin = OriginOf(policy, *contents);
      if (origin != FilterOrigin::kRowbloom) {
        if (foreign_.empty()) foreign_ = Describe(origin, policy, *contents);
        continue;
      }
      const FilterBlock block = FilterBlock::Open(*contents);
      if (!block.sections().empty()) {
        problems_.clear();
        worst_ = ExitCode::kOk;
        return i;
      }
      Problem(i, block.problem());
    }
    return partitions_.size();
  }

  // Fills question_. On failure reports why and returns false.
  bool Encode(const std::string& layout_id) {
    const auto layout = KeyLayout::FromString(layout_id);
    if (!layout) {
      worst_ = ReportUsage(
          fmt::format("{}: {}", file_.path(), WithoutControls(layout.error())),
          err_);
      return false;
    }
    auto row_bytes = layout->EncodeRow(options_.row);
    if (!row_bytes) {
      worst_ = ReportUsage(
          fmt::format("{}: {}", file_.path(), row_bytes.error()), err_);
      return false;
    }
    question_.layout_id = layout_id;
    question_.row_bytes = *std::move(row_bytes);
    question_.is_cell = options_.qualifier.has_value();
    if (question_.is_cell) question_.qualifier = *options_.qualifier;
    return true;
  }

  void Ask(const PartitionRange& range) {
    may_be_there_ = false;
    for (size_t i = range.first; i <= range.last; ++i) AskPartition(i);

    if (IsPartitioned()) {
      Line("partition",
           range.first == range.last
               ? fmt::format("{} of {}", range.first + 1, partitions_.size())
               : fmt::format("{} to {} of {}", range.first + 1, range.last + 1,
                             partitions_.size()));
    }
    Line(row_is_prefix_ ? "ROWPREFIX" : "ROW", row_.Text());
    if (question_.is_cell) Line("ROWCOL", row_col_.Text());
  }

  void Unusable() {
    may_be_there_ = true;
    row_.Add(Verdict::kUnusable);
    row_col_.Add(Verdict::kUnusable);
  }

  void AskPartition(size_t index) {
    std::string contents;
    if (!Read(index, &contents)) return Unusable();
    const std::string& policy = file_.filter().compatibility_name;
    const FilterOrigin origin = OriginOf(policy, contents);
    const FilterBlock block = FilterBlock::Open(contents);
    if (origin != FilterOrigin::kRowbloom) {
      Problem(index, Describe(origin, policy, contents));
      return Unusable();
    }
    if (!block.usable()) {
      Problem(index, block.problem());
      return Unusable();
    }
    if (block.layout_id() != question_.layout_id) {
      Problem(index, fmt::format("key layout {} expected, found {}",
                                 question_.layout_id, block.layout_id()));
      return Unusable();
    }
    for (const FilterSection& section : block.sections()) {
      const Verdict verdict = block.AskSection(
          section.type, question_.row_bytes, question_.qualifier);
      switch (section.type) {
        case SectionType::kRowCol:
          row_col_.Add(verdict);
          break;
        case SectionType::kRow:
        case SectionType::kRowPrefix:
          row_is_prefix_ = section.type == SectionType::kRowPrefix;
          row_.Add(verdict);
          break;
      }
      // Damage counts where it was met.
      const bool asked =
          section.type != SectionType::kRowCol || question_.is_cell;
      if (asked && !section.usable()) {
        Problem(index,
                fmt::format("{} {}", ToString(section.type), section.problem));
      }
    }
    const bool may_match =
        question_.is_cell
            ? block.MayMatchRowCol(question_.row_bytes, question_.qualifier)
            : block.MayMatchRow(question_.row_bytes);
    may_be_there_ = may_be_there_ || may_match;
  }

  const sst::SstFile& file_;
  const ProbeVerbOptions& options_;
  std::ostream& out_;
  std::ostream& err_;
  std::vector<FilterPartition> partitions_;
  Question question_;
  SectionAnswer row_;
  SectionAnswer row_col_;
  bool row_is_prefix_ = false;
  bool may_be_there_ = true;
  std::string foreign_;  // what a block is that is not rowbloom's
  std::vector<std::string> problems_;
  ExitCode worst_ = ExitCode::kOk;
};

}  // namespace

ExitCode PrintProbe(const std::string& path, const ProbeVerbOptions& options,
                    std::ostream& out, std::ostream& err, ProbeCounts* counts) {
  std::unique_ptr<sst::SstFile> file;
  const rocksdb::Status status = sst::SstFile::Open(path, &file);
  if (!status.ok()) return ReportStatus(status, err);
  out << WithoutControls(path) << "\n";
  return Prober(*file, options, out, err).Run(counts);
}

}  // namespace rowbloom::sst_inspect

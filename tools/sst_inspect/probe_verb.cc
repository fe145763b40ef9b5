#include "tools/sst_inspect/probe_verb.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "rowbloom/filter_block.h"
#include "rowbloom/printable.h"
#include "tools/sst_inspect/decoded_filter.h"
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/filter_origin.h"
#include "tools/sst_inspect/format_verbs.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/verbs.h"

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
    return present_ ? "not asked: it holds no empty qualifiers"
                    : "no such section";
  }

 private:
  static int Rank(Verdict verdict) {
    switch (verdict) {
      case Verdict::kNotProbed:
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

  Verdict verdict_ = Verdict::kNotProbed;
  bool present_ = false;
};

bool HasBytewiseOrder(const TableFile& file) {
  return file.key_order() == sst::KeyOrder::kBytewise &&
         file.timestamp_bytes() == 0;
}

// The partitions to probe. REQUIRES at least one.
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

// The lookup in one file's filter.
class Prober {
 public:
  Prober(const TableFile& file, const ProbeArgs& args, const Output& output)
      : file_(file),
        args_(args),
        output_(output),
        record_("probe", ToPrintable(file.path())) {}

  ExitCode Run(ProbeCounts* counts) {
    if (!output_.json) {
      output_.out << WithoutControls(file_.path()) << "\n";
    }
    const bool answered = Answer();
    if (answered) {
      Line("verdict", may_be_there_ ? "may be there" : "not there");
      ++counts->answered;
      if (may_be_there_) ++counts->may_be_there;
      if (is_encoded_) LookUp(counts);
    }
    if (output_.json) {
      if (answered) record_.Print(output_.out);
    }
    for (const std::string& problem : problems_) {
      if (output_.json) {
        Record("problem", ToPrintable(file_.path()))
            .Text("problem", problem)
            .Print(output_.out);
      } else {
        output_.out << "  problem: " << problem << "\n";
      }
    }
    return worst_;
  }

 private:
  void Line(std::string_view name, std::string_view text) {
    if (!output_.json) {
      output_.out << fmt::format("  {:<9}  {}\n", name, text);
      return;
    }
    std::string member(name);
    std::replace(member.begin(), member.end(), ' ', '_');
    record_.Text(member, text);
  }

  void Problem(size_t partition, const std::string& problem) {
    problems_.push_back(IsPartitioned()
                            ? fmt::format("partition {}: {}", partition + 1,
                                          WithoutControls(problem))
                            : WithoutControls(problem));
    worst_ = std::max(worst_, ExitCode::kFinding);
  }

  bool IsPartitioned() const {
    return file_.filter().form == sst::FilterForm::kPartitioned;
  }

  // Reads a partition. On failure reports it and returns false; as RocksDB
  // does, take the answer to be "may be there".
  bool Read(size_t index, std::string* contents) {
    const rocksdb::Status status =
        file_.ReadFilter(partitions_[index].handle, contents);
    if (status.ok()) return true;
    if (status.IsCorruption()) {
      Problem(index, Describe(status));
    } else {
      worst_ = std::max(worst_, Judge(output_.err, status));
    }
    return false;
  }

  // Returns whether there is an answer, in may_be_there_.
  bool Answer() {
    may_be_there_ = true;
    if (file_.filter().form == sst::FilterForm::kNone) {
      Line("filter", "none");
      return EncodeWithoutFilter();
    }
    const rocksdb::Status status = file_.FilterPartitions(&partitions_);
    if (status.IsCorruption()) {
      Problem(0, Describe(status));
      return true;
    }
    if (!status.ok()) {
      worst_ = Judge(output_.err, status);
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
      if (!EncodeWithoutFilter()) return false;
      if (is_encoded_ && !foreign_.empty()) AskStock();
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
        if (origin == FilterOrigin::kUnknown) continue;
        // RocksDB's own: so are the others.
        problems_.clear();
        worst_ = ExitCode::kOk;
        return partitions_.size();
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
    question_.layout_id = layout_id;
    if (args_.key) {
      SetKey(*args_.key);
      const auto layout = KeyLayout::FromString(layout_id);
      const auto split =
          layout ? layout->Split(question_.row_bytes) : std::nullopt;
      if (split) {
        question_.row_bytes = std::string(split->row);
        question_.qualifier =
            std::string_view(*args_.key).substr(split->row.size());
      }
      is_outside_layout_ = !split.has_value();
      return true;
    }
    const auto layout = KeyLayout::FromString(layout_id);
    if (!layout) {
      worst_ = Fail(output_.err, fmt::format("{}: {}", file_.path(),
                                             WithoutControls(layout.error())));
      return false;
    }
    auto row_bytes = layout->EncodeRow(args_.row);
    if (!row_bytes) {
      worst_ = Fail(output_.err,
                    fmt::format("{}: {}", file_.path(), row_bytes.error()));
      return false;
    }
    question_.row_bytes = *std::move(row_bytes);
    question_.is_cell = args_.qualifier.has_value();
    if (question_.is_cell) question_.qualifier = *args_.qualifier;
    is_encoded_ = true;
    return true;
  }

  void SetKey(const std::string& key) {
    question_.row_bytes = key;
    question_.is_cell = true;
    is_encoded_ = true;
  }

  // Fills question_ for a file whose filter names no layout, if there is one to
  // be had. False after a failure that was reported.
  bool EncodeWithoutFilter() {
    if (args_.key) {
      SetKey(*args_.key);
      return true;
    }
    KeyFormat format;
    const rocksdb::Status status =
        FormatOf(file_, args_.key_layout, false, &format);
    if (!status.ok()) {
      worst_ = std::max(worst_, Judge(output_.err, status));
      return false;
    }
    return !format.layout || Encode(format.layout->ToString());
  }

  // RocksDB's own filter: the whole key, or a row as a prefix.
  void AskStock() {
    const TableFacts facts = file_.Facts();
    const PrefixRule prefix_of = PrefixRuleOf(facts.prefix_extractor);
    const std::string key = question_.Key();
    const bool as_key = question_.is_cell && facts.whole_key_filter;
    const bool as_prefix = !question_.is_cell && facts.prefix_filter &&
                           prefix_of && prefix_of(key) == key;
    const std::string_view name = question_.is_cell ? "key" : "prefix";
    FilterAsker asker;
    rocksdb::Status status = asker.Open(file_);
    if (!status.ok() || !asker.askable() || !(as_key || as_prefix)) {
      Line(name, "not asked: the filter has no such entries");
      return;
    }
    const DecodedFilter* filter = asker.FilterFor(key, &status);
    if (filter == nullptr || !filter->stock()) {
      Line(name, "unusable");
      return;
    }
    if (IsPartitioned()) {
      Line("partition", fmt::format("{} of {}", asker.partition() + 1,
                                    asker.partition_count()));
    }
    may_be_there_ =
        as_key ? filter->KeyMayMatch(key) : filter->PrefixMayMatch(key);
    Line(name, may_be_there_ ? "may be there" : "not there");
  }

  // Tells whether the file really has what was asked for, deleted or not.
  void LookUp(ProbeCounts* counts) {
    const std::string wanted = question_.Key();
    const auto matches = [&](std::string_view key) {
      return question_.is_cell ? key == wanted : key.starts_with(wanted);
    };
    const KeyFormat format{.timestamp_bytes = file_.timestamp_bytes()};
    const std::unique_ptr<CellReader> cells = file_.NewCellReader();
    // The keys of a row come before the row itself in a reversed order.
    const bool bytewise = file_.key_order() == sst::KeyOrder::kBytewise;
    if (bytewise || question_.is_cell) cells->SkipTo(wanted);
    bool found = false;
    while (!found && cells->Next()) {
      const std::string_view key =
          format.WithoutTimestamp(cells->cell().user_key);
      found = matches(key);
      if (!found && bytewise && key > wanted) break;
    }
    if (found) {
      const Cell cell = cells->cell();
      Line("in file", fmt::format("yes, {} with sequence number {}",
                                  file_.TypeName(cell.type), cell.sequence));
      ++counts->really_there;
      if (!may_be_there_) {
        problems_.push_back("false negative: it is in the file");
        worst_ = std::max(worst_, ExitCode::kFinding);
      }
    } else if (cells->status().ok()) {
      Line("in file", "no");
    } else {
      Line("in file", "not known");
      if (cells->status().IsCorruption()) {
        problems_.push_back(Describe(cells->status()));
        worst_ = std::max(worst_, ExitCode::kFinding);
      } else {
        worst_ = std::max(worst_, Judge(output_.err, cells->status()));
      }
    }
  }

  void Ask(const PartitionRange& range) {
    may_be_there_ = false;
    for (size_t i = range.first; i <= range.last; ++i) AskPartition(i);
    if (is_outside_layout_ && !has_whole_keys_) {
      Line("filter", "has no keys outside the layout, such as this one");
      return;
    }

    if (IsPartitioned()) {
      Line("partition",
           range.first == range.last
               ? fmt::format("{} of {}", range.first + 1, partitions_.size())
               : fmt::format("{} to {} of {}", range.first + 1, range.last + 1,
                             partitions_.size()));
    }
    if (is_outside_layout_) {
      Line("outside the layout", row_.Text());
      return;
    }
    Line(row_is_prefix_ ? "ROWPREFIX" : "ROW", row_.Text());
    if (question_.is_cell) Line("ROWCOL", row_col_.Text());
  }

  void Unusable() {
    may_be_there_ = true;
    has_whole_keys_ = true;  // for all that is known
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
    if (is_outside_layout_) {
      const MatchResult result = block.MayMatch(question_.Key());
      row_.Add(result.row_col() == Verdict::kNotProbed ? result.row()
                                                       : result.row_col());
      has_whole_keys_ = has_whole_keys_ || block.whole_keys().has_value();
      may_be_there_ = may_be_there_ || result.may_match();
      return;
    }
    for (const FilterSection& section : block.sections()) {
      const Verdict verdict = block.ProbeSection(
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

  const TableFile& file_;
  const ProbeArgs& args_;
  const Output& output_;
  Record record_;
  std::vector<FilterPartition> partitions_;
  Question question_;
  bool is_encoded_ = false;  // question_ is filled
  bool is_outside_layout_ = false;
  bool has_whole_keys_ = false;  // keys outside the layout
  SectionAnswer row_;
  SectionAnswer row_col_;
  bool row_is_prefix_ = false;
  bool may_be_there_ = true;
  std::string foreign_;  // the kind of a block that is not rowbloom's
  std::vector<std::string> problems_;
  ExitCode worst_ = ExitCode::kOk;
};

ExitCode PrintProbe(const TableFile& file, const ProbeArgs& args,
                    const Output& output, ProbeCounts* counts) {
  if (const FormatVerbs* own = file.own_verbs()) {
    return own->PrintProbe(args, output, counts);
  }
  return Prober(file, args, output).Run(counts);
}

ExitCode Probe(const ProbeArgs& args, const Streams& streams) {
  ProbeArgs typed = args;
  typed.row = FromPrintable(args.row);
  typed.qualifier = Typed(args.qualifier);
  typed.key = Typed(args.key);
  const Output output{streams.out, streams.err, args.json};
  ProbeCounts counts;
  const ExitCode worst = args.ForEachFile(streams, [&](const TableFile& file) {
    return PrintProbe(file, typed, output, &counts);
  });
  if (counts.answered > 1 && !args.json) {
    streams.out << counts.may_be_there << " of " << counts.answered
                << " files may hold "
                << (args.key         ? "the key"
                    : args.qualifier ? "the cell"
                                     : "the row")
                << "\n";
  }
  return worst;
}

}  // namespace

Action AddProbe(CLI::App* command) {
  const auto args = std::make_shared<ProbeArgs>();
  args->AddTo(command);
  CLI::Option_group* const what = command->add_option_group("question");
  what->add_option("--row", args->row,
                   "The application's row; \\xHH stands for any byte")
      ->type_name("ROW");
  CLI::Option* const key =
      what->add_option("--key", args->key,
                       "A whole key as it is in the file, \\xHH for any byte")
          ->type_name("KEY");
  what->require_option(1);
  command
      ->add_option("--qualifier", args->qualifier,
                   "The qualifier; without it only the row is asked")
      ->type_name("QUALIFIER")
      ->excludes(key);
  args->AddKeyLayoutTo(command);
  return [args](const Streams& streams) { return Probe(*args, streams); };
}

}  // namespace rowbloom::sst_inspect

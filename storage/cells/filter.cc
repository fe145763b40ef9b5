#include "rowbloom/filter.h"

#include <re2/re2.h>

#include <algorithm>

#include "rowbloom/printable.h"
#include "storage/cells/filter_run.h"
#include "storage/format/status_text.h"

namespace rowbloom {

using rocksdb::Status;
using NodeKind = Filter::Node::Kind;

Match Match::Regex(const std::string& pattern) {
  re2::RE2::Options options;
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  options.set_dot_nl(true);
  options.set_log_errors(false);
  Match match(Kind::kRegex, {});
  match.regex_ = std::make_shared<const re2::RE2>(pattern, options);
  if (!match.regex_->ok()) {
    match.status_ = InvalidArgument(
        "expected a regular expression of RE2, found one with an error: ",
        ToPrintable(match.regex_->error()));
  }
  return match;
}

bool Match::Fits(std::string_view bytes) const {
  // Below 0 for less. The first bytes mostly decide it, without a call.
  const auto order = [&]() -> int {
    if (bytes.empty() || bytes_.empty() || bytes[0] == bytes_[0]) {
      return bytes.compare(bytes_);
    }
    return static_cast<unsigned char>(bytes[0]) -
           static_cast<unsigned char>(bytes_[0]);
  };
  switch (kind_) {
    case Kind::kLess:
      return order() < 0;
    case Kind::kAtMost:
      return order() <= 0;
    case Kind::kEqual:
      return bytes == bytes_;
    case Kind::kAtLeast:
      return order() >= 0;
    case Kind::kGreater:
      return order() > 0;
    case Kind::kPrefix:
      return bytes.starts_with(bytes_);
    case Kind::kSubstring:
      return bytes.find(bytes_) != std::string_view::npos;
    case Kind::kRegex:
      return regex_->Match({bytes.data(), bytes.size()}, 0, bytes.size(),
                           re2::RE2::UNANCHORED, nullptr, 0);
  }
  return false;
}

Filter Filter::Row(const Match& match) {
  return Make({.kind = NodeKind::kRow, .match = match});
}
Filter Filter::Family(const Match& match) {
  return Make({.kind = NodeKind::kFamily, .match = match});
}
Filter Filter::Qualifier(const Match& match) {
  return Make({.kind = NodeKind::kQualifier, .match = match});
}
Filter Filter::Value(const Match& match) {
  return Make({.kind = NodeKind::kValue, .match = match});
}
Filter Filter::Timestamp(const TimeRange& range) {
  return Make({.kind = NodeKind::kTimestamp, .range = range});
}
Filter Filter::And(std::vector<Filter> filters) {
  return Make({.kind = NodeKind::kAnd, .parts = std::move(filters)});
}
Filter Filter::Or(std::vector<Filter> filters) {
  return Make({.kind = NodeKind::kOr, .parts = std::move(filters)});
}
Filter Filter::Not(const Filter& filter) {
  return Make({.kind = NodeKind::kNot, .parts = {filter}});
}
Filter Filter::FirstCell() { return Make({.kind = NodeKind::kFirstCell}); }
Filter Filter::Page(uint64_t rows) {
  return Make({.kind = NodeKind::kPage, .rows = rows});
}
Filter Filter::RowsWith(const Filter& filter) {
  return Make({.kind = NodeKind::kRowsWith, .parts = {filter}});
}

Status Filter::status() const {
  return root_ == nullptr ? Status::OK() : root_->status;
}

Filter Filter::Make(Node node) {
  if (node.match) node.status = node.match->status();
  node.has_page = node.kind == NodeKind::kPage;
  bool stateless_parts = true;
  for (const Filter& part : node.parts) {
    node.size += part.root_ == nullptr ? 1 : part.root_->size;
    if (part.root_ == nullptr) continue;
    if (node.status.ok()) node.status = part.root_->status;
    node.depth = std::max(node.depth, part.root_->depth + 1);
    node.has_page |= part.root_->has_page;
    stateless_parts &= part.root_->is_stateless;
    node.needs_key |= part.root_->needs_key;
  }
  node.is_stateless = stateless_parts && node.kind != NodeKind::kPage &&
                      node.kind != NodeKind::kFirstCell &&
                      node.kind != NodeKind::kRowsWith;
  node.needs_key |= !node.is_stateless || node.kind == NodeKind::kRow ||
                    node.kind == NodeKind::kQualifier;
  if (node.status.ok() && node.kind == NodeKind::kRowsWith &&
      !stateless_parts) {
    node.status = Status::InvalidArgument(
        "a filter has Page, FirstCell or RowsWith in a RowsWith");
  }
  if (node.status.ok() && node.depth > kMaxDepth) {
    node.status = InvalidArgument("filters are nested deeper than ", kMaxDepth,
                                  " levels");
  }
  if (node.status.ok() && node.size > kMaxSize) {
    node.status =
        InvalidArgument("a filter has more than ", kMaxSize, " parts");
  }
  // A filter with an error keeps only that, so that trees are never deep.
  if (!node.status.ok()) node.parts.clear();
  return Filter(std::make_shared<const Node>(std::move(node)));
}

void FilterRun::MakeStep(const Filter& filter, Step* step) {
  static const Filter::Node keeps_all;
  step->node = filter.root() == nullptr ? &keeps_all : filter.root();
  if (step->node->kind == NodeKind::kRow) of_rows_.push_back(step);
  if (step->node->kind == NodeKind::kRowsWith) rows_with_.push_back(step);
  step->parts.resize(step->node->parts.size());
  for (size_t i = 0; i < step->parts.size(); ++i) {
    MakeStep(step->node->parts[i], &step->parts[i]);
  }
}

void FilterRun::BeginRow(std::string_view row) {
  ++row_number_;
  for (Step* step : of_rows_) step->fits = step->node->match->Fits(row);
  BeginPass(/*looks=*/LooksFirst());
}

void FilterRun::Look(const FilteredCell& cell) {
  row_is_done_ = true;
  for (Step* step : rows_with_) {
    if (step->row == row_number_) continue;
    if (VerdictOf(&step->parts.front(), cell) == Verdict::kKeep) {
      step->row = row_number_;
    } else {
      row_is_done_ = false;
    }
  }
}

FilterRun::Verdict FilterRun::VerdictOf(Step* step, const FilteredCell& cell) {
  const Filter::Node& node = *step->node;
  const auto keep_if = [](bool keep, Verdict otherwise) {
    return keep ? Verdict::kKeep : otherwise;
  };
  switch (node.kind) {
    case NodeKind::kRow:
      return keep_if(step->fits, Verdict::kDropRow);
    case NodeKind::kFamily:
      return keep_if(node.match->Fits(cell.family), Verdict::kDrop);
    case NodeKind::kQualifier:
      return keep_if(node.match->Fits(cell.qualifier), Verdict::kDrop);
    case NodeKind::kValue:
      return keep_if(node.match->Fits(cell.value), Verdict::kDrop);
    case NodeKind::kTimestamp:
      return keep_if(node.range.Contains(cell.timestamp_ms), Verdict::kDrop);
    case NodeKind::kFirstCell:
      return keep_if(std::exchange(step->row, row_number_) != row_number_,
                     Verdict::kDropRow);
    case NodeKind::kPage:
      if (step->row != row_number_) {
        if (step->rows == node.rows) return Verdict::kDropRow;
        step->row = row_number_;
        ++step->rows;
      }
      return Verdict::kKeep;
    case NodeKind::kRowsWith:
      return keep_if(step->row == row_number_, Verdict::kDropRow);
    default:
      return VerdictOfParts(step, cell);
  }
}

// This is a separate function, as VerdictOf is faster without a loop in it.
FilterRun::Verdict FilterRun::VerdictOfParts(Step* step,
                                             const FilteredCell& cell) {
  Verdict least = Verdict::kDropRow;
  switch (step->node->kind) {
    case NodeKind::kNot:
      return VerdictOf(&step->parts.front(), cell) == Verdict::kKeep
                 ? Verdict::kDrop
                 : Verdict::kKeep;
    case NodeKind::kAnd:
      for (auto part = step->parts.begin(); part != step->parts.end(); ++part) {
        const Verdict verdict = VerdictOf(&*part, cell);
        if (verdict == Verdict::kKeep) continue;
        // A Page before this part may see a later cell of the row.
        return verdict == Verdict::kDropRow &&
                       std::any_of(
                           step->parts.begin(), part,
                           [this](const Step& one) { return MayNote(one); })
                   ? Verdict::kDrop
                   : verdict;
      }
      return Verdict::kKeep;
    default:  // kOr
      for (Step& part : step->parts) {
        if (least == Verdict::kKeep && part.node->is_stateless) continue;
        least = std::min(least, VerdictOf(&part, cell));
      }
      return step->parts.empty() ? Verdict::kKeep : least;
  }
}

bool FilterRun::MayNote(const Step& step) const {
  if (step.node->kind == NodeKind::kPage) {
    return step.rows != step.node->rows && step.row != row_number_;
  }
  return step.node->has_page &&
         std::ranges::any_of(
             step.parts, [this](const Step& part) { return MayNote(part); });
}

bool FilterRun::DropsAll(const Step& step, bool of_this_row) const {
  const Filter::Node& node = *step.node;
  const auto drops_all = [&](const Step& part) {
    return DropsAll(part, of_this_row);
  };
  switch (node.kind) {
    case NodeKind::kRow:
      return of_this_row && !step.fits;
    case NodeKind::kRowsWith:
      return of_this_row && !looks_ && step.row != row_number_;
    case NodeKind::kPage:
      return step.rows == node.rows &&
             !(of_this_row && step.row == row_number_);
    case NodeKind::kAnd:
      for (const Step& part : step.parts) {
        if (drops_all(part)) return true;
        // A Page notes the row, whatever the parts after it drop.
        if (of_this_row && part.node->has_page) return false;
      }
      return false;
    case NodeKind::kOr:
      return !step.parts.empty() &&
             std::all_of(step.parts.begin(), step.parts.end(), drops_all);
    default:
      return false;
  }
}

}  // namespace rowbloom

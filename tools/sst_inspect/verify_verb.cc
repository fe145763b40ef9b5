#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/filter_check.h"
#include "tools/sst_inspect/format_verbs.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

using rocksdb::Status;

// One file, checked from end to end in one pass over its data.
class Verifier {
 public:
  Verifier(const TableFile& file, KeyFormat format, const Output& output)
      : file_(file),
        facts_(file.Facts()),
        format_(std::move(format)),
        output_(output),
        order_(file.key_order()),
        ordered_(order_ != sst::KeyOrder::kUnknown),
        order_tells_keys_(ordered_ && format_.timestamp_bytes == 0),
        filter_(file, format_) {}

  ExitCode Run() {
    if (!output_.json) {
      output_.out << WithoutControls(file_.path()) << "\n";
    }
    CheckOtherBlocks();
    OpenFilter();
    CheckCells();
    CheckFilter();
    CheckRangeDeletions();
    CheckProperties();
    Report();
    return worst_;
  }

 private:
  // Prints the first of them as they come.
  void Problem(const std::string& text) {
    constexpr uint64_t kMostPrinted = FilterCheck::kMostProblems;
    worst_ = std::max(worst_, ExitCode::kFinding);
    ++problems_;
    if (problems_ > kMostPrinted) return;
    if (output_.json) {
      Record("problem", ToPrintable(file_.path()))
          .Text("problem", WithoutControls(text))
          .Print(output_.out);
    } else {
      output_.out << "  problem: " << WithoutControls(text) << "\n";
    }
  }

  void Failure(const Status& status) {
    if (status.IsCorruption()) {
      Problem(Describe(status));
    } else {
      worst_ = std::max(worst_, Judge(output_.err, status));
      complete_ = false;
    }
  }

  void Note(const std::string& text) {
    if (!notes_.insert(text).second) return;
    if (output_.json) {
      Record("note", ToPrintable(file_.path()))
          .Text("note", WithoutControls(text))
          .Print(output_.out);
    } else {
      output_.out << "  note: " << WithoutControls(text) << "\n";
    }
  }

  std::string KeyText(std::string_view key) const {
    return format_.ShortText(key);
  }

  void CheckOtherBlocks() {
    const auto check = [this](const BlockInfo& block) {
      ++blocks_;
      if (block.status.ok()) return;
      ++damaged_blocks_;
      Failure(block.status);
      told_.insert(block.status.ToString());
    };
    const Status status =
        file_.ForEachBlock(TableFile::Blocks::kAllButData, check);
    if (!status.ok()) Failure(status);
  }

  void OpenFilter() {
    const Status status = filter_.Open();
    if (!status.ok() && !status.IsCorruption()) Failure(status);
    if (!ordered_) {
      Note("the order of keys is not checked: comparator " + facts_.comparator +
           " is not known");
    }
  }

  void CheckCells() {
    const std::unique_ptr<CellReader> cells = file_.NewCellReader();
    do {
      while (cells->NextBlock()) {
        ++blocks_;
        ++data_blocks_;
        const IndexEntryInfo block = cells->block();
        bool empty = true;
        for (auto entries = cells->NextEntries(); !entries.empty();
             entries = cells->NextEntries()) {
          if (empty) CheckFirst(entries.front(), block);
          empty = false;
          CheckEntries(entries, block);
        }
        if (!cells->block_status().ok()) {
          ++damaged_blocks_;
          complete_ = false;
          Failure(cells->block_status());
        } else {
          CheckLast(block, empty);
        }
      }
      if (!cells->index_status().ok()) {
        complete_ = false;
        // Damage of an index block was met before.
        if (!told_.contains(cells->index_status().ToString())) {
          Failure(cells->index_status());
        }
      }
    } while (cells->SkipDamagedPartition());
  }

  int Compare(std::string_view a, std::string_view b) const {
    return CompareUserKeys(order_, format_.timestamp_bytes, a, b);
  }

  // Compares what is behind the bytes that they share; mostly one tells.
  int CompareWithLast(const Cell& last, const Cell& cell) const {
    if (!order_tells_keys_) return Compare(last.user_key, cell.user_key);
    const size_t shared = std::min(
        {cell.shared_key_bytes, last.user_key.size(), cell.user_key.size()});
    return Compare(last.user_key.substr(shared), cell.user_key.substr(shared));
  }

  void CheckFirst(const Cell& cell, const IndexEntryInfo& block) {
    if (ordered_ && has_index_key_ && Compare(cell.user_key, index_key_) < 0) {
      Problem(fmt::format(
          "{}: block at offset {}: first key {} comes before {}, up to which "
          "the index says the block before it goes",
          file_.path(), block.handle.offset_bytes, KeyText(cell.user_key),
          KeyText(index_key_)));
    }
    if (!block.first_key.empty() && block.first_key != cell.stored_key) {
      Problem(fmt::format(
          "{}: block at offset {}: first key {} expected by the index, found "
          "{}",
          file_.path(), block.handle.offset_bytes, KeyText(block.first_key),
          KeyText(cell.stored_key)));
    }
  }

  void CheckLast(const IndexEntryInfo& block, bool empty) {
    if (empty) {
      Problem(fmt::format("{}: block at offset {}: no entries, expected some",
                          file_.path(), block.handle.offset_bytes));
      return;
    }
    if (ordered_ && Compare(last_user_key_, block.user_key) > 0) {
      Problem(fmt::format(
          "{}: block at offset {}: last key {} comes after {}, up to which the "
          "index says it goes",
          file_.path(), block.handle.offset_bytes, KeyText(last_user_key_),
          KeyText(block.user_key)));
    }
    has_index_key_ = true;
    index_key_.assign(block.user_key);
  }

  // REQUIRES entries of one block, the next ones.
  void CheckEntries(std::span<const Cell> entries,
                    const IndexEntryInfo& block) {
    std::array<std::string_view, CellReader::kMostCells> keys;
    size_t key_count = 0;
    bool ascending = ordered_;
    const Cell before{.user_key = last_user_key_,
                      .stored_key = last_stored_key_};
    const Cell* last = cells_ > 0 ? &before : nullptr;
    for (const Cell& cell : entries) {
      CheckType(cell, block);
      const int order =
          ordered_ && last != nullptr ? CompareWithLast(*last, cell) : -1;
      if (order >= 0) CheckVersions(order, *last, cell, block);
      ascending = ascending && order <= 0;
      const std::string_view key = format_.WithoutTimestamp(cell.user_key);
      const bool new_key =
          order_tells_keys_
              ? order != 0
              : last == nullptr ||
                    key != format_.WithoutTimestamp(last->user_key);
      if (new_key) keys[key_count++] = key;
      last = &cell;
    }
    cells_ += entries.size();
    last_user_key_.assign(last->user_key);
    last_stored_key_.assign(last->stored_key);
    filter_.Add({keys.data(), key_count}, ascending);
  }

  void CheckType(const Cell& cell, const IndexEntryInfo& block) {
    const auto type = static_cast<sst::EntryType>(cell.type);
    deletions_ += sst::IsDeletion(type) ? 1 : 0;
    if (type == sst::EntryType::kPut || sst::IsPointEntry(type)) return;
    Problem(fmt::format("{}: block at offset {}: key {} has {}", file_.path(),
                        block.handle.offset_bytes, KeyText(cell.user_key),
                        ToString(type)));
  }

  // Checks two cells whose user keys do not rise.
  void CheckVersions(int order, const Cell& last, const Cell& cell,
                     const IndexEntryInfo& block) {
    // The latest write of a key comes first: sequence and type, as a
    // little-endian number, fall.
    const auto packed = [](std::string_view stored) {
      uint64_t value = 0;
      for (size_t i = 1; i <= sst::kInternalKeySuffixBytes; ++i) {
        value =
            value << 8 | static_cast<unsigned char>(stored[stored.size() - i]);
      }
      return value;
    };
    if (order == 0 && packed(last.stored_key) > packed(cell.stored_key)) {
      return;
    }
    Problem(fmt::format(
        "{}: block at offset {}: key {}@{} out of order after "
        "{}",
        file_.path(), block.handle.offset_bytes, KeyText(cell.user_key),
        cell.sequence, KeyText(last.user_key)));
  }

  void CheckRangeDeletions() {
    const Status status = file_.ForEachRangeDeletion(
        [this](const TableFile::RangeDeletion& range) {
          ++range_deletions_;
          if (!ordered_ ||
              CompareUserKeys(file_.key_order(), 0,
                              format_.WithoutTimestamp(range.start),
                              format_.WithoutTimestamp(range.end)) <= 0) {
            return;
          }
          Problem(fmt::format(
              "{}: range deletion of [{}, {}) ends before it "
              "starts",
              file_.path(), KeyText(range.start), KeyText(range.end)));
        });
    if (!status.ok()) Failure(status);
  }

  // Reports the filter's answers to the cells.
  void CheckFilter() {
    asked_ = filter_.Finish();
    for (const std::string& note : asked_.notes) Note(note);
    for (const std::string& problem : asked_.problems) Problem(problem);
    problems_ += asked_.problem_count - asked_.problems.size();
  }

  // Checks the properties of a file that was read whole.
  void CheckProperties() {
    if (!complete_ || problems_ > 0) return;
    const auto check = [this](std::string_view name,
                              const std::optional<uint64_t>& expected,
                              uint64_t found) {
      if (!expected || *expected == found) return;
      Problem(fmt::format("{}: properties say {} {}, found {}", file_.path(),
                          *expected, name, found));
    };
    check("entries", facts_.entries, cells_ + range_deletions_);
    check("deletions", facts_.deletions, deletions_ + range_deletions_);
    check("range deletions", facts_.range_deletions, range_deletions_);
    check("data blocks", facts_.data_blocks, data_blocks_);
  }

  void Report() {
    const std::string_view verdict =
        worst_ == ExitCode::kOk
            ? "fine"
            : (worst_ == ExitCode::kFinding ? "damaged" : "not known");
    if (output_.json) {
      Record("verify", ToPrintable(file_.path()))
          .Number("blocks", blocks_)
          .Number("damaged_blocks", damaged_blocks_)
          .Number("cells", cells_)
          .Number("range_deletions", range_deletions_)
          .Number("keys_asked", asked_.keys_asked)
          .Number("rows_asked", asked_.rows_asked)
          .Number("false_negatives", asked_.false_negatives)
          .Number("problems", problems_)
          .Text("verdict", verdict)
          .Print(output_.out);
      return;
    }
    const auto line = [this](std::string_view name, const std::string& text) {
      output_.out << fmt::format("  {:<7}  {}\n", name, text);
    };
    line("blocks", fmt::format("{} read, {} damaged", Grouped(blocks_),
                               Grouped(damaged_blocks_)));
    line("cells", fmt::format("{}, {} range deletions", Grouped(cells_),
                              Grouped(range_deletions_)));
    line("filter",
         !filter_.has_filter()
             ? "none"
             : fmt::format("{} keys and {} rows or prefixes asked, {} false "
                           "negatives",
                           Grouped(asked_.keys_asked),
                           Grouped(asked_.rows_asked),
                           Grouped(asked_.false_negatives)));
    if (problems_ > 0) line("problems", Grouped(problems_));
    line("verdict", std::string(verdict));
  }

  const TableFile& file_;
  const TableFacts facts_;
  const KeyFormat format_;
  const Output& output_;
  const sst::KeyOrder order_;
  const bool ordered_;
  const bool order_tells_keys_;  // keys that are not equal differ to the filter
  FilterCheck filter_;
  FilterCheck::Findings asked_;

  ExitCode worst_ = ExitCode::kOk;
  std::set<std::string> notes_;
  bool complete_ = true;        // all that the file names was read
  std::set<std::string> told_;  // problems of blocks other than data
  uint64_t problems_ = 0;
  uint64_t blocks_ = 0;
  uint64_t data_blocks_ = 0;
  uint64_t damaged_blocks_ = 0;
  uint64_t cells_ = 0;
  uint64_t deletions_ = 0;
  uint64_t range_deletions_ = 0;

  std::string last_user_key_;
  std::string last_stored_key_;
  bool has_index_key_ = false;
  std::string index_key_;  // the previous block's
};

ExitCode PrintVerify(const TableFile& file, const FileArgs& args,
                     const Output& output) {
  if (const FormatVerbs* own = file.own_verbs()) {
    return own->PrintVerify(args, output);
  }
  KeyFormat format;
  const Status status = FormatOf(file, args.key_layout, false, &format);
  if (!status.ok()) return Judge(output.err, status);
  return Verifier(file, std::move(format), output).Run();
}

}  // namespace

Action AddVerify(CLI::App* command) {
  const auto args = std::make_shared<FileArgs>();
  args->AddTo(command);
  args->AddKeyLayoutTo(command);
  return EachFile(args, PrintVerify);
}

}  // namespace rowbloom::sst_inspect

#include <fmt/format.h>

#include <ostream>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/record.h"
#include "tools/sst_inspect/text.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

// Prints cells from `from` on, up to where they stop being wanted.
class DataPrinter {
 public:
  DataPrinter(const TableFile& file, const DataOptions& options,
              KeyFormat format, const Output& output)
      : file_(file),
        options_(options),
        format_(std::move(format)),
        output_(output) {}

  ExitCode Run() {
    if (const ExitCode code = ChooseRange(); code != ExitCode::kOk) return code;
    if (!output_.json) output_.out << WithoutControls(file_.path()) << "\n";
    const std::unique_ptr<CellReader> cells = file_.NewCellReader();
    if (from_) cells->SkipTo(*from_);
    uint64_t left = options_.limit;
    while (left > 0 && cells->Next()) {
      const Cell cell = cells->cell();
      const std::string_view key = format_.WithoutTimestamp(cell.user_key);
      if (IsPast(BoundOf(key))) break;
      if (!IsWanted(key)) continue;
      Print(cell, key);
      --left;
    }
    rocksdb::Status status = cells->status();
    if (status.ok() && left > 0) status = PrintRangeDeletions();
    return status.ok() ? ExitCode::kOk : ReportStatus(status, output_.err);
  }

 private:
  bool IsOrdered() const {
    return file_.key_order() != sst::KeyOrder::kUnknown;
  }
  int Compare(std::string_view a, std::string_view b) const {
    const sst::KeyOrder order =
        IsOrdered() ? file_.key_order() : sst::KeyOrder::kBytewise;
    return CompareUserKeys(order, 0, a, b);
  }

  ExitCode ChooseRange() {
    from_ = options_.from;
    if (!options_.row) return ExitCode::kOk;
    if (!format_.has_rows()) {
      return ReportUsage(
          WithoutControls(file_.path()) +
              ": no key layout known for --row, give --key-layout",
          output_.err);
    }
    auto row = format_.EncodeRow(*options_.row);
    if (!row) {
      return ReportUsage(
          WithoutControls(file_.path()) + ": " + WithoutControls(row.error()),
          output_.err);
    }
    row_ = *std::move(row);
    // The row itself would be its last key in a reversed order.
    if (!from_ && file_.key_order() == sst::KeyOrder::kBytewise) from_ = row_;
    return ExitCode::kOk;
  }

  // The part of a key that is compared with --from and --to: for HFiles the
  // row.
  std::string_view BoundOf(std::string_view key) const {
    if (file_.key_form() != KeyForm::kHFile) return key;
    const auto parts = format_.Split(key);
    return parts ? parts->row : key;
  }

  // Tells whether no key from here on is wanted.
  bool IsPast(std::string_view key) const {
    if (!IsOrdered()) return false;
    if (options_.to && Compare(key, *options_.to) >= 0) return true;
    return row_ && file_.key_order() == sst::KeyOrder::kBytewise &&
           key > *row_ && !key.starts_with(*row_);
  }

  bool IsWanted(std::string_view key) const {
    const std::string_view bound = BoundOf(key);
    if (from_ && Compare(bound, *from_) < 0) return false;
    if (options_.to && Compare(bound, *options_.to) >= 0) return false;
    if (!row_) return true;
    const auto split = format_.Split(key);
    return split && split->row == *row_;
  }

  void Print(const Cell& cell, std::string_view key) {
    const auto split = options_.raw ? std::nullopt : format_.Split(key);
    const auto timestamp = format_.TimestampOf(cell.user_key);
    const bool has_family = split && file_.key_form() == KeyForm::kHFile;
    if (output_.json) {
      Record record("cell", ToPrintable(file_.path()));
      record.Text("key", format_.Text(key));
      if (split) {
        record.Text("row", format_.RowText(split->row));
        if (has_family) record.Text("family", format_.Text(split->family));
        record.Text("qualifier", format_.Text(split->qualifier));
      }
      if (timestamp) AddTimestamp(timestamp, &record);
      record.Number("sequence", cell.sequence)
          .Text("type", file_.TypeName(cell.type))
          .Text("value", format_.Text(cell.value));
      if (!cell.tags.empty()) record.Text("tags", format_.Text(cell.tags));
      record.Print(output_.out);
      return;
    }
    std::string text = format_.Text(key);
    if (split) {
      text = format_.RowText(split->row) + "  ";
      if (has_family) text += format_.Text(split->family) + ":";
      text += format_.Text(split->qualifier);
    }
    output_.out << fmt::format(
        "  {}  {}{}@{}  {}{}\n", text,
        timestamp ? fmt::format("t={} ", ToString(*timestamp)) : "",
        file_.TypeName(cell.type), cell.sequence, format_.Text(cell.value),
        cell.tags.empty() ? "" : "  tags " + format_.Text(cell.tags));
  }

  // Prints the range deletions that reach into the chosen keys.
  rocksdb::Status PrintRangeDeletions() {
    return file_.ForEachRangeDeletion(
        [&](const TableFile::RangeDeletion& range) {
          const std::string_view start = format_.WithoutTimestamp(range.start);
          const std::string_view end = format_.WithoutTimestamp(range.end);
          if (from_ && Compare(end, *from_) <= 0) return;
          if (options_.to && Compare(start, *options_.to) >= 0) return;
          if (row_ && file_.key_order() == sst::KeyOrder::kBytewise &&
              start > *row_ && !start.starts_with(*row_)) {
            return;
          }
          if (output_.json) {
            Record record("range_deletion", ToPrintable(file_.path()));
            record.Text("start", format_.Text(start))
                .Text("end", format_.Text(end))
                .Number("sequence", range.sequence);
            record.Print(output_.out);
            return;
          }
          output_.out << fmt::format("  [{}, {})  range-delete@{}\n",
                                     format_.Text(start), format_.Text(end),
                                     range.sequence);
        });
  }

  const TableFile& file_;
  const DataOptions& options_;
  const KeyFormat format_;
  const Output& output_;
  std::optional<std::string> from_;
  std::optional<std::string> row_;  // as in the key
};

}  // namespace

ExitCode PrintData(const TableFile& file, const DataOptions& options,
                   const Output& output) {
  KeyFormat format;
  const rocksdb::Status status =
      FormatOf(file, options.key_layout, options.hex, &format);
  if (!status.ok()) return ReportStatus(status, output.err);
  return DataPrinter(file, options, std::move(format), output).Run();
}

}  // namespace rowbloom::sst_inspect

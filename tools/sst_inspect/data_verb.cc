#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tools/cli/arguments.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

struct DataArgs : FileArgs {
  std::optional<std::string> row;  // the application's
  // Keys of the file, without timestamps; for HFiles rows.
  std::optional<std::string> start;
  std::optional<std::string> stop;  // exclusive
  uint64_t limit = UINT64_MAX;
  bool whole_keys = false;  // keys are not split

  void AddTo(CLI::App* command) {
    FileArgs::AddTo(command);
    cli::AddBytesTo(command, "--row", &row, "Only this row", "ROW");
    cli::AddBytesTo(command, "--start", &start, "The first key, inclusive",
                    "KEY");
    cli::AddBytesTo(command, "--stop", &stop, "The end, exclusive", "KEY");
    cli::AddNumberTo(command, "--cells", &limit,
                     "At most so many of each file, and range deletions");
    command->add_flag("--whole-keys", whole_keys,
                      "Print keys as they are, not row and qualifier");
    AddKeyLayoutTo(command);
    AddHexTo(command);
  }
};

// Prints the cells that the arguments choose.
class DataPrinter {
 public:
  DataPrinter(const TableFile& file, const DataArgs& args, KeyFormat format,
              const Output& output)
      : file_(file),
        args_(args),
        format_(std::move(format)),
        output_(output),
        start_(args.start) {}

  void Run() {
    ChooseRow();
    output_.Line(file_.path());
    Listing listing(
        output_, "key row family qualifier timestamp type sequence tags value",
        Prints::kAllTheWhile);
    const std::unique_ptr<CellReader> cells = file_.NewCellReader();
    if (start_) cells->SkipToRow(*start_);
    uint64_t left = args_.limit;
    while (left > 0 && cells->Next()) {
      const Cell cell = cells->cell();
      const std::string_view key = format_.WithoutTimestamp(cell.user_key);
      if (IsPast(BoundOf(key))) break;
      if (!IsWanted(key)) continue;
      listing.Add(RecordOf(cell, key));
      --left;
    }
    Require(cells->status());
    listing.Print();
    Require(PrintRangeDeletions());
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

  void ChooseRow() {
    if (!args_.row) return;
    if (!format_.has_rows()) {
      Require(Error{file_.path() +
                    ": no key layout known for --row, give --key-layout"});
    }
    auto row = format_.EncodeRow(*args_.row);
    if (!row) Require(Error{file_.path() + ": " + row.error()});
    row_ = *std::move(row);
    // In a reversed order the row itself would be its last key.
    if (!start_ && file_.key_order() == sst::KeyOrder::kBytewise) start_ = row_;
  }

  // The part of a key that is compared with --start and --stop: for HFiles the
  // row.
  std::string_view BoundOf(std::string_view key) const {
    if (file_.key_form() != KeyForm::kHFile) return key;
    const auto parts = format_.Split(key);
    return parts ? parts->row : key;
  }

  // Tells whether this key and all later ones are outside of the chosen range.
  bool IsPast(std::string_view key) const {
    return IsOrdered() && (IsBehindStop(key) || IsBehindRow(key));
  }

  bool IsBehindStop(std::string_view key) const {
    return args_.stop && Compare(key, *args_.stop) >= 0;
  }
  bool IsBehindRow(std::string_view key) const {
    return row_ && file_.key_order() == sst::KeyOrder::kBytewise &&
           key > *row_ && !key.starts_with(*row_);
  }

  bool IsWanted(std::string_view key) const {
    const std::string_view bound = BoundOf(key);
    if (start_ && Compare(bound, *start_) < 0) return false;
    if (IsBehindStop(bound)) return false;
    if (!row_) return true;
    const auto split = format_.Split(key);
    return split && split->row == *row_;
  }

  Record RecordOf(const Cell& cell, std::string_view key) const {
    Record record("cell", file_.path());
    const auto split = args_.whole_keys ? std::nullopt : format_.Split(key);
    if (split) {
      record.InJson("key", format_.Text(key))
          .Text("row", format_.RowText(split->row));
      if (file_.key_form() == KeyForm::kHFile) {
        record.Text("family", format_.Text(split->family));
      }
      record.Text("qualifier", format_.Text(split->qualifier));
    } else {
      record.Text("key", format_.Text(key));
    }
    const auto timestamp = format_.TimestampOf(cell.user_key);
    if (timestamp) AddTimestamp(timestamp, &record);
    record.Number("sequence", cell.sequence)
        .Text("type", file_.TypeName(cell.type))
        .Text("value", format_.Text(cell.value));
    if (!cell.tags.empty()) record.Text("tags", format_.Text(cell.tags));
    return record;
  }

  // Prints the range deletions that overlap the chosen keys.
  rocksdb::Status PrintRangeDeletions() {
    Listing ranges(output_, "start=from end=to type sequence",
                   Prints::kAllTheWhile);
    uint64_t left = args_.limit;
    return file_.ForEachRangeDeletion(
        [&](const TableFile::RangeDeletion& range) {
          if (left == 0) return;
          const std::string_view start = format_.WithoutTimestamp(range.start);
          const std::string_view end = format_.WithoutTimestamp(range.end);
          if (start_ && Compare(end, *start_) <= 0) return;
          if (IsBehindStop(start) || IsBehindRow(start)) return;
          --left;
          ranges.Add(Record("range_deletion", file_.path())
                         .Text("start", format_.Text(start))
                         .Text("end", format_.Text(end))
                         .InText("type", "range-delete")
                         .Number("sequence", range.sequence));
        });
  }

  const TableFile& file_;
  const DataArgs& args_;
  const KeyFormat format_;
  const Output& output_;
  std::optional<std::string> start_;
  std::optional<std::string> row_;  // in the form of keys
};

void PrintData(const TableFile& file, const DataArgs& args,
               const Output& output) {
  KeyFormat format = Require(FormatOf(file, args.key_layout, args.hex));
  DataPrinter(file, args, std::move(format), output).Run();
}

}  // namespace

void AddTimestamp(const std::optional<Timestamp>& timestamp, Record* record) {
  constexpr std::string_view kName = "timestamp";
  if (timestamp && timestamp->is_signed) {
    record->Signed(kName, static_cast<int64_t>(timestamp->bits));
  } else {
    record->Number(kName,
                   timestamp ? std::optional(timestamp->bits) : std::nullopt);
  }
}

Action AddData(CLI::App* command) {
  return AddFileVerb(command, PrintData, Prints::kAllTheWhile);
}

}  // namespace rowbloom::sst_inspect

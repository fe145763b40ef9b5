// `measure-fpr` for HFiles: the general filter, probed as HBase does.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "tools/sst_inspect/absent_keys.h"
#include "tools/sst_inspect/hfile_table.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/measured.h"
#include "tools/sst_inspect/output.h"

namespace rowbloom::sst_inspect {
namespace {

using rocksdb::Status;

class HFileMeasurer {
 public:
  HFileMeasurer(const HFileTable& file, const KeyFormat& format)
      : reader_(file.reader()),
        format_(format),
        description_(reader_.bloom_description()),
        filter_(*reader_.general_bloom()) {}

  // The rates that the chunks' bits give.
  Status Open(const HFileTable& file) {
    const std::string section = SectionName(description_.type);
    Status damage;
    const Status status =
        file.ForEachFilterChunk([&](const FilterChunk& chunk) {
          if (chunk.facts.section != section) return;
          if (damage.ok()) damage = chunk.status;
          rates_.push_back(chunk.facts.rate.value_or(1));
        });
    return damage.ok() ? status : damage;
  }

  // Leaves what passes rightly out of `absent`: an absent row with a prefix
  // that is there, or an absent cell of a row that has the empty qualifier, for
  // which the filter is asked, too. Reads the file.
  Status RemovePresent(const HFileTable& file, AbsentKeys* absent) const {
    if (description_.type == BloomType::kRow || absent->keys.empty()) {
      return Status::OK();
    }
    std::unordered_set<std::string> shared;
    for (const std::string& key : absent->keys) {
      shared.emplace(SharedPart(absent->kind, key));
    }
    const std::unique_ptr<CellReader> cells = file.NewCellReader();
    std::string present;
    while (cells->Next()) {
      const auto parts =
          format_.Split(format_.WithoutTimestamp(cells->cell().user_key));
      if (!parts) continue;
      if (description_.type == BloomType::kRowCol) {
        if (!parts->qualifier.empty()) continue;
        present.assign(parts->row);
      } else {
        present.assign(hfile::RowPrefix(parts->row, description_.prefix_bytes));
      }
      shared.erase(present);
    }
    // The filter is asked for only one of the rows with the same prefix.
    const bool once = absent->kind == AbsentKind::kRow;
    std::erase_if(absent->keys, [&](const std::string& key) {
      const std::string part(SharedPart(absent->kind, key));
      return once ? shared.erase(part) == 0 : !shared.contains(part);
    });
    return cells->status();
  }

  std::optional<Measured> Measure(const AbsentKeys& absent) const {
    Measured measured{.question = QuestionOf(absent.kind)};
    if (measured.question.empty()) return std::nullopt;
    for (const std::string& key : absent.keys) {
      if (absent.kind == AbsentKind::kRow) {
        AskRow(key, &measured);
      } else if (const auto parts = format_.Split(key)) {
        AskCell(*parts, &measured);
      }
    }
    if (measured.asked == 0) return std::nullopt;
    return measured;
  }

 private:
  // The part of an absent key that others may have: a prefix, or a row.
  std::string_view SharedPart(AbsentKind kind, std::string_view key) const {
    if (kind == AbsentKind::kRow) {
      return hfile::RowPrefix(key, description_.prefix_bytes);
    }
    const auto parts = format_.Split(key);
    return parts ? parts->row : key;
  }

  // Empty where the filter is not asked, or what is absent shares what the
  // filter has with what is there.
  std::string_view QuestionOf(AbsentKind kind) const {
    const bool cells = description_.type == BloomType::kRowCol;
    switch (kind) {
      case AbsentKind::kRow:
        if (cells) return "";
        return description_.type == BloomType::kRow ? "absent row"
                                                    : "absent row, prefix";
      case AbsentKind::kCell:
        return cells ? "cell of an absent row" : "";
      case AbsentKind::kColumn:
        return cells ? "absent cell of a row" : "";
      case AbsentKind::kKey:
        break;
    }
    return "";
  }

  void AskRow(std::string_view row, Measured* measured) const {
    ++measured->asked;
    measured->passed += reader_.MayContainRow(row) ? 1 : 0;
    measured->predicted +=
        RateOf(description_.type == BloomType::kRowPrefixFixedLength
                   ? hfile::RowPrefix(row, description_.prefix_bytes)
                   : row);
  }

  // Looks up the cell, and markers of the family in its row.
  void AskCell(const KeyParts& cell, Measured* measured) const {
    ++measured->asked;
    measured->passed +=
        reader_.MayContainRowCol(cell.row, cell.qualifier) ? 1 : 0;
    const double own = RateOf(hfile::RowColBloomKey(cell.row, cell.qualifier));
    const double markers = RateOf(hfile::RowColBloomKey(cell.row, {}));
    measured->predicted += 1 - (1 - own) * (1 - markers);
  }

  // The rate of the chunk that is asked for the key; 0 if none is.
  double RateOf(std::string_view key) const {
    if (description_.has_last_key) {
      const hfile::KeyForm form = description_.type == BloomType::kRowCol
                                      ? hfile::KeyForm::kCellKey
                                      : hfile::KeyForm::kBytes;
      if (hfile::CompareIndexKeys(form, key, description_.last_key) > 0) {
        return 0;
      }
    }
    const size_t entry = filter_.chunks.Find(key);
    return entry < rates_.size() ? rates_[entry] : 0;
  }

  const hfile::Reader& reader_;
  const KeyFormat& format_;
  const hfile::BloomDescription& description_;
  const hfile::BloomFilter& filter_;
  std::vector<double> rates_;
};

}  // namespace

ExitCode HFileTable::PrintMeasure(const MeasureArgs& args,
                                  const Output& output) const {
  KeyFormat format;
  Status status = FormatOf(*this, args.key_layout, false, &format);
  if (!status.ok()) return Judge(output.err, status);
  const std::string name = WithoutControls(path());
  if (reader_->GeneralBloom() == nullptr) {
    return Fail(output.err, name + ": no filter that can be asked");
  }
  HFileMeasurer measurer(*this, format);
  status = measurer.Open(*this);
  std::vector<AbsentKeys> absent;
  if (status.ok()) {
    status = MakeAbsentKeys(*this, format, args.count, args.seed, &absent);
  }
  if (!status.ok()) return Judge(output.err, status);
  std::vector<Measured> results;
  for (AbsentKeys& keys : absent) {
    status = measurer.RemovePresent(*this, &keys);
    if (!status.ok()) return Judge(output.err, status);
    if (const auto measured = measurer.Measure(keys)) {
      results.push_back(*measured);
    }
  }
  if (results.empty()) {
    return Fail(
        output.err,
        name +
            ": nothing to ask: no keys, or none whose absence a filter of this "
            "type could tell");
  }
  PrintMeasured(*this, args.seed, results, output);
  return ExitCode::kOk;
}

}  // namespace rowbloom::sst_inspect

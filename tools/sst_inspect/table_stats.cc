#include "tools/sst_inspect/table_stats.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <utility>

namespace rowbloom::sst_inspect {
namespace {

class StatsGatherer {
 public:
  StatsGatherer(const KeyFormat& format, size_t biggest_rows,
                const OnRow& on_row, TableStats* stats)
      : format_(format),
        biggest_rows_(biggest_rows),
        on_row_(on_row),
        stats_(*stats) {
    stats_.has_rows = format.has_rows();
  }

  void Add(const Cell& cell) {
    ++stats_.entries;
    ++stats_.types[cell.type];
    stats_.key_bytes.Add(cell.user_key.size());
    stats_.value_bytes.Add(cell.value.size());
    const std::string_view key = format_.WithoutTimestamp(cell.user_key);
    if (!key_ || key != *key_) StartKey(key);
    ++versions_;
    if (in_row_) {
      ++row_.cells;
      row_.bytes += cell.user_key.size() + cell.value.size();
    }
  }

  void Finish() {
    EndKey();
    EndRow();
  }

 private:
  void StartKey(std::string_view key) {
    EndKey();
    key_ = std::string(key);
    ++stats_.keys;
    if (!stats_.has_rows) return;
    const auto split = format_.Split(key);
    if (!split) {
      ++stats_.outside_layout;
      EndRow();
      return;
    }
    if (!in_row_ || row_.row != split->row) {
      EndRow();
      in_row_ = true;
      row_.row = split->row;
    }
    ++row_keys_;
    stats_.columns += split->qualifier.empty() ? 0 : 1;
  }

  void EndKey() {
    if (key_) stats_.versions.Add(versions_);
    key_.reset();
    versions_ = 0;
  }

  void EndRow() {
    if (!in_row_) return;
    in_row_ = false;
    ++stats_.rows;
    stats_.cells_per_row.Add(row_keys_);
    stats_.row_bytes.Add(row_.bytes);
    row_keys_ = 0;
    if (on_row_) on_row_(row_.row);
    Keep(std::exchange(row_, {}));
  }

  void Keep(RowSize row) {
    std::vector<RowSize>& biggest = stats_.biggest;
    const auto at = std::partition_point(
        biggest.begin(), biggest.end(),
        [&row](const RowSize& other) { return other.bytes >= row.bytes; });
    if (biggest.size() == biggest_rows_ && at == biggest.end()) return;
    biggest.insert(at, std::move(row));
    if (biggest.size() > biggest_rows_) biggest.pop_back();
  }

  const KeyFormat& format_;
  const size_t biggest_rows_;
  const OnRow& on_row_;
  TableStats& stats_;
  std::optional<std::string> key_;
  uint64_t versions_ = 0;
  bool in_row_ = false;
  RowSize row_;
  uint64_t row_keys_ = 0;
};

}  // namespace

void Histogram::Add(uint64_t value) {
  ++buckets_[static_cast<size_t>(std::bit_width(value))];
  ++count_;
  sum_ += value;
  max_ = std::max(max_, value);
}

double Histogram::mean() const {
  return count_ == 0 ? 0
                     : static_cast<double>(sum_) / static_cast<double>(count_);
}

rocksdb::Status GatherStats(const TableFile& file, const KeyFormat& format,
                            size_t biggest_rows, TableStats* stats,
                            const OnRow& on_row) {
  StatsGatherer gatherer(format, biggest_rows, on_row, stats);
  const std::unique_ptr<CellReader> cells = file.NewCellReader();
  while (cells->Next()) gatherer.Add(cells->cell());
  gatherer.Finish();
  if (!cells->status().ok()) return cells->status();
  return file.ForEachRangeDeletion(
      [stats](const TableFile::RangeDeletion&) { ++stats->range_deletions; });
}

}  // namespace rowbloom::sst_inspect

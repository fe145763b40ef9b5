#include "storage/store/given_times.h"

#include <algorithm>
#include <vector>

namespace rowbloom {

std::optional<uint64_t> GivenTimes::MoveTo(uint64_t now_ms) {
  if (now_ms > newest_ms_) {
    Clear();
    return std::nullopt;
  }
  if (cells_.size() + rows_.size() < kMaxCells) return std::nullopt;
  std::vector<uint64_t> times;
  times.reserve(cells_.size() + rows_.size());
  for (const auto& [cell, given] : cells_) {
    times.push_back(given.after_ms());
  }
  for (const auto& [row, after_ms] : rows_) times.push_back(after_ms);
  const auto middle =
      times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  const uint64_t raised_ms = std::max(now_ms, *middle);
  std::erase_if(cells_, [&](const auto& cell) {
    return cell.second.after_ms() <= raised_ms;
  });
  std::erase_if(rows_,
                [&](const auto& row) { return row.second <= raised_ms; });
  return raised_ms;
}

uint64_t GivenTimes::Put(uint64_t row, uint64_t cell, uint64_t now_ms,
                         bool replaces) {
  Times& times = TimesOf(row, cell);
  uint64_t after_delete_ms = times.after_delete_ms;
  if (!rows_.empty()) {
    const auto deleted = rows_.find(row);
    if (deleted != rows_.end()) {
      after_delete_ms = std::max(after_delete_ms, deleted->second);
    }
  }
  uint64_t after_put_ms = times.after_put_ms;
  if (after_put_ms > 0 && (replaces || after_put_ms > now_ms + kMaxAheadMs)) {
    --after_put_ms;
  }
  const uint64_t timestamp_ms =
      std::max({now_ms, after_put_ms, after_delete_ms});
  times.after_put_ms = timestamp_ms + 1;
  Remember(timestamp_ms);
  return timestamp_ms;
}

GivenTimes::Times& GivenTimes::TimesOf(uint64_t row, uint64_t cell) {
  Times& times = cells_[cell];
  times.row = row;
  return times;
}

GivenTimes::Delete GivenTimes::DeleteBefore(uint64_t after_ms,
                                            uint64_t now_ms) {
  const uint64_t limit_ms = now_ms + kMaxAheadMs;
  if (after_ms > limit_ms) return {limit_ms - 1, true};
  return {std::max(now_ms + 1, after_ms) - 1, false};
}

GivenTimes::Delete GivenTimes::DeleteCell(uint64_t row, uint64_t cell,
                                          uint64_t now_ms) {
  Times& times = TimesOf(row, cell);
  const Delete given = DeleteBefore(times.after_ms(), now_ms);
  times.after_put_ms = 0;
  times.after_delete_ms = given.timestamp_ms + 1;
  Remember(given.timestamp_ms);
  return given;
}

GivenTimes::Delete GivenTimes::DeleteRow(uint64_t row, uint64_t now_ms) {
  uint64_t& row_after_ms = rows_[row];
  uint64_t after_ms = row_after_ms;
  for (const auto& [cell, times] : cells_) {
    if (times.row == row) after_ms = std::max(after_ms, times.after_ms());
  }
  const Delete given = DeleteBefore(after_ms, now_ms);
  row_after_ms = given.timestamp_ms + 1;
  Remember(given.timestamp_ms);
  return given;
}

void GivenTimes::NotePut(uint64_t row, uint64_t cell, uint64_t timestamp_ms,
                         uint64_t now_ms) {
  if (IsNear(timestamp_ms, now_ms)) {
    NoteAfter(&TimesOf(row, cell).after_put_ms, timestamp_ms);
  }
}

void GivenTimes::NoteDeleteOfCell(uint64_t row, uint64_t cell,
                                  uint64_t timestamp_ms, uint64_t now_ms) {
  if (IsNear(timestamp_ms, now_ms)) {
    NoteAfter(&TimesOf(row, cell).after_delete_ms, timestamp_ms);
  }
}

void GivenTimes::NoteDeleteOfRow(uint64_t row, uint64_t timestamp_ms,
                                 uint64_t now_ms) {
  if (IsNear(timestamp_ms, now_ms)) NoteAfter(&rows_[row], timestamp_ms);
}

void GivenTimes::NoteAfter(uint64_t* after_ms, uint64_t timestamp_ms) {
  *after_ms = std::max(*after_ms, timestamp_ms + 1);
  Remember(timestamp_ms);
}

void GivenTimes::Clear() {
  // To clear a map takes as long as it has buckets, which a large batch may
  // have left.
  if (cells_.bucket_count() > 2 * kMaxCells) cells_ = {};
  if (rows_.bucket_count() > 2 * kMaxCells) rows_ = {};
  cells_.clear();
  rows_.clear();
  newest_ms_ = 0;
}

void GivenTimes::Remember(uint64_t timestamp_ms) {
  newest_ms_ = std::max(newest_ms_, timestamp_ms);
}

}  // namespace rowbloom

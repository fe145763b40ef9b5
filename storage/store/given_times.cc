#include "storage/store/given_times.h"

#include <algorithm>
#include <vector>

namespace rowbloom {
namespace {

bool IsNear(uint64_t timestamp_ms, uint64_t now_ms) {
  return timestamp_ms >= now_ms &&
         timestamp_ms < now_ms + GivenTimes::kMaxAheadMs;
}

}  // namespace

std::optional<uint64_t> GivenTimes::MoveTo(uint64_t now_ms) {
  if (now_ms > newest_ms_) {
    Clear();
    return std::nullopt;
  }
  if (times_.size() < kMaxCells) return std::nullopt;
  std::vector<uint64_t> after;
  after.reserve(times_.size());
  for (const auto& [id, times] : times_) after.push_back(times.after_ms());
  const auto middle =
      after.begin() + static_cast<std::ptrdiff_t>(after.size() / 2);
  std::nth_element(after.begin(), middle, after.end());
  const uint64_t raised_ms = std::max(now_ms, *middle);
  std::erase_if(times_, [&](const auto& known) {
    return known.second.after_ms() <= raised_ms;
  });
  return raised_ms;
}

uint64_t GivenTimes::Put(uint64_t row, uint64_t cell, uint64_t now_ms,
                         bool replaces) {
  Times& times = TimesOf(row, cell);
  const auto of_row = times_.find(row);
  uint64_t after_put_ms = times.after_put_ms;
  if (after_put_ms > 0 && (replaces || after_put_ms > now_ms + kMaxAheadMs)) {
    --after_put_ms;
  }
  const uint64_t timestamp_ms =
      std::max({now_ms, after_put_ms, times.after_delete_ms,
                of_row == times_.end() ? 0 : of_row->second.after_delete_ms});
  times.after_put_ms = 0;
  Note(&times.after_put_ms, timestamp_ms);
  return timestamp_ms;
}

GivenTimes::Marker GivenTimes::Delete(uint64_t row, uint64_t cell,
                                      uint64_t now_ms) {
  Times& deleted = TimesOf(row, cell);
  // The first time after all that the delete is to take.
  uint64_t after_ms = deleted.after_ms();
  if (cell == row) {
    for (const auto& [id, times] : times_) {
      if (times.row == row) after_ms = std::max(after_ms, times.after_ms());
    }
  }
  const uint64_t limit_ms = now_ms + kMaxAheadMs;
  const bool remove = after_ms > limit_ms;
  const uint64_t timestamp_ms =
      (remove ? limit_ms : std::max(now_ms + 1, after_ms)) - 1;
  deleted = {.row = row};
  Note(&deleted.after_delete_ms, timestamp_ms);
  return {timestamp_ms, remove};
}

void GivenTimes::NotePut(uint64_t row, uint64_t cell, uint64_t timestamp_ms,
                         uint64_t now_ms) {
  if (!IsNear(timestamp_ms, now_ms)) return;
  Note(&TimesOf(row, cell).after_put_ms, timestamp_ms);
}

void GivenTimes::NoteDelete(uint64_t row, uint64_t cell, uint64_t timestamp_ms,
                            uint64_t now_ms) {
  if (!IsNear(timestamp_ms, now_ms)) return;
  Note(&TimesOf(row, cell).after_delete_ms, timestamp_ms);
}

void GivenTimes::Clear() {
  // To clear a map takes as long as it has buckets, which a large batch may
  // have left.
  if (times_.bucket_count() > 2 * kMaxCells) times_ = {};
  times_.clear();
  newest_ms_ = 0;
}

GivenTimes::Times& GivenTimes::TimesOf(uint64_t row, uint64_t cell) {
  Times& times = times_[cell];
  times.row = row;
  return times;
}

void GivenTimes::Note(uint64_t* after_ms, uint64_t timestamp_ms) {
  *after_ms = std::max(*after_ms, timestamp_ms + 1);
  newest_ms_ = std::max(newest_ms_, timestamp_ms);
}

}  // namespace rowbloom

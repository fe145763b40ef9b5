// Measurements of sensors: a row for each sensor and day, a column for each
// minute. Corrections are further versions, what arrives late finds its place,
// and after 30 days all is gone by itself.
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "rowbloom/store.h"

using rocksdb::Status;

namespace {

constexpr uint64_t kDayMs = 24 * 60 * 60 * 1000;
constexpr int kSensors = 300;
constexpr int kDays = 6;

uint64_t NowMs() {
  using namespace std::chrono;
  return static_cast<uint64_t>(
      duration_cast<milliseconds>(system_clock::now().time_since_epoch())
          .count());
}

// Days of one sensor are neighbours, the numbers have one length.
std::string Row(int sensor, uint64_t day) {
  return "sensor_" + std::to_string(1'000 + sensor) + "/" + std::to_string(day);
}

Status Measure(rowbloom::Store* store, int sensor, uint64_t day,
               const std::string& minute, const std::string& value) {
  return store->Put(Row(sensor, day), "measured", minute, value,
                    {.timestamp_ms = day * kDayMs});
}

Status Run() {
  std::unique_ptr<rowbloom::Store> store;
  // Without compaction each day stays in a file of its own.
  Status s =
      rowbloom::Store::Open({.auto_compaction = false}, "sensors.db",
                            {{"measured",
                              {.timestamps = rowbloom::Timestamps::kClient,
                               .max_versions = 3,
                               .ttl_ms = 30 * kDayMs}}},
                            &store);
  const uint64_t today = NowMs() / kDayMs;
  for (uint64_t day = today - kDays; s.ok() && day < today; ++day) {
    for (int sensor = 0; s.ok() && sensor < kSensors; ++sensor) {
      s = Measure(store.get(), sensor, day, "12:00", "20.5");
      if (s.ok()) s = Measure(store.get(), sensor, day, "18:00", "17.0");
    }
    if (s.ok()) s = store->Flush();
  }

  // A correction is a newer version; the old one can still be read.
  const std::string row = Row(7, today - 2);
  if (s.ok()) {
    s = store->Put(row, "measured", "12:00", "21.5", {.timestamp_ms = NowMs()});
  }
  std::vector<rowbloom::Cell> cells;
  if (s.ok()) {
    s = store->GetVersions(row, "measured", "12:00", &cells,
                           {.max_versions = 3});
  }
  for (const auto& cell : cells)
    std::cout << "12:00 was " << cell.value << "\n";
  std::optional<std::string> value;
  if (s.ok()) {
    s = store->Get(
        row, "measured", "12:00", &value,
        {.time_range = rowbloom::TimeRange::UpTo((today - 1) * kDayMs)});
  }
  std::cout << "as of yesterday: " << value.value_or("nothing") << "\n";

  // A measurement older than the TTL stays invisible, even if it is written
  // now.
  if (s.ok()) s = Measure(store.get(), 7, today - 40, "12:00", "9.9");
  int days = 0;
  if (s.ok()) {
    rowbloom::RowScanner rows;
    s = store->Scan({.row_prefix = "sensor_1007/"}, &rows);
    for ([[maybe_unused]] const rowbloom::Row& found : rows) ++days;
    if (s.ok()) s = rows.status();
  }
  std::cout << days << " days of sensor 7\n";

  // One day of each sensor, which one file has: filters rule out the others.
  for (int sensor = 0; s.ok() && sensor < kSensors; ++sensor) {
    s = store->GetRow(Row(sensor, today - 3), &cells);
    if (s.ok() && cells.size() != 2) s = Status::Corruption("a lost cell");
  }
  rowbloom::StoreStats stats;
  if (s.ok()) s = store->Stats(&stats);
  const rowbloom::FamilyStats& measured = stats.families["measured"];
  std::cout << measured.files << " files; more than four fifths of the "
            << "questions ruled one out: "
            << (measured.filter.row.skipped * 5 > measured.filter.asked * 4)
            << "\n";
  return s;
}

}  // namespace

int main() {
  const Status s = Run();
  if (!s.ok()) std::cerr << s.ToString() << "\n";
  return s.ok() ? 0 : 1;
}

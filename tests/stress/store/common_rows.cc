#include "tests/stress/store/common_rows.h"

#include <vector>

#include "rowbloom/printable.h"

namespace rowbloom::store_stress {

using rocksdb::Status;

namespace {

constexpr uint64_t kPairs = 3;
constexpr char kPair[] = "p";

// Four bytes, for the layout of fixed width.
std::string CounterRow() { return kCommonPrefix + std::string("cnt"); }
std::string PairPrefix() { return kCommonPrefix + std::string("pr"); }
std::string RandomPairRow(Random* random) {
  return PairPrefix() + std::to_string(random->Below(kPairs));
}

}  // namespace

CommonRows::CommonRows(Session* session)
    : session_(session),
      incremented_(ReadCount(kCounted)),
      swapped_(ReadCount(kLatest)) {}

void CommonRows::Step(uint32_t thread, uint64_t number, Random* random) {
  switch (random->Below(4)) {
    case 0:
      return WritePair(std::to_string(thread) + "." + std::to_string(number),
                       random);
    case 1:
      return Count(random);
    case 2:
      return ReadCounts();
    default:
      ReadPair(random);
  }
}

void CommonRows::Check() {
  const uint64_t incremented = ReadCount(kCounted);
  const uint64_t swapped = ReadCount(kLatest);
  if (incremented != incremented_ || swapped != swapped_) {
    session_->report()->Divergence(
        "counters of " + std::to_string(incremented) + " and " +
            std::to_string(swapped) + ", expected " +
            std::to_string(incremented_) + " and " + std::to_string(swapped_),
        CounterRow());
  }
  ScanPairs("at the end");
}

void CommonRows::ScanPairs(const char* how) {
  RowScanner rows;
  if (!session_->Check(
          session_->store()->Scan({.row_prefix = PairPrefix()}, &rows), how)) {
    return;
  }
  for (const Row& row : rows) ComparePair(row.cells, how);
  session_->Check(rows.status(), how);
}

void CommonRows::WritePair(const std::string& value, Random* random) {
  const std::string row = RandomPairRow(random);
  WriteBatch batch;
  if (random->OneIn(4)) batch.DeleteRow(row);
  if (!random->OneIn(8)) {
    batch.Put(row, kLatest, kPair, value);
    batch.Put(row, kCounted, kPair, value);
  }
  session_->Check(session_->store()->Write(batch), "write of a pair", row);
}

void CommonRows::ReadPair(Random* random) {
  Store* const store = session_->store();
  const std::string row = RandomPairRow(random);
  ++session_->report()->counters.reads_checked;
  std::vector<Cell> cells;
  switch (random->Below(4)) {
    case 0: {
      std::vector<std::vector<Cell>> found;
      const CellAddress addresses[] = {{row, kLatest, kPair},
                                       {row, kCounted, kPair}};
      if (!session_->Check(store->MultiGet(addresses, &found), "multi-get")) {
        return;
      }
      for (const std::vector<Cell>& versions : found) {
        cells.insert(cells.end(), versions.begin(), versions.end());
      }
      return ComparePair(cells, "multi-get");
    }
    case 1: {
      std::unique_ptr<const Snapshot> snapshot;
      session_->Check(store->GetSnapshot(&snapshot), "snapshot");
      for (const char* family : {kLatest, kCounted}) {
        PinnableCell cell;
        session_->Check(
            store->Get(row, family, kPair, &cell, {.snapshot = snapshot.get()}),
            "get with a snapshot", row);
        if (!cell) continue;
        cells.push_back({family, std::string(kPair), cell.timestamp_ms(),
                         std::string(cell.value())});
      }
      return ComparePair(cells, "snapshot");
    }
    case 2: {
      return ScanPairs("scan of pairs");
    }
    default:
      if (!session_->Check(store->GetRow(row, &cells), "get of a row")) return;
      ComparePair(cells, "get of a row");
  }
}

void CommonRows::ComparePair(const std::vector<Cell>& cells, const char* how) {
  if (cells.empty() ||
      (cells.size() == 2 && cells[0].value == cells[1].value)) {
    return;
  }
  std::string found;
  for (const Cell& cell : cells) {
    found += " " + cell.family + "=" + ToPrintable(cell.value);
  }
  session_->report()->Divergence(std::string(how) + ": half a batch:" + found,
                                 PairPrefix());
}

void CommonRows::Count(Random* random) {
  Store* const store = session_->store();
  if (random->OneIn(2)) {
    if (session_->Check(
            store->Increment(CounterRow(), kCounted, kCounter, 1, nullptr),
            "increment")) {
      ++incremented_;
    }
    return;
  }
  std::optional<std::string> value;
  if (random->OneIn(2)) {
    std::unique_ptr<Transaction> transaction;
    if (!session_->Check(store->Begin(&transaction), "begin")) return;
    Status s = transaction->Get(CounterRow(), kLatest, kCounter, &value);
    if (!session_->Check(s, "get in a transaction")) return;
    transaction->Put(CounterRow(), kLatest, kCounter,
                     EncodeCounter(DecodeCounter(value.value_or("")) + 1));
    s = transaction->Commit();
    if (s.IsBusy()) return;
    if (session_->Check(s, "commit")) ++swapped_;
    return;
  }
  const Status s = store->Get(CounterRow(), kLatest, kCounter, &value);
  if (!session_->Check(s, "get of a counter")) return;
  bool applied = false;
  session_->Check(
      store->CheckAndPut(CounterRow(), kLatest, kCounter, value,
                         EncodeCounter(DecodeCounter(value.value_or("")) + 1),
                         &applied),
      "check and put");
  if (applied) ++swapped_;
}

uint64_t CommonRows::ReadCount(const char* family) {
  std::optional<std::string> value;
  session_->Check(
      session_->store()->Get(CounterRow(), family, kCounter, &value),
      "get of a counter");
  return DecodeCounter(value.value_or(""));
}

void CommonRows::ReadCounts() {
  ++session_->report()->counters.reads_checked;
  for (const char* family : {kCounted, kLatest}) {
    // An increment is counted here after it is written.
    const uint64_t least = family == kCounted ? incremented_ : swapped_;
    const uint64_t count = ReadCount(family);
    if (count >= least) continue;
    session_->report()->Divergence(
        "a counter went back: found " + std::to_string(count) +
            ", expected at least " + std::to_string(least),
        CounterRow());
  }
}

}  // namespace rowbloom::store_stress

#include "tests/stress/operations.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "tests/stress/common_rounds.h"

namespace rowbloom::stress {

namespace {
constexpr size_t kLongValue = 100;  // no merge makes it longer
}

std::string Operator::NewValue() {
  return std::to_string(own_) + "." + std::to_string(++values_) +
         std::string(random_.Below(40), 'v');
}

Change Operator::RandomChange() {
  const KeySpace& keys = session_->keys();
  const Cells& cells = session_->share(own_)->world;
  if (random_.OneIn(8)) {
    // Puts of a cell that is there, or another kind of deletion, would make the
    // result of a single deletion undefined.
    std::string key = keys.RandomSingleDeleteKey(own_, &random_);
    if (cells.contains(key)) {
      return {ChangeType::kSingleDelete, std::move(key), ""};
    }
    return {ChangeType::kPut, std::move(key), NewValue()};
  }
  if (random_.OneIn(25)) {
    auto [begin, end] = keys.RandomRange(own_, &random_);
    return {ChangeType::kDeleteRange, std::move(begin), std::move(end)};
  }
  std::string key = keys.RandomKey(own_, &random_);
  const uint64_t choice = random_.Below(10);
  if (choice < 2) return {ChangeType::kDelete, std::move(key), ""};
  if (choice < 4) {
    const auto cell = cells.find(key);
    if (cell == cells.end() || cell->second.size() < kLongValue) {
      return {ChangeType::kMerge, std::move(key), "+" + NewValue()};
    }
  }
  return {ChangeType::kPut, std::move(key), NewValue()};
}

void Operator::StepWrite() {
  Session::Share* const share = session_->share(own_);
  const std::scoped_lock lock(share->mutex);
  Changes changes = {RandomChange()};
  if (random_.OneIn(6)) {
    // As each is drawn from the state before all, cells of single-delete rows
    // may come once only.
    for (uint64_t more = random_.Below(10); more > 0; --more) {
      Change change = RandomChange();
      bool is_new = true;
      for (const Change& other : changes) {
        is_new = is_new && other.key != change.key;
      }
      if (is_new) changes.push_back(std::move(change));
    }
  }
  session_->Write(share, changes, random_.OneIn(50));
}

void Operator::Read(const Checker& checker, const Worlds& worlds,
                    uint32_t share) {
  const KeySpace& keys = session_->keys();
  const auto any_key = [&] {
    switch (random_.Below(4)) {
      case 0:
        return keys.RandomAbsentKey(share, &random_);
      case 1:
        return keys.RandomSingleDeleteKey(share, &random_);
      default:
        return keys.RandomKey(share, &random_);
    }
  };
  const uint64_t choice = random_.Below(100);
  if (choice < 5) {
    checker.Rows(worlds, keys.AllRows(share), &random_);
  } else if (choice < 60) {
    checker.Get(worlds, any_key(), random_.OneIn(16));
  } else if (choice < 75) {
    std::vector<std::string> some(random_.Below(20));
    for (std::string& key : some) key = any_key();
    checker.MultiGet(worlds, some);
  } else if (choice < 98) {
    checker.PrefixScan(worlds, any_key(), keys.SharePrefix(share), &random_);
  } else {
    std::string begin = keys.SharePrefix(share);
    if (random_.OneIn(2)) begin = std::max(begin, any_key());
    checker.TotalOrderScan(worlds, begin, keys.ShareEnd(share));
  }
}

void Operator::StepRead() {
  const auto index =
      random_.OneIn(4)
          ? static_cast<uint32_t>(random_.Below(session_->share_count()))
          : own_;
  Session::Share* const share = session_->share(index);
  const std::shared_lock lock(share->mutex);
  Read(session_->NewChecker(), share->worlds(), index);
}

void Operator::StepSnapshot() {
  if (snapshot_ != nullptr) {
    if (random_.OneIn(8)) return ReleaseSnapshot();
    return Read(session_->NewChecker(snapshot_), {&cells_then_}, own_);
  }
  Session::Share* const share = session_->share(own_);
  const std::shared_lock lock(share->mutex);
  if (share->otherwise) return;
  cells_then_ = share->world;
  snapshot_ = session_->db()->GetSnapshot();
}

void Operator::ReleaseSnapshot() {
  if (snapshot_ != nullptr) session_->db()->ReleaseSnapshot(snapshot_);
  snapshot_ = nullptr;
}

void Operator::Compact() {
  rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = random_.OneIn(2);
  if (random_.OneIn(3)) {
    options.bottommost_level_compaction =
        rocksdb::BottommostLevelCompaction::kForce;
  }
  const std::string begin = session_->keys().SharePrefix(own_);
  const std::string end = session_->keys().ShareEnd(own_);
  const rocksdb::Slice from(begin);
  const rocksdb::Slice to(end);
  const bool all = random_.OneIn(2);
  session_->Check(session_->db()->CompactRange(options, all ? nullptr : &from,
                                               all ? nullptr : &to),
                  "compact");
}

void Operator::Ingest() {
  if (!session_->MayIngest()) return;
  Cells cells;
  for (uint64_t count = 1 + random_.Below(30); count > 0; --count) {
    cells[session_->keys().RandomKey(own_, &random_)] = NewValue();
  }
  // Before 7.10, RocksDB gets L0 files into the wrong order when entries in
  // memory were written before and after a file was ingested.
  std::vector<std::unique_lock<std::shared_mutex>> locks;
  for (size_t i = 0; i < session_->share_count(); ++i) {
    locks.emplace_back(session_->share(i)->mutex);
  }
  if (session_->Check(session_->db()->Flush({}), "flush")) {
    session_->Ingest(session_->share(own_), cells, random_.OneIn(2));
  }
}

void Operator::Step() {
  ++session_->report()->counters.operations;
  // Nothing is tried again once it failed: RocksDB would stop the process with
  // an assertion (7.8.3, a flush of range deletions).
  const auto is_time = [this](uint64_t n) {
    return n > 0 && random_.OneIn(n) && !session_->met_error();
  };
  if (is_time(rarity_.flush)) {
    session_->Check(session_->db()->Flush({}), "flush");
  } else if (is_time(rarity_.compaction)) {
    Compact();
  } else if (is_time(rarity_.ingestion)) {
    Ingest();
  } else if (random_.OneIn(12)) {
    StepSnapshot();
  } else if (random_.OneIn(2)) {
    StepWrite();
  } else {
    StepRead();
  }
}

void RunOperators(Session* session, const Rarity& rarity, uint64_t steps,
                  uint64_t seed) {
  InThreads(*session, [=](uint32_t share) {
    Operator its(session, share, rarity, test::Mix64(seed + share));
    for (uint64_t step = 0; step < steps && !session->report()->failed();
         ++step) {
      its.Step();
    }
  });
}

void RunFirstOperator(Session* session, const Rarity& rarity, int steps,
                      uint64_t seed) {
  Operator its(session, 0, rarity, seed);
  for (int step = 0; step < steps; ++step) its.Step();
}

}  // namespace rowbloom::stress

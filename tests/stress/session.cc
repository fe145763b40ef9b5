#include "tests/stress/session.h"

#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include "rocksdb/sst_file_writer.h"

namespace rowbloom::stress {

using rocksdb::Iterator;
using rocksdb::Status;

Shares NewShares(uint32_t count) {
  Shares shares;
  for (uint32_t i = 0; i < count; ++i) {
    shares.push_back(std::make_unique<Share>());
  }
  return shares;
}

bool Session::Open(Opening opening) {
  opening_ = std::move(opening);
  ++report()->counters.reopenings;
  rocksdb::DB* db = nullptr;
  const Status status =
      setting_.read_only
          ? rocksdb::DB::OpenForReadOnly(opening_.options, setting_.path, &db)
          : rocksdb::DB::Open(opening_.options, setting_.path, &db);
  db_.reset(db);
  return Check(status, "open");
}

void Session::Close() {
  db_.reset();
  if (opening_.rowbloom == nullptr) return;
  FilterStats stats;
  Check(GetFilterStats(*opening_.rowbloom, &stats), "filter stats");
  report()->AddFilterStats(stats);
  opening_.rowbloom.reset();
}

bool Session::Check(const Status& status, const char* what) {
  if (status.ok()) return true;
  if (setting_.errors == Errors::kNone) {
    report()->Divergence(std::string(what) + ": " + status.ToString());
  }
  met_error_ = true;
  return false;
}

Checker Session::NewChecker(const rocksdb::Snapshot* snapshot) const {
  return Checker({.db = db_.get(),
                  .extractor = opening_.extractor.get(),
                  .report = report(),
                  .errors = setting_.errors,
                  .verify_checksums = setting_.verify_checksums,
                  .snapshot = snapshot,
                  .iterators = setting_.iterators});
}

bool Session::Settle(Share* share, const Changes& changes, const Status& status,
                     const char* what) {
  if (Check(status, what)) {
    if (share->journal != nullptr) share->journal->Acknowledge();
    Apply(changes, &share->cells);
    return true;
  }
  share->otherwise = share->cells;
  Apply(changes, &*share->otherwise);
  return false;
}

bool Session::Write(Share* share, const Changes& changes, bool sync) {
  if (share->otherwise || changes.empty()) return false;
  if (share->journal != nullptr) share->journal->Intend(Encode(changes));
  rocksdb::WriteOptions options;
  options.sync = sync;
  rocksdb::WriteBatch batch = ToWriteBatch(changes);
  return Settle(share, changes, db_->Write(options, &batch), "write");
}

bool Session::Ingest(Share* share, const Cells& cells, bool move_file) {
  if (share->otherwise || cells.empty()) return false;
  const std::string path =
      setting_.path + "-ingest" + std::to_string(files_ingested_++);
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), opening_.options);
  Changes changes;
  Status status = writer.Open(path);
  for (const auto& [key, value] : cells) {
    if (status.ok()) status = writer.Put(key, value);
    changes.push_back({ChangeType::kPut, key, value});
  }
  if (status.ok()) status = writer.Finish();
  bool done = Check(status, "write a file to ingest");
  if (done) {
    if (share->journal != nullptr) share->journal->Intend(Encode(changes));
    rocksdb::IngestExternalFileOptions options;
    options.move_files = move_file;
    done = Settle(share, changes, db_->IngestExternalFile({path}, options),
                  "ingest");
  }
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return done;
}

void Session::Resolve() {
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  Cells all;
  const std::unique_ptr<Iterator> it(db_->NewIterator(options));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    all.emplace(it->key().ToString(), it->value().ToString());
  }
  Check(it->status(), "read everything");
  for (uint32_t i = 0; i < share_count(); ++i) {
    Cells cells;
    for (auto cell = all.lower_bound(keys().SharePrefix(i));
         cell != all.end() && cell->first < keys().ShareEnd(i);) {
      cells.insert(all.extract(cell++));
    }
    for (const std::string& odd : KeySpace::OddKeys(i)) {
      if (auto cell = all.extract(odd)) cells.insert(std::move(cell));
    }
    Share* const its = share(i);
    const bool took_place = its->otherwise && cells == *its->otherwise;
    if (!took_place && cells != its->cells) {
      // Says which cell.
      NewChecker().TotalOrderScan(its->worlds(), keys().SharePrefix(i),
                                  keys().ShareEnd(i));
      report()->Divergence("share " + std::to_string(i) +
                           " holds what it should not, or lacks a write");
    }
    if (its->otherwise && its->journal != nullptr) {
      took_place ? its->journal->Acknowledge() : its->journal->Lose();
    }
    if (took_place) its->cells = *its->otherwise;
    its->otherwise.reset();
  }
  for (const auto& [key, value] : all) {
    report()->Divergence("a key that nobody wrote", key);
  }
}

void Session::CheckEverything(Random* random) {
  const Checker checker = NewChecker();
  for (uint32_t i = 0; i < share_count(); ++i) {
    const Worlds worlds = share(i)->worlds();
    const std::string prefix = keys().SharePrefix(i);
    checker.TotalOrderScan(worlds, prefix, keys().ShareEnd(i));
    std::vector<std::string> batch;
    for (const Cells* cells : worlds) {
      for (const auto& [key, value] : *cells) {
        checker.Get(worlds, key, random->OneIn(16));
        if (random->OneIn(4)) {
          checker.PrefixScan(worlds, key, prefix, random);
        }
        batch.push_back(random->OneIn(4) ? keys().RandomAbsentKey(i, random)
                                         : key);
        if (batch.size() >= 40) {
          checker.MultiGet(worlds, batch);
          batch.clear();
        }
      }
    }
    checker.MultiGet(worlds, batch);
    for (uint32_t row = 0; row < keys().rows_per_share(); ++row) {
      checker.Get(worlds, keys().AbsentRow(i, row) + "a", false);
      checker.PrefixScan(worlds, keys().Row(i, row) + "b", prefix, random);
    }
  }
}

void Session::DeleteBehindTheModel() {
  for (uint32_t i = 0; i < share_count(); ++i) {
    const Cells& cells = share(i)->cells;
    const auto cell = cells.lower_bound(keys().SharePrefix(i));
    if (cell == cells.end()) continue;
    Check(db_->Delete({}, cell->first), "sabotage");
    return;
  }
}

void Session::ProveThatFiltersAreAsked(Random* random) {
  if (!opening_.gets_ask || report()->failed()) return;
  const uint32_t last = keys().rows_per_share() - 2;
  Share* const share = this->share(0);
  const std::scoped_lock lock(share->mutex);
  // A file with these two rows, whose filter is asked for all between.
  const bool written =
      Write(share, {{ChangeType::kPut, keys().Row(0, 0) + "a", "first"}},
            false) &&
      Write(share, {{ChangeType::kPut, keys().Row(0, last) + "a", "last"}},
            false) &&
      Check(db_->Flush({}), "flush");
  if (!written) return;
  FilterStats before;
  FilterStats after;
  Check(GetFilterStats(*opening_.rowbloom, &before), "filter stats");
  const Checker checker = NewChecker();
  for (int i = 0; i < 100; ++i) {
    const auto row = static_cast<uint32_t>(random->Below(last));
    checker.Get(share->worlds(), keys().AbsentRow(0, row) + "a", false);
  }
  Check(GetFilterStats(*opening_.rowbloom, &after), "filter stats");
  if (after.asked == before.asked) {
    report()->Divergence("no filter was asked");
  }
  if (opening_.gets_skip &&
      after.asked - after.may_match == before.asked - before.may_match) {
    report()->Divergence("no filter ruled anything out");
  }
}

}  // namespace rowbloom::stress

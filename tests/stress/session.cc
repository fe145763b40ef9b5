#include "tests/stress/session.h"

#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include "rocksdb/sst_file_writer.h"
#include "rowbloom/open_db.h"
#include "tests/stress/forgetful.h"

namespace rowbloom::stress {

using rocksdb::Iterator;
using rocksdb::Status;

bool Session::Open(Opening opening) {
  opening_ = std::move(opening);
  ++report()->counters.reopenings;
  rocksdb::Options options = opening_.options;
  std::shared_ptr<FrontFilter> front;
  Status status;
  if (opening_.front_filter) {
    status = FrontFilter::Create(*opening_.front_filter, &front);
    if (status.ok()) status = front->Prepare(&options, &options);
    if (setting_.rules.forgetful_memtables) {
      options.memtable_factory =
          NewForgetfulMemtables(options.memtable_factory);
    }
  }
  if (!Check(status, "front filter")) return false;
  status =
      setting_.read_only
          ? rocksdb::DB::OpenForReadOnly(options, setting_.path, Into(&db_))
          : rocksdb::DB::Open(options, setting_.path, Into(&db_));
  if (!Check(status, "open")) return false;
  if (front == nullptr) return true;
  if (!Check(front->Attach(db_.get()), "attach")) return false;
  if (opening_.waits_until_armed) front->WaitUntilArmed();
  front_ = new FrontFilterDB(std::move(db_), std::move(front));
  db_.reset(front_);
  return true;
}

bool Session::Open(Random* random) {
  OpeningRules rules = setting_.rules;
  rules.env = setting_.env;
  Opening opening = DrawOpening(*setting_.database, rules, random);
  report()->SetContext(report()->context() + " " + opening.description);
  return Open(std::move(opening));
}

void Session::Close() {
  if (front_ != nullptr) {
    report()->AddFrontFilterStats(front_->front_filter()->Stats());
    front_ = nullptr;
  }
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
                  .front = front_,
                  .extractor = opening_.extractor.get(),
                  .report = report(),
                  .errors = setting_.errors,
                  .verify_checksums = setting_.verify_checksums,
                  .snapshot = snapshot,
                  .iterators = setting_.iterators});
}

bool Session::Write(Share* share, const Changes& changes, bool sync) {
  if (share->otherwise || changes.empty()) return false;
  if (share->journal != nullptr) share->journal->Intend(Encode(changes));
  rocksdb::WriteOptions options;
  options.sync = sync;
  rocksdb::WriteBatch batch = ToWriteBatch(changes);
  return share->Settle(changes, Check(db_->Write(options, &batch), "write"));
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
    done = share->Settle(
        changes, Check(db_->IngestExternalFile({path}, options), "ingest"));
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
    if (!took_place && cells != its->world) {
      // Says which cell.
      NewChecker().TotalOrderScan(its->worlds(), keys().SharePrefix(i),
                                  keys().ShareEnd(i));
      report()->Divergence("share " + std::to_string(i) +
                           " holds what it should not, or lacks a write");
    }
    its->Resolve(took_place);
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
    checker.Rows(worlds, keys().AllRows(i), random);
    for (uint32_t row = 0; row < keys().rows_per_share(); ++row) {
      checker.Get(worlds, keys().AbsentRow(i, row) + "a", false);
      checker.PrefixScan(worlds, keys().Row(i, row) + "b", prefix, random);
    }
  }
}

void Session::DeleteBehindTheModel() {
  for (uint32_t i = 0; i < share_count(); ++i) {
    const Cells& cells = share(i)->world;
    const auto cell = cells.lower_bound(keys().SharePrefix(i));
    if (cell == cells.end()) continue;
    Check(db_->Delete({}, cell->first), "sabotage");
    return;
  }
}

Session::Asked Session::FiltersAsked() {
  FilterStats stats;
  Check(GetFilterStats(*opening_.rowbloom, &stats), "filter stats");
  Asked asked{.questions = stats.asked,
              .ruled_out = stats.asked - stats.may_match};
  if (front_ != nullptr) {
    const FrontFilterStats front = front_->front_filter()->Stats();
    asked.questions += front.asked;
    asked.ruled_out += front.answered;
  }
  return asked;
}

void Session::ProveThatFiltersAreAsked(Random* random) {
  if (!opening_.gets_ask || report()->failed()) return;
  const uint32_t last = keys().rows_per_share() - 2;
  Share* const share = this->share(0);
  const std::scoped_lock lock(share->mutex);
  // A file with these two rows, whose filter is asked for all between.
  const Changes rows = {{ChangeType::kPut, keys().Row(0, 0) + "a", "first"},
                        {ChangeType::kPut, keys().Row(0, last) + "a", "last"}};
  if (!Write(share, rows, false) || !Check(db_->Flush({}), "flush")) return;
  const Asked before = FiltersAsked();
  const Checker checker = NewChecker();
  for (int i = 0; i < 100; ++i) {
    const auto row = static_cast<uint32_t>(random->Below(last));
    checker.Get(share->worlds(), keys().AbsentRow(0, row) + "a", false);
  }
  const Asked after = FiltersAsked();
  if (after.questions == before.questions) {
    report()->Divergence("no filter was asked");
  }
  if (opening_.gets_skip && after.ruled_out == before.ruled_out) {
    report()->Divergence("no filter ruled anything out");
  }
}

}  // namespace rowbloom::stress

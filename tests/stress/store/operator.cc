#include "tests/stress/store/operator.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/stress/common_rounds.h"

namespace rowbloom::store_stress {

using rocksdb::Status;

namespace {

constexpr size_t kLongText = 200;  // Append makes it no longer
constexpr uint64_t kLoadedCells = 40;

bool IsSynced(const WriteOptions& options) {
  return options.durability == Durability::kSync;
}

}  // namespace

std::string Operator::RandomFamily(uint32_t share) {
  const Share& its = *session_->share(share);
  // The presence of the family is unknown after a change that was interrupted.
  if (random_.OneIn(4) && its.world.own_family() && !its.otherwise) {
    return OwnFamily(share);
  }
  return Families()[random_.Below(Families().size())].name;
}

std::string Operator::NewValue() {
  // Now and then a block of its own.
  const size_t padding = random_.OneIn(50) ? 20'000 : random_.Below(60);
  return std::to_string(own_) + "." + std::to_string(++values_) + "." +
         std::string(padding, 'v');
}

WriteOptions Operator::RandomOptions() {
  WriteOptions options;
  if (random_.OneIn(8)) options.durability = Durability::kSync;
  return options;
}

OwnedAddress Operator::RandomAddress(uint32_t share) {
  return {RandomRow(session_->key_layout(), share, &random_),
          RandomFamily(share), RandomQualifier(&random_)};
}

Change Operator::RandomPut() {
  auto [row, family, qualifier] = RandomAddress(own_);
  Change put{ChangeType::kPut, row, family, qualifier, NewValue()};
  if (family == kClient) {
    put.timestamp_ms = session_->share(own_)->world.RandomTimestamp(&random_);
  }
  if (random_.OneIn(8)) put.ttl_ms = random_.OneIn(2) ? 0 : kMaxTimestampMs;
  return put;
}

Change Operator::RandomChange() {
  if (!random_.OneIn(4)) return RandomPut();
  auto [row, family, qualifier] = RandomAddress(own_);
  if (random_.OneIn(8)) return {ChangeType::kDeleteRow, row, "", "", ""};
  Change change{ChangeType::kDelete, row, family, qualifier, ""};
  if (family == kClient) {
    change.timestamp_ms =
        session_->share(own_)->world.RandomTimestamp(&random_);
    if (random_.OneIn(2)) change.type = ChangeType::kDeleteVersion;
  }
  if (random_.OneIn(4)) {
    change.type = family == kClient && random_.OneIn(2)
                      ? ChangeType::kDeleteFamilyVersion
                      : ChangeType::kDeleteFamily;
    change.qualifier.clear();
  }
  return change;
}

Changes Operator::RandomChanges(uint64_t most) {
  Changes changes;
  for (uint64_t count = 1 + random_.Below(most); count > 0; --count) {
    changes.push_back(RandomChange());
  }
  return changes;
}

void Operator::WriteBatchOf(const Changes& changes, Share* share) {
  const WriteOptions options = RandomOptions();
  session_->Write(share, changes, "write", IsSynced(options), [&] {
    return session_->store()->Write(ToWriteBatch(changes), options);
  });
}

void Operator::Increment(Share* share) {
  OwnedAddress at = RandomAddress(own_);
  at.family = kCounted;
  at.qualifier = kCounter;
  const uint64_t delta = random_.Below(1000);
  const uint64_t sum =
      DecodeCounter(share->world.Value(at).value_or("")) + delta;
  int64_t found = 0;
  const WriteOptions options = RandomOptions();
  const bool done = session_->Write(
      share,
      {{ChangeType::kPut, at.row, at.family, at.qualifier, EncodeCounter(sum)}},
      "increment", IsSynced(options), [&] {
        return session_->store()->Increment(at.row, at.family, at.qualifier,
                                            static_cast<int64_t>(delta), &found,
                                            options);
      });
  if (done && found != static_cast<int64_t>(sum)) {
    session_->report()->Divergence("increment to " + std::to_string(found) +
                                       ", expected " + std::to_string(sum),
                                   at.row);
  }
}

void Operator::Append(Share* share) {
  OwnedAddress at = RandomAddress(own_);
  at.family = kLatest;
  at.qualifier = kText;
  const std::string before = share->world.Value(at).value_or("");
  if (before.size() > kLongText) {
    return WriteBatchOf(
        {{ChangeType::kDelete, at.row, at.family, at.qualifier, ""}}, share);
  }
  const std::string suffix = "+" + std::to_string(++values_);
  std::string joined;
  const WriteOptions options = RandomOptions();
  const bool done = session_->Write(
      share,
      {{ChangeType::kPut, at.row, at.family, at.qualifier, before + suffix}},
      "append", IsSynced(options), [&] {
        return session_->store()->Append(at.row, at.family, at.qualifier,
                                         suffix, &joined, options);
      });
  if (done && joined != before + suffix) {
    session_->report()->Divergence("append to " + joined, at.row);
  }
}

Change Operator::RandomUpdate(const World& world, WriteBatch* batch) {
  OwnedAddress at = RandomAddress(own_);
  const bool counts = random_.OneIn(2);
  at.family = counts ? kCounted : kLatest;
  at.qualifier = counts ? kCounter : kText;
  std::string value = world.Value(at).value_or("");
  if (counts) {
    const uint64_t delta = random_.Below(1000);
    batch->Increment(at.row, at.family, at.qualifier,
                     static_cast<int64_t>(delta));
    value = EncodeCounter(DecodeCounter(value) + delta);
  } else if (value.size() > kLongText) {
    value = "";
    batch->Put(at.row, at.family, at.qualifier, value);
  } else {
    batch->Append(at.row, at.family, at.qualifier, "-");
    value += "-";
  }
  return {ChangeType::kPut, at.row, at.family, at.qualifier, value};
}

Changes Operator::AddRandomUpdates(
    const World& before, WriteBatch* batch,
    const std::function<void(const World&)>& read) {
  World world = before;
  Changes changes;
  for (uint64_t count = 1 + random_.Below(6); count > 0; --count) {
    read(world);
    if (random_.OneIn(2)) {
      changes.push_back(RandomUpdate(world, batch));
    } else {
      changes.push_back(RandomChange());
      AddTo(changes.back(), batch);
    }
    world.Apply({changes.back()});
  }
  return changes;
}

void Operator::UpdateBatch(Share* share) {
  if (share->otherwise) return;
  WriteBatch batch;
  const Changes changes =
      AddRandomUpdates(share->world, &batch, [](const World&) {});
  const WriteOptions options = RandomOptions();
  session_->Write(share, changes, "write of updates", IsSynced(options),
                  [&] { return session_->store()->Write(batch, options); });
}

void Operator::Transact(Share* share) {
  if (share->otherwise) return;
  // The changes, and the reads between them, are drawn first.
  struct Seen {
    size_t changes;  // that come before it
    OwnedAddress at;
    std::optional<std::string> value;
  };
  WriteBatch batch;
  std::vector<Seen> reads;
  const Changes changes =
      AddRandomUpdates(share->world, &batch, [&](const World& world) {
        for (uint64_t count = random_.Below(3); count > 0; --count) {
          const OwnedAddress at = RandomAddress(own_);
          reads.push_back({batch.size(), at, world.Value(at)});
        }
      });
  const WriteOptions options = RandomOptions();
  const auto transact = [&]() -> Status {
    std::unique_ptr<Transaction> transaction;
    Status s = session_->store()->Begin(&transaction);
    auto read = reads.begin();
    for (const rowbloom::Change& change : batch.Changes()) {
      for (; s.ok() && read != reads.end() &&
             read->changes == transaction->size();
           ++read) {
        std::optional<std::string> value;
        s = transaction->Get(read->at.row, read->at.family, read->at.qualifier,
                             &value);
        if (s.ok() && value != read->value) {
          session_->report()->Divergence("a read in a transaction",
                                         read->at.row);
        }
      }
      if (s.ok()) transaction->Add(change);
    }
    return s.ok() ? transaction->Commit(options.durability) : s;
  };
  session_->Write(share, changes, "transaction", IsSynced(options), [&] {
    Status s = transact();
    // Other threads load and delete rows that share a lock with these.
    for (int tries = 0; s.IsBusy() && tries < 1000; ++tries) s = transact();
    return s;
  });
}

void Operator::CheckAndWrite(Share* share) {
  using Comparison = Condition::Comparison;
  const OwnedAddress at = RandomAddress(own_);
  Changes changes = RandomChanges(3);
  for (Change& change : changes) change.row = at.row;
  // Conditions that hold, and often one that does not.
  const bool applies = !random_.OneIn(3);
  std::vector<OwnedAddress> cells(1 + random_.Below(3), at);
  std::vector<std::optional<std::string>> values;
  for (OwnedAddress& cell : cells) {
    if (values.empty() || random_.OneIn(2)) {
      cell = RandomAddress(own_);
      cell.row = at.row;
    }
    values.push_back(share->world.Value(cell));
  }
  std::vector<Condition> conditions;
  for (size_t i = 0; i < cells.size(); ++i) {
    conditions.push_back(
        Condition::Equal(cells[i].family, cells[i].qualifier, values[i]));
    if (values[i] && random_.OneIn(2)) {
      conditions.back().comparison =
          random_.OneIn(2) ? Comparison::kAtMost : Comparison::kPresent;
    }
  }
  if (!applies) {
    Condition& wrong = conditions[random_.Below(conditions.size())];
    wrong.comparison = wrong.comparison == Comparison::kAbsent
                           ? Comparison::kPresent
                           : Comparison::kGreater;
  }
  bool applied = false;
  const WriteOptions options = RandomOptions();
  const auto call = [&] {
    return session_->store()->CheckAndWrite(
        at.row, conditions, ToWriteBatch(changes), &applied, options);
  };
  const bool done = applies
                        ? session_->Write(share, changes, "check and write",
                                          IsSynced(options), call)
                        : !share->otherwise && session_->Check(call(), "check");
  if (done && applied != applies) {
    session_->report()->Divergence(std::string("check and write was ") +
                                       (applied ? "" : "not ") + "applied",
                                   at.row);
  }
}

void Operator::Load(Share* share) {
  // By family, row, qualifier: what a load wants, and each cell once.
  std::map<std::tuple<std::string, std::string, std::string>, Change> sorted;
  for (uint64_t count = 1 + random_.Below(kLoadedCells); count > 0; --count) {
    Change change = RandomPut();
    if (change.family == kClient && random_.OneIn(4)) {
      // The delete takes a version that is there, if the cell has one.
      const std::vector<Cell> newest = share->world.GetVersions(
          {change.row, change.family, change.qualifier}, 1);
      change = {ChangeType::kDeleteFamilyVersion,
                change.row,
                change.family,
                "",
                "",
                newest.empty() ? change.timestamp_ms : newest[0].timestamp_ms};
    }
    sorted.insert_or_assign({change.family, change.row, change.qualifier},
                            change);
  }
  Changes changes;
  for (auto& [cell, change] : sorted) changes.push_back(std::move(change));
  const BulkLoadOptions options = {
      .file_bytes = random_.OneIn(2) ? uint64_t{2000} : uint64_t{1} << 20};
  std::unique_ptr<BulkLoad> load;
  const auto begin = [&] {
    Status s = session_->store()->NewBulkLoad(options, &load);
    for (const Change& change : changes) {
      if (!s.ok()) break;
      s = load->Add({change.type, change.row, change.family, change.qualifier,
                     change.value, change.timestamp_ms, change.ttl_ms});
    }
    return s;
  };
  // One that is given up leaves nothing.
  if (!session_->Check(begin(), "load") || random_.OneIn(8)) return;
  session_->Write(share, changes, "finish a load", /*synced=*/true, [&] {
    Status s = load->Finish();
    // Other threads delete versions of whole rows in the same family.
    for (int tries = 0; s.IsAborted() && tries < 1000; ++tries) {
      s = begin();
      if (s.ok()) s = load->Finish();
    }
    return s;
  });
}

void Operator::ChangeFamily(Share* share) {
  if (share->otherwise) return;
  const auto& now = share->world.own_family();
  Change change{.family = OwnFamily(own_)};
  change.family_change = !now               ? FamilyChange::kCreate
                         : random_.OneIn(3) ? FamilyChange::kDrop
                                            : FamilyChange::kAlter;
  change.family_options = 2 * random_.Below(100);
  // The cell format stays.
  if (now ? now->max_versions > 1 : random_.OneIn(2)) ++change.family_options;
  const FamilyOptions options = OwnFamilyOptions(change.family_options);
  // Options that stay as they are are not written.
  const bool is_written =
      change.family_change != FamilyChange::kAlter || !(options == *now);
  Store* const store = session_->store();
  // It would read a family that has gone, or has come.
  snapshot_.reset();
  const bool done =
      session_->Write(share, {change}, "change of a family", is_written, [&] {
        switch (change.family_change) {
          case FamilyChange::kCreate:
            return store->CreateFamily(change.family, options);
          case FamilyChange::kAlter:
            return store->AlterFamily(change.family, options);
          default:
            return store->DropFamily(change.family);
        }
      });
  if (done) ++session_->report()->counters.family_changes;
}

void Operator::StepWrite() {
  Share* const share = session_->share(own_);
  const std::scoped_lock lock(share->mutex);
  if (rarity_.family > 0 && random_.OneIn(rarity_.family)) {
    return ChangeFamily(share);
  }
  if (rarity_.load > 0 && random_.OneIn(rarity_.load)) return Load(share);
  switch (random_.Below(10)) {
    case 0:
      return Increment(share);
    case 1:
      return Append(share);
    case 2:
      return CheckAndWrite(share);
    case 3:
      return WriteBatchOf(RandomChanges(12), share);
    case 4:
      return UpdateBatch(share);
    case 5:
      return Transact(share);
    default:
      WriteBatchOf(RandomChanges(2), share);
  }
}

RowOptions Operator::RandomRowOptions(uint32_t share) {
  RowOptions options;
  if (random_.OneIn(3)) {
    options.columns = {{kClient}};
    options.max_versions = 1 + static_cast<uint32_t>(random_.Below(3));
  } else if (random_.OneIn(2) || !session_->iterators()) {
    for (uint64_t count = 1 + random_.Below(3); count > 0; --count) {
      options.columns.push_back(
          {RandomFamily(share), RandomQualifier(&random_)});
    }
  }
  return options;
}

void Operator::Read(const Worlds& worlds, uint32_t share,
                    const Snapshot* snapshot) {
  const auto any_row = [&] {
    return random_.OneIn(4)
               ? AbsentRow(session_->key_layout(), share, &random_)
               : RandomRow(session_->key_layout(), share, &random_);
  };
  const uint64_t choice = random_.Below(100);
  if (choice < 40) {
    OwnedAddress at = RandomAddress(share);
    at.row = any_row();
    session_->ReadCell(worlds, at, snapshot);
  } else if (choice < 60) {
    std::vector<OwnedAddress> addresses(1 + random_.Below(12));
    for (OwnedAddress& at : addresses) {
      at = RandomAddress(share);
      if (random_.OneIn(2)) at.row = addresses.front().row;
    }
    session_->ReadCells(worlds, addresses, snapshot);
  } else if (choice < 92 || !session_->iterators()) {
    RowOptions options = RandomRowOptions(share);
    // Families are read with iterators, columns without.
    if (!session_->iterators() &&
        (options.columns.empty() || !options.columns.front().qualifier)) {
      return;
    }
    options.snapshot = snapshot;
    session_->ReadRow(worlds, any_row(), options);
  } else {
    ScanOptions options{.row_prefix = SharePrefix(share),
                        .reverse = random_.OneIn(2)};
    if (random_.OneIn(2)) options.start_row = any_row();
    if (random_.OneIn(2)) options.limit = 1 + random_.Below(8);
    options.row = RandomRowOptions(share);
    options.row.snapshot = snapshot;
    session_->Scan(worlds, options);
  }
}

void Operator::StepRead() {
  const auto index =
      random_.OneIn(4)
          ? static_cast<uint32_t>(random_.Below(session_->share_count()))
          : own_;
  Share* const share = session_->share(index);
  const std::shared_lock lock(share->mutex);
  Read(share->worlds(), index, nullptr);
}

void Operator::StepSnapshot() {
  if (snapshot_ != nullptr) {
    if (random_.OneIn(8)) return snapshot_.reset();
    return Read({&*world_then_}, own_, snapshot_.get());
  }
  Share* const share = session_->share(own_);
  const std::shared_lock lock(share->mutex);
  if (share->otherwise) return;
  session_->Check(session_->store()->GetSnapshot(&snapshot_), "snapshot");
  world_then_ = share->world;
}

void Operator::Compact() {
  CompactOptions options;
  if (random_.OneIn(2)) options.family = RandomFamily(own_);
  if (random_.OneIn(2)) {
    options.start_row = SharePrefix(own_);
    options.stop_row = SharePrefix(own_ + 1);
  }
  session_->Check(session_->store()->Compact(options), "compact");
}

void Operator::Step() {
  ++session_->report()->counters.operations;
  // Nothing is tried again once it failed, as filter_stress has it.
  const auto is_time = [this](uint64_t n) {
    return n > 0 && random_.OneIn(n) && !session_->met_error();
  };
  if (is_time(rarity_.flush)) {
    session_->Flush();
  } else if (is_time(rarity_.compaction)) {
    Compact();
  } else if (common_ != nullptr && is_time(rarity_.common)) {
    common_->Step(own_, ++values_, &random_);
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
  CommonRows common(session);
  stress::InThreads(*session, [=, &common](uint32_t share) {
    Operator its(session, &common, share, rarity, test::Mix64(seed + share));
    for (uint64_t step = 0; step < steps && !session->report()->failed();
         ++step) {
      its.Step();
    }
  });
  common.Check();
}

void RunFirstOperator(Session* session, const Rarity& rarity, int steps,
                      uint64_t seed) {
  Operator its(session, nullptr, 0, rarity, seed);
  for (int step = 0; step < steps; ++step) its.Step();
}

}  // namespace rowbloom::store_stress

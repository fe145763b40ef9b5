#include "tests/stress/store/session.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "rowbloom/printable.h"
#include "storage/store/open_store.h"
#include "tests/storage/store/random_names.h"
#include "tests/stress/store/common_rows.h"

namespace rowbloom::store_stress {

using rocksdb::Status;

namespace {

constexpr uint32_t kMostVersions = 3;
constexpr uint64_t kClockErrorMs = 10'000;

std::string ToText(const std::vector<Cell>& cells) {
  std::string text;
  for (const Cell& cell : cells) {
    text += " " + cell.family + ":" + ToPrintable(cell.qualifier) + "@" +
            std::to_string(cell.timestamp_ms) + "=" +
            ToPrintable(cell.value.substr(0, 40));
  }
  return text.empty() ? " nothing" : text;
}

// The scans that Observe makes, one after the other, of a share that has a
// family of its own or has none.
std::vector<ScanOptions> Views(uint32_t share, bool has_own_family) {
  ScanOptions versions{.row_prefix = SharePrefix(share)};
  versions.row.columns = {{kClient}};
  versions.row.max_versions = kMostVersions;
  ScanOptions newest{.row_prefix = SharePrefix(share)};
  newest.row.columns = {{kCounted}, {kLatest}};
  if (has_own_family) newest.row.columns.push_back({OwnFamily(share)});
  return {versions, newest};
}

bool IsOfCells(const Changes& changes) {
  return std::none_of(changes.begin(), changes.end(), [](const Change& change) {
    return change.family_change != FamilyChange::kNone;
  });
}

}  // namespace

bool Session::Open(Random* random) {
  ++report()->counters.reopenings;
  if (setting_.remembers_writes) {
    for (const auto& its : *setting_.shares) {
      its->before = its->world;
      its->written.clear();
    }
  }
  const StoreOptions options{
      .create_if_missing = setting_.create_if_missing,
      .key_layout = setting_.key_layout,
      .block_cache_bytes = size_t{16} << (10 + random->Below(9)),
      .write_buffer_bytes = size_t{64} << 10,
      .front_filter_limit_bytes = test::RandomFrontFilterLimit(random),
      .auto_compaction = !random->OneIn(4),
      .transactions = true,
      .env = setting_.env};
  const uint64_t ahead_ms = random->Below(2 * kClockErrorMs);
  const WallClock wall_clock = [ahead_ms] {
    return SystemWallClock() + ahead_ms - kClockErrorMs;
  };
  const Status s =
      OpenStore(options, setting_.path, Families(), wall_clock, &store_);
  // RocksDB reports in these ways that CURRENT could not be opened.
  const bool is_renamed =
      s.IsInvalidArgument() &&
      (s.ToString().find("Direct I/O is not supported") != std::string::npos ||
       s.ToString().find("incompatible with filesystem") != std::string::npos);
  return Check(is_renamed ? Status::IOError(s.ToString()) : s, "open");
}

void Session::Close() {
  if (store_ == nullptr) return;
  StoreStats stats;
  if (Check(store_->Stats(&stats), "stats")) {
    for (const auto& [name, family] : stats.families) {
      report()->AddFilterStats(family.filter);
    }
    if (stats.front_filter) report()->AddFrontFilterStats(*stats.front_filter);
  }
  store_.reset();
}

bool Session::Check(const Status& status, const std::string& what,
                    std::string_view row) {
  if (status.ok()) return true;
  met_error_ = true;
  if (setting_.errors == Errors::kIoErrorOrCorruption &&
      (status.IsIOError() || status.IsCorruption())) {
    ++report()->counters.errors;
  } else {
    report()->Divergence(what + ": " + status.ToString(), row);
  }
  return false;
}

void Session::ReadCell(const Worlds& worlds, const OwnedAddress& at,
                       const Snapshot* snapshot) {
  ++report()->counters.reads_checked;
  std::optional<std::string> value;
  const Status status = store_->Get(at.row, at.family, at.qualifier, &value,
                                    {.snapshot = snapshot});
  if (!Check(status, "get", at.row)) return;
  for (const World* world : worlds) {
    if (world->Value(at) == value) return;
  }
  report()->Divergence(
      "get of " + at.family + ":" + ToPrintable(at.qualifier) + ": found " +
          (value ? ToPrintable(*value) : "nothing") + ", expected " +
          ToText(worlds.front()->GetVersions(at, 1)),
      at.row);
}

void Session::ReadCells(const Worlds& worlds,
                        const std::vector<OwnedAddress>& addresses,
                        const Snapshot* snapshot) {
  ++report()->counters.reads_checked;
  std::vector<std::vector<Cell>> cells;
  if (!Check(
          store_->MultiGet(ViewsOf(addresses), &cells, {.snapshot = snapshot}),
          "multi-get")) {
    return;
  }
  std::string difference;
  for (const World* world : worlds) {
    size_t same = 0;
    while (same < addresses.size() &&
           World::WithoutStoreTimes(cells[same]) ==
               world->GetVersions(addresses[same], 1)) {
      ++same;
    }
    if (same == addresses.size()) return;
    const OwnedAddress& at = addresses[same];
    difference = "multi-get of " + ToPrintable(at.row) + " " + at.family + ":" +
                 ToPrintable(at.qualifier) + ": found" + ToText(cells[same]) +
                 ", expected" + ToText(world->GetVersions(at, 1));
  }
  report()->Divergence(difference);
}

void Session::ReadRow(const Worlds& worlds, const std::string& row,
                      const RowOptions& options) {
  ++report()->counters.reads_checked;
  std::vector<Cell> cells;
  if (!Check(store_->GetRow(row, &cells, options), "get of a row", row)) return;
  cells = World::WithoutStoreTimes(std::move(cells));
  for (const World* world : worlds) {
    if (cells == world->GetRow(row, options)) return;
  }
  report()->Divergence("get of a row: found" + ToText(cells) + ", expected" +
                           ToText(worlds.front()->GetRow(row, options)),
                       row);
}

void Session::Scan(const Worlds& worlds, const ScanOptions& options) {
  ++report()->counters.reads_checked;
  std::vector<Row> found;
  RowScanner rows;
  if (!Check(store_->Scan(options, &rows), "scan", options.row_prefix)) return;
  for (const Row& row : rows) {
    found.push_back({row.row, World::WithoutStoreTimes(row.cells)});
  }
  if (!Check(rows.status(), "scan", options.row_prefix)) return;
  std::string difference;
  for (const World* world : worlds) {
    const std::vector<Row> expected = world->Scan(options);
    size_t same = 0;
    while (same < found.size() && same < expected.size() &&
           found[same] == expected[same]) {
      ++same;
    }
    if (same == found.size() && same == expected.size()) return;
    const auto row_at = [same](const std::vector<Row>& list) {
      return same < list.size()
                 ? " " + ToPrintable(list[same].row) + ToText(list[same].cells)
                 : std::string(" the end");
    };
    difference =
        "scan: found" + row_at(found) + ", expected" + row_at(expected);
  }
  report()->Divergence(difference, options.row_prefix);
}

std::vector<Row> Session::Observe(uint32_t share) {
  std::vector<Row> observed;
  const bool has_own_family = ObserveOwnFamily(share).has_value();
  for (const ScanOptions& view : Views(share, has_own_family)) {
    RowScanner rows;
    Check(store_->Scan(view, &rows), "scan of everything", view.row_prefix);
    for (const Row& row : rows) {
      observed.push_back({row.row, World::WithoutStoreTimes(row.cells)});
    }
    Check(rows.status(), "scan of everything", view.row_prefix);
  }
  return observed;
}

std::optional<FamilyOptions> Session::ObserveOwnFamily(uint32_t share) {
  const auto families = store_->Families();
  const auto found = families.find(OwnFamily(share));
  if (found == families.end()) return std::nullopt;
  return found->second;
}

std::function<bool(const World&)> Session::Holder(uint32_t share) {
  return [share, observed = Observe(share),
          own_family = ObserveOwnFamily(share)](const World& world) {
    if (world.own_family() != own_family) return false;
    std::vector<Row> expected;
    for (const ScanOptions& view : Views(share, own_family.has_value())) {
      for (Row& row : world.Scan(view)) expected.push_back(std::move(row));
    }
    return observed == expected;
  };
}

void Session::ReportWrongShare(uint32_t index) {
  // Says which cell.
  for (const ScanOptions& view : Views(index, false)) {
    Scan(share(index)->worlds(), view);
  }
  report()->Divergence("share " + std::to_string(index) +
                           " holds what it should not, or lacks a write, or "
                           "has a part of one",
                       SharePrefix(index));
}

void Session::CheckShare(uint32_t index) {
  if (!Holder(index)(share(index)->world)) ReportWrongShare(index);
}

void Session::Resolve() {
  for (uint32_t i = 0; i < share_count(); ++i) {
    const auto is_it = Holder(i);
    Share* const its = share(i);
    const bool took_place = its->otherwise && is_it(*its->otherwise);
    if (!took_place && !is_it(its->world)) ReportWrongShare(i);
    Changes unseen;
    if (took_place && is_it(its->world)) {
      unseen = its->world.WithoutRowDeletes(its->interrupted);
    }
    its->Resolve(took_place);
    WriteAgain(its, unseen);
  }
  CheckOtherRows();
}

void Session::WriteAgain(Share* share, const Changes& changes) {
  if (changes.empty() || !IsOfCells(changes)) return;
  Check(store_->Write(ToWriteBatch(changes)), "write again");
  Changes deletes;
  for (const Change& change : changes) {
    if (change.type == ChangeType::kPut && change.ttl_ms == 0 &&
        !change.timestamp_ms) {
      deletes.push_back({ChangeType::kDelete, change.row, change.family,
                         change.qualifier, ""});
    }
  }
  Write(share, deletes, "delete of what is unseen", /*synced=*/false,
        [&] { return store_->Write(ToWriteBatch(deletes)); });
}

void Session::ResolvePowerCut(uint64_t synced) {
  // The numbers of a share's writes that are there for sure, and that may be;
  // and all of its writes.
  struct Range {
    size_t least = 0;
    size_t most = 0;
    std::vector<Changes> writes;
  };
  std::vector<Range> ranges;
  // The writes of a share that were acknowledged before a time.
  const auto count_before = [](const Share& its, uint64_t moment) {
    size_t count = 0;
    for (const Written& write : its.written) {
      if (write.acknowledged < moment) ++count;
    }
    return count;
  };
  uint64_t survived = synced;  // acknowledged before this moment
  for (uint32_t i = 0; i < share_count(); ++i) {
    Share* const its = share(i);
    const auto is_it = Holder(i);
    size_t needed = count_before(*its, synced);
    for (size_t count = needed; count < its->written.size(); ++count) {
      const Written& write = its->written[count];
      if (write.synced && write.acknowledged != kNever) needed = count + 1;
    }
    World world = its->before;
    std::optional<World> found;
    Range range;
    for (size_t count = 0; count <= its->written.size(); ++count) {
      if (count > 0) {
        const Changes& changes = its->written[count - 1].changes;
        range.writes.push_back(world.WithoutRowDeletes(changes));
        world.Apply(changes);
      }
      if (count < needed || !is_it(world)) continue;
      if (!found) range.least = count;
      range.most = count;
      found = world;
    }
    its->world = found.value_or(world);
    its->otherwise.reset();
    if (!found) return ReportWrongShare(i);
    if (range.least > 0) {
      survived = std::max(survived, its->written[range.least - 1].begun);
    }
    ranges.push_back(std::move(range));
  }
  for (uint32_t i = 0; i < share_count(); ++i) {
    Share* const its = share(i);
    const auto& [least, most, writes] = ranges[i];
    if (most < count_before(*its, survived)) {
      report()->Divergence("share " + std::to_string(i) +
                               " lacks a write that was acknowledged before "
                               "one began that is there",
                           SharePrefix(i));
    }
    for (size_t write = least; write < most; ++write) {
      WriteAgain(its, writes[write]);
    }
    its->written.clear();
  }
  Check(store_->Flush(), "flush");
  CheckOtherRows();
}

void Session::NoteSync(uint64_t begun) {
  uint64_t known = synced_;
  while (known < begun && !synced_.compare_exchange_weak(known, begun)) {
  }
}

void Session::Flush() {
  const uint64_t begun = ++moment_;
  if (Check(store_->Flush(), "flush")) NoteSync(begun);
}

void Session::CheckOtherRows() {
  RowScanner rows;
  if (!Check(store_->Scan({}, &rows), "scan of all rows")) return;
  for (const Row& row : rows) {
    const auto share = static_cast<unsigned char>(row.row.front());
    if (share >= share_count() && !IsCommonRow(row.row)) {
      report()->Divergence("a row that nobody writes", row.row);
    }
  }
  Check(rows.status(), "scan of all rows");
}

void Session::CheckEverything(Random* random) {
  CommonRows(this).Check();
  for (uint32_t i = 0; i < share_count(); ++i) {
    const Worlds worlds = share(i)->worlds();
    for (const ScanOptions& view :
         Views(i, worlds.front()->own_family().has_value())) {
      Scan(worlds, view);
    }
    std::vector<OwnedAddress> batch;
    for (const Row& row : worlds.back()->Scan({})) {
      ReadRow(worlds, row.row, {});
      for (const Cell& cell : row.cells) {
        const OwnedAddress at{row.row, cell.family, cell.qualifier};
        ReadCell(worlds, at, nullptr);
        batch.push_back(at);
        if (random->OneIn(4)) {
          batch.back().row = AbsentRow(key_layout(), i, random);
        }
      }
      if (batch.size() < 40) continue;
      ReadCells(worlds, batch, nullptr);
      batch.clear();
    }
    ReadCells(worlds, batch, nullptr);
    for (int absent = 0; absent < 20; ++absent) {
      const std::string row = AbsentRow(key_layout(), i, random);
      ReadCell(worlds, {row, kClient, "a"}, nullptr);
      ReadRow(worlds, row, {});
    }
  }
}

void Session::ProveThatFiltersAreAsked(Random* random) {
  if (report()->failed()) return;
  Share* const share = this->share(0);
  const std::scoped_lock lock(share->mutex);
  // A file with these two rows, whose filter is asked for all between.
  const std::string end(key_layout().FixedRowBytes() ? 3 : 1, '\xff');
  const Changes changes = {
      {ChangeType::kPut, SharePrefix(0) + std::string(end.size(), '\0'),
       kLatest, "a", "first"},
      {ChangeType::kPut, SharePrefix(0) + end, kLatest, "a", "last"}};
  if (!Write(share, changes, "write", /*synced=*/false,
             [&] { return store_->Write(ToWriteBatch(changes)); }) ||
      !Check(store_->Flush(), "flush")) {
    return;
  }
  // Lookups and absent rows, counted by the front filter or by those of the
  // files.
  const auto count = [this] {
    StoreStats stats;
    Check(store_->Stats(&stats), "stats");
    const FilterStats& files = stats.families[kLatest].filter;
    std::pair<uint64_t, uint64_t> asked_and_ruled_out = {files.asked,
                                                         files.row.skipped};
    if (!stats.front_filter) return asked_and_ruled_out;
    for (const FrontFilterFamilyStats& front : stats.front_filter->families) {
      if (front.name != kLatest) continue;
      asked_and_ruled_out.first += front.asked;
      asked_and_ruled_out.second += front.answered;
    }
    return asked_and_ruled_out;
  };
  const auto before = count();
  for (int i = 0; i < 100; ++i) {
    const std::string row = AbsentRow(key_layout(), 0, random);
    ReadCell(share->worlds(), {row, kLatest, "a"}, nullptr);
  }
  const auto after = count();
  if (after.first == before.first) report()->Divergence("no filter was asked");
  if (after.second == before.second) {
    report()->Divergence("no filter ruled anything out");
  }
}

void Session::DeleteBehindTheModel() {
  for (uint32_t i = 0; i < share_count(); ++i) {
    for (const Row& row : share(i)->world.Scan({})) {
      Check(store_->DeleteRow(row.row), "sabotage");
      for (const Cell& cell : row.cells) {
        if (cell.family == kClient) continue;  // which such a delete leaves
        return;
      }
    }
  }
}

}  // namespace rowbloom::store_stress

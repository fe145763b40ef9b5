// Random writes and reads of every kind, in both cell formats, against
// StoreModel, with flushes, compactions, snapshots and reopening in between.
// ROWBLOOM_TEST_SCALE=100 makes it 2,000,000 operations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "rowbloom/printable.h"
#include "tests/storage/store/model_families.h"
#include "tests/storage/store/random_names.h"
#include "tests/storage/store/store_model.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"

namespace rowbloom {

namespace test {
namespace {

using rocksdb::Status;
using ::testing::HasSubstr;

// More than a cell can run ahead of the clock in one batch, milliseconds.
constexpr uint64_t kAheadMs = 9;
// The most that a cell runs ahead of the clock, by write_batch.h.
constexpr uint64_t kMaxAheadMs = 1000;

// The model's families, and more of one format that differ in their filters.
const std::map<std::string, FamilyOptions>& AllFamilies() {
  static const auto families = [] {
    std::map<std::string, FamilyOptions> all = kModelFamilies;
    all["latest_none"] = {.bloom_type = BloomType::kNone};
    all["latest_prefix"] = {.bloom_type = BloomType::kRowPrefixFixedLength,
                            .row_prefix_length = 2};
    all["latest_row"] = {.bloom_type = BloomType::kRow,
                         .block_size_bytes = 1024};
    return all;
  }();
  return families;
}

class VersionsModel : public ::testing::TestWithParam<const char*> {
 protected:
  struct Moment {
    std::unique_ptr<const Snapshot> snapshot;
    StoreModel model;
  };

  void Open(std::optional<uint64_t> front_filter_limit_bytes = {}) {
    moment_.reset();
    store_.reset();
    // Past the bound from which the store's clock goes on.
    now_ms_ += 3 * LeasedClock::kLeaseMs;
    StoreOptions options;
    options.key_layout = *KeyLayout::FromString(GetParam());
    options.write_buffer_bytes = size_t{64} << 10;
    options.transactions = true;
    options.front_filter_limit_bytes =
        front_filter_limit_bytes.value_or(RandomFrontFilterLimit(&random_));
    store_ = OpenOrFail(options, dir_.File("db"), Descriptors(AllFamilies()),
                        [this] { return now_ms_.load(); });
  }

  std::string RandomBytes(size_t byte_count) {
    return RandomName(byte_count, &random_);
  }
  std::string RandomRow() {
    if (only_row_) return *only_row_;
    return RandomRowOf(*KeyLayout::FromString(GetParam()), 3, &random_);
  }
  std::string RandomFamily() {
    return std::next(
               AllFamilies().begin(),
               static_cast<std::ptrdiff_t>(random_.Below(AllFamilies().size())))
        ->first;
  }
  OwnedAddress RandomAddress() {
    return {RandomRow(), RandomFamily(), RandomBytes(random_.Below(3))};
  }
  // Near the time, and often one that was used before.
  uint64_t RandomTimestamp() {
    if (!used_.empty() && random_.OneIn(2)) {
      return used_[random_.Below(used_.size())];
    }
    const uint64_t timestamp_ms = now_ms_ + 2000 - random_.Below(2 * kModelTtl);
    if (used_.size() < 50) used_.emplace_back();
    used_[random_.Below(used_.size())] = timestamp_ms;
    return timestamp_ms;
  }

  std::optional<uint64_t> RandomTtl() {
    if (!random_.OneIn(4)) return std::nullopt;
    return random_.OneIn(8) ? 0 : random_.Below(2 * kModelTtl);
  }

  static bool IsClients(const std::string& family) {
    return AllFamilies().at(family).timestamps == Timestamps::kClient;
  }
  static bool KeepsLatest(const std::string& family) {
    return family.starts_with("latest");
  }

  // The newest timestamp of a cell, or of the row in the family, after the
  // changes that are to be told: a delete may have taken the newest put.
  std::optional<uint64_t> NewestPut(const std::string& row,
                                    const std::string& family,
                                    const std::string* qualifier) {
    std::optional<uint64_t> newest;
    RowOptions options;
    options.columns = {{family}};
    if (qualifier != nullptr) options.columns[0].qualifier = *qualifier;
    for (const Cell& cell : After(row).GetRow(row, options, /*now_ms=*/0)) {
      newest = std::max(newest, std::optional(cell.timestamp_ms));
    }
    return newest;
  }

  // The timestamp that the store gives a put, as write_batch.h says. Between
  // two operations the clock goes on by more than a batch runs ahead.
  uint64_t GivenToPut(const OwnedAddress& at, bool replaces = false) {
    const std::pair cell{at.row, at.family + ":" + at.qualifier};
    uint64_t& put = put_[cell];
    const bool stays = replaces || put >= now_ms_ + kMaxAheadMs;
    put = std::max({now_ms_.load(), stays ? put : put + 1, given_[cell] + 1,
                    given_[{at.row, at.family}] + 1});
    return put;
  }
  // A put of a cell had it, or a delete. `of` is a cell's "family:qualifier",
  // or a family.
  void NotePut(const std::string& row, const std::string& of,
               uint64_t timestamp_ms) {
    if (IsNear(timestamp_ms)) put_[{row, of}] = timestamp_ms;
  }
  void Note(const std::string& row, const std::string& of,
            uint64_t timestamp_ms) {
    if (!IsNear(timestamp_ms)) return;
    uint64_t& given = given_[{row, of}];
    given = std::max(given, timestamp_ms);
  }
  bool IsNear(uint64_t timestamp_ms) const {
    return timestamp_ms >= now_ms_ && timestamp_ms <= now_ms_ + kMaxAheadMs;
  }

  // Adds a random put to a batch, and to what the model is told after it.
  void AddPut(WriteBatch* batch) {
    const auto [row, family, qualifier] = RandomAddress();
    const std::string value =
        std::to_string(++writes_) + std::string(random_.Below(60), 'v');
    std::optional<uint64_t> given;
    if (IsClients(family) && !random_.OneIn(4)) given = RandomTimestamp();
    std::optional<uint64_t> ttl_ms = RandomTtl();
    batch->Put(row, family, qualifier, value, given, ttl_ms);
    if (!ttl_ms) ttl_ms = batch_ttl_ms_;
    uint64_t timestamp_ms = now_ms_;
    if (given) {
      timestamp_ms = *given;
      const std::pair cell{row, family + ":" + qualifier};
      NotePut(row, cell.second, std::max(*given, put_[cell]));
    } else if (!KeepsLatest(family)) {
      timestamp_ms = GivenToPut({row, family, qualifier});
    }
    batch_puts_.push_back({{row, family, qualifier}, timestamp_ms});
    told_.push_back(
        [=, row = row, family = family, qualifier = qualifier](StoreModel* m) {
          m->Put(row, family, qualifier, timestamp_ms, value, ttl_ms);
        });
  }

  // The model of a row after the changes that are to be told.
  StoreModel After(const std::string& row) const {
    StoreModel after = model_.OfRow(row);
    for (const auto& tell : told_) tell(&after);
    return after;
  }

  // Adds an increment or an append, whose value depends on the changes so far.
  // Sets refused_ if a delete of a later time would hide what it makes.
  void AddUpdate(WriteBatch* batch) {
    OwnedAddress at = RandomAddress();
    const bool counts = random_.OneIn(2);
    if (counts) at.qualifier = "cnt";  // longer than those of other changes
    StoreModel model = After(at.row);
    const std::vector<Cell> newest =
        model.GetVersions(at, ReadOptions(), now_ms_);
    std::string value = newest.empty() ? "" : newest[0].value;
    std::optional<uint64_t> ttl_ms = batch_ttl_ms_;
    if (!newest.empty() && !ttl_ms) {
      ttl_ms = model.TtlOf(at, newest[0].timestamp_ms);
    }
    if (counts) {
      int64_t counter = 0;
      if (!newest.empty()) {
        ASSERT_TRUE(DecodeCounter(value, &counter));
      }
      const auto delta = static_cast<int64_t>(random_.Below(1000)) - 500;
      batch->Increment(at.row, at.family, at.qualifier, delta);
      value = EncodeCounter(counter + delta);
    } else {
      batch->Append(at.row, at.family, at.qualifier, "+");
      value += "+";
    }
    uint64_t timestamp_ms = now_ms_;
    if (!KeepsLatest(at.family)) {
      timestamp_ms = GivenToPut(at, !newest.empty());
      if (!newest.empty()) {
        timestamp_ms = std::max(timestamp_ms, newest[0].timestamp_ms);
      }
    }
    batch_puts_.push_back({at, timestamp_ms});
    told_.push_back([=](StoreModel* m) {
      m->Put(at.row, at.family, at.qualifier, timestamp_ms, value, ttl_ms);
    });
    model.Put(at.row, at.family, at.qualifier, timestamp_ms, value);
    const std::vector<Cell> seen =
        model.GetVersions(at, ReadOptions(), now_ms_);
    refused_ = seen.empty() || seen[0].timestamp_ms != timestamp_ms;
  }

  // The timestamp of a delete that has none in the batch. In a family of the
  // client it is that of the newest version; else it is no earlier than those
  // that the batch has put.
  std::optional<uint64_t> GivenToDelete(const std::string& row,
                                        const std::string& family,
                                        const std::string* qualifier) {
    if (IsClients(family)) return NewestPut(row, family, qualifier);
    if (KeepsLatest(family)) return now_ms_;
    if (qualifier != nullptr) {
      const std::pair cell{row, family + ":" + *qualifier};
      uint64_t& given = given_[cell];
      given = std::max({given, put_[cell], now_ms_.load()});
      return given;
    }
    uint64_t newest = now_ms_;
    for (const auto* times : {&given_, &put_}) {
      for (auto it = times->lower_bound({row, family});
           it != times->end() && it->first.first == row &&
           it->first.second.starts_with(family);
           ++it) {
        newest = std::max(newest, it->second);
      }
    }
    given_[{row, family}] = newest;
    return newest;
  }

  void AddDelete(WriteBatch* batch) {
    const OwnedAddress at = RandomAddress();
    std::optional<uint64_t> given;
    if (!KeepsLatest(at.family) && random_.OneIn(2)) given = RandomTimestamp();
    const std::string cell = at.family + ":" + at.qualifier;
    const auto tell = [&](std::optional<uint64_t> timestamp_ms,
                          const std::string& of, auto change) {
      if (!timestamp_ms) return;
      const bool is_clients = IsClients(of.substr(0, of.find(':')));
      const uint64_t takes_ms = *timestamp_ms;
      uint64_t ms = takes_ms;
      // The store leaves the last timestamps of its range to the next put.
      const uint64_t last_ms = now_ms_ + kMaxAheadMs;
      if (!given && is_clients && (ms == last_ms || ms == last_ms + 1)) {
        ms = last_ms - 1;
      }
      if (given || is_clients) Note(at.row, of, ms);
      told_.push_back([=](StoreModel* m) { change(m, ms, takes_ms); });
    };
    const auto delete_family = [&](const std::string& family,
                                   std::optional<uint64_t> timestamp_ms) {
      tell(timestamp_ms, family,
           [row = at.row, family](StoreModel* m, uint64_t ms, uint64_t takes) {
             m->DeleteFamily(row, family, ms, takes);
           });
    };
    const uint64_t dice = random_.Below(10);
    if (dice < 4) {
      batch->Delete(at.row, at.family, at.qualifier, given);
      tell(given ? given : GivenToDelete(at.row, at.family, &at.qualifier),
           cell, [at](StoreModel* m, uint64_t ms, uint64_t takes) {
             m->Delete(at.row, at.family, at.qualifier, ms, takes);
           });
    } else if (dice < 6 && given) {
      batch->DeleteVersion(at.row, at.family, at.qualifier, *given);
      tell(given, cell, [at](StoreModel* m, uint64_t ms, uint64_t /*takes*/) {
        m->DeleteVersion(at.row, at.family, at.qualifier, ms);
      });
    } else if (dice == 6 && given) {
      batch->DeleteFamilyVersion(at.row, at.family, *given);
      tell(given, at.family,
           [at](StoreModel* m, uint64_t ms, uint64_t /*takes*/) {
             m->DeleteFamilyVersion(at.row, at.family, ms);
           });
    } else if (dice < 9) {
      batch->DeleteFamily(at.row, at.family, given);
      delete_family(at.family,
                    given ? given : GivenToDelete(at.row, at.family, nullptr));
    } else {
      batch->DeleteRow(at.row);
      for (const auto& [family, options] : AllFamilies()) {
        delete_family(family, GivenToDelete(at.row, family, nullptr));
      }
    }
  }

  void AddChanges(WriteBatch* batch) {
    // Deletes come after puts: the store moves a put on that follows a delete.
    // Nothing comes after a change that is refused: the store would not give it
    // a timestamp.
    for (uint64_t puts = random_.Below(4); puts > 0 && !refused_; --puts) {
      random_.OneIn(3) ? AddUpdate(batch) : AddPut(batch);
    }
    for (uint64_t deletes = random_.Below(6); deletes > 3 && !refused_;
         --deletes) {
      AddDelete(batch);
    }
  }
  // The changes were written, or not.
  void Settle(bool written) {
    if (written) {
      for (const auto& tell : told_) tell(&model_);
    }
    told_.clear();
    batch_puts_.clear();
    refused_ = false;
  }
  // The store wrote the changes, or refused one as the model says.
  void SettleAs(const Status& written) {
    if (refused_) {
      ASSERT_THAT(written, StatusIs(Status::kInvalidArgument,
                                    HasSubstr("would not be the newest")));
    } else {
      ASSERT_THAT(written, IsOk());
    }
    Settle(!refused_);
  }

  void RandomWrite() {
    const uint64_t dice = random_.Below(8);
    if (dice == 0) return RandomCheckAndWrite();
    if (dice == 1) return RandomTransaction();
    WriteBatch batch;
    batch_ttl_ms_ = RandomTtl();
    AddChanges(&batch);
    WriteOptions options;
    options.ttl_ms = std::exchange(batch_ttl_ms_, std::nullopt);
    if (random_.OneIn(200)) options.durability = Durability::kSync;
    SettleAs(store_->Write(batch, options));
  }

  void RandomCheckAndWrite() {
    only_row_ = RandomRow();
    std::vector<Condition> conditions;
    std::vector<OwnedAddress> addresses;
    std::vector<std::string> values;
    addresses.reserve(4);
    values.reserve(4);
    bool expected = true;
    for (uint64_t i = random_.Below(4); i > 0; --i) {
      const OwnedAddress& at = addresses.emplace_back(RandomAddress());
      const TimeRange range = RandomRange();
      const std::vector<Cell> found =
          model_.GetVersions(at, {.time_range = range}, now_ms_);
      // Often the value itself, or what begins with it or it begins with.
      std::string value = std::to_string(random_.Below(writes_ + 1));
      if (!found.empty() && !random_.OneIn(3)) {
        value = found[0].value.substr(0, random_.Below(80));
        if (random_.OneIn(4)) value += "!";
      }
      values.push_back(value);
      using Comparison = Condition::Comparison;
      const auto comparison = static_cast<Comparison>(random_.Below(8));
      conditions.push_back(
          {at.family, at.qualifier, comparison, values.back(), range});
      const int order = found.empty() ? 0 : found[0].value.compare(value);
      expected = expected && (found.empty() ? comparison == Comparison::kAbsent
                              : comparison == Comparison::kPresent  ? true
                              : comparison == Comparison::kAbsent   ? false
                              : comparison == Comparison::kLess     ? order < 0
                              : comparison == Comparison::kAtMost   ? order <= 0
                              : comparison == Comparison::kEqual    ? order == 0
                              : comparison == Comparison::kNotEqual ? order != 0
                              : comparison == Comparison::kAtLeast  ? order >= 0
                                                                   : order > 0);
    }
    const auto times_before = std::pair(put_, given_);
    WriteBatch batch;
    AddChanges(&batch);
    bool applied = !expected;
    const Status s =
        store_->CheckAndWrite(*only_row_, conditions, batch, &applied);
    only_row_.reset();
    if (expected) {
      ASSERT_EQ(applied, s.ok());
      return SettleAs(s);
    }
    ASSERT_THAT(s, IsOk());
    ASSERT_FALSE(applied);
    std::tie(put_, given_) = times_before;
    Settle(false);
  }

  void RandomTransaction() {
    std::unique_ptr<Transaction> transaction;
    ASSERT_THAT(store_->Begin(&transaction), IsOk());
    const auto times_before = std::pair(put_, given_);
    std::vector<OwnedAddress> read;
    const auto compare = [&] {
      if (refused_) return;
      OwnedAddress at = RandomAddress();
      if (!batch_puts_.empty() && random_.OneIn(2)) {
        at = batch_puts_[random_.Below(batch_puts_.size())].first;
      }
      read.push_back(at);
      const std::vector<Cell> expected =
          After(at.row).GetVersions(at, ReadOptions(), now_ms_);
      std::optional<std::string> value;
      ASSERT_THAT(transaction->Get(at.row, at.family, at.qualifier, &value),
                  IsOk());
      ASSERT_EQ(value, NewestOf(expected));
    };
    ASSERT_NO_FATAL_FAILURE(compare());
    for (uint64_t puts = random_.Below(5); puts > 0 && !refused_; --puts) {
      random_.OneIn(2) ? AddUpdate(transaction.get())
                       : AddPut(transaction.get());
      ASSERT_NO_FATAL_FAILURE(compare());
    }
    for (uint64_t deletes = random_.Below(3); deletes > 0 && !refused_;
         --deletes) {
      AddDelete(transaction.get());
      ASSERT_NO_FATAL_FAILURE(compare());
    }
    if (random_.OneIn(4)) {  // dropped
      std::tie(put_, given_) = times_before;
      return Settle(false);
    }
    if (transaction->size() == 0 || refused_ || !random_.OneIn(4)) {
      return SettleAs(transaction->Commit());
    }
    const auto tried = std::pair(put_, given_);
    std::tie(put_, given_) = times_before;
    Settle(false);
    // Another write of a cell that was read. A put that is hidden, as those to
    // families of the application may be, conflicts as well. Only a put that a
    // DeleteFamilyVersion takes is none: the store does not write it.
    uint64_t timestamp_ms = 0;
    const auto put_before = put_;
    do {
      put_ = put_before;
      now_ms_ += kAheadMs + 1;
      timestamp_ms =
          KeepsLatest(read[0].family) ? now_ms_.load() : GivenToPut(read[0]);
    } while (model_.HasFamilyVersionDelete(read[0].row, read[0].family,
                                           timestamp_ms));
    WriteBatch batch;
    batch.Put(read[0].row, read[0].family, read[0].qualifier, "theirs");
    model_.Put(read[0].row, read[0].family, read[0].qualifier, timestamp_ms,
               "theirs");
    ASSERT_THAT(store_->Write(batch), IsOk());
    const Status s = transaction->Commit();
    if (!s.IsBusy()) {
      // At this later time a delete would hide an increment or an append.
      ASSERT_THAT(s, StatusIs(Status::kInvalidArgument,
                              HasSubstr("would not be the newest")));
      // From here on, it does not matter which times the store has noted.
      now_ms_ += kMaxAheadMs + kAheadMs + 1;
      return;
    }
    // The store has noted the times of these changes, too.
    for (const auto& [of, put_ms] : tried.first) {
      NotePut(of.first, of.second, std::max(put_ms, put_[of]));
    }
    for (const auto& [of, given_ms] : tried.second) {
      Note(of.first, of.second, given_ms);
    }
  }

  TimeRange RandomRange() {
    if (random_.OneIn(2)) return TimeRange::All();
    const uint64_t a = RandomTimestamp();
    const uint64_t b = RandomTimestamp();
    return {std::min(a, b), std::max(a, b) + random_.Below(2)};
  }
  uint32_t RandomVersions() {
    return 1 + static_cast<uint32_t>(random_.Below(4));
  }
  // The model of now, or of the snapshot.
  const StoreModel& RandomMoment(const Snapshot** snapshot) {
    if (moment_ == nullptr || random_.OneIn(2)) return model_;
    *snapshot = moment_->snapshot.get();
    return moment_->model;
  }

  RowOptions RandomRowOptions() {
    RowOptions options;
    if (random_.OneIn(2)) {
      for (uint64_t i = random_.Below(4); i > 0; --i) {
        Column column{RandomFamily()};
        if (!random_.OneIn(4)) column.qualifier = RandomBytes(random_.Below(3));
        options.columns.push_back(column);
      }
    }
    if (random_.OneIn(4)) options.qualifier_prefix = RandomBytes(1);
    if (random_.OneIn(4)) {
      options.qualifier_start = RandomBytes(random_.Below(3));
    }
    if (random_.OneIn(4))
      options.qualifier_stop = RandomBytes(random_.Below(3));
    if (random_.OneIn(4)) options.column_offset = random_.Below(4);
    if (random_.OneIn(4)) options.column_limit = random_.Below(6);
    options.columns_from_end = random_.OneIn(4);
    options.keys_only = random_.OneIn(8);
    options.time_range = RandomRange();
    options.max_versions = RandomVersions();
    return options;
  }

  // A filter, which the options get, or none.
  FilterModel RandomFilterOf(RowOptions* options) {
    if (random_.OneIn(2)) return {};
    const FilterModel filter = RandomFilter(4, now_ms_, &random_);
    options->filter = filter.Build();
    // A Page does not note rows for cells behind the page of columns.
    if (filter.Has(FilterModel::Kind::kPage)) {
      options->column_limit = std::numeric_limits<size_t>::max();
    }
    return filter;
  }

  static std::string Text(const std::vector<Cell>& cells) {
    std::string text;
    for (const Cell& cell : cells) {
      text += cell.family + ":" + ToPrintable(cell.qualifier) + " at " +
              std::to_string(cell.timestamp_ms) + " " +
              ToPrintable(cell.value) + "\n";
    }
    return text;
  }

  static std::optional<std::string> NewestOf(
      const std::vector<Cell>& versions) {
    if (versions.empty()) return std::nullopt;
    return versions[0].value;
  }

  void CompareCells() {
    ReadOptions options{RandomRange(), RandomVersions()};
    const StoreModel& model = RandomMoment(&options.snapshot);
    std::vector<OwnedAddress> addresses;
    for (uint64_t i = 1 + random_.Below(8); i > 0; --i) {
      OwnedAddress at = RandomAddress();
      if (!addresses.empty() && random_.OneIn(2)) at.row = addresses[0].row;
      addresses.push_back(at);
    }
    std::vector<std::vector<Cell>> cells;
    ASSERT_THAT(store_->MultiGet(ViewsOf(addresses), &cells, options), IsOk());
    ASSERT_EQ(cells.size(), addresses.size());
    for (size_t i = 0; i < cells.size(); ++i) {
      ASSERT_EQ(Text(cells[i]),
                Text(model.GetVersions(addresses[i], options, now_ms_)))
          << ToPrintable(addresses[i].row);
    }
    const OwnedAddress& at = addresses[0];
    const std::vector<Cell> versions =
        GetVersionsOf(*store_, at.row, at.family, at.qualifier, options);
    ASSERT_EQ(Text(versions), Text(cells[0]));
    std::optional<std::string> value;
    ASSERT_THAT(store_->Get(at.row, at.family, at.qualifier, &value, options),
                IsOk());
    ASSERT_EQ(value, NewestOf(versions));
    PinnableCell pinned;
    ASSERT_THAT(store_->Get(at.row, at.family, at.qualifier, &pinned, options),
                IsOk());
    ASSERT_EQ(pinned.timestamp_ms(),
              versions.empty() ? 0 : versions[0].timestamp_ms);
    ASSERT_EQ(pinned.value(), value.value_or(""));
  }

  void CompareRow() {
    RowOptions options = RandomRowOptions();
    const FilterModel filter = RandomFilterOf(&options);
    const StoreModel& model = RandomMoment(&options.snapshot);
    const std::string row = RandomRow();
    SCOPED_TRACE(ToPrintable(row) + ", filter " + filter.Text());
    const std::vector<Cell> cells = GetRowOf(*store_, row, options);
    ASSERT_EQ(Text(cells), Text(model.GetRow(row, options, now_ms_, filter)));
    bool exists = false;
    ASSERT_THAT(store_->Exists(row, &exists, options), IsOk());
    ASSERT_EQ(exists, !cells.empty());
  }

  void CompareScan() {
    ScanOptions options;
    if (random_.OneIn(2)) options.start_row = RandomBytes(random_.Below(5));
    if (random_.OneIn(2)) options.stop_row = RandomBytes(random_.Below(5));
    if (random_.OneIn(3)) options.row_prefix = RandomBytes(random_.Below(3));
    if (random_.OneIn(3)) options.limit = random_.Below(10);
    for (uint64_t i = random_.OneIn(3) ? random_.Below(4) : 0; i > 0; --i) {
      options.ranges.push_back(
          {RandomBytes(random_.Below(4)), RandomBytes(random_.Below(4))});
    }
    options.reverse = random_.OneIn(2);
    options.row = RandomRowOptions();
    const FilterModel filter = RandomFilterOf(&options.row);
    SCOPED_TRACE("filter " + filter.Text());
    const StoreModel& model = RandomMoment(&options.row.snapshot);
    const std::vector<Row> expected = model.Scan(options, now_ms_, filter);
    ASSERT_NO_FATAL_FAILURE(CompareRows(options, expected));
    ScanCounts counts;
    ASSERT_THAT(store_->Count(options, &counts), IsOk());
    ASSERT_EQ(counts.rows, expected.size());
    // A Page counts the rows of one scan.
    if (filter.Has(FilterModel::Kind::kPage) || !random_.OneIn(4)) return;
    // In parts, each of which begins with the token of the one before.
    ScanOptions part = options;
    part.limit = std::numeric_limits<uint64_t>::max();
    std::vector<Row> rest = model.Scan(part, now_ms_, filter);
    while (!rest.empty()) {
      if (random_.OneIn(2)) part.limit = 1 + random_.Below(4);
      const auto end =
          rest.begin() + static_cast<std::ptrdiff_t>(
                             std::min<size_t>(part.limit, rest.size()));
      ASSERT_NO_FATAL_FAILURE(CompareRows(part, {rest.begin(), end}));
      part.token = token_;
      rest.erase(rest.begin(), end);
    }
  }

  // Sets token_ to that after the last row, or at the end of the scan.
  void CompareRows(const ScanOptions& options,
                   const std::vector<Row>& expected) {
    std::vector<Row> found;
    RowScanner rows = ScanOf(*store_, options);
    for (const Row& row : rows) {
      found.push_back(row);
      token_ = rows.Token();
    }
    ASSERT_THAT(rows.status(), IsOk());
    if (random_.OneIn(2)) token_ = rows.Token();
    ASSERT_EQ(found.size(), expected.size()) << options.reverse;
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(ToPrintable(found[i].row), ToPrintable(expected[i].row));
      ASSERT_EQ(Text(found[i].cells), Text(expected[i].cells))
          << ToPrintable(found[i].row);
    }
  }

  void RandomOperation() {
    now_ms_ += kAheadMs + 1 + random_.Below(8);
    if (random_.OneIn(3000)) return Open();
    if (random_.OneIn(600)) {
      ASSERT_THAT(store_->Flush(), IsOk());
      return;
    }
    if (random_.OneIn(2000)) {
      CompactOptions options;
      if (random_.OneIn(2)) options.family = RandomFamily();
      ASSERT_THAT(store_->Compact(options), IsOk());
      return;
    }
    if (random_.OneIn(500)) {
      moment_.reset();
      if (random_.OneIn(3)) return;
      moment_ = std::make_unique<Moment>(Moment{SnapshotOf(*store_), model_});
      return;
    }
    const uint64_t dice = random_.Below(100);
    if (dice < 50) return RandomWrite();
    if (dice < 75) return CompareCells();
    if (dice < 92) return CompareRow();
    CompareScan();
  }

  TempDir dir_;
  Random random_{SeedFromEnv()};
  std::atomic<uint64_t> now_ms_{kModelStart};
  std::vector<uint64_t> used_;
  uint64_t writes_ = 0;
  StoreModel model_{AllFamilies()};
  std::vector<std::pair<OwnedAddress, uint64_t>> batch_puts_;
  // The TTL of the puts of a batch that have none of their own.
  std::optional<uint64_t> batch_ttl_ms_;
  std::string token_;
  // The changes of the batch, for the model, in their order.
  std::vector<std::function<void(StoreModel*)>> told_;
  bool refused_ = false;  // the last of them, and so all
  // Timestamps of puts, by row and column, and of deletes, also by family.
  std::map<std::pair<std::string, std::string>, uint64_t> put_;
  std::map<std::pair<std::string, std::string>, uint64_t> given_;
  std::optional<std::string> only_row_;  // that random addresses have
  std::unique_ptr<Store> store_;
  std::unique_ptr<Moment> moment_;  // goes before the store
};

TEST_P(VersionsModel, EveryReadAnswersAsTheModel) {
  Open();
  const uint64_t operations = Scaled(10'000);
  for (uint64_t i = 0; i < operations; ++i) {
    ASSERT_NO_FATAL_FAILURE(RandomOperation()) << "operation " << i;
  }
  moment_.reset();
  ASSERT_THAT(store_->Compact(), IsOk());
  // The filters of files answer, below.
  Open(/*front_filter_limit_bytes=*/0);
  for (int i = 0; i < 200; ++i) {
    ASSERT_NO_FATAL_FAILURE(CompareCells());
    ASSERT_NO_FATAL_FAILURE(CompareRow());
  }
  ASSERT_NO_FATAL_FAILURE(CompareScan());
  // These reads are answered by files alone: a byte that no row has makes a row
  // absent for sure.
  for (int i = 0; i < 1000; ++i) {
    std::string row = RandomRow();
    row.back() = 'z';
    for (const auto& [name, options] : AllFamilies()) {
      ASSERT_FALSE(ValueOf(*store_, row, name, "a"));
    }
  }
  StoreStats stats = StoreStatsOf(*store_);
  for (const auto& [name, options] : AllFamilies()) {
    SCOPED_TRACE(name);
    const FilterStats& filter = stats.families[name].filter;
    EXPECT_EQ(filter.blocks_unusable, 0U);
    EXPECT_EQ(filter.row.skipped > 0 || filter.row_col.skipped > 0,
              options.bloom_type != BloomType::kNone);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, VersionsModel,
                         ::testing::Values("escaped", "fixed:2"),
                         [](const auto& param) {
                           return param.index == 0 ? "Escaped" : "Fixed";
                         });

}  // namespace
}  // namespace test
}  // namespace rowbloom

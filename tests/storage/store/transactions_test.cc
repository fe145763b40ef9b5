// Optimistic transactions: what they see, and each kind of write that conflicts
// with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"
#include "tests/support/wait_for.h"

namespace rowbloom::test::transactions_test {
namespace {

using rocksdb::Status;
using ::testing::HasSubstr;

const std::vector<FamilyDescriptor> kFamilies = {
    {"client", {.timestamps = Timestamps::kClient, .max_versions = 2}},
    {"latest", {}},
    {"other", {}},
    {"store", {.max_versions = 3}},
};

auto IsBusy(const char* why = "a cell of the transaction was changed") {
  return StatusIs(Status::kBusy, HasSubstr(why));
}
constexpr char kWideWrite[] =
    "a row was deleted, a bulk load came in, a family was changed or the clock "
    "was reset";

// A write of its changes alone would lose what others wrote since Begin.
template <typename Changes>
concept Writable = requires(Store* store, const Changes& changes) {
  store->Write(changes);
};
static_assert(Writable<WriteBatch> && !Writable<Transaction>);

class Transactions : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { Open(true); }
  void Open(bool transactions) {
    store_.reset();
    store_ =
        OpenOrFail({.transactions = transactions}, dir_.File("db"), kFamilies);
  }

  const char* family() const { return GetParam(); }
  std::unique_ptr<Transaction> Begin() {
    std::unique_ptr<Transaction> transaction;
    EXPECT_THAT(store_->Begin(&transaction), IsOk());
    return transaction;
  }
  // "-": no cell.
  static std::string Shown(const Status& s,
                           const std::optional<std::string>& value) {
    EXPECT_THAT(s, IsOk());
    return value.value_or("-");
  }
  std::string Value(const std::string& row, const std::string& qualifier) {
    std::optional<std::string> value;
    const Status s = store_->Get(row, family(), qualifier, &value);
    return Shown(s, value);
  }
  std::string Value(Transaction* transaction, const std::string& row,
                    const std::string& qualifier) {
    std::optional<std::string> value;
    const Status s = transaction->Get(row, family(), qualifier, &value);
    return Shown(s, value);
  }
  void Put(const std::string& row, const std::string& qualifier,
           const std::string& value) {
    ASSERT_THAT(store_->Put(row, family(), qualifier, value), IsOk());
  }
  void BulkLoadOf(const std::string& row, const std::string& qualifier) {
    const auto load = LoadInto(*store_);
    ASSERT_THAT(
        load->Add({ChangeType::kPut, row, family(), qualifier, "loaded"}),
        IsOk());
    ASSERT_THAT(load->Finish(), IsOk());
  }

  TempDir dir_;
  std::unique_ptr<Store> store_;
};

TEST_P(Transactions, WritesRowsTogether) {
  Put("a", "q", "10");
  const auto transaction = Begin();
  EXPECT_EQ(Value(transaction.get(), "a", "q"), "10");
  transaction->Put("a", family(), "q", "9");
  transaction->Put("b", family(), "q", "1");
  transaction->Delete("c", "other", "q");
  EXPECT_EQ(Value("a", "q"), "10");
  EXPECT_EQ(Value("b", "q"), "-");
  ASSERT_THAT(transaction->Commit(), IsOk());
  EXPECT_EQ(Value("a", "q"), "9");
  EXPECT_EQ(Value("b", "q"), "1");
  std::optional<std::string> value;
  const auto is_over =
      StatusIs(Status::kInvalidArgument, HasSubstr("the transaction is over"));
  EXPECT_THAT(transaction->Commit(), is_over);
  EXPECT_THAT(transaction->Get("a", family(), "q", &value), is_over);
}

TEST_P(Transactions, ReadsItsOwnChanges) {
  Put("r", "q", "old");
  Put("r", "p", "p");
  const auto transaction = Begin();
  Transaction* const t = transaction.get();
  t->Put("r", family(), "q", "new");
  EXPECT_EQ(Value(t, "r", "q"), "new");
  t->Append("r", family(), "q", "er");
  EXPECT_EQ(Value(t, "r", "q"), "newer");
  t->Increment("r", family(), "n", 2);
  t->Increment("r", family(), "n", 3);
  EXPECT_EQ(Value(t, "r", "n"), EncodeCounter(5));
  t->Delete("r", family(), "q");
  EXPECT_EQ(Value(t, "r", "q"), "-");
  EXPECT_EQ(Value(t, "r", "p"), "p");
  t->DeleteFamily("r", family());
  EXPECT_EQ(Value(t, "r", "p"), "-");
  t->Put("r", family(), "p", "again");
  EXPECT_EQ(Value(t, "r", "p"), "again");
  EXPECT_EQ(Value(t, "r", "n"), "-");
  // None of it is written, and reading has changed nothing.
  EXPECT_EQ(Value("r", "q"), "old");
  ASSERT_THAT(t->Commit(), IsOk());
  EXPECT_EQ(Value("r", "q"), "-");
  EXPECT_EQ(Value("r", "p"), "again");
}

TEST_P(Transactions, ReadChangesThatFollowThoseThatWereMovedOut) {
  const auto transaction = Begin();
  transaction->Put("r", family(), "q", "moved");
  EXPECT_EQ(Value(transaction.get(), "r", "q"), "moved");
  const WriteBatch moved = std::move(static_cast<WriteBatch&>(*transaction));
  EXPECT_EQ(moved.size(), 1u);
  EXPECT_EQ(Value(transaction.get(), "r", "q"), "-");
  transaction->Put("r", family(), "q", "new");
  EXPECT_EQ(Value(transaction.get(), "r", "q"), "new");
}

// The store has no delete of this kind before the commit.
TEST_P(Transactions, ReadsAsItsDeleteOfAVersionOfTheRowLeavesIt) {
  ASSERT_THAT(store_->Put("r", "client", "q", "v", {.timestamp_ms = 5}),
              IsOk());
  const auto transaction = Begin();
  for (const uint64_t timestamp_ms : {10, 11}) {
    transaction->DeleteFamilyVersion("r", "client", timestamp_ms);
    transaction->Put("r", "client", "q", "deleted", timestamp_ms);
  }
  std::optional<std::string> seen;
  ASSERT_THAT(transaction->Get("r", "client", "q", &seen), IsOk());
  ASSERT_THAT(transaction->Commit(), IsOk());
  std::optional<std::string> kept;
  ASSERT_THAT(store_->Get("r", "client", "q", &kept), IsOk());
  EXPECT_EQ(kept, "v");
  EXPECT_EQ(seen, kept);
}

// Get replays a part of the changes, Commit all of them. The clock stands still
// in between, so that both give the same timestamps.
TEST(TransactionsOfRandomChanges, ReadTheCellsThatTheyCommit) {
  Random random(SeedFromEnv());
  const TempDir dir;
  std::atomic<uint64_t> now_ms{1'700'000'000'000};
  const auto store = OpenOrFail({.transactions = true}, dir.File("db"),
                                kFamilies, [&] { return now_ms.load(); });
  constexpr ChangeType kTypes[] = {
      ChangeType::kPut,           ChangeType::kPut,
      ChangeType::kPut,           ChangeType::kAppend,
      ChangeType::kAppend,        ChangeType::kDelete,
      ChangeType::kDeleteVersion, ChangeType::kDeleteFamily,
      ChangeType::kRemove,        ChangeType::kDeleteFamilyVersion,
      ChangeType::kRemoveFamily,  ChangeType::kDeleteRow};
  const auto one_of = [&](const auto& all) -> const auto& {
    return all[random.Below(std::size(all))];
  };
  const std::string qualifiers[] = {"", "a", "b"};
  const uint64_t rounds = Scaled(500);
  uint64_t committed = 0;
  for (uint64_t round = 0; round < rounds; ++round) {
    now_ms += random.Below(4);
    // Deletes of the versions of a row stay, and make reads slow.
    const std::string number = std::to_string(round / 100);
    const std::string rows[] = {"r" + number, "s" + number};
    std::unique_ptr<Transaction> transaction;
    ASSERT_THAT(store->Begin(&transaction), IsOk());
    // Gets all cells.
    const auto get_all = [&](const auto& get) {
      std::map<std::string, std::string> cells;
      for (const std::string& row : rows) {
        for (const FamilyDescriptor& family : kFamilies) {
          for (const std::string& qualifier : qualifiers) {
            std::optional<std::string> value;
            const Status s = get(row, family.name, qualifier, &value);
            cells[row + " " + family.name + ":" + qualifier] =
                s.ok() ? value.value_or("-") : s.ToString();
          }
        }
      }
      return cells;
    };
    const auto in_transaction = [&](const auto&... at) {
      return transaction->Get(at...);
    };
    if (random.OneIn(8)) {
      transaction->Put(rows[0], "store", "a", "cleared");
      get_all(in_transaction);
      transaction->Clear();
    }
    for (uint64_t i = 1 + random.Below(12); i > 0; --i) {
      Change change{.type = one_of(kTypes), .row = one_of(rows)};
      const bool is_version = change.type == ChangeType::kDeleteVersion ||
                              change.type == ChangeType::kDeleteFamilyVersion;
      if (change.type != ChangeType::kDeleteRow) {
        // Families that keep the latest take no deletes of versions.
        change.family = is_version ? (random.OneIn(2) ? "client" : "store")
                                   : std::string_view(one_of(kFamilies).name);
      }
      if (!IsOfWholeRow(change.type)) change.qualifier = one_of(qualifiers);
      const std::string value = std::to_string(round) + "." + std::to_string(i);
      if (TakesTtl(change.type)) {
        change.value = value;
        if (random.OneIn(8)) change.ttl_ms = random.Below(6);
      }
      const bool takes_time =
          change.family == "client" ||
          (change.family == "store" && !TakesTtl(change.type));
      if (is_version ||
          (takes_time && !IsRemoval(change.type) &&
           change.type != ChangeType::kAppend && random.OneIn(2))) {
        change.timestamp_ms = now_ms + 4 - random.Below(8);
      }
      transaction->Add(change);
      if (random.OneIn(4)) get_all(in_transaction);
    }
    const auto seen = get_all(in_transaction);
    if (const Status s = transaction->Commit(); !s.ok()) {
      // An append that something later hides.
      ASSERT_TRUE(s.IsInvalidArgument()) << s.ToString();
      continue;
    }
    ++committed;
    ASSERT_EQ(seen,
              get_all([&](const auto&... at) { return store->Get(at...); }))
        << "round " << round;
  }
  EXPECT_GT(committed, rounds / 4);
}

TEST(TransactionsOfManyChanges, ReplayThoseThatAGetDependsOn) {
  struct Batch : WriteBatch {
    using WriteBatch::ChangesFor;
  } batch;
  for (int i = 0; i < 100; ++i) {
    batch.Put("r", "f", std::to_string(i), "v");
    batch.Put("r", "g", std::to_string(i), "v");
    batch.Put("r" + std::to_string(i), "f", "7", "v");
  }
  batch.Append("r", "f", "7", "w");
  EXPECT_EQ(batch.ChangesFor("r", "f", "7").size(), 2);
  batch.DeleteFamily("r", "f");
  batch.Put("r", "f", "8", "v");
  batch.Append("r", "f", "7", "x");
  const std::vector<Change> changes = batch.ChangesFor("r", "f", "7");
  ASSERT_EQ(changes.size(), 103);
  EXPECT_EQ(changes[101].type, ChangeType::kDeleteFamily);
  EXPECT_EQ(changes[102].value, "x");
}

TEST_P(Transactions, SeesTheStoreAsItWas) {
  Put("r", "q", "old");
  const auto transaction = Begin();
  Put("r", "q", "new");
  Put("r", "p", "new");
  ASSERT_THAT(store_->DeleteRow("s"), IsOk());
  EXPECT_EQ(Value(transaction.get(), "r", "q"), "old");
  EXPECT_EQ(Value(transaction.get(), "r", "p"), "-");
  // All reads are of one time: without changes there is no conflict.
  EXPECT_THAT(transaction->Commit(), IsOk());
}

TEST_P(Transactions, SeesFamiliesAsTheyWere) {
  Put("r", "q", "old");
  const auto transaction = Begin();
  ASSERT_THAT(store_->TruncateFamily(family()), IsOk());
  ASSERT_THAT(store_->CreateFamily("new", {}), IsOk());
  Put("r", "q", "new");
  EXPECT_EQ(Value(transaction.get(), "r", "q"), "old");
  std::optional<std::string> value;
  EXPECT_THAT(transaction->Get("r", "new", "q", &value),
              StatusIs(Status::kInvalidArgument, HasSubstr("\"new\"")));
  EXPECT_THAT(transaction->Commit(), IsOk());
  // A delete of a row would have taken the cells of the new family.
  const auto deletes = Begin();
  deletes->DeleteRow("r");
  ASSERT_THAT(store_->CreateFamily("newer", {}), IsOk());
  EXPECT_THAT(deletes->Commit(), IsBusy(kWideWrite));
}

// A delete of a row without a timestamp gets that of the row's newest cell
// where these are the application's: a cell that came since would make it take
// the transaction's own put.
TEST_P(Transactions, APutAfterADeleteOfItsRowIsThereIfTheCommitIsOk) {
  const bool is_client = family() == std::string("client");
  constexpr uint64_t kFutureMs = 4'000'000'000'000;
  for (const bool of_all_families : {false, true}) {
    for (const bool meanwhile : {false, true}) {
      SCOPED_TRACE(std::to_string(of_all_families) + std::to_string(meanwhile));
      const std::string row = std::to_string(of_all_families * 2 + meanwhile);
      Put(row, "q", "old");
      const auto transaction = Begin();
      if (of_all_families) {
        transaction->DeleteRow(row);
      } else {
        transaction->DeleteFamily(row, family());
      }
      transaction->Put(row, family(), "q", "mine");
      EXPECT_EQ(Value(transaction.get(), row, "q"), "mine");
      if (meanwhile && is_client) {
        ASSERT_THAT(store_->Put(row, family(), "other", "theirs",
                                {.timestamp_ms = kFutureMs}),
                    IsOk());
      } else if (meanwhile) {
        Put(row, "other", "theirs");
      }
      const Status s = transaction->Commit();
      if (meanwhile && is_client) {
        EXPECT_THAT(s, StatusIs(Status::kBusy, HasSubstr("was changed")));
        EXPECT_EQ(Value(row, "q"), "old");
        EXPECT_EQ(Value(row, "other"), "theirs");
      } else {
        EXPECT_THAT(s, IsOk());
        EXPECT_EQ(Value(row, "q"), "mine");
        EXPECT_EQ(Value(row, "other"), "-");
      }
    }
  }
}

TEST_P(Transactions, AWriteOfAnyKindToWhatWasReadConflicts) {
  const auto write = [&](const std::function<void(WriteBatch*)>& fill) {
    WriteBatch batch;
    fill(&batch);
    ASSERT_THAT(store_->Write(batch), IsOk());
  };
  std::vector<std::pair<const char*, std::function<void()>>> writes = {
      {"put", [&] { Put("r", "q", "theirs"); }},
      {"delete",
       [&] { ASSERT_THAT(store_->Delete("r", family(), "q"), IsOk()); }},
      {"delete of a family",
       [&] { ASSERT_THAT(store_->DeleteFamily("r", family()), IsOk()); }},
      {"delete of a row", [&] { ASSERT_THAT(store_->DeleteRow("r"), IsOk()); }},
      {"append",
       [&] { write([&](auto* b) { b->Append("r", family(), "q", "x"); }); }},
      {"bulk load", [&] { BulkLoadOf("r", "q"); }},
      {"altered family",
       [&] {
         FamilyOptions options = store_->Families().at(family());
         options.ttl_ms = options.ttl_ms == 0 ? 1'000'000 : 0;
         ASSERT_THAT(store_->AlterFamily(family(), options), IsOk());
       }},
      {"another transaction",
       [&] {
         const auto theirs = Begin();
         theirs->Put("r", family(), "q", "theirs");
         ASSERT_THAT(theirs->Commit(), IsOk());
       }},
  };
  if (family() == std::string("client")) {
    writes.push_back(
        {"delete of a version of all columns", [&] {
           write([&](auto* b) { b->DeleteFamilyVersion("r", family(), 5); });
         }});
  }
  // The cell may be in memory, in a file, or absent.
  for (const char* where : {"memory", "file", "absent"}) {
    for (const auto& [name, their_write] : writes) {
      SCOPED_TRACE(std::string(name) + ", " + where);
      // Without a timestamp it does nothing to a cell of the application's that
      // is absent.
      const bool does_nothing = family() == std::string("client") &&
                                where == std::string("absent") &&
                                (name == std::string("delete") ||
                                 name == std::string("delete of a family"));
      ASSERT_THAT(store_->DeleteRow("r"), IsOk());
      if (where != std::string("absent")) Put("r", "q", "mine");
      if (where == std::string("file")) {
        ASSERT_THAT(store_->Flush(), IsOk());
      }
      const auto transaction = Begin();
      Value(transaction.get(), "r", "q");
      transaction->Put("elsewhere", family(), "q", name);
      ASSERT_NO_FATAL_FAILURE(their_write());
      const std::string before = Value("elsewhere", "q");
      if (does_nothing) {
        EXPECT_THAT(transaction->Commit(), IsOk());
        continue;
      }
      EXPECT_THAT(transaction->Commit(),
                  StatusIs(Status::kBusy, HasSubstr("begin again")));
      EXPECT_EQ(Value("elsewhere", "q"), before);
    }
  }
}

TEST_P(Transactions, AWriteToWhatIsWrittenConflicts) {
  const auto transaction = Begin();
  transaction->Put("r", family(), "q", "mine");
  Put("r", "q", "theirs");
  EXPECT_THAT(transaction->Commit(), IsBusy());
  EXPECT_EQ(Value("r", "q"), "theirs");
}

TEST_P(Transactions, AWriteThatMakesAChangeImpossibleIsItsError) {
  const auto transaction = Begin();
  transaction->Put("s", family(), "q", "mine");
  transaction->Increment("r", family(), "q", 1);
  Put("r", "q", "no counter");
  EXPECT_THAT(
      transaction->Commit(),
      StatusIs(Status::kInvalidArgument, HasSubstr("a counter of 10 bytes")));
  EXPECT_EQ(Value("r", "q"), "no counter");
  EXPECT_EQ(Value("s", "q"), "-");
}

TEST_P(Transactions, WritesToOtherCellsDoNotConflict) {
  Put("r", "q", "mine");
  const auto transaction = Begin();
  EXPECT_EQ(Value(transaction.get(), "r", "q"), "mine");
  transaction->Put("r", family(), "q", "changed");
  Put("r", "p", "theirs");
  Put("s", "q", "theirs");
  ASSERT_THAT(store_->Put("r", "other", "q", "theirs"), IsOk());
  // In another stripe of the locks.
  ASSERT_THAT(store_->DeleteRow("another row"), IsOk());
  EXPECT_THAT(transaction->Commit(), IsOk());
  EXPECT_EQ(Value("r", "q"), "changed");
}

// The store does not write such a put, so that it changes no cell.
TEST_P(Transactions, APutThatADeleteOfItsVersionTakesDoesNotConflict) {
  const uint64_t deleted_ms = 5;
  WriteBatch batch;
  batch.DeleteFamilyVersion("r", "client", deleted_ms);
  ASSERT_THAT(store_->Write(batch), IsOk());
  const auto begin = [&] {
    auto transaction = Begin();
    std::optional<std::string> value;
    EXPECT_THAT(transaction->Get("r", "client", "q", &value), IsOk());
    EXPECT_EQ(value, std::nullopt);
    transaction->Put("s", family(), "q", "mine");
    return transaction;
  };
  const auto beside = [&](uint64_t timestamp_ms) {
    const auto transaction = begin();
    EXPECT_THAT(store_->Put("r", "client", "q", "theirs",
                            {.timestamp_ms = timestamp_ms}),
                IsOk());
    return transaction->Commit();
  };
  EXPECT_THAT(beside(deleted_ms), IsOk());
  EXPECT_EQ(Value("s", "q"), "mine");
  EXPECT_TRUE(beside(deleted_ms + 1).IsBusy());
}

TEST_P(Transactions, ADeleteOfARowInATransactionConflictsWithOthers) {
  Put("r", "q", "v");
  const auto reader = Begin();
  EXPECT_EQ(Value(reader.get(), "r", "q"), "v");
  reader->Put("s", family(), "q", "read v");
  const auto deleter = Begin();
  deleter->DeleteRow("r");
  EXPECT_THAT(deleter->Commit(), IsOk());
  EXPECT_EQ(Value("r", "q"), "-");
  EXPECT_THAT(reader->Commit(), IsBusy(kWideWrite));
}

TEST_P(Transactions, GoOnAcrossAFlushAndAnOpening) {
  Put("r", "q", "v");
  Open(true);
  const auto calm = Begin();
  EXPECT_EQ(Value(calm.get(), "r", "q"), "v");
  calm->Put("r", family(), "q", "w");
  Put("s", "q", "theirs");
  ASSERT_THAT(store_->Flush(), IsOk());
  EXPECT_THAT(calm->Commit(), IsOk());
  // A conflict is found in what has been flushed.
  const auto transaction = Begin();
  EXPECT_EQ(Value(transaction.get(), "r", "q"), "w");
  transaction->Put("r", family(), "q", "mine");
  Put("r", "q", "theirs");
  ASSERT_THAT(store_->Flush(), IsOk());
  EXPECT_THAT(transaction->Commit(), IsBusy());
  EXPECT_EQ(Value("r", "q"), "theirs");
}

TEST_P(Transactions, AreBusyOnceTheHistoryInMemoryIsTooShort) {
  store_.reset();
  store_ =
      OpenOrFail({.write_buffer_bytes = size_t{64} << 10, .transactions = true},
                 dir_.File("small"), kFamilies);
  const auto transaction = Begin();
  EXPECT_EQ(Value(transaction.get(), "r", "q"), "-");
  transaction->Put("r", family(), "q", "mine");
  for (int i = 0; i < 10; ++i) {
    Put("s", std::to_string(i), std::string(100'000, 'v'));
    ASSERT_THAT(store_->Flush(), IsOk());
  }
  EXPECT_THAT(transaction->Commit(),
              StatusIs(Status::kBusy,
                       HasSubstr("too much was written to be in memory")));
  EXPECT_EQ(Value("r", "q"), "-");
}

TEST_P(Transactions, OfFamiliesThatWereCreatedLaterAreCheckedToo) {
  ASSERT_THAT(store_->CreateFamily("new", {}), IsOk());
  const auto transaction = Begin();
  std::optional<std::string> value;
  EXPECT_THAT(transaction->Get("r", "new", "q", &value), IsOk());
  EXPECT_FALSE(value);
  transaction->Put("r", "new", "q", "mine");
  ASSERT_THAT(store_->Put("r", "new", "q", "theirs"), IsOk());
  ASSERT_THAT(store_->Flush(), IsOk());
  EXPECT_THAT(transaction->Commit(), IsBusy());
  const auto truncated = Begin();
  truncated->Put("r", "new", "q", "ours");
  ASSERT_THAT(store_->TruncateFamily("new"), IsOk());
  EXPECT_THAT(truncated->Commit(), IsBusy(kWideWrite));
  // A family that is gone meanwhile, and one that nobody knows.
  const auto late = Begin();
  late->Put("r", "new", "q", "late");
  ASSERT_THAT(store_->DropFamily("new"), IsOk());
  EXPECT_THAT(late->Commit(), IsBusy(kWideWrite));
  const auto wrong = Begin();
  wrong->Put("r", "new", "q", "v");
  EXPECT_THAT(wrong->Get("r", "new", "q", &value),
              StatusIs(Status::kInvalidArgument, HasSubstr("\"new\"")));
  EXPECT_THAT(wrong->Get("r", family(), "q", &value), IsOk());
  EXPECT_THAT(wrong->Commit(),
              StatusIs(Status::kInvalidArgument, HasSubstr("\"new\"")));
}

// RocksDB looks for the families of a commit's keys in a hash table, without a
// lock. The table has room for 59 of them before it grows, the store's own
// included.
TEST(TransactionsBesideNewFamilies, Commit) {
  std::vector<FamilyDescriptor> families;
  for (int i = 0; i < 57; ++i) {
    families.push_back({"f" + std::to_string(i), {}});
  }
  const TempDir dir;
  const uint64_t rounds = std::max<uint64_t>(Scaled(6), 2);
  for (uint64_t round = 0; round < rounds; ++round) {
    const auto store = OpenOrFail({.write_buffer_bytes = size_t{64} << 10,
                                   .front_filter_limit_bytes = 0,
                                   .transactions = true},
                                  dir.File("db"), families);
    std::atomic<bool> done{false};
    std::atomic<int> commits{0};
    const auto commit = [&](const std::string& row) {
      while (!done) {
        std::unique_ptr<Transaction> transaction;
        EXPECT_THAT(store->Begin(&transaction), IsOk());
        for (const FamilyDescriptor& family : families) {
          transaction->Put(row, family.name, "q", "v");
        }
        const Status s = transaction->Commit(Durability::kSkipWal);
        EXPECT_TRUE(s.ok() || s.IsBusy()) << s.ToString();
        commits += s.ok() ? 1 : 0;
      }
    };
    std::thread one([&] { commit("one"); });
    std::thread two([&] { commit("two"); });
    EXPECT_TRUE(WaitFor([&] { return commits > 50; }));
    const std::vector<std::string> names = {"x", "y", "z"};
    for (const std::string& name : names) {
      EXPECT_THAT(store->CreateFamily(name, {}), IsOk());
    }
    done = true;
    one.join();
    two.join();
    for (const std::string& name : names) {
      EXPECT_THAT(store->DropFamily(name), IsOk());
    }
  }
}

// One that is Busy wrote nothing, also no delete of a row.
TEST_P(Transactions, ABusyOneConflictsWithNoOther) {
  Put("r", "q", "v");
  const auto busy = Begin();
  busy->DeleteRow("r");
  busy->Put("s", family(), "q", "v");
  Put("s", "q", "other");
  const auto other = Begin();
  other->Put("r", family(), "q2", "v");
  ASSERT_TRUE(busy->Commit().IsBusy());
  EXPECT_THAT(other->Commit(), IsOk());
  EXPECT_EQ(Value("r", "q"), "v");
}

// Commit would write by other rules than Get has shown.
TEST_P(Transactions, AResetOfTheClockConflicts) {
  const auto transaction = Begin();
  transaction->Put("r", family(), "q", "v");
  EXPECT_EQ(Value(transaction.get(), "r", "q"), "v");
  ASSERT_THAT(store_->ResetClock(), IsOk());
  EXPECT_THAT(transaction->Commit(), IsBusy(kWideWrite));
}

TEST_P(Transactions, NeedTheOptionAndAStoreThatIsWritable) {
  Open(false);
  std::unique_ptr<Transaction> transaction;
  EXPECT_THAT(store_->Begin(&transaction),
              StatusIs(Status::kNotSupported,
                       HasSubstr("without StoreOptions::transactions")));
  store_.reset();
  store_ = OpenOrFail({.read_only = true, .transactions = true},
                      dir_.File("db"), {});
  EXPECT_THAT(store_->Begin(&transaction),
              StatusIs(Status::kNotSupported, HasSubstr("reading only")));
}

// Money moves between accounts by transactions, while other threads read all of
// them, and delete and create rows in between: none is lost or made.
TEST_P(Transactions, OfManyThreadsAreOneAfterTheOther) {
  constexpr int kThreads = 4;
  constexpr int64_t kAccounts = 6;
  for (int64_t i = 0; i < kAccounts; ++i) {
    Put("account" + std::to_string(i), "q", EncodeCounter(100));
  }
  const auto steps = static_cast<int>(Scaled(200));
  std::atomic<int> done{0};
  std::atomic<int> busy{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Random random(SeedFromEnv() + static_cast<uint64_t>(t));
      for (int i = 0; i < steps; ++i) {
        const auto transaction = Begin();
        std::vector<int64_t> balances;
        int64_t sum = 0;
        for (int64_t a = 0; a < kAccounts; ++a) {
          std::optional<std::string> value;
          EXPECT_THAT(transaction->Get("account" + std::to_string(a), family(),
                                       "q", &value),
                      IsOk());
          int64_t balance = 0;
          if (value) {
            EXPECT_TRUE(DecodeCounter(*value, &balance));
          }
          balances.push_back(balance);
          sum += balance;
        }
        EXPECT_EQ(sum, 100 * kAccounts);
        // All of one account goes to another, whose row is deleted or emptied.
        const uint64_t from = random.Below(kAccounts);
        const uint64_t to =
            (from + 1 + random.Below(kAccounts - 1)) % kAccounts;
        const std::string from_row = "account" + std::to_string(from);
        if (random.OneIn(2)) {
          transaction->DeleteRow(from_row);
        } else {
          transaction->Increment(from_row, family(), "q", -balances[from]);
        }
        transaction->Increment("account" + std::to_string(to), family(), "q",
                               balances[from]);
        const Status s = transaction->Commit();
        if (s.ok()) {
          ++done;
        } else {
          EXPECT_TRUE(s.IsBusy()) << s.ToString();
          ++busy;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int64_t sum = 0;
  for (int64_t i = 0; i < kAccounts; ++i) {
    const std::string value = Value("account" + std::to_string(i), "q");
    int64_t balance = 0;
    if (value != "-") {
      ASSERT_TRUE(DecodeCounter(value, &balance));
    }
    sum += balance;
  }
  EXPECT_EQ(sum, 100 * kAccounts);
  EXPECT_GT(done, 0);
  EXPECT_TRUE(busy > 0 || steps < 200);
}

INSTANTIATE_TEST_SUITE_P(Formats, Transactions,
                         ::testing::Values("latest", "client", "store"),
                         [](const auto& param) {
                           return std::string(param.param);
                         });

// RocksDB keeps the values that a snapshot sees.
TEST(TransactionsThatAreOver, KeepNoOldValues) {
  const TempDir dir;
  const auto store =
      OpenOrFail({.transactions = true}, dir.File("db"), {{"f", {}}});
  ASSERT_THAT(store->Put("r", "f", "q", "old"), IsOk());
  std::unique_ptr<Transaction> committed;
  std::unique_ptr<Transaction> refused;
  ASSERT_THAT(store->Begin(&committed), IsOk());
  ASSERT_THAT(store->Begin(&refused), IsOk());
  committed->Put("a", "f", "q", "v");
  refused->Put("r", "f", "q", "lost");
  ASSERT_THAT(store->Put("r", "f", "q", "new"), IsOk());
  ASSERT_THAT(committed->Commit(), IsOk());
  ASSERT_THAT(refused->Commit(), IsBusy());
  ASSERT_THAT(store->Compact(), IsOk());
  EXPECT_EQ(StoreStatsOf(*store).families.at("f").estimated_cells, 2u);
}

}  // namespace
}  // namespace rowbloom::test::transactions_test

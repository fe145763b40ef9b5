// Histories of writes and reads by several threads have an order, one operation
// after the other, in which every read gives what the writes before it made,
// and in which no operation comes before one that had returned when it began.
// The histories append to lists, from which the order of the writes can be read
// (Kingsbury, Alvaro: "Elle: Inferring Isolation Anomalies from Experimental
// Observations", VLDB 2020).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"

namespace rowbloom::test::serializable_test {
namespace {

using rocksdb::Status;

const std::vector<FamilyDescriptor> kFamilies = {
    {"client", {.timestamps = Timestamps::kClient, .max_versions = 2}},
    {"latest", {}},
    {"store", {.max_versions = 3}},
};
constexpr uint64_t kThreads = 4;
constexpr uint64_t kCells = 6;
// A token of a list: the number of its operation.
constexpr size_t kTokenSize = 6;

struct ListCell {
  std::string row;
  std::string family;
};

// Two rows have a list in each family.
ListCell ListCellAt(uint64_t index) {
  return {"row" + std::to_string(index % 2), kFamilies[index / 2].name};
}

// An operation has a kind if it was acknowledged. Others have written nothing.
struct Operation {
  std::string kind;
  uint64_t begin = 0;  // the ticket before it, and that after it
  uint64_t end = 0;
  std::map<uint64_t, std::string> reads;  // the list that was read, by cell
  std::set<uint64_t> appends;             // cells
};

class History : public ::testing::Test {
 protected:
  History()
      : store_(OpenOrFail({.transactions = true, .kept_log_bytes = 1ULL << 30},
                          dir_.File("db"), kFamilies)) {}

  uint64_t Ticket() { return next_ticket_++; }

  // The token of the operation that thread `t` makes next.
  static std::string TokenOf(uint64_t t, const std::vector<Operation>& made) {
    std::string digits = std::to_string(made.size() * kThreads + t);
    return std::string(kTokenSize - digits.size(), '0') + digits;
  }

  std::string ListAt(uint64_t cell) {
    const ListCell at = ListCellAt(cell);
    return ValueOf(*store_, at.row, at.family, "list").value_or("");
  }

  // Each of these makes one operation, which it sets but for its tickets, and
  // tells whether it was acknowledged.
  bool Transact(Random* random, const std::string& token, Operation* made) {
    std::unique_ptr<Transaction> transaction;
    Require(store_->Begin(&transaction));
    for (uint64_t cell = 0; cell < kCells; ++cell) {
      if (random->OneIn(2)) continue;
      const ListCell at = ListCellAt(cell);
      std::optional<std::string> list;
      EXPECT_THAT(transaction->Get(at.row, at.family, "list", &list), IsOk());
      made->reads[cell] = list.value_or("");
    }
    for (uint64_t cell = 0; cell < kCells; ++cell) {
      if (!random->OneIn(4)) continue;
      const ListCell at = ListCellAt(cell);
      made->appends.insert(cell);
      const auto read = made->reads.find(cell);
      if (read == made->reads.end() || random->OneIn(2)) {
        transaction->Append(at.row, at.family, "list", token);
        continue;
      }
      // The same by other changes, for what the transaction has read.
      if (random->OneIn(2)) transaction->Delete(at.row, at.family, "list");
      transaction->Put(at.row, at.family, "list", read->second + token);
    }
    made->kind = "transaction";
    // The reads of a transaction that writes nothing are of one snapshot.
    return Acknowledged(transaction->Commit());
  }

  bool Append(Random* random, const std::string& token, Operation* made) {
    const uint64_t cell = random->Below(kCells);
    const ListCell at = ListCellAt(cell);
    made->kind = "append";
    made->appends.insert(cell);
    std::string joined;
    EXPECT_THAT(store_->Append(at.row, at.family, "list", token, &joined),
                IsOk());
    EXPECT_TRUE(joined.ends_with(token));
    joined.resize(joined.size() - kTokenSize);
    made->reads[cell] = joined;
    return true;
  }

  bool WriteABatch(Random* random, const std::string& token, Operation* made) {
    WriteBatch batch;
    for (uint64_t cell = 0; cell < kCells; ++cell) {
      if (!random->OneIn(3)) continue;
      const ListCell at = ListCellAt(cell);
      batch.Append(at.row, at.family, "list", token);
      made->appends.insert(cell);
    }
    made->kind = "batch";
    EXPECT_THAT(store_->Write(batch), IsOk());
    return true;
  }

  // Replaces the lists of a row, if one of them is still as it was before.
  bool CheckAndWrite(Random* random, const std::string& token,
                     Operation* made) {
    const uint64_t cell = random->Below(kCells);
    const ListCell at = ListCellAt(cell);
    const std::string list = ListAt(cell);
    WriteBatch batch;
    if (random->OneIn(2)) batch.Delete(at.row, at.family, "list");
    batch.Put(at.row, at.family, "list", list + token);
    made->appends.insert(cell);
    const uint64_t other = (cell + 2) % kCells;  // of the same row
    if (random->OneIn(2)) {
      batch.Append(at.row, ListCellAt(other).family, "list", token);
      made->appends.insert(other);
    }
    made->kind = "check and write";
    made->reads[cell] = list;
    const Condition condition = Condition::Equal(
        at.family, "list",
        list.empty() ? std::nullopt : std::optional<std::string_view>(list));
    bool applied = false;
    EXPECT_THAT(store_->CheckAndWrite(at.row, {&condition, 1}, batch, &applied),
                IsOk());
    return applied;
  }

  bool MultiGet(Operation* made) {
    std::vector<ListCell> cells;
    for (uint64_t cell = 0; cell < kCells; ++cell) {
      cells.push_back(ListCellAt(cell));
    }
    std::vector<CellAddress> addresses;
    for (const ListCell& at : cells) {
      addresses.push_back({at.row, at.family, "list"});
    }
    std::vector<std::vector<Cell>> found;
    EXPECT_THAT(store_->MultiGet(addresses, &found), IsOk());
    for (uint64_t cell = 0; cell < kCells; ++cell) {
      made->reads[cell] = found[cell].empty() ? "" : found[cell][0].value;
    }
    made->kind = "MultiGet";
    return true;
  }

  void AddReads(const std::string& row, const std::vector<Cell>& cells,
                Operation* made) {
    for (uint64_t cell = 0; cell < kCells; ++cell) {
      const ListCell at = ListCellAt(cell);
      if (at.row != row) continue;
      std::string* const list = &made->reads[cell];
      for (const Cell& found : cells) {
        if (found.family == at.family) *list = found.value;
      }
    }
  }

  bool Scan(bool reverse, Operation* made) {
    for (const char* row : {"row0", "row1"}) AddReads(row, {}, made);
    for (const Row& row :
         RowsOf(*store_, {.row_prefix = "row", .reverse = reverse})) {
      AddReads(row.row, row.cells, made);
    }
    made->kind = "scan";
    return true;
  }

  bool GetRow(Random* random, Operation* made) {
    const std::string row = ListCellAt(random->Below(kCells)).row;
    AddReads(row, GetRowOf(*store_, row), made);
    made->kind = "GetRow";
    return true;
  }

  bool GetByASnapshot(Operation* made) {
    const auto snapshot = SnapshotOf(*store_);
    for (uint64_t cell = 0; cell < kCells; ++cell) {
      const ListCell at = ListCellAt(cell);
      made->reads[cell] = ValueOf(*store_, at.row, at.family, "list",
                                  {.snapshot = snapshot.get()})
                              .value_or("");
    }
    made->kind = "snapshot";
    return true;
  }

  void Work(uint64_t thread, uint64_t steps, std::vector<Operation>* made) {
    Random random(seed_ + thread);
    for (uint64_t step = 0; step < steps; ++step) {
      const std::string token = TokenOf(thread, *made);
      Operation next;
      next.begin = Ticket();
      bool acknowledged = true;
      switch (random.Below(10)) {
        case 0:
          acknowledged = Append(&random, token, &next);
          break;
        case 1:
          acknowledged = WriteABatch(&random, token, &next);
          break;
        case 2:
          acknowledged = CheckAndWrite(&random, token, &next);
          break;
        case 3:
          acknowledged = MultiGet(&next);
          break;
        case 4:
          acknowledged = Scan(random.OneIn(2), &next);
          break;
        case 5:
          acknowledged = GetRow(&random, &next);
          break;
        case 6:
          acknowledged = GetByASnapshot(&next);
          break;
        default:
          acknowledged = Transact(&random, token, &next);
      }
      next.end = Ticket();
      if (!acknowledged) next = {};
      made->push_back(std::move(next));
    }
  }

  // Changes of other rows, and of files, until the threads are done.
  void Disturb(const std::atomic<uint64_t>& working) {
    Random random(seed_ + kThreads);
    for (uint64_t i = 0; working > 0; ++i) {
      const FamilyDescriptor& family =
          kFamilies[random.Below(kFamilies.size())];
      const std::string name = "new" + std::to_string(i);
      switch (random.Below(6)) {
        case 0:
          EXPECT_THAT(store_->Compact({.family = family.name}), IsOk());
          break;
        case 1: {
          const auto load = LoadInto(*store_);
          EXPECT_THAT(load->Add({ChangeType::kPut, name, family.name, "list",
                                 "loaded"}),
                      IsOk());
          EXPECT_THAT(load->Finish(), IsOk());
          break;
        }
        case 2:
          EXPECT_THAT(store_->CreateFamily(name, family.options), IsOk());
          EXPECT_THAT(store_->DropFamily(name), IsOk());
          break;
        case 3: {
          FamilyOptions options = family.options;
          options.bloom_type =
              random.OneIn(2) ? BloomType::kRow : BloomType::kRowCol;
          EXPECT_THAT(store_->AlterFamily(family.name, options), IsOk());
          break;
        }
        case 4:
          EXPECT_THAT(store_->DeleteRow("other"), IsOk());
          break;
        default:
          EXPECT_THAT(store_->Flush(), IsOk());
      }
    }
  }

  static bool Acknowledged(const Status& s) {
    EXPECT_TRUE(s.ok() || s.IsBusy()) << s.ToString();
    return s.ok();
  }

  TempDir dir_;
  const uint64_t seed_ = SeedFromEnv();
  std::unique_ptr<Store> store_;
  std::atomic<uint64_t> next_ticket_{0};
};

// Edges from operations that come first, by their places in a list.
class Order {
 public:
  explicit Order(size_t count) : next_(count), before_(count) {}

  void Add(size_t first, size_t second) {
    if (first == second) return;
    next_[first].push_back(second);
    ++before_[second];
  }

  // Those that are on or behind a cycle; none if there is an order.
  std::vector<size_t> WithoutPlace() const {
    std::vector<size_t> before = before_;
    std::vector<size_t> ready;
    for (size_t i = 0; i < before.size(); ++i) {
      if (before[i] == 0) ready.push_back(i);
    }
    while (!ready.empty()) {
      const size_t first = ready.back();
      ready.pop_back();
      for (const size_t second : next_[first]) {
        if (--before[second] == 0) ready.push_back(second);
      }
    }
    std::vector<size_t> left;
    for (size_t i = 0; i < before.size(); ++i) {
      if (before[i] > 0) left.push_back(i);
    }
    return left;
  }

 private:
  std::vector<std::vector<size_t>> next_;
  std::vector<size_t> before_;
};

TEST_F(History, OfThreadsHasAnOrder) {
  SCOPED_TRACE("ROWBLOOM_SEED=" + std::to_string(seed_));
  const uint64_t began = store_->LatestNumber();
  std::vector<std::vector<Operation>> made(kThreads);
  std::atomic<uint64_t> working{kThreads};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Work(t, Scaled(400), &made[t]);
      --working;
    });
  }
  Disturb(working);
  for (std::thread& thread : threads) thread.join();

  // The operations by their tokens, and then a node for each ticket.
  std::vector<Operation> all;
  for (size_t i = 0; i < made[0].size(); ++i) {
    for (uint64_t t = 0; t < kThreads; ++t) all.push_back(made[t][i]);
  }
  Order order(all.size() + next_ticket_);
  for (uint64_t ticket = 0; ticket + 1 < next_ticket_; ++ticket) {
    order.Add(all.size() + ticket, all.size() + ticket + 1);
  }
  std::map<std::string, uint64_t> kinds;
  for (size_t i = 0; i < all.size(); ++i) {
    ++kinds[all[i].kind];
    if (all[i].kind.empty()) continue;
    order.Add(all.size() + all[i].begin, i);
    order.Add(i, all.size() + all[i].end);
  }

  uint64_t tokens = 0;
  for (uint64_t cell = 0; cell < kCells; ++cell) {
    const std::string list = ListAt(cell);
    ASSERT_EQ(list.size() % kTokenSize, 0U) << list;
    std::vector<size_t> writers;
    for (size_t i = 0; i < list.size(); i += kTokenSize) {
      const size_t writer = std::stoul(list.substr(i, kTokenSize));
      ASSERT_LT(writer, all.size());
      ASSERT_EQ(all[writer].appends.erase(cell), 1U)
          << "operation " << writer << " wrote cell " << cell
          << " twice, or never";
      if (!writers.empty()) order.Add(writers.back(), writer);
      writers.push_back(writer);
    }
    tokens += writers.size();
    for (size_t i = 0; i < all.size(); ++i) {
      const auto read = all[i].reads.find(cell);
      if (all[i].kind.empty() || read == all[i].reads.end()) continue;
      ASSERT_TRUE(list.starts_with(read->second))
          << all[i].kind << " " << i << " read " << read->second << " of "
          << list;
      const size_t count = read->second.size() / kTokenSize;
      if (count > 0) order.Add(writers[count - 1], i);
      if (count < writers.size()) order.Add(i, writers[count]);
    }
  }
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(all[i].appends.empty())
        << all[i].kind << " " << i << " was lost";
  }

  // The stream of changes has the same order.
  std::unique_ptr<ChangeStream> changes;
  ASSERT_THAT(store_->GetUpdatesSince(began, &changes), IsOk());
  std::optional<size_t> last;
  uint64_t streamed = 0;
  for (; changes->Valid(); changes->Next()) {
    const StoreChange& change = changes->change();
    if (change.qualifier != "list" || change.type != ChangeType::kPut) continue;
    const size_t writer =
        std::stoul(change.value.substr(change.value.size() - kTokenSize));
    if (last) order.Add(*last, writer);
    last = writer;
    ++streamed;
  }
  ASSERT_THAT(changes->status(), IsOk());
  EXPECT_EQ(streamed, tokens);

  std::string cycle;
  for (const size_t i : order.WithoutPlace()) {
    if (i < all.size()) cycle += all[i].kind + " " + std::to_string(i) + "\n";
  }
  EXPECT_EQ(cycle, "");
  for (const auto& [kind, count] : kinds) {
    RecordProperty(kind.empty() ? "busy" : kind, static_cast<int>(count));
  }
}

}  // namespace
}  // namespace rowbloom::test::serializable_test

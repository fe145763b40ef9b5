// The memtables around those of another factory: each road in, and each
// function handed on.
#include "storage/filter_policy/front_filter/memtable_factory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lib/block/hash.h"
#include "rocksdb/comparator.h"
#include "rocksdb/utilities/stackable_db.h"
#include "rocksdb/version.h"

// RocksDB's header memtablerep.h calls this function, which is inline in
// RocksDB: its library may lack it, as a build of 10.10.1 does. RocksDB's own
// comparators may come to use this one, so that it has to be right.
namespace rocksdb {
[[gnu::weak, gnu::visibility("hidden")]] Slice GetLengthPrefixedSlice(
    const char* data) {
  uint32_t size = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(*data++);
    size |= (byte & 127u) << shift;
    if (byte < 128) return {data, size};
  }
}
}  // namespace rocksdb

namespace rowbloom::front_filter {
namespace {

using rocksdb::KeyHandle;
using rocksdb::MemTableRep;

// Says which functions were called, and calls `on_insert` in each that inserts.
class Recorder final : public MemTableRep {
 public:
  explicit Recorder(std::vector<std::string>* calls,
                    std::function<void()>* on_insert)
      : MemTableRep(nullptr), calls_(*calls), on_insert_(*on_insert) {}
  ~Recorder() override { calls_.emplace_back("destroyed"); }

  KeyHandle Allocate(const size_t bytes, char** buffer) override {
    memory_.push_back(std::make_unique<char[]>(bytes));
    *buffer = memory_.back().get();
    return *buffer;
  }
  void Insert(KeyHandle) override { Inserted("Insert"); }
  bool InsertKey(KeyHandle) override { return Inserted("InsertKey"); }
  void InsertWithHint(KeyHandle, void**) override {
    Inserted("InsertWithHint");
  }
  bool InsertKeyWithHint(KeyHandle, void**) override {
    return Inserted("InsertKeyWithHint");
  }
  void InsertWithHintConcurrently(KeyHandle, void**) override {
    Inserted("InsertWithHintConcurrently");
  }
  bool InsertKeyWithHintConcurrently(KeyHandle, void**) override {
    return Inserted("InsertKeyWithHintConcurrently");
  }
  void InsertConcurrently(KeyHandle) override {
    Inserted("InsertConcurrently");
  }
  bool InsertKeyConcurrently(KeyHandle) override {
    return Inserted("InsertKeyConcurrently");
  }
  bool Contains(const char*) const override {
    calls_.emplace_back("Contains");
    return true;
  }
  void MarkReadOnly() override { calls_.emplace_back("MarkReadOnly"); }
  void MarkFlushed() override { calls_.emplace_back("MarkFlushed"); }
  void Get(const rocksdb::LookupKey&, void*,
           bool (*)(void*, const char*)) override {
    calls_.emplace_back("Get");
  }
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1007
  using Validate = std::function<rocksdb::Status(const char*, bool)>;
  rocksdb::Status GetAndValidate(const rocksdb::LookupKey&, void*,
                                 bool (*)(void*, const char*), bool in_error,
                                 bool disorder,
                                 const Validate& validate) override {
    return Validated("GetAndValidate", in_error, disorder, validate);
  }
#endif
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1101
  rocksdb::Status MultiGet(size_t count, const char* const*, void**,
                           bool (*)(void*, const char*), bool in_errors,
                           bool disorder, const Validate& validate) override {
    return Validated("MultiGet" + std::to_string(count), in_errors, disorder,
                     validate);
  }
#endif
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1004
  void BatchPostProcess() override { calls_.emplace_back("BatchPostProcess"); }
#endif
  uint64_t ApproximateNumEntries(const rocksdb::Slice&,
                                 const rocksdb::Slice&) override {
    return 17;
  }
  void UniqueRandomSample(const uint64_t, const uint64_t,
                          std::unordered_set<const char*>*) override {
    calls_.emplace_back("UniqueRandomSample");
  }
  size_t ApproximateMemoryUsage() override { return 18; }
  Iterator* GetIterator(rocksdb::Arena*) override {
    calls_.emplace_back("GetIterator");
    return nullptr;
  }
  Iterator* GetDynamicPrefixIterator(rocksdb::Arena*) override {
    calls_.emplace_back("GetDynamicPrefixIterator");
    return nullptr;
  }
  bool IsMergeOperatorSupported() const override { return false; }
  bool IsSnapshotSupported() const override { return false; }

 private:
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1007
  rocksdb::Status Validated(std::string call, bool in_errors, bool disorder,
                            const Validate& validate) {
    if (in_errors) call += ", data in errors";
    if (disorder) call += ", detects disorder";
    calls_.push_back(call);
    return validate("", true);
  }
#endif
  bool Inserted(const char* how) {
    calls_.emplace_back(how);
    on_insert_();
    return false;
  }

  std::vector<std::string>& calls_;
  std::function<void()>& on_insert_;
  std::vector<std::unique_ptr<char[]>> memory_;
};

class RecorderFactory final : public rocksdb::MemTableRepFactory {
 public:
  MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator&,
                                 rocksdb::Allocator*,
                                 const rocksdb::SliceTransform*,
                                 rocksdb::Logger*) override {
    return new Recorder(&calls, &on_insert);
  }
  const char* Name() const override { return "recorder"; }
  bool IsInsertConcurrentlySupported() const override { return true; }
  bool CanHandleDuplicatedKey() const override { return true; }

  std::vector<std::string> calls;
  std::function<void()> on_insert = [] {};
};

// A factory around another, which it may hide.
class Wrapper final : public rocksdb::MemTableRepFactory {
 public:
  Wrapper(std::shared_ptr<MemTableRepFactory> inner, bool hides)
      : inner_(std::move(inner)), hides_(hides) {}
  const char* Name() const override { return "wrapper"; }
  const rocksdb::Customizable* Inner() const override {
    return hides_ ? nullptr : inner_.get();
  }
  MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator& comparator,
                                 rocksdb::Allocator* allocator,
                                 const rocksdb::SliceTransform* transform,
                                 rocksdb::Logger* logger) override {
    return inner_->CreateMemTableRep(comparator, allocator, transform, logger);
  }

 private:
  const std::shared_ptr<MemTableRepFactory> inner_;
  const bool hides_;
};

class NoComparator final : public MemTableRep::KeyComparator {
 public:
  int operator()(const char*, const char*) const override { return 0; }
  int operator()(const char*, const rocksdb::Slice&) const override {
    return 0;
  }
};

// A database without files, and its family.
class NoFiles final : public rocksdb::StackableDB {
 public:
  NoFiles() : StackableDB(static_cast<rocksdb::DB*>(nullptr)) {}
  rocksdb::DB* GetRootDB() override { return this; }
  void GetColumnFamilyMetaData(rocksdb::ColumnFamilyHandle*,
                               rocksdb::ColumnFamilyMetaData*) override {}
};

class NoHandle final : public rocksdb::ColumnFamilyHandle {
 public:
  const std::string& GetName() const override { return name_; }
  uint32_t GetID() const override { return 0; }
  rocksdb::Status GetDescriptor(rocksdb::ColumnFamilyDescriptor*) override {
    return rocksdb::Status::NotSupported();
  }
  const rocksdb::Comparator* GetComparator() const override {
    return rocksdb::BytewiseComparator();
  }

 private:
  const std::string name_ = "family";
};

class MemtableFactoryTest : public testing::Test {
 protected:
  MemtableFactoryTest()
      : outer_(NewMemtableFactory(inner_, core_,
                                  {.layout = KeyLayout::Delimited(':'),
                                   .comparator = rocksdb::BytewiseComparator(),
                                   .order = RowOrder::kBytewise})) {}

  std::unique_ptr<MemTableRep> Make(uint32_t family) {
    return std::unique_ptr<MemTableRep>(outer_->CreateMemTableRep(
        comparator_, nullptr, nullptr, nullptr, family));
  }
  static bool MayHave(const Family& family, const std::string& row) {
    const Family::Lookup lookup(family);
    return !lookup.armed() ||
           lookup.view().MayHave({.bytes = row, .hash = HashRow(row)});
  }
  // An entry as MemTable::Add encodes it, for a key of less than 16 KiB.
  static KeyHandle Encode(MemTableRep* memtable, const std::string& key) {
    const size_t size = key.size() + 8;
    std::string entry;
    if (size < 0x80) {
      entry.push_back(static_cast<char>(size));
    } else {
      entry.push_back(static_cast<char>(size | 0x80));
      entry.push_back(static_cast<char>(size >> 7));
    }
    entry += key + "\1\1\1\1\1\1\1\1\3val";
    char* buffer = nullptr;
    const KeyHandle handle = memtable->Allocate(entry.size(), &buffer);
    entry.copy(buffer, entry.size());
    return handle;
  }

  NoComparator comparator_;
  NoFiles database_;
  NoHandle handle_;
  std::shared_ptr<RecorderFactory> inner_ = std::make_shared<RecorderFactory>();
  std::shared_ptr<Core> core_ = std::make_shared<Core>(FrontFilterOptions{});
  std::shared_ptr<rocksdb::MemTableRepFactory> outer_;
};

// However an entry comes in, its row is there when the insert returns. A
// concurrent insert, which an unordered write may publish at once, adds it
// before the entry.
TEST_F(MemtableFactoryTest, EachInsertAddsTheRowBeforeTheWriteIsPublished) {
  struct Road {
    const char* name;
    std::function<void(MemTableRep*, KeyHandle)> insert;
  };
  void* hint = nullptr;
  const std::vector<Road> roads = {
      {"Insert", [](MemTableRep* m, KeyHandle h) { m->Insert(h); }},
      {"InsertKey",
       [](MemTableRep* m, KeyHandle h) { EXPECT_FALSE(m->InsertKey(h)); }},
      {"InsertWithHint",
       [&](MemTableRep* m, KeyHandle h) { m->InsertWithHint(h, &hint); }},
      {"InsertKeyWithHint",
       [&](MemTableRep* m, KeyHandle h) {
         EXPECT_FALSE(m->InsertKeyWithHint(h, &hint));
       }},
      {"InsertWithHintConcurrently",
       [&](MemTableRep* m, KeyHandle h) {
         m->InsertWithHintConcurrently(h, &hint);
       }},
      {"InsertKeyWithHintConcurrently",
       [&](MemTableRep* m, KeyHandle h) {
         EXPECT_FALSE(m->InsertKeyWithHintConcurrently(h, &hint));
       }},
      {"InsertConcurrently",
       [](MemTableRep* m, KeyHandle h) { m->InsertConcurrently(h); }},
      {"InsertKeyConcurrently", [](MemTableRep* m, KeyHandle h) {
         EXPECT_FALSE(m->InsertKeyConcurrently(h));
       }}};
  const auto memtable = Make(3);
  Family* const family = core_->Find(3);
  ASSERT_NE(family, nullptr);
  family->Attach(&database_, &handle_);
  family->Reconcile();
  for (const Road& road : roads) {
    for (const size_t row_bytes : {1, 20, 300}) {
      const std::string row =
          road.name + std::string(row_bytes, 'x') + std::string(":");
      bool was_there = false;
      inner_->on_insert = [&] { was_there = MayHave(*family, row); };
      EXPECT_FALSE(MayHave(*family, row)) << row;
      road.insert(memtable.get(), Encode(memtable.get(), row + "qualifier"));
      EXPECT_TRUE(MayHave(*family, row)) << road.name;
      if (std::string_view(road.name).ends_with("Concurrently")) {
        EXPECT_TRUE(was_there) << road.name;
      }
      EXPECT_EQ(inner_->calls.back(), road.name);
    }
  }
  // Outside the layout.
  inner_->on_insert = [] {};
  memtable->Insert(Encode(memtable.get(), "no row"));
  EXPECT_FALSE(MayHave(*family, "no row"));
}

TEST_F(MemtableFactoryTest, HandsOnTheRest) {
  EXPECT_STREQ(outer_->Name(), "recorder");
  EXPECT_EQ(outer_->GetId(), inner_->GetId());
  EXPECT_TRUE(outer_->IsInsertConcurrentlySupported());
  EXPECT_TRUE(outer_->CanHandleDuplicatedKey());
  EXPECT_EQ(InnerFactory(outer_), inner_);
  EXPECT_EQ(InnerFactory(inner_), inner_);
  EXPECT_EQ(InnerFactory(nullptr), nullptr);
  auto memtable = Make(0);
  inner_->calls.clear();
  EXPECT_TRUE(memtable->Contains(""));
  memtable->MarkReadOnly();
  memtable->MarkFlushed();
  memtable->UniqueRandomSample(1, 1, nullptr);
  EXPECT_EQ(memtable->GetIterator(nullptr), nullptr);
  EXPECT_EQ(memtable->GetDynamicPrefixIterator(nullptr), nullptr);
  EXPECT_EQ(memtable->ApproximateNumEntries("", ""), 17);
  EXPECT_EQ(memtable->ApproximateMemoryUsage(), 18);
  EXPECT_FALSE(memtable->IsMergeOperatorSupported());
  EXPECT_FALSE(memtable->IsSnapshotSupported());
  memtable.reset();
  EXPECT_EQ(inner_->calls,
            (std::vector<std::string>{
                "Contains", "MarkReadOnly", "MarkFlushed", "UniqueRandomSample",
                "GetIterator", "GetDynamicPrefixIterator", "destroyed"}));
}

#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1004
TEST_F(MemtableFactoryTest, HandsOnBatchPostProcess) {
  const auto memtable = Make(0);
  memtable->BatchPostProcess();
  EXPECT_EQ(inner_->calls.back(), "BatchPostProcess");
}
#endif

#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1007
TEST_F(MemtableFactoryTest, HandsOnReadsThatValidate) {
  const auto memtable = Make(0);
  const rocksdb::LookupKey* const key = nullptr;
  const auto refuses = [](const char*, bool) {
    return rocksdb::Status::Corruption();
  };
  EXPECT_TRUE(
      memtable->GetAndValidate(*key, nullptr, nullptr, true, false, refuses)
          .IsCorruption());
  EXPECT_EQ(inner_->calls.back(), "GetAndValidate, data in errors");
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1101
  EXPECT_TRUE(
      memtable->MultiGet(3, nullptr, nullptr, nullptr, false, true, refuses)
          .IsCorruption());
  EXPECT_EQ(inner_->calls.back(), "MultiGet3, detects disorder");
#endif
}
#endif

TEST_F(MemtableFactoryTest, TellsItsCoreAlsoThroughOthers) {
  EXPECT_TRUE(AddsRowsTo(*outer_, *core_));
  EXPECT_FALSE(AddsRowsTo(*inner_, *core_));
  EXPECT_FALSE(AddsRowsTo(*outer_, Core(FrontFilterOptions{})));
  EXPECT_TRUE(AddsRowsTo(Wrapper(outer_, false), *core_));
  EXPECT_FALSE(AddsRowsTo(Wrapper(outer_, true), *core_));
}

// Families come in any order, and are found by their ids.
TEST_F(MemtableFactoryTest, ManyFamilies) {
  std::vector<std::unique_ptr<MemTableRep>> memtables;
  for (const uint32_t id : {5, 0, 1, 70, 6, 1'000, 2, 63, 64}) {
    EXPECT_EQ(core_->Find(id), nullptr);
    memtables.push_back(Make(id));
    ASSERT_NE(core_->Find(id), nullptr);
    EXPECT_EQ(core_->Find(id)->id(), id);
  }
  const auto stats = core_->Stats();
  ASSERT_EQ(stats.families.size(), 9);
  EXPECT_EQ(stats.families[3].id, 5);
  EXPECT_EQ(stats.families[8].id, 1'000);
}

// A MANIFEST may have any id, and the filter a table by id.
TEST_F(MemtableFactoryTest, AFamilyWithAnIdOutOfProportionHasNone) {
  const auto last = Make(Core::kMaxId);
  const auto beyond = Make(Core::kMaxId + 1);
  EXPECT_EQ(core_->Find(Core::kMaxId + 1), nullptr);
  EXPECT_NE(core_->FindToProbe(Core::kMaxId), nullptr);
}

// A memtable of nobody knows which family may have any row of any.
TEST_F(MemtableFactoryTest, WithoutAFamilyNothingIsAnsweredFor) {
  const auto known = Make(0);
  EXPECT_NE(core_->FindToProbe(0), nullptr);
  const std::unique_ptr<MemTableRep> memtable(
      outer_->CreateMemTableRep(comparator_, nullptr, nullptr, nullptr));
  EXPECT_EQ(core_->FindToProbe(0), nullptr);
  EXPECT_EQ(core_->Stats().families[0].why,
            "a memtable was made without the id of its family");
}

// One id for two layouts: rows of one are none of the other.
TEST_F(MemtableFactoryTest, TwoLayoutsForOneIdDisarm) {
  const auto first = Make(0);
  const auto other =
      NewMemtableFactory(inner_, core_,
                         {.layout = KeyLayout::FixedRow(2),
                          .comparator = rocksdb::BytewiseComparator(),
                          .order = RowOrder::kBytewise});
  EXPECT_EQ(core_->Find(0)->Stats().state, FrontFilterState::kArming);
  const std::unique_ptr<MemTableRep> second(
      other->CreateMemTableRep(comparator_, nullptr, nullptr, nullptr, 0));
  EXPECT_EQ(core_->Find(0)->Stats().state, FrontFilterState::kDisarmed);
}

}  // namespace
}  // namespace rowbloom::front_filter

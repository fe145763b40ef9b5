// Families that come, change and go while the store is open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "storage/store/metadata.h"
#include "tests/storage/store/calling_store.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/random.h"
#include "tests/support/stride.h"
#include "tests/support/wait_for.h"

namespace rowbloom::test {
namespace {

using rocksdb::Status;
using ::testing::AllOf;
using ::testing::HasSubstr;

class StoreFamilies : public ::testing::Test {
 protected:
  void Open(const std::vector<FamilyDescriptor>& families,
            StoreOptions options = {}) {
    store_.reset();
    store_ = OpenOrFail(options, path_, families, [this] { return now_ms_; });
  }

  FamilyStats StatsOf(const std::string& family) {
    return StoreStatsOf(*store_).families[family];
  }

  size_t VersionsOf(const std::string& family) {
    return GetVersionsOf(*store_, "r", family, "q", {.max_versions = 100})
        .size();
  }

  size_t CellsOfRow(const std::string& row) {
    return GetRowOf(*store_, row).size();
  }

  // Files of rows of their own, and one row of all of them.
  void WriteFiles(const std::string& family, int files) {
    constexpr int kRows = 300;
    for (int file = 0; file < files; ++file) {
      for (int i = 0; i < kRows; ++i) {
        ASSERT_THAT(store_->Put(DistinctKey(file * kRows + i), family, "q",
                                std::string(50, 'v')),
                    IsOk());
      }
      ASSERT_THAT(store_->Put("shared", family, std::to_string(file), "v"),
                  IsOk());
      ASSERT_THAT(store_->Flush(), IsOk());
    }
  }

  // Asks for columns that a row of every file does not have: only ROWCOL can
  // answer. Returns what ROWCOL did.
  SectionStats AskForAbsentColumns(const std::string& family) {
    const FilterStats before = StatsOf(family).filter;
    for (int i = 0; i < 100; ++i) {
      EXPECT_FALSE(
          ValueOf(*store_, "shared", family, "0-" + std::to_string(i)));
    }
    SectionStats asked = StatsOf(family).filter.row_col;
    asked.checked -= before.row_col.checked;
    asked.skipped -= before.row_col.skipped;
    return asked;
  }

  TempDir dir_;
  std::string path_ = dir_.File("db");
  uint64_t now_ms_ = 1'700'000'000'000;
  std::unique_ptr<Store> store_;
};

TEST_F(StoreFamilies, CreatedOneIsUsedAtOnceAndKept) {
  Open({{"a", {}}});
  const FamilyOptions options = {.filter_kind = FilterKind::kRibbon,
                                 .timestamps = Timestamps::kClient,
                                 .max_versions = 3};
  ASSERT_THAT(store_->CreateFamily("b", options), IsOk());
  EXPECT_EQ(store_->Families().at("b"), options);
  ASSERT_THAT(store_->Put("r", "b", "q", "v", {.timestamp_ms = 5}), IsOk());
  ASSERT_THAT(store_->Flush(), IsOk());
  EXPECT_EQ(StatsOf("b").filter.blocks_built, 1u);

  Open({});
  EXPECT_EQ(store_->Families().at("b"), options);
  EXPECT_TRUE(ValueOf(*store_, "r", "b", "q"));
}

TEST_F(StoreFamilies, ThatAreNotThereNameTenThatAre) {
  std::vector<FamilyDescriptor> families;
  for (char name = 'a'; name <= 'l'; ++name) {
    families.push_back({std::string(1, name), {}});
  }
  Open(families);
  EXPECT_THAT(store_->DropFamily("x"),
              StatusIs(Status::kInvalidArgument,
                       HasSubstr("it has: a, b, c, d, e, f, g, h, i, j and 2 "
                                 "more")));
}

TEST_F(StoreFamilies, RefusedOnesAreNotCreated) {
  Open({{"a", {}}});
  EXPECT_THAT(store_->CreateFamily("a", {}),
              StatusIs(Status::kInvalidArgument,
                       HasSubstr("family \"a\" is in the store at " + path_ +
                                 " already")));
  EXPECT_THAT(store_->CreateFamily("b:c", {}),
              StatusIs(Status::kInvalidArgument, HasSubstr("b:c")));
  EXPECT_THAT(
      store_->CreateFamily("b", {.max_versions = 0}),
      StatusIs(Status::kInvalidArgument,
               AllOf(HasSubstr("family \"b\""), HasSubstr("max_versions"))));
  EXPECT_THAT(store_->DropFamily("b"),
              StatusIs(Status::kInvalidArgument, HasSubstr("it has: a")));
  EXPECT_THAT(store_->AlterFamily("b", {}),
              StatusIs(Status::kInvalidArgument, HasSubstr("it has: a")));
  EXPECT_THAT(
      store_->AlterFamily("a", {.false_positive_rate = 2}),
      StatusIs(Status::kInvalidArgument, HasSubstr("false_positive_rate")));
  const std::vector<std::pair<FamilyDescriptor, const char*>> refused = {
      {{"a", {}}, "\"a\" is in the store at "},
      {{"b", {}}, "\"b\" is listed twice"},
      {{"c:d", {}}, "c:d"},
      {{"c", {.max_versions = 0}}, "\"c\": max_versions"}};
  for (const auto& [family, said] : refused) {
    EXPECT_THAT(store_->CreateFamilies(
                    std::vector<FamilyDescriptor>{{"b", {}}, family}),
                StatusIs(Status::kInvalidArgument, HasSubstr(said)));
    EXPECT_EQ(store_->Families().size(), 1u);
  }
  EXPECT_THAT(store_->CreateFamilies({}), IsOk());
  Open({});
  EXPECT_EQ(store_->Families().size(), 1u);
  Open({}, {.read_only = true});
  EXPECT_TRUE(store_->CreateFamily("b", {}).IsNotSupported());
  EXPECT_TRUE(store_->DropFamily("a").IsNotSupported());
  EXPECT_TRUE(store_->AlterFamily("a", {}).IsNotSupported());
}

TEST_F(StoreFamilies, DroppedOneIsGoneAndTheStoreGoesOn) {
  Open({{"a", {}}, {"b", {}}});
  ASSERT_THAT(store_->Put("r", "a", "q", "1"), IsOk());
  ASSERT_THAT(store_->Put("r", "b", "q", "2"), IsOk());
  ASSERT_THAT(store_->DropFamily("b"), IsOk());
  EXPECT_EQ(CellsOfRow("r"), 1u);
  EXPECT_THAT(
      store_->Put("r", "b", "q", "3"),
      StatusIs(Status::kInvalidArgument, HasSubstr("family \"b\" is not")));
  WriteBatch batch;
  batch.Put("r", "a", "q", "4");
  batch.DeleteFamily("r", "b");
  EXPECT_TRUE(store_->Write(batch).IsInvalidArgument());
  EXPECT_THAT(store_->DeleteRow("r"), IsOk());
  EXPECT_THAT(store_->Put("r", "a", "q", "5"), IsOk());
  EXPECT_THAT(store_->Flush(), IsOk());
  EXPECT_THAT(store_->Compact(), IsOk());

  // The log still has its cells.
  Open({});
  EXPECT_EQ(store_->Families().size(), 1u);
  EXPECT_EQ(CellsOfRow("r"), 1u);
  ASSERT_THAT(store_->CreateFamily("b", {.max_versions = 2}), IsOk());
  EXPECT_EQ(CellsOfRow("r"), 1u);
  Open({});
  EXPECT_EQ(store_->Families().size(), 2u);
}

TEST_F(StoreFamilies, DropGivesBackTheDiskOnceScansAreDone) {
  Open({{"a", {}}, {"b", {}}});
  ASSERT_NO_FATAL_FAILURE(WriteFiles("b", 3));
  const auto tables = [this] { return FilesWithEnd(path_, ".sst").size(); };
  const auto before = tables();
  {
    RowScanner rows = ScanOf(*store_, {.row = {.columns = {{"b"}}}});
    auto row = rows.begin();
    ASSERT_THAT(store_->DropFamily("b"), IsOk());
    EXPECT_EQ(tables(), before);
    int seen = 0;
    for (; row != rows.end(); ++row) ++seen;
    EXPECT_THAT(rows.status(), IsOk());
    EXPECT_EQ(seen, 901);
  }
  EXPECT_TRUE(WaitFor([&] { return tables() == before - 3; }));
}

// A large family has many files.
TEST(FilesOfADroppedFamily, AreDeletedWhileWritesGoOn) {
  const CallingStore calling;
  Store* const store = calling.store.get();
  ASSERT_THAT(store->CreateFamily("d", {}), IsOk());
  for (const bool truncates : {true, false}) {
    ASSERT_THAT(store->Put("r", "c", "q", "v"), IsOk());
    ASSERT_THAT(store->Flush(), IsOk());
    std::future<Status> write;
    std::atomic<bool> went_on{false};
    std::atomic<bool> deletes{false};
    calling.files->On(FileCall::kDelete, [&](const std::string& path) {
      if (!path.ends_with(".sst") || write.valid()) return;
      write = std::async(std::launch::async,
                         [store] { return store->Put("r", "d", "q", "v"); });
      went_on =
          write.wait_for(std::chrono::seconds(30)) == std::future_status::ready;
      deletes = true;
    });
    EXPECT_THAT(truncates ? store->TruncateFamily("c") : store->DropFamily("c"),
                IsOk());
    ASSERT_TRUE(WaitFor([&] { return deletes.load(); }));
    calling.files->Off(FileCall::kDelete);
    EXPECT_TRUE(went_on);
    EXPECT_THAT(write.get(), IsOk());
  }
}

// RocksDB syncs the MANIFEST for each of them.
TEST(CreationOfManyFamilies, LetsWritesInBetween) {
  const CallingStore calling;
  Store* const store = calling.store.get();
  std::atomic<bool> done{false};
  std::atomic<int> puts{0};
  std::thread writer([&] {
    for (; !done; ++puts) {
      EXPECT_THAT(store->Put("r", "c", "q", "v"), IsOk());
    }
  });
  EXPECT_TRUE(WaitFor([&puts] { return puts > 0; }));
  std::optional<int> at_first;
  int at_last = 0;
  calling.files->On(FileCall::kSync, [&](const std::string& path) {
    if (path.find("/MANIFEST-") == path.npos) return;
    at_last = puts;
    if (!at_first) at_first = at_last;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  // A put that ends as the first creation begins is not one in between.
  const auto had_puts = [&] { return at_first && at_last > *at_first + 1; };
  for (int round = 0; round < 20 && !had_puts(); ++round) {
    std::vector<FamilyDescriptor> families;
    for (int i = 0; i < 10; ++i) {
      families.push_back({"f" + std::to_string(10 * round + i), {}});
    }
    at_first.reset();
    EXPECT_THAT(store->CreateFamilies(families), IsOk());
  }
  done = true;
  writer.join();
  calling.files->Off(FileCall::kSync);
  EXPECT_TRUE(had_puts());
}

// Export and copies read family by family, long after their snapshot.
TEST_F(StoreFamilies, SnapshotKeepsAFamilyThatIsTruncatedOrDroppedAfterIt) {
  const std::vector<FamilyDescriptor> both = {{"a", {}}, {"b", {}}};
  for (const bool truncates : {true, false}) {
    Open(both);
    ASSERT_THAT(store_->Put("r", "a", "q", "a's"), IsOk());
    ASSERT_THAT(store_->Put("r", "b", "q", "b's"), IsOk());
    const auto snapshot = SnapshotOf(*store_);
    if (truncates) {
      ASSERT_THAT(store_->TruncateFamily("b"), IsOk());
    } else {
      ASSERT_THAT(store_->DropFamily("b"), IsOk());
      ASSERT_THAT(store_->CreateFamily("b", {}), IsOk());
    }
    ASSERT_THAT(store_->Put("r", "b", "q", "new"), IsOk());
    PinnableCell cell;
    ASSERT_THAT(store_->Get("r", "b", "q", &cell, {.snapshot = snapshot.get()}),
                IsOk());
    ASSERT_TRUE(cell);
    EXPECT_EQ(cell.value(), "b's");
    const CellAddress address[] = {{"r", "b", "q"}};
    std::vector<std::vector<Cell>> found;
    ASSERT_THAT(store_->MultiGet(address, &found, {.snapshot = snapshot.get()}),
                IsOk());
    ASSERT_EQ(found[0].size(), 1u);
    EXPECT_EQ(found[0][0].value, "b's");
    const std::vector<Cell> row =
        GetRowOf(*store_, "r", {.snapshot = snapshot.get()});
    ASSERT_EQ(row.size(), 2u);
    EXPECT_EQ(row[1].value, "b's");
    std::unique_ptr<CellIterator> cells;
    ASSERT_THAT(store_->NewCellIterator(
                    {.family = "b", .snapshot = snapshot.get()}, &cells),
                IsOk());
    ASSERT_TRUE(cells->Valid());
    EXPECT_EQ(cells->cell().value, "b's");
    ASSERT_THAT(store_->Get("r", "b", "q", &cell), IsOk());
    EXPECT_EQ(cell.value(), "new");
  }
}

TEST_F(StoreFamilies, IsReadWhileItIsTruncated) {
  Open({{"a", {}}});
  std::atomic<bool> done{false};
  std::atomic<int> seen{0};
  std::thread reader([&] {
    while (!done) seen += ValueOf(*store_, "r", "a", "q") ? 1 : 0;
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(store_->Put("r", "a", "q", "v"), IsOk());
    const int before = seen;
    EXPECT_TRUE(WaitFor([&] { return seen > before; }));
    EXPECT_THAT(store_->TruncateFamily("a"), IsOk());
  }
  done = true;
  reader.join();
}

// Families change when the read has chosen its families, and asks for the time.
TEST(ReadOfSeveralFamilies, IsOfOneStateBesideATruncation) {
  const TempDir dir;
  std::function<void()> meanwhile;
  const WallClock wall_clock = [&meanwhile] {
    if (meanwhile) std::thread(std::exchange(meanwhile, nullptr)).join();
    return SystemWallClock();
  };
  const auto store =
      OpenOrFail({}, dir.File("db"), {{"a", {.ttl_ms = 1'000'000}}, {"b", {}}},
                 wall_clock);
  const auto write = [&](const std::string& value) {
    WriteBatch batch;
    batch.Put("r", "a", "q", value);
    batch.Put("r", "b", "q", value);
    ASSERT_THAT(store->Write(batch), IsOk());
  };
  const auto get_row = [&store](const RowOptions& options) {
    return [&store, options](std::vector<std::string>* values) {
      const std::vector<Cell> cells = GetRowOf(*store, "r", options);
      for (const Cell& cell : cells) values->push_back(cell.value);
    };
  };
  RowOptions columns;
  columns.columns = {{"a", "q"}, {"b", "q"}};
  const auto multi_get = [&store](std::vector<std::string>* values) {
    const std::vector<CellAddress> cells = {{"r", "a", "q"}, {"r", "b", "q"}};
    std::vector<std::vector<Cell>> found;
    ASSERT_THAT(store->MultiGet(cells, &found), IsOk());
    for (const auto& versions : found) {
      for (const Cell& cell : versions) values->push_back(cell.value);
    }
  };
  using Read = std::function<void(std::vector<std::string>*)>;
  for (const Read& read :
       {Read(get_row({})), Read(get_row(columns)), Read(multi_get)}) {
    write("old");
    bool changed = false;
    meanwhile = [&] {
      ASSERT_THAT(store->TruncateFamily("a"), IsOk());
      write("new");
      changed = true;
    };
    std::vector<std::string> values;
    ASSERT_NO_FATAL_FAILURE(read(&values));
    EXPECT_TRUE(changed);
    ASSERT_EQ(values.size(), 2u);
    EXPECT_EQ(values[0], values[1]);
  }
}

TEST_F(StoreFamilies, TruncatedOneKeepsItsOptionsAndNoCell) {
  const FamilyOptions options = {.max_versions = 3, .ttl_ms = 1'000'000};
  Open({{"a", {}}, {"b", options}});
  ASSERT_THAT(store_->Put("r", "a", "q", "1"), IsOk());
  ASSERT_THAT(store_->Put("r", "b", "q", "2"), IsOk());
  ASSERT_THAT(store_->Flush(), IsOk());
  ASSERT_THAT(store_->Put("r", "b", "p", "3"), IsOk());
  auto load = LoadInto(*store_);
  ASSERT_THAT(load->Add("r", "b", "q", "v"), IsOk());
  {
    RowScanner rows = ScanOf(*store_, {.row = {.columns = {{"b"}}}});
    auto row = rows.begin();
    ASSERT_THAT(store_->TruncateFamily("b"), IsOk());
    EXPECT_EQ(row->cells.size(), 2u) << "a scan goes on with its cells";
  }
  EXPECT_EQ(CellsOfRow("r"), 1u);
  EXPECT_EQ(store_->Families().at("b"), options);
  EXPECT_THAT(load->Finish(),
              StatusIs(Status::kInvalidArgument, HasSubstr("dropped")));
  load.reset();
  ASSERT_THAT(store_->Put("r", "b", "q", "4"), IsOk());
  // The log still has the cells of before.
  Open({});
  EXPECT_EQ(CellsOfRow("r"), 2u);
  EXPECT_EQ(store_->Families().at("b"), options);
  EXPECT_THAT(store_->TruncateFamily("c"),
              StatusIs(Status::kInvalidArgument, HasSubstr("it has: a, b")));
  Open({}, {.read_only = true});
  EXPECT_TRUE(store_->TruncateFamily("b").IsNotSupported());
}

TEST_F(StoreFamilies, LoadIntoADroppedOneDoesNotFinish) {
  Open({{"a", {}}, {"b", {}}});
  auto load = LoadInto(*store_);
  ASSERT_THAT(load->Add("r", "a", "q", "v"), IsOk());
  ASSERT_THAT(load->Add("r", "b", "q", "v"), IsOk());
  ASSERT_THAT(store_->DropFamily("b"), IsOk());
  ASSERT_THAT(store_->CreateFamily("b", {}), IsOk());
  EXPECT_THAT(load->Finish(),
              StatusIs(Status::kInvalidArgument,
                       HasSubstr("family \"b\" was dropped during the load")));
  load.reset();
  EXPECT_EQ(CellsOfRow("r"), 0u);
  EXPECT_THAT(store_->Put("r", "b", "q", "v"), IsOk());
}

TEST_F(StoreFamilies, AlteredFilterIsThatOfNewFilesAndOfOldOnesOnceCompacted) {
  constexpr int kFiles = 4;
  // The front filter would answer before RocksDB probes filters.
  Open({{"a", {.bloom_type = BloomType::kRow}}},
       {.front_filter_limit_bytes = 0, .auto_compaction = false});
  ASSERT_NO_FATAL_FAILURE(WriteFiles("a", kFiles));
  EXPECT_EQ(AskForAbsentColumns("a").checked, 0u);
  const uint64_t row_bytes = StatsOf("a").filter_bytes;

  const FamilyOptions altered = {.bloom_type = BloomType::kRowCol,
                                 .filter_kind = FilterKind::kRibbon,
                                 .false_positive_rate = 0.001};
  ASSERT_THAT(store_->AlterFamily("a", altered), IsOk());
  EXPECT_EQ(store_->Families().at("a"), altered);
  EXPECT_EQ(AskForAbsentColumns("a").checked, 0u);
  EXPECT_EQ(StatsOf("a").filter_bytes, row_bytes);
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_EQ(StatsOf("a").filter.blocks_built, kFiles + 1u);
  const SectionStats asked = AskForAbsentColumns("a");
  EXPECT_EQ(asked.checked, 100u);
  EXPECT_GT(asked.skipped, 95u);
  // Two sections at a tenth of the rate.
  EXPECT_GT(StatsOf("a").filter_bytes, row_bytes * 3 / 2);

  // A family is altered to NONE, and back, in place.
  ASSERT_THAT(store_->AlterFamily("a", {.bloom_type = BloomType::kNone}),
              IsOk());
  EXPECT_GT(AskForAbsentColumns("a").checked, 0u);
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_EQ(StatsOf("a").filter_bytes, 0u);
  ASSERT_THAT(store_->AlterFamily("a", {}), IsOk());
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_GT(AskForAbsentColumns("a").skipped, 90u);
}

TEST_F(StoreFamilies, AlteredCompressionIsThatOfFilesOnceCompacted) {
  Open({{"a", {.compression = Compression::kNone}}});
  ASSERT_NO_FATAL_FAILURE(WriteFiles("a", 1));
  const uint64_t plain = StatsOf("a").file_bytes;
  ASSERT_THAT(store_->AlterFamily("a", {.compression = Compression::kLz4}),
              IsOk());
  EXPECT_EQ(StatsOf("a").file_bytes, plain);
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_LT(StatsOf("a").file_bytes, plain * 3 / 4);
}

TEST_F(StoreFamilies, BottomIsCompressedByItself) {
  const FamilyOptions plain = {.compression = Compression::kNone};
  Open({{"a", plain}}, {.auto_compaction = false});
  ASSERT_NO_FATAL_FAILURE(WriteFiles("a", 1));
  ASSERT_THAT(store_->Compact(), IsOk());
  const uint64_t plain_bytes = StatsOf("a").file_bytes;
  FamilyOptions altered = plain;
  altered.bottom_compression = Compression::kZstd;
  ASSERT_THAT(store_->AlterFamily("a", altered), IsOk());
  ASSERT_THAT(store_->Compact(), IsOk());
  const uint64_t zstd_bytes = StatsOf("a").file_bytes;
  EXPECT_LT(zstd_bytes, plain_bytes * 3 / 4);
  // Level 0 is above the bottom.
  ASSERT_NO_FATAL_FAILURE(WriteFiles("a", 1));
  EXPECT_GT(StatsOf("a").file_bytes, zstd_bytes + plain_bytes * 3 / 4);
  // The option holds when the store is opened next, too.
  Open({{"a", altered}}, {.auto_compaction = false});
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_LT(StatsOf("a").file_bytes, plain_bytes * 3 / 4);
  ASSERT_THAT(store_->AlterFamily("a", plain), IsOk());
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_GT(StatsOf("a").file_bytes, plain_bytes * 3 / 4);
}

TEST_F(StoreFamilies, DictionaryMakesSmallBlocksSmaller) {
  const FamilyOptions zstd = {.compression = Compression::kZstd,
                              .block_size_bytes = 1024};
  Open({{"a", zstd}}, {.auto_compaction = false});
  Random random(SeedFromEnv());
  const std::string words = random.Bytes(500);
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_THAT(store_->Put(DistinctKey(i), "a", "q",
                            words.substr(random.Below(400), 100)),
                IsOk());
  }
  ASSERT_THAT(store_->Compact(), IsOk());
  const uint64_t alone_bytes = StatsOf("a").file_bytes;
  FamilyOptions altered = zstd;
  altered.dictionary_bytes = 4096;
  ASSERT_THAT(store_->AlterFamily("a", altered), IsOk());
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_LT(StatsOf("a").file_bytes, alone_bytes * 3 / 4);
}

TEST_F(StoreFamilies, OptionsThatDoNotGoTogetherAreRefusedByName) {
  const std::pair<FamilyOptions, const char*> cases[] = {
      {{.dictionary_bytes = 1024},
       "dictionary_bytes is 1024, expected 0 where neither compression nor "
       "bottom_compression is ZSTD"},
      {{.compression = Compression::kZstd, .dictionary_bytes = 2u << 20},
       "dictionary_bytes is 2097152, expected at most 1048576"},
      {{.min_blob_bytes = (1u << 30) + 1},
       "min_blob_bytes is 1073741825, expected at most 1073741824"},
      {{.compression = static_cast<Compression>(9)},
       "compression is none of NONE, LZ4 and ZSTD"},
      {{.bottom_compression = static_cast<Compression>(9)},
       "bottom_compression is none of NONE, LZ4 and ZSTD"},
  };
  Open({{"a", {}}});
  for (const auto& [options, problem] : cases) {
    const auto refused =
        StatusIs(Status::kInvalidArgument,
                 HasSubstr(std::string("family \"a\": ") + problem));
    EXPECT_THAT(store_->AlterFamily("a", options), refused);
    EXPECT_THAT(store_->CheckAlterFamily("a", options), refused);
    EXPECT_TRUE(store_->CreateFamily("b", options).IsInvalidArgument());
  }
  EXPECT_EQ(store_->Families().at("a"), FamilyOptions());
}

// The newest of three versions is deleted while three are kept, so that the
// second one takes its place, however few are kept afterwards.
class FewerVersions : public StoreFamilies {
 protected:
  static constexpr FamilyOptions kThree = {.timestamps = Timestamps::kClient,
                                           .max_versions = 3};
  static constexpr FamilyOptions kOne = {.timestamps = Timestamps::kClient};

  void SetUp() override {
    Open({{"a", kThree}}, {.auto_compaction = false});
    Write("r");
    Write("s");
    EXPECT_EQ(Shown("r"), "v2 v1 ");
  }
  void PutThree(const std::string& row) {
    for (const uint64_t at_ms : {1, 2, 3}) {
      ASSERT_THAT(store_->Put(row, "a", "q", "v" + std::to_string(at_ms),
                              {.timestamp_ms = at_ms}),
                  IsOk());
    }
  }
  void Write(const std::string& row) {
    PutThree(row);
    ASSERT_THAT(store_->DeleteVersion(row, "a", "q", {.timestamp_ms = 3}),
                IsOk());
  }
  std::string Shown(const std::string& row,
                    const Snapshot* snapshot = nullptr) {
    const std::vector<Cell> cells = GetVersionsOf(
        *store_, row, "a", "q", {.max_versions = 100, .snapshot = snapshot});
    std::string shown;
    for (const Cell& cell : cells) shown += cell.value + " ";
    return shown;
  }
  void Reopen() { Open({{"a", kOne}}, {.auto_compaction = false}); }
};

TEST_F(FewerVersions, ShowWhatADeletedVersionMadeRoomFor) {
  ASSERT_THAT(store_->AlterFamily("a", kOne), IsOk());
  EXPECT_EQ(Shown("r"), "v2 ");
  Reopen();
  EXPECT_EQ(Shown("r"), "v2 ");
  ASSERT_THAT(store_->Compact({.start_row = "s"}), IsOk());
  EXPECT_EQ(Shown("r") + Shown("s"), "v2 v2 ");
  Reopen();
  EXPECT_EQ(Shown("r") + Shown("s"), "v2 v2 ");
  ASSERT_THAT(store_->Compact(), IsOk());
  Reopen();
  EXPECT_EQ(Shown("r") + Shown("s"), "v2 v2 ");
  // The rest is gone.
  ASSERT_THAT(store_->AlterFamily("a", kThree), IsOk());
  EXPECT_EQ(Shown("r") + Shown("s"), "v2 v2 ");
}

TEST_F(FewerVersions, AreJoinedOnceNoSnapshotKeepsThemApart) {
  auto snapshot = SnapshotOf(*store_);
  Write("t");
  ASSERT_THAT(store_->AlterFamily("a", kOne), IsOk());
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_EQ(Shown("r", snapshot.get()), "v2 v1 ");
  EXPECT_EQ(Shown("r") + Shown("t"), "v2 v2 ");
  snapshot.reset();
  Reopen();
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_EQ(Shown("r") + Shown("t"), "v2 v2 ");
  ASSERT_THAT(store_->AlterFamily("a", kThree), IsOk());
  EXPECT_EQ(Shown("r") + Shown("t"), "v2 v2 ");
}

TEST_F(FewerVersions, AreNotThoseOfReadsThatBeganBefore) {
  auto snapshot = SnapshotOf(*store_);
  RowScanner rows = ScanOf(*store_, {.row = {.max_versions = 100}});
  RowScanner::Iterator row = rows.begin();
  ASSERT_THAT(store_->AlterFamily("a", kOne), IsOk());
  EXPECT_EQ(Shown("s", snapshot.get()), "v2 v1 ");
  ++row;
  ASSERT_TRUE(row != rows.end());
  EXPECT_EQ(row->cells.size(), 2u);
}

// A scan that began before Compact shows what it would have shown.
TEST_F(FewerVersions, AreShownByScansThatBeganBeforeCompact) {
  Write("t");
  ASSERT_THAT(store_->AlterFamily("a", kOne), IsOk());
  RowScanner rows = ScanOf(*store_);
  RowScanner::Iterator row = rows.begin();
  ASSERT_THAT(store_->Compact(), IsOk());
  size_t rest = 0;
  for (++row; row != rows.end(); ++row, ++rest) {
    ASSERT_EQ(row->cells.size(), 1u);
    EXPECT_EQ(row->cells.front().value, "v2");
  }
  EXPECT_EQ(rest, 2u);
}

// RocksDB's compaction began by rules that rule the version out. It is seen
// again only if the compaction leaves it.
TEST(WiderRules, ShowAgainWhatStays) {
  CallingStore calling;
  Store* const store = calling.store.get();
  const FamilyOptions wider = {.timestamps = Timestamps::kClient,
                               .max_versions = 3};
  ASSERT_THAT(store->CreateFamily("a", wider), IsOk());
  ASSERT_THAT(store->Put("r", "a", "q", "old", {.timestamp_ms = 1}), IsOk());
  ASSERT_THAT(store->Compact({.family = "a"}), IsOk());
  FamilyOptions options = wider;
  options.ttl_ms = 1000;
  ASSERT_THAT(store->AlterFamily("a", options), IsOk());
  ASSERT_THAT(store->Flush(), IsOk());
  std::optional<std::string> after_alter;
  std::promise<void> read;
  const std::shared_future<void> is_read = read.get_future().share();
  std::thread alter;
  constexpr int kFlushes = 4;  // after which RocksDB compacts
  std::atomic<int> files = 0;
  calling.files->On(FileCall::kMake, [&](const std::string& path) {
    if (!path.ends_with(".sst") || ++files != kFlushes + 1) return;
    alter = std::thread([&] {
      EXPECT_THAT(store->AlterFamily("a", wider), IsOk());
      EXPECT_THAT(store->Get("r", "a", "q", &after_alter), IsOk());
      read.set_value();
    });
    // AlterFamily waits for this compaction, which would wait for ever.
    is_read.wait_for(std::chrono::seconds(1));
  });
  for (int i = 0; i < kFlushes; ++i) {
    // The old row is between rows that the compaction keeps.
    for (const char* row : {"k", "z"}) {
      ASSERT_THAT(store->Put(row, "a", "q", "new",
                             {.timestamp_ms = SystemWallClock() + 3'600'000}),
                  IsOk());
    }
    ASSERT_THAT(store->Flush(), IsOk());
  }
  is_read.wait();
  alter.join();
  // This waits for the compaction.
  ASSERT_THAT(store->Compact(), IsOk());
  EXPECT_EQ(ValueOf(*store, "r", "a", "q"), after_alter);
  EXPECT_EQ(after_alter, std::nullopt) << "the compaction left it";
}

// A flush merges the writes of a cell by the rules of its beginning.
TEST(WiderRules, ShowAgainWhatStaysOfAFlush) {
  CallingStore calling({.write_buffer_bytes = 64 << 10});
  Store* const store = calling.store.get();
  FamilyOptions three = {.timestamps = Timestamps::kClient};
  ASSERT_THAT(store->CreateFamily("a", three), IsOk());
  three.max_versions = 3;
  const auto versions = [store] {
    return GetVersionsOf(*store, "r", "a", "q", {.max_versions = 10});
  };
  // After some of them the writer joins those that are there.
  for (uint64_t at_ms = 1; at_ms <= 10; ++at_ms) {
    ASSERT_THAT(store->Put("r", "a", "q", "v", {.timestamp_ms = at_ms}),
                IsOk());
  }
  std::vector<Cell> after_alter;
  std::promise<void> read;
  const std::shared_future<void> is_read = read.get_future().share();
  std::thread alter;
  std::atomic<bool> flushed = false;
  calling.files->On(FileCall::kSync, [&](const std::string& path) {
    if (!path.ends_with(".sst") || flushed.exchange(true)) return;
    alter = std::thread([&] {
      EXPECT_THAT(store->AlterFamily("a", three), IsOk());
      after_alter = versions();
      read.set_value();
    });
    // AlterFamily waits for this flush, which would wait for ever.
    is_read.wait_for(std::chrono::seconds(1));
  });
  // The first one fills the memtable; a third might wait for the flush.
  for (const size_t bytes : {100'000, 1}) {
    ASSERT_THAT(store->Put("other", "a", "q", std::string(bytes, 'v'),
                           {.timestamp_ms = 1}),
                IsOk());
  }
  is_read.wait();
  alter.join();
  EXPECT_FALSE(after_alter.empty());
  EXPECT_TRUE(versions() == after_alter);
  ASSERT_THAT(store->Compact(), IsOk());
  EXPECT_TRUE(versions() == after_alter);
}

// A delete of the newest version comes while Compact joins the versions.
TEST(FewerVersionsBesideADelete, ShowTheOneThatWasShown) {
  CallingStore calling;
  Store* const store = calling.store.get();
  FamilyOptions options = {.timestamps = Timestamps::kClient,
                           .max_versions = 3};
  ASSERT_THAT(store->CreateFamily("a", options), IsOk());
  for (const uint64_t at_ms : {1, 2, 3}) {
    ASSERT_THAT(store->Put("r", "a", "q", std::to_string(at_ms),
                           {.timestamp_ms = at_ms}),
                IsOk());
  }
  ASSERT_THAT(store->Flush(), IsOk());
  options.max_versions = 1;
  ASSERT_THAT(store->AlterFamily("a", options), IsOk());
  std::atomic<bool> deleted{false};
  calling.files->On(FileCall::kMake, [&](const std::string& path) {
    if (!path.ends_with(".sst") || deleted.exchange(true)) return;
    EXPECT_THAT(store->DeleteVersion("r", "a", "q", {.timestamp_ms = 3}),
                IsOk());
  });
  for (int compactions = 0; compactions < 3; ++compactions) {
    ASSERT_THAT(store->Compact({.family = "a"}), IsOk());
    EXPECT_TRUE(deleted);
    EXPECT_EQ(ValueOf(*store, "r", "a", "q"), "2") << compactions;
  }
}

// A load deletes the newest version.
TEST_F(FewerVersions, ShowTheOneThatALoadShows) {
  ASSERT_NO_FATAL_FAILURE(PutThree("z"));
  ASSERT_THAT(store_->AlterFamily("a", kOne), IsOk());
  auto load = LoadInto(*store_);
  ASSERT_THAT(load->Add(Change{.type = ChangeType::kDeleteFamilyVersion,
                               .row = "z",
                               .family = "a",
                               .timestamp_ms = 3}),
              IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  EXPECT_EQ(Shown("z"), "v2 ");
  load.reset();
  for (int openings = 0; openings < 2; ++openings) {
    ASSERT_THAT(store_->Compact(), IsOk());
    EXPECT_EQ(Shown("z"), "v2 ");
    Reopen();
    EXPECT_EQ(Shown("z"), "v2 ");
  }
  ASSERT_THAT(store_->Compact(), IsOk());
  ASSERT_THAT(store_->AlterFamily("a", kThree), IsOk());
  EXPECT_EQ(Shown("z"), "v2 ");
}

TEST_F(FewerVersions, AreForgottenWithTheFamily) {
  ASSERT_THAT(store_->AlterFamily("a", kOne), IsOk());
  ASSERT_THAT(store_->TruncateFamily("a"), IsOk());
  for (const bool reopened : {false, true}) {
    if (reopened) Reopen();
    const std::string row = reopened ? "r" : "s";
    Write(row);
    // v3 pushed v2 out.
    EXPECT_EQ(Shown(row), "");
  }
}

TEST_F(StoreFamilies, AlteredVersionsAndTtlHoldAtOnce) {
  const FamilyOptions wide = {.max_versions = 5};
  Open({{"a", wide}, {"latest", {}}}, {.auto_compaction = false});
  for (int i = 0; i < 5; ++i) {
    ASSERT_THAT(store_->Put("r", "a", "q", std::to_string(i)), IsOk());
    // Apart, so that there is something to merge.
    ASSERT_THAT(store_->Flush(), IsOk());
    now_ms_ += 10'000;
  }
  ASSERT_THAT(store_->Put("r", "latest", "q", "v"), IsOk());
  EXPECT_EQ(VersionsOf("a"), 5u);
  ASSERT_THAT(store_->AlterFamily("a", {.max_versions = 3}), IsOk());
  EXPECT_EQ(VersionsOf("a"), 3u);
  // Versions that were not yet reclaimed come back. Versions that a merge or a
  // compaction saw do not: it went by the new rules.
  ASSERT_THAT(store_->AlterFamily("a", wide), IsOk());
  EXPECT_EQ(VersionsOf("a"), 5u);
  ASSERT_THAT(store_->AlterFamily("a", {.max_versions = 3}), IsOk());
  ASSERT_THAT(store_->Compact(), IsOk());
  Open({}, {.auto_compaction = false});
  ASSERT_THAT(store_->Compact(), IsOk());
  ASSERT_THAT(store_->AlterFamily("a", wide), IsOk());
  EXPECT_EQ(VersionsOf("a"), 3u);

  ASSERT_THAT(store_->AlterFamily("a", {.max_versions = 5, .ttl_ms = 25'000}),
              IsOk());
  EXPECT_EQ(VersionsOf("a"), 2u);
  ASSERT_THAT(store_->AlterFamily(
                  "a", {.max_versions = 5, .min_versions = 3, .ttl_ms = 1}),
              IsOk());
  EXPECT_EQ(VersionsOf("a"), 3u);

  EXPECT_EQ(VersionsOf("latest"), 1u);
  now_ms_ += 10'000;
  ASSERT_THAT(store_->AlterFamily("latest", {.ttl_ms = 5'000}), IsOk());
  EXPECT_EQ(VersionsOf("latest"), 0u);
  EXPECT_EQ(StatsOf("latest").estimated_cells, 1u);
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_EQ(StatsOf("latest").estimated_cells, 0u);
}

TEST_F(StoreFamilies, AlteredTimestampsHoldAtOnce) {
  Open({{"a", {.max_versions = 2}}});
  EXPECT_TRUE(
      store_->Put("r", "a", "q", "v", {.timestamp_ms = 7}).IsInvalidArgument());
  ASSERT_THAT(store_->AlterFamily(
                  "a", {.timestamps = Timestamps::kClient, .max_versions = 2}),
              IsOk());
  EXPECT_THAT(store_->Put("r", "a", "q", "v", {.timestamp_ms = 7}), IsOk());
  // One version of the client's timestamps is a list, too.
  EXPECT_THAT(store_->AlterFamily("a", {.timestamps = Timestamps::kClient}),
              IsOk());
  EXPECT_EQ(VersionsOf("a"), 1u);
}

TEST_F(StoreFamilies, CellFormatCannotBeAltered) {
  Open({{"a", {}}, {"b", {.max_versions = 2}}});
  ASSERT_THAT(store_->Put("r", "a", "q", "v"), IsOk());
  EXPECT_THAT(
      store_->AlterFamily("a", {.max_versions = 3}),
      StatusIs(Status::kInvalidArgument,
               HasSubstr("family \"a\" of the store at " + path_ +
                         " keeps its cells in the format latest, which cannot "
                         "be altered: max_versions and timestamps need the "
                         "format versioned")));
  EXPECT_THAT(
      store_->AlterFamily("b", {}),
      StatusIs(Status::kInvalidArgument, HasSubstr("need the format latest")));
  EXPECT_THAT(
      store_->CheckAlterFamily("b", {}),
      StatusIs(Status::kInvalidArgument, HasSubstr("need the format latest")));
  EXPECT_THAT(store_->CheckAlterFamily("a", {.ttl_ms = 7}), IsOk());
  EXPECT_EQ(store_->Families().at("a"), FamilyOptions());
  EXPECT_EQ(VersionsOf("a"), 1u);
  Open({{"a", {}}, {"b", {.max_versions = 2}}});
  EXPECT_EQ(VersionsOf("a"), 1u);
}

TEST_F(StoreFamilies, AlteredOptionsAreKept) {
  const FamilyOptions altered = {.bloom_type = BloomType::kRow,
                                 .filter_kind = FilterKind::kRibbon,
                                 .false_positive_rate = 0.02,
                                 .compression = Compression::kNone,
                                 .block_size_bytes = 4096,
                                 .min_versions = 1,
                                 .ttl_ms = 7};
  Open({{"a", {}}});
  ASSERT_THAT(store_->AlterFamily("a", altered), IsOk());
  Open({{"a", altered}});
  EXPECT_EQ(store_->Families().at("a"), altered);
  store_.reset();
  EXPECT_THAT(Store::Open({}, path_, {{"a", {}}}, &store_),
              StatusIs(Status::kInvalidArgument,
                       AllOf(HasSubstr("bloom_type ROW, not ROWCOL"),
                             HasSubstr("filter_kind ribbon, not bloom"),
                             HasSubstr("block_size_bytes 4096, not 16384"))));
}

// A change that dies after any of its writes to the disk is completed or
// undone.
class InterruptedChange : public ::testing::Test {
 protected:
  using Change = std::function<Status(Store*)>;
  // Gets the store, opened again; `done` is true if the change returned OK.
  using Check = std::function<void(Store*, bool done)>;

  void SetUp() override {
    const auto store = OpenOrFail({}, original_, {{"a", {}}, {"b", {}}});
    ASSERT_THAT(store->Put("r", "a", "q", "a's"), IsOk());
    ASSERT_THAT(store->Put("r", "b", "q", "b's"), IsOk());
  }

  void TryAll(const Change& change, const Check& check) {
    uint64_t writes = 0;
    int done_in_vain = 0;
    for (bool went = true; went; writes += Stride(5)) {
      SCOPED_TRACE("power off after " + std::to_string(writes) + " changes");
      const std::string path = dir_.File(std::to_string(writes));
      std::filesystem::copy(original_, path);
      bool done = false;
      {
        FaultPlan plan;
        const auto env = NewFaultEnv(&plan);
        const auto store = OpenOrFail({.env = env.get()}, path, {});
        plan.CutPowerAt(writes + 1);
        done = change(store.get()).ok();
        went = plan.faults() > 0;
        EXPECT_TRUE(done || went);
      }
      // A reader changes nothing, and must find a store as well.
      OpenOrFail({.read_only = true}, path, {});
      const auto store = OpenOrFail({}, path, {});
      EXPECT_EQ(ValueOf(*store, "r", "a", "q"), "a's");
      ASSERT_NO_FATAL_FAILURE(check(store.get(), done));
      EXPECT_THAT(store->Put("new", "a", "q", "v"), IsOk());
      if (!done) ++done_in_vain;
    }
    // Some came to nothing, others had survived.
    EXPECT_GT(done_in_vain, 0);
    EXPECT_GT(writes, 3u);
  }

  TempDir dir_;
  const std::string original_ = dir_.File("db");
};

TEST_F(InterruptedChange, CreationIsCompletedOrHasNotBegun) {
  int completed = 0;
  const std::vector<FamilyDescriptor> created = {{"c", {.ttl_ms = 9}},
                                                 {"d", {.max_versions = 2}}};
  TryAll([&](Store* store) { return store->CreateFamilies(created); },
         [&](Store* store, bool done) {
           auto families = store->Families();
           EXPECT_EQ(families.contains("c"), families.contains("d"));
           if (done) {
             ASSERT_TRUE(families.contains("c"));
           }
           if (!families.contains("c")) return;
           if (!done) ++completed;
           for (const FamilyDescriptor& family : created) {
             EXPECT_EQ(families[family.name], family.options);
             EXPECT_THAT(store->Put("r", family.name, "q", "v"), IsOk());
           }
         });
  EXPECT_GT(completed, 0);
}

TEST_F(InterruptedChange, DropIsCompletedOrHasNotBegun) {
  int completed = 0;
  TryAll([](Store* store) { return store->DropFamily("b"); },
         [&](Store* store, bool done) {
           if (store->Families().contains("b")) {
             EXPECT_FALSE(done);
             EXPECT_EQ(ValueOf(*store, "r", "b", "q"), "b's");
             return;
           }
           if (!done) ++completed;
           // A new family of its name has nothing of it, and stays.
           ASSERT_THAT(store->CreateFamily("b", {}), IsOk());
           EXPECT_FALSE(ValueOf(*store, "r", "b", "q"));
         });
  EXPECT_GT(completed, 0);
}

TEST_F(InterruptedChange, TruncationIsCompletedOrHasNotBegun) {
  int completed = 0;
  TryAll([](Store* store) { return store->TruncateFamily("b"); },
         [&](Store* store, bool done) {
           std::optional<std::string> value;
           ASSERT_TRUE(store->Families().contains("b"));
           const Status s = store->Get("r", "b", "q", &value);
           ASSERT_THAT(s, IsOk());
           if (value) {
             EXPECT_FALSE(done);
             EXPECT_EQ(value, "b's");
             return;
           }
           if (!done) ++completed;
           EXPECT_THAT(store->Put("r", "b", "q", "new"), IsOk());
           EXPECT_EQ(ValueOf(*store, "r", "b", "q"), "new");
         });
  EXPECT_GT(completed, 0);
}

TEST_F(InterruptedChange, AlterIsRefusedAfterAnErrorUntilTheNextOpen) {
  const FamilyOptions shorter{.ttl_ms = 9};
  {
    FaultPlan plan;
    const auto env = NewFaultEnv(&plan);
    const auto store = OpenOrFail({.env = env.get()}, original_, {});
    ASSERT_THAT(store->AlterFamily("a", {.ttl_ms = 99'999}), IsOk());
    ASSERT_THAT(store->Put("r", "a", "q", "a's"), IsOk());
    plan.FailCall(1, /*for_good=*/true);
    EXPECT_FALSE(store->Flush().ok());
    plan.FailNoCall();
    EXPECT_THAT(store->AlterFamily("a", shorter),
                StatusIs(Status::kIOError, HasSubstr("injected at create")));
    EXPECT_EQ(store->Families().at("a").ttl_ms, 99'999u);
  }
  const auto store = OpenOrFail({}, original_, {});
  EXPECT_THAT(store->AlterFamily("a", shorter), IsOk());
}

// The disk comes back before the process ends.
TEST_F(InterruptedChange, FamilyIsCreatedAnewAfterADropThatFailedAnywhere) {
  bool went = true;
  int after_a_failure = 0;
  for (uint64_t writes = 0; went; writes += Stride(5)) {
    SCOPED_TRACE("power off after " + std::to_string(writes) + " changes");
    const std::string path = dir_.File(std::to_string(writes));
    std::filesystem::copy(original_, path);
    {
      FaultPlan plan;
      const auto env = NewFaultEnv(&plan);
      const auto store = OpenOrFail({.env = env.get()}, path, {});
      plan.CutPowerAt(writes + 1);
      const Status dropped = store->DropFamily("b");
      went = plan.faults() > 0;
      plan.FailNoCall();
      // RocksDB may refuse all writes by now.
      const Status created = store->CreateFamily("b", {.max_versions = 2});
      if (!created.ok()) continue;
      after_a_failure += dropped.ok() ? 0 : 1;
      EXPECT_THAT(store->Put("new", "b", "q", "v"), IsOk());
    }
    const auto store = OpenOrFail({}, path, {});
    EXPECT_EQ(store->Families().at("b").max_versions, 2u);
    EXPECT_FALSE(ValueOf(*store, "r", "b", "q"));
    EXPECT_TRUE(ValueOf(*store, "new", "b", "q"));
  }
  EXPECT_TRUE(after_a_failure > 0 || Stride(5) > 1);
}

// Sets an option that RocksDB 8.8 sets by default, and that 10.2 takes for set.
template <typename Options>
void FailWithoutOptionsFile(Options* options) {
  if constexpr (requires { options->fail_if_options_file_error; }) {
    options->fail_if_options_file_error = true;
  }
}

TEST(DropOfAColumnFamily, SucceedsAgainAfterOneWhoseOptionsFileFailed) {
  const TempDir dir;
  const auto files = std::make_shared<CallingFileSystem>();
  const auto env = rocksdb::NewCompositeEnv(files);
  rocksdb::DBOptions options;
  options.env = env.get();
  options.create_if_missing = true;
  FailWithoutOptionsFile(&options);
  Database database;
  ASSERT_THAT(database.Open(options, dir.File("db"),
                            {rocksdb::ColumnFamilyDescriptor()},
                            Database::Access::kReadWrite),
              IsOk());
  const rocksdb::ColumnFamilyDescriptor family("b", {});
  ASSERT_THAT(database.CreateColumnFamilies({family}), IsOk());
  files->On(FileCall::kMake, [](const std::string& path) {
    return path.find("OPTIONS-") == path.npos
               ? rocksdb::IOStatus::OK()
               : rocksdb::IOStatus::NoSpace("the disk is full");
  });
  EXPECT_FALSE(database.DropColumnFamily("b").ok());
  files->Off(FileCall::kMake);
  EXPECT_THAT(database.DropColumnFamily("b"), IsOk());
  EXPECT_THAT(database.CreateColumnFamilies({family}), IsOk());
}

TEST_F(InterruptedChange, AlterationIsKeptOrHasNotBegun) {
  const FamilyOptions altered = {.compression = Compression::kNone,
                                 .ttl_ms = 1'000'000'000};
  TryAll([&](Store* store) { return store->AlterFamily("b", altered); },
         [&](Store* store, bool done) {
           const FamilyOptions options = store->Families().at("b");
           EXPECT_TRUE(options == altered ||
                       (!done && options == FamilyOptions()));
         });
}

TEST_F(InterruptedChange, DropThatOnlyHasItsRecordIsDoneByTheNextOpen) {
  {
    Database database;
    ASSERT_NO_FATAL_FAILURE(OpenRaw(original_, &database));
    rocksdb::WriteBatch batch;
    PutFamilyRecord(FamilyState::kDropped, "b", {}, &batch);
    ASSERT_THAT(database->Write({}, &batch), IsOk());
  }
  {
    const auto reader = OpenOrFail({.read_only = true}, original_, {});
    EXPECT_FALSE(reader->Families().contains("b"));
  }
  // A family that is created anew by the same open starts empty.
  const auto store =
      OpenOrFail({}, original_, {{"b", {.bloom_type = BloomType::kRow}}});
  EXPECT_EQ(GetRowOf(*store, "r").size(), 1u);
}

TEST(StoreFamiliesThreads, ReadersAndWritersGoOnWhileFamiliesChange) {
  const TempDir dir;
  const auto store = OpenOrFail({}, dir.File("db"), {{"a", {}}, {"b", {}}});
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> ok = 0;
  const auto work = [&](uint64_t seed) {
    Random random(seed);
    const std::string names[] = {"a", "b", "c"};
    const auto expect_known = [&ok](const Status& s) {
      EXPECT_TRUE(s.ok() || s.IsInvalidArgument()) << s.ToString();
      if (s.ok()) ++ok;
    };
    while (!stop) {
      const std::string row = std::to_string(random.Below(50));
      const std::string& family = names[random.Below(3)];
      std::optional<std::string> value;
      std::vector<Cell> cells;
      switch (random.Below(5)) {
        case 0:
          expect_known(store->Put(row, family, "q", "v"));
          break;
        case 1:
          expect_known(store->DeleteRow(row));
          break;
        case 2:
          expect_known(store->Get(row, family, "q", &value));
          break;
        case 3:
          expect_known(store->GetRow(row, &cells));
          break;
        default: {
          RowScanner rows;
          expect_known(store->Scan({.limit = 20}, &rows));
          for (const Row& found : rows) EXPECT_FALSE(found.cells.empty());
          expect_known(rows.status());
        }
      }
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 4; ++i) threads.emplace_back(work, i + 1);
  EXPECT_TRUE(WaitFor([&ok] { return ok > 10; }));
  const uint64_t rounds = Scaled(10);
  for (uint64_t i = 0; i < rounds; ++i) {
    EXPECT_THAT(store->CreateFamily("c", {.max_versions = 2}), IsOk());
    EXPECT_THAT(
        store->AlterFamily(
            "a", {.bloom_type = i % 2 == 0 ? BloomType::kRow : BloomType::kNone,
                  .ttl_ms = 1'000'000 + i % 3}),
        IsOk());
    EXPECT_THAT(store->AlterFamily(
                    "c", {.max_versions = static_cast<uint32_t>(3 + i % 2)}),
                IsOk());
    EXPECT_THAT(store->Flush(), IsOk());
    EXPECT_THAT(store->DropFamily("c"), IsOk());
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(store->Put("r", "a", "q", "v"), IsOk());
}

}  // namespace
}  // namespace rowbloom::test

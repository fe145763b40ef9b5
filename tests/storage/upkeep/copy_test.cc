// A copy with other options has what the model of these options has; one that
// is cut short leaves no store, and can be repeated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <tuple>

#include "tests/storage/store/test_store.h"
#include "tests/storage/upkeep/numbered_writes.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/stride.h"
#include "tests/support/wait_for.h"

namespace rowbloom::test {
namespace {

using rocksdb::Status;
using ::testing::HasSubstr;

using Kept = std::vector<std::tuple<std::string, std::string, std::string,
                                    ChangeType, uint64_t, std::string>>;

// All that the families keep, deletes too.
Kept AllKept(Store* store, const std::string& start_row = "",
             const std::string& stop_row = "") {
  Kept kept;
  for (const auto& [name, options] : store->Families()) {
    std::unique_ptr<CellIterator> it;
    EXPECT_THAT(store->NewCellIterator({.family = name,
                                        .deletes = true,
                                        .start_row = start_row,
                                        .stop_row = stop_row},
                                       &it),
                IsOk());
    if (it == nullptr) continue;
    for (; it->Valid(); it->Next()) {
      const CellView& cell = it->cell();
      kept.emplace_back(name, cell.row, cell.qualifier, cell.type,
                        cell.timestamp_ms, cell.value);
    }
    EXPECT_THAT(it->status(), IsOk());
  }
  return kept;
}

class Copy : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = OpenOrFail({}, dir_.File("db"), WrittenFamilies());
    for (uint64_t number = 1; number <= 300; ++number) {
      WriteBatch batch;
      MakeWrite(number, &batch, &model_);
      ASSERT_THAT(store_->Write(batch), IsOk());
      if (number % 100 == 0) {
        ASSERT_THAT(store_->Flush(), IsOk());
      }
    }
  }

  std::unique_ptr<Store> OpenCopy() { return OpenOrFail({}, path_, {}); }

  TempDir dir_;
  const std::string path_ = dir_.File("copy");
  StoreModel model_{kWrittenFamilies};
  std::unique_ptr<Store> store_;
  CopyReport report_;
};

TEST_F(Copy, KeepsEverythingWithTheSameOptions) {
  ASSERT_THAT(store_->CopyTo(path_ + "/", {}, &report_), IsOk());
  const auto copy = OpenCopy();
  const Kept kept = AllKept(store_.get());
  EXPECT_TRUE(AllKept(copy.get()) == kept);
  EXPECT_EQ(copy->Families(), store_->Families());
  EXPECT_EQ(report_.cells, kept.size());
  EXPECT_EQ(report_.families, 2u);
  EXPECT_GT(report_.deletes, 0u);
  // Deletes take what comes later, in both.
  for (Store* store : {store_.get(), copy.get()}) {
    for (const char* row : {"r0", "r1", "r2", "r3", "r4", "r5"}) {
      for (const uint64_t ms : {1, 3, 9, 30, 60}) {
        ASSERT_THAT(store->Put(row, "client", "q", "w", {.timestamp_ms = ms}),
                    IsOk());
      }
    }
  }
  EXPECT_TRUE(WithoutGivenTimes(RowsOf(*copy, AllWritten())) ==
              WithoutGivenTimes(RowsOf(*store_, AllWritten())));
}

TEST_F(Copy, TakesTheOptionsOfAReader) {
  store_.reset();
  const StoreOptions reads{.create_if_missing = false, .read_only = true};
  const auto reader = OpenOrFail(reads, dir_.File("db"), {});
  ASSERT_THAT(reader->CopyTo(path_, {.store = reader->Options()}, &report_),
              IsOk());
  const auto copy = OpenCopy();
  EXPECT_TRUE(AllKept(copy.get()) == AllKept(reader.get()));
}

TEST_F(Copy, TakesOtherRulesFormatsAndLayouts) {
  CopyOptions options;
  // Each has the other one's cell format.
  options.families = {
      {"client", {.bloom_type = BloomType::kRow}},
      {"latest", {.timestamps = Timestamps::kClient, .max_versions = 5}}};
  ASSERT_THAT(store_->CopyTo(path_, options, &report_), IsOk());
  const auto copy = OpenCopy();
  EXPECT_EQ(copy->Families().at("latest").max_versions, 5u);
  const auto copied = WithoutGivenTimes(RowsOf(*copy, AllWritten()));
  ScanOptions newest = AllWritten();
  newest.row.max_versions = 1;
  EXPECT_TRUE(copied == model_.Scan(newest, 0));
  // A put after the copy is newer than what was copied.
  for (const Row& row : copied) {
    for (const Cell& cell : row.cells) {
      ASSERT_THAT(copy->Put(row.row, cell.family, cell.qualifier, "after"),
                  IsOk());
      EXPECT_EQ(ValueOf(*copy, row.row, cell.family, cell.qualifier), "after");
    }
  }
}

TEST_F(Copy, TakesRowsAndFamiliesThatAreChosen) {
  CopyOptions options{.families = {{"client", kWrittenFamilies.at("client")}},
                      .start_row = "r1",
                      .stop_row = "r4"};
  ASSERT_THAT(store_->CopyTo(path_, options, &report_), IsOk());
  const auto copy = OpenCopy();
  Kept expected = AllKept(store_.get());
  std::erase_if(expected, [](const auto& cell) {
    return std::get<0>(cell) != "client" || std::get<1>(cell) < "r1" ||
           std::get<1>(cell) >= "r4";
  });
  EXPECT_FALSE(expected.empty());
  EXPECT_TRUE(AllKept(copy.get()) == expected);
  EXPECT_EQ(copy->Families().size(), 1u);
  EXPECT_TRUE(AllKept(store_.get(), "r4", "r1").empty());
  EXPECT_TRUE(AllKept(store_.get(), "r3", "r3").empty());
}

TEST_F(Copy, TakesAnotherKeyLayout) {
  CopyOptions options{.start_row = "r0", .stop_row = "s"};  // rows of 2 bytes
  options.store.key_layout = KeyLayout::FixedRow(2);
  ASSERT_THAT(store_->CopyTo(path_, options, &report_), IsOk());
  const auto copy = OpenCopy();
  EXPECT_TRUE(AllKept(copy.get()) == AllKept(store_.get(), "r0", "s"));
  // The row "counter" does not fit.
  options.start_row = "";
  EXPECT_THAT(store_->CopyTo(dir_.File("other"), options, &report_),
              StatusIs(Status::kInvalidArgument, HasSubstr("7")));
  EXPECT_FALSE(std::filesystem::exists(dir_.File("other")));
  EXPECT_FALSE(std::filesystem::exists(dir_.File("other.copying")));
}

// The store's clock runs ahead of the machine's by up to a second.
TEST_F(Copy, KeepsTimestampsThatRunAheadOfTheClock) {
  ASSERT_THAT(store_->CreateFamily("v", {.max_versions = 500}), IsOk());
  for (int i = 0; i < 500; ++i) {
    ASSERT_THAT(store_->Put("r", "v", "q", std::to_string(i)), IsOk());
  }
  ASSERT_THAT(store_->CopyTo(path_, {}, &report_), IsOk());
  const auto copy = OpenCopy();
  EXPECT_TRUE(AllKept(copy.get()) == AllKept(store_.get()));
  ASSERT_THAT(copy->Put("r", "v", "q", "after"), IsOk());
  EXPECT_EQ(ValueOf(*copy, "r", "v", "q"), "after");
}

// A family whose timestamps are the store's may have later ones, of a clock
// that was set back or of a delete.
TEST_F(Copy, KeepsTimestampsOfTheFuture) {
  constexpr uint64_t kFuture = uint64_t{1} << 42;  // the year 2109
  uint64_t wall_ms = kFuture;
  store_ = OpenOrFail({}, dir_.File("ahead"),
                      {{"latest", {}}, {"v", {.max_versions = 3}}},
                      [&wall_ms] { return wall_ms; });
  for (const char* family : {"latest", "v"}) {
    ASSERT_THAT(store_->Put("r", family, "put", "future"), IsOk());
  }
  wall_ms = kFuture >> 2;
  ASSERT_THAT(store_->ResetClock(), IsOk());
  ASSERT_THAT(store_->Delete("r", "v", "deleted", {.timestamp_ms = kFuture}),
              IsOk());

  ASSERT_THAT(store_->CopyTo(path_, {}, &report_), IsOk());
  const auto copy = OpenCopy();
  Kept expected = AllKept(store_.get());
  ASSERT_EQ(expected.size(), 3u);
  Kept copied = AllKept(copy.get());
  ASSERT_EQ(copied.size(), 3u);
  // In a `latest` family the order of timestamps means nothing.
  EXPECT_LT(std::get<4>(copied[0]), std::get<4>(expected[0]));
  std::get<4>(copied[0]) = std::get<4>(expected[0]);
  EXPECT_EQ(copied, expected);
  EXPECT_THAT(copy->Warnings(), ::testing::IsEmpty());
  const auto put_and_get = [](Store* store, const char* family,
                              const char* qualifier) {
    EXPECT_THAT(store->Put("r", family, qualifier, "now"), IsOk());
    std::optional<std::string> value;
    EXPECT_THAT(store->Get("r", family, qualifier, &value), IsOk());
    return value.value_or("none");
  };
  const CopyOptions versions{.families = {{"latest", {.max_versions = 3}}}};
  ASSERT_THAT(store_->CopyTo(dir_.File("versions"), versions, &report_),
              IsOk());
  const auto of_versions = OpenOrFail({}, dir_.File("versions"), {});
  EXPECT_EQ(put_and_get(of_versions.get(), "latest", "put"), "now");
  for (Store* const store : {store_.get(), copy.get()}) {
    EXPECT_EQ(put_and_get(store, "latest", "put"), "now");
    EXPECT_EQ(put_and_get(store, "v", "put"), "future");
    EXPECT_EQ(put_and_get(store, "v", "deleted"), "none");
    ASSERT_THAT(store->Delete("r", "v", "put"), IsOk());
    EXPECT_EQ(put_and_get(store, "v", "put"), "now");
  }
}

TEST_F(Copy, RefusesTimestampsOfTheApplicationThatWouldHideTheStores) {
  ASSERT_THAT(
      store_->Put("r", "client", "q", "v", {.timestamp_ms = 1ULL << 42}),
      IsOk());
  EXPECT_THAT(
      store_->CopyTo(path_, {.families = {{"client", {.max_versions = 3}}}},
                     &report_),
      StatusIs(Status::kInvalidArgument,
               HasSubstr("row \"r\", cell client:q: family \"client\" has "
                         "timestamps=store: expected one before")));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// Writers go on beside the copy, and give times ahead of the machine's clock.
TEST_F(Copy, OfAStoreThatIsWrittenTo) {
  ASSERT_THAT(store_->CreateFamily("v", {.max_versions = 500}), IsOk());
  std::atomic<bool> done{false};
  std::atomic<int> writes{0};
  std::thread writer([&] {
    while (!done) {
      EXPECT_THAT(store_->Put("r", "v", "q", std::to_string(writes)), IsOk());
      ++writes;
    }
  });
  for (int i = 0; i < 5; ++i) {
    const int before = writes;
    EXPECT_TRUE(WaitFor([&] { return writes > before; }));
    EXPECT_THAT(store_->CopyTo(path_, {}, &report_), IsOk());
    EXPECT_GE(std::stoi(ValueOf(*OpenCopy(), "r", "v", "q").value_or("-1")),
              before);
    std::filesystem::remove_all(path_);
  }
  done = true;
  writer.join();
}

TEST_F(Copy, IsRefusedWhereItHasNoPlace) {
  EXPECT_THAT(store_->CopyTo(dir_.File("db"), {}, &report_),
              StatusIs(Status::kInvalidArgument, HasSubstr("exists")));
  EXPECT_THAT(store_->CopyTo(path_, {.families = {{"none", {}}}}, &report_),
              StatusIs(Status::kInvalidArgument, HasSubstr("\"none\"")));
  std::filesystem::create_symlink(dir_.File("nothing"), dir_.File("link"));
  EXPECT_THAT(store_->CopyTo(dir_.File("link"), {}, &report_),
              StatusIs(Status::kInvalidArgument, HasSubstr("is a link")));
  std::filesystem::create_directory(path_ + ".copying");
  std::ofstream(path_ + ".copying/mine") << "kept";
  EXPECT_THAT(store_->CopyTo(path_, {}, &report_),
              StatusIs(Status::kInvalidArgument, HasSubstr(".copying exists")));
  EXPECT_TRUE(std::filesystem::exists(path_ + ".copying/mine"));
  EXPECT_FALSE(std::filesystem::exists(path_));
  // A store of that name is not what a copy leaves.
  std::filesystem::remove_all(path_ + ".copying");
  OpenOrFail({}, path_ + ".copying", {{"a", {}}});
  EXPECT_THAT(store_->CopyTo(path_, {}, &report_),
              StatusIs(Status::kInvalidArgument, HasSubstr(".copying exists")));
  OpenOrFail({.create_if_missing = false}, path_ + ".copying", {});
}

TEST_F(Copy, ThatIsCutShortLeavesNoStoreAndCanBeRepeated) {
  const Kept kept = AllKept(store_.get());
  // Copies with a cut after so many changes; false: the copy makes fewer.
  Status s;
  const auto copy_with_cut = [&](uint64_t changes) {
    FaultPlan plan;
    plan.CutPowerAt(changes + 1);
    const auto env = NewFaultEnv(&plan);
    CopyOptions options;
    options.store.env = env.get();
    s = store_->CopyTo(path_, options, &report_);
    return plan.faults() > 0;
  };
  uint64_t changes = 0;
  for (bool went = true; went; changes += 3 * Stride(5)) {
    SCOPED_TRACE("power off after " + std::to_string(changes) + " changes");
    went = copy_with_cut(changes);
    EXPECT_TRUE(s.ok() ? std::filesystem::exists(path_) : went) << s.ToString();
    if (std::filesystem::exists(path_)) {
      // Only the sync of the name, or the end of the staging, was missing.
      std::filesystem::remove_all(path_ + ".copying");
    } else {
      ASSERT_THAT(store_->CopyTo(path_, {}, &report_), IsOk());
    }
    const auto copy = OpenCopy();
    ASSERT_TRUE(AllKept(copy.get()) == kept);
    EXPECT_FALSE(std::filesystem::exists(path_ + ".copying"));
    std::filesystem::remove_all(path_);
  }
  EXPECT_GT(changes, 20u);
  // A copy is done though the last change fails, which removes a directory.
  while (!copy_with_cut(--changes)) std::filesystem::remove_all(path_);
  EXPECT_THAT(s, IsOk());
  EXPECT_TRUE(std::filesystem::exists(path_ + ".copying"));
  const auto copy = OpenCopy();
  EXPECT_TRUE(AllKept(copy.get()) == kept);
}

// One of the last calls fails, and the next copy has no obstacle. The very last
// ones remove what nobody needs.
TEST_F(Copy, ThatFailsLeavesNothing) {
  FaultPlan plan;
  const auto env = NewFaultEnv(&plan);
  CopyOptions options;
  options.store.env = env.get();
  ASSERT_THAT(store_->CopyTo(path_, options, &report_), IsOk());
  const uint64_t calls = plan.calls();
  int failed = 0;
  for (uint64_t last = 0; last < calls && failed < 5; ++last) {
    std::filesystem::remove_all(path_);
    plan.FailCall(calls - last, /*for_good=*/false);
    const Status s = store_->CopyTo(path_, options, &report_);
    plan.FailNoCall();
    EXPECT_EQ(std::filesystem::exists(path_), s.ok()) << s.ToString();
    if (!s.ok()) {
      ++failed;
      EXPECT_THAT(store_->CopyTo(path_, options, &report_), IsOk());
    }
  }
  EXPECT_EQ(failed, 5);
}

}  // namespace
}  // namespace rowbloom::test

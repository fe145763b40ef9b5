// Random operations by several threads at once: whatever happens, a row that
// was written is never absent. A listener sleeps in every callback.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/listener.h"
#include "rocksdb/sst_file_writer.h"
#include "rowbloom/front_filter.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;
using test::ExpectOk;
using test::Random;

class Sleeper final : public rocksdb::EventListener {
 public:
  explicit Sleeper(uint64_t seed) : next_(seed) {}
  void OnFlushBegin(rocksdb::DB*, const rocksdb::FlushJobInfo&) override {
    Sleep();
  }
  void OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo&) override {
    Sleep();
  }
  void OnCompactionBegin(rocksdb::DB*,
                         const rocksdb::CompactionJobInfo&) override {
    Sleep();
  }
  void OnCompactionCompleted(rocksdb::DB*,
                             const rocksdb::CompactionJobInfo&) override {
    Sleep();
  }
  void OnSubcompactionBegin(const rocksdb::SubcompactionJobInfo&) override {
    Sleep();
  }
  void OnSubcompactionCompleted(const rocksdb::SubcompactionJobInfo&) override {
    Sleep();
  }
  void OnTableFileCreationStarted(
      const rocksdb::TableFileCreationBriefInfo&) override {
    Sleep();
  }
  void OnTableFileCreated(const rocksdb::TableFileCreationInfo&) override {
    Sleep();
  }
  void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo&) override {
    Sleep();
  }
  void OnMemTableSealed(const rocksdb::MemTableInfo&) override { Sleep(); }
  void OnExternalFileIngested(
      rocksdb::DB*, const rocksdb::ExternalFileIngestionInfo&) override {
    Sleep();
  }

 private:
  void Sleep() {
    Random random(next_.fetch_add(1));
    if (random.OneIn(2)) return;
    std::this_thread::sleep_for(std::chrono::microseconds(random.Below(4'000)));
  }
  std::atomic<uint64_t> next_;
};

struct Case {
  const char* name;
  rocksdb::CompactionStyle style;
  bool ribbon = false;
  bool pipelined = false;
  bool unordered = false;
  bool cells = false;
  bool evicting = false;  // RocksDB's filters come and go
};

class Model : public testing::TestWithParam<Case> {
 protected:
  static constexpr size_t kWriters = 3;
  static constexpr uint64_t kRowsOfWriter = 4'000;

  static std::string RowOf(size_t writer, uint64_t row) {
    return "w" + std::to_string(writer) + "-" +
           std::to_string(test::Mix64(writer * kRowsOfWriter + row + 1)) + ":";
  }

  rocksdb::Options Options() const {
    const Case& test_case = GetParam();
    auto options = test::TestDbOptions(
        {test::MakeFilterPolicy({.key_layout = KeyLayout::Delimited(':'),
                                 .kind = test_case.ribbon
                                             ? FilterKind::kRibbon
                                             : FilterKind::kBloom}),
         NewRowPrefixExtractor(KeyLayout::Delimited(':'))});
    options.compaction_style = test_case.style;
    options.disable_auto_compactions = false;
    options.write_buffer_size = 64 << 10;
    options.max_write_buffer_number = 6;
    options.target_file_size_base = 32 << 10;
    options.max_bytes_for_level_base = 128 << 10;
    options.level0_file_num_compaction_trigger = 3;
    options.max_background_jobs = 4;
    options.max_subcompactions = 2;
    options.compaction_options_fifo.max_table_files_size = 1 << 30;
    options.enable_pipelined_write = test_case.pipelined;
    options.unordered_write = test_case.unordered;
    options.statistics = nullptr;
    if (test_case.evicting) {
      auto* const table =
          options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
      table->block_cache = rocksdb::NewLRUCache(64 << 10, /*shard_bits=*/0);
      table->cache_index_and_filter_blocks = true;
    }
    return options;
  }

  // Work begins while the files are being read.
  void Open(uint64_t seed) {
    auto options = Options();
    options.listeners = {std::make_shared<Sleeper>(seed)};
    ExpectOk(OpenWithFrontFilter(
        {.cell_memory_limit_bytes = GetParam().cells ? UINT64_MAX : 0}, options,
        dir_.File("db"), &db_));
  }

  // Says whether RocksDB has the row, and ends the test.
  void Fail(const std::string& row) {
    const bool again =
        db_->front_filter()->MayHaveRow(db_->DefaultColumnFamily(), row);
    std::string value;
    const Status status = db_->GetRootDB()->Get({}, row + "a", &value);
    ADD_FAILURE() << "row " << row << " is absent; RocksDB says "
                  << status.ToString() << "; asked again, it "
                  << (again ? "may exist" : "is absent");
    stop_.store(true);
  }

  // Each kind of lookup finds the row.
  void ExpectRow(size_t writer, uint64_t row, Random* random,
                 const rocksdb::ReadOptions& options = {}) {
    const std::string bytes = RowOf(writer, row);
    checked_.fetch_add(1, std::memory_order_relaxed);
    if (random->OneIn(2)) {
      if (!db_->front_filter()->MayHaveRow(db_->DefaultColumnFamily(), bytes)) {
        Fail(bytes);
      }
      return;
    }
    if (random->OneIn(3)) {
      // Absent rows before and behind it.
      const std::string keys[] = {"absent1:a", bytes + "a", "absent2:a"};
      const Slice slices[] = {keys[0], keys[1], keys[2]};
      rocksdb::PinnableSlice values[3];
      Status statuses[3];
      db_->MultiGet(options, db_->DefaultColumnFamily(), 3, slices, values,
                    statuses);
      if (!statuses[1].ok() || values[1] != bytes) Fail(bytes);
      if (!statuses[0].IsNotFound() || !statuses[2].IsNotFound()) {
        ADD_FAILURE() << "an absent row was found";
      }
      return;
    }
    if (random->OneIn(8)) {
      rocksdb::ReadOptions in_row = options;
      in_row.prefix_same_as_start = true;
      const std::unique_ptr<rocksdb::Iterator> it(
          db_->NewIterator(in_row, db_->DefaultColumnFamily()));
      it->Seek(bytes);
      if (!it->Valid() || it->key() != bytes + "a") Fail(bytes);
      return;
    }
    std::string value;
    const Status status =
        db_->Get(options, db_->DefaultColumnFamily(), bytes + "a", &value);
    if (!status.ok() || value != bytes) Fail(bytes);
  }

  void Write(size_t writer, uint64_t seed) {
    Random random(seed + writer);
    for (uint64_t row = 0; row < kRowsOfWriter && !stop_.load(); ++row) {
      const std::string bytes = RowOf(writer, row);
      rocksdb::WriteBatch batch;
      ExpectOk(batch.Put(bytes + "a", bytes));
      ExpectOk(batch.Put(bytes + "b", random.Bytes(random.Below(100))));
      const Status status = db_->Write({}, &batch);
      if (!status.ok()) {
        ADD_FAILURE() << "row " << bytes << ": " << status.ToString();
        stop_.store(true);
        return;
      }
      written_[writer].store(row + 1, std::memory_order_release);
      ExpectRow(writer, row, &random);
      if (random.OneIn(500)) ExpectOk(db_->Delete({}, bytes + "b"));
    }
  }

  // Rows of all writers, some with a snapshot that was taken when they were
  // there.
  void Read(uint64_t seed) {
    Random random(seed);
    while (!stop_.load()) {
      const size_t writer = random.Below(kWriters);
      const uint64_t there = written_[writer].load(std::memory_order_acquire);
      if (there == 0) continue;
      rocksdb::ReadOptions options;
      if (random.OneIn(50)) options.snapshot = db_->GetSnapshot();
      for (int i = 0; i < 20; ++i) {
        const uint64_t back = random.Below(random.OneIn(2) ? there : 20);
        ExpectRow(writer, there - 1 - std::min(back, there - 1), &random,
                  options);
      }
      if (options.snapshot != nullptr) db_->ReleaseSnapshot(options.snapshot);
    }
  }

  // Flushes, compactions, ingestions.
  void Disturb(uint64_t seed) {
    Random random(seed);
    rocksdb::FlushOptions dont_wait;
    dont_wait.wait = false;
    dont_wait.allow_write_stall = true;
    int files = 0;
    while (!stop_.load()) {
      switch (random.Below(5)) {
        case 0:
          db_->Flush(dont_wait).PermitUncheckedError();
          break;
        case 1: {
          // RocksDB 7.8 stops at an assertion of its own where ingestion put
          // files of FIFO compaction below level 0.
          if (GetParam().style == rocksdb::kCompactionStyleFIFO) break;
          const std::string from = RowOf(random.Below(kWriters), 0);
          const Slice begin(from);
          db_->CompactRange({}, random.OneIn(2) ? &begin : nullptr, nullptr)
              .PermitUncheckedError();
          break;
        }
        case 2: {
          // RocksDB 7.8 takes files of level 0 that universal compaction and
          // ingestion leave for a corruption.
          if (GetParam().style == rocksdb::kCompactionStyleUniversal) break;
          // Rows of a thread of their own.
          const std::string path =
              dir_.File("ingest" + std::to_string(++files) + ".sst");
          const std::string row = "i" + std::to_string(files) + ":";
          rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), Options());
          ExpectOk(writer.Open(path));
          ExpectOk(writer.Put(row + "a", row));
          ExpectOk(writer.Finish());
          const Status status = db_->IngestExternalFile({path}, {});
          if (status.ok() && !db_->front_filter()->MayHaveRow(
                                 db_->DefaultColumnFamily(), row)) {
            ADD_FAILURE() << "ingested row " << row;
          }
          break;
        }
        case 3: {
          // Files without rows of anyone: those that lie in the range.
          const Slice begin("i"), end("j");
          ExpectOk(rocksdb::DeleteFilesInRange(
              db_->GetRootDB(), db_->DefaultColumnFamily(), &begin, &end));
          break;
        }
        default:
          std::this_thread::sleep_for(
              std::chrono::microseconds(random.Below(3'000)));
      }
    }
  }

  test::TempDir dir_;
  std::unique_ptr<FrontFilterDB> db_;
  std::array<std::atomic<uint64_t>, kWriters> written_{};
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> checked_{0};
};

TEST_P(Model, NoWrittenRowIsAbsent) {
  const uint64_t seed = test::SeedFromEnv();
  Open(seed);
  std::vector<std::thread> writers;
  for (size_t writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([this, writer, seed] { Write(writer, seed); });
  }
  std::vector<std::thread> others;
  for (uint64_t i = 0; i < 2; ++i) {
    others.emplace_back([this, i, seed] { Read(seed + 100 + i); });
  }
  others.emplace_back([this, seed] { Disturb(seed + 200); });
  for (std::thread& writer : writers) writer.join();
  EXPECT_TRUE(test::WaitFor(
      [this] { return stop_ || checked_ > 2 * kWriters * kRowsOfWriter; }));
  stop_.store(true);
  for (std::thread& other : others) other.join();
  RecordProperty("checked", std::to_string(checked_.load()));

  const auto check_all = [&] {
    Random random(seed);
    for (size_t writer = 0; writer < kWriters; ++writer) {
      for (uint64_t row = 0; row < kRowsOfWriter; ++row) {
        ExpectRow(writer, row, &random);
      }
    }
    db_->front_filter()->WaitUntilArmed();
    EXPECT_EQ(db_->front_filter()->Stats().families[0].state,
              FrontFilterState::kArmed);
    int absent = 0;
    for (int row = 0; row < 1'000; ++row) {
      if (!db_->front_filter()->MayHaveRow(db_->DefaultColumnFamily(),
                                           "x" + std::to_string(row) + ":")) {
        ++absent;
      }
    }
    EXPECT_GT(absent, 500);
  };
  check_all();
  db_.reset();
  Open(seed + 1);
  check_all();
}

INSTANTIATE_TEST_SUITE_P(
    Each, Model,
    testing::Values(Case{"Level", rocksdb::kCompactionStyleLevel},
                    Case{"Universal", rocksdb::kCompactionStyleUniversal,
                         /*ribbon=*/true},
                    Case{"Fifo", rocksdb::kCompactionStyleFIFO},
                    Case{"Pipelined", rocksdb::kCompactionStyleLevel,
                         /*ribbon=*/false, /*pipelined=*/true},
                    Case{"Unordered", rocksdb::kCompactionStyleLevel,
                         /*ribbon=*/true, /*pipelined=*/false,
                         /*unordered=*/true},
                    Case{"Cells", rocksdb::kCompactionStyleLevel,
                         /*ribbon=*/false, /*pipelined=*/false,
                         /*unordered=*/false, /*cells=*/true},
                    Case{"Evicting", rocksdb::kCompactionStyleLevel,
                         /*ribbon=*/false, /*pipelined=*/false,
                         /*unordered=*/false, /*cells=*/false,
                         /*evicting=*/true}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace rowbloom

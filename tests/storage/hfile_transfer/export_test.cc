// Exports: which files, where, and what they say of themselves; and what is
// left of one that fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/env.h"
#include "rowbloom/printable.h"
#include "storage/hfile/file_info.h"
#include "storage/hfile_transfer/export_directory.h"
#include "tests/storage/hfile_transfer/transfers.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/calling_file_system.h"
#include "tests/support/random.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::test::export_test {
namespace {

using rocksdb::Status;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

const std::string kTrue = "\xff";
const std::string kFalse(1, '\0');

class Export : public ::testing::Test {
 protected:
  void Open(const std::vector<FamilyDescriptor>& families) {
    store_ = OpenOrFail({}, dir_.File("db"), families);
  }
  Status Run(const HFileExportOptions& options = {}) {
    return ExportHFiles(options, store_.get(), out_, &report_);
  }
  // The cells of all files of a family, in the report's order.
  std::vector<HFileCell> Exported(const std::string& family) {
    std::vector<HFileCell> cells;
    for (const HFileExported& file : report_.files) {
      if (file.family != family) continue;
      for (HFileCell& cell : CellsOf(file.path)) {
        cells.push_back(std::move(cell));
      }
    }
    return cells;
  }
  std::map<std::string, std::string> FileInfo(const HFileExported& file) {
    std::unique_ptr<HFileReader> reader;
    EXPECT_THAT(HFileReader::Open({}, file.path, &reader), IsOk());
    return reader == nullptr ? std::map<std::string, std::string>()
                             : reader->file_info();
  }
  // Rows of eight bytes, in order.
  void PutRows(const std::string& family, uint64_t rows, size_t value_bytes) {
    Random random(SeedFromEnv());
    for (uint64_t i = 0; i < rows; ++i) {
      rows_.push_back(DistinctKey(i));
      WriteBatch batch;
      for (const char* qualifier : {"a", "b", "c"}) {
        batch.Put(rows_.back(), family, qualifier, random.Bytes(value_bytes));
      }
      ASSERT_THAT(store_->Write(batch), IsOk());
    }
    std::sort(rows_.begin(), rows_.end());
  }

  TempDir dir_;
  const std::string out_ = dir_.File("out");
  std::unique_ptr<Store> store_;
  HFileExportReport report_;
  std::vector<std::string> rows_;
};

TEST_F(Export, PutsFamiliesWhereABulkLoadLooksForThem) {
  Open({ManyVersions("v"), {"latest", {}}, {"x", {}}});
  ASSERT_THAT(store_->Put("r1", "v", "q", "old", {.timestamp_ms = 5}), IsOk());
  ASSERT_THAT(store_->Put("r1", "v", "q", "new", {.timestamp_ms = 9}), IsOk());
  ASSERT_THAT(store_->Put("r0", "v", "", "empty", {.timestamp_ms = 0}), IsOk());
  ASSERT_THAT(store_->Put("r2", "latest", "q", "v"), IsOk());
  PinnableCell latest;
  ASSERT_THAT(store_->Get("r2", "latest", "q", &latest), IsOk());
  ASSERT_TRUE(latest);
  HFileProgress last;
  HFileExportOptions options;
  options.progress = [&last](const HFileProgress& progress) {
    last = progress;
    return true;
  };
  ASSERT_THAT(Run(options), IsOk());
  ASSERT_EQ(report_.files.size(), 2u);
  EXPECT_EQ(last.cells, 4u);
  EXPECT_EQ(last.files, 2u);
  EXPECT_GE(last.expected_cells, 3u);
  EXPECT_EQ(report_.most_files_per_region, 1u);
  // No file, and no directory, for the family without cells.
  std::vector<std::string> paths;
  for (const HFileExported& file : report_.files) {
    EXPECT_THAT(file.path, MatchesRegex(out_ + "/(latest|v)/[0-9a-f]{32}"));
    EXPECT_EQ(file.file_bytes, std::filesystem::file_size(file.path));
    paths.push_back(file.path);
  }
  EXPECT_EQ(FilesIn(out_), paths);
  EXPECT_FALSE(std::filesystem::exists(out_ + "/x"));
  HFileCell of_latest =
      MakeCell("r2", "q", static_cast<int64_t>(latest.timestamp_ms()),
               HFileCellType::kPut, "v");
  of_latest.family = "latest";
  EXPECT_THAT(Exported("latest"), ElementsAre(of_latest));
  std::vector<HFileCell> of_v = {
      MakeCell("r0", "", 0, HFileCellType::kPut, "empty"),
      MakeCell("r1", "q", 9, HFileCellType::kPut, "new"),
      MakeCell("r1", "q", 5, HFileCellType::kPut, "old")};
  for (HFileCell& cell : of_v) cell.family = "v";
  EXPECT_EQ(Exported("v"), of_v);
  EXPECT_EQ(report_.files[1].first_row, "r0");
  EXPECT_EQ(report_.files[1].last_row, "r1");
  EXPECT_EQ(report_.files[1].cells, 3u);
}

// HBase takes a cell for expired whose time and TTL add up to more than 2^63
// - 1.
TEST_F(Export, ATtlEndsWhereHBaseCanCount) {
  Open({ManyVersions("v")});
  ASSERT_THAT(store_->Put("r", "v", "q", "for ever",
                          {.timestamp_ms = 5, .ttl_ms = kMaxTimestampMs}),
              IsOk());
  ASSERT_THAT(Run(), IsOk());
  const std::vector<HFileCell> cells = Exported("v");
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells.front().tags,
            std::string("\0\x09\x08", 3) + "\x7f\xff\xff\xff\xff\xff\xff\xfa");
}

TEST_F(Export, HasFiltersOfAllFamiliesThatAStoreTakes) {
  std::vector<FamilyDescriptor> families;
  for (const double rate : {1e-15, 2.9e-8, 0.9999999999}) {
    for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
      FamilyDescriptor& family = families.emplace_back(
          ManyVersions("f" + std::to_string(families.size())));
      family.options.bloom_type = type;
      family.options.false_positive_rate = rate;
    }
  }
  FamilyDescriptor& prefix = families.emplace_back(ManyVersions("p"));
  prefix.options.bloom_type = BloomType::kRowPrefixFixedLength;
  prefix.options.row_prefix_length = 40'000;
  Open(families);
  for (const FamilyDescriptor& family : families) {
    ASSERT_THAT(store_->Put("row", family.name, "q", "v"), IsOk());
  }
  ASSERT_THAT(Run(), IsOk());
  ASSERT_EQ(report_.files.size(), families.size());
  for (const HFileExported& file : report_.files) {
    EXPECT_TRUE(FileInfo(file).contains(hfile::info::kBloomType));
    EXPECT_EQ(Exported(file.family).size(), 1u);
  }
}

TEST_F(Export, FilesSayWhatIsTrueOfThem) {
  FamilyDescriptor v = ManyVersions("v");
  v.options.bloom_type = BloomType::kRowPrefixFixedLength;
  v.options.row_prefix_length = 3;
  Open({v, {"none", {.bloom_type = BloomType::kNone}}});
  ASSERT_THAT(store_->Put("row1", "v", "q", "v", {.timestamp_ms = 70}), IsOk());
  ASSERT_THAT(store_->Put("row2", "v", "q", "v", {.timestamp_ms = 50}), IsOk());
  ASSERT_THAT(store_->DeleteFamily("row3", "v", {.timestamp_ms = 60}), IsOk());
  ASSERT_THAT(store_->Put("row1", "none", "q", "v"), IsOk());
  HFileExportOptions options;
  options.deletes = HFileDeletes::kKept;
  options.file.compression = HFileCompression::kLz4;
  ASSERT_THAT(Run(options), IsOk());
  ASSERT_EQ(report_.files.size(), 2u);
  namespace info = hfile::info;
  auto of_v = FileInfo(report_.files[1]);
  EXPECT_EQ(of_v[info::kMajorCompaction], kFalse);
  EXPECT_EQ(of_v[info::kExcludeFromMinor], kFalse);
  EXPECT_EQ(of_v[info::kBulkLoadTime].size(), 8u);
  EXPECT_EQ(of_v[info::kBulkLoadTask], "rowbloom");
  EXPECT_EQ(of_v[info::kBloomType], "ROWPREFIX_FIXED_LENGTH");
  EXPECT_EQ(of_v[info::kBloomParameter], hfile::U32Bytes(3));
  EXPECT_EQ(of_v[info::kDeleteFamilyCount], hfile::U64Bytes(1));
  // A delete reaches down to 0.
  EXPECT_EQ(of_v[info::kTimeRange], hfile::U64Bytes(0) + hfile::U64Bytes(70));
  EXPECT_EQ(of_v[info::kEarliestPut], hfile::U64Bytes(50));
  EXPECT_FALSE(FileInfo(report_.files[0]).contains(info::kBloomType));
  for (const HFileExported& file : report_.files) {
    std::unique_ptr<HFileReader> reader;
    ASSERT_THAT(HFileReader::Open({}, file.path, &reader), IsOk());
    EXPECT_EQ(reader->trailer().compression, HFileCompression::kLz4);
    HFileReport verified;
    EXPECT_THAT(reader->Verify(&verified), IsOk());
    EXPECT_THAT(verified.problems, IsEmpty());
  }
  // Its filter is probed.
  std::unique_ptr<HFileReader> reader;
  ASSERT_THAT(HFileReader::Open({}, report_.files[1].path, &reader), IsOk());
  EXPECT_TRUE(reader->MayContainRow("row9"));  // shares the prefix
  EXPECT_FALSE(reader->MayContainRow("raw1"));
  EXPECT_FALSE(reader->MayContainDeleteFamily("row1"));
  EXPECT_EQ(reader->BloomStats().absent, 2u);
}

TEST_F(Export, DeletesAreAppliedOrKept) {
  FamilyDescriptor v = ManyVersions("v");
  v.options.max_versions = 2;
  Open({v});
  for (const uint64_t timestamp_ms : {1, 2, 3, 4}) {
    for (const char* qualifier : {"", "all", "one"}) {
      ASSERT_THAT(
          store_->Put("r", "v", qualifier, "v", {.timestamp_ms = timestamp_ms}),
          IsOk());
    }
    ASSERT_THAT(store_->Put("s", "v", "q", "v", {.timestamp_ms = timestamp_ms}),
                IsOk());
  }
  ASSERT_THAT(store_->DeleteVersion("r", "v", "one", {.timestamp_ms = 4}),
              IsOk());
  ASSERT_THAT(store_->Delete("r", "v", "all", {.timestamp_ms = 3}), IsOk());
  ASSERT_THAT(store_->DeleteFamily("s", "v", {.timestamp_ms = 3}), IsOk());
  // Needless from the start: the family's delete takes more.
  ASSERT_THAT(store_->Delete("s", "v", "q", {.timestamp_ms = 2}), IsOk());
  const auto cell = [](const std::string& row, const std::string& qualifier,
                       int64_t timestamp_ms,
                       HFileCellType type = HFileCellType::kPut) {
    HFileCell made = MakeCell(row, qualifier, timestamp_ms, type,
                              type == HFileCellType::kPut ? "v" : "");
    made.family = "v";
    return made;
  };
  const std::vector<HFileCell> with_deletes = {
      cell("r", "", 4),
      cell("r", "", 3),
      cell("r", "all", 4),
      cell("r", "all", 3, HFileCellType::kDeleteColumn),
      cell("r", "one", 4, HFileCellType::kDelete),
      cell("r", "one", 3),
      cell("s", "", 3, HFileCellType::kDeleteFamily),
      cell("s", "q", 4)};
  std::vector<HFileCell> puts = with_deletes;
  std::erase_if(puts, [](const HFileCell& each) {
    return each.type != HFileCellType::kPut;
  });
  ASSERT_THAT(Run(), IsOk());
  EXPECT_EQ(Exported("v"), puts);
  EXPECT_EQ(report_.files[0].deletes, 0u);
  EXPECT_EQ(FileInfo(report_.files[0])[hfile::info::kMajorCompaction], kTrue);
  // The same from files that were not compacted, and from those that were.
  for (int round = 0; round < 2; ++round) {
    std::filesystem::remove_all(out_);
    ASSERT_THAT(Run({.deletes = HFileDeletes::kKept}), IsOk());
    EXPECT_EQ(Exported("v"), with_deletes) << "round " << round;
    EXPECT_EQ(report_.files[0].cells, with_deletes.size());
    EXPECT_EQ(report_.files[0].deletes, 3u);
    ASSERT_THAT(store_->Compact(), IsOk());
  }
}

TEST_F(Export, FilesEndWhereRegionsDo) {
  Open({{"f", {}}, {"g", {}}});
  ASSERT_NO_FATAL_FAILURE(PutRows("f", 100, 10));
  ASSERT_THAT(store_->Put(rows_[30], "g", "q", "v"), IsOk());
  // Not in order; one before all rows, one that is a row, one between rows, two
  // with no row between them, one after all.
  ASSERT_THAT(
      Run({.region_start_rows = {rows_[99] + "z", rows_[20], rows_[40] + "a",
                                 "", rows_[40] + "b"}}),
      IsOk());
  ASSERT_EQ(report_.files.size(), 4u);
  EXPECT_EQ(report_.files[0].first_row, rows_[0]);
  EXPECT_EQ(report_.files[0].last_row, rows_[19]);
  EXPECT_EQ(report_.files[1].first_row, rows_[20]);
  EXPECT_EQ(report_.files[1].last_row, rows_[40]);
  EXPECT_EQ(report_.files[2].first_row, rows_[41]);
  EXPECT_EQ(report_.files[2].last_row, rows_[99]);
  EXPECT_EQ(report_.files[3].family, "g");
  EXPECT_EQ(report_.files[3].first_row, rows_[30]);
  EXPECT_EQ(report_.most_files_per_region, 1u);
  EXPECT_EQ(Exported("f").size(), 300u);
}

TEST_F(Export, HasTheRowsOfARange) {
  Open({{"f", {}}, {"g", {.max_versions = 3}}});
  ASSERT_NO_FATAL_FAILURE(PutRows("f", 100, 10));
  for (const std::string& row : rows_) {
    ASSERT_THAT(store_->Put(row, "g", "q", "v"), IsOk());
  }
  HFileExportOptions options;
  options.start_row = rows_[30];
  options.stop_row = rows_[60];
  ASSERT_THAT(Run(options), IsOk());
  ASSERT_EQ(report_.files.size(), 2u);
  for (const HFileExported& file : report_.files) {
    EXPECT_EQ(file.first_row, rows_[30]);
    EXPECT_EQ(file.last_row, rows_[59]);
  }
  EXPECT_EQ(Exported("f").size(), 90u);
  EXPECT_EQ(Exported("g").size(), 30u);
  options.start_row = rows_[60];
  std::filesystem::remove_all(out_);
  ASSERT_THAT(Run(options), IsOk());
  EXPECT_TRUE(report_.files.empty());
}

TEST_F(Export, FilesEndAtASizeBetweenRows) {
  Open({{"f", {}}});
  ASSERT_NO_FATAL_FAILURE(PutRows("f", 60, 700));
  HFileExportOptions options;
  options.max_file_bytes = 4000;
  options.file.block_bytes = 1000;
  options.region_start_rows = {rows_[50]};
  ASSERT_THAT(Run(options), IsOk());
  ASSERT_GT(report_.files.size(), 10u);
  uint64_t cells = 0;
  for (size_t i = 0; i < report_.files.size(); ++i) {
    const HFileExported& file = report_.files[i];
    EXPECT_LT(file.file_bytes, 4000 + 3 * 800 + 2 * 4096) << i;
    cells += file.cells;
    // All cells of a row are in one file.
    EXPECT_EQ(file.cells % 3, 0u);
    if (i > 0) {
      EXPECT_LT(report_.files[i - 1].last_row, file.first_row);
    }
  }
  EXPECT_EQ(cells, 180u);
  // The last ten rows are another region's.
  EXPECT_GT(report_.most_files_per_region, 8u);
  EXPECT_LT(report_.most_files_per_region, report_.files.size());
}

TEST_F(Export, WhatHBaseRefusesIsRefusedBeforeAnythingIsWritten) {
  Open({ManyVersions("v"),
        {"a/b", {}},
        {"a\\b", {}},
        {"recovered.edits", {}},
        {std::string(128, 'n'), {}}});
  const auto refuses = [this](const std::string& family,
                              const std::string& why) {
    EXPECT_THAT(Run({.families = {family}}),
                StatusIs(Status::kInvalidArgument,
                         AllOf(HasSubstr("family \"" + ToPrintable(family)),
                               HasSubstr(why))));
    EXPECT_FALSE(std::filesystem::exists(out_));
  };
  refuses("a/b", "with ':', '/'");
  refuses("a\\b", "with ':', '/'");
  refuses("recovered.edits", "reserved");
  refuses(std::string(128, 'n'), "more than 127 bytes, found 128");
  refuses("nope", "is not in the store");
  EXPECT_THAT(Run(), StatusIs(Status::kInvalidArgument, HasSubstr("HBase")));
  HFileExportOptions options{.families = {"v"}, .max_file_bytes = 0};
  EXPECT_THAT(Run(options),
              StatusIs(Status::kInvalidArgument, HasSubstr("max_file_bytes")));
  options.max_file_bytes = 1;
  options.region_start_rows = {std::string(32768, 'r')};
  EXPECT_THAT(Run(options),
              StatusIs(Status::kInvalidArgument, HasSubstr("32768 bytes")));
  EXPECT_FALSE(std::filesystem::exists(out_));
}

TEST_F(Export, ACellThatHBaseRefusesLeavesNothing) {
  Open({ManyVersions("v"), {"a", {}}});
  ASSERT_NO_FATAL_FAILURE(PutRows("a", 50, 100));
  ASSERT_NO_FATAL_FAILURE(PutRows("v", 50, 100));
  ASSERT_THAT(
      store_->Put("\xff\xff", "v", "q", "v", {.timestamp_ms = kMaxTimestampMs}),
      IsOk());
  HFileExportOptions options;
  options.max_file_bytes = 1;  // many files come before it
  const auto is_refused = StatusIs(
      Status::kInvalidArgument, AllOf(HasSubstr("row \"\\xFF\\xFF\", cell v:q"),
                                      HasSubstr("9223372036854775807")));
  EXPECT_THAT(Run(options), is_refused);
  EXPECT_THAT(report_.files, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(out_));
  // A directory that was there stays, empty.
  std::filesystem::create_directory(out_);
  EXPECT_THAT(Run(options), is_refused);
  EXPECT_TRUE(std::filesystem::is_empty(out_));
  // The other family has nothing to be refused.
  options.families = {"a"};
  EXPECT_THAT(Run(options), IsOk());
  EXPECT_EQ(FilesIn(out_).size(), report_.files.size());
}

// While it lives, no file of this process grows beyond a size.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes)
      : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*const handler_)(int);
  rlimit before_{};
};

TEST_F(Export, AWriteThatFailsLeavesNothing) {
  Open({{"a", {}}, {"f", {}}});
  ASSERT_THAT(store_->Put("r", "a", "q", "v"), IsOk());
  ASSERT_NO_FATAL_FAILURE(PutRows("f", 200, 300));
  ASSERT_THAT(store_->Flush(), IsOk());
  {
    const FileSizeLimit limit(100'000);
    EXPECT_THAT(Run(), StatusIs(Status::kIOError,
                                AllOf(HasSubstr(out_), HasSubstr("write"))));
  }
  EXPECT_THAT(report_.files, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(out_));
  ASSERT_THAT(Run(), IsOk());
  EXPECT_EQ(Exported("f").size(), 600u);
}

TEST_F(Export, StopsWhenItIsTold) {
  Open({{"f", {}}, {"g", {}}});
  ASSERT_NO_FATAL_FAILURE(PutRows("f", 500, 10));
  ASSERT_NO_FATAL_FAILURE(PutRows("g", 500, 10));
  HFileExportOptions options;
  for (const uint64_t stop_at : {1000, 1500, 3000}) {
    options.progress = [&](const HFileProgress& progress) {
      return progress.cells < stop_at;
    };
    EXPECT_THAT(Run(options),
                StatusIs(Status::kIncomplete,
                         HasSubstr("stopped after " + std::to_string(stop_at) +
                                   " cells")));
    EXPECT_THAT(report_.files, IsEmpty());
    EXPECT_FALSE(std::filesystem::exists(out_));
  }
}

TEST_F(Export, TakesAnEmptyDirectoryOnly) {
  Open({{"f", {}}});
  std::filesystem::create_directory(out_);
  const std::string mine = out_ + "/mine";
  std::ofstream(mine) << "stays";
  EXPECT_THAT(Run(), StatusIs(Status::kInvalidArgument,
                              AllOf(HasSubstr(out_), HasSubstr("\"mine\""))));
  EXPECT_THAT(FilesIn(out_), ElementsAre(mine));
  std::filesystem::remove(mine);
  EXPECT_THAT(Run(), IsOk());
  EXPECT_THAT(ExportHFiles({}, store_.get(), mine + "/no/parent", &report_),
              StatusIs(Status::kIOError, HasSubstr("cannot create")));
  std::ofstream(mine) << "a file";
  EXPECT_THAT(ExportHFiles({}, store_.get(), mine, &report_),
              StatusIs(Status::kInvalidArgument,
                       AllOf(HasSubstr(mine), HasSubstr("found a file"))));
}

// Calls a function before the first directory is made.
class CallingEnv final : public rocksdb::EnvWrapper {
 public:
  CallingEnv() : EnvWrapper(rocksdb::Env::Default()) {}
  const char* Name() const override { return "CallingEnv"; }
  Status CreateDir(const std::string& path) override {
    if (on_create) std::exchange(on_create, nullptr)(path);
    return EnvWrapper::CreateDir(path);
  }

  std::function<void(const std::string&)> on_create;
};

// Another export makes the directory first, and has put nothing into it yet.
TEST_F(Export, RemovesNoDirectoryOfAnother) {
  CallingEnv env;
  env.on_create = [](const std::string& path) {
    std::filesystem::create_directory(path);
  };
  std::unique_ptr<hfile_transfer::ExportDirectory> directory;
  EXPECT_THAT(hfile_transfer::ExportDirectory::Create(&env, out_, &directory),
              StatusIs(Status::kIOError, HasSubstr(out_)));
  EXPECT_TRUE(std::filesystem::exists(out_));
}

// A batch is written while the export begins, also to a new family.
TEST_F(Export, HasAllFamiliesOfItsSnapshot) {
  CallingEnv env;
  store_ = OpenOrFail({.env = &env}, dir_.File("db"), {{"f", {}}});
  env.on_create = [this](const std::string& /*path*/) {
    ASSERT_THAT(store_->CreateFamily("g", {}), IsOk());
    WriteBatch batch;
    batch.Put("r", "f", "q", "v");
    batch.Put("r", "g", "q", "v");
    ASSERT_THAT(store_->Write(batch), IsOk());
  };
  EXPECT_THAT(Run(), IsOk());
  EXPECT_FALSE(env.on_create);
  EXPECT_EQ(Exported("f").size(), Exported("g").size());
  store_.reset();
}

// Whoever may not read the parent has not just created the directory.
TEST_F(Export, TakesADirectoryWhoseParentIsClosed) {
  const auto files = std::make_shared<CallingFileSystem>();
  const auto env = rocksdb::NewCompositeEnv(files);
  files->CloseFolder(dir_.path().string());
  for (const bool exists : {false, true}) {
    const std::string path = dir_.File(exists ? "old" : "new");
    if (exists) std::filesystem::create_directory(path);
    std::unique_ptr<hfile_transfer::ExportDirectory> directory;
    ASSERT_THAT(
        hfile_transfer::ExportDirectory::Create(env.get(), path, &directory),
        IsOk());
    EXPECT_EQ(directory->Commit().ok(), exists);
  }
}

TEST_F(Export, OfNothingIsAnEmptyDirectory) {
  Open({{"f", {}}});
  ASSERT_THAT(Run(), IsOk());
  EXPECT_THAT(report_.files, IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(out_));
}

TEST_F(Export, OfAStoreThatIsOnlyRead) {
  Open({{"f", {}}, {"g", {.max_versions = 2}}});
  ASSERT_NO_FATAL_FAILURE(PutRows("f", 10, 10));
  ASSERT_THAT(store_->Put("r", "g", "q", "v"), IsOk());
  store_.reset();
  store_ = OpenOrFail({.read_only = true}, dir_.File("db"), {});
  ASSERT_THAT(Run(), IsOk());
  EXPECT_EQ(Exported("f").size(), 30u);
  EXPECT_EQ(Exported("g").size(), 1u);
}

}  // namespace
}  // namespace rowbloom::test::export_test

// Store::Open accepts some options and paths and refuses others; a refusal
// changes nothing.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "rocksdb/cache.h"
#include "rocksdb/env.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/version.h"
#include "rowbloom/open_db.h"
#include "storage/store/found_store.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/calling_file_system.h"
#include "tests/support/calling_logger.h"
#if ROCKSDB_MAJOR >= 8
#include "rocksdb/advanced_cache.h"
#endif

namespace rowbloom::test {
namespace {

using rocksdb::Status;
using ::testing::AllOf;
using ::testing::HasSubstr;

class StoreOpen : public ::testing::Test {
 protected:
  Status Open(const StoreOptions& options,
              const std::vector<FamilyDescriptor>& families) {
    store_.reset();
    return Store::Open(options, path_, families, &store_);
  }

  // Creates a store with the families a and b and a cell in each.
  void Create() {
    ASSERT_THAT(Open({}, {{"a", {}}, {"b", {}}}), IsOk());
    ASSERT_THAT(store_->Put("r", "a", "q", "1"), IsOk());
    ASSERT_THAT(store_->Put("r", "b", "q", "2"), IsOk());
    store_.reset();
  }

  // Opening must fail like this and leave every byte as it is.
  template <typename Matcher>
  void ExpectRefusal(const StoreOptions& options,
                     const std::vector<FamilyDescriptor>& families,
                     const Matcher& matcher) {
    const auto before = Contents(dir_.path().string());
    EXPECT_THAT(Open(options, families), matcher);
    EXPECT_EQ(store_, nullptr);
    EXPECT_TRUE(Contents(dir_.path().string()) == before)
        << "the directory was changed";
  }

  TempDir dir_;
  std::string path_ = dir_.File("db");
  std::unique_ptr<Store> store_;
};

TEST_F(StoreOpen, CreatesInAnEmptyDirectoryToo) {
  for (const bool has_lock : {false, true}) {
    path_ = dir_.File(has_lock ? "locked" : "empty");
    std::filesystem::create_directory(path_);
    if (has_lock) std::ofstream(path_ + "/LOCK").flush();
    EXPECT_THAT(Open({}, {{"a", {}}}), IsOk());
    EXPECT_FALSE(std::filesystem::exists(path_ + "/" + kCreationMark));
  }
}

TEST_F(StoreOpen, CreatesInADirectoryWhoseParentIsClosed) {
  const auto files = std::make_shared<CallingFileSystem>();
  const auto env = rocksdb::NewCompositeEnv(files);
  files->CloseFolder(dir_.path().string());
  std::filesystem::create_directory(path_);
  EXPECT_THAT(Open({.env = env.get()}, {{"a", {}}}), IsOk());
  store_.reset();
}

TEST_F(StoreOpen, StoreWithoutFamiliesIsAStore) {
  ASSERT_THAT(Open({}, {}), IsOk());
  EXPECT_TRUE(store_->Families().empty());
  EXPECT_THAT(store_->Put("r", "f", "q", "v"),
              StatusIs(Status::kInvalidArgument, HasSubstr("it has: none")));
  ASSERT_THAT(Open({}, {{"f", {}}}), IsOk());
  EXPECT_THAT(store_->Put("r", "f", "q", "v"), IsOk());
}

TEST_F(StoreOpen, FamiliesThatAreNotListedAreOpenedToo) {
  ASSERT_NO_FATAL_FAILURE(Create());
  ASSERT_THAT(Open({}, {{"c", {}}}), IsOk());
  EXPECT_EQ(store_->Families().size(), 3u);
  EXPECT_EQ(GetRowOf(*store_, "r").size(), 2u);
}

TEST_F(StoreOpen, NewFamilyIsAddedWithoutCreateIfMissing) {
  ASSERT_NO_FATAL_FAILURE(Create());
  ASSERT_THAT(Open({.create_if_missing = false}, {{"c", {}}}), IsOk());
  EXPECT_THAT(store_->Put("r", "c", "q", "v"), IsOk());
}

// A writer replaces the MANIFEST when it opens the store, or once it is large.
TEST_F(StoreOpen, ReaderTriesAgainWhenItsManifestIsReplaced) {
  class Replacing final : public rocksdb::EnvWrapper {
   public:
    explicit Replacing(std::string path)
        : EnvWrapper(rocksdb::Env::Default()), path_(std::move(path)) {}
    const char* Name() const override { return "Replacing"; }
    Status GetFileSize(const std::string& file, uint64_t* bytes) override {
      if (file.starts_with(path_ + "/MANIFEST-") &&
          !std::exchange(is_done_, true)) {
        std::filesystem::rename(file, path_ + "/MANIFEST-000900");
        std::ofstream(path_ + "/CURRENT") << "MANIFEST-000900\n";
      }
      return EnvWrapper::GetFileSize(file, bytes);
    }

   private:
    const std::string path_;
    bool is_done_ = false;
  };
  ASSERT_NO_FATAL_FAILURE(Create());
  Replacing env(path_);
  EXPECT_THAT(Open({.read_only = true, .env = &env}, {}), IsOk());
  EXPECT_TRUE(std::filesystem::exists(path_ + "/MANIFEST-000900"));
  store_.reset();
}

TEST_F(StoreOpen, MissingStoreIsNotFoundAndNotCreated) {
  const auto is_missing =
      StatusIs(Status::kNotFound, HasSubstr("no store at " + path_));
  ExpectRefusal({.create_if_missing = false}, {{"a", {}}}, is_missing);
  ExpectRefusal({.read_only = true}, {}, is_missing);
  std::filesystem::create_directory(path_);
  ExpectRefusal({.create_if_missing = false}, {{"a", {}}}, is_missing);
  ExpectRefusal({.read_only = true}, {}, is_missing);
}

TEST_F(StoreOpen, FileIsNoStore) {
  std::ofstream(path_) << "text";
  ExpectRefusal({}, {},
                StatusIs(Status::kInvalidArgument,
                         HasSubstr(path_ + " is not a directory")));
}

// Opening one waits for somebody who writes into it.
TEST_F(StoreOpen, NamedPipeIsNoStore) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  for (const bool read_only : {false, true}) {
    EXPECT_THAT(Open({.read_only = read_only}, {}),
                StatusIs(Status::kInvalidArgument,
                         HasSubstr(path_ + " is not a directory")));
  }
}

TEST_F(StoreOpen, DirectoryOfOtherFilesIsNoStore) {
  std::filesystem::create_directory(path_);
  std::ofstream(path_ + "/notes.txt") << "text";
  const auto is_no_store = StatusIs(
      Status::kInvalidArgument, HasSubstr(path_ + " is not a rowbloom store"));
  ExpectRefusal({}, {{"a", {}}}, is_no_store);
  ExpectRefusal({.read_only = true}, {}, is_no_store);
}

TEST_F(StoreOpen, MissingCurrentOfAStoreIsNamed) {
  ASSERT_NO_FATAL_FAILURE(Create());
  std::filesystem::remove(path_ + "/CURRENT");
  const auto is_missing = StatusIs(Status::kInvalidArgument,
                                   HasSubstr("its file CURRENT is missing"));
  ExpectRefusal({}, {}, is_missing);
  ExpectRefusal({.read_only = true}, {}, is_missing);
}

TEST_F(StoreOpen, OtherRocksdbDatabaseIsNoStore) {
  const auto is_other = StatusIs(
      Status::kInvalidArgument,
      HasSubstr(path_ + " is a RocksDB database but not a rowbloom store"));
  rocksdb::Options options;
  options.create_if_missing = true;
  std::unique_ptr<rocksdb::DB> db;
  ASSERT_THAT(rocksdb::DB::Open(options, path_, Into(&db)), IsOk());
  db.reset();
  ExpectRefusal({}, {{"a", {}}}, is_other);
  // Keys that look a little like ours do not make it a store.
  ASSERT_NO_FATAL_FAILURE(PutRaw(path_, "default", "clock", "noon"));
  ASSERT_NO_FATAL_FAILURE(PutRaw(path_, "default", "family/a", "{}"));
  ExpectRefusal({}, {{"a", {}}}, is_other);
  ExpectRefusal({.read_only = true}, {}, is_other);
}

TEST_F(StoreOpen, RocksdbDatabaseThatTracksItsLogsIsNoStore) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.track_and_verify_wals_in_manifest = true;
  std::unique_ptr<rocksdb::DB> db;
  ASSERT_THAT(rocksdb::DB::Open(options, path_, Into(&db)), IsOk());
  rocksdb::ColumnFamilyHandle* family = nullptr;
  ASSERT_THAT(db->CreateColumnFamily(options, "a", &family), IsOk());
  ASSERT_THAT(db->Put({}, "key", "value"), IsOk());
  ASSERT_THAT(db->Put({}, family, "key", "value"), IsOk());
  // The MANIFEST gets the size of the log that "default" still needs.
  ASSERT_THAT(db->Flush({}, family), IsOk());
  ASSERT_THAT(db->DestroyColumnFamilyHandle(family), IsOk());
  db.reset();
  ExpectRefusal(
      {}, {},
      StatusIs(Status::kInvalidArgument, HasSubstr("not a rowbloom store")));
}

TEST_F(StoreOpen, RocksdbDatabaseOfAnotherOrderIsNoStore) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.comparator = rocksdb::ReverseBytewiseComparator();
  std::unique_ptr<rocksdb::DB> db;
  ASSERT_THAT(rocksdb::DB::Open(options, path_, Into(&db)), IsOk());
  db.reset();
  ExpectRefusal({}, {},
                StatusIs(Status::kInvalidArgument,
                         AllOf(HasSubstr("not a rowbloom store"),
                               HasSubstr("comparator"))));
}

TEST_F(StoreOpen, DamagedDatabaseIsRefusedWithRocksdbsReason) {
  ASSERT_NO_FATAL_FAILURE(Create());
  std::ofstream(path_ + "/CURRENT") << "MANIFEST-999999\n";
  const auto before = Contents(path_);
  const Status s = Open({}, {});
  EXPECT_TRUE(s.IsIOError() || s.IsNotFound() || s.IsCorruption())
      << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("MANIFEST-999999"));
  EXPECT_TRUE(Contents(path_) == before);
}

TEST_F(StoreOpen, ParentDirectoryMustExist) {
  path_ = dir_.File("no/such/parent");
  ExpectRefusal({}, {{"a", {}}},
                StatusIs(Status::kIOError, HasSubstr("no/such/parent")));
  path_.clear();
  ExpectRefusal({}, {},
                StatusIs(Status::kInvalidArgument,
                         HasSubstr("path of the store is empty")));
}

TEST_F(StoreOpen, AnotherKeyLayoutIsRefusedNamingBoth) {
  ASSERT_NO_FATAL_FAILURE(Create());
  const StoreOptions fixed = {.key_layout = KeyLayout::FixedRow(8)};
  ExpectRefusal(fixed, {},
                StatusIs(Status::kInvalidArgument,
                         AllOf(HasSubstr(path_), HasSubstr("escaped"),
                               HasSubstr("fixed:8"))));
  path_ = dir_.File("fixed");
  ASSERT_THAT(Open(fixed, {}), IsOk());
  store_.reset();
  ExpectRefusal({.key_layout = KeyLayout::Escaped()}, {},
                StatusIs(Status::kInvalidArgument,
                         HasSubstr("has key layout fixed:8, not escaped")));
}

TEST_F(StoreOpen, KeyLayoutThatIsLeftOpenIsTheStores) {
  ASSERT_THAT(Open({}, {}), IsOk());
  EXPECT_EQ(store_->Options().key_layout, KeyLayout::Escaped());
  path_ = dir_.File("fixed");
  ASSERT_THAT(Open({.key_layout = KeyLayout::FixedRow(2)}, {{"f", {}}}),
              IsOk());
  ASSERT_THAT(store_->Put("ab", "f", "q", "v"), IsOk());
  for (const bool read_only : {true, false}) {
    store_.reset();
    ASSERT_THAT(Open({.read_only = read_only}, {}), IsOk());
    EXPECT_EQ(store_->Options().key_layout, KeyLayout::FixedRow(2));
    EXPECT_TRUE(ValueOf(*store_, "ab", "f", "q"));
  }
}

TEST_F(StoreOpen, LayoutsThatCannotServeAreRefused) {
  for (const char* layout : {"delimited::", "u16"}) {
    ExpectRefusal(
        {.key_layout = *KeyLayout::FromString(layout)}, {},
        StatusIs(Status::kInvalidArgument,
                 AllOf(HasSubstr(layout),
                       HasSubstr("does not keep the order of rows"))));
  }
  ExpectRefusal({.key_layout = KeyLayout::FixedRow(0)}, {},
                StatusIs(Status::kInvalidArgument, HasSubstr("fixed:0")));
  ExpectRefusal({.key_layout = KeyLayout::FixedRow(kMaxRowBytes + 1)}, {},
                StatusIs(Status::kInvalidArgument,
                         AllOf(HasSubstr("fixed:32768"), HasSubstr("32767"))));
}

TEST_F(StoreOpen, OptionsOutOfRangeAreRefusedBeforeAnythingIsCreated) {
  struct Case {
    FamilyOptions options;
    const char* message;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Case> cases = {
      {{.false_positive_rate = 0}, "false_positive_rate"},
      {{.false_positive_rate = 1}, "false_positive_rate"},
      {{.false_positive_rate = -0.5}, "false_positive_rate"},
      {{.false_positive_rate = nan}, "false_positive_rate"},
      {{.bloom_type = BloomType::kRowPrefixFixedLength}, "row_prefix_length"},
      {{.bloom_type = BloomType::kRow, .row_prefix_length = 3},
       "row_prefix_length"},
      {{.filter_kind = static_cast<FilterKind>(9)}, "filter_kind"},
      {{.block_size_bytes = 1023}, "block_size_bytes is 1023"},
      {{.block_size_bytes = (16 << 20) + 1}, "block_size_bytes is 16777217"},
      {{.compression = static_cast<Compression>(9)}, "compression"},
  };
  for (const Case& c : cases) {
    ExpectRefusal(
        {}, {{"good", {}}, {"bad", c.options}},
        StatusIs(Status::kInvalidArgument,
                 AllOf(HasSubstr("family \"bad\""), HasSubstr(c.message))));
  }
  for (const size_t bytes : {size_t{0}, size_t{65535}, size_t{1} << 40}) {
    ExpectRefusal(
        {.write_buffer_bytes = bytes}, {},
        StatusIs(Status::kInvalidArgument,
                 HasSubstr("write_buffer_bytes is " + std::to_string(bytes))));
    ExpectRefusal(
        {.file_bytes = bytes}, {},
        StatusIs(Status::kInvalidArgument,
                 HasSubstr("file_bytes is " + std::to_string(bytes))));
  }
}

TEST_F(StoreOpen, BadFamilyNamesAreRefused) {
  const std::vector<std::string> names = {
      "",         "a:b", "a b", "a\n",     std::string("a\0", 2),
      "\xc3\xa9", ".",   ".a",  "default", std::string(256, 'a')};
  for (const std::string& name : names) {
    ExpectRefusal({}, {{name, {}}},
                  StatusIs(Status::kInvalidArgument, HasSubstr("family \"")));
  }
  ExpectRefusal({}, {{"a", {}}, {"a", {}}},
                StatusIs(Status::kInvalidArgument,
                         HasSubstr("family \"a\" is listed twice")));
  EXPECT_THAT(Open({}, {{std::string(255, '~'), {}}, {"a/b", {}}}), IsOk());
}

TEST_F(StoreOpen, OtherOptionsThanKeptAreNamed) {
  ASSERT_NO_FATAL_FAILURE(Create());
  ExpectRefusal({}, {{"b", {}}, {"a", {.bloom_type = BloomType::kRow}}},
                StatusIs(Status::kInvalidArgument,
                         AllOf(HasSubstr(path_), HasSubstr("family \"a\""),
                               HasSubstr("has bloom_type ROWCOL, not ROW"))));
  ExpectRefusal(
      {.read_only = true},
      {{"a",
        {.false_positive_rate = 0.02,
         .compression = Compression::kNone,
         .block_size_bytes = 2048}}},
      StatusIs(Status::kInvalidArgument,
               HasSubstr("block_size_bytes 16384, not 2048; compression LZ4, "
                         "not NONE; false_positive_rate 0.01, not 0.02")));
  EXPECT_THAT(Open({}, {{"a", {}}}), IsOk());
}

// An Env whose every listing has another blob file, as beside a writer that
// goes on.
class ChangingEnv final : public rocksdb::EnvWrapper {
 public:
  ChangingEnv() : EnvWrapper(rocksdb::Env::Default()) {}
  const char* Name() const override { return "ChangingEnv"; }
  Status GetChildren(const std::string& directory,
                     std::vector<std::string>* names) override {
    const Status s = EnvWrapper::GetChildren(directory, names);
    names->push_back(std::to_string(1'000'000 + listings_++) + ".blob");
    return s;
  }

 private:
  std::atomic<int> listings_{0};
};

TEST_F(StoreOpen, ForeignColumnFamilyIsRefused) {
  ASSERT_NO_FATAL_FAILURE(Create());
  {
    Database database;
    ASSERT_NO_FATAL_FAILURE(OpenRaw(path_, &database));
    ASSERT_THAT(database.CreateColumnFamilies({{"x", {}}}), IsOk());
  }
  const auto names_it = AllOf(HasSubstr("column family \"x\""),
                              HasSubstr("was not created by rowbloom"));
  for (const bool read_only : {false, true}) {
    ExpectRefusal({.read_only = read_only}, {},
                  StatusIs(Status::kInvalidArgument, names_it));
  }
  // A writer may have dropped it between two reads of the opening.
  ChangingEnv env;
  ExpectRefusal({.read_only = true, .env = &env}, {},
                StatusIs(Status::kTryAgain, names_it));
}

// Tells whether another process could lock a file now.
bool CanLock(const std::string& file) {
  const pid_t child = fork();
  if (child == 0) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    const int opened = open(file.c_str(), O_RDWR | O_CLOEXEC);
    _exit(opened >= 0 && fcntl(opened, F_SETLK, &lock) == 0 ? 0 : 1);
  }
  int state = -1;
  waitpid(child, &state, 0);
  return state == 0;
}

TEST_F(StoreOpen, SecondWriterIsKeptOut) {
  ASSERT_THAT(Open({}, {{"a", {}}}), IsOk());
  std::unique_ptr<Store> second;
  EXPECT_THAT(Store::Open({}, path_, {}, &second),
              StatusIs(Status::kBusy, HasSubstr("the store at " + path_ +
                                                " is open for writing")));
  EXPECT_EQ(second, nullptr);
  store_.reset();
  EXPECT_THAT(Store::Open({}, path_, {}, &second), IsOk());
}

// Two openings of a store under two names would delete each other's files. Even
// one that is refused for another reason must not touch the lock, which the
// system takes from a process that closes the file once.
TEST_F(StoreOpen, SecondWriterByAnotherPathIsKeptOut) {
  ASSERT_THAT(Open({}, {{"a", {}}}), IsOk());
  const std::filesystem::path path = path_;
  const std::string link = dir_.File("link");
  std::filesystem::create_symlink(path, link);
  const std::string paths[] = {path_ + "/", path_ + "/.", link,
                               std::filesystem::relative(path),
                               path.parent_path() / "." / path.filename()};
  for (const std::string& other : paths) {
    std::unique_ptr<Store> second;
    EXPECT_TRUE(Store::Open({}, other, {}, &second).IsBusy()) << other;
    EXPECT_FALSE(
        Store::Open({}, other, {{"a", {.max_versions = 2}}}, &second).ok())
        << other;
    EXPECT_FALSE(CanLock(path_ + "/LOCK")) << other;
  }
  store_.reset();
  EXPECT_TRUE(CanLock(path_ + "/LOCK"));
  std::unique_ptr<Store> second;
  EXPECT_THAT(Store::Open({}, link, {}, &second), IsOk());
}

// One of several that open, or create, a store at once succeeds, and none sees
// a store that is half made.
TEST_F(StoreOpen, OneOfSeveralThatOpenAtOnceIsIn) {
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    if (round % 2 == 0) path_ = dir_.File("db" + std::to_string(round));
    std::atomic<int> opened = 0;
    std::vector<std::unique_ptr<Store>> stores(4);
    std::vector<std::thread> threads;
    for (std::unique_ptr<Store>& store : stores) {
      threads.emplace_back([&] {
        const Status s = Store::Open({}, path_, {{"a", {}}}, &store);
        if (s.ok()) ++opened;
        EXPECT_TRUE(s.ok() || s.IsBusy()) << s.ToString();
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(opened, 1);
  }
}

// An Env that makes a call before it creates its first directory.
class RacingEnv final : public rocksdb::EnvWrapper {
 public:
  explicit RacingEnv(std::function<void()> call)
      : EnvWrapper(rocksdb::Env::Default()), call_(std::move(call)) {}
  const char* Name() const override { return "RacingEnv"; }
  Status CreateDirIfMissing(const std::string& directory) override {
    if (const auto call = std::exchange(call_, nullptr)) call();
    return EnvWrapper::CreateDirIfMissing(directory);
  }

 private:
  std::function<void()> call_;
};

// An opening does not look for the damage of a store that has the mark.
TEST_F(StoreOpen, ACreationThatComesSecondLeavesNoMark) {
  RacingEnv env([this] { EXPECT_THAT(Open({}, {{"a", {}}}), IsOk()); });
  std::unique_ptr<Store> second;
  EXPECT_TRUE(Store::Open({.env = &env}, path_, {{"a", {}}}, &second).IsBusy());
  ASSERT_NE(store_, nullptr);
  EXPECT_FALSE(std::filesystem::exists(path_ + "/" + kCreationMark));
}

TEST_F(StoreOpen, CopyWithoutALockIsRefusedAsItIs) {
  ASSERT_NO_FATAL_FAILURE(Create());
  std::filesystem::remove(path_ + "/LOCK");
  ExpectRefusal({.key_layout = KeyLayout::FixedRow(8)}, {},
                StatusIs(Status::kInvalidArgument, HasSubstr("fixed:8")));
  EXPECT_THAT(Open({}, {}), IsOk());
}

// The lines that RocksDB logs before it knows that the store is sound are
// there.
TEST_F(StoreOpen, InfoLogHasTheWholeOpening) {
  ASSERT_NO_FATAL_FAILURE(Create());
  ASSERT_THAT(Open({}, {}), IsOk());
  store_.reset();
  const std::string log = Contents(path_)["LOG"];
  for (const char* line : {"RocksDB version", "Recovering log #"}) {
    EXPECT_THAT(log, HasSubstr(line));
  }
}

// A process that has the lock of a store, as one that writes to it has.
class LockingProcess {
 public:
  explicit LockingProcess(const std::string& lock_path) {
    int locked[2] = {};
    EXPECT_EQ(pipe(locked), 0);
    child_ = fork();
    if (child_ == 0) {
      struct flock lock = {};
      lock.l_type = F_WRLCK;
      lock.l_whence = SEEK_SET;
      const int file = open(lock_path.c_str(), O_RDWR);
      const bool ok = file >= 0 && fcntl(file, F_SETLK, &lock) == 0;
      if (write(locked[1], ok ? "y" : "n", 1) != 1) _exit(1);
      pause();
      _exit(0);
    }
    char answer = 'n';
    EXPECT_EQ(read(locked[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    close(locked[0]);
    close(locked[1]);
  }
  ~LockingProcess() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

 private:
  pid_t child_ = -1;
};

TEST_F(StoreOpen, WriterInAnotherProcessKeepsWritersOutUntilItDies) {
  ASSERT_NO_FATAL_FAILURE(Create());
  {
    const LockingProcess process(path_ + "/LOCK");
    ExpectRefusal({}, {{"a", {}}},
                  StatusIs(Status::kBusy, HasSubstr("the store at " + path_)));
    EXPECT_THAT(Open({.read_only = true}, {}), IsOk());
  }
  EXPECT_THAT(Open({}, {}), IsOk());
}

// A child process has the store's memory and files, and none of its threads. It
// can open the store for reading.
TEST_F(StoreOpen, AForkedProcessWritesNothing) {
  ASSERT_THAT(Open({.transactions = true}, {{"a", {}}}), IsOk());
  ASSERT_THAT(store_->Put("r0", "a", "q", "v"), IsOk());
  std::unique_ptr<Transaction> transaction;
  ASSERT_THAT(store_->Begin(&transaction), IsOk());
  transaction->Put("of a transaction", "a", "q", "v");
  auto load = LoadInto(*store_);
  ASSERT_THAT(load->Add("loaded", "a", "q", "v"), IsOk());
  ASSERT_THAT(load->Add("loaded, too", "a", "q", "v"), IsOk());
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // the end of one that waits for a thread
    bool refused = store_->Put("of the child", "a", "q", "v").IsNotSupported();
    refused &= store_->Flush().IsNotSupported();
    refused &= store_->CreateFamily("b", {}).IsNotSupported();
    refused &= transaction->Commit().IsNotSupported();
    refused &= load->Add("of the child", "a", "q", "v").IsNotSupported();
    refused &= load->Finish().IsNotSupported();
    load.reset();
    store_.reset();
    std::optional<std::string> value;
    const bool reads =
        Store::Open({.read_only = true}, path_, {}, &store_).ok() &&
        store_->Get("r0", "a", "q", &value).ok() && value == "v";
    _exit(refused && reads ? 0 : 1);
  }
  int state = -1;
  waitpid(child, &state, 0);
  EXPECT_EQ(state, 0);
  for (int i = 1; i < 50; ++i) {
    ASSERT_THAT(store_->Put("r" + std::to_string(i), "a", "q", "v",
                            {.durability = Durability::kSync}),
                IsOk());
  }
  ASSERT_THAT(load->Finish(), IsOk());
  load.reset();
  transaction.reset();
  store_.reset();
  ASSERT_THAT(Open({}, {}), IsOk());
  EXPECT_EQ(CountsOf(*store_).rows, 52u);
}

TEST_F(StoreOpen, ReadOnlyReadsWritesNothingAndTouchesNothing) {
  ASSERT_NO_FATAL_FAILURE(Create());
  const auto before = Contents(path_);
  ASSERT_THAT(Open({.read_only = true}, {{"a", {}}}), IsOk());
  EXPECT_EQ(GetRowOf(*store_, "r").size(), 2u);
  EXPECT_EQ(ValueOf(*store_, "r", "b", "q"), "2");
  StoreStats stats = StoreStatsOf(*store_);
  EXPECT_EQ(stats.families["a"].estimated_cells, 1u);

  const auto is_refused = StatusIs(
      Status::kNotSupported, HasSubstr(path_ + " is open for reading only"));
  EXPECT_THAT(store_->Put("r", "a", "q", "v"), is_refused);
  EXPECT_THAT(store_->Delete("r", "a", "q"), is_refused);
  EXPECT_THAT(store_->DeleteRow("r"), is_refused);
  EXPECT_THAT(store_->Write(WriteBatch()), is_refused);
  EXPECT_THAT(store_->Flush(), is_refused);
  store_.reset();
  EXPECT_TRUE(Contents(path_) == before);
}

TEST_F(StoreOpen, ReadOnlyDoesNotCreateFamilies) {
  ASSERT_NO_FATAL_FAILURE(Create());
  ExpectRefusal({.read_only = true}, {{"c", {}}},
                StatusIs(Status::kInvalidArgument,
                         HasSubstr("family \"c\" is not in the store at " +
                                   path_ + "; it has: a, b")));
}

TEST_F(StoreOpen, ReadOnlyWorksBesideAWriter) {
  ASSERT_THAT(Open({}, {{"a", {}}}), IsOk());
  ASSERT_THAT(store_->Put("r", "a", "q", "logged"), IsOk());
  std::unique_ptr<Store> reader;
  ASSERT_THAT(Store::Open({.read_only = true}, path_, {}, &reader), IsOk());
  ASSERT_THAT(store_->Put("r", "a", "q", "later"), IsOk());
  EXPECT_EQ(ValueOf(*reader, "r", "a", "q"), "logged");
}

TEST_F(StoreOpen, TheEnvironmentOfAReaderOpensOtherStores) {
  ASSERT_NO_FATAL_FAILURE(Create());
  const std::string path = dir_.File("other");
  std::unique_ptr<Store> other =
      OpenOrFail({}, path, {{"a", {}}, {"b", {}}, {"c", {}}});
  for (int i = 0; i < 100; ++i) {
    ASSERT_THAT(other->Put(std::to_string(i), "c", "q", "v"), IsOk());
  }
  other.reset();
  ASSERT_THAT(Open({.read_only = true}, {}), IsOk());
  EXPECT_EQ(store_->GetEnv(), rocksdb::Env::Default());
  other = OpenOrFail({.env = store_->GetEnv()}, path, {});
  EXPECT_EQ(other->Families().size(), 3u);
  EXPECT_EQ(CountsOf(*other).cells, 100u);
}

// A reader finds all that was written before it opened, and a first part of the
// rest, whatever the writer deletes meanwhile.
TEST_F(StoreOpen, ReadOnlyHasNoHolesBesideAWriterThatFlushesAndCompacts) {
  const StoreOptions options = {.write_buffer_bytes = size_t{64} << 10};
  ASSERT_THAT(Open(options, {{"a", {}}}), IsOk());
  // Rows in no order, so that files overlap and are merged.
  const auto row_of = [](int i) {
    return std::to_string(i * 7919 % 1'000'003);
  };
  const std::string filling(500, 'v');
  std::atomic<int> written = 0;
  std::atomic<int> flushes_left = 0;
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    while (!stop) {
      if (flushes_left == 0) {
        std::this_thread::yield();
        continue;
      }
      for (int i = 0; i < 16; ++i) {
        const int number = written;
        EXPECT_THAT(store_->Put(row_of(number), "a", "q",
                                std::to_string(number) + filling),
                    IsOk());
        written = number + 1;
      }
      EXPECT_THAT(store_->Flush(), IsOk());
      --flushes_left;
    }
  });
  int beside_writes = 0;
  for (int i = 0; i < 30; ++i) {
    const int before = written;
    flushes_left = 6;  // each of which may spoil one try to open
    std::unique_ptr<Store> reader;
    const Status s = Store::Open({.read_only = true}, path_, {}, &reader);
    EXPECT_THAT(s, IsOk());
    if (!s.ok()) continue;
    beside_writes += before > 0 && written > before ? 1 : 0;
    std::set<int> found;
    for (const Row& row : RowsOf(*reader)) {
      found.insert(std::stoi(row.cells.at(0).value));
    }
    EXPECT_GE(found.size(), static_cast<size_t>(before));
    if (found.empty()) continue;
    EXPECT_EQ(found.size(), static_cast<size_t>(*found.rbegin()) + 1);
  }
  stop = true;
  writer.join();
  EXPECT_GT(beside_writes, 0);
}

class CountingEnv final : public rocksdb::EnvWrapper {
 public:
  CountingEnv() : EnvWrapper(Env::Default()) {
    file_system_ = target()->GetFileSystem();
    system_clock_ = target()->GetSystemClock();
  }
  const char* Name() const override { return "CountingEnv"; }
  void Schedule(void (*function)(void*), void* argument, Priority priority,
                void* tag, void (*unschedule)(void*)) override {
    ++jobs;
    EnvWrapper::Schedule(function, argument, priority, tag, unschedule);
  }
  std::atomic<int> jobs = 0;
};

// Each opening makes a file of the row that is in the log.
TEST_F(StoreOpen, ManyShortOnesLeaveFewFiles) {
  constexpr int kOpenings = 60;
  const std::string path = dir_.File("short");
  for (int i = 0; i < kOpenings; ++i) {
    const auto store = OpenOrFail({}, path, {{"f", {}}});
    const std::string row = std::to_string(1000 + i);
    ASSERT_THAT(store->Put(row, "f", "q", "v" + row), IsOk());
  }
  const auto store = OpenOrFail({}, path, {});
  EXPECT_LT(FilesWithEnd(path, ".sst").size(), 45u);
  int info_logs = 0;
  for (const auto& [name, bytes] : Contents(path)) {
    info_logs += name.starts_with("LOG") ? 1 : 0;
  }
  EXPECT_EQ(info_logs, 4);
  for (int i = 0; i < kOpenings; ++i) {
    const std::string row = std::to_string(1000 + i);
    EXPECT_EQ(ValueOf(*store, row, "f", "q"), "v" + row);
  }
}

// RocksDB writes all column families to each file of options, and reads it
// again.
TEST_F(StoreOpen, ManyFamiliesAreCreatedAtOnce) {
  const auto files = std::make_shared<CallingFileSystem>();
  const auto env = rocksdb::NewCompositeEnv(files);
  std::atomic<int> of_options = 0;
  files->On(FileCall::kRename, [&of_options](const std::string& path) {
    if (path.find("/OPTIONS-") != path.npos) ++of_options;
  });
  std::vector<FamilyDescriptor> families;
  for (int i = 0; i < 30; ++i) families.push_back({"f" + std::to_string(i)});
  ASSERT_THAT(Open({.env = env.get()}, families), IsOk());
  // One is RocksDB's own, of the new database.
  EXPECT_EQ(of_options, 2);
  EXPECT_EQ(store_->Families().size(), families.size());
  store_.reset();
}

TEST_F(StoreOpen, UsesWhatItIsGiven) {
  CountingEnv env;
  std::atomic<int> lines = 0;
  const auto log = std::make_shared<CallingLogger>(
      [&lines](std::string_view /*line*/) { ++lines; });
  StoreOptions options{.block_cache = rocksdb::NewLRUCache(8 << 20),
                       .background_jobs = 3,
                       .max_open_files = 64,
                       .env = &env,
                       .rate_limiter = std::shared_ptr<rocksdb::RateLimiter>(
                           rocksdb::NewGenericRateLimiter(1 << 30)),
                       .info_log = log};
  for (const char* name : {"one", "other"}) {
    path_ = dir_.File(name);
    ASSERT_THAT(Open(options, {{"a", {}}}), IsOk());
    EXPECT_GT(lines.exchange(0), 100) << name;
    EXPECT_FALSE(std::filesystem::exists(path_ + "/LOG"));
    const size_t used = options.block_cache->GetUsage();
    const int64_t written = options.rate_limiter->GetTotalBytesThrough();
    const int jobs = env.jobs;
    ASSERT_THAT(store_->Put("r", "a", "q", std::string(100'000, 'v')), IsOk());
    ASSERT_THAT(store_->Flush(), IsOk());
    ASSERT_TRUE(ValueOf(*store_, "r", "a", "q"));
    EXPECT_GT(options.block_cache->GetUsage(), used + 100'000) << name;
    EXPECT_GT(options.rate_limiter->GetTotalBytesThrough(), written);
    EXPECT_GT(env.jobs, jobs);
    EXPECT_EQ(store_->Options().block_cache_bytes, size_t{8} << 20);
    // The options of an open store open it again, whatever became of its cache.
    options.block_cache->SetCapacity(16 << 20);
    ASSERT_THAT(Open(StoreOptions(store_->Options()), {}), IsOk());
    EXPECT_EQ(store_->Options().block_cache_bytes, size_t{16} << 20);
    options.block_cache->SetCapacity(8 << 20);
  }
  std::string written_options;
  for (const auto& [name, bytes] : Contents(path_)) {
    if (name.starts_with("OPTIONS-")) written_options = bytes;
  }
  EXPECT_THAT(written_options, AllOf(HasSubstr("max_background_jobs=3\n"),
                                     HasSubstr("max_open_files=64\n")));
  // The store has few tables.
  EXPECT_THAT(written_options, HasSubstr("max_file_opening_threads=1\n"));
  options.read_only = true;
  EXPECT_THAT(Open(options, {}), IsOk());
  store_.reset();  // before its environment
}

// Each family has its part of the log, listed or not, new or not.
TEST_F(StoreOpen, LimitOfTheLogCountsEachFamilyOnce) {
  const StoreOptions options{.write_buffer_bytes = 1 << 20};
  const auto expect_limit = [&](const std::vector<FamilyDescriptor>& families,
                                const std::string& bytes) {
    ASSERT_THAT(Open(options, families), IsOk());
    std::string written_options;
    for (const auto& [name, contents] : Contents(path_)) {
      if (name.starts_with("OPTIONS-")) written_options = contents;
    }
    EXPECT_THAT(written_options,
                HasSubstr("max_total_wal_size=" + bytes + "\n"));
  };
  expect_limit({{"a", {}}, {"b", {}}}, "6291456");
  expect_limit({{"a", {}}, {"b", {}}}, "6291456");
  expect_limit({}, "6291456");
  expect_limit({{"b", {}}, {"c", {}}}, "8388608");
}

// A row delete of tomorrow, which was removed, takes no put of today.
TEST_F(StoreOpen, CompactionsBeforeItGoByTheStoresRecords) {
  StoreOptions options{.auto_compaction = false};
  FamilyOptions family{.timestamps = Timestamps::kClient, .max_versions = 3};
  ASSERT_THAT(Open(options, {{"a", family}}), IsOk());
  const uint64_t tomorrow_ms = SystemWallClock() + 24 * 3600 * 1000;
  ASSERT_THAT(store_->DeleteFamily("r", "a", {.timestamp_ms = tomorrow_ms}),
              IsOk());
  ASSERT_THAT(store_->Flush(), IsOk());
  family.timestamps = Timestamps::kStore;
  ASSERT_THAT(store_->AlterFamily("a", family), IsOk());
  ASSERT_THAT(store_->DeleteRow("r"), IsOk());
  ASSERT_THAT(store_->Flush(), IsOk());
  ASSERT_THAT(store_->Put("r", "a", "q", "today"), IsOk());
  ASSERT_THAT(store_->Flush(), IsOk());
  // As many files as RocksDB begins to compact at once.
  for (const char* row : {"s", "t", "u"}) {
    ASSERT_THAT(store_->Put(row, "a", "q", "any"), IsOk());
    ASSERT_THAT(store_->Flush(), IsOk());
  }
  // Keeps DB::Open from returning until a compaction has ended.
  std::atomic<bool> compacted = false;
  std::atomic<bool> waited = false;
  options = {.info_log = std::make_shared<CallingLogger>(
                 [&compacted, &waited](std::string_view line) {
                   if (line.find("\"compaction_finished\"") != line.npos) {
                     compacted = true;
                   } else if (line.starts_with("DB pointer ")) {
                     while (!compacted) std::this_thread::yield();
                     waited = true;
                   }
                 })};
  ASSERT_THAT(Open(options, {}), IsOk());
  ASSERT_TRUE(waited);
  EXPECT_EQ(ValueOf(*store_, "r", "a", "q"), "today");
}

TEST_F(StoreOpen, ResourcesThatDoNotGoTogetherAreRefusedByName) {
  const std::pair<StoreOptions, const char*> cases[] = {
      {{.block_cache_bytes = std::numeric_limits<size_t>::max()},
       "block_cache_bytes is 18446744073709551615, expected at most "
       "9223372036854775807"},
      {{.background_jobs = 0}, "background_jobs is 0, expected 1 to 1024"},
      {{.background_jobs = 1025}, "background_jobs is 1025"},
      {{.max_open_files = 31}, "max_open_files is 31, expected 32 to"},
      {{.max_open_files = 1u << 31}, "max_open_files is 2147483648"},
      {{.block_cache = rocksdb::NewLRUCache(8 << 20, /*num_shard_bits=*/-1,
                                            /*strict_capacity_limit=*/true)},
       "block_cache has a strict capacity limit"},
  };
  for (const auto& [options, problem] : cases) {
    ExpectRefusal(options, {{"a", {}}},
                  StatusIs(Status::kInvalidArgument, HasSubstr(problem)));
  }
  // The limit is that of a cache of the store's own.
  const StoreOptions larger{.block_cache =
                                rocksdb::NewLRUCache(size_t{1} << 63)};
  ASSERT_THAT(Open(larger, {{"a", {}}}), IsOk());
  EXPECT_THAT(Open(StoreOptions(store_->Options()), {}), IsOk());
}

}  // namespace
}  // namespace rowbloom::test

// Stores of every format and option, and backups of one. The text beside each
// has the lines of store_contents.h.
#include <atomic>
#include <cstdio>
#include <functional>
#include <map>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rowbloom/open_db.h"
#include "storage/store/open_store.h"
#include "tests/golden/store_contents.h"
#include "tests/golden/write_golden.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::golden {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

// Larger than any age, and no value that means "for ever".
constexpr uint64_t kFarTtlMs = uint64_t{1} << 62;

using Families = std::vector<FamilyDescriptor>;

// A machine of that name.
class NamedEnv final : public rocksdb::EnvWrapper {
 public:
  using EnvWrapper::EnvWrapper;

  rocksdb::Status GetHostName(char* name, uint64_t bytes) override {
    std::snprintf(name, bytes, "%s", kHostName);
    return rocksdb::Status::OK();
  }
};

// A store whose clock is ahead by some milliseconds at each call.
class Session {
 public:
  Session(const fs::path& path, StoreOptions options, const Families& families,
          rocksdb::Env* env = rocksdb::Env::Default())
      : env_(env) {
    options.auto_compaction = false;
    options.env = &env_;
    Check(OpenStore(
        options, path.string(), families, [this] { return now_ms_.load(); },
        &store_));
  }
  Store* operator->() {
    now_ms_ += 5;
    return store_.get();
  }

 private:
  NamedEnv env_;
  std::atomic<uint64_t> now_ms_{kWritingMs};
  std::unique_ptr<Store> store_;
};

// Values of no bytes, of few, and of any.
std::string Value(size_t row, const std::string& what) {
  if (row % 9 == 1) return "";
  if (row % 9 == 2) return std::string(50, '\0') + what;
  if (row % 9 == 3) return test::Random(row).Bytes(16);
  return what + " " + std::to_string(row);
}

const Lines kQualifiers = {"", "\0\xff"s, "mail", std::string(40, 'q')};

// Each kind of filter, with and without compression.
Families LatestFamilies() {
  Families families = {{"NONE", {.bloom_type = BloomType::kNone}}};
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol,
                               BloomType::kRowPrefixFixedLength}) {
    for (const FilterKind kind : {FilterKind::kBloom, FilterKind::kRibbon}) {
      FamilyOptions options{.bloom_type = type, .filter_kind = kind};
      options.false_positive_rate = kind == FilterKind::kBloom ? 0.01 : 0.000'1;
      options.compression =
          families.size() % 3 == 0 ? Compression::kNone : Compression::kLz4;
      options.block_size_bytes = families.size() % 2 == 0 ? 1024 : 16 * 1024;
      if (type == BloomType::kRowPrefixFixedLength) {
        options.row_prefix_length = kRowPrefixBytes;
      }
      families.push_back(
          {std::string(ToString(type)) + "-" + std::string(ToString(kind)),
           options});
    }
  }
  return families;
}

// Files in the last level and in level 0, and the rest in the log.
void WriteLatest(Session& store, const Families& families, const Lines& rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    for (const FamilyDescriptor& family : families) {
      for (const std::string& qualifier : kQualifiers) {
        Check(store->Put(rows[i], family.name, qualifier, Value(i, "first")));
      }
    }
  }
  Check(store->Compact());
  for (size_t i = 0; i < rows.size(); ++i) {
    WriteBatch batch;
    if (i % 10 == 3) batch.DeleteRow(rows[i]);
    for (const FamilyDescriptor& family : families) {
      if (i % 3 == 0) batch.Put(rows[i], family.name, "mail", Value(i, "next"));
      if (i % 5 == 1) batch.Delete(rows[i], family.name, "");
      if (i % 10 == 4) batch.DeleteFamily(rows[i], family.name);
    }
    Check(store->Write(batch));
  }
  Check(store->Flush());
  for (const FamilyDescriptor& family : families) {
    const std::string& name = family.name;
    Check(store->Put(rows[0], name, "log", "in the log"));
    Check(store->Increment(rows[1], name, "count", 41, nullptr));
    Check(store->Increment(rows[1], name, "count", -300, nullptr));
    Check(store->Append(rows[2], name, "mail", "appended", nullptr));
    bool applied = false;
    Check(store->CheckAndPut(rows[4], name, "new", std::nullopt, "checked",
                             &applied));
    if (!applied) throw std::runtime_error("CheckAndPut was not applied");
    Check(store->Delete(rows[5], name, "mail"));
    Check(store->DeleteFamily(rows[6], name));
  }
  Check(store->DeleteRow(rows[7]));
}

const Families kVersionedFamilies = {
    {"client", {.timestamps = Timestamps::kClient}},
    {"client5",
     {.filter_kind = FilterKind::kRibbon,
      .false_positive_rate = 0.000'1,
      .block_size_bytes = 1024,
      .timestamps = Timestamps::kClient,
      .max_versions = 5}},
    {"latest_ttl",
     {.bloom_type = BloomType::kRow,
      .block_size_bytes = 1024,
      .ttl_ms = kFarTtlMs}},
    {"outliving",
     {.bloom_type = BloomType::kRowPrefixFixedLength,
      .row_prefix_length = kRowPrefixBytes,
      .compression = Compression::kNone,
      .timestamps = Timestamps::kClient,
      .max_versions = 4,
      .min_versions = 2,
      .ttl_ms = kFarTtlMs}},
    {"store3", {.max_versions = 3}},
    {"store3_ttl",
     {.bloom_type = BloomType::kNone, .max_versions = 3, .ttl_ms = kFarTtlMs}},
};
const Lines kClientFamilies = {"client", "client5", "outliving"};
const Lines kStoreFamilies = {"latest_ttl", "store3", "store3_ttl"};

// A cell's versions come in three parts, of which only the last can be in the
// log: 2000 + i, 1000 + i and 3000 + i are their timestamps where the client
// gives them.
void WriteVersionsPart(Session& store, const Lines& rows, uint64_t first_ms) {
  const std::string what = "at " + std::to_string(first_ms);
  for (size_t i = 0; i < rows.size(); ++i) {
    for (const std::string& qualifier : {""s, "\0\xff"s, "mail"s}) {
      for (const std::string& family : kClientFamilies) {
        Check(store->Put(rows[i], family, qualifier, Value(i, what),
                         {.timestamp_ms = first_ms + i}));
      }
      for (const std::string& family : kStoreFamilies) {
        Check(store->Put(rows[i], family, qualifier, Value(i, what)));
      }
    }
  }
}

// Deletes of every type, below and above what the store has and will have.
void WriteVersionsDeletes(Session& store, const Lines& rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    for (const std::string& family : kClientFamilies) {
      switch (i % 8) {
        case 0:
          Check(store->Delete(rows[i], family, "mail",
                              {.timestamp_ms = 2000 + i}));
          break;
        case 1:
          Check(store->DeleteVersion(rows[i], family, "mail",
                                     {.timestamp_ms = 2000 + i}));
          break;
        case 2:
          Check(store->DeleteVersion(rows[i], family, "",
                                     {.timestamp_ms = 3000 + i}));
          break;
        case 3:
          Check(store->DeleteFamily(rows[i], family, {.timestamp_ms = 2500}));
          break;
        case 4:
          Check(store->Delete(rows[i], family, "", {.timestamp_ms = 5000}));
          break;
        default:
          break;
      }
    }
    for (const std::string& family : kStoreFamilies) {
      if (i % 8 == 5) Check(store->Delete(rows[i], family, "mail"));
      if (i % 8 == 6) Check(store->DeleteFamily(rows[i], family));
    }
  }
  Check(store->DeleteRow(rows[rows.size() / 2]));
}

// Writes odd versions: extreme timestamps, a long value, counters.
void WriteOddVersions(Session& store, const std::string& row) {
  for (const uint64_t timestamp_ms :
       {uint64_t{0}, uint64_t{1}, kMaxTimestampMs, kMaxTimestampMs - 1}) {
    Check(store->Put(row, "client5", "extremes", std::to_string(timestamp_ms),
                     {.timestamp_ms = timestamp_ms}));
  }
  Check(store->DeleteVersion(row, "client5", "extremes", {.timestamp_ms = 1}));
  // The example of storage/store/FORMAT.md.
  Check(store->DeleteVersion(row, "client5", "q", {.timestamp_ms = 800}));
  Check(store->Delete(row, "client5", "q", {.timestamp_ms = 300}));
  for (const uint64_t timestamp_ms : {400, 500, 200, 600}) {
    Check(store->Put(row, "client5", "q", std::to_string(timestamp_ms),
                     {.timestamp_ms = timestamp_ms}));
  }
  // A length of more than one byte.
  Check(store->Put(row, "client5", "long", std::string(200, 'v'),
                   {.timestamp_ms = 1}));
  // The store's clock gives the timestamp.
  Check(store->Put(row, "client5", "clock", "by the store's clock"));
  Check(store->Increment(row, "client5", "count", 7, nullptr));
  Check(store->Increment(row, "store3", "count", -1, nullptr));
  Check(store->Append(row, "store3", "count", "suffix", nullptr));
}

// Merge operands in two files of level 0 and in the log.
void WriteVersioned(Session& store, const Lines& rows) {
  WriteVersionsPart(store, rows, 2000);
  WriteOddVersions(store, rows[0]);
  Check(store->Flush());
  WriteVersionsDeletes(store, rows);
  WriteVersionsPart(store, Lines(rows.begin(), rows.begin() + 5), 1000);
  Check(store->Flush());
  WriteVersionsPart(store, rows, 3000);
}

// Packs a store that is closed, or, as a crash leaves it, open; reads back what
// was packed, and writes that down.
void KeepStore(const fs::path& path, const fs::path& folder,
               const std::string& name) {
  const test::TempDir dir;
  fs::copy(path, dir.path() / name, fs::copy_options::recursive);
  for (const auto& entry : fs::directory_iterator(dir.path() / name)) {
    const std::string file = entry.path().filename().string();
    if (file.starts_with("LOG") || file.starts_with("OPTIONS-") ||
        file == "LOCK") {
      fs::remove(entry.path());
    }
  }
  Pack(dir.path() / name, folder, name);

  const WallClock wall_clock = [] { return kReadingMs; };
  std::unique_ptr<Store> store;
  Check(OpenStore({.read_only = true}, (dir.path() / name).string(), {},
                  wall_clock, &store));
  const Lines cells = ScannedCells(store.get());
  store.reset();
  Check(OpenStore({}, (dir.path() / name).string(), {}, wall_clock, &store));
  if (ScannedCells(store.get()) != cells) {
    throw std::runtime_error(name + " changes when it is opened for writing");
  }
  Lines lines = {"layout " + store->Options().key_layout->ToString()};
  const Lines families = FamilyLines(*store);
  lines.insert(lines.end(), families.begin(), families.end());
  lines.insert(lines.end(), cells.begin(), cells.end());
  for (const auto& [family, options] : store->Families()) {
    const Lines deletes = IteratedCells(store.get(), family).deletes;
    lines.insert(lines.end(), deletes.begin(), deletes.end());
  }
  WriteLines(folder / (name + ".cells.txt"), lines);
}

void WriteLatestStore(const fs::path& folder, const KeyLayout& layout,
                      const std::string& name) {
  const test::TempDir dir;
  const fs::path path = dir.path() / "db";
  {
    Session store(path, {.key_layout = layout}, LatestFamilies());
    WriteLatest(store, LatestFamilies(), RowsFor(layout, 24));
  }
  KeepStore(path, folder, name);
}

void WriteVersionedStores(const fs::path& folder, const KeyLayout& layout,
                          const std::string& name) {
  const test::TempDir dir;
  const fs::path path = dir.path() / "db";
  {
    Session store(path, {.key_layout = layout}, kVersionedFamilies);
    WriteVersioned(store, RowsFor(layout, 16));
    KeepStore(path, folder, name + "-unmerged-open");
    Check(store->Checkpoint((dir.path() / "checkpoint").string()));
    Check(store->Compact());
  }
  KeepStore(path, folder, name + "-merged");
  // Files are the same ones in any layout.
  if (layout == KeyLayout::Escaped()) {
    KeepStore(dir.path() / "checkpoint", folder, name + "-checkpoint");
  }
}

void WriteStoreInTheLog(const fs::path& folder) {
  const test::TempDir dir;
  const fs::path path = dir.path() / "db";
  const Lines rows = RowsFor(KeyLayout::Escaped(), 16);
  {
    Session store(path, {}, kVersionedFamilies);
    WriteVersionsPart(store, rows, 2000);
    WriteVersionsDeletes(store, rows);
    WriteVersionsPart(store, rows, 1000);
    WriteOddVersions(store, rows[1]);
  }
  KeepStore(path, folder, "log_alone");
}

// Adds sorted cells, and where `deletes` a delete before the cells of some.
void Load(Session& store, const std::string& family, const Lines& rows,
          bool client, bool deletes) {
  std::unique_ptr<BulkLoad> load;
  Check(store->NewBulkLoad({.file_bytes = 2048}, &load));
  for (size_t i = 0; i < rows.size(); ++i) {
    for (const std::string& qualifier : {""s, "\0\xff"s, "mail"s}) {
      if (!client) {
        Check(load->Add(rows[i], family, qualifier, Value(i, "loaded")));
        continue;
      }
      for (const uint64_t timestamp_ms : {4000, 3000, 2000}) {
        if (deletes && i % 4 == 1 && timestamp_ms == 3000 && qualifier == "") {
          Check(load->Add({ChangeType::kDeleteFamily,
                           rows[i],
                           family,
                           "",
                           {},
                           timestamp_ms}));
        }
        if (deletes && i % 4 == 2 && timestamp_ms == 3000) {
          Check(load->Add({ChangeType::kDelete,
                           rows[i],
                           family,
                           qualifier,
                           {},
                           timestamp_ms}));
        }
        if (deletes && i % 4 == 3 && timestamp_ms == 3000) {
          Check(load->Add({ChangeType::kDeleteVersion,
                           rows[i],
                           family,
                           qualifier,
                           {},
                           timestamp_ms}));
        }
        Check(load->Add(rows[i], family, qualifier, Value(i, "loaded"),
                        timestamp_ms));
      }
    }
  }
  Check(load->Finish());
}

// Loads over and under what was written one by one.
void WriteLoadedStore(const fs::path& folder) {
  const test::TempDir dir;
  const fs::path path = dir.path() / "db";
  const Lines rows = RowsFor(KeyLayout::Escaped(), 24);
  {
    Session store(path, {}, kVersionedFamilies);
    const Lines some(rows.begin() + 6, rows.begin() + 12);
    WriteVersionsPart(store, some, 1000);
    Check(store->Flush());
    for (const FamilyDescriptor& family : kVersionedFamilies) {
      const bool client = family.options.timestamps == Timestamps::kClient;
      Load(store, family.name, rows, client, client);
    }
    WriteVersionsPart(store, some, 3500);
  }
  KeepStore(path, folder, "loaded");
}

// Families that came, went and changed, with files from before and after.
void WriteAlteredStore(const fs::path& folder) {
  const test::TempDir dir;
  const fs::path path = dir.path() / "db";
  const Lines rows = RowsFor(KeyLayout::Escaped(), 24);
  {
    const FamilyOptions client{.bloom_type = BloomType::kRow,
                               .timestamps = Timestamps::kClient,
                               .max_versions = 2};
    Session store(path, {},
                  {{"dropped", {}},
                   {"again", {}},
                   {"filter", {.bloom_type = BloomType::kRow}},
                   {"versions", client}});
    const auto put_all = [&](const std::string& what, uint64_t timestamp_ms) {
      for (size_t i = 0; i < rows.size(); ++i) {
        for (const auto& [name, options] : store->Families()) {
          WriteOptions write;
          if (options.timestamps == Timestamps::kClient) {
            write.timestamp_ms = timestamp_ms;
          }
          Check(store->Put(rows[i], name, what, Value(i, what), write));
          Check(store->Put(rows[i], name, "all", Value(i, what), write));
        }
      }
      Check(store->Flush());
    };
    put_all("before", 1000);
    Check(store->DropFamily("dropped"));
    Check(store->DropFamily("again"));
    Check(store->CreateFamily("again", client));
    Check(store->CreateFamily("new", {.bloom_type = BloomType::kNone}));
    Check(store->AlterFamily("filter",
                             {.bloom_type = BloomType::kRowPrefixFixedLength,
                              .filter_kind = FilterKind::kRibbon,
                              .false_positive_rate = 0.000'1,
                              .row_prefix_length = kRowPrefixBytes,
                              .compression = Compression::kNone,
                              .block_size_bytes = 2048,
                              .ttl_ms = kFarTtlMs}));
    FamilyOptions more_versions = client;
    more_versions.bloom_type = BloomType::kRowCol;
    more_versions.max_versions = 4;
    more_versions.min_versions = 3;
    more_versions.ttl_ms = kFarTtlMs;
    Check(store->AlterFamily("versions", more_versions));
    for (const uint64_t timestamp_ms : {2000, 3000, 4000}) {
      put_all("after", timestamp_ms);
    }
  }
  KeepStore(path, folder, "altered");
}

const Families kStoredFamilies = {
    {"blobs", {.min_blob_bytes = 32}},
    {"bottom",
     {.block_size_bytes = 1024,
      .max_versions = 3,
      .bottom_compression = Compression::kZstd,
      .dictionary_bytes = 1024}},
    {"client_blobs",
     {.compression = Compression::kZstd,
      .timestamps = Timestamps::kClient,
      .max_versions = 3,
      .min_blob_bytes = 64}},
    {"zstd", {.compression = Compression::kZstd, .dictionary_bytes = 4096}},
};

// Values in blob files and in blocks, of each compression, with dictionaries;
// files in the last level and in level 0, the rest in the log. Most blobs of
// the oldest files are garbage.
void WriteStoredStore(const fs::path& folder) {
  const test::TempDir dir;
  const fs::path path = dir.path() / "db";
  const Lines rows = RowsFor(KeyLayout::Escaped(), 60);
  {
    Session store(path, {}, kStoredFamilies);
    const auto put_all = [&](const std::string& what, size_t every,
                             uint64_t timestamp_ms) {
      for (size_t i = 0; i < rows.size(); i += every) {
        for (const FamilyDescriptor& family : kStoredFamilies) {
          WriteOptions write;
          if (family.options.timestamps == Timestamps::kClient) {
            write.timestamp_ms = timestamp_ms;
          }
          for (const std::string& qualifier : kQualifiers) {
            const std::string value = Value(i, what) + qualifier;
            Check(store->Put(rows[i], family.name, qualifier,
                             i % 4 == 0 ? Joined(Lines(20, value)) : value,
                             write));
          }
        }
      }
    };
    put_all("first", 1, 1000);
    Check(store->Compact());
    put_all("second", 2, 2000);
    Check(store->DeleteFamily(rows[4], "blobs"));
    Check(store->Delete(rows[8], "client_blobs", "mail"));
    Check(store->DeleteRow(rows[12]));
    Check(store->Compact());
    put_all("third", 3, 3000);
    Check(store->Flush());
    put_all("log", 5, 4000);
  }
  KeepStore(path, folder, "stored");
}

// Puts with a TTL of their own, of which some have run out, over and under
// others; files in the last level and in level 0, the rest in the log.
void WriteTtlStore(const fs::path& folder) {
  const test::TempDir dir;
  const fs::path path = dir.path() / "db";
  const Lines rows = RowsFor(KeyLayout::Escaped(), 24);
  {
    const Families families = {
        {"client", {.timestamps = Timestamps::kClient, .max_versions = 2}},
        {"latest", {}},
        {"store3", {.max_versions = 3}}};
    Session store(path, {}, families);
    const auto put_all = [&](const std::string& what, uint64_t timestamp_ms) {
      for (size_t i = 0; i < rows.size(); ++i) {
        for (const auto& [name, options] : families) {
          WriteOptions write;
          if (i % 3 == 1) write.ttl_ms = kFarTtlMs + i;
          if (i % 3 == 2) write.ttl_ms = i % 2;
          if (options.timestamps == Timestamps::kClient) {
            write.timestamp_ms = timestamp_ms;
          }
          Check(store->Put(rows[(i + timestamp_ms / 1000) % rows.size()], name,
                           i % 2 == 0 ? "" : "mail", Value(i, what), write));
        }
      }
    };
    put_all("first", 1000);
    Check(store->Compact());
    put_all("second", 3000);
    Check(store->Flush());
    put_all("log", 2000);
  }
  KeepStore(path, folder, "ttls");
}

// Puts of the application later than the store's time, in a family that takes
// the store's timestamps since; some were deleted after that.
void WriteLaterStore(const fs::path& folder) {
  const test::TempDir dir;
  const fs::path path = dir.path() / "db";
  const Lines rows = RowsFor(KeyLayout::Escaped(), 12);
  {
    FamilyOptions options = {.timestamps = Timestamps::kClient,
                             .max_versions = 2};
    Session store(path, {}, {{"altered", options}});
    for (size_t i = 0; i < rows.size(); ++i) {
      for (const uint64_t timestamp_ms : {uint64_t{1000}, kFarTtlMs + i}) {
        Check(store->Put(rows[i], "altered", i % 2 == 0 ? "" : "mail",
                         Value(i, "later"), {.timestamp_ms = timestamp_ms}));
      }
    }
    Check(store->Compact());
    options.timestamps = Timestamps::kStore;
    Check(store->AlterFamily("altered", options));
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i % 3 == 1) Check(store->Delete(rows[i], "altered", "mail"));
      if (i % 3 == 2) Check(store->DeleteFamily(rows[i], "altered"));
      if (i % 4 == 3) Check(store->Put(rows[i], "altered", "new", "new"));
    }
  }
  KeepStore(path, folder, "later");
}

// Versions in files that are not merged, from when a family kept three of each
// cell. Some of the newest were deleted before it kept fewer.
void WriteFewerStore(const fs::path& folder) {
  const test::TempDir dir;
  const fs::path path = dir.path() / "db";
  const Lines rows = RowsFor(KeyLayout::Escaped(), 12);
  {
    FamilyOptions options = {.timestamps = Timestamps::kClient,
                             .max_versions = 3};
    Session store(path, {}, {{"fewer", options}});
    for (const uint64_t timestamp_ms : {1000, 2000, 3000}) {
      for (size_t i = 0; i < rows.size(); ++i) {
        Check(store->Put(rows[i], "fewer", "q", Value(i, "of three"),
                         {.timestamp_ms = timestamp_ms}));
      }
      if (timestamp_ms == 2000) Check(store->Flush());
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i % 3 == 0) continue;
      Check(store->DeleteVersion(rows[i], "fewer", "q",
                                 {.timestamp_ms = 1000 + 1000 * (i % 3)}));
    }
    options.max_versions = 1;
    Check(store->AlterFamily("fewer", options));
  }
  KeepStore(path, folder, "fewer");
}

bool HasRecord(const fs::path& path, const std::string& record) {
  std::unique_ptr<rocksdb::DB> db;
  if (!rocksdb::DB::OpenForReadOnly({}, path.string(), Into(&db)).ok()) {
    return false;
  }
  std::string value;
  return db->Get({}, record, &value).ok();
}

bool HasColumnFamily(const fs::path& path, const std::string& name) {
  std::vector<std::string> names;
  return rocksdb::DB::ListColumnFamilies({}, path.string(), &names).ok() &&
         std::find(names.begin(), names.end(), name) != names.end();
}

// Keeps a store whose disk failed in the middle of `work`, after as many calls
// as leave the state wanted.
void KeepCutStore(const fs::path& folder, const std::string& name,
                  const std::function<void(Session& store)>& work,
                  const std::function<bool(const fs::path& path)>& is_wanted) {
  for (uint64_t calls = 0; calls < 1000; ++calls) {
    const test::TempDir dir;
    const fs::path path = dir.path() / "db";
    {
      test::FaultPlan plan;
      const auto env = test::NewFaultEnv(&plan);
      Session store(path, {}, {{"kept", {}}, {"dropped", {}}}, env.get());
      for (const std::string& row : RowsFor(KeyLayout::Escaped(), 16)) {
        for (const char* family : {"dropped", "kept"}) {
          Check(store->Put(row, family, "q", "before"));
        }
      }
      plan.CutPowerAt(calls + 1);
      work(store);
    }
    if (is_wanted(path)) return KeepStore(path, folder, name);
  }
  throw std::runtime_error(name + ": no cut leaves it");
}

void WriteCutStores(const fs::path& folder) {
  const auto drop = [](Session& store) {
    store->DropFamily("dropped").PermitUncheckedError();
  };
  KeepCutStore(folder, "cut-before_drop", drop, [](const fs::path& path) {
    return HasRecord(path, "dropped/dropped") &&
           HasColumnFamily(path, "dropped");
  });
  KeepCutStore(folder, "cut-after_drop", drop, [](const fs::path& path) {
    return HasRecord(path, "dropped/dropped") &&
           !HasColumnFamily(path, "dropped");
  });
  KeepCutStore(
      folder, "cut-before_create",
      [](Session& store) {
        store->CreateFamily("new", {.max_versions = 3}).PermitUncheckedError();
      },
      [](const fs::path& path) {
        return HasRecord(path, "family/new") && !HasColumnFamily(path, "new");
      });
  KeepCutStore(
      folder, "cut-load",
      [](Session& store) {
        std::unique_ptr<BulkLoad> load;
        rocksdb::Status s = store->NewBulkLoad({.file_bytes = 1}, &load);
        for (const char* row : {"a", "b"}) {
          if (s.ok()) s = load->Add(row, "kept", "q", "loaded");
        }
        s.PermitUncheckedError();
      },
      [](const fs::path& path) {
        for (const auto& entry : fs::directory_iterator(path)) {
          if (entry.is_directory() && !fs::is_empty(entry.path())) return true;
        }
        return false;
      });
}

}  // namespace

void WriteStores(const fs::path& folder) {
  for (const KeyLayout& layout :
       {KeyLayout::Escaped(), KeyLayout::FixedRow(8)}) {
    const std::string name =
        layout == KeyLayout::Escaped() ? "escaped" : "fixed_8";
    WriteLatestStore(folder, layout, name + "-latest");
    WriteVersionedStores(folder, layout, name);
  }
  WriteStoreInTheLog(folder);
  WriteLoadedStore(folder);
  WriteAlteredStore(folder);
  WriteStoredStore(folder);
  WriteTtlStore(folder);
  WriteLaterStore(folder);
  WriteFewerStore(folder);
  WriteCutStores(folder);
}

// Each backup's contents are beside the directory, with its id in their name.
void WriteBackups(const fs::path& folder) {
  const test::TempDir dir;
  const std::string path = dir.File("db");
  const std::string backups = dir.File("backups");
  const Lines rows = RowsFor(KeyLayout::Escaped(), 16);
  {
    Session store(path, {}, kVersionedFamilies);
    WriteVersionsPart(store, rows, 2000);
    Check(store->Backup(backups));
    WriteVersionsDeletes(store, rows);
    WriteVersionsPart(store, rows, 3000);
    Check(store->Backup(backups));
  }
  Pack(backups, folder, "backups");
  for (const uint32_t id : {1u, 2u}) {
    const std::string restored = dir.File("restored-" + std::to_string(id));
    Check(RestoreBackup(backups, id, restored));
    // The contents alone: the backup is packed above.
    KeepStore(restored, dir.path(), "backups-" + std::to_string(id));
    const std::string text = "backups-" + std::to_string(id) + ".cells.txt";
    fs::copy(dir.path() / text, folder / text);
  }
}

}  // namespace rowbloom::golden

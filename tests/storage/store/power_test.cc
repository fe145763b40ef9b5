// A write that the store has acknowledged survives a cut of the power, and what
// was cut short is whole, absent or refused by name. Each of the store's own
// syncs is needed for that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "tests/storage/store/test_store.h"
#include "tests/support/power_cuts.h"

namespace rowbloom::test::power_test {
namespace {

using rocksdb::Env;
using rocksdb::Status;

const std::vector<FamilyDescriptor> kFamilies = {
    {"a", {.min_blob_bytes = 1}},
    {"b", {.max_versions = 2}},
    {"v", {.timestamps = Timestamps::kClient, .max_versions = 2}}};
constexpr uint64_t kHourMs = 3'600'000;

std::string StorePath(const std::string& directory) {
  return directory + "/db";
}

Status Open(Env* env, const std::string& path, std::unique_ptr<Store>* store,
            uint64_t ahead_ms = 0) {
  return OpenStore(
      {.create_if_missing = false, .env = env}, path, {},
      [ahead_ms] { return SystemWallClock() + ahead_ms; }, store);
}

// A store with an "old" row, on the disk.
void Prepare(Env* env, const std::string& directory) {
  std::unique_ptr<Store> store;
  ASSERT_THAT(OpenStore({.env = env}, StorePath(directory), kFamilies,
                        SystemWallClock, &store),
              IsOk());
  for (const FamilyDescriptor& family : kFamilies) {
    ASSERT_THAT(store->Put("old", family.name, "q", "old"), IsOk());
  }
}

// Returns what is wrong with the value of a cell, or "" when it is as expected.
std::string Expect(Store* store, const std::string& row,
                   const std::string& family, const std::string& expected) {
  std::optional<std::string> value;
  const Status s = store->Get(row, family, "q", &value);
  if (s.ok() && value == expected) return {};
  return row + " in " + family + " is " +
         (s.ok() ? value.value_or("absent") : s.ToString()) + ", expected " +
         expected;
}

// A scenario with a store that is open, by a clock that is ahead. `act` returns
// its status; `check` gets the store as it is opened again.
PowerScenario WithStore(std::function<Status(Store*)> act,
                        std::function<std::string(Store*, bool)> check,
                        uint64_t ahead_ms = 0) {
  return {
      .prepare = Prepare,
      .act =
          [act, ahead_ms](Env* env, const std::string& directory,
                          const std::function<void()>& begin) {
            std::unique_ptr<Store> store;
            if (!Open(env, StorePath(directory), &store, ahead_ms).ok()) {
              return false;
            }
            begin();
            return act(store.get()).ok();
          },
      .check =
          [check](Env* env, const std::string& directory, bool acknowledged) {
            std::unique_ptr<Store> store;
            const Status s = Open(env, StorePath(directory), &store);
            if (!s.ok()) return s.ToString();
            std::string wrong = Expect(store.get(), "old", "a", "old");
            if (wrong.empty()) wrong = check(store.get(), acknowledged);
            if (!wrong.empty()) return wrong;
            // It goes on.
            const Status put = store->Put("new", "a", "q", "v",
                                          {.durability = Durability::kSync});
            return put.ok() ? std::string() : put.ToString();
          }};
}

PowerScenario Creation() {
  return {.act =
              [](Env* env, const std::string& directory,
                 const std::function<void()>& begin) {
                begin();
                std::unique_ptr<Store> store;
                return OpenStore({.env = env}, StorePath(directory), kFamilies,
                                 SystemWallClock, &store)
                    .ok();
              },
          .check =
              [](Env* env, const std::string& directory, bool acknowledged) {
                std::unique_ptr<Store> store;
                const Status s = OpenStore(
                    {.create_if_missing = !acknowledged, .env = env},
                    StorePath(directory),
                    acknowledged ? std::vector<FamilyDescriptor>() : kFamilies,
                    SystemWallClock, &store);
                if (!s.ok()) return s.ToString();
                if (store->Families().size() == kFamilies.size()) {
                  return std::string();
                }
                return std::string("a family is missing");
              }};
}

PowerScenario SyncedPut() {
  return WithStore(
      [](Store* store) {
        Status s = store->Put("async", "b", "q", "v");
        if (!s.ok()) return s;
        return store->Put("sync", "a", "q", "v",
                          {.durability = Durability::kSync});
      },
      [](Store* store, bool acknowledged) {
        std::string wrong = Expect(store, "async", "b", "v");
        if (wrong.empty()) wrong = Expect(store, "sync", "a", "v");
        return acknowledged ? wrong : "";
      });
}

// Keeps the one thread of RocksDB's that flushes from doing so.
class NoFlushes {
 public:
  explicit NoFlushes(Env* env) {
    env->Schedule([](void* its) { static_cast<NoFlushes*>(its)->Hold(); }, this,
                  Env::HIGH);
    began_.get_future().wait();
  }
  ~NoFlushes() {
    may_end_.set_value();
    ended_.get_future().wait();
  }
  NoFlushes(const NoFlushes&) = delete;
  NoFlushes& operator=(const NoFlushes&) = delete;

 private:
  void Hold() {
    began_.set_value();
    may_end_.get_future().wait();
    ended_.set_value();
  }

  std::promise<void> began_;
  std::promise<void> may_end_;
  std::promise<void> ended_;
};

// Writes one after the other, the first of which fill a memtable and thus a
// log.
PowerScenario Order() {
  constexpr int kWrites = 12;
  PowerScenario scenario =
      WithStore({}, [](Store* store, bool /*acknowledged*/) -> std::string {
        bool is_there = true;
        for (int i = 0; i < kWrites; ++i) {
          std::optional<std::string> value;
          const bool was_there = is_there;
          const Status s = store->Get(std::to_string(i), "a", "q", &value);
          if (!s.ok()) return s.ToString();
          is_there = value.has_value();
          if (is_there && !was_there)
            return "a write is there without the one "
                   "before it";
        }
        return {};
      });
  scenario.act = [](Env* env, const std::string& directory,
                    const std::function<void()>& begin) {
    std::unique_ptr<Store> store;
    Status s = OpenStore({.write_buffer_bytes = size_t{64} << 10, .env = env},
                         StorePath(directory), {}, SystemWallClock, &store);
    const NoFlushes no_flushes(env);
    begin();
    for (int i = 0; i < kWrites && s.ok(); ++i) {
      s = store->Put(std::to_string(i), "a", "q", std::string(8000, 'v'));
    }
    return s.ok();
  };
  return scenario;
}

PowerScenario FamilyCreation() {
  return WithStore(
      [](Store* store) { return store->CreateFamily("c", {}); },
      [](Store* store, bool acknowledged) {
        const bool is_there = store->Families().contains("c");
        return acknowledged && !is_there ? std::string("c is missing") : "";
      });
}

PowerScenario FamilyDrop() {
  return WithStore([](Store* store) { return store->DropFamily("b"); },
                   [](Store* store, bool acknowledged) -> std::string {
                     if (!store->Families().contains("b")) return {};
                     if (acknowledged) return "b is still there";
                     return Expect(store, "old", "b", "old");
                   });
}

PowerScenario FamilyTruncation() {
  return WithStore([](Store* store) { return store->TruncateFamily("b"); },
                   [](Store* store, bool acknowledged) -> std::string {
                     if (!store->Families().contains("b")) return "b is gone";
                     std::optional<std::string> value;
                     const Status s = store->Get("old", "b", "q", &value);
                     if (s.ok() && !value) return {};
                     if (acknowledged) return "b has cells";
                     return Expect(store, "old", "b", "old");
                   });
}

PowerScenario FamilyAlteration() {
  return WithStore(
      [](Store* store) { return store->AlterFamily("a", {.ttl_ms = kHourMs}); },
      [](Store* store, bool acknowledged) {
        const bool is_altered = store->Families().at("a").ttl_ms == kHourMs;
        return acknowledged && !is_altered ? std::string("not altered") : "";
      });
}

// Loads with a clock that was an hour ahead.
PowerScenario Load() {
  return WithStore(
      [](Store* store) {
        std::unique_ptr<BulkLoad> load;
        Status s = store->NewBulkLoad({}, &load);
        if (s.ok()) s = load->Add("row", "b", "q", "loaded");
        return s.ok() ? load->Finish() : s;
      },
      [](Store* store, bool acknowledged) {
        std::string wrong = Expect(store, "row", "b", "loaded");
        if (!wrong.empty()) return acknowledged ? wrong : "";
        const Status s = store->Put("row", "b", "q", "put later");
        return s.ok() ? Expect(store, "row", "b", "put later") : s.ToString();
      },
      kHourMs);
}

// Loads the delete of a version, which then takes no place of another.
PowerScenario LoadOfARowsDelete() {
  PowerScenario scenario = WithStore(
      [](Store* store) {
        std::unique_ptr<BulkLoad> load;
        Status s = store->NewBulkLoad({}, &load);
        if (s.ok()) {
          s = load->Add(Change{.type = ChangeType::kDeleteFamilyVersion,
                               .row = "row",
                               .family = "v",
                               .timestamp_ms = 2});
        }
        return s.ok() ? load->Finish() : s;
      },
      [](Store* store, bool acknowledged) -> std::string {
        std::string wrong = Expect(store, "row", "v", "first");
        if (!wrong.empty()) return acknowledged ? wrong : "";
        Status s = store->Put("row", "v", "q", "third", {.timestamp_ms = 3});
        if (s.ok()) s = store->Compact();
        std::vector<Cell> cells;
        if (s.ok()) {
          s = store->GetVersions("row", "v", "q", &cells, {.max_versions = 2});
        }
        if (!s.ok()) return s.ToString();
        return cells.size() == 2 ? "" : "the first version was pushed out";
      });
  scenario.prepare = [](Env* env, const std::string& directory) {
    Prepare(env, directory);
    std::unique_ptr<Store> store;
    ASSERT_THAT(Open(env, StorePath(directory), &store), IsOk());
    for (const uint64_t at_ms : {1, 2}) {
      ASSERT_THAT(store->Put("row", "v", "q", at_ms == 1 ? "first" : "second",
                             {.timestamp_ms = at_ms}),
                  IsOk());
    }
  };
  return scenario;
}

// Returns what is wrong with a copy of the store, or "". A copy has to be
// complete; one that was not acknowledged may be missing.
std::string CheckCopy(Env* env, const std::string& path, bool acknowledged) {
  std::unique_ptr<Store> copy;
  const Status s = Open(env, path, &copy);
  if (!s.ok()) {
    return acknowledged || s.ToString().find(path) == std::string::npos
               ? s.ToString()
               : "";
  }
  std::string wrong = Expect(copy.get(), "old", "a", "old");
  if (wrong.empty()) wrong = Expect(copy.get(), "fresh", "b", "v");
  return wrong;
}

PowerScenario Checkpoint() {
  PowerScenario scenario;
  scenario.prepare = Prepare;
  scenario.act = [](Env* env, const std::string& directory,
                    const std::function<void()>& begin) {
    std::unique_ptr<Store> store;
    if (!Open(env, StorePath(directory), &store).ok()) return false;
    if (!store->Put("fresh", "b", "q", "v").ok()) return false;
    begin();
    return store->Checkpoint(directory + "/copy").ok();
  };
  scenario.check = [](Env* env, const std::string& directory,
                      bool acknowledged) {
    return CheckCopy(env, directory + "/copy", acknowledged);
  };
  return scenario;
}

// Returns what is wrong with the backups, or "". None may be damaged: a purge
// would not go on by itself.
std::string CheckBackups(Env* env, const std::string& backups) {
  std::vector<BackupInfo> list;
  Status s = ListBackups(backups, &list, env);
  for (const BackupInfo& backup : list) {
    if (s.ok() && backup.damaged) return "a backup is damaged";
    if (s.ok()) s = VerifyBackup(backups, backup.id, env);
  }
  return s.ok() || s.IsNotFound() ? "" : s.ToString();
}

PowerScenario Backup() {
  PowerScenario scenario = Checkpoint();
  scenario.act = [](Env* env, const std::string& directory,
                    const std::function<void()>& begin) {
    std::unique_ptr<Store> store;
    if (!Open(env, StorePath(directory), &store).ok()) return false;
    if (!store->Put("fresh", "b", "q", "v").ok()) return false;
    begin();
    return store->Backup(directory + "/backups", nullptr).ok();
  };
  scenario.check = [](Env* env, const std::string& directory,
                      bool acknowledged) {
    const std::string backups = directory + "/backups";
    const std::string wrong = CheckBackups(env, backups);
    if (!wrong.empty()) return wrong;
    const Status s =
        RestoreBackup(backups, std::nullopt, directory + "/copy", env);
    if (s.ok()) return CheckCopy(env, directory + "/copy", true);
    if (acknowledged || !s.IsNotFound()) return s.ToString();
    // The next one is made.
    std::unique_ptr<Store> store;
    Status again = Open(env, StorePath(directory), &store);
    if (again.ok()) again = store->Backup(backups, nullptr);
    return again.ok() ? std::string() : again.ToString();
  };
  return scenario;
}

// A store with a "fresh" row, too, and a backup of it.
void PrepareBackup(Env* env, const std::string& directory) {
  Prepare(env, directory);
  std::unique_ptr<Store> store;
  ASSERT_THAT(Open(env, StorePath(directory), &store), IsOk());
  ASSERT_THAT(store->Put("fresh", "b", "q", "v"), IsOk());
  ASSERT_THAT(store->Backup(directory + "/backups"), IsOk());
}

// Deletes the older one of two backups that have no table in common.
PowerScenario BackupDeletion() {
  return {.prepare =
              [](Env* env, const std::string& directory) {
                PrepareBackup(env, directory);
                std::unique_ptr<Store> store;
                ASSERT_THAT(Open(env, StorePath(directory), &store), IsOk());
                ASSERT_THAT(store->Compact(), IsOk());
                ASSERT_THAT(store->Backup(directory + "/backups"), IsOk());
              },
          .act =
              [](Env* env, const std::string& directory,
                 const std::function<void()>& begin) {
                begin();
                return PurgeBackups(directory + "/backups", 1, env).ok();
              },
          .check =
              [](Env* env, const std::string& directory, bool acknowledged) {
                const std::string backups = directory + "/backups";
                const std::string wrong = CheckBackups(env, backups);
                if (!wrong.empty()) return wrong;
                std::vector<BackupInfo> list;
                Status s = ListBackups(backups, &list, env);
                if (s.ok() && (list.empty() || list.back().id != 2)) {
                  return std::string("the other backup is gone");
                }
                if (s.ok() && acknowledged && list.size() > 1) {
                  return std::string("the backup is still there");
                }
                if (s.ok()) s = PurgeBackups(backups, 0, env);
                return s.ok() ? std::string() : s.ToString();
              }};
}

PowerScenario Restoration() {
  PowerScenario scenario = Checkpoint();
  scenario.prepare = PrepareBackup;
  scenario.act = [](Env* env, const std::string& directory,
                    const std::function<void()>& begin) {
    begin();
    return RestoreBackup(directory + "/backups", std::nullopt,
                         directory + "/copy", env)
        .ok();
  };
  return scenario;
}

struct Case {
  const char* name;
  PowerScenario (*scenario)();
  std::vector<IgnoredSync> own_syncs;  // those that it needs
};

class PowerCut : public ::testing::TestWithParam<Case> {};

TEST_P(PowerCut, LosesNothingThatWasAcknowledgedAndNeedsEachOfOurSyncs) {
  EXPECT_EQ(CutEverywhere(GetParam().scenario()), "");
  for (const IgnoredSync& sync : GetParam().own_syncs) {
    SCOPED_TRACE(sync.pattern + " " + std::to_string(sync.number));
    uint64_t ignored = 0;
    EXPECT_NE(CutEverywhere(GetParam().scenario(), sync, &ignored), "");
    EXPECT_GT(ignored, 0u);
  }
}

constexpr char kLog[] = "*.log";
constexpr char kDirectoryOfTheStore[] = "*/disk";

INSTANTIATE_TEST_SUITE_P(
    Of, PowerCut,
    ::testing::Values(
        Case{"Creation", Creation, {{kDirectoryOfTheStore}, {kLog}}},
        Case{"SyncedPut", SyncedPut, {{kLog}}},
        Case{"Order", Order, {{kLog, 1}}},
        Case{"FamilyCreation", FamilyCreation, {{kLog}}},
        Case{"FamilyDrop", FamilyDrop, {{kLog, 1}}},
        Case{"FamilyTruncation", FamilyTruncation, {}},
        Case{"FamilyAlteration", FamilyAlteration, {{kLog}}},
        Case{"Load", Load, {{kLog}}},
        Case{"LoadOfARowsDelete", LoadOfARowsDelete, {}},
        Case{"Checkpoint", Checkpoint, {{kDirectoryOfTheStore}}},
        Case{"Backup", Backup, {{kDirectoryOfTheStore}}},
        Case{"BackupDeletion", BackupDeletion, {{"*/backups/meta"}}},
        Case{"Restoration", Restoration, {{kDirectoryOfTheStore}}}),
    [](const auto& its) { return its.param.name; });

}  // namespace
}  // namespace rowbloom::test::power_test

#include "tests/stress/store/copies.h"

#include <filesystem>
#include <utility>

#include "rowbloom/backup.h"
#include "storage/store/open_store.h"
#ifdef ROWBLOOM_HAS_HFILE_TRANSFER
#include "rowbloom/hfile_transfer.h"
#endif

namespace rowbloom::store_stress {

using rocksdb::Status;

namespace {

#ifdef ROWBLOOM_HAS_HFILE_TRANSFER
constexpr uint64_t kKinds = 3;
#else
constexpr uint64_t kKinds = 2;
#endif

constexpr size_t kMostBackups = 4;

constexpr uint64_t kLaterMs = 3'600'000;

// The families that a share has cells in.
std::vector<FamilyDescriptor> FamiliesOf(const World& world, uint32_t share) {
  std::vector<FamilyDescriptor> families = Families();
  const auto& own = world.own_family();
  if (own) families.push_back({OwnFamily(share), *own});
  return families;
}

std::string StoreOfExport(const std::string& path) { return path + "-store"; }

}  // namespace

Status Copies::MakeOne(Store* store, Copy* copy) {
  if (copy->kind == Kind::kCheckpoint) return store->Checkpoint(copy->path);
#ifdef ROWBLOOM_HAS_HFILE_TRANSFER
  if (copy->kind == Kind::kExport) {
    // Others may change the families of theirs.
    HFileExportOptions options{.max_file_bytes = 10'000};
    for (const auto& family : FamiliesOf(copy->world, copy->share)) {
      options.families.push_back(family.name);
    }
    HFileExportReport ignored;
    return ExportHFiles(options, store, copy->path, &ignored);
  }
#endif
  BackupInfo info;
  const Status s = store->Backup(Backups(), &info);
  copy->backup = info.id;
  return s;
}

void Copies::Make(Session* session, uint32_t share, Random* random) {
  const std::scoped_lock lock(mutex_);
  const Share& its = *session->share(share);
  if (its.otherwise) return;
  Copy copy{.kind = static_cast<Kind>(random->Below(kKinds)),
            .path = directory_ + "/copy" + std::to_string(++made_),
            .share = share,
            .world = its.world};
  const Status s = MakeOne(session->store(), &copy);
  copy.acknowledged = session->Check(s, "copy");
  if (copy.kind == Kind::kBackup && copy.acknowledged) {
    backups_.insert(copy.backup);
  }
  copies_.push_back(std::move(copy));
}

Status Copies::Restore(const Session::Setting& setting, const Copy& copy) {
  if (copy.kind == Kind::kBackup) {
    return RestoreBackup(Backups(), copy.backup, copy.path, setting.env);
  }
#ifdef ROWBLOOM_HAS_HFILE_TRANSFER
  if (copy.kind == Kind::kExport) {
    std::unique_ptr<Store> store;
    // Its clock is later than any that the cells are from.
    Status s = OpenStore(
        {.key_layout = setting.key_layout, .env = setting.env},
        StoreOfExport(copy.path), FamiliesOf(copy.world, copy.share),
        [] { return SystemWallClock() + kLaterMs; }, &store);
    HFileImportReport ignored;
    if (s.ok()) {
      s = ImportHFiles({.latest_as_new = true}, {copy.path}, store.get(),
                       &ignored);
    }
    return s;
  }
#endif
  return Status::OK();
}

void Copies::CheckOne(Session::Setting setting, const Copy& copy,
                      Random* random) {
  Report* const report = setting.report;
  // One that came to nothing is not there, or is refused by its name.
  if (!copy.acknowledged) {
    if (copy.kind != Kind::kCheckpoint) return;
    std::unique_ptr<Store> store;
    const Status s = OpenStore({.create_if_missing = false, .env = setting.env},
                               copy.path, {}, SystemWallClock, &store);
    if (!s.ok()) {
      if (s.ToString().find(copy.path) == std::string::npos) {
        report->Divergence("a checkpoint is refused without its name: " +
                           s.ToString());
      }
      return;
    }
  }
  const Status s = Restore(setting, copy);
  if (!s.ok()) {
    report->Divergence("a copy that was acknowledged, " + copy.path + ": " +
                       s.ToString());
    return;
  }
  setting.path =
      copy.kind == Kind::kExport ? StoreOfExport(copy.path) : copy.path;
  setting.create_if_missing = false;
  Shares shares =
      stress::NewShares<Share>(static_cast<uint32_t>(setting.shares->size()));
  shares[copy.share]->world = copy.world;
  setting.shares = &shares;
  const std::string context = report->context();
  report->SetContext(context + ", " + copy.path);
  Session session(setting);
  if (session.Open(random)) session.CheckShare(copy.share);
  report->SetContext(context);
}

void Copies::Check(const Session::Setting& setting, Random* random) {
  for (const Copy& copy : copies_) {
    CheckOne(setting, copy, random);
    if (setting.report->failed()) return;
    for (const std::string& path : {copy.path, StoreOfExport(copy.path)}) {
      std::filesystem::remove_all(path);
    }
  }
  copies_.clear();
  Status s = CheckBackups();
  if (!s.ok()) setting.report->Divergence("backups: " + s.ToString());
}

Status Copies::CheckBackups() {
  for (const uint32_t id : backups_) {
    const Status s = VerifyBackup(Backups(), id);
    if (!s.ok()) return s;
  }
  // One that was cut short is whole or not there.
  std::vector<BackupInfo> found;
  Status s = ListBackups(Backups(), &found);
  for (const BackupInfo& backup : found) {
    if (s.ok()) s = VerifyBackup(Backups(), backup.id);
  }
  if (s.ok() && found.size() > kMostBackups) {
    backups_.clear();
    s = PurgeBackups(Backups(), 0);
  }
  // A first one that was cut short may have left a directory without any.
  return s.IsNotFound() ? Status::OK() : s;
}

}  // namespace rowbloom::store_stress

// Families can be created, altered and dropped while the store is open.
// FORMAT.md has the order of the steps. The next opening completes a change
// that was interrupted after any of them.
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/write_batch.h"
#include "storage/format/status_text.h"
#include "storage/store/metadata.h"
#include "storage/store/open_store.h"
#include "storage/store/store_impl.h"

namespace rowbloom {

using rocksdb::Status;

namespace {

// Checks the arguments of AlterFamily, and sets up the altered family.
Status PrepareAlter(const std::string& name, const FamilyOptions& options,
                    const FamilyMap& families, const OpenedStore& opened,
                    FamilySetup* setup) {
  FamilyMap::const_iterator found;
  Status s = opened.FindFamily(families, name, &found);
  if (s.ok()) {
    s = MakeFamilySetup(name, options, opened.options, opened.shared, setup);
  }
  if (!s.ok()) return s;
  const CellFormat format = found->second.format;
  if (setup->family.format == format) return s;
  return InvalidArgument(
      QuotedFamily(name), " of the store at ", opened.path,
      " keeps its cells in the format ", ToString(format),
      ", which cannot be altered: max_versions and timestamps need the "
      "format ",
      ToString(setup->family.format));
}

struct Creation {
  FamilyMap families;  // of the store, with the new ones
  std::vector<rocksdb::ColumnFamilyDescriptor> column_families;
  rocksdb::WriteBatch records;
};

// Checks new families, and changes nothing in the store.
Status PrepareCreation(std::span<const FamilyDescriptor> added,
                       const OpenedStore& opened, Creation* creation) {
  const SharedFamilies before = opened.families->Get();
  creation->families = *before;
  for (const auto& [name, options] : added) {
    if (Status s = CheckFamilyName(name); !s.ok()) return s;
    if (creation->families.contains(name)) {
      return before->contains(name)
                 ? InvalidArgument(QuotedFamily(name), " is in the store at ",
                                   opened.path, " already")
                 : InvalidArgument(QuotedFamily(name), " is listed twice");
    }
    FamilySetup setup;
    Status s =
        MakeFamilySetup(name, options, opened.options, opened.shared, &setup);
    if (!s.ok()) return s;
    PutFamilyRecord(FamilyState::kKept, name, options, &creation->records);
    creation->column_families.push_back(std::move(setup.descriptor));
    creation->families.emplace(name, std::move(setup.family));
  }
  return Status::OK();
}

Status Create(Creation* creation, Database* database) {
  for (const auto& family : creation->column_families) {
    // A drop that failed half-way may have left a column family of that name.
    Status s = database->DropColumnFamily(family.name);
    if (!s.ok()) return s;
  }
  Status s = database->WriteSynced(&creation->records);
  if (s.ok()) s = database->CreateColumnFamilies(creation->column_families);
  if (!s.ok()) return s;
  for (const auto& family : creation->column_families) {
    creation->families.at(family.name).Connect(*database, family.name);
  }
  return s;
}

}  // namespace

Status Store::CreateFamilies(std::span<const FamilyDescriptor> added) {
  return impl_->Change([&]() -> Status {
    if (added.empty()) return Status::OK();
    OpenedStore& opened = impl_->opened;
    const std::unique_lock changing(opened.families->change_mutex);
    Creation creation;
    Status s = PrepareCreation(added, opened, &creation);
    // RocksDB (7.8.3) looks up column families without a lock when it checks
    // the keys of a transaction. Other writes need not wait for many families.
    const bool transactions = opened.options.transactions;
    if (s.ok() && !transactions) s = Create(&creation, &opened.database);
    if (!s.ok()) return s;
    const RowLocks::Guard no_writes = impl_->writer.locks.LockAll();
    if (transactions) s = Create(&creation, &opened.database);
    if (!s.ok()) return s;
    opened.families->Set(FamilyTable::Share(std::move(creation.families)));
    no_writes.NoteWideWrite();
    return s;
  });
}

Status Store::CreateFamily(const std::string& name,
                           const FamilyOptions& options) {
  return CatchExceptions([&] {
    const FamilyDescriptor family{name, options};
    return CreateFamilies({&family, 1});
  });
}

Status Store::DropFamily(const std::string& name) {
  return impl_->Change([&]() -> Status {
    OpenedStore& opened = impl_->opened;
    // RocksDB deletes the files with the last user. This one goes after the
    // locks, as many files take seconds.
    ColumnFamily dropped;
    const std::unique_lock changing(opened.families->change_mutex);
    FamilyMap families = *opened.families->Get();
    FamilyMap::const_iterator found;
    Status s = opened.FindFamily(families, name, &found);
    if (!s.ok()) return s;
    dropped = found->second.column_family;
    rocksdb::WriteBatch batch;
    PutFamilyRecord(FamilyState::kDropped, name, found->second.options, &batch);
    families.erase(found);
    FamilyTable::Shares shares = FamilyTable::Share(std::move(families));
    // A write to a dropped column family would stop all others.
    const RowLocks::Guard no_writes = impl_->writer.locks.LockAll();
    s = opened.database.WriteSynced(&batch);
    if (!s.ok()) return s;
    opened.families->Set(std::move(shares));
    no_writes.NoteWideWrite();
    return CompleteDrop(name, &opened.database);
  });
}

Status Store::TruncateFamily(const std::string& name) {
  return impl_->Change([&]() -> Status {
    OpenedStore& opened = impl_->opened;
    ColumnFamily dropped;  // goes after the locks, as in DropFamily
    const std::unique_lock changing(opened.families->change_mutex);
    FamilyMap families = *opened.families->Get();
    FamilyMap::const_iterator found;
    FamilySetup setup;
    Status s = opened.FindFamily(families, name, &found);
    if (s.ok()) {
      s = MakeFamilySetup(name, found->second.options, opened.options,
                          opened.shared, &setup);
    }
    if (!s.ok()) return s;
    dropped = found->second.column_family;
    rocksdb::WriteBatch batch;
    PutTruncation(name, found->second.options, &batch);
    families.erase(found);
    FamilyTable::Shares now = FamilyTable::Share(families);
    const RowLocks::Guard no_writes = impl_->writer.locks.LockAll();
    // The next opening completes a family that has a record and no column
    // family. If the drop fails, RocksDB sees no background error. But the
    // MANIFEST may have the drop, and later writes would be lost.
    s = opened.database.DropColumnFamily(name);
    if (!s.ok()) {
      opened.listener->Stop(s);
      return s;
    }
    // Until the family is created again, reads see its old cells.
    s = CatchExceptions([&] {
      Status made = opened.database.WriteSynced(&batch);
      if (made.ok()) {
        made = opened.database.CreateColumnFamilies({setup.descriptor});
      }
      if (!made.ok()) return made;
      setup.family.Connect(opened.database, name);
      families.emplace(name, std::move(setup.family));
      now = FamilyTable::Share(std::move(families));
      return made;
    });
    opened.families->Set(std::move(now));
    no_writes.NoteWideWrite();
    return s;
  });
}

Status Store::CheckAlterFamily(const std::string& name,
                               const FamilyOptions& options) const {
  return impl_->Change([&] {
    FamilySetup ignored;
    return PrepareAlter(name, options, *impl_->opened.families->Get(),
                        impl_->opened, &ignored);
  });
}

Status Store::AlterFamily(const std::string& name,
                          const FamilyOptions& options) {
  return impl_->Change([&]() -> Status {
    OpenedStore& opened = impl_->opened;
    const std::unique_lock changing(opened.families->change_mutex);
    FamilyMap families = *opened.families->Get();
    FamilySetup setup;
    Status s = PrepareAlter(name, options, families, opened, &setup);
    if (!s.ok()) return s;
    Family& family = families.at(name);
    const Family before = family;
    if (options == before.options) return s;
    family.options = options;
    FamilyTable::Shares shares = FamilyTable::Share(std::move(families));
    rocksdb::WriteBatch batch;
    PutFamilyRecord(FamilyState::kKept, name, options, &batch);
    const bool has_new_rules = setup.family.rules() != before.rules();
    CompactionGate::FamilyIds ids = {before.handle()->GetID()};
    const uint32_t merged = before.shared_rules->Merging().max_versions;
    if (merged > options.max_versions) PutMergedVersions(name, merged, &batch);
    // SetOptions of RocksDB 10 and later treats an earlier failed write of the
    // MANIFEST as overcome, and deletes files that the MANIFEST may name. The
    // database could not be opened again.
    s = opened.CheckWritable();
    if (s.ok() && before.options.timestamps == Timestamps::kClient &&
        options.timestamps == Timestamps::kStore) {
      // The application's puts may be later than the store's time.
      s = impl_->writer.Announce(kLaterPuts);
    }
    if (!s.ok()) return s;
    const auto set = [&](const FamilyOptions& to) {
      return opened.database->SetOptions(before.handle(), AlterableOptions(to));
    };
    s = set(options);
    if (s.ok()) s = opened.database.WriteSynced(&batch);
    if (!s.ok()) {
      // RocksDB keeps options in memory that it could not write. They affect
      // only new files, so a second error is ignored.
      if (opened.CheckWritable().ok()) {
        set(before.options).PermitUncheckedError();
      }
      return s;
    }
    before.filter_policy->Alter(std::move(setup.filter_policy));
    // A running compaction would still remove versions by the old rules after
    // the new ones made them visible again.
    if (has_new_rules) {
      opened.compaction_gate->WaitForNone(ids, CompactionGate::kLongestWait);
    }
    // No write continues with the old options.
    const RowLocks::Guard no_writes = impl_->writer.locks.LockAll();
    std::optional<CompactionGate::Closed> no_compactions;
    if (has_new_rules) {
      no_compactions.emplace(opened.compaction_gate.get(), std::move(ids));
    }
    before.shared_rules->SetMerged(merged);
    before.shared_rules->Set(setup.family.rules());
    // A flush would do that, too, as it merges the writes of a cell.
    if (has_new_rules) opened.database.WaitForFlushes();
    opened.families->Set(std::move(shares));
    no_writes.NoteWideWrite();
    return s;
  });
}

}  // namespace rowbloom

// Store::CopyTo adds the cells of cell iterators to one bulk load.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "rocksdb/env.h"
#include "rowbloom/store_copy.h"
#include "storage/format/directory.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/staging.h"
#include "storage/format/status_text.h"
#include "storage/store/open_store.h"
#include "storage/store/snapshot.h"
#include "storage/store/store_impl.h"
#include "storage/store/stored_cell.h"

namespace rowbloom {
namespace {

using rocksdb::Env;
using rocksdb::Status;

// InvalidArgument: `path` is no place for a new store.
Status CheckCopyPlace(Env* env, const std::string& path) {
  if (path.empty()) {
    return Status::InvalidArgument("the path of the copy is empty");
  }
  Status s = FileExists(env, path);
  if (s.IsNotFound()) return Status::OK();
  return s.ok() ? InvalidArgument(path, " exists: a copy makes a new directory")
                : s;
}

// Adds the cells of a family to a load. Without options.deletes the family
// keeps only the latest version in one of the stores.
Status CopyFamily(Store* from, const CellIteratorOptions& options,
                  BulkLoad* load, CopyReport* report) {
  std::unique_ptr<CellIterator> cells;
  Status s = from->NewCellIterator(options, &cells);
  std::string row;
  std::string qualifier;
  for (; s.ok() && cells->Valid(); cells->Next()) {
    const CellView& cell = cells->cell();
    std::optional<uint64_t> timestamp_ms = cell.timestamp_ms;
    std::optional<uint64_t> ttl_ms = cell.ttl_ms;
    if (!options.deletes) {
      // The first version is the newest.
      if (cell.row == row && cell.qualifier == qualifier) continue;
      row = cell.row;
      qualifier = cell.qualifier;
      // Timestamps of the application, or of a clock that was set back, may be
      // later than any of the copy's.
      if (timestamp_ms >= load->timestamp_ms()) {
        if (ttl_ms) {
          ttl_ms = std::min(*ttl_ms + (*timestamp_ms - load->timestamp_ms()),
                            kMaxTimestampMs);
        }
        timestamp_ms.reset();
      }
    }
    s = load->Add({cell.type, cell.row, options.family, cell.qualifier,
                   cell.value, timestamp_ms, ttl_ms});
    if (!s.ok()) {
      return Prefixed(Describe(cell.row, options.family, cell.qualifier), s);
    }
    ++report->cells;
    if (cell.type != ChangeType::kPut) ++report->deletes;
  }
  return s.ok() ? cells->status() : s;
}

// Adds the cells of `families` that the copy has, too, to its load.
Status CopyFamilies(Store* from, const FamilyMap& families,
                    const std::map<std::string, FamilyOptions>& in_copy,
                    CellIteratorOptions cells, BulkLoad* load,
                    CopyReport* report) {
  for (const auto& [name, options] : in_copy) {
    cells.family = name;
    cells.deletes = !options.KeepsLatest() &&
                    families.at(name).format == CellFormat::kVersioned;
    if (Status s = CopyFamily(from, cells, load, report); !s.ok()) return s;
    ++report->families;
  }
  return Status::OK();
}

// Sets the options that were not given to those of this store. InvalidArgument:
// it lacks a family.
Status CompleteOptions(const OpenedStore& opened, const FamilyMap& families,
                       CopyOptions* options) {
  StoreOptions& store = options->store;
  if (!store.key_layout) store.key_layout = opened.options.key_layout;
  if (store.env == nullptr) store.env = opened.options.env;
  if (options->families.empty()) {
    for (const auto& [name, family] : families) {
      options->families.push_back({name, family.options});
    }
    for (const std::string& name : opened.unfinished) {
      options->families.push_back({name, {}});  // refused by its name
    }
  }
  for (const FamilyDescriptor& family : options->families) {
    FamilyMap::const_iterator found;
    Status s = opened.FindFamily(families, family.name, &found);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

// The options by which a copy is made. Those that were given may be of a store
// that was open for reading, or had to exist.
StoreOptions OptionsToLoad(StoreOptions options) {
  options.auto_compaction = false;
  options.read_only = false;
  options.create_if_missing = true;
  return options;
}

}  // namespace

Status Store::CopyTo(const std::string& given_path, const CopyOptions& given,
                     CopyReport* report) {
  return CatchExceptions([&] {
    *report = {};
    CopyOptions options = given;
    const OpenedStore& opened = impl_->opened;
    std::unique_ptr<const Snapshot> snapshot;
    SharedFamilies families;
    Status s = GetSnapshot(&snapshot);
    if (s.ok()) s = FamiliesAt(opened, snapshot.get(), &families);
    if (s.ok()) s = CompleteOptions(opened, *families, &options);
    if (!s.ok()) return s;
    const StoreOptions& store = options.store;
    const std::string path = WithoutTrailingSlashes(given_path);
    Staging staging(store.env, path, ".copying");
    s = CheckCopyPlace(store.env, path);
    if (s.ok()) s = staging.Begin();
    if (!s.ok()) return s;
    // The copy's clock starts after all timestamps that this store had assigned
    // by the snapshot.
    const uint64_t not_before_ms = impl_->writer.StepClock();
    std::unique_ptr<Store> to;
    s = OpenStore(
        OptionsToLoad(store), staging.contents(), options.families,
        [not_before_ms] { return std::max(SystemWallClock(), not_before_ms); },
        &to);
    if (!s.ok()) return s;
    if (opened.shared->MayHave(kLaterPuts)) {
      s = to->impl_->writer.Announce(kLaterPuts);
    }
    std::unique_ptr<BulkLoad> load;
    if (s.ok()) {
      s = to->impl_->NewBulkLoad({.file_bytes = store.file_bytes},
                                 families.get(), &load);
    }
    if (s.ok()) {
      s = CopyFamilies(this, *families, to->Families(),
                       {.family = {},
                        .snapshot = snapshot.get(),
                        .start_row = options.start_row,
                        .stop_row = options.stop_row},
                       load.get(), report);
    }
    if (s.ok()) s = load->Finish();
    load.reset();
    if (s.ok()) s = to->Flush();
    to.reset();
    SetPermissions(staging.contents(), PermissionsForCopyOf(opened.path));
    return s.ok() ? staging.Commit() : s;
  });
}

}  // namespace rowbloom

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rowbloom/front_filter.h"
#include "storage/filter_policy/front_filter/announced.h"
#include "storage/filter_policy/front_filter/core.h"
#include "storage/filter_policy/front_filter/point_reads.h"
#include "storage/filter_policy/front_filter/row_iterator.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/status_text.h"

namespace rowbloom {

using front_filter::Answer;
using front_filter::Core;
using front_filter::CountPassed;
using front_filter::Family;
using front_filter::FamilyToProbe;
using front_filter::LookUpOne;
using front_filter::RowOrder;
using rocksdb::ColumnFamilyHandle;
using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;

namespace {

template <typename Read>
Status GetInFront(const Core& core, const ReadOptions& options,
                  ColumnFamilyHandle* family, const Slice& key,
                  PinnableSlice* value, const Read& read) {
  const Family* const probed = FamilyToProbe(core, options, family);
  if (probed == nullptr) return read();
  const Answer answer = LookUpOne(*probed, key);
  if (answer == Answer::kAbsent) {
    value->Reset();
    return Status::NotFound();
  }
  Status status = read();
  CountPassed(*probed, answer, status);
  return status;
}

// Tells whether the key is absent by the front filter. If so, sets the outputs
// of KeyMayExist.
bool IsAbsent(const Core& core, const ReadOptions& options,
              ColumnFamilyHandle* family, const Slice& key, std::string* value,
              bool* value_found) {
  const Family* const probed = FamilyToProbe(core, options, family);
  if (probed == nullptr || LookUpOne(*probed, key) != Answer::kAbsent)
    return false;
  // From 9.10 on, value may be null, and is set only if value_found is given.
  constexpr bool kAlwaysSet = ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR < 910;
  if (kAlwaysSet || (value != nullptr && value_found != nullptr)) {
    value->clear();
  }
  if (value_found != nullptr) *value_found = true;
  return true;
}

// Must be called before the options of a family change. RocksDB accepts any
// suffix of a name after a dot, as in "prefix_extractor.id".
void BeforeSetOptions(
    const Core& core, const ColumnFamilyHandle* family,
    const std::unordered_map<std::string, std::string>& options) {
  Family* const known = core.Find(family->GetID());
  if (known == nullptr) return;
  for (const auto& [name, value] : options) {
    if (name.starts_with("prefix_extractor")) known->OnNewPrefixes();
  }
}

// Makes a family by create(options), with the filter. If it cannot be attached,
// each of its rows may exist.
template <typename Create>
Status CreateWithFilter(FrontFilter* filter, rocksdb::DB* db,
                        const rocksdb::ColumnFamilyOptions& options,
                        ColumnFamilyHandle** handle, const Create& create) {
  auto prepared = options;
  Status status = filter->Prepare(nullptr, &prepared);
  if (status.ok()) status = create(prepared);
  if (status.ok()) filter->Attach(db, {*handle}).PermitUncheckedError();
  return status;
}

}  // namespace

FrontFilterDB::FrontFilterDB(std::unique_ptr<rocksdb::DB> db,
                             std::shared_ptr<FrontFilter> filter) noexcept
    : StackableDB(db.release()),
      filter_(std::move(filter)),
      core_(filter_->core_.get()) {}

FrontFilterDB::~FrontFilterDB() { filter_->Detach(); }

Status FrontFilterDB::Close() {
  filter_->Detach();
  return db_->Close();
}

Status FrontFilterDB::Get(const ReadOptions& options,
                          ColumnFamilyHandle* family, const Slice& key,
                          PinnableSlice* value, std::string* timestamp) {
  const auto read = [&] {
    return db_->Get(options, family, key, value, timestamp);
  };
  return timestamp != nullptr
             ? read()
             : GetInFront(*core_, options, family, key, value, read);
}

bool FrontFilterDB::KeyMayExist(const ReadOptions& options,
                                ColumnFamilyHandle* family, const Slice& key,
                                std::string* value, std::string* timestamp,
                                bool* value_found) {
  return (timestamp != nullptr ||
          !IsAbsent(*core_, options, family, key, value, value_found)) &&
         db_->KeyMayExist(options, family, key, value, timestamp, value_found);
}

bool FrontFilterDB::KeyMayExist(const ReadOptions& options,
                                ColumnFamilyHandle* family, const Slice& key,
                                std::string* value, bool* value_found) {
  return !IsAbsent(*core_, options, family, key, value, value_found) &&
         db_->KeyMayExist(options, family, key, value, value_found);
}

#if ROCKSDB_MAJOR < 9
Status FrontFilterDB::Get(const ReadOptions& options,
                          ColumnFamilyHandle* family, const Slice& key,
                          PinnableSlice* value) {
  return GetInFront(*core_, options, family, key, value,
                    [&] { return db_->Get(options, family, key, value); });
}

#endif

rocksdb::Iterator* FrontFilterDB::NewIterator(const ReadOptions& options,
                                              ColumnFamilyHandle* family) {
  const Family* const probed = front_filter::StaysInRow(options)
                                   ? FamilyToProbe(*core_, options, family)
                                   : nullptr;
  if (probed == nullptr) return db_->NewIterator(options, family);
  std::unique_ptr<rocksdb::Iterator> inner;
  auto view = probed->ViewDuring(
      [&] { inner.reset(db_->NewIterator(options, family)); });
  if (view == nullptr || !probed->prefixes_are_rows() ||
      !inner->status().ok()) {
    return inner.release();
  }
  return new front_filter::RowIterator(core_, probed, std::move(inner),
                                       std::move(view));
}

#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1011
Status FrontFilterDB::SetOptions(
    const std::unordered_map<ColumnFamilyHandle*,
                             std::unordered_map<std::string, std::string>>&
        options_of_families) {
  for (const auto& [family, options] : options_of_families) {
    BeforeSetOptions(*core_, family, options);
  }
  return db_->SetOptions(options_of_families);
}
#else
Status FrontFilterDB::SetOptions(
    ColumnFamilyHandle* family,
    const std::unordered_map<std::string, std::string>& options) {
  BeforeSetOptions(*core_, family, options);
  return db_->SetOptions(family, options);
}
#endif

Status FrontFilterDB::RowExists(const ReadOptions& options,
                                ColumnFamilyHandle* family,
                                std::string_view row, bool* exists) {
  const Family* const known = core_->Find(family->GetID());
  // Without Prepare, the rules of this id may be those of another family.
  if (known == nullptr ||
      known->rules().comparator != family->GetComparator()) {
    return NotSupported("column family ", family->GetName(),
                        ": it has no front filter, so no known key layout");
  }
  if (!known->rules().IsRow(row)) {
    return InvalidArgument("expected one row of layout ",
                           known->rules().layout.ToString(), ", got ",
                           row.size(), " bytes that are not");
  }
  if (known->rules().order == RowOrder::kUnknown) {
    return NotSupported("column family ", family->GetName(),
                        ": a comparator whose order is not known");
  }
  if (!filter_->MayHaveRow(family, row)) {
    *exists = false;
    return Status::OK();
  }
  ReadOptions seek = options;
  seek.total_order_seek = true;
  seek.prefix_same_as_start = false;
  const std::unique_ptr<rocksdb::Iterator> keys(db_->NewIterator(seek, family));
  const Slice target(row.data(), row.size());
  if (known->rules().order == RowOrder::kBytewise) {
    keys->Seek(target);
  } else {
    keys->SeekForPrev(target);
  }
  const Status status = keys->status();
  if (status.ok()) *exists = keys->Valid() && keys->key().starts_with(target);
  return status;
}

Status FrontFilterDB::CreateColumnFamily(
    const rocksdb::ColumnFamilyOptions& options, const std::string& name,
    ColumnFamilyHandle** handle) {
  return CreateWithFilter(
      filter_.get(), db_, options, handle, [&](const auto& prepared) {
        return db_->CreateColumnFamily(prepared, name, handle);
      });
}

Status FrontFilterDB::CreateColumnFamilies(
    const rocksdb::ColumnFamilyOptions& options,
    const std::vector<std::string>& names,
    std::vector<ColumnFamilyHandle*>* handles) {
  auto prepared = options;
  Status status = filter_->Prepare(nullptr, &prepared);
  if (!status.ok()) return status;
  status = db_->CreateColumnFamilies(prepared, names, handles);
  filter_->Attach(db_, *handles).PermitUncheckedError();
  return status;
}

Status FrontFilterDB::CreateColumnFamilies(
    const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
    std::vector<ColumnFamilyHandle*>* handles) {
  auto prepared = families;
  for (auto& family : prepared) {
    const Status status = filter_->Prepare(nullptr, &family.options);
    if (!status.ok()) return status;
  }
  const Status status = db_->CreateColumnFamilies(prepared, handles);
  filter_->Attach(db_, *handles).PermitUncheckedError();
  return status;
}

Status FrontFilterDB::CreateColumnFamilyWithImport(
    const rocksdb::ColumnFamilyOptions& options, const std::string& name,
    const rocksdb::ImportColumnFamilyOptions& import_options,
    const rocksdb::ExportImportFilesMetaData& metadata,
    ColumnFamilyHandle** handle) {
  return CreateWithFilter(
      filter_.get(), db_, options, handle, [&](const auto& prepared) {
        return db_->CreateColumnFamilyWithImport(prepared, name, import_options,
                                                 metadata, handle);
      });
}

#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 804
Status FrontFilterDB::CreateColumnFamilyWithImport(
    const rocksdb::ColumnFamilyOptions& options, const std::string& name,
    const rocksdb::ImportColumnFamilyOptions& import_options,
    const std::vector<const rocksdb::ExportImportFilesMetaData*>& metadata,
    ColumnFamilyHandle** handle) {
  return CreateWithFilter(
      filter_.get(), db_, options, handle, [&](const auto& prepared) {
        return db_->CreateColumnFamilyWithImport(prepared, name, import_options,
                                                 metadata, handle);
      });
}
#endif

Status FrontFilterDB::IngestExternalFile(
    ColumnFamilyHandle* family, const std::vector<std::string>& files,
    const rocksdb::IngestExternalFileOptions& options) {
  rocksdb::IngestExternalFileArg argument;
  argument.column_family = family;
  argument.external_files = files;
  argument.options = options;
  return IngestExternalFiles({argument});
}

Status FrontFilterDB::IngestExternalFiles(
    const std::vector<rocksdb::IngestExternalFileArg>& files) {
  return filter_->IngestExternalFiles(db_, files);
}

#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1105
namespace {

// Announces files from before RocksDB prepares them until they are ingested or
// the ingestion is aborted.
class IngestionHandle final : public rocksdb::FileIngestionHandle {
 public:
  IngestionHandle(Core* core, rocksdb::Env* env,
                  const std::vector<rocksdb::IngestExternalFileArg>& files)
      : announced(std::in_place, core, env, files) {}

  Status Abort() override {
    announced.reset();
    return inner->Abort();
  }

  std::optional<front_filter::Announced> announced;
  std::unique_ptr<rocksdb::FileIngestionHandle> inner;
};

}  // namespace

Status FrontFilterDB::PrepareFileIngestion(
    const std::vector<rocksdb::IngestExternalFileArg>& files,
    std::unique_ptr<rocksdb::FileIngestionHandle>* handle) {
  return CatchExceptions([&] {
    handle->reset();
    auto made = std::make_unique<IngestionHandle>(core_, GetEnv(), files);
    const Status status = db_->PrepareFileIngestion(files, &made->inner);
    if (status.ok()) *handle = std::move(made);
    return status;
  });
}

Status FrontFilterDB::CommitFileIngestionHandles(
    std::vector<std::unique_ptr<rocksdb::FileIngestionHandle>> handles) {
  return CatchExceptions([&] {
    std::vector<std::unique_ptr<rocksdb::FileIngestionHandle>> inner;
    inner.reserve(handles.size());
    for (const auto& handle : handles) {
      inner.push_back(std::move(static_cast<IngestionHandle&>(*handle).inner));
    }
    return db_->CommitFileIngestionHandles(std::move(inner));
  });
}
#endif

}  // namespace rowbloom

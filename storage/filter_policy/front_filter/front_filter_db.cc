#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rowbloom/front_filter.h"
#include "storage/filter_policy/front_filter/core.h"
#include "storage/format/status_text.h"

namespace rowbloom {

using front_filter::Core;
using front_filter::Count;
using front_filter::Family;
using front_filter::RowOrder;
using rocksdb::ColumnFamilyHandle;
using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;

namespace {

std::string_view ViewOf(const Slice& slice) {
  return {slice.data(), slice.size()};
}

// Hands over what RocksDB left in `from`, which has the memory of `to`.
void Hand(PinnableSlice* from, PinnableSlice* to) {
  to->Reset();
  if (from->IsPinned()) {
    to->PinSlice(*from, from);
  } else if (!from->empty()) {
    to->PinSelf();
  }
}

// The family whose rows are looked up for such a read; null: RocksDB reads it
// all. It might refuse what has timestamps.
Family* FamilyToAsk(const Core& core, const ReadOptions& options,
                    ColumnFamilyHandle* family) {
  if (options.timestamp != nullptr) return nullptr;
#if ROCKSDB_MAJOR >= 9
  if (options.io_activity != rocksdb::Env::IOActivity::kUnknown) return nullptr;
#endif
  return core.FindToAsk(family->GetID());
}

// What the front filter said of a key.
enum class Said : uint8_t {
  kNothing,  // it has no row, or there is no view
  kMayExist,
  kAbsent,
};

Said Ask(Core* core, const Family& family, const Slice& key) {
  Said said = Said::kNothing;
  core->AskAll(
      family, 1,
      [&](size_t /*i*/) {
        const auto row = family.rules().RowOf(ViewOf(key));
        if (row) said = Said::kMayExist;
        return row;
      },
      [&said](size_t /*i*/) { said = Said::kAbsent; });
  return said;
}

// Counts what came of a get that RocksDB answered.
void CountPassed(Core* core, Said said, const Status& status) {
  if (said == Said::kNothing) return;
  if (status.ok()) {
    core->Add(Count::kPassedFound);
  } else if (status.IsNotFound()) {
    core->Add(Count::kPassedWasted);
  }
}

// A snapshot of the database, until this goes.
class OwnSnapshot {
 public:
  explicit OwnSnapshot(rocksdb::DB* db)
      : db_(db), snapshot_(db->GetSnapshot()) {}
  ~OwnSnapshot() {
    if (snapshot_ != nullptr) db_->ReleaseSnapshot(snapshot_);
  }
  OwnSnapshot(const OwnSnapshot&) = delete;
  OwnSnapshot& operator=(const OwnSnapshot&) = delete;
  const rocksdb::Snapshot* get() const { return snapshot_; }

 private:
  rocksdb::DB* const db_;
  const rocksdb::Snapshot* const snapshot_;
};

// A MultiGet of one family, or of several if `handle` is null. Returns false,
// having called nothing, if RocksDB has to read all keys. Else it has set in
// *said which keys are absent, and called read(options, numbers) with the
// numbers of the others, if there are any, and what to read them with.
template <typename KeyAt, typename Read>
bool ReadPresent(Core* core, rocksdb::DB* db, const ReadOptions& options,
                 ColumnFamilyHandle* handle, size_t count, const KeyAt& key_at,
                 std::vector<Said>* said, const Read& read) {
  // With these the status of a key depends on the other keys.
  static const ReadOptions kDefaults;
  if (count == 0 || handle == nullptr ||
      options.value_size_soft_limit != kDefaults.value_size_soft_limit ||
      options.deadline != kDefaults.deadline) {
    return false;
  }
  const Family* const family = FamilyToAsk(*core, options, handle);
  if (family == nullptr) return false;
  const auto ask = [&] {
    size_t found = 0;
    said->assign(count, Said::kNothing);
    core->AskAll(
        *family, count,
        [&](size_t i) {
          const auto row = family->rules().RowOf(ViewOf(key_at(i)));
          if (row) (*said)[i] = Said::kMayExist;
          return row;
        },
        [&](size_t i) {
          (*said)[i] = Said::kAbsent;
          ++found;
        });
    return found;
  };
  size_t absent_count = ask();
  if (absent_count == 0) return false;
  if (absent_count == count) return true;
  // RocksDB reads the others later. So that all answers are of one time, that
  // of a snapshot, rows are looked up after it was taken: those that it has are
  // in every view from then on.
  std::optional<OwnSnapshot> snapshot;
  ReadOptions at_one_time = options;
  if (options.snapshot == nullptr) {
    snapshot.emplace(db);
    if (snapshot->get() == nullptr) return false;
    at_one_time.snapshot = snapshot->get();
    absent_count = ask();
  }
  std::vector<size_t> numbers;
  numbers.reserve(count - absent_count);
  for (size_t i = 0; i < count; ++i) {
    if ((*said)[i] != Said::kAbsent) numbers.push_back(i);
  }
  if (!numbers.empty()) read(at_one_time, numbers);
  return true;
}

// The same into arrays.
bool ReadPresentInto(Core* core, rocksdb::DB* db, const ReadOptions& options,
                     ColumnFamilyHandle* family, size_t count,
                     const Slice* keys, PinnableSlice* values, Status* statuses,
                     bool sorted_input) {
  std::vector<Said> said;
  const auto read = [&](const ReadOptions& read_options,
                        const std::vector<size_t>& numbers) {
    std::vector<Slice> some_keys;
    some_keys.reserve(numbers.size());
    for (const size_t i : numbers) some_keys.push_back(keys[i]);
    std::vector<PinnableSlice> some_values;
    some_values.reserve(numbers.size());
    for (const size_t i : numbers)
      some_values.emplace_back(values[i].GetSelf());
    std::vector<Status> some_statuses(numbers.size());
    db->MultiGet(read_options, family, numbers.size(), some_keys.data(),
                 some_values.data(), some_statuses.data(), sorted_input);
    for (size_t j = 0; j < numbers.size(); ++j) {
      const size_t i = numbers[j];
      Hand(&some_values[j], &values[i]);
      CountPassed(core, said[i], some_statuses[j]);
      statuses[i] = std::move(some_statuses[j]);
    }
  };
  if (!ReadPresent(
          core, db, options, family, count,
          [keys](size_t i) { return keys[i]; }, &said, read)) {
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    if (said[i] != Said::kAbsent) continue;
    values[i].Reset();
    statuses[i] = Status::NotFound();
  }
  return true;
}

// The one family of all keys; null: there are several, or no keys.
template <typename Families>
ColumnFamilyHandle* OneFamily(const Families& families, size_t count) {
  if (count == 0) return nullptr;
  for (size_t i = 1; i < count; ++i) {
    if (families[i] != families[0]) return nullptr;
  }
  return families[0];
}

}  // namespace

FrontFilterDB::FrontFilterDB(rocksdb::DB* db,
                             std::shared_ptr<FrontFilter> filter)
    : StackableDB(db), filter_(std::move(filter)) {}

FrontFilterDB::~FrontFilterDB() { filter_->Detach(); }

Status FrontFilterDB::Close() {
  filter_->Detach();
  return db_->Close();
}

template <typename Read>
Status FrontFilterDB::GetInFront(const ReadOptions& options,
                                 ColumnFamilyHandle* family, const Slice& key,
                                 PinnableSlice* value, const Read& read) {
  Core* const core = filter_->core_.get();
  const Family* const asked = FamilyToAsk(*core, options, family);
  if (asked == nullptr) return read();
  const Said said = Ask(core, *asked, key);
  if (said == Said::kAbsent) {
    value->Reset();
    return Status::NotFound();
  }
  Status status = read();
  CountPassed(core, said, status);
  return status;
}

Status FrontFilterDB::Get(const ReadOptions& options,
                          ColumnFamilyHandle* family, const Slice& key,
                          PinnableSlice* value, std::string* timestamp) {
  const auto read = [&] {
    return db_->Get(options, family, key, value, timestamp);
  };
  return timestamp != nullptr ? read()
                              : GetInFront(options, family, key, value, read);
}

// Whether the front filter says that the key does not exist, in which case the
// outputs of KeyMayExist are set.
bool FrontFilterDB::IsAbsent(const ReadOptions& options,
                             ColumnFamilyHandle* family, const Slice& key,
                             std::string* value, bool* value_found) const {
  Core* const core = filter_->core_.get();
  const Family* const asked = FamilyToAsk(*core, options, family);
  if (asked == nullptr || Ask(core, *asked, key) != Said::kAbsent) return false;
  value->clear();
  if (value_found != nullptr) *value_found = true;
  return true;
}

bool FrontFilterDB::KeyMayExist(const ReadOptions& options,
                                ColumnFamilyHandle* family, const Slice& key,
                                std::string* value, std::string* timestamp,
                                bool* value_found) {
  return (timestamp != nullptr ||
          !IsAbsent(options, family, key, value, value_found)) &&
         db_->KeyMayExist(options, family, key, value, timestamp, value_found);
}

bool FrontFilterDB::KeyMayExist(const ReadOptions& options,
                                ColumnFamilyHandle* family, const Slice& key,
                                std::string* value, bool* value_found) {
  return !IsAbsent(options, family, key, value, value_found) &&
         db_->KeyMayExist(options, family, key, value, value_found);
}

void FrontFilterDB::MultiGet(const ReadOptions& options, size_t count,
                             ColumnFamilyHandle** families, const Slice* keys,
                             PinnableSlice* values, std::string* timestamps,
                             Status* statuses, bool sorted_input) {
  if (timestamps != nullptr ||
      !ReadPresentInto(filter_->core_.get(), db_, options,
                       OneFamily(families, count), count, keys, values,
                       statuses, sorted_input)) {
    db_->MultiGet(options, count, families, keys, values, timestamps, statuses,
                  sorted_input);
  }
}

// Before 9.0 each overload is a function of its own, which a StackableDB on the
// way may have or not have.
#if ROCKSDB_MAJOR < 9
Status FrontFilterDB::Get(const ReadOptions& options,
                          ColumnFamilyHandle* family, const Slice& key,
                          PinnableSlice* value) {
  return GetInFront(options, family, key, value,
                    [&] { return db_->Get(options, family, key, value); });
}

void FrontFilterDB::MultiGet(const ReadOptions& options, size_t count,
                             ColumnFamilyHandle** families, const Slice* keys,
                             PinnableSlice* values, Status* statuses,
                             bool sorted_input) {
  if (!ReadPresentInto(filter_->core_.get(), db_, options,
                       OneFamily(families, count), count, keys, values,
                       statuses, sorted_input)) {
    db_->MultiGet(options, count, families, keys, values, statuses,
                  sorted_input);
  }
}

void FrontFilterDB::MultiGet(const ReadOptions& options,
                             ColumnFamilyHandle* family, size_t count,
                             const Slice* keys, PinnableSlice* values,
                             std::string* timestamps, Status* statuses,
                             bool sorted_input) {
  if (timestamps != nullptr ||
      !ReadPresentInto(filter_->core_.get(), db_, options, family, count, keys,
                       values, statuses, sorted_input)) {
    db_->MultiGet(options, family, count, keys, values, timestamps, statuses,
                  sorted_input);
  }
}

void FrontFilterDB::MultiGet(const ReadOptions& options,
                             ColumnFamilyHandle* family, size_t count,
                             const Slice* keys, PinnableSlice* values,
                             Status* statuses, bool sorted_input) {
  if (!ReadPresentInto(filter_->core_.get(), db_, options, family, count, keys,
                       values, statuses, sorted_input)) {
    db_->MultiGet(options, family, count, keys, values, statuses, sorted_input);
  }
}

std::vector<Status> FrontFilterDB::MultiGet(
    const ReadOptions& options,
    const std::vector<ColumnFamilyHandle*>& families,
    const std::vector<Slice>& keys, std::vector<std::string>* values,
    std::vector<std::string>* timestamps) {
  return db_->MultiGet(options, families, keys, values, timestamps);
}

std::vector<Status> FrontFilterDB::MultiGet(
    const ReadOptions& options,
    const std::vector<ColumnFamilyHandle*>& families,
    const std::vector<Slice>& keys, std::vector<std::string>* values) {
  std::vector<Status> statuses(keys.size(), Status::NotFound());
  std::vector<std::string> found(keys.size());
  std::vector<Said> said;
  ColumnFamilyHandle* const family = OneFamily(families, keys.size());
  Core* const core = filter_->core_.get();
  const auto read = [&](const ReadOptions& read_options,
                        const std::vector<size_t>& numbers) {
    std::vector<Slice> some_keys;
    some_keys.reserve(numbers.size());
    for (const size_t i : numbers) some_keys.push_back(keys[i]);
    // RocksDB leaves some values as they were.
    std::vector<std::string> some_values;
    for (const size_t i : numbers) {
      some_values.push_back(i < values->size() ? (*values)[i] : std::string());
    }
    const std::vector<Status> some_statuses = db_->MultiGet(
        read_options, std::vector<ColumnFamilyHandle*>(numbers.size(), family),
        some_keys, &some_values);
    for (size_t j = 0; j < numbers.size(); ++j) {
      const size_t i = numbers[j];
      CountPassed(core, said[i], some_statuses[j]);
      statuses[i] = some_statuses[j];
      found[i] = std::move(some_values[j]);
    }
  };
  if (!ReadPresent(
          core, db_, options, family, keys.size(),
          [&keys](size_t i) { return keys[i]; }, &said, read)) {
    return db_->MultiGet(options, families, keys, values);
  }
  *values = std::move(found);
  return statuses;
}
#endif

Status FrontFilterDB::RowExists(const ReadOptions& options,
                                ColumnFamilyHandle* family,
                                std::string_view row, bool* exists) {
  const Family* const known = filter_->core_->Find(family->GetID());
  if (known == nullptr) {
    return NotSupported("column family ", family->GetName(),
                        ": it has no front filter, so no known key layout");
  }
  if (known->rules().RowOf(row) != row) {
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
  return CreateWithFilter(options, [&](const auto& prepared, auto* made) {
    const Status status = db_->CreateColumnFamily(prepared, name, handle);
    if (status.ok()) made->push_back(*handle);
    return status;
  });
}

Status FrontFilterDB::CreateColumnFamilies(
    const rocksdb::ColumnFamilyOptions& options,
    const std::vector<std::string>& names,
    std::vector<ColumnFamilyHandle*>* handles) {
  return CreateWithFilter(options, [&](const auto& prepared, auto* made) {
    const Status status = db_->CreateColumnFamilies(prepared, names, handles);
    *made = *handles;
    return status;
  });
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
  const Status attached = filter_->Attach(db_, *handles);
  return status.ok() ? attached : status;
}

Status FrontFilterDB::CreateColumnFamilyWithImport(
    const rocksdb::ColumnFamilyOptions& options, const std::string& name,
    const rocksdb::ImportColumnFamilyOptions& import_options,
    const rocksdb::ExportImportFilesMetaData& metadata,
    ColumnFamilyHandle** handle) {
  return CreateWithFilter(options, [&](const auto& prepared, auto* made) {
    const Status status = db_->CreateColumnFamilyWithImport(
        prepared, name, import_options, metadata, handle);
    if (status.ok()) made->push_back(*handle);
    return status;
  });
}

#if ROCKSDB_MAJOR >= 9
Status FrontFilterDB::CreateColumnFamilyWithImport(
    const rocksdb::ColumnFamilyOptions& options, const std::string& name,
    const rocksdb::ImportColumnFamilyOptions& import_options,
    const std::vector<const rocksdb::ExportImportFilesMetaData*>& metadata,
    ColumnFamilyHandle** handle) {
  return CreateWithFilter(options, [&](const auto& prepared, auto* made) {
    const Status status = db_->CreateColumnFamilyWithImport(
        prepared, name, import_options, metadata, handle);
    if (status.ok()) made->push_back(*handle);
    return status;
  });
}
#endif

// Calls create(options, made), which adds the families that it has made.
template <typename Create>
Status FrontFilterDB::CreateWithFilter(
    const rocksdb::ColumnFamilyOptions& options, const Create& create) {
  auto prepared = options;
  Status status = filter_->Prepare(nullptr, &prepared);
  if (!status.ok()) return status;
  std::vector<ColumnFamilyHandle*> made;
  status = create(prepared, &made);
  const Status attached = filter_->Attach(db_, made);
  return status.ok() ? attached : status;
}

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

Status OpenWithFrontFilter(
    const FrontFilterOptions& filter_options,
    const rocksdb::DBOptions& db_options, const std::string& path,
    const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
    std::vector<ColumnFamilyHandle*>* handles,
    std::unique_ptr<FrontFilterDB>* db) {
  std::shared_ptr<FrontFilter> filter;
  Status status = FrontFilter::Create(filter_options, &filter);
  rocksdb::DBOptions prepared_options = db_options;
  auto prepared = families;
  for (auto& family : prepared) {
    if (!status.ok()) return status;
    status = filter->Prepare(&prepared_options, &family.options);
  }
  if (!status.ok()) return status;
#if ROCKSDB_MAJOR >= 11
  std::unique_ptr<rocksdb::DB> opened;
  status =
      rocksdb::DB::Open(prepared_options, path, prepared, handles, &opened);
  if (!status.ok()) return status;
  auto made = std::make_unique<FrontFilterDB>(opened.release(), filter);
#else
  rocksdb::DB* opened = nullptr;
  status =
      rocksdb::DB::Open(prepared_options, path, prepared, handles, &opened);
  if (!status.ok()) return status;
  auto made = std::make_unique<FrontFilterDB>(opened, filter);
#endif
  status = filter->Attach(made.get(), *handles);
  if (!status.ok()) {
    for (ColumnFamilyHandle* handle : *handles) {
      made->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    }
    handles->clear();
    return status;
  }
  *db = std::move(made);
  return status;
}

Status OpenWithFrontFilter(const FrontFilterOptions& filter_options,
                           const rocksdb::Options& options,
                           const std::string& path,
                           std::unique_ptr<FrontFilterDB>* db) {
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<FrontFilterDB> opened;
  const Status status = OpenWithFrontFilter(
      filter_options, options, path,
      {{rocksdb::kDefaultColumnFamilyName, options}}, &handles, &opened);
  if (!status.ok()) return status;
  // The database has a handle of its own.
  for (ColumnFamilyHandle* handle : handles) {
    opened->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  *db = std::move(opened);
  return status;
}

}  // namespace rowbloom

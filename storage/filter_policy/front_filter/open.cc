// OpenWithFrontFilter.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rowbloom/front_filter.h"
#include "rowbloom/open_db.h"
#include "storage/format/no_exceptions.h"

namespace rowbloom {

using rocksdb::ColumnFamilyHandle;
using rocksdb::Status;

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
  std::unique_ptr<rocksdb::DB> opened;
  status = rocksdb::DB::Open(prepared_options, path, prepared, handles,
                             Into(&opened));
  if (!status.ok()) return status;
  status = CatchExceptions([&] {
    const Status attached = filter->Attach(opened.get(), *handles);
    if (attached.ok()) {
      *db = std::make_unique<FrontFilterDB>(std::move(opened), filter);
    }
    return attached;
  });
  if (status.ok()) return status;
  filter->Detach();
  for (ColumnFamilyHandle* handle : *handles) {
    opened->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  handles->clear();
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

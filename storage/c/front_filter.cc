// The front filter, for C.
#include "rowbloom/front_filter.h"

#include <memory>
#include <utility>
#include <vector>

#include "rowbloom/c.h"
#include "storage/c/boundary.h"
#include "storage/c/rocksdb_handles.h"
#include "storage/c/stats_json.h"

struct rowbloom_front_filter_t {
  std::shared_ptr<rowbloom::FrontFilter> filter;
  rocksdb::DB* db = nullptr;  // null before it is attached
};

using rocksdb::Status;
using rowbloom::c::DbOf;
using rowbloom::c::FamilyOf;
using rowbloom::c::OptionsOf;
using rowbloom::c::Run;
using rowbloom::c::View;

rowbloom_front_filter_t* rowbloom_front_filter_create(
    uint64_t memory_limit_bytes, uint64_t cell_memory_limit_bytes,
    char** error) {
  std::unique_ptr<rowbloom_front_filter_t> made;
  Run(error, [&] {
    const Status s = rowbloom::c::CheckRocksDbIsShared();
    if (!s.ok()) return s;
    made = std::make_unique<rowbloom_front_filter_t>();
    return rowbloom::FrontFilter::Create(
        {.memory_limit_bytes = memory_limit_bytes,
         .cell_memory_limit_bytes = cell_memory_limit_bytes},
        &made->filter);
  });
  if (*error != nullptr) made.reset();
  return made.release();
}

void rowbloom_front_filter_destroy(rowbloom_front_filter_t* filter) {
  delete filter;
}

bool rowbloom_front_filter_prepare(rowbloom_front_filter_t* filter,
                                   rocksdb_options_t* options, char** error) {
  return Run(error, [&] {
    rocksdb::Options* const prepared = OptionsOf(options);
    return filter->filter->Prepare(prepared, prepared);
  });
}

bool rowbloom_front_filter_attach(
    rowbloom_front_filter_t* filter, rocksdb_t* db,
    rocksdb_column_family_handle_t* const* families, size_t family_count,
    char** error) {
  return Run(error, [&] {
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    handles.reserve(family_count);
    for (size_t i = 0; i < family_count; ++i) {
      handles.push_back(FamilyOf(families[i]));
    }
    rocksdb::DB*& opened = DbOf(db);
    const Status s = filter->filter->Attach(opened, handles);
    if (!s.ok()) return s;
    // The handle gets the database with the filter in front, which owns the
    // opened one. Without memory for it, the opened one stays in the handle.
    std::unique_ptr<rocksdb::DB> inner(opened);
    try {
      opened = std::make_unique<rowbloom::FrontFilterDB>(std::move(inner),
                                                         filter->filter)
                   .release();
    } catch (...) {
      static_cast<void>(inner.release());
      filter->filter->Detach();
      throw;
    }
    filter->db = opened;
    return s;
  });
}

void rowbloom_front_filter_wait_until_armed(
    const rowbloom_front_filter_t* filter) {
  filter->filter->WaitUntilArmed();
}

bool rowbloom_front_filter_may_have_row(
    const rowbloom_front_filter_t* filter,
    const rocksdb_column_family_handle_t* family, const void* row,
    size_t row_size) {
  if (filter->db == nullptr) return true;
  try {
    return filter->filter->MayHaveRow(family == nullptr
                                          ? filter->db->DefaultColumnFamily()
                                          : FamilyOf(family),
                                      View(row, row_size));
  } catch (...) {  // out of memory
    return true;
  }
}

char* rowbloom_front_filter_stats(const rowbloom_front_filter_t* filter,
                                  char** error) {
  char* json = nullptr;
  Run(error, [&] {
    json = rowbloom::c::NewBytes(ToJson(filter->filter->Stats()));
    return Status::OK();
  });
  return json;
}

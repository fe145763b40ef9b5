// The embedded store, for C.
#include "rowbloom/store.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "rowbloom/c.h"
#include "storage/c/boundary.h"
#include "storage/c/stats_json.h"
#include "storage/format/status_text.h"
#include "storage/settings/family_spec.h"

struct rowbloom_store_t {
  std::unique_ptr<rowbloom::Store> store;
};

struct rowbloom_batch_t {
  rowbloom::WriteBatch batch;
  std::optional<uint64_t> ttl_ms;  // of the versions that are added next
};

// The rows of a scan, or the one of a get.
struct rowbloom_rows_t {
  std::optional<rowbloom::RowScanner> scanner;
  std::optional<rowbloom::RowScanner::Iterator> at;  // nullopt: not begun
  rowbloom::Row one;                                 // of a get
  bool has_one = false;  // it exists, and was not returned yet
  // A row that was read but not returned, for lack of memory for its cells.
  const rowbloom::Row* unshown = nullptr;
  std::vector<rowbloom_cell_t> cells;
};

namespace rowbloom::c {
namespace {

using rocksdb::Status;

// Structs without a member for their size never change.
static_assert(sizeof(rowbloom_column_t) == 24);
static_assert(sizeof(rowbloom_cell_t) == 48);
static_assert(sizeof(rowbloom_row_t) == 32);

// No struct of options will be larger: a size above this was never set.
constexpr size_t kMaxStructBytes = 4096;

// Copies the options that a program gave. The program may have been compiled
// for an earlier version, with fewer members, or for a later one. kFirstBytes
// is the size of the first version, which programs still pass. New members
// begin after it, and fill whole 8 bytes: programs do not set padding.
template <size_t kFirstBytes, typename Options>
Status TakeOptions(const Options* given, Options* options) {
  static_assert(sizeof(Options) >= kFirstBytes);
  *options = {};
  if (given == nullptr) return Status::OK();
  const size_t size = given->struct_size;
  if (size < kFirstBytes || size > kMaxStructBytes) {
    return InvalidArgument("struct_size of the options is ", size,
                           ", expected ", sizeof(Options));
  }
  const auto* const bytes = reinterpret_cast<const char*>(given);
  const size_t known = std::min(size, sizeof(Options));
  if (std::any_of(bytes + known, bytes + size,
                  [](char byte) { return byte != 0; })) {
    return Status::NotSupported(
        "the options have members of a later version of rowbloom");
  }
  std::memcpy(options, given, known);
  return Status::OK();
}

Status TakeStoreOptions(const rowbloom_store_options_t* given,
                        StoreOptions* options) {
  rowbloom_store_options_t set;
  const Status s = TakeOptions<56>(given, &set);
  if (!s.ok()) return s;
  if (set.key_layout != nullptr) {
    const auto layout = KeyLayout::FromString(set.key_layout);
    if (!layout) return Status::InvalidArgument(layout.error());
    options->key_layout = *layout;
  }
  if (set.block_cache_bytes != 0) {
    options->block_cache_bytes = set.block_cache_bytes;
  }
  if (set.write_buffer_bytes != 0) {
    options->write_buffer_bytes = set.write_buffer_bytes;
  }
  if (set.file_bytes != 0) options->file_bytes = set.file_bytes;
  if (set.no_front_filter) {
    options->front_filter_limit_bytes = 0;
  } else if (set.front_filter_limit_bytes != 0) {
    options->front_filter_limit_bytes = set.front_filter_limit_bytes;
  }
  options->create_if_missing = !set.must_exist;
  options->read_only = set.read_only;
  options->auto_compaction = !set.no_auto_compaction;
  options->statistics = set.statistics;
  return s;
}

Status TakeFamilies(const char* const* texts, size_t count,
                    std::vector<FamilyDescriptor>* families) {
  for (size_t i = 0; i < count; ++i) {
    const auto spec = FamilySpec::Parse(texts[i]);
    if (!spec) return Status::InvalidArgument(spec.error());
    families->push_back({spec->name(), spec->ApplyTo({})});
  }
  return Status::OK();
}

Status TakeScanOptions(const rowbloom_read_options_t* given,
                       ScanOptions* options) {
  rowbloom_read_options_t set;
  const Status s = TakeOptions<104>(given, &set);
  if (!s.ok()) return s;
  for (size_t i = 0; i < set.column_count; ++i) {
    const rowbloom_column_t& column = set.columns[i];
    Column& taken = options->row.columns.emplace_back();
    taken.family = column.family;
    if (column.qualifier != nullptr) {
      taken.qualifier = View(column.qualifier, column.qualifier_size);
    }
  }
  options->start_row = View(set.start_row, set.start_row_size);
  options->stop_row = View(set.stop_row, set.stop_row_size);
  options->row_prefix = View(set.row_prefix, set.row_prefix_size);
  if (set.limit != 0) options->limit = set.limit;
  options->row.time_range.begin_ms = set.begin_ms;
  if (set.end_ms != 0) options->row.time_range.end_ms = set.end_ms;
  if (set.max_versions != 0) options->row.max_versions = set.max_versions;
  options->reverse = set.reverse;
  return s;
}

// Refuses options that only a scan has.
Status TakeRowOptions(const rowbloom_read_options_t* given,
                      RowOptions* options) {
  ScanOptions scan;
  const Status s = TakeScanOptions(given, &scan);
  if (!s.ok()) return s;
  if (!scan.start_row.empty() || !scan.stop_row.empty() ||
      !scan.row_prefix.empty() || scan.limit != ScanOptions().limit ||
      scan.reverse) {
    return Status::InvalidArgument(
        "a get of one row takes no range, limit or order of rows");
  }
  *options = std::move(scan.row);
  return s;
}

Status TakeDurability(int number, WriteOptions* options) {
  switch (number) {
    case ROWBLOOM_ASYNC:
      options->durability = Durability::kAsync;
      return Status::OK();
    case ROWBLOOM_SYNC:
      options->durability = Durability::kSync;
      return Status::OK();
    case ROWBLOOM_SKIP_WAL:
      options->durability = Durability::kSkipWal;
      return Status::OK();
    default:
      return InvalidArgument("durability is ", number, ", expected ",
                             int{ROWBLOOM_ASYNC}, " to ",
                             int{ROWBLOOM_SKIP_WAL});
  }
}

static_assert(static_cast<int>(ChangeType::kPut) == ROWBLOOM_PUT);
static_assert(static_cast<int>(ChangeType::kDeleteVersion) ==
              ROWBLOOM_DELETE_VERSION);
static_assert(static_cast<int>(ChangeType::kDeleteFamilyVersion) ==
              ROWBLOOM_DELETE_FAMILY_VERSION);
static_assert(static_cast<int>(ChangeType::kDelete) == ROWBLOOM_DELETE);
static_assert(static_cast<int>(ChangeType::kDeleteFamily) ==
              ROWBLOOM_DELETE_FAMILY);
static_assert(static_cast<int>(ChangeType::kRemove) == ROWBLOOM_REMOVE);
static_assert(static_cast<int>(ChangeType::kRemoveFamily) ==
              ROWBLOOM_REMOVE_FAMILY);
static_assert(static_cast<int>(ChangeType::kIncrement) == ROWBLOOM_INCREMENT);
static_assert(static_cast<int>(ChangeType::kAppend) == ROWBLOOM_APPEND);
static_assert(static_cast<int>(ChangeType::kDeleteRow) == ROWBLOOM_DELETE_ROW);

// The write refuses types in this range that are none of the above.
Status TakeType(int number, ChangeType* type) {
  if (number < 0 || number > ROWBLOOM_DELETE_ROW) {
    return InvalidArgument("a change of the unknown type ", number);
  }
  *type = static_cast<ChangeType>(number);
  return Status::OK();
}

Status TakeTimestamp(int64_t number, std::optional<uint64_t>* timestamp_ms) {
  if (number == ROWBLOOM_NO_TIMESTAMP) return Status::OK();
  if (number < 0) {
    return InvalidArgument("a timestamp is ", number, ", expected 0 or more");
  }
  *timestamp_ms = static_cast<uint64_t>(number);
  return Status::OK();
}

// Sets *row to the next row, or to nullptr after the last.
Status Next(rowbloom_rows_t* rows, const Row** row) {
  *row = nullptr;
  if (!rows->scanner) {
    if (std::exchange(rows->has_one, false)) *row = &rows->one;
    return Status::OK();
  }
  if (!rows->at) {
    rows->at = rows->scanner->begin();
  } else if (*rows->at != rows->scanner->end()) {
    ++*rows->at;
  }
  if (*rows->at != rows->scanner->end()) *row = &**rows->at;
  return rows->scanner->status();
}

// Fills *cells and *shown with views into `row`.
void Show(const Row& row, std::vector<rowbloom_cell_t>* cells,
          rowbloom_row_t* shown) {
  cells->clear();
  cells->reserve(row.cells.size());
  for (const Cell& cell : row.cells) {
    cells->push_back({.family = cell.family.c_str(),
                      .qualifier = cell.qualifier.data(),
                      .qualifier_size = cell.qualifier.size(),
                      .value = cell.value.data(),
                      .value_size = cell.value.size(),
                      .timestamp_ms = cell.timestamp_ms});
  }
  *shown = {.row = row.row.data(),
            .row_size = row.row.size(),
            .cells = cells->data(),
            .cell_count = cells->size()};
}

}  // namespace
}  // namespace rowbloom::c

using rocksdb::Status;
using rowbloom::c::Run;
using rowbloom::c::View;

rowbloom_store_t* rowbloom_store_open(const char* path,
                                      const char* const* families,
                                      size_t family_count,
                                      const rowbloom_store_options_t* options,
                                      char** error) {
  std::unique_ptr<rowbloom_store_t> opened;
  Run(error, [&] {
    rowbloom::StoreOptions store_options;
    std::vector<rowbloom::FamilyDescriptor> descriptors;
    Status s = rowbloom::c::TakeStoreOptions(options, &store_options);
    if (s.ok()) {
      s = rowbloom::c::TakeFamilies(families, family_count, &descriptors);
    }
    if (!s.ok()) return s;
    opened = std::make_unique<rowbloom_store_t>();
    return rowbloom::Store::Open(store_options, path, descriptors,
                                 &opened->store);
  });
  if (*error != nullptr) opened.reset();
  return opened.release();
}

void rowbloom_store_close(rowbloom_store_t* store) { delete store; }

bool rowbloom_store_put(rowbloom_store_t* store, const void* row,
                        size_t row_size, const char* family,
                        const void* qualifier, size_t qualifier_size,
                        const void* value, size_t value_size, char** error) {
  return Run(error, [&] {
    return store->store->Put(View(row, row_size), family,
                             View(qualifier, qualifier_size),
                             View(value, value_size));
  });
}

bool rowbloom_store_delete(rowbloom_store_t* store, const void* row,
                           size_t row_size, const char* family,
                           const void* qualifier, size_t qualifier_size,
                           char** error) {
  return Run(error, [&] {
    return store->store->Delete(View(row, row_size), family,
                                View(qualifier, qualifier_size));
  });
}

bool rowbloom_store_delete_row(rowbloom_store_t* store, const void* row,
                               size_t row_size, char** error) {
  return Run(error,
             [&] { return store->store->DeleteRow(View(row, row_size)); });
}

char* rowbloom_store_get(rowbloom_store_t* store, const void* row,
                         size_t row_size, const char* family,
                         const void* qualifier, size_t qualifier_size,
                         size_t* value_size, char** error) {
  char* found = nullptr;
  *value_size = 0;
  Run(error, [&] {
    rowbloom::PinnableCell cell;
    const Status s = store->store->Get(View(row, row_size), family,
                                       View(qualifier, qualifier_size), &cell);
    if (cell) {
      found = rowbloom::c::NewBytes(cell.value());
      *value_size = cell.value().size();
    }
    return s;
  });
  return found;
}

rowbloom_rows_t* rowbloom_store_scan(rowbloom_store_t* store,
                                     const rowbloom_read_options_t* options,
                                     char** error) {
  std::unique_ptr<rowbloom_rows_t> rows;
  Run(error, [&] {
    rowbloom::ScanOptions scan;
    const Status s = rowbloom::c::TakeScanOptions(options, &scan);
    if (!s.ok()) return s;
    rows = std::make_unique<rowbloom_rows_t>();
    return store->store->Scan(scan, &rows->scanner.emplace());
  });
  if (*error != nullptr) rows.reset();
  return rows.release();
}

rowbloom_rows_t* rowbloom_store_get_row(rowbloom_store_t* store,
                                        const void* row, size_t row_size,
                                        const rowbloom_read_options_t* options,
                                        char** error) {
  std::unique_ptr<rowbloom_rows_t> rows;
  Run(error, [&] {
    rowbloom::RowOptions row_options;
    Status s = rowbloom::c::TakeRowOptions(options, &row_options);
    if (!s.ok()) return s;
    rows = std::make_unique<rowbloom_rows_t>();
    rowbloom::Row& found = rows->one;
    found.row = View(row, row_size);
    s = store->store->GetRow(found.row, &found.cells, row_options);
    rows->has_one = !found.cells.empty();
    return s;
  });
  if (*error != nullptr) rows.reset();
  return rows.release();
}

bool rowbloom_rows_next(rowbloom_rows_t* rows, rowbloom_row_t* row,
                        char** error) {
  *row = {};
  bool there = false;
  const bool ok = Run(error, [&] {
    Status s;
    if (rows->unshown == nullptr) s = rowbloom::c::Next(rows, &rows->unshown);
    if (s.ok() && rows->unshown != nullptr) {
      rowbloom::c::Show(*rows->unshown, &rows->cells, row);
      rows->unshown = nullptr;
      there = true;
    }
    return s;
  });
  return ok && there;
}

void rowbloom_rows_destroy(rowbloom_rows_t* rows) { delete rows; }

rowbloom_batch_t* rowbloom_batch_create(char** error) {
  std::unique_ptr<rowbloom_batch_t> batch;
  Run(error, [&] {
    batch = std::make_unique<rowbloom_batch_t>();
    return Status::OK();
  });
  return batch.release();
}

void rowbloom_batch_destroy(rowbloom_batch_t* batch) { delete batch; }

void rowbloom_batch_clear(rowbloom_batch_t* batch) {
  batch->batch.Clear();
  batch->ttl_ms.reset();
}

bool rowbloom_batch_set_ttl(rowbloom_batch_t* batch, int64_t ttl_ms,
                            char** error) {
  return Run(error, [&] {
    if (ttl_ms < 0 && ttl_ms != ROWBLOOM_NO_TTL) {
      return rowbloom::InvalidArgument("a TTL is ", ttl_ms,
                                       ", expected 0 or more");
    }
    batch->ttl_ms.reset();
    if (ttl_ms >= 0) batch->ttl_ms = static_cast<uint64_t>(ttl_ms);
    return Status::OK();
  });
}

bool rowbloom_batch_add(rowbloom_batch_t* batch, int change_type,
                        const void* row, size_t row_size, const char* family,
                        const void* qualifier, size_t qualifier_size,
                        const void* value, size_t value_size,
                        int64_t timestamp_ms, char** error) {
  return Run(error, [&] {
    rowbloom::Change change{.row = View(row, row_size),
                            .family = family == nullptr ? "" : family,
                            .qualifier = View(qualifier, qualifier_size),
                            .value = View(value, value_size)};
    Status s = rowbloom::c::TakeType(change_type, &change.type);
    if (s.ok()) {
      s = rowbloom::c::TakeTimestamp(timestamp_ms, &change.timestamp_ms);
    }
    if (rowbloom::TakesTtl(change.type)) change.ttl_ms = batch->ttl_ms;
    if (s.ok()) batch->batch.Add(change);
    return s;
  });
}

bool rowbloom_store_write(rowbloom_store_t* store,
                          const rowbloom_batch_t* batch, int durability,
                          char** error) {
  return Run(error, [&] {
    rowbloom::WriteOptions options;
    const Status s = rowbloom::c::TakeDurability(durability, &options);
    return s.ok() ? store->store->Write(batch->batch, options) : s;
  });
}

bool rowbloom_store_flush(rowbloom_store_t* store, char** error) {
  return Run(error, [&] { return store->store->Flush(); });
}

char* rowbloom_store_stats(rowbloom_store_t* store, char** error) {
  char* json = nullptr;
  Run(error, [&] {
    rowbloom::StoreStats stats;
    const Status s = store->store->Stats(&stats);
    if (s.ok()) json = rowbloom::c::NewBytes(ToJson(stats));
    return s;
  });
  return json;
}

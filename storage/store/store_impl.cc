#include "storage/store/store_impl.h"

#include <exception>
#include <new>
#include <utility>

#include "rocksdb/metadata.h"
#include "rocksdb/options.h"
#include "rocksdb/table_properties.h"
#include "storage/store/cell_reader.h"
#include "storage/store/row_reader.h"
#include "storage/store/row_source.h"
#include "storage/store/snapshot.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

// No exception crosses the public functions. RocksDB throws none, our own code
// when memory runs out.
template <typename Body>
Status CatchExceptions(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit("out of memory");
  } catch (const std::exception& error) {
    return Status::Aborted(error.what());
  }
}

}  // namespace

Status StoreImpl::WriteOne(const ChangeView& change,
                           const WriteOptions& options) {
  return CatchExceptions([&] {
    return writer_.Apply(
        1, [&change](size_t) { return change; }, options);
  });
}

Status StoreImpl::Put(std::string_view row, std::string_view family,
                      std::string_view qualifier, std::string_view value,
                      const WriteOptions& options) {
  return WriteOne({ChangeType::kPut, row, family, qualifier, value, {}},
                  options);
}

Status StoreImpl::Delete(std::string_view row, std::string_view family,
                         std::string_view qualifier,
                         const WriteOptions& options) {
  return WriteOne({ChangeType::kDelete, row, family, qualifier, {}, {}},
                  options);
}

Status StoreImpl::DeleteVersion(std::string_view row, std::string_view family,
                                std::string_view qualifier,
                                const WriteOptions& options) {
  return WriteOne({ChangeType::kDeleteVersion, row, family, qualifier, {}, {}},
                  options);
}

Status StoreImpl::DeleteFamily(std::string_view row, std::string_view family,
                               const WriteOptions& options) {
  return WriteOne({ChangeType::kDeleteFamily, row, family, {}, {}, {}},
                  options);
}

Status StoreImpl::DeleteRow(std::string_view row, const WriteOptions& options) {
  return WriteOne({ChangeType::kDeleteRow, row, {}, {}, {}, {}}, options);
}

Status StoreImpl::Write(const WriteBatch& batch, const WriteOptions& options) {
  return CatchExceptions([&] {
    return writer_.Apply(
        batch.size(),
        [&batch](size_t i) {
          const WriteBatch::Change& change = batch.changes_[i];
          return ChangeView{change.type,   change.row,
                            change.family, change.qualifier,
                            change.value,  change.timestamp_ms};
        },
        options);
  });
}

Status StoreImpl::Get(std::string_view row, std::string_view family,
                      std::string_view qualifier, std::string* value,
                      const ReadOptions& options) {
  Cell cell;
  Status s = GetCell(row, family, qualifier, &cell, options);
  if (s.ok()) *value = std::move(cell.value);
  return s;
}

Status StoreImpl::GetCell(std::string_view row, std::string_view family,
                          std::string_view qualifier, Cell* cell,
                          const ReadOptions& options) {
  ReadOptions newest = options;
  newest.max_versions = 1;
  std::vector<Cell> cells;
  Status s = GetVersions(row, family, qualifier, &cells, newest);
  if (s.ok() && cells.empty()) return Status::NotFound("no such cell");
  if (s.ok()) *cell = std::move(cells.front());
  return s;
}

Status StoreImpl::GetVersions(std::string_view row, std::string_view family,
                              std::string_view qualifier,
                              std::vector<Cell>* cells,
                              const ReadOptions& options) {
  return CatchExceptions([&]() -> Status {
    cells->clear();
    CellLookup lookup(opened_, options);
    if (Status s = lookup.Add(row, family, qualifier); !s.ok()) return s;
    return lookup.Run([cells](size_t, std::vector<Cell> found) {
      *cells = std::move(found);
    });
  });
}

Status StoreImpl::MultiGet(std::span<const CellAddress> addresses,
                           std::vector<std::vector<Cell>>* cells,
                           const ReadOptions& options) {
  return CatchExceptions([&]() -> Status {
    cells->assign(addresses.size(), {});
    CellLookup lookup(opened_, options);
    for (const CellAddress& at : addresses) {
      Status s = lookup.Add(at.row, at.family, at.qualifier);
      if (!s.ok()) return s;
    }
    return lookup.Run([cells](size_t i, std::vector<Cell> found) {
      (*cells)[i] = std::move(found);
    });
  });
}

Status StoreImpl::GetRow(std::string_view row, std::vector<Cell>* cells,
                         const RowOptions& options) {
  return CatchExceptions([&]() -> Status {
    RowPlan plan;
    if (Status s = RowPlan::Make(opened_, options, &plan); !s.ok()) return s;
    return ReadRow(opened_, plan, row, cells);
  });
}

RowScanner StoreImpl::Scan(const ScanOptions& options) {
  std::unique_ptr<RowScanner::Source> source;
  const Status s = CatchExceptions([&] {
    source = std::make_unique<RowScanner::Source>(opened_);
    return source->Open(options);
  });
  return s.ok() ? RowScanner(std::move(source)) : RowScanner(s);
}

std::unique_ptr<const Snapshot> StoreImpl::GetSnapshot() {
  std::unique_ptr<const StoreSnapshot> snapshot;
  const Status s = CatchExceptions([&] {
    snapshot = std::make_unique<const StoreSnapshot>(opened_);
    return Status::OK();
  });
  if (!s.ok() || snapshot->get() == nullptr) return nullptr;
  return snapshot;
}

Status StoreImpl::Flush() {
  return CatchExceptions([&]() -> Status {
    if (Status s = opened_.CheckWritable(); !s.ok()) return s;
    // With the metadata's column family, which would keep the log alive.
    return opened_.database->Flush(rocksdb::FlushOptions(),
                                   opened_.database.handles());
  });
}

Status StoreImpl::Compact(const CompactOptions& options) {
  return CatchExceptions([&]() -> Status {
    Status s = opened_.CheckWritable();
    FamilyMap::const_iterator only = opened_.families.end();
    if (s.ok() && !options.family.empty()) {
      s = opened_.FindFamily(options.family, &only);
    }
    if (s.ok()) s = CheckRowBound(options.start_row);
    if (s.ok()) s = CheckRowBound(options.stop_row);
    if (!s.ok()) return s;
    const std::string begin = FirstKey(opened_.key_layout, options.start_row);
    const std::string end = FirstKey(opened_.key_layout, options.stop_row);
    if (begin.empty() && !options.start_row.empty()) return s;  // no such rows
    rocksdb::CompactRangeOptions compact;
    // Also files that are as deep as they get have something to give back.
    compact.bottommost_level_compaction =
        rocksdb::BottommostLevelCompaction::kForceOptimized;
    const Slice from = begin;
    const Slice to = end;
    for (auto it = opened_.families.begin();
         s.ok() && it != opened_.families.end(); ++it) {
      if (only != opened_.families.end() && it != only) continue;
      s = opened_.database->CompactRange(compact, it->second.handle,
                                         begin.empty() ? nullptr : &from,
                                         end.empty() ? nullptr : &to);
    }
    return s;
  });
}

Status StoreImpl::Stats(StoreStats* stats) {
  return CatchExceptions([&]() -> Status {
    *stats = {};
    stats->key_layout = opened_.key_layout.ToString();
    for (const auto& [name, family] : opened_.families) {
      FamilyStats& found = stats->families[name];
      found.options = family.options;
      if (!opened_.database->GetIntProperty(
              family.handle, rocksdb::DB::Properties::kEstimateNumKeys,
              &found.estimated_cells)) {
        return Status::Aborted("RocksDB has no estimate of the keys of family",
                               name);
      }
      // The cache is the same for all. Its class is private from RocksDB 8 on.
      if (!opened_.database->GetIntProperty(
              family.handle, rocksdb::DB::Properties::kBlockCacheUsage,
              &stats->block_cache_bytes_used)) {
        return Status::Aborted("RocksDB has no block cache for family", name);
      }
      rocksdb::ColumnFamilyMetaData files;
      opened_.database->GetColumnFamilyMetaData(family.handle, &files);
      found.files = files.file_count;
      found.file_bytes = files.size;
      rocksdb::TablePropertiesCollection tables;
      Status s =
          opened_.database->GetPropertiesOfAllTables(family.handle, &tables);
      if (!s.ok()) return s;
      for (const auto& [file, properties] : tables) {
        found.filter_bytes += properties->filter_size;
      }
      s = GetFilterStats(*family.filter_policy, &found.filter);
      if (!s.ok()) return s;
    }
    return Status::OK();
  });
}

std::map<std::string, FamilyOptions> StoreImpl::Families() const {
  std::map<std::string, FamilyOptions> families;
  for (const auto& [name, family] : opened_.families) {
    families.emplace(name, family.options);
  }
  return families;
}

}  // namespace rowbloom

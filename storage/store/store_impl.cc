#include "storage/store/store_impl.h"

#include <exception>
#include <new>
#include <utility>

#include "rocksdb/iterator.h"
#include "rocksdb/metadata.h"
#include "rocksdb/snapshot.h"
#include "rocksdb/table_properties.h"
#include "rowbloom/printable.h"
#include "storage/store/cell_value.h"
#include "storage/store/metadata.h"

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

Status CheckSize(const char* what, std::string_view bytes, size_t max_bytes) {
  if (bytes.size() <= max_bytes) return Status::OK();
  return Status::InvalidArgument(
      std::string(what) + " of " + std::to_string(bytes.size()) +
      " bytes: expected at most " + std::to_string(max_bytes));
}

std::string_view View(const std::array<char, kCellHeadBytes>& head) {
  return {head.data(), head.size()};
}

// The end, exclusive, of the keys that start with `row_bytes`.
std::string RowEnd(std::string_view row_bytes) {
  std::string end(row_bytes);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (!end.empty()) {
    end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
    return end;
  }
  // Only the last row of a layout of fixed width is all 0xff: its keys are the
  // last ones, and a qualifier has a longest length.
  end = row_bytes;
  end.append(kMaxQualifierBytes + 1, '\xff');
  return end;
}

// A cell that cannot be read, for messages.
Status CorruptCell(std::string_view row, std::string_view family,
                   std::string_view qualifier, const std::string& problem) {
  return Status::Corruption("row \"" + ToPrintable(row) + "\", cell " +
                            std::string(family) + ":" + ToPrintable(qualifier) +
                            ": " + problem);
}

}  // namespace

Status UnknownFamily(std::string_view name, const OpenedStore& opened) {
  std::string names;
  for (const auto& [known, family] : opened.families) {
    names += names.empty() ? known : ", " + known;
  }
  return Status::InvalidArgument(
      "family \"" + ToPrintable(name) + "\" is not in the store at " +
      opened.path + "; it has: " + (names.empty() ? "none" : names));
}

StoreImpl::StoreImpl(OpenedStore opened, LeasedClock clock)
    : opened_(std::move(opened)), clock_(std::move(clock)) {}

Status StoreImpl::Put(std::string_view row, std::string_view family,
                      std::string_view qualifier, std::string_view value) {
  const Change put{WriteBatch::ChangeType::kPut, row, family, qualifier, value};
  return Apply(1, [&put](size_t) { return put; });
}

Status StoreImpl::Delete(std::string_view row, std::string_view family,
                         std::string_view qualifier) {
  const Change del{WriteBatch::ChangeType::kDelete, row, family, qualifier, {}};
  return Apply(1, [&del](size_t) { return del; });
}

Status StoreImpl::DeleteRow(std::string_view row) {
  const Change del{WriteBatch::ChangeType::kDeleteRow, row, {}, {}, {}};
  return Apply(1, [&del](size_t) { return del; });
}

Status StoreImpl::Write(const WriteBatch& batch) {
  return Apply(batch.size(), [&batch](size_t i) {
    const WriteBatch::Change& change = batch.changes_[i];
    return Change{change.type, change.row, change.family, change.qualifier,
                  change.value};
  });
}

template <typename ChangeAt>
Status StoreImpl::Apply(size_t count, ChangeAt change_at) {
  return CatchExceptions([&]() -> Status {
    if (opened_.read_only) {
      return Status::NotSupported(opened_.path + " is open for reading only");
    }
    if (count == 0) return Status::OK();
    const std::lock_guard lock(write_mutex_);
    const uint64_t timestamp_ms = clock_.Next();
    const auto head = EncodeCellHead(timestamp_ms);
    rocksdb::WriteBatch batch;
    std::string row_bytes;
    std::string_view row;  // what row_bytes encodes, once there is one
    for (size_t i = 0; i < count; ++i) {
      const Change change = change_at(i);
      if (i == 0 || change.row != row) {
        if (Status s = EncodeRow(change.row, &row_bytes); !s.ok()) return s;
        row = change.row;
      }
      if (Status s = Add(change, row_bytes, View(head), &batch); !s.ok()) {
        return s;
      }
      if (batch.GetDataSize() > kMaxBatchBytes) {
        return Status::InvalidArgument("a batch of more than " +
                                       std::to_string(kMaxBatchBytes) +
                                       " bytes: write fewer changes at once");
      }
    }
    const auto bound_ms = clock_.BoundToKeep(timestamp_ms);
    if (bound_ms) {
      if (Status s = PutClockRecord(*bound_ms, &batch); !s.ok()) return s;
    }
    Status s = opened_.database->Write(rocksdb::WriteOptions(), &batch);
    if (s.ok() && bound_ms) clock_.Kept(*bound_ms);
    return s;
  });
}

Status StoreImpl::Add(const Change& change, std::string_view row_bytes,
                      std::string_view head, rocksdb::WriteBatch* batch) const {
  if (change.type == WriteBatch::ChangeType::kDeleteRow) {
    const std::string end = RowEnd(row_bytes);
    for (const auto& [name, family] : opened_.families) {
      Status s = batch->DeleteRange(family.handle, Slice(row_bytes), end);
      if (!s.ok()) return s;
    }
    return Status::OK();
  }
  const Family* family = nullptr;
  Status s = FindFamily(change.family, &family);
  if (!s.ok()) return s;
  s = CheckSize("a qualifier", change.qualifier, kMaxQualifierBytes);
  if (!s.ok()) return s;
  const Slice key_parts[] = {Slice(row_bytes), Slice(change.qualifier)};
  const rocksdb::SliceParts key(key_parts, 2);
  if (change.type == WriteBatch::ChangeType::kDelete) {
    return batch->Delete(family->handle, key);
  }
  s = CheckSize("a value", change.value, kMaxValueBytes);
  if (!s.ok()) return s;
  const Slice value_parts[] = {Slice(head), Slice(change.value)};
  return batch->Put(family->handle, key, rocksdb::SliceParts(value_parts, 2));
}

Status StoreImpl::EncodeRow(std::string_view row,
                            std::string* row_bytes) const {
  if (row.empty() || row.size() > kMaxRowBytes) {
    return Status::InvalidArgument("a row of " + std::to_string(row.size()) +
                                   " bytes: expected 1 to " +
                                   std::to_string(kMaxRowBytes));
  }
  Result<std::string> encoded = opened_.key_layout.EncodeRow(row);
  if (!encoded) return Status::InvalidArgument(encoded.error());
  *row_bytes = std::move(encoded).value();
  return Status::OK();
}

Status StoreImpl::FindFamily(std::string_view name,
                             const Family** family) const {
  const auto found = opened_.families.find(name);
  if (found == opened_.families.end()) {
    return UnknownFamily(name, opened_);
  }
  *family = &found->second;
  return Status::OK();
}

Status StoreImpl::ReadCell(std::string_view row, std::string_view family_name,
                           std::string_view qualifier,
                           rocksdb::PinnableSlice* stored,
                           uint64_t* timestamp_ms,
                           std::string_view* value) const {
  const Family* family = nullptr;
  std::string key;
  Status s = FindFamily(family_name, &family);
  if (s.ok()) s = CheckSize("a qualifier", qualifier, kMaxQualifierBytes);
  if (s.ok()) s = EncodeRow(row, &key);
  if (!s.ok()) return s;
  key += qualifier;
  s = opened_.database->Get(rocksdb::ReadOptions(), family->handle, key,
                            stored);
  if (s.IsNotFound()) return Status::NotFound("no such cell");
  if (!s.ok()) return s;
  CellValue decoded;
  std::string problem;
  if (!DecodeCellValue(stored->ToStringView(), &decoded, &problem)) {
    return CorruptCell(row, family_name, qualifier, problem);
  }
  *timestamp_ms = decoded.timestamp_ms;
  *value = decoded.value;
  return Status::OK();
}

Status StoreImpl::Get(std::string_view row, std::string_view family,
                      std::string_view qualifier, std::string* value) {
  return CatchExceptions([&]() -> Status {
    rocksdb::PinnableSlice stored;
    uint64_t timestamp_ms = 0;
    std::string_view found;
    Status s = ReadCell(row, family, qualifier, &stored, &timestamp_ms, &found);
    if (s.ok()) *value = found;
    return s;
  });
}

Status StoreImpl::GetCell(std::string_view row, std::string_view family,
                          std::string_view qualifier, Cell* cell) {
  return CatchExceptions([&]() -> Status {
    rocksdb::PinnableSlice stored;
    uint64_t timestamp_ms = 0;
    std::string_view found;
    Status s = ReadCell(row, family, qualifier, &stored, &timestamp_ms, &found);
    if (s.ok()) {
      *cell = Cell{std::string(family), std::string(qualifier), timestamp_ms,
                   std::string(found)};
    }
    return s;
  });
}

Status StoreImpl::GetRow(std::string_view row, std::vector<Cell>* cells) {
  return CatchExceptions([&]() -> Status {
    cells->clear();
    std::string row_bytes;
    if (Status s = EncodeRow(row, &row_bytes); !s.ok()) return s;
    rocksdb::ManagedSnapshot snapshot(opened_.database.get());
    rocksdb::ReadOptions options;
    options.snapshot = snapshot.snapshot();
    // Asks the ROW section of each file, and ends the iteration with the row.
    options.prefix_same_as_start = true;
    for (const auto& [name, family] : opened_.families) {
      const std::unique_ptr<rocksdb::Iterator> it(
          opened_.database->NewIterator(options, family.handle));
      for (it->Seek(row_bytes); it->Valid(); it->Next()) {
        std::string_view qualifier = it->key().ToStringView();
        qualifier.remove_prefix(row_bytes.size());
        CellValue decoded;
        std::string problem;
        if (!DecodeCellValue(it->value().ToStringView(), &decoded, &problem)) {
          return CorruptCell(row, name, qualifier, problem);
        }
        cells->push_back({name, std::string(qualifier), decoded.timestamp_ms,
                          std::string(decoded.value)});
      }
      if (Status s = it->status(); !s.ok()) return s;
    }
    return Status::OK();
  });
}

Status StoreImpl::Flush() {
  return CatchExceptions([&]() -> Status {
    if (opened_.read_only) {
      return Status::NotSupported(opened_.path + " is open for reading only");
    }
    // With the metadata's column family, which would keep the log alive.
    return opened_.database->Flush(rocksdb::FlushOptions(),
                                   opened_.database.handles());
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

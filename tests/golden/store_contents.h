// The golden data list the contents of a store, a line for each:
//
//   family NAME BLOOM_TYPE FILTER_KIND RATE ROW_PREFIX_LENGTH COMPRESSION
//          BLOCK_SIZE_BYTES TIMESTAMPS MAX_VERSIONS MIN_VERSIONS TTL_MS
//   cell ROW FAMILY QUALIFIER TIMESTAMP VALUE
//   TYPE ROW FAMILY QUALIFIER TIMESTAMP
//
//   ttl ROW FAMILY QUALIFIER TIMESTAMP TTL_MS
//
// The third form is a delete that the store keeps. Its TYPE is delete,
// delete_version or delete_family. The last form is the TTL of a cell or, if it
// is 0, of one that has no other line.
#pragma once

#include <cstdint>
#include <iomanip>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "rowbloom/store.h"
#include "tests/golden/golden.h"

namespace rowbloom::golden {

// The time of the clock from which the stores were written, and the one by
// which they are read: nothing has expired.
inline constexpr uint64_t kWritingMs = 1'700'000'000'000;
inline constexpr uint64_t kReadingMs = kWritingMs + 86'400'000;

inline constexpr uint32_t kAllVersions = std::numeric_limits<uint32_t>::max();

inline void Check(const rocksdb::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

inline std::string CellLine(std::string_view row, const Cell& cell) {
  return "cell " + Hex(row) + " " + cell.family + " " + Hex(cell.qualifier) +
         " " + std::to_string(cell.timestamp_ms) + " " + Hex(cell.value);
}

inline const char* NameOf(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "NONE";
    case Compression::kLz4:
      return "LZ4";
    case Compression::kZstd:
      return "ZSTD";
  }
  return "unknown";
}

inline Lines FamilyLines(const Store& store) {
  Lines lines;
  for (const auto& [name, options] : store.Families()) {
    std::ostringstream line;
    line << std::setprecision(17) << "family " << name << " "
         << ToString(options.bloom_type) << " " << ToString(options.filter_kind)
         << " " << options.false_positive_rate << " "
         << options.row_prefix_length << " " << NameOf(options.compression)
         << " " << options.block_size_bytes << " "
         << (options.timestamps == Timestamps::kStore ? "store" : "client")
         << " " << options.max_versions << " " << options.min_versions << " "
         << options.ttl_ms;
    // The lines of folders 1 and 2 are of code that had none of these.
    if (options.bottom_compression) {
      line << " bottom " << NameOf(*options.bottom_compression);
    }
    if (options.dictionary_bytes > 0) {
      line << " dictionary " << options.dictionary_bytes;
    }
    if (options.min_blob_bytes > 0) line << " blobs " << options.min_blob_bytes;
    lines.push_back(line.str());
  }
  return lines;
}

inline Lines ScannedCells(Store* store) {
  Lines lines;
  RowScanner rows;
  Check(store->Scan({.row = {.max_versions = kAllVersions}}, &rows));
  for (const Row& row : rows) {
    for (const Cell& cell : row.cells) lines.push_back(CellLine(row.row, cell));
  }
  Check(rows.status());
  return lines;
}

struct IteratedLines {
  Lines cells;
  Lines deletes;  // and TTLs
};

// The cells and deletes of one family, as its CellIterator gives them.
inline IteratedLines IteratedCells(Store* store, const std::string& family) {
  IteratedLines lines;
  std::unique_ptr<CellIterator> it;
  Check(store->NewCellIterator({.family = family, .deletes = true}, &it));
  for (; it->Valid(); it->Next()) {
    const CellView& cell = it->cell();
    if (cell.ttl_ms) {
      lines.deletes.push_back("ttl " + Hex(cell.row) + " " + family + " " +
                              Hex(cell.qualifier) + " " +
                              std::to_string(cell.timestamp_ms) + " " +
                              std::to_string(*cell.ttl_ms));
    }
    if (cell.ttl_ms == 0) continue;
    if (cell.type == ChangeType::kPut) {
      lines.cells.push_back(
          CellLine(cell.row, {family, std::string(cell.qualifier),
                              cell.timestamp_ms, std::string(cell.value)}));
      continue;
    }
    const char* type = cell.type == ChangeType::kDelete ? "delete"
                       : cell.type == ChangeType::kDeleteVersion
                           ? "delete_version"
                           : "delete_family";
    lines.deletes.push_back(std::string(type) + " " + Hex(cell.row) + " " +
                            family + " " + Hex(cell.qualifier) + " " +
                            std::to_string(cell.timestamp_ms));
  }
  Check(it->status());
  return lines;
}

}  // namespace rowbloom::golden

#include "bench/equal_bytes.h"

#include <memory>
#include <string_view>

#include "rocksdb/db.h"
#include "rocksdb/table.h"
#include "rowbloom/bloom_math.h"
#include "storage/filter_policy/rocksdb_filter_interface.h"

namespace rowbloom::bench {
namespace {

// Calls take(filter) for each file; one filter is in memory at a time.
template <typename Take>
void ForEachFilter(const rocksdb::FilterPolicy& policy, const Cells& cells,
                   const std::vector<CellsOfFile>& files, bool prefixes,
                   Take take) {
  rocksdb::BlockBasedTableOptions table;
  table.optimize_filters_for_memory = false;  // as in the databases compared
  // The origin of a file takes bytes in a filter, so it is set as in a
  // database.
  rocksdb::FilterBuildingContext context(table);
  context.column_family_name = rocksdb::kDefaultColumnFamilyName;
  context.level_at_creation = 0;
  for (const CellsOfFile& file : files) {
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy.GetBuilderWithContext(context));
    std::string_view last_row;
    for (const size_t number : file) {
      const Cell& cell = cells.all()[number];
      builder->AddKey(cell.key);
      if (prefixes && cell.Row() != last_row) {
        last_row = cell.Row();
        builder->AddKey({last_row.data(), last_row.size()});
      }
    }
    std::unique_ptr<const char[]> buffer;
    take(builder->Finish(&buffer));
  }
}

}  // namespace

std::vector<std::string> BuildFilters(const rocksdb::FilterPolicy& policy,
                                      const Cells& cells,
                                      const std::vector<CellsOfFile>& files,
                                      bool prefixes) {
  std::vector<std::string> filters;
  ForEachFilter(policy, cells, files, prefixes,
                [&filters](const rocksdb::Slice& filter) {
                  filters.push_back(filter.ToString());
                });
  return filters;
}

uint64_t FilterBytes(const rocksdb::FilterPolicy& policy, const Cells& cells,
                     const std::vector<CellsOfFile>& files, bool prefixes) {
  uint64_t bytes = 0;
  ForEachFilter(
      policy, cells, files, prefixes,
      [&bytes](const rocksdb::Slice& filter) { bytes += filter.size(); });
  return bytes;
}

double MostBitsWithin(uint64_t byte_limit, double most_bits,
                      const std::function<uint64_t(double)>& bytes_of) {
  if (bytes_of(kMinBitsPerKey) > byte_limit) return 0;
  double low = kMinBitsPerKey;
  double high = most_bits;
  for (int i = 0; i < 12; ++i) {
    const double middle = (low + high) / 2;
    (bytes_of(middle) <= byte_limit ? low : high) = middle;
  }
  return low;
}

}  // namespace rowbloom::bench

#include "bench/built_filter.h"

#include <stdexcept>

#include "rocksdb/table.h"

namespace rowbloom::bench {
namespace {

using rocksdb::Slice;

std::unique_ptr<rocksdb::FilterBitsBuilder> MakeBuilder(
    const rocksdb::FilterPolicy& policy) {
  rocksdb::BlockBasedTableOptions table;
  table.optimize_filters_for_memory = false;  // changes sizes
  const rocksdb::FilterBuildingContext context(table);
  std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
      policy.GetBuilderWithContext(context));
  if (builder == nullptr) throw std::runtime_error("no filter builder");
  return builder;
}

void AddKeys(KeyShape shape, const KeyArray& keys,
             rocksdb::FilterBitsBuilder* builder) {
  if (shape == KeyShape::kRow) {
    for (size_t i = 0; i < keys.size(); ++i) builder->AddKey(keys[i]);
    return;
  }
  const size_t row_bytes = RowBytes(shape);
  for (size_t i = 0; i < keys.size(); ++i) {
#if ROWBLOOM_FILTER_INTERFACE >= 906
    builder->AddKeyAndAlt(keys[i], Slice(keys[i].data(), row_bytes));
#else
    builder->AddKey(keys[i]);
    if (i % kColumns == 0) builder->AddKey(Slice(keys[i].data(), row_bytes));
#endif
  }
}

}  // namespace

BuiltFilter BuildFilter(const rocksdb::FilterPolicy& policy, KeyShape shape,
                        const KeyArray& keys) {
  const auto builder = MakeBuilder(policy);
  AddKeys(shape, keys, builder.get());
  BuiltFilter filter;
  rocksdb::Status status;
  filter.bytes = builder->Finish(&filter.owner, &status);
  if (!status.ok()) throw std::runtime_error(status.ToString());
  return filter;
}

std::unique_ptr<rocksdb::FilterBitsReader> OpenFilter(
    const rocksdb::FilterPolicy& policy, const BuiltFilter& filter) {
  std::unique_ptr<rocksdb::FilterBitsReader> reader(
      policy.GetFilterBitsReader(filter.bytes));
  if (reader == nullptr) throw std::runtime_error("no filter reader");
  return reader;
}

}  // namespace rowbloom::bench

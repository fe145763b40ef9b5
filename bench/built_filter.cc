#include "bench/built_filter.h"

#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

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
  std::unique_ptr<const char[]> owner;
  filter.bytes = builder->Finish(&owner, &status);
  filter.owner = std::move(owner);
  if (!status.ok()) throw std::runtime_error(status.ToString());
  return filter;
}

BuiltFilter PlacedAt(size_t offset, const BuiltFilter& filter) {
  constexpr std::align_val_t kCacheLine{64};
  char* const start = new (kCacheLine) char[offset + filter.bytes.size()];
  BuiltFilter placed;
  placed.owner = std::shared_ptr<const char[]>(start, [](const char* bytes) {
    operator delete[](const_cast<char*>(bytes), kCacheLine);
  });
  std::memcpy(start + offset, filter.bytes.data(), filter.bytes.size());
  placed.bytes = Slice(start + offset, filter.bytes.size());
  return placed;
}

std::unique_ptr<rocksdb::FilterBitsReader> OpenFilter(
    const rocksdb::FilterPolicy& policy, const BuiltFilter& filter) {
  std::unique_ptr<rocksdb::FilterBitsReader> reader(
      policy.GetFilterBitsReader(filter.bytes));
  if (reader == nullptr) throw std::runtime_error("no filter reader");
  return reader;
}

}  // namespace rowbloom::bench

// Compiled for each layout. Must not see rowbloom's own declaration.
#include "tests/storage/filter_policy/published_side.h"

#include "tests/storage/filter_policy/published_interface.h"

namespace rowbloom::published {

void AddKey(FilterBitsBuilder* builder, const Slice& key) {
  builder->AddKey(key);
}

void AddKeyAndAlt([[maybe_unused]] FilterBitsBuilder* builder,
                  [[maybe_unused]] const Slice& key,
                  [[maybe_unused]] const Slice& alt) {
#if PUBLISHED_INTERFACE != 700
  builder->AddKeyAndAlt(key, alt);
#endif
}

size_t EstimateEntriesAdded(FilterBitsBuilder* builder) {
  return builder->EstimateEntriesAdded();
}

Slice Finish(FilterBitsBuilder* builder, Buffer* buffer) {
  return builder->Finish(buffer);
}

Slice Finish(FilterBitsBuilder* builder, Buffer* buffer, Status* status) {
  return builder->Finish(buffer, status);
}

Status MaybePostVerify(FilterBitsBuilder* builder, const Slice& filter) {
  return builder->MaybePostVerify(filter);
}

size_t ApproximateNumEntries(FilterBitsBuilder* builder, size_t bytes) {
  return builder->ApproximateNumEntries(bytes);
}

size_t CalculateSpace([[maybe_unused]] FilterBitsBuilder* builder,
                      [[maybe_unused]] size_t entries) {
#if PUBLISHED_INTERFACE == 1009
  return builder->CalculateSpace(entries);
#else
  return 0;
#endif
}

double EstimatedFpRate([[maybe_unused]] FilterBitsBuilder* builder,
                       [[maybe_unused]] size_t entries,
                       [[maybe_unused]] size_t bytes) {
#if PUBLISHED_INTERFACE == 1009
  return builder->EstimatedFpRate(entries, bytes);
#else
  return 0;
#endif
}

void Delete(FilterBitsBuilder* builder) { delete builder; }

bool MayMatch(FilterBitsReader* reader, const Slice& entry) {
  return reader->MayMatch(entry);
}

void MayMatch(FilterBitsReader* reader, int count, Slice** keys,
              bool* may_match) {
  reader->MayMatch(count, keys, may_match);
}

void Delete(FilterBitsReader* reader) { delete reader; }

}  // namespace rowbloom::published

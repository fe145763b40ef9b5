// RocksDB's side of its private filter interface: it knows the classes as
// published_interface.h declares them, and calls objects of ours.
#pragma once

#include <memory>
#include <vector>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace rocksdb {
class FilterBitsBuilder;
class FilterBitsReader;
}  // namespace rocksdb

namespace rowbloom {

struct Slot;

// The virtual functions of a layout: 700, 906 or 1009, or 0 for RocksDB's own.
template <int Interface>
std::vector<Slot> PublishedSlots();

// Calls of one function each; a layout that lacks it calls nothing, and returns
// zero.
namespace published {

using rocksdb::FilterBitsBuilder;
using rocksdb::FilterBitsReader;
using rocksdb::Slice;
using rocksdb::Status;
using Buffer = std::unique_ptr<const char[]>;

void AddKey(FilterBitsBuilder* builder, const Slice& key);
void AddKeyAndAlt(FilterBitsBuilder* builder, const Slice& key,
                  const Slice& alt);
size_t EstimateEntriesAdded(FilterBitsBuilder* builder);
Slice Finish(FilterBitsBuilder* builder, Buffer* buffer);
Slice Finish(FilterBitsBuilder* builder, Buffer* buffer, Status* status);
Status MaybePostVerify(FilterBitsBuilder* builder, const Slice& filter);
size_t ApproximateNumEntries(FilterBitsBuilder* builder, size_t bytes);
size_t CalculateSpace(FilterBitsBuilder* builder, size_t entries);
double EstimatedFpRate(FilterBitsBuilder* builder, size_t entries,
                       size_t bytes);
void Delete(FilterBitsBuilder* builder);

bool MayMatch(FilterBitsReader* reader, const Slice& entry);
void MayMatch(FilterBitsReader* reader, int count, Slice** keys,
              bool* may_match);
void Delete(FilterBitsReader* reader);

}  // namespace published
}  // namespace rowbloom

// The example of the guide of the filter policy.
#pragma once

namespace rocksdb {
class DB;
class FilterPolicy;
}  // namespace rocksdb

// Prints what the filters of a database did, and how many of its files have
// some.
void WatchFilters(rocksdb::DB* db, const rocksdb::FilterPolicy& policy);

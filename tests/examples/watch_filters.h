// The example of the guide of the filter policy.
#pragma once

namespace rocksdb {
class DB;
class FilterPolicy;
}  // namespace rocksdb

// Prints what the filters of a policy did, and whether the database uses it.
void WatchFilters(rocksdb::DB* db, const rocksdb::FilterPolicy& policy);

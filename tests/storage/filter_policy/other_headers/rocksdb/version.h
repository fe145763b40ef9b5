// Stands in for the header of another RocksDB, whose version the test gives.
#pragma once

#define ROCKSDB_MAJOR OTHER_MAJOR
#define ROCKSDB_MINOR OTHER_MINOR
#define ROCKSDB_PATCH 0

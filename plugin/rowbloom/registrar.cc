// RocksDB's object registry calls this function, which rowbloom.mk names, in
// every program with a RocksDB that was built with this plugin.
#if __cplusplus < 202002L
#error \
    "rowbloom needs C++20: cmake -DCMAKE_CXX_STANDARD=20, or make ROCKSDB_CXX_STANDARD=c++20"
#endif

#include <new>
#include <string>

#include "rocksdb/utilities/object_registry.h"
#include "storage/filter_policy/ids.h"

extern "C" int RegisterRowbloomPlugin(rocksdb::ObjectLibrary& library,
                                      const std::string& /*arg*/);

// Returns how many kinds of objects the library makes from now on. RocksDB is
// not exception-safe.
int RegisterRowbloomPlugin(rocksdb::ObjectLibrary& library,
                           const std::string& /*arg*/) {
  try {
    return rowbloom::AddFactories(&library);
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

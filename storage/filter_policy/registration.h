// RegisterRowbloom and a build of RocksDB with rowbloom in it share these
// declarations.
#pragma once

#include "rocksdb/utilities/object_registry.h"

namespace rowbloom {

// Has `library` make policies, extractors and properties of their ids. Returns
// how many kinds of objects that are. Thread-safe, as the library is. May throw
// std::bad_alloc.
int AddFactories(rocksdb::ObjectLibrary* library);

}  // namespace rowbloom

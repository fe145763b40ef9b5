// Converts between C++ objects and the handles of RocksDB's C API, whose header
// only declares the structs. As db/c.cc defines them, handles of databases,
// options and families begin with the C++ object or a pointer to it. Handles of
// policies and extractors derive from the C++ class alone, so they have the
// address of the object. tests/storage/c/rocksdb_test.c covers each handle.
#pragma once

#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/slice_transform.h"
#include "rowbloom/c.h"

namespace rowbloom::c {

// NotSupported: this library was linked with a static RocksDB. It is not that
// of the program: handles must not go from one to the other, and what is
// registered in one is not known to the other.
inline rocksdb::Status CheckRocksDbIsShared() {
#ifdef ROWBLOOM_C_HAS_A_ROCKSDB
  return rocksdb::Status::NotSupported(
      "librowbloom.so was linked with a static RocksDB, which is not the "
      "program's: filters need a librocksdb.so that both use");
#else
  return rocksdb::Status::OK();
#endif
}

inline rocksdb::DB*& DbOf(rocksdb_t* db) {
  return *reinterpret_cast<rocksdb::DB**>(db);
}

inline rocksdb::Options* OptionsOf(rocksdb_options_t* options) {
  return reinterpret_cast<rocksdb::Options*>(options);
}

// REQUIRES that `family` is not null.
inline rocksdb::ColumnFamilyHandle* FamilyOf(
    const rocksdb_column_family_handle_t* family) {
  return *reinterpret_cast<rocksdb::ColumnFamilyHandle* const*>(family);
}

// Return handles that the C API owns and deletes by the virtual destructors of
// the objects.
inline rocksdb_filterpolicy_t* HandleOf(const rocksdb::FilterPolicy* policy) {
  return reinterpret_cast<rocksdb_filterpolicy_t*>(
      const_cast<rocksdb::FilterPolicy*>(policy));
}
inline rocksdb_slicetransform_t* HandleOf(
    const rocksdb::SliceTransform* extractor) {
  return reinterpret_cast<rocksdb_slicetransform_t*>(
      const_cast<rocksdb::SliceTransform*>(extractor));
}

}  // namespace rowbloom::c

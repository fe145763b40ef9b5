// The objects behind the handles of RocksDB's C API, whose header declares the
// structs only. As db/c.cc defines them, those of databases, options and
// families begin with the C++ object or a pointer to it, and those of policies
// and extractors derive from its class alone, so that their addresses are the
// same. tests/storage/c/rocksdb_test.c goes through each of them.
#pragma once

#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/slice_transform.h"
#include "rowbloom/c.h"

namespace rowbloom::c {

// Each handle begins with the object that it stands for.
template <typename Object>
struct Handle {
  Object rep;
};

inline rocksdb::DB*& DbOf(rocksdb_t* db) {
  return reinterpret_cast<Handle<rocksdb::DB*>*>(db)->rep;
}

inline rocksdb::Options* OptionsOf(rocksdb_options_t* options) {
  return &reinterpret_cast<Handle<rocksdb::Options>*>(options)->rep;
}

// REQUIRES that `family` is not null.
inline rocksdb::ColumnFamilyHandle* FamilyOf(
    const rocksdb_column_family_handle_t* family) {
  return reinterpret_cast<const Handle<rocksdb::ColumnFamilyHandle*>*>(family)
      ->rep;
}

// The C API owns what it is given here, and deletes it by its virtual
// destructor.
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

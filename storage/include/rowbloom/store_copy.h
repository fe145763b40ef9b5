// Store::CopyTo makes a new store of the cells of another one, with other
// options: other rules for versions, another cell format (FamilyOptions),
// another key layout, and some of the families and rows.
//
//   rowbloom::CopyOptions copy;
//   copy.families = {{"info", {.max_versions = 3}}};
//   copy.stop_row = "user_5000";
//   rowbloom::CopyReport report;
//   rocksdb::Status s = store->CopyTo("copy.db", copy, &report);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rowbloom/store_options.h"

namespace rowbloom {

struct CopyOptions {
  // Families of the store that are copied, with their options in the copy.
  // Empty: all, with the options that they have.
  std::vector<FamilyDescriptor> families;
  // The rows that are copied: from the first, included, to the second,
  // excluded. An empty one is no bound.
  std::string start_row;
  std::string stop_row;
  // Options of the new store. A key_layout that is not set is that of this
  // store, an env that is not set its. read_only and create_if_missing have no
  // meaning here.
  StoreOptions store;
};

struct CopyReport {
  uint64_t families = 0;
  uint64_t cells = 0;    // versions and deletes that were copied
  uint64_t deletes = 0;  // those among the cells
};

}  // namespace rowbloom

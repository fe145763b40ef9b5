// Stores and HFiles for the tests of transfers.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rowbloom/hfile.h"
#include "rowbloom/hfile_transfer.h"
#include "rowbloom/store.h"
#include "tests/storage/hfile/test_cells.h"
#include "tests/storage/store/store_model.h"

namespace rowbloom::test {

// A family that takes all versions, with their timestamps.
inline constexpr uint32_t kManyVersions = 1'000'000;
FamilyDescriptor ManyVersions(const std::string& name);

// All cells of a file. Fails the test when they cannot be read.
std::vector<HFileCell> CellsOf(const std::string& path);

// Applies cells that are in a file's order to the model as an import has to:
// the deletes first, then the puts, of equal ones the first.
void ApplyCells(const std::vector<HFileCell>& cells, const std::string& family,
                StoreModel* model);

// Fails the test unless a scan of all versions finds in the store what it finds
// in the model, and at least one row if `some`.
void ExpectSameRows(Store* store, const StoreModel& model, uint64_t now_ms,
                    bool some = true);

// The paths of all files under a directory, hidden ones too.
std::vector<std::string> FilesIn(const std::string& directory);

}  // namespace rowbloom::test

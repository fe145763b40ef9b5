// StoreModel gives the answers that a store should give, kept as plainly as
// possible: every version is in a map, and deletes are applied when they come.
// It shares nothing with the store's code but the types of its interface.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "rowbloom/cell.h"
#include "rowbloom/read_options.h"
#include "rowbloom/store_options.h"
#include "tests/storage/store/filter_model.h"
#include "tests/support/owned_address.h"

namespace rowbloom::test {

// The families of a model, for a store.
inline std::vector<FamilyDescriptor> Descriptors(
    const std::map<std::string, FamilyOptions>& of) {
  std::vector<FamilyDescriptor> families;
  for (const auto& [name, options] : of) families.push_back({name, options});
  return families;
}

class StoreModel {
 public:
  explicit StoreModel(std::map<std::string, FamilyOptions> families)
      : families_(std::move(families)) {}

  void Put(const std::string& row, const std::string& family,
           const std::string& qualifier, uint64_t timestamp_ms,
           const std::string& value,
           std::optional<uint64_t> ttl_ms = std::nullopt);
  // A delete has a timestamp, and takes the versions up to another, at least as
  // large, if that is given.
  void Delete(const std::string& row, const std::string& family,
              const std::string& qualifier, uint64_t timestamp_ms,
              uint64_t takes_ms = 0);
  void DeleteVersion(const std::string& row, const std::string& family,
                     const std::string& qualifier, uint64_t timestamp_ms);
  void DeleteFamily(const std::string& row, const std::string& family,
                    uint64_t timestamp_ms, uint64_t takes_ms = 0);
  void DeleteFamilyVersion(const std::string& row, const std::string& family,
                           uint64_t timestamp_ms);
  // Deletes the row. `timestamp_ms` is the store's; in families of the client
  // the delete has that of the newest version.
  void DeleteRow(const std::string& row, uint64_t timestamp_ms);

  bool HasFamilyVersionDelete(const std::string& row, const std::string& family,
                              uint64_t timestamp_ms) const {
    return family_version_deletes_.contains({row, family, timestamp_ms});
  }

  // A model that answers as this one for one row.
  StoreModel OfRow(const std::string& row) const;

  // One that is not there yet, and one with all its cells.
  void CreateFamily(const std::string& family, const FamilyOptions& options) {
    families_.emplace(family, options);
  }
  void DropFamily(const std::string& family);

  // The results of the store's functions of these names at `now_ms`; at 0
  // nothing has expired. Snapshots
  // and tokens in the options are ignored, and `filter` is in the place of
  // theirs.
  std::vector<Cell> GetVersions(const OwnedAddress& at,
                                const ReadOptions& options,
                                uint64_t now_ms) const;
  // The TTL of a version that is there.
  std::optional<uint64_t> TtlOf(const OwnedAddress& at,
                                uint64_t timestamp_ms) const;
  std::vector<Cell> GetRow(const std::string& row, const RowOptions& options,
                           uint64_t now_ms,
                           const FilterModel& filter = {}) const;
  std::vector<Row> Scan(const ScanOptions& options, uint64_t now_ms,
                        const FilterModel& filter = {}) const;

 private:
  struct Version {
    std::string value;
    std::optional<uint64_t> ttl_ms;
  };
  struct ModelCell {
    std::map<uint64_t, Version> versions;  // oldest first
    std::set<uint64_t> deleted_versions;
    std::optional<uint64_t> deleted_upto;
  };
  // (row, family, qualifier)
  using Key = std::tuple<std::string, std::string, std::string>;

  // Returns true when only the latest write counts, whatever its timestamp.
  bool KeepsLatest(const std::string& family) const;
  void Remove(ModelCell* cell, uint64_t upto_ms);

  // The rows of these names that have something to show, in that order.
  std::vector<Row> Read(const std::vector<std::string>& names,
                        const RowOptions& options, uint64_t now_ms,
                        const FilterModel& filter) const;
  // The cells that the columns of a row show, in the order of the read.
  std::vector<std::vector<Cell>> ReadColumns(const std::string& row,
                                             const RowOptions& options,
                                             uint64_t now_ms) const;

  std::map<std::string, FamilyOptions> families_;
  std::map<Key, ModelCell> cells_;
  // (row, family): what a delete of the family has taken.
  std::map<std::pair<std::string, std::string>, uint64_t> family_deletes_;
  // (row, family, timestamp)
  std::set<std::tuple<std::string, std::string, uint64_t>>
      family_version_deletes_;
};

}  // namespace rowbloom::test

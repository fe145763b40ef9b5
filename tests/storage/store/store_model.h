// What a store should answer, kept as plainly as possible: every version in a
// map, deletes applied when they come. Shares nothing with the store's code but
// the types of its interface.
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

namespace rowbloom::test {

class StoreModel {
 public:
  explicit StoreModel(std::map<std::string, FamilyOptions> families)
      : families_(std::move(families)) {}

  void Put(const std::string& row, const std::string& family,
           const std::string& qualifier, uint64_t timestamp_ms,
           const std::string& value);
  void Delete(const std::string& row, const std::string& family,
              const std::string& qualifier, uint64_t timestamp_ms);
  void DeleteVersion(const std::string& row, const std::string& family,
                     const std::string& qualifier, uint64_t timestamp_ms);
  void DeleteFamily(const std::string& row, const std::string& family,
                    uint64_t timestamp_ms);
  void DeleteFamilyVersion(const std::string& row, const std::string& family,
                           uint64_t timestamp_ms);
  // Without a timestamp of its own: `timestamp_ms` is the store's, and in
  // families of the client it is that of the newest version.
  void DeleteRow(const std::string& row, uint64_t timestamp_ms);

  // One that is not there yet, and one with all its cells.
  void CreateFamily(const std::string& family, const FamilyOptions& options) {
    families_.emplace(family, options);
  }
  void DropFamily(const std::string& family);

  // What the store's functions of these names give at `now_ms`, whatever
  // snapshot the options name.
  std::vector<Cell> GetVersions(const CellAddress& at,
                                const ReadOptions& options,
                                uint64_t now_ms) const;
  std::vector<Cell> GetRow(const std::string& row, const RowOptions& options,
                           uint64_t now_ms) const;
  std::vector<Row> Scan(const ScanOptions& options, uint64_t now_ms) const;

 private:
  struct ModelCell {
    std::map<uint64_t, std::string> versions;  // oldest first
    std::set<uint64_t> deleted_versions;
    std::optional<uint64_t> deleted_upto;
  };
  // (row, family, qualifier)
  using Key = std::tuple<std::string, std::string, std::string>;

  // Whether only the latest write counts, whatever its timestamp.
  bool KeepsLatest(const std::string& family) const;
  void Remove(ModelCell* cell, uint64_t upto_ms);

  std::map<std::string, FamilyOptions> families_;
  std::map<Key, ModelCell> cells_;
  // (row, family): what a delete of the family has taken.
  std::map<std::pair<std::string, std::string>, uint64_t> family_deletes_;
  // (row, family, timestamp)
  std::set<std::tuple<std::string, std::string, uint64_t>>
      family_version_deletes_;
};

}  // namespace rowbloom::test

// ReadRules gives the answers of HBase to the queries of a HBaseCase, and those
// of a store that differs from HBase by named rules. It follows the README
// beside the cases and that of storage/store, and shares no code with the store
// or StoreModel.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/storage/store/hbase_cases.h"

namespace rowbloom::test {

// The rules by which the store differs. With none of them the answers are
// HBase's.
struct ReadRules {
  // Columns asked for by name show what they show otherwise. In HBase a column
  // with min_versions and a TTL shows one expired version more.
  bool names_show_no_more = false;
  // Time ranges choose among the newest max_versions, and min_versions are the
  // newest of all. In HBase both count versions in the time range alone.
  bool range_within_newest = false;
  // A version is surplus once max_versions newer ones were there that no delete
  // had taken, and does not come back. In HBase it does when these are deleted.
  bool surplus_stays_gone = false;
  // A version that expired stays gone: each Delete counts for min_versions, and
  // so does a version that a DeleteFamilyVersion took. In HBase none does.
  bool expired_stays_gone = false;

  friend bool operator==(const ReadRules&, const ReadRules&) = default;
};

// The store's own.
inline constexpr ReadRules kStoreRules = {.names_show_no_more = true,
                                          .range_within_newest = true,
                                          .surplus_stays_gone = true,
                                          .expired_stays_gone = true};

// The family of one case after all of its writes.
class ReadModel {
 public:
  // Keeps a reference to `of`.
  ReadModel(const HBaseCase& of, const ReadRules& rules);

  std::vector<HBaseCell> Answer(const HBaseQuery& query) const;

 private:
  struct ColumnState {
    std::map<uint64_t, std::string> versions;  // by timestamp
    // The timestamps at which a delete of one counts for min_versions.
    std::set<uint64_t> single_deletes;
  };
  using Columns = std::map<std::string, ColumnState>;  // by qualifier

  void Apply(const HBaseWrite& write, const std::vector<HBaseWrite>& deletes);
  void ShowColumn(const std::string& row, const std::string& qualifier,
                  const ColumnState& column, const HBaseQuery& query,
                  std::vector<HBaseCell>* answer) const;

  const HBaseCase& case_;
  const ReadRules rules_;
  std::map<std::string, Columns> rows_;
};

}  // namespace rowbloom::test

// FamilyData: the cells of a family's files, the files that its reads consider,
// and what filters cost over all of them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/advise.h"
#include "rowbloom/key_layout.h"
#include "tools/sst_inspect/database_tree.h"
#include "tools/sst_inspect/filter_cost.h"
#include "tools/sst_inspect/table_file.h"

namespace rowbloom::sst_inspect {

// A sample of the family's distinct rows, those with the smallest hashes, tells
// which files a read considers, by their ranges of keys, and which of these
// have its row. Absent rows are taken to lie as the rows that exist.
class FamilyData {
 public:
  // The family must outlive it. `layout_id` is the key layout of all files;
  // empty: as each file says.
  FamilyData(const TreeFamily& family, std::string layout_id)
      : family_(family), layout_id_(std::move(layout_id)) {}

  // Reads the data and the filter of a file of the family. InvalidArgument: no
  // key layout is known. After another error in the data it has what was read
  // before that.
  rocksdb::Status Add(const TreeFile& place, const TableFile& file);
  bool empty() const { return files_.empty(); }

  // Calls `use` with the report. InvalidArgument: the rate is out of its range.
  // REQUIRES !empty(). Call it once, last.
  rocksdb::Status Report(const std::string& path, double false_positive_rate,
                         const std::function<void(const AdviceReport&)>& use);

 private:
  struct File {
    const TreeFile* place = nullptr;
    FileProfile profile;
    PresentFilter present;
    double considered = 0;  // share of reads that consider it
    double has_row = 0;     // share of the family's rows that it has

    double row_spread() const {
      return considered == 0 ? 1 : has_row / considered;
    }
  };
  struct SampledRow {
    std::string row;            // as in the key
    std::vector<size_t> files;  // that have it, by their index
  };

  void AddRow(std::string_view row);
  void FindReads();
  FilterCost PresentCost() const;
  FilterCost CostOf(const FilterSpec& filter, std::string which) const;

  const TreeFamily& family_;
  const std::string layout_id_;
  std::optional<KeyLayout> layout_;
  std::vector<File> files_;
  std::map<size_t, SampledRow> sample_;  // by the hash of the row
};

}  // namespace rowbloom::sst_inspect

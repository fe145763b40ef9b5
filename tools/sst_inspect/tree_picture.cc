#include "tools/sst_inspect/tree_picture.h"

#include "rowbloom/printable.h"

namespace rowbloom::sst_inspect {
namespace {

// Each level is drawn by up to twice as many runs.
constexpr size_t kRuns = 1024;

}  // namespace

void TreeDrawer::AddFile(const TreeFamily& /*family*/, const TreeFile& file,
                         const TreeSums& sums) {
  if (sums.unread_files == 0) read_files_.push_back(&file);
  runs_.try_emplace(file.level, kRuns)
      .first->second.Add({sums, ToPrintable(file.path),
                          keys_.ShortText(file.smallest),
                          keys_.ShortText(file.largest)});
}

void TreeDrawer::AddLevel(const TreeFamily& /*family*/, int level,
                          const TreeSums& sums) {
  levels_.push_back({level, sums, runs_.at(level).items()});
}

void TreeDrawer::AddFamily(const TreeFamily& family, const TreeSums& sums) {
  picture_.families.push_back(
      {ToPrintable(family.name),
       {{"order", ToPrintable(family.comparator)},
        {"filter of new files", NameOrNone(family.filter_policy)},
        {"prefix extractor of new files", NameOrNone(family.prefix_extractor)}},
       sums,
       std::exchange(levels_, {})});
  runs_.clear();
}

}  // namespace rowbloom::sst_inspect

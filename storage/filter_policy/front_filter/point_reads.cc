#include "storage/filter_policy/front_filter/point_reads.h"

#include "rocksdb/env.h"
#include "rocksdb/version.h"

namespace rowbloom::front_filter {

Family* FamilyToAsk(const Core& core, const rocksdb::ReadOptions& options,
                    const rocksdb::ColumnFamilyHandle* family) {
  if (options.timestamp != nullptr) return nullptr;
#if ROCKSDB_MAJOR >= 9
  if (options.io_activity != rocksdb::Env::IOActivity::kUnknown) return nullptr;
#endif
  return core.FindToAsk(family->GetID());
}

Said Ask(Core* core, const Family& family, const rocksdb::Slice& key) {
  Said said = Said::kNothing;
  core->AskAll(
      family, 1,
      [&](size_t /*i*/) {
        const auto row = RowOf(family, key);
        if (row) said = Said::kMayExist;
        return row;
      },
      [&said](size_t /*i*/) { said = Said::kAbsent; });
  return said;
}

void CountPassed(Core* core, Said said, const rocksdb::Status& status) {
  if (said == Said::kNothing) return;
  if (status.ok()) {
    core->Add(Count::kPassedFound);
  } else if (status.IsNotFound()) {
    core->Add(Count::kPassedWasted);
  }
}

}  // namespace rowbloom::front_filter

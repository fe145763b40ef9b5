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

Said Ask(const Family& family, const rocksdb::Slice& key) {
  const Bypass::Get get = family.bypass().Next();
  Said said = Said::kNothing;
  if (get == Bypass::Get::kSkips) {
    family.Add(Count::kBypassed);
    return said;
  }
  family.AskAll(
      1,
      [&](size_t /*i*/) {
        const auto parts = PartsOf(family, key);
        if (parts) said = Said::kMayExist;
        return parts;
      },
      [&said](size_t /*i*/) { said = Said::kAbsent; });
  if (get == Bypass::Get::kIsSample) {
    family.bypass().Learn(1, said == Said::kAbsent ? 1 : 0);
  }
  return said;
}

void CountPassed(const Family& family, Said said,
                 const rocksdb::Status& status) {
  if (said == Said::kNothing) return;
  if (status.ok()) {
    family.Add(Count::kPassedFound);
  } else if (status.IsNotFound()) {
    family.Add(Count::kPassedWasted);
  }
}

}  // namespace rowbloom::front_filter

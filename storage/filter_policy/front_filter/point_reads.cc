#include "storage/filter_policy/front_filter/point_reads.h"

#include "rocksdb/env.h"
#include "rocksdb/version.h"

namespace rowbloom::front_filter {

Family* FamilyToProbe(const Core& core, const rocksdb::ReadOptions& options,
                      const rocksdb::ColumnFamilyHandle* family) {
  if (options.timestamp != nullptr) return nullptr;
#if ROCKSDB_MAJOR >= 9
  if (options.io_activity != rocksdb::Env::IOActivity::kUnknown) return nullptr;
#endif
  return core.FindToProbe(family->GetID());
}

Answer LookUpOne(const Family& family, const rocksdb::Slice& key) {
  const Bypass::Get get = family.bypass().Next();
  Answer answer = Answer::kNothing;
  if (get == Bypass::Get::kSkips) {
    family.Add(Count::kBypassed);
    return answer;
  }
  family.LookUp(
      1,
      [&](size_t /*i*/) {
        const auto parts = PartsOf(family, key);
        if (parts) answer = Answer::kMayExist;
        return parts;
      },
      [&answer](size_t /*i*/) { answer = Answer::kAbsent; });
  if (get == Bypass::Get::kIsSample && answer != Answer::kNothing) {
    family.bypass().Learn(1, answer == Answer::kAbsent ? 1 : 0);
  }
  return answer;
}

void CountPassed(const Family& family, Answer answer,
                 const rocksdb::Status& status) {
  if (answer == Answer::kNothing) return;
  if (status.ok()) {
    family.Add(Count::kPassedFound);
  } else if (status.IsNotFound()) {
    family.Add(Count::kPassedWasted);
  }
}

}  // namespace rowbloom::front_filter

#include "storage/store/alterable_filter_policy.h"

#include <map>
#include <string_view>
#include <utility>

namespace rowbloom {

using rocksdb::FilterPolicy;
using rocksdb::Status;

void AlterableFilterPolicy::Alter(std::shared_ptr<const FilterPolicy> policy) {
  const std::lock_guard lock(mutex_);
  const std::string_view name = policy->Name();
  current_ = 0;
  while (current_ < policies_.size() && policies_[current_]->Name() != name) {
    ++current_;
  }
  if (current_ == policies_.size()) policies_.push_back(std::move(policy));
}

Status AlterableFilterPolicy::Stats(
    std::vector<LevelFilterStats>* stats) const {
  std::vector<std::shared_ptr<const FilterPolicy>> policies;
  {
    const std::lock_guard lock(mutex_);
    policies = policies_;
  }
  std::map<int, FilterStats> sums;
  for (const auto& policy : policies) {
    std::vector<LevelFilterStats> levels;
    Status s = GetFilterStats(*policy, &levels);
    if (!s.ok()) return s;
    for (const LevelFilterStats& level : levels) {
      sums[level.level] += level.stats;
    }
  }
  stats->clear();
  for (auto& [level, sum] : sums) stats->push_back({level, sum});
  return Status::OK();
}

const FilterPolicy& AlterableFilterPolicy::First() const {
  const std::lock_guard lock(mutex_);
  return *policies_.front();
}

const FilterPolicy& AlterableFilterPolicy::Current() const {
  const std::lock_guard lock(mutex_);
  return *policies_[current_];
}

}  // namespace rowbloom

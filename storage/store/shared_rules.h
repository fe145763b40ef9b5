// The version rules of a family, as merges and compactions find them: they
// change while background threads use them.
#pragma once

#include <atomic>
#include <forward_list>

#include "storage/store/cell_versions.h"

namespace rowbloom {

// Get from any thread; Set from one at a time.
class SharedRules {
 public:
  explicit SharedRules(const VersionRules& rules) { Set(rules); }

  // Stays as it is while this object lives.
  const VersionRules& Get() const { return *current_; }

  void Set(const VersionRules& rules) {
    for (const VersionRules& known : known_) {
      if (known != rules) continue;
      current_ = &known;
      return;
    }
    known_.push_front(rules);
    current_ = &known_.front();
  }

 private:
  // Those that Get may have returned, each once.
  std::forward_list<VersionRules> known_;
  std::atomic<const VersionRules*> current_ = nullptr;
};

}  // namespace rowbloom

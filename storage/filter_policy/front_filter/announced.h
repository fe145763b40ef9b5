// Files that are being ingested.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "storage/filter_policy/front_filter/core.h"

namespace rowbloom::front_filter {

// The files of one call of ingestion. Their rows are in the views of their
// families from the construction of this object until the first Reconcile after
// its destruction.
class Announced {
 public:
  // `env` has the files. May throw std::bad_alloc. The destructor runs then,
  // too, as the other constructor has returned.
  Announced(Core* core, rocksdb::Env* env,
            const std::vector<rocksdb::IngestExternalFileArg>& files)
      : Announced(core) {
    of_families_.reserve(files.size());
    for (const rocksdb::IngestExternalFileArg& argument : files) {
      if (argument.column_family == nullptr) continue;
      Family* const family = core->Find(argument.column_family->GetID());
      if (family == nullptr) continue;
      of_families_.emplace_back(family,
                                family->Announce(env, argument.external_files));
    }
  }
  ~Announced() {
    for (const auto& [family, files] : of_families_) {
      family->Finish(files);
      core_.Wake(family);
    }
  }
  Announced(const Announced&) = delete;
  Announced& operator=(const Announced&) = delete;

 private:
  explicit Announced(Core* core) : core_(*core) {}

  Core& core_;
  std::vector<std::pair<Family*, std::shared_ptr<Announcement>>> of_families_;
};

}  // namespace rowbloom::front_filter

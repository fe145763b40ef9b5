// Files that are being ingested.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "storage/filter_policy/front_filter/core.h"

namespace rowbloom::front_filter {

// The files of one call of ingestion. Their rows are in the views of their
// families from the construction of this object until the first Reconcile after
// its destruction.
class Announced {
 public:
  // `env` has the files. May throw std::bad_alloc.
  Announced(Core* core, rocksdb::Env* env,
            const std::vector<rocksdb::IngestExternalFileArg>& files) {
    for (const rocksdb::IngestExternalFileArg& argument : files) {
      if (argument.column_family == nullptr) continue;
      Family* const family = core->Find(argument.column_family->GetID());
      if (family == nullptr) continue;
      of_families_.emplace_back(core, family, env, argument.external_files);
    }
  }

 private:
  class OfFamily {
   public:
    OfFamily(Core* core, Family* family, rocksdb::Env* env,
             const std::vector<std::string>& paths)
        : core_(*core),
          family_(*family),
          files_(family->Announce(env, paths)) {}
    ~OfFamily() {
      family_.Finish(files_);
      core_.Wake(&family_);
    }
    OfFamily(const OfFamily&) = delete;
    OfFamily& operator=(const OfFamily&) = delete;

   private:
    Core& core_;
    Family& family_;
    const std::shared_ptr<Announcement> files_;
  };

  std::list<OfFamily> of_families_;
};

}  // namespace rowbloom::front_filter

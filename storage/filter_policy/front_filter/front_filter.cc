#include "rowbloom/front_filter.h"

#include <algorithm>
#include <utility>

#include "lib/bytes/text.h"
#include "storage/filter_policy/front_filter/announced.h"
#include "storage/filter_policy/front_filter/core.h"
#include "storage/filter_policy/front_filter/memtable_factory.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/rocksdb_version.h"

namespace rowbloom {

using front_filter::Core;
using front_filter::Family;
using front_filter::KeyParts;
using rocksdb::Status;

std::string_view ToString(FrontFilterState state) {
  return NameOf(state, {"arming", "armed", "disarmed"});
}

FrontFilter::FrontFilter(std::shared_ptr<Core> core) : core_(std::move(core)) {}

// A database that is still open holds the core by its listener.
FrontFilter::~FrontFilter() { core_->Detach(); }

Status FrontFilter::Create(const FrontFilterOptions& options,
                           std::shared_ptr<FrontFilter>* filter) {
  return CatchExceptions([&] {
    const Status s = CheckRocksDbVersion();
    if (s.ok()) filter->reset(new FrontFilter(std::make_shared<Core>(options)));
    return s;
  });
}

Status FrontFilter::Prepare(rocksdb::DBOptions* database,
                            rocksdb::ColumnFamilyOptions* family) {
  return CatchExceptions([&] {
    // Options may come from a database with another front filter.
    auto memtables = front_filter::InnerFactory(family->memtable_factory);
    family->memtable_factory = memtables;
    auto rules = front_filter::RulesOf(*family);
    if (rules) {
      family->memtable_factory = front_filter::NewMemtableFactory(
          std::move(memtables), core_, *std::move(rules));
    }
    if (database == nullptr) return Status::OK();
    const auto is_ours = [this](const auto& listener) {
      return front_filter::IsListenerOf(*listener, *core_);
    };
    if (std::ranges::none_of(database->listeners, is_ours)) {
      database->listeners.push_back(front_filter::NewListener(core_));
    }
    return Status::OK();
  });
}

Status FrontFilter::Attach(
    rocksdb::DB* database,
    const std::vector<rocksdb::ColumnFamilyHandle*>& families) {
  return CatchExceptions([&] { return core_->Attach(database, families); });
}

void FrontFilter::WaitUntilArmed() const { core_->WaitUntilArmed(); }

void FrontFilter::Detach() { core_->Detach(); }

bool FrontFilter::MayHaveRow(const rocksdb::ColumnFamilyHandle* family,
                             std::string_view row) const {
  bool may_have = true;
  MayHaveRows(family, {&row, 1}, {&may_have, 1});
  return may_have;
}

void FrontFilter::MayHaveRows(const rocksdb::ColumnFamilyHandle* family,
                              std::span<const std::string_view> rows,
                              std::span<bool> may_have) const {
  std::ranges::fill(may_have.first(rows.size()), true);
  const Family* const probed = core_->FindToProbe(family->GetID());
  if (probed == nullptr) return;
  probed->LookUp(
      rows.size(),
      [&](size_t i) -> std::optional<KeyParts> {
        if (!probed->rules().IsRow(rows[i])) return std::nullopt;
        return KeyParts{.row = rows[i]};
      },
      [&](size_t i) { may_have[i] = false; });
}

Status FrontFilter::IngestExternalFiles(
    rocksdb::DB* database,
    const std::vector<rocksdb::IngestExternalFileArg>& files) {
  return CatchExceptions([&] {
    const front_filter::Announced announced(core_.get(), database->GetEnv(),
                                            files);
    return database->IngestExternalFiles(files);
  });
}

void FrontFilter::SetEnabled(bool enabled) { core_->SetEnabled(enabled); }

FrontFilterStats FrontFilter::Stats() const { return core_->Stats(); }

}  // namespace rowbloom

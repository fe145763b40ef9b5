#include "storage/filter_policy/front_filter/core.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <string>
#include <utility>

#include "lib/bytes/text.h"
#include "storage/filter_policy/front_filter/memtable_factory.h"
#include "storage/format/status_text.h"

namespace rowbloom::front_filter {
namespace {

// The worker waits this long for more events: a compaction deletes several
// files. It checks replaced views as often.
constexpr auto kGather = std::chrono::milliseconds(10);

// The number in a path such as /db/000012.sst; nullopt for other paths.
std::optional<uint64_t> FileNumber(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  uint64_t number = 0;
  if (!ParseNumber(path.substr(0, path.find('.')), &number)) return {};
  return number;
}

void Add(const FrontFilterCounts& more, FrontFilterCounts* sum) {
  sum->asked += more.asked;
  sum->answered += more.answered;
  sum->passed_found += more.passed_found;
  sum->passed_wasted += more.passed_wasted;
  sum->bypassed += more.bypassed;
}

class Listener final : public rocksdb::EventListener {
 public:
  explicit Listener(std::shared_ptr<Core> core) : core_(std::move(core)) {}

  // Returns a name that no other core has, in any copy of rowbloom.
  static std::string NameFor(const Core& core) {
    return "rowbloom.FrontFilter@" +
           std::to_string(reinterpret_cast<uintptr_t>(&core));
  }
  bool IsInstanceOf(const std::string& name) const override {
    return name == NameFor(*core_) || EventListener::IsInstanceOf(name);
  }

  void OnMemTableSealed(const rocksdb::MemTableInfo& info) override {
    core_->ForEach([&info](Family* family) {
      if (family->IsNamed(info.cf_name)) family->CheckMemtables();
    });
  }
  // A flush may end before OnMemTableSealed is called for a memtable that it
  // has flushed: an earlier listener may take long.
  void OnFlushBegin(rocksdb::DB* /*db*/,
                    const rocksdb::FlushJobInfo& info) override {
    Family* const family = core_->Find(info.cf_id);
    if (family != nullptr) family->CheckMemtables();
  }
  void OnFlushCompleted(rocksdb::DB* /*db*/,
                        const rocksdb::FlushJobInfo& info) override {
    Wake(info.cf_id);
  }
  void OnCompactionCompleted(rocksdb::DB* /*db*/,
                             const rocksdb::CompactionJobInfo& info) override {
    Wake(info.cf_id);
  }
  void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& info) override {
    const auto number = FileNumber(info.file_path);
    if (!number) return;
    core_->ForEach([this, number](Family* family) {
      if (family->Lists(*number)) core_->Wake(family);
    });
  }
  void OnExternalFileIngested(
      rocksdb::DB* db,
      const rocksdb::ExternalFileIngestionInfo& info) override {
    core_->ForEach([this, db, &info](Family* family) {
      if (family->OnIngested(db, info.cf_name, info.external_file_path)) {
        core_->Wake(family);
      }
    });
  }
  void OnColumnFamilyHandleDeletionStarted(
      rocksdb::ColumnFamilyHandle* handle) override {
    core_->ForgetHandle(handle);
  }

 private:
  void Wake(uint32_t id) {
    Family* const family = core_->Find(id);
    if (family != nullptr) core_->Wake(family);
  }

  const std::shared_ptr<Core> core_;
};

// Tells whether an open family with these options was prepared for this core. A
// Family with its id is no proof: it may be of another database, or of an
// earlier opening. Prepared options may have been copied and changed.
bool IsPrepared(const rocksdb::Options& options, const Family& family,
                const Core& core) {
  return options.comparator == family.rules().comparator &&
         AddsRowsTo(*options.memtable_factory, core) &&
         std::ranges::any_of(options.listeners, [&core](const auto& listener) {
           return IsListenerOf(*listener, core);
         });
}

// Tells whether the database is a secondary or a follower: only these do not
// support SetDBOptions. Other databases refuse a call without options, with a
// line in RocksDB's log. TryCatchUpWithPrimary would move a secondary forward.
bool IsSecondary(rocksdb::DB* database) {
  return database->SetDBOptions({}).IsNotSupported();
}

}  // namespace

std::shared_ptr<rocksdb::EventListener> NewListener(
    std::shared_ptr<Core> core) {
  return std::make_shared<Listener>(std::move(core));
}

bool IsListenerOf(const rocksdb::EventListener& listener, const Core& core) {
  return listener.IsInstanceOf(Listener::NameFor(core));
}

Core::Core(const FrontFilterOptions& options)
    : off_(!options.enabled),
      memory_(std::make_shared<Memory>(options.memory_limit_bytes,
                                       options.cell_memory_limit_bytes,
                                       options.charged_cache)),
      bypass_(options.bypass),
      enabled_(options.enabled) {}

Core::~Core() { Detach(); }

Family* Core::FindOrMake(uint32_t id, const FamilyRules& rules) {
  if (Family* const found = Find(id); found != nullptr) return found;
  const std::lock_guard lock(mutex_);
  if (Family* const found = Find(id); found != nullptr) return found;
  if (tables_.empty() || tables_.back()->size() <= id) {
    // Sizes double, so that all older tables together are smaller than this.
    auto table = std::make_unique<Table>(std::bit_ceil(size_t{id} + 1));
    ForEach([&table](Family* family) { (*table)[family->id()] = family; });
    tables_.push_back(std::move(table));
    slots_.store(tables_.back()->data(), std::memory_order_release);
    slot_count_.store(tables_.back()->size(), std::memory_order_release);
  }
  families_.push_back(
      std::make_unique<Family>(id, rules, &readers_, memory_, bypass_));
  Family* const made = families_.back().get();
  if (given_up_ != nullptr) made->Disarm(given_up_);
  (*tables_.back())[id].store(made, std::memory_order_release);
  return made;
}

void Core::GiveUp(const char* why) noexcept {
  {
    const std::lock_guard lock(mutex_);
    given_up_ = why;
    off_.store(true, std::memory_order_seq_cst);
  }
  ForEach([this, why](Family* family) {
    family->Disarm(why);
    Wake(family);  // frees the sections
  });
}

void Core::SetEnabled(bool enabled) {
  const std::lock_guard lock(mutex_);
  enabled_ = enabled;
  off_.store(!enabled_ || given_up_ != nullptr, std::memory_order_seq_cst);
}

rocksdb::Status Core::Attach(
    rocksdb::DB* database,
    const std::vector<rocksdb::ColumnFamilyHandle*>& handles) {
  const std::lock_guard attach(attach_mutex_);
  rocksdb::DB* const root = database->GetRootDB();
  if (IsSecondary(root)) {
    return NotSupported(
        "the front filter does not serve secondaries: their files change "
        "without notice");
  }
  {
    const std::lock_guard lock(mutex_);
    if (detached_ || (root_ != nullptr && root_ != root)) {
      return InvalidArgument(
          "a front filter serves one database, for one time that it is open");
    }
    root_ = root;
  }
  if (!worker_.joinable()) worker_ = std::thread([this] { Work(); });

  // The default family's handle is the database's own, which lives as long as
  // the database.
  std::vector<rocksdb::ColumnFamilyHandle*> families = {
      root->DefaultColumnFamily()};
  std::ranges::copy_if(handles, std::back_inserter(families),
                       [](const auto* handle) { return handle->GetID() != 0; });
  for (rocksdb::ColumnFamilyHandle* handle : families) {
    const rocksdb::Options options = root->GetOptions(handle);
    Family* const family = Find(handle->GetID());
    if (family != nullptr && IsPrepared(options, *family, *this)) {
      // Calls that may throw come first: after Attach the family must be woken.
      family->LearnPrefixes(options.prefix_extractor.get());
      if (family->Attach(root, handle)) {
        family->CheckMemtables();
        Wake(family);
      }
      continue;
    }
    const auto rules = RulesOf(options);
    const std::string why = !rules ? rules.error()
                            : handle->GetID() > kMaxId
                                ? "its id is 2^20 or more"
                                : "it was opened without Prepare";
    if (family != nullptr) {
      family->Disarm(why);
      family->Attach(root, handle);
      continue;
    }
    FrontFilterFamilyStats without;
    without.id = handle->GetID();
    without.name = handle->GetName();
    without.state = FrontFilterState::kDisarmed;
    without.why = why;
    const std::lock_guard lock(mutex_);
    without_.insert_or_assign(handle, std::move(without));
  }
  return rocksdb::Status::OK();
}

void Core::Detach() noexcept {
  const std::lock_guard attach(attach_mutex_);
  {
    const std::lock_guard lock(mutex_);
    detached_ = true;
  }
  {
    const std::lock_guard lock(work_mutex_);
    stop_ = true;
  }
  work_arrived_.notify_all();
  ForEach([](Family* family) { family->ForgetHandle(nullptr); });
  if (worker_.joinable()) worker_.join();
}

void Core::ForgetHandle(const rocksdb::ColumnFamilyHandle* handle) noexcept {
  Family* const family = Find(handle->GetID());
  const bool had_it = family != nullptr && family->ForgetHandle(handle);
  if (had_it) Wake(family);
  const std::lock_guard lock(mutex_);
  without_.erase(handle);
  // The default family's handle ends with the database: Stats keeps the family.
  if (!had_it || family->id() == 0) return;
  Add(family->Counts(), &forgotten_counts_);
  forgotten_.splice(
      forgotten_.end(), families_,
      std::ranges::find(families_, family, &std::unique_ptr<Family>::get));
}

void Core::WaitUntilArmed() const {
  ForEach([](const Family* family) { family->WaitUntilArmed(); });
}

void Core::Wake(Family* family) noexcept {
  {
    const std::lock_guard lock(work_mutex_);
    try {
      to_reconcile_.insert(family);
    } catch (...) {
      family->OnNoMemory();
    }
  }
  work_arrived_.notify_one();
}

void Core::Work() {
  std::unique_lock lock(work_mutex_);
  while (true) {
    // Readers of replaced views do not tell when they are done: poll.
    if (readers_.retired() == 0) {
      work_arrived_.wait(lock,
                         [this] { return stop_ || !to_reconcile_.empty(); });
    }
    work_arrived_.wait_for(lock, kGather, [this] { return stop_.load(); });
    if (stop_) return;
    const auto families = std::exchange(to_reconcile_, {});
    lock.unlock();
    for (Family* family : families) {
      if (stop_) return;
      try {
        family->Reconcile();
      } catch (...) {
        family->OnNoMemory();
      }
    }
    readers_.Retire({});
    // Freed sections may leave room for others that were refused.
    ForEach([this](Family* family) {
      if (family->CanReadMore()) Wake(family);
    });
    lock.lock();
  }
}

FrontFilterStats Core::Stats() const {
  FrontFilterStats stats;
  stats.bytes = memory_->used_bytes(Memory::kRows);
  stats.cell_bytes = memory_->used_bytes(Memory::kCells);
  const std::lock_guard lock(mutex_);
  for (const auto& family : families_) {
    if (!family->IsGone()) stats.families.push_back(family->Stats());
  }
  for (const auto& [handle, family] : without_) {
    stats.families.push_back(family);
  }
  std::ranges::sort(stats.families, {}, &FrontFilterFamilyStats::id);
  Add(forgotten_counts_, &stats);
  for (const FrontFilterFamilyStats& family : stats.families) {
    Add(family, &stats);
  }
  if (given_up_ != nullptr) {
    for (FrontFilterFamilyStats& family : stats.families) {
      family.state = FrontFilterState::kDisarmed;
      family.why = given_up_;
    }
  }
  return stats;
}

}  // namespace rowbloom::front_filter

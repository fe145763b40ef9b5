#include "storage/filter_policy/front_filter/family.h"

#include <algorithm>
#include <list>
#include <utility>

namespace rowbloom::front_filter {

void Family::Publish(std::vector<std::shared_ptr<MemtableRows>> memtables,
                     std::vector<std::shared_ptr<Announcement>> announced,
                     std::shared_ptr<const FileSet> files) {
  std::shared_ptr<const View> next;
  std::list<ReaderSlots::Retired> retired;
  if (state_ != FrontFilterState::kDisarmed && files != nullptr) {
    auto view = std::make_shared<View>();
    view->files = files;
    view->memtables.assign(memtables.begin(), memtables.end());
    for (const auto& announcement : announced) {
      view->announced.insert(view->announced.end(), announcement->rows.begin(),
                             announcement->rows.end());
      if (announcement->rows.size() < announcement->paths.size()) {
        view->announced_unknown = true;
      }
    }
    view->kernel = &ActiveKernel();
    next = std::move(view);
  }
  retired.emplace_back();
  // Nothing fails from here on.
  memtables_ = std::move(memtables);
  announced_ = std::move(announced);
  files_ = std::move(files);
  view_.store(next.get(), std::memory_order_seq_cst);
  retired.back().object = std::exchange(owner_, std::move(next));
  readers_->Retire(std::move(retired));
}

std::shared_ptr<MemtableRows> Family::AddMemtable() {
  auto rows = std::make_shared<MemtableRows>();
  const std::lock_guard lock(mutex_);
  if (state_ == FrontFilterState::kDisarmed) return rows;
  auto memtables = memtables_;
  if (files_ == nullptr) {  // gone before the first listing
    std::erase_if(memtables, [](const auto& one) { return one->gone(); });
  }
  memtables.push_back(rows);
  Publish(std::move(memtables), announced_, files_);
  return rows;
}

bool Family::Attach(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* handle) {
  const std::lock_guard reconcile(reconcile_mutex_);
  if (handle_ != nullptr) return false;
  const std::lock_guard lock(mutex_);
  name_ = handle->GetName();
  root_ = db->GetRootDB();
  db_ = db;
  handle_ = handle;
  return true;
}

void Family::ForgetHandle(const rocksdb::ColumnFamilyHandle* handle) noexcept {
  const std::lock_guard reconcile(reconcile_mutex_);
  if (handle_ == nullptr || (handle != nullptr && handle != handle_)) return;
  handle_ = nullptr;
  db_ = nullptr;
  Disarm("its handle is gone");
}

void Family::Reconcile() {
  const std::lock_guard reconcile(reconcile_mutex_);
  if (handle_ == nullptr) return;
  // Memtables and files that may go are noted before the listing, which shows
  // what became of them.
  std::vector<std::shared_ptr<MemtableRows>> gone;
  std::vector<std::shared_ptr<Announcement>> finished;
  {
    const std::lock_guard lock(mutex_);
    if (state_ == FrontFilterState::kDisarmed) return known_files_.clear();
    std::ranges::copy_if(memtables_, std::back_inserter(gone),
                         [](const auto& memtable) { return memtable->gone(); });
    std::ranges::copy_if(announced_, std::back_inserter(finished),
                         [](const auto& files) { return files->finished; });
  }
  rocksdb::ColumnFamilyMetaData listing;
  db_->GetColumnFamilyMetaData(handle_, &listing);
  auto files =
      std::make_shared<const FileSet>(rules_.order, LoadListed(listing));

  const auto without = [](auto all, const auto& noted) {
    std::erase_if(all, [&noted](const auto& one) {
      return std::ranges::find(noted, one) != noted.end();
    });
    return all;
  };
  const std::lock_guard lock(mutex_);
  Publish(without(memtables_, gone), without(announced_, finished),
          std::move(files));
  if (state_ == FrontFilterState::kArming) state_ = FrontFilterState::kArmed;
  ++reconciled_;
}

// Reads the sections of files that were not listed before, and forgets those of
// files that are not listed any more. REQUIRES reconcile_mutex_.
std::vector<ListedFile> Family::LoadListed(
    const rocksdb::ColumnFamilyMetaData& listing) {
  std::vector<ListedFile> files;
  std::map<uint64_t, KnownFile> known;
  for (const auto& level : listing.levels) {
    for (const auto& listed : level.files) {
      const uint64_t number = listed.file_number;
      const auto found = known_files_.find(number);
      KnownFile file;
      if (found != known_files_.end()) file = found->second;
      if (found == known_files_.end() ||
          (file.bytes_beyond_budget != 0 &&
           budget_->HasRoomFor(file.bytes_beyond_budget))) {
        auto loaded = FileRows::Load(rules_, db_->GetEnv(),
                                     listed.db_path + listed.name, budget_);
        file = {.rows = std::move(loaded.rows),
                .bytes_beyond_budget = loaded.problem.bytes_beyond_budget};
      }
      ListedFile& entry =
          files.emplace_back(ListedFile{.number = number,
                                        .level = level.level,
                                        .low = listed.smallestkey,
                                        .high = listed.largestkey,
                                        .rows = file.rows});
      if (rules_.order == RowOrder::kReverseBytewise) {
        std::swap(entry.low, entry.high);
      }
      known.emplace(number, std::move(file));
    }
  }
  known_files_ = std::move(known);
  return files;
}

void Family::Disarm(std::string_view why) noexcept {
  const std::lock_guard lock(mutex_);
  if (state_ == FrontFilterState::kDisarmed) return;
  state_ = FrontFilterState::kDisarmed;
  view_.store(nullptr, std::memory_order_seq_cst);
  try {
    why_ = why;
    Publish({}, {}, nullptr);
  } catch (...) {  // no memory: no reason is given, or the view is not freed
  }
}

std::shared_ptr<Announcement> Family::Announce(std::vector<std::string> paths) {
  auto announcement = std::make_shared<Announcement>();
  {
    const std::lock_guard reconcile(reconcile_mutex_);
    if (handle_ == nullptr) return nullptr;
    for (const std::string& path : paths) {
      auto loaded = FileRows::Load(rules_, db_->GetEnv(), path, budget_);
      if (loaded.rows != nullptr) {
        announcement->rows.push_back(std::move(loaded.rows));
      }
    }
  }
  announcement->paths = std::move(paths);
  const std::lock_guard lock(mutex_);
  auto announced = announced_;
  announced.push_back(announcement);
  Publish(memtables_, std::move(announced), files_);
  return announcement;
}

void Family::Finish(
    const std::shared_ptr<Announcement>& announcement) noexcept {
  if (announcement == nullptr) return;
  const std::lock_guard lock(mutex_);
  announcement->finished = true;
}

void Family::OnIngested(const rocksdb::DB* root, std::string_view name,
                        const std::string& path) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (root_ != root || name_ != name) return;
    for (const auto& files : announced_) {
      if (!files->finished &&
          std::ranges::find(files->paths, path) != files->paths.end()) {
        return;
      }
    }
  }
  Disarm("a file was ingested without the front filter");
}

bool Family::Lists(uint64_t number) const {
  const std::lock_guard lock(mutex_);
  return files_ != nullptr && files_->Has(number);
}

FrontFilterFamilyStats Family::Stats() const {
  const std::lock_guard lock(mutex_);
  FrontFilterFamilyStats stats;
  stats.id = id_;
  stats.name = name_;
  stats.state = state_;
  stats.why = why_;
  stats.reconciled = reconciled_;
  stats.memtables = memtables_.size();
  for (const auto& memtable : memtables_) {
    stats.memtable_bytes += memtable->bytes();
  }
  if (files_ != nullptr) {
    stats.files_known = files_->known();
    stats.files_unknown = files_->unknown();
  }
  return stats;
}

}  // namespace rowbloom::front_filter

#include "storage/filter_policy/front_filter/family.h"

#include <algorithm>
#include <list>
#include <optional>
#include <utility>

#include "rowbloom/filter_policy.h"

namespace rowbloom::front_filter {
namespace {

std::optional<uint64_t> IntProperty(rocksdb::DB* db,
                                    rocksdb::ColumnFamilyHandle* handle,
                                    const std::string& name) {
  uint64_t value = 0;
  return db->GetIntProperty(handle, name, &value) ? std::optional(value)
                                                  : std::nullopt;
}

// The properties of the files that RocksDB has open, by path; none if it closes
// and opens files as it reads.
rocksdb::TablePropertiesCollection PropertiesOfOpenFiles(
    rocksdb::DB* db, rocksdb::ColumnFamilyHandle* handle) {
  rocksdb::TablePropertiesCollection properties;
  if (db->GetDBOptions().max_open_files == -1) {
    db->GetPropertiesOfAllTables(handle, &properties).PermitUncheckedError();
  }
  return properties;
}

}  // namespace

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
      for (const auto& file : announcement->rows) view->Announce(file);
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
  auto rows = std::make_shared<MemtableRows>(memory_);
  const std::lock_guard lock(mutex_);
  if (state_ == FrontFilterState::kDisarmed) return nullptr;
  auto memtables = memtables_;
  if (handle_ == nullptr) {  // gone before the first listing begins
    std::erase_if(memtables, [](const auto& one) { return one->gone(); });
  }
  memtables.push_back(rows);
  Publish(std::move(memtables), announced_, files_);
  return rows;
}

bool Family::Attach(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* handle) {
  const std::lock_guard lock(mutex_);
  if (root_ != nullptr) return false;
  name_ = handle->GetName();
  root_ = db->GetRootDB();
  db_ = db;
  handle_ = handle;
  return state_ != FrontFilterState::kDisarmed;
}

std::vector<std::shared_ptr<MemtableRows>> Family::SealedMemtables() const {
  const std::lock_guard lock(mutex_);
  auto sealed = memtables_;
  std::erase_if(sealed, [](const auto& memtable) {
    return memtable->state() != MemtableRows::State::kSealed;
  });
  return sealed;
}

void Family::CheckMemtables() noexcept {
  const std::lock_guard check(check_mutex_);
  rocksdb::DB* db = nullptr;
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  {
    const std::lock_guard lock(mutex_);
    db = db_;
    handle = handle_;
  }
  if (handle == nullptr) return;
  try {
    while (true) {
      const auto before = SealedMemtables();
      const auto unflushed = IntProperty(
          db, handle, rocksdb::DB::Properties::kNumImmutableMemTable);
      // Those that are still sealed were sealed when RocksDB counted.
      const auto known =
          std::ranges::count_if(before, [](const auto& memtable) {
            return memtable->state() == MemtableRows::State::kSealed;
          });
      if (unflushed && *unflushed <= static_cast<uint64_t>(known)) return;
      // If none was sealed or flushed meanwhile, RocksDB has one of its own.
      if (before == SealedMemtables()) break;
    }
    Disarm(
        "RocksDB has rows in a memtable of its own, as those of transactions "
        "that bypass memtables");
  } catch (...) {
    Disarm("there was no memory to count its memtables");
  }
}

void Family::LearnPrefixes(const rocksdb::SliceTransform* extractor) {
  const auto rows = NewRowPrefixExtractor(rules_.layout);
  if (extractor == nullptr || rows == nullptr ||
      std::string_view(extractor->Name()) != rows->Name()) {
    return;
  }
  auto unknown = Prefixes::kUnknown;
  prefixes_.compare_exchange_strong(unknown, Prefixes::kRows);
}

bool Family::ForgetHandle(const rocksdb::ColumnFamilyHandle* handle) noexcept {
  bool had_it = false;
  {
    const std::lock_guard lock(mutex_);
    if (handle_ != nullptr) {
      if (handle != nullptr && handle != handle_) return false;
      DisarmLocked("its handle is gone");
      handle_ = nullptr;
      db_ = nullptr;
      had_it = true;
    }
  }
  const std::scoped_lock no_longer_used(check_mutex_, reconcile_mutex_);
  known_files_.clear();
  return had_it;
}

void Family::WaitUntilArmed() const {
  std::unique_lock lock(mutex_);
  not_arming_.wait(lock, [this] {
    return handle_ == nullptr || state_ != FrontFilterState::kArming;
  });
}

void Family::Reconcile() {
  const std::lock_guard reconcile(reconcile_mutex_);
  rocksdb::DB* db = nullptr;
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  // Memtables and files to drop are noted before the listing, so that it has
  // the files that their rows are in.
  std::vector<std::shared_ptr<MemtableRows>> gone;
  std::vector<std::shared_ptr<Announcement>> finished;
  std::shared_ptr<const FileSet> before;
  {
    const std::lock_guard lock(mutex_);
    if (state_ == FrontFilterState::kDisarmed) return known_files_.clear();
    if (handle_ == nullptr) return;
    db = db_;
    handle = handle_;
    std::ranges::copy_if(memtables_, std::back_inserter(gone),
                         [](const auto& memtable) { return memtable->gone(); });
    std::ranges::copy_if(announced_, std::back_inserter(finished),
                         [](const auto& files) { return files->finished; });
    before = files_;
  }
  rocksdb::ColumnFamilyMetaData listing;
  db->GetColumnFamilyMetaData(handle, &listing);
  std::vector<ListedFile> listed = LoadListed(listing, db, handle);
  const auto unknown = std::ranges::find_if(known_files_, [](const auto& file) {
    return file.second.rows == nullptr;
  });
  std::string why_unknown =
      unknown == known_files_.end() ? "" : unknown->second.problem.message;
  if (before != nullptr) KeepUnlisted(*before, db, handle, &listed);
  auto files = std::make_shared<const FileSet>(rules_.order, std::move(listed));

  const auto without = [](auto all, const auto& noted) {
    std::erase_if(all, [&noted](const auto& one) {
      return std::ranges::find(noted, one) != noted.end();
    });
    return all;
  };
  const std::lock_guard lock(mutex_);
  if (state_ == FrontFilterState::kDisarmed) return known_files_.clear();
  Publish(without(memtables_, gone), without(announced_, finished),
          std::move(files));
  why_unknown_ = std::move(why_unknown);
  state_ = FrontFilterState::kArmed;
  not_arming_.notify_all();
  ++reconciled_;
}

// Reads the sections of files that were not listed before, or could not be read
// then, until the family is disarmed, and forgets those of files that are not
// listed any more. REQUIRES reconcile_mutex_.
std::vector<ListedFile> Family::LoadListed(
    const rocksdb::ColumnFamilyMetaData& listing, rocksdb::DB* db,
    rocksdb::ColumnFamilyHandle* handle) {
  std::optional<rocksdb::TablePropertiesCollection> open_files;
  std::map<uint64_t, KnownFile> known;
  std::vector<ListedFile> files;
  // Returns the file's properties as RocksDB has them, or null. It opened the
  // files of the first listing, which may be read later: another database may
  // have come in their place since. It writes later ones by path.
  const auto expected = [&](const std::string& path, bool is_new) {
    if (!open_files && (known_files_.empty() || !is_new)) {
      open_files = PropertiesOfOpenFiles(db, handle);
    }
    return open_files && open_files->contains(path) ? open_files->at(path).get()
                                                    : nullptr;
  };
  for (const auto& level : listing.levels) {
    for (const auto& listed : level.files) {
      if (state() == FrontFilterState::kDisarmed) return {};
      const auto found = known_files_.find(listed.file_number);
      const bool is_new = found == known_files_.end();
      KnownFile& file = known[listed.file_number];
      if (!is_new) file = found->second;
      if (is_new || file.problem.read_failed || HasRoomNow(file)) {
        const std::string path = listed.db_path + listed.name;
        auto loaded = FileRows::Load(rules_, db->GetEnv(), path, memory_,
                                     expected(path, is_new));
        file = {.rows = std::move(loaded.rows),
                .problem = std::move(loaded.problem)};
      }
      ListedFile& entry =
          files.emplace_back(ListedFile{.number = listed.file_number,
                                        .level = level.level,
                                        .low = listed.smallestkey,
                                        .high = listed.largestkey,
                                        .rows = file.rows});
      if (rules_.order == RowOrder::kReverseBytewise) {
        std::swap(entry.low, entry.high);
      }
    }
  }
  known_files_ = std::move(known);
  return files;
}

void Family::KeepUnlisted(const FileSet& before, rocksdb::DB* db,
                          rocksdb::ColumnFamilyHandle* handle,
                          std::vector<ListedFile>* files) const {
  std::vector<ListedFile> unlisted;
  std::ranges::copy_if(before.files(), std::back_inserter(unlisted),
                       [this](const ListedFile& file) {
                         return !known_files_.contains(file.number);
                       });
  if (unlisted.empty()) return;
  using Properties = rocksdb::DB::Properties;
  // All readers use the one version: that of the listing or a later one.
  const auto versions = IntProperty(db, handle, Properties::kNumLiveVersions);
  if (versions == 1u) return;
  const auto superversion =
      IntProperty(db, handle, Properties::kCurrentSuperVersionNumber);
  for (ListedFile& file : unlisted) {
    // A SuperVersion that was installed since has the version without the file,
    // or a later one.
    if (file.unlisted_at && superversion > file.unlisted_at) continue;
    if (!file.unlisted_at) file.unlisted_at = superversion;
    file.level = 0;  // its range may overlap those of its successors
    files->push_back(std::move(file));
  }
}

bool Family::CanReadMore() {
  const std::lock_guard reconcile(reconcile_mutex_);
  return std::ranges::any_of(known_files_, [this](const auto& known) {
    return HasRoomNow(known.second);
  });
}

void Family::Disarm(std::string_view why) noexcept {
  const std::lock_guard lock(mutex_);
  DisarmLocked(why);
}

void Family::OnNoMemory() noexcept {
  const std::lock_guard lock(mutex_);
  if (state_ != FrontFilterState::kArming) return;
  DisarmLocked("there was no memory to learn its files");
}

void Family::DisarmLocked(std::string_view why) noexcept {
  if (state_ == FrontFilterState::kDisarmed) return;
  state_ = FrontFilterState::kDisarmed;
  not_arming_.notify_all();
  view_.store(nullptr, std::memory_order_seq_cst);
  try {
    why_ = why;
    Publish({}, {}, nullptr);
  } catch (...) {  // no memory: no reason is given, or the view is not freed
  }
}

std::shared_ptr<Announcement> Family::Announce(rocksdb::Env* env,
                                               std::vector<std::string> paths) {
  if (state() == FrontFilterState::kDisarmed) return nullptr;
  auto announcement = std::make_shared<Announcement>();
  for (const std::string& path : paths) {
    auto loaded = FileRows::Load(rules_, env, path, memory_);
    if (loaded.rows != nullptr) {
      announcement->rows.push_back(std::move(loaded.rows));
    }
  }
  std::ranges::sort(paths);
  announcement->paths = std::move(paths);
  const std::lock_guard lock(mutex_);
  if (state_ == FrontFilterState::kDisarmed) return nullptr;
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
  // The first listing will have the files.
  if (handle_ == nullptr) std::erase(announced_, announcement);
}

bool Family::OnIngested(const rocksdb::DB* root, std::string_view name,
                        const std::string& path) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (root_ != root || name_ != name) return false;
    for (const auto& files : announced_) {
      if (!files->finished && std::ranges::binary_search(files->paths, path)) {
        return false;
      }
    }
  }
  Disarm("a file was ingested without the front filter");
  return true;
}

bool Family::Lists(uint64_t number) const {
  const std::lock_guard lock(mutex_);
  return state_ == FrontFilterState::kArming ||
         (files_ != nullptr && files_->Has(number));
}

bool Family::IsGone() const {
  const std::lock_guard lock(mutex_);
  return root_ == nullptr && !memtables_.empty() &&
         std::ranges::all_of(memtables_,
                             [](const auto& one) { return one->gone(); });
}

FrontFilterCounts Family::Counts() const noexcept {
  const auto sum = [this](Count count) {
    return counters_.Sum(static_cast<size_t>(count));
  };
  // A row counts as passed before it is found or wasted. So these are read
  // first: with gets under way, there are no more of them than rows passed.
  const uint64_t found = sum(Count::kPassedFound);
  const uint64_t wasted = sum(Count::kPassedWasted);
  const uint64_t answered = sum(Count::kAnswered);
  return {.asked = answered + sum(Count::kPassed),
          .answered = answered,
          .passed_found = found,
          .passed_wasted = wasted,
          .bypassed = sum(Count::kBypassed)};
}

FrontFilterFamilyStats Family::Stats() const {
  const std::lock_guard lock(mutex_);
  FrontFilterFamilyStats stats{Counts()};
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
    stats.why_unknown = why_unknown_;
    stats.files_with_cells = files_->with_cells();
    stats.row_bytes = files_->row_bytes();
  }
  return stats;
}

}  // namespace rowbloom::front_filter

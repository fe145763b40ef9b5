// OpenedStore has the parts of an open store, and encodes names as keys. Its
// families can be created, altered and dropped while other threads read.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>

#include "rocksdb/status.h"
#include "rowbloom/cell.h"
#include "rowbloom/key_layout.h"
#include "rowbloom/printable.h"
#include "rowbloom/store_options.h"
#include "storage/format/status_text.h"
#include "storage/format/thread_slot.h"
#include "storage/store/compaction_gate.h"
#include "storage/store/database.h"
#include "storage/store/family_options.h"
#include "storage/store/opening_env.h"

namespace rowbloom {

using FamilyMap = std::map<std::string, Family, std::less<>>;

// The families at one time. A holder can use them, even if they are dropped
// meanwhile, and keep iterators into the map.
using SharedFamilies = std::shared_ptr<const FamilyMap>;

// Thread-safe. Every read takes a SharedFamilies without waiting for others: a
// dropped family lives until its last user is done. Threads are spread over
// slots with a reference count each: a single count would move between the
// processors with every read.
class FamilyTable {
 public:
  explicit FamilyTable(FamilyMap families) { Set(Share(std::move(families))); }

  SharedFamilies Get() const {
    const Slot& slot = slots_[ThreadSlot()];
    const std::lock_guard lock(slot.mutex);
    return slot.families;
  }
  // Tells whether these are the families at present.
  bool IsPresent(const FamilyMap& families) const {
    const Slot& slot = slots_[ThreadSlot()];
    const std::lock_guard lock(slot.mutex);
    return slot.families.get() == &families;
  }
  // Returns those of Get without a reference. REQUIRES that no Set runs
  // meanwhile.
  const FamilyMap& Unshared() const { return *slots_[0].families; }

  // The families for all slots, made so that Set allocates nothing.
  using Shares = std::array<SharedFamilies, kThreadSlots>;
  static Shares Share(FamilyMap families) {
    const SharedFamilies shared =
        std::make_shared<const FamilyMap>(std::move(families));
    Shares shares;
    for (SharedFamilies& share : shares) {
      share = SharedFamilies(shared.get(), [shared](const FamilyMap*) {});
    }
    return shares;
  }

  // REQUIRES that the caller holds change_mutex, and that no write runs.
  void Set(Shares shares) noexcept {
    for (size_t i = 0; i < kThreadSlots; ++i) {
      const std::lock_guard lock(slots_[i].mutex);
      slots_[i].families.swap(shares[i]);
    }
  }

  // Held shared to keep the families unchanged, exclusively to change them.
  mutable std::shared_mutex change_mutex;
  // Held shared to make loads wait, exclusively by a load while its files are
  // added. Lock change_mutex before it.
  mutable std::shared_mutex load_mutex;
  // Held by a thread that takes both shared for the last number alone. Threads
  // that ask for it again and again would keep them shared for ever: glibc lets
  // them pass one that waits for exclusive use. Lock it before change_mutex.
  mutable std::mutex number_mutex;
  // Keeps snapshots from being taken. RocksDB gives a loaded file that replaces
  // nothing the sequence number 0. A snapshot that is taken while the MANIFEST
  // is written would see the file once it is added.
  mutable std::mutex snapshot_mutex;

 private:
  struct alignas(kCacheLineBytes) Slot {
    mutable std::mutex mutex;
    SharedFamilies families;
  };

  std::array<Slot, kThreadSlots> slots_;
};

// InvalidArgument: not 1 to kMaxRowBytes.
inline rocksdb::Status CheckRow(std::string_view row) {
  if (!row.empty() && row.size() <= kMaxRowBytes) return rocksdb::Status::OK();
  return InvalidArgument("a row of ", row.size(), " bytes: expected 1 to ",
                         kMaxRowBytes);
}

// InvalidArgument: more than `max_bytes`.
inline rocksdb::Status CheckSize(const char* what, std::string_view bytes,
                                 size_t max_bytes) {
  if (bytes.size() <= max_bytes) return rocksdb::Status::OK();
  return InvalidArgument(what, " of ", bytes.size(),
                         " bytes: expected at most ", max_bytes);
}
inline rocksdb::Status CheckQualifier(std::string_view qualifier) {
  return CheckSize("a qualifier", qualifier, kMaxQualifierBytes);
}

// Returns the number of forks, since the first call, that lead to this process:
// a child, which has its parent's memory and none of its threads, has another.
// Thread-safe.
inline uint64_t ForkNumber() {
  static std::atomic<uint64_t> forks{0};
  [[maybe_unused]] static const int counts_them =
      pthread_atfork(nullptr, nullptr, [] { ++forks; });
  return forks.load(std::memory_order_relaxed);
}

struct OpenedStore {
  std::string path;
  StoreOptions options;  // those of Store::Options
  std::shared_ptr<SharedState> shared;
  std::unique_ptr<StoreEnv> env;
  // Families with a record and no column family, in a store that is open for
  // reading. Its writer is truncating or creating them, or was interrupted.
  // They have no cells.
  std::set<std::string, std::less<>> unfinished;
  std::shared_ptr<Listener> listener = std::make_shared<Listener>();
  std::shared_ptr<CompactionGate> compaction_gate;
  Database database;
  std::unique_ptr<FamilyTable> families;
  uint64_t fork_number = ForkNumber();

  const KeyLayout& key_layout() const { return *options.key_layout; }

  // Each returns InvalidArgument if the argument is out of its limits, and
  // TryAgain for an unfinished family. *row_bytes keeps its reserved memory.
  rocksdb::Status EncodeRow(std::string_view row,
                            std::string* row_bytes) const {
    if (rocksdb::Status s = CheckRow(row); !s.ok()) return s;
    row_bytes->clear();
    if (const auto error = key_layout().AppendRow(row, row_bytes)) {
      return rocksdb::Status::InvalidArgument(error->message);
    }
    return rocksdb::Status::OK();
  }
  rocksdb::Status FindFamily(const FamilyMap& among, std::string_view name,
                             FamilyMap::const_iterator* family) const {
    *family = among.find(name);
    if (*family != among.end()) return rocksdb::Status::OK();
    if (unfinished.contains(name)) {
      return TryAgain(QuotedFamily(name), " of the store at ", path,
                      " has a record and no column family");
    }
    constexpr size_t kMostNames = 10;
    std::string names;
    size_t count = 0;
    for (const auto& [known, of_store] : among) {
      if (++count > kMostNames) {
        names += Concat(" and ", among.size() - kMostNames, " more");
        break;
      }
      names += (names.empty() ? "" : ", ") + ToPrintable(known);
    }
    return InvalidArgument(QuotedFamily(name), " is not in the store at ", path,
                           "; it has: ", names.empty() ? "none" : names);
  }
  // Tells whether this process was forked from the one that opened the store.
  // The log and the threads belong to that one.
  bool IsForked() const { return fork_number != ForkNumber(); }
  // NotSupported: the store is open for reading only, or forked. Otherwise
  // returns Listener::error() and a note. RocksDB takes no more writes then.
  // RocksDB itself would try other changes: a flush after one that could not
  // create its log fails an assertion (7.8.3 with assertions, as Debian's).
  rocksdb::Status CheckWritable() const {
    if (options.read_only) {
      return NotSupported(path, " is open for reading only");
    }
    if (IsForked()) {
      return NotSupported(path,
                          " was opened before this process was forked: a ",
                          "child can open a store for reading");
    }
    // The cause may be gone by now, as when a full disk has space again.
    rocksdb::Status error = listener->error();
    if (error.ok()) return error;
    const char* const message = error.getState();
    return {error.code(), error.subcode(), error.severity(),
            Concat(message == nullptr ? "" : message, "; the store at ", path,
                   " takes no changes until it is opened again")};
  }

  // Finds the bytes of the row that a key begins with; DecodeRow decodes them.
  // Corruption: there is no such row.
  rocksdb::Status FindRow(std::string_view key,
                          std::string_view* row_bytes) const {
    const size_t size = key_layout().RowBytes(key);
    if (size == KeyLayout::kNoRow) {
      return Corruption(path, ": key \"", ToPrintable(key),
                        "\" has no row of the layout ",
                        key_layout().ToString());
    }
    *row_bytes = key.substr(0, size);
    return rocksdb::Status::OK();
  }
  rocksdb::Status DecodeRow(std::string_view row_bytes,
                            std::string* row) const {
    if (!key_layout().DecodeRow(row_bytes, row)) {
      return Corruption(path, ": the row of key \"", ToPrintable(row_bytes),
                        "\" cannot be decoded");
    }
    return rocksdb::Status::OK();
  }
};

}  // namespace rowbloom

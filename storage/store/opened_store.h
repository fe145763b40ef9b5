// The parts of an open store, among them the families, which come, change and
// go while others read, and how names become keys.
#pragma once

#include <array>
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
#include "storage/store/forks.h"
#include "storage/store/opening_env.h"

namespace rowbloom {

using FamilyMap = std::map<std::string, Family, std::less<>>;

// The families at one time. A holder can use them, even if they are dropped
// meanwhile, and keep iterators into the map.
using SharedFamilies = std::shared_ptr<const FamilyMap>;

// Thread-safe. Every read and write takes a SharedFamilies, and none waits for
// another: a family that is dropped lives until its last user is done. Threads
// are dealt over slots with a reference count each, since one count for all
// would move between the processors with every read.
class FamilyTable {
 public:
  explicit FamilyTable(FamilyMap families) { Set(Share(std::move(families))); }

  SharedFamilies Get() const {
    const Slot& slot = slots_[ThreadSlot()];
    const std::lock_guard lock(slot.mutex);
    return slot.families;
  }
  // The same without a share. REQUIRES that there is no Set meanwhile.
  const FamilyMap& Unshared() const { return *slots_[0].families; }

  // The families for all slots. Set takes no memory of its own.
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

  // REQUIRES change_mutex and, of writes, that none is under way.
  void Set(Shares shares) noexcept {
    for (size_t i = 0; i < kThreadSlots; ++i) {
      const std::lock_guard lock(slots_[i].mutex);
      slots_[i].families.swap(shares[i]);
    }
  }

  // Shared, it keeps the families as they are. A change of them has it alone.
  mutable std::shared_mutex change_mutex;
  // Shared, it makes loads wait, of which each has it alone while its files
  // come in. The one above comes first.
  mutable std::shared_mutex load_mutex;
  // Keeps snapshots from being taken. RocksDB gives a loaded file that replaces
  // nothing the sequence number 0. A snapshot that was taken while the MANIFEST
  // was written would have the file once it is there.
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

struct OpenedStore {
  std::string path;
  StoreOptions options;  // as the store has them: nothing is left open
  std::shared_ptr<SharedState> shared;
  std::unique_ptr<StoreEnv> env;
  // Families with a record and no column family, of a store that is open for
  // reading. Its writer truncates or creates them, or was interrupted; they
  // have no cells.
  std::set<std::string, std::less<>> unfinished;
  std::shared_ptr<Listener> listener = std::make_shared<Listener>();
  std::shared_ptr<CompactionGate> compaction_gate;
  Database database;
  std::unique_ptr<FamilyTable> families;
  uint64_t fork_number = ForkNumber();

  const KeyLayout& key_layout() const { return *options.key_layout; }

  // Each is InvalidArgument when the argument is out of its limits, and
  // TryAgain for an unfinished family. The memory that is reserved of
  // *row_bytes stays so.
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
    std::string names;
    for (const auto& [known, of_store] : among) {
      names += (names.empty() ? "" : ", ") + ToPrintable(known);
    }
    return InvalidArgument(QuotedFamily(name), " is not in the store at ", path,
                           "; it has: ", names.empty() ? "none" : names);
  }
  // Tells whether this process was forked from the one that opened the store,
  // whose log and threads are that one's.
  bool IsForked() const { return fork_number != ForkNumber(); }
  // NotSupported: open for reading only, or forked. Else the error, if there
  // was one, after which RocksDB takes no more writes. RocksDB itself would try
  // other changes: a second flush, after the first could not make its log,
  // stops with an assertion (7.8.3 with assertions, as Debian's).
  rocksdb::Status CheckWritable() const {
    if (options.read_only) {
      return NotSupported(path, " is open for reading only");
    }
    if (IsForked()) {
      return NotSupported(path,
                          " was opened before this process was forked: a ",
                          "child can open a store for reading");
    }
    return listener->error();
  }

  // The row that a key begins with, as its bytes and decoded. Corruption: there
  // is none.
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

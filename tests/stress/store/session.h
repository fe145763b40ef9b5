// A store that is open, with the model of what it must hold.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rocksdb/env.h"
#include "rowbloom/store.h"
#include "tests/stress/report.h"
#include "tests/stress/share.h"
#include "tests/stress/store/world.h"

namespace rowbloom::store_stress {

using stress::Errors;
using stress::Report;

// A write and the moments, by Session's count, at which it began and ended.
struct Written {
  Changes changes;
  uint64_t begun;
  uint64_t acknowledged;  // kNever: it was not
  bool synced;            // if it was acknowledged, it is on the disk
};
inline constexpr uint64_t kNever = UINT64_MAX;

struct Share : stress::ShareOf<World, Changes> {
  // The contents when the session began, and the writes since, where it is to
  // remember them.
  World before;
  std::vector<Written> written;
};
using Shares = stress::SharesOf<Share>;

// Thread-safe where nothing else is said.
class Session {
 public:
  using Share = store_stress::Share;
  struct Setting {
    KeyLayout key_layout = KeyLayout::Escaped();
    std::string path = {};
    Shares* shares = nullptr;
    Report* report = nullptr;
    rocksdb::Env* env = nullptr;
    Errors errors = Errors::kNone;
    // Off where reads of files may fail: see README.md.
    bool iterators = true;
    // True if shares remember their writes, for ResolvePowerCut.
    bool remembers_writes = false;
    bool create_if_missing = true;
  };
  explicit Session(const Setting& setting) : setting_(setting) {}
  ~Session() { Close(); }

  // Opens the store with random options and a clock that is wrong by some
  // seconds. Returns whether it is open. If it is not, that is a divergence,
  // unless errors are expected.
  bool Open(Random* random);
  // Adds the counters of the filters to the report. Call it in one thread.
  void Close();

  // For one thread, before any that writes: finds out whether interrupted
  // writes took place, which the journals then say. A share that is neither
  // with nor without them is a divergence, as are rows that nobody writes.
  void Resolve();
  // The same after a power cut, in a session after the one that was to remember
  // its writes, whose `synced` this takes. Each share has kept a prefix of its
  // writes, with the last that was acknowledged as synced. A write that was
  // kept, or a sync that was acknowledged, means that all writes acknowledged
  // before it began were kept, in whatever share.
  void ResolvePowerCut(uint64_t synced);
  // Checks that the store has the rows of the share as the model has them.
  void CheckShare(uint32_t share);
  // Reads all cells of the model, and absent rows, in every way.
  void CheckEverything(Random* random);
  // Checks that reads of absent rows ask the filters of a new file, and that
  // these rule rows out. For one thread.
  void ProveThatFiltersAreAsked(Random* random);
  // Deletes a cell without telling the model. For one thread.
  void DeleteBehindTheModel();

  // Calls write(), which makes `changes` to the share's rows and returns a
  // Status, and records what came of it; whether it was acknowledged. `synced`
  // says that it is on the disk then. The share's mutex must be held
  // exclusively.
  template <typename WriteChanges>
  bool Write(Share* share, const Changes& changes, const char* what,
             bool synced, WriteChanges write) {
    if (share->otherwise || changes.empty()) return false;
    if (share->journal != nullptr) share->journal->Intend(Encode(changes));
    const uint64_t begun = ++moment_;
    const rocksdb::Status status = write();
    const uint64_t ended = status.ok() ? ++moment_ : kNever;
    if (setting_.remembers_writes) {
      share->written.push_back({changes, begun, ended, synced});
    }
    if (status.ok() && synced) NoteSync(begun);
    return share->Settle(changes, Check(status, what));
  }

  void Flush();

  // Returns whether a status is good. If it is not, that is a divergence,
  // unless errors are expected and it is one.
  bool Check(const rocksdb::Status& status, const std::string& what,
             std::string_view row = {});

  // Reads that are compared with the worlds; with a snapshot these are those of
  // its time.
  void ReadCell(const Worlds& worlds, const OwnedAddress& at,
                const Snapshot* snapshot);
  void ReadCells(const Worlds& worlds,
                 const std::vector<OwnedAddress>& addresses,
                 const Snapshot* snapshot);
  void ReadRow(const Worlds& worlds, const std::string& row,
               const RowOptions& options);
  // REQUIRES a row_prefix inside of one share.
  void Scan(const Worlds& worlds, const ScanOptions& options);

  // True if a flush, a compaction or a write has failed.
  bool met_error() const { return met_error_; }

  // All that was acknowledged before this time is on the disk.
  uint64_t synced() const { return synced_; }

  Store* store() const { return store_.get(); }
  const KeyLayout& key_layout() const { return setting_.key_layout; }
  bool iterators() const { return setting_.iterators; }
  Report* report() const { return setting_.report; }
  Share* share(size_t index) const { return (*setting_.shares)[index].get(); }
  uint32_t share_count() const {
    return static_cast<uint32_t>(setting_.shares->size());
  }

 private:
  void NoteSync(uint64_t begun);
  // The rows of a share as the store has them: first those of the family with
  // many versions, then the newest values of the others.
  std::vector<Row> Observe(uint32_t share);
  std::optional<FamilyOptions> ObserveOwnFamily(uint32_t share);
  // Reads a share, and says of any world whether this is it.
  std::function<bool(const World&)> Holder(uint32_t share);
  void ReportWrongShare(uint32_t share);
  void CheckOtherRows();
  // Writes changes again that the model has, and the store may have: a delete
  // that took nothing shows when it takes a later put of the client's own time.
  // REQUIRES that no change is the delete of a row.
  // A put that is never seen takes a place among the versions each time that it
  // is written, so its cell is deleted.
  void WriteAgain(Share* share, const Changes& changes);

  Setting setting_;
  std::unique_ptr<Store> store_;
  std::atomic<bool> met_error_{false};
  std::atomic<uint64_t> moment_{0};
  std::atomic<uint64_t> synced_{0};
};

}  // namespace rowbloom::store_stress

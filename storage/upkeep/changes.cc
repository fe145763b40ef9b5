// Store::GetUpdatesSince gives RocksDB's logged batches as changes of cells.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rocksdb/transaction_log.h"
#include "rocksdb/write_batch.h"
#include "rowbloom/change_stream.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/status_text.h"
#include "storage/store/metadata.h"
#include "storage/store/store_impl.h"
#include "storage/store/stored_cell.h"
#include "storage/upkeep/kept_files.h"
#include "storage/upkeep/purge_waker.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

// The bulk load of the last marks in the log. It took place if the next batch
// says how many numbers it took.
struct MarkedLoad {
  uint64_t numbers = 0;  // the most that it took; 0: there is no load
  std::vector<StoreChange> marks;
};

// The names of families by RocksDB's ids; another family may have the name by
// now. A search among a thousand families takes longer than to read a change.
using FamilyNames = std::unordered_map<uint32_t, std::string>;

// Collects the changes in a batch from a number on.
class BatchChanges final : public rocksdb::WriteBatch::Handler {
 public:
  // `first` is the number of the batch's first change. *names are those that
  // were found so far. *load is the load of the batch before, and becomes that
  // of this one.
  BatchChanges(const OpenedStore& opened, uint64_t first, uint64_t from,
               FamilyNames* names, MarkedLoad* load,
               std::vector<StoreChange>* changes)
      : opened_(opened),
        families_(opened.families->Get()),
        number_(first),
        from_(from),
        names_(*names),
        load_(*load),
        changes_(changes) {
    changes->insert(changes->end(), load_.marks.begin(), load_.marks.end());
    load_ = {};
  }

  Status PutCF(uint32_t id, const Slice& key, const Slice& value) override {
    if (IsPassed()) return Status::OK();
    if (id == kRecords) return AddRecord(key, value);
    const auto family = Find(id);
    // The value of a `versioned` cell only joins earlier merge operands.
    if (family == families_->end() ||
        family->second.format == CellFormat::kVersioned) {
      return Status::OK();
    }
    return AddEntries(family, key, value);
  }
  Status MergeCF(uint32_t id, const Slice& key, const Slice& value) override {
    if (IsPassed()) return Status::OK();
    const auto family = Find(id);
    return family == families_->end() ? Status::OK()
                                      : AddEntries(family, key, value);
  }
  Status DeleteCF(uint32_t id, const Slice& key) override {
    std::string family;
    uint64_t files = 0;
    const bool is_mark =
        id == kRecords && ReadLoadMark(key.ToStringView(), &family, &files);
    if (is_mark) load_.numbers = std::max(load_.numbers, files);
    if (id == kRecords) ReadLoadEnd(key.ToStringView(), &load_end_);
    if (IsPassed()) return Status::OK();
    if (is_mark) load_.marks.push_back(MadeAs(ChangeKind::kBulkLoad, family));
    return id == kRecords ? Status::OK()
                          : AddDelete(id, ChangeType::kDelete, key);
  }
  Status DeleteRangeCF(uint32_t id, const Slice& begin,
                       const Slice& /*end*/) override {
    if (IsPassed()) return Status::OK();
    return AddDelete(id, ChangeType::kDeleteFamily, begin);
  }

  // The numbers that the load before took, as the batch says; 0: it does not.
  uint64_t load_end() const { return load_end_; }

 private:
  static constexpr uint32_t kRecords = 0;  // RocksDB's "default"

  // Counts a change, and tells whether it comes before from_.
  bool IsPassed() { return number_++ < from_; }

  // end(): the family was dropped.
  FamilyMap::const_iterator Find(uint32_t id) const {
    const auto has_id = [id](const auto& family) {
      return family.second.handle()->GetID() == id;
    };
    std::string& name = names_[id];
    auto family = families_->find(name);
    if (family == families_->end() || !has_id(*family)) {
      family = std::ranges::find_if(*families_, has_id);
      if (family != families_->end()) name = family->first;
    }
    return family;
  }

  StoreChange MadeAs(ChangeKind kind, std::string_view family) const {
    StoreChange change;
    change.number = number_ - 1;
    change.kind = kind;
    change.family = family;
    return change;
  }
  StoreChange& Add(ChangeKind kind, std::string_view family) {
    return changes_->emplace_back(MadeAs(kind, family));
  }

  Status AddRecord(const Slice& key, const Slice& value) {
    Metadata metadata;
    Status s = ReadRecord(key.ToStringView(), value.ToStringView(), &metadata);
    for (const auto& [name, options] : metadata.families) {
      Add(ChangeKind::kFamilyKept, name).options = options;
    }
    for (const auto& [name, options] : metadata.dropped) {
      Add(ChangeKind::kFamilyDropped, name);
    }
    return s;
  }

  Status AddDelete(uint32_t id, ChangeType type, const Slice& key) {
    const auto family = Find(id);
    if (family == families_->end()) return Status::OK();
    StoreChange& change = Add(ChangeKind::kCell, family->first);
    change.type = type;
    // In a `versioned` family it is a removal; a delete that stays may follow.
    if (family->second.format == CellFormat::kVersioned) {
      change.type = type == ChangeType::kDelete ? ChangeType::kRemove
                                                : ChangeType::kRemoveFamily;
    }
    return SetCell(key.ToStringView(), &change);
  }

  Status AddEntries(FamilyMap::const_iterator family, const Slice& key,
                    const Slice& value) {
    StoreChange cell;
    Status s = SetCell(key.ToStringView(), &cell);
    Entries entries;
    if (s.ok()) {
      s = ReadEntries({cell.row, family, cell.qualifier, value.ToStringView()},
                      &entries);
    }
    if (!s.ok()) return s;
    for (const Entry& entry : entries) {
      StoreChange& change = Add(ChangeKind::kCell, family->first);
      change.row = cell.row;
      change.qualifier = cell.qualifier;
      change.type = entry.type;
      change.timestamp_ms = entry.timestamp_ms;
      change.value = entry.value;
      if (entry.ttl_ms != kNoTtl) change.ttl_ms = entry.ttl_ms;
    }
    return s;
  }

  Status SetCell(std::string_view key, StoreChange* change) const {
    std::string_view row_bytes;
    Status s = opened_.FindRow(key, &row_bytes);
    if (s.ok()) s = opened_.DecodeRow(row_bytes, &change->row);
    if (s.ok()) change->qualifier = key.substr(row_bytes.size());
    return s;
  }

  const OpenedStore& opened_;
  const SharedFamilies families_;
  uint64_t number_;  // the next change's
  const uint64_t from_;
  FamilyNames& names_;
  MarkedLoad& load_;
  uint64_t load_end_ = 0;
  std::vector<StoreChange>* const changes_;
};

// Returns the number of the last change that can be given: no load is half
// added, and the families are those that the log names up to it.
uint64_t LastNumber(const OpenedStore& opened) {
  const std::lock_guard one_at_a_time(opened.families->number_mutex);
  const std::shared_lock unchanged(opened.families->change_mutex);
  const std::shared_lock no_loads(opened.families->load_mutex);
  return opened.database->GetLatestSequenceNumber();
}

// RocksDB's iterator over the log fails an assertion (7.8.3 with assertions, as
// Debian's) at a record that is still being written. It reaches that record if
// the log lacks the numbers before it. So a writer puts a mark after the wanted
// changes: while the log has the mark, no other record follows the gap. Stores
// that are open for reading have the StoreFiles of one time.
class LogChanges final : public ChangeStream {
 public:
  LogChanges(Store::Impl* store, uint64_t since)
      : store_(*store),
        opened_(store->opened),
        next_(since + 1),
        end_(LastNumber(opened_)) {}

  // Moves to the first change.
  Status Open() {
    const uint64_t since = next_ - 1;
    if (since > end_ && !opened_.options.read_only) {
      if (Status s = opened_.CheckWritable(); !s.ok()) return s;
      // A reader of the log may have seen a write that is still under way.
      {
        const RowLocks::Guard no_writes = store_.writer.locks.LockAll();
        const std::lock_guard no_records(store_.writer.records_mutex);
      }
      end_ = LastNumber(opened_);
    }
    if (since > end_) {
      return InvalidArgument(opened_.path, ": no change ", since,
                             ": expected at most ", end_);
    }
    if (since == end_) return Status::OK();
    const Status s = Begin();
    kept_.reset();
    return s;
  }

  bool Valid() const override { return at_ < changes_.size(); }
  const StoreChange& change() const override { return changes_[at_]; }
  const Status& status() const override { return status_; }
  uint64_t number() const override {
    if (Valid()) return change().number - 1;
    return load_.marks.empty() ? next_ - 1 : load_.marks[0].number - 1;
  }

  void Next() override {
    if (++at_ < changes_.size()) return;
    status_ = CatchExceptions([this] { return ReadBatch(); });
    if (!status_.ok()) changes_.clear();
  }

 private:
  Status Begin() {
    const uint64_t since = next_ - 1;
    // If a power cut lost changes, later ones would get their numbers.
    if (!opened_.options.read_only) {
      kept_.emplace(opened_.database.get());
      Status s = opened_.CheckWritable();
      if (s.ok()) s = MarkEnd(/*synced=*/false);
      if (!s.ok()) return s;
      s = opened_.database->FlushWAL(/*sync=*/true);
      // Some file systems cannot sync a log beside writes.
      if (s.IsNotSupported()) s = MarkEnd(/*synced=*/true);
      if (!s.ok()) return s;
    }
    if (since > 0) {
      // The last change that the caller has may be a load's, whose numbers
      // follow it.
      --next_;
      if (Status s = MoveLog(next_); !s.ok()) return s;
      const rocksdb::BatchResult batch = TakeBatch();
      if (batch.sequence > since) {
        log_.reset();  // ReadBatch looks for it again
      } else if (log_ != nullptr) {
        Status s = Decode(batch);
        if (!s.ok()) return s;
        for (auto* changes : {&changes_, &load_.marks}) {
          std::erase_if(*changes, [since](const StoreChange& change) {
            return change.number <= since;
          });
        }
        if (Valid()) return s;
      }
      next_ = std::max(next_, since + 1);
    }
    return ReadBatch();
  }

  // Moves to the next batch that has changes to show, if there is one.
  Status ReadBatch() {
    changes_.clear();
    at_ = 0;
    std::optional<KeptFiles> all_logs;
    bool looked_again = false;
    while (changes_.empty() && next_ <= end_) {
      rocksdb::BatchResult batch;
      Status s = TakeFilledBatch(&batch);
      if (!s.ok()) return s;
      // A reader may have opened the store while a load was added.
      if (log_ == nullptr && load_.numbers > 0 && opened_.options.read_only) {
        break;
      }
      const uint64_t found = log_ != nullptr ? batch.sequence : end_ + 1;
      uint64_t missing = 0;
      s = PassNumbers(found, batch, &missing);
      if (!s.ok()) return s;
      if (missing > 0) {
        // RocksDB does not report a read that failed inside a log.
        if (looked_again) return Missing(missing, found);
        looked_again = true;
        if (!opened_.options.read_only) KeepAllLogs(&all_logs);
        log_.reset();
        continue;
      }
      if (next_ > end_) break;
      s = Decode(batch);
      if (!s.ok()) return s;
    }
    return Status::OK();
  }

  // Moves to the batch with the number next_, or a later one.
  Status TakeFilledBatch(rocksdb::BatchResult* batch) {
    Status s = MoveLog(next_);
    if (s.ok()) *batch = TakeBatch();
    // RocksDB writes an empty batch when it opens a log that ends in the middle
    // of one.
    while (s.ok() && log_ != nullptr && batch->writeBatchPtr->Count() == 0) {
      s = MoveLog(batch->sequence + 1);
      if (s.ok()) *batch = TakeBatch();
    }
    return s;
  }

  // Moves next_ to `found`, the number of the batch. If a load does not have
  // the numbers in between, sets *missing to their count instead.
  Status PassNumbers(uint64_t found, const rocksdb::BatchResult& batch,
                     uint64_t* missing) {
    if (found <= next_) return Status::OK();
    const uint64_t count = std::min(found - 1, end_) - next_ + 1;
    // No change is decoded: all come before the largest number.
    MarkedLoad no_load;
    BatchChanges passed(opened_, batch.sequence, /*from=*/UINT64_MAX, &names_,
                        &no_load, &changes_);
    Status s;
    if (log_ != nullptr) s = batch.writeBatchPtr->Iterate(&passed);
    if (!s.ok()) return s;
    if (count > std::min(load_.numbers, passed.load_end())) {
      *missing = count;
    } else {
      next_ += count;
    }
    return s;
  }

  // While *kept lives, RocksDB moves no logs to the archive. Waits for a move
  // that is under way: RocksDB moves the newest logs first, and does not find
  // the others meanwhile.
  void KeepAllLogs(std::optional<KeptFiles>* kept) const {
    kept->emplace(opened_.database.get());
    const PurgeWaker waker(opened_.database.get(), &store_.compact_mutex);
    rocksdb::VectorLogPtr logs;
    // An error occurs again when the logs are read.
    opened_.database->GetSortedWalFiles(logs).PermitUncheckedError();
  }

  // After an error number() is as before the batch, until a stream can continue
  // after it.
  Status Decode(const rocksdb::BatchResult& batch) {
    MarkedLoad load = load_;
    BatchChanges found(opened_, batch.sequence, next_, &names_, &load,
                       &changes_);
    const Status s = batch.writeBatchPtr->Iterate(&found);
    if (!s.ok()) {
      return Prefixed(
          Concat(opened_.path, ": the log's batch ", batch.sequence, ": "), s);
    }
    load_ = std::move(load);
    next_ = batch.sequence + batch.writeBatchPtr->Count();
    return s;
  }

  // Moves log_ to the next batch. RocksDB's iterator ends where numbers are
  // missing. Then moves to the batch with this number or, if the log lacks it,
  // a later one. Sets log_ to nullptr if there is none.
  Status MoveLog(uint64_t number) {
    if (log_ != nullptr) {
      log_->Next();
      if (Status s = CheckLog({}); !s.ok() || log_ != nullptr) return s;
    }
    std::optional<KeptFiles> kept;
    if (!opened_.options.read_only && !kept_) {
      // The log that has the mark of MarkEnd may be gone.
      kept.emplace(opened_.database.get());
      const std::lock_guard no_records(store_.writer.records_mutex);
      if (Status s = WriteMark(/*synced=*/false); !s.ok()) return s;
    }
    return CheckLog(opened_.database->GetUpdatesSince(number, &log_));
  }

  // Resets log_ if it is at no batch. A log that is gone or damaged lacks
  // changes, which is no error here; one that cannot be read may have them.
  Status CheckLog(Status s) {
    if (s.ok()) s = log_->status();
    if (!s.ok() || !log_->Valid()) log_.reset();
    return s.IsIOError() && !s.IsPathNotFound() ? s : Status::OK();
  }

  // Makes end_ the number of a mark. Writes a new mark, unless the log ends
  // with one: otherwise streams would find each other's marks new for ever.
  // `synced`: a write of the mark has synced the log.
  Status MarkEnd(bool synced) {
    const std::lock_guard one_at_a_time(store_.mark_mutex);
    const std::shared_lock unchanged(opened_.families->change_mutex);
    // A load holds all rows from its marks to its end, so that none runs now.
    const RowLocks::Guard no_writes = store_.writer.locks.LockAll();
    const std::lock_guard no_records(store_.writer.records_mutex);
    const uint64_t sealed = opened_.listener->sealed();
    end_ = opened_.database->GetLatestSequenceNumber();
    if (store_.mark_number == end_ && store_.mark_sealed == sealed &&
        (store_.mark_is_synced || !synced)) {
      return Status::OK();
    }
    const Status s = WriteMark(synced);
    if (!s.ok()) return s;
    end_ = opened_.database->GetLatestSequenceNumber();
    store_.mark_number = end_;
    store_.mark_sealed = sealed;
    store_.mark_is_synced = synced;
    return s;
  }
  Status WriteMark(bool synced) const {
    rocksdb::WriteOptions options;
    options.sync = synced;
    rocksdb::WriteBatch mark;
    MarkStream(&mark);
    const Status s = opened_.CheckWritable();
    return s.ok() ? opened_.database->Write(options, &mark) : s;
  }

  // Takes the batch at log_. May be called once for a batch.
  rocksdb::BatchResult TakeBatch() {
    return log_ != nullptr ? log_->GetBatch() : rocksdb::BatchResult();
  }

  Status Missing(uint64_t count, uint64_t found) const {
    return NotFound(
        opened_.path, ": changes ", next_, " to ", next_ + count - 1,
        " are not in the log, which was deleted, was not written (kSkipWal) or "
        "is damaged: expected a number of at least ",
        found - 1, ", found ", next_ - 1,
        "; a new copy of the store has these changes");
  }

  Store::Impl& store_;
  const OpenedStore& opened_;
  uint64_t next_;
  uint64_t end_;  // the last number of the stream
  // Held during Open of a store that is open for writing.
  std::optional<KeptFiles> kept_;
  std::unique_ptr<rocksdb::TransactionLogIterator> log_;
  FamilyNames names_;
  MarkedLoad load_;                   // the last batch's
  std::vector<StoreChange> changes_;  // the present batch's
  size_t at_ = 0;
  Status status_;
};

}  // namespace

uint64_t Store::LatestNumber() const { return LastNumber(impl_->opened); }

Status Store::GetUpdatesSince(uint64_t number,
                              std::unique_ptr<ChangeStream>* stream) {
  return CatchExceptions([&] {
    auto changes = std::make_unique<LogChanges>(impl_.get(), number);
    Status s = changes->Open();
    if (s.ok()) *stream = std::move(changes);
    return s;
  });
}

}  // namespace rowbloom

// FrontFilterDB::MultiGet, which lets RocksDB read only keys that may exist.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/snapshot.h"
#include "rowbloom/front_filter.h"
#include "storage/filter_policy/front_filter/core.h"
#include "storage/filter_policy/front_filter/point_reads.h"

namespace rowbloom {

using front_filter::Answer;
using front_filter::Bypass;
using front_filter::Core;
using front_filter::Count;
using front_filter::CountPassed;
using front_filter::Family;
using front_filter::LookUpMany;
using front_filter::Outcome;
using rocksdb::ColumnFamilyHandle;
using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;

namespace {

// Passes the value that RocksDB returned in `from` to `to`, with whose buffer
// `from` was made. A database with TTL has moved the value to another buffer.
void Hand(PinnableSlice* from, PinnableSlice* to) {
  to->Reset();
  if (from->IsPinned()) {
    to->PinSlice(*from, from);
  } else if (from->GetSelf() != to->GetSelf()) {
    to->PinSelf(*from);
  } else if (!from->empty()) {
    to->PinSelf();
  }
}

// Does a MultiGet of one family, or of several if `handle` is null. Returns
// false, without a call of read, if RocksDB has to read all keys; *answers is
// empty then, unless they were looked up and may all exist. Else marks the
// absent keys in *answers, and calls read(*family, options, numbers) for the
// others, if any, with their numbers and the options to use.
template <typename KeyAt, typename Read>
bool ReadPresent(const Core& core, rocksdb::DB* db, const ReadOptions& options,
                 ColumnFamilyHandle* handle, size_t count, const KeyAt& key_at,
                 std::vector<Answer>* answers, const Read& read) {
  // With these options the status of a key depends on the other keys.
  static const ReadOptions kDefaults;
  if (count == 0 || handle == nullptr ||
      options.value_size_soft_limit != kDefaults.value_size_soft_limit ||
      options.deadline != kDefaults.deadline) {
    return false;
  }
  const Family* const family = FamilyToProbe(core, options, handle);
  if (family == nullptr) return false;
  const Bypass::Get get = family->bypass().Next();
  if (get == Bypass::Get::kSkips) {
    family->Add(Count::kBypassed, count);
    return false;
  }
  std::optional<rocksdb::ManagedSnapshot> snapshot;
  Outcome outcome;
  {
    const Family::Lookup lookup(*family);
    if (!lookup.armed()) return false;
    const rocksdb::SequenceNumber sequence = db->GetLatestSequenceNumber();
    outcome = LookUpMany(*family, lookup.view(), count, key_at, answers);
    if (get == Bypass::Get::kIsSample) {
      family->bypass().Learn(outcome.passed + outcome.absent, outcome.absent);
    }
    if (outcome.absent == 0 || outcome.absent == count) {
      family->Add(outcome);
      return outcome.absent != 0;
    }
    // RocksDB reads the others later, from a snapshot, so that all answers are
    // of one time. Rows are looked up again after it was taken, unless nothing
    // was written or ingested since the first lookup: the snapshot's rows are
    // in every view from then on.
    if (options.snapshot == nullptr) {
      snapshot.emplace(db);
      if (snapshot->snapshot() == nullptr) {
        answers->clear();
        return false;
      }
      if (snapshot->snapshot()->GetSequenceNumber() != sequence ||
          !lookup.IsCurrent()) {
        const Family::Lookup again(*family);
        if (!again.armed()) {
          answers->clear();
          return false;
        }
        outcome = LookUpMany(*family, again.view(), count, key_at, answers);
      }
    }
  }
  family->Add(outcome);
  std::vector<size_t> numbers;
  numbers.reserve(count - outcome.absent);
  for (size_t i = 0; i < count; ++i) {
    if ((*answers)[i] != Answer::kAbsent) numbers.push_back(i);
  }
  if (numbers.empty()) return true;
  ReadOptions at_one_time = options;
  if (snapshot) at_one_time.snapshot = snapshot->snapshot();
  read(*family, at_one_time, numbers);
  return true;
}

// Counts what came of the keys of a MultiGet that RocksDB has read as a whole.
template <typename Statuses>
void CountAllPassed(const Core& core, const ColumnFamilyHandle* family,
                    const std::vector<Answer>& answers,
                    const Statuses& statuses) {
  for (size_t i = 0; i < answers.size(); ++i) {
    CountPassed(*core.Find(family->GetID()), answers[i], statuses[i]);
  }
}

// Does a MultiGet with results in arrays, by a call of read_all() if RocksDB
// has to read all keys.
template <typename ReadAll>
void ReadInto(const Core& core, rocksdb::DB* db, const ReadOptions& options,
              ColumnFamilyHandle* family, size_t count, const Slice* keys,
              PinnableSlice* values, Status* statuses, bool sorted_input,
              const ReadAll& read_all) {
  std::vector<Answer> answers;
  const auto read = [&](const Family& passed, const ReadOptions& read_options,
                        const std::vector<size_t>& numbers) {
    std::vector<Slice> some_keys;
    some_keys.reserve(numbers.size());
    for (const size_t i : numbers) some_keys.push_back(keys[i]);
    std::vector<PinnableSlice> some_values;
    some_values.reserve(numbers.size());
    for (const size_t i : numbers)
      some_values.emplace_back(values[i].GetSelf());
    std::vector<Status> some_statuses(numbers.size());
    // A single key is not read by Get, which differs from MultiGet in a
    // database with TTL or with prepared transactions.
    db->MultiGet(read_options, family, numbers.size(), some_keys.data(),
                 some_values.data(), some_statuses.data(), sorted_input);
    for (size_t j = 0; j < numbers.size(); ++j) {
      const size_t i = numbers[j];
      Hand(&some_values[j], &values[i]);
      CountPassed(passed, answers[i], some_statuses[j]);
      statuses[i] = std::move(some_statuses[j]);
    }
  };
  if (!ReadPresent(
          core, db, options, family, count,
          [keys](size_t i) { return keys[i]; }, &answers, read)) {
    read_all();
    return CountAllPassed(core, family, answers, statuses);
  }
  for (size_t i = 0; i < count; ++i) {
    if (answers[i] != Answer::kAbsent) continue;
    values[i].Reset();
    statuses[i] = Status::NotFound();
  }
}

// Returns the family of all keys; null: there are several, or no keys.
template <typename Families>
ColumnFamilyHandle* OneFamily(const Families& families, size_t count) {
  if (count == 0) return nullptr;
  for (size_t i = 1; i < count; ++i) {
    if (families[i] != families[0]) return nullptr;
  }
  return families[0];
}

}  // namespace

void FrontFilterDB::MultiGet(const ReadOptions& options, size_t count,
                             ColumnFamilyHandle** families, const Slice* keys,
                             PinnableSlice* values, std::string* timestamps,
                             Status* statuses, bool sorted_input) {
  const auto read_all = [&] {
    db_->MultiGet(options, count, families, keys, values, timestamps, statuses,
                  sorted_input);
  };
  if (timestamps != nullptr) return read_all();
  ReadInto(*core_, db_, options, OneFamily(families, count), count, keys,
           values, statuses, sorted_input, read_all);
}

// Before 9.0 each overload is a virtual function of its own, which a
// StackableDB below may or may not override.
#if ROCKSDB_MAJOR < 9
void FrontFilterDB::MultiGet(const ReadOptions& options, size_t count,
                             ColumnFamilyHandle** families, const Slice* keys,
                             PinnableSlice* values, Status* statuses,
                             bool sorted_input) {
  ReadInto(*core_, db_, options, OneFamily(families, count), count, keys,
           values, statuses, sorted_input, [&] {
             db_->MultiGet(options, count, families, keys, values, statuses,
                           sorted_input);
           });
}

void FrontFilterDB::MultiGet(const ReadOptions& options,
                             ColumnFamilyHandle* family, size_t count,
                             const Slice* keys, PinnableSlice* values,
                             std::string* timestamps, Status* statuses,
                             bool sorted_input) {
  const auto read_all = [&] {
    db_->MultiGet(options, family, count, keys, values, timestamps, statuses,
                  sorted_input);
  };
  if (timestamps != nullptr) return read_all();
  ReadInto(*core_, db_, options, family, count, keys, values, statuses,
           sorted_input, read_all);
}

void FrontFilterDB::MultiGet(const ReadOptions& options,
                             ColumnFamilyHandle* family, size_t count,
                             const Slice* keys, PinnableSlice* values,
                             Status* statuses, bool sorted_input) {
  ReadInto(*core_, db_, options, family, count, keys, values, statuses,
           sorted_input, [&] {
             db_->MultiGet(options, family, count, keys, values, statuses,
                           sorted_input);
           });
}

std::vector<Status> FrontFilterDB::MultiGet(
    const ReadOptions& options,
    const std::vector<ColumnFamilyHandle*>& families,
    const std::vector<Slice>& keys, std::vector<std::string>* values,
    std::vector<std::string>* timestamps) {
  return db_->MultiGet(options, families, keys, values, timestamps);
}

std::vector<Status> FrontFilterDB::MultiGet(
    const ReadOptions& options,
    const std::vector<ColumnFamilyHandle*>& families,
    const std::vector<Slice>& keys, std::vector<std::string>* values) {
  std::vector<Status> statuses(keys.size(), Status::NotFound());
  std::vector<std::string> found(keys.size());
  std::vector<Answer> answers;
  ColumnFamilyHandle* const family = OneFamily(families, keys.size());
  const auto read = [&](const Family& passed, const ReadOptions& read_options,
                        const std::vector<size_t>& numbers) {
    std::vector<Slice> some_keys;
    some_keys.reserve(numbers.size());
    for (const size_t i : numbers) some_keys.push_back(keys[i]);
    // RocksDB leaves some values unchanged.
    std::vector<std::string> some_values;
    for (const size_t i : numbers) {
      some_values.push_back(i < values->size() ? (*values)[i] : std::string());
    }
    const std::vector<Status> some_statuses = db_->MultiGet(
        read_options, std::vector<ColumnFamilyHandle*>(numbers.size(), family),
        some_keys, &some_values);
    for (size_t j = 0; j < numbers.size(); ++j) {
      const size_t i = numbers[j];
      CountPassed(passed, answers[i], some_statuses[j]);
      statuses[i] = some_statuses[j];
      found[i] = std::move(some_values[j]);
    }
  };
  if (!ReadPresent(
          *core_, db_, options, family, keys.size(),
          [&keys](size_t i) { return keys[i]; }, &answers, read)) {
    statuses = db_->MultiGet(options, families, keys, values);
    CountAllPassed(*core_, family, answers, statuses);
    return statuses;
  }
  *values = std::move(found);
  return statuses;
}
#endif

}  // namespace rowbloom

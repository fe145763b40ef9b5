#include "tools/sst/block.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/format/coding.h"

namespace rowbloom::sst {
namespace {

constexpr size_t kRestartBytes = 4;
constexpr size_t kFirstValueBytes = 4;
constexpr uint32_t kEvenKeysBit = uint32_t{1} << 29;
constexpr uint32_t kValuesApartBit = uint32_t{1} << 28;

// The limits of the decoded keys of one block; the larger one counts. The first
// is far beyond any index of filter partitions. The second allows a kilobyte
// for each byte of the largest blocks whose keys are not kept.
constexpr uint64_t kMaxDecodedKeyBytes = uint64_t{256} << 20;
constexpr uint64_t kMaxDecodedKeyBytesPerByte = 1024;

// In larger blocks RocksDB neither writes a hash index nor looks for one.
constexpr size_t kMaxHashIndexBlockBytes = size_t{64} << 10;
constexpr uint32_t kHashIndexBit = uint32_t{1} << 31;
constexpr size_t kBucketCountBytes = 2;

}  // namespace

EntryCursor::EntryCursor(std::string_view block, ValueForm form,
                         bool keeps_keys)
    : block_(block),
      form_(form),
      sized_(form == ValueForm::kSized || form == ValueForm::kData),
      most_key_bytes_(std::max<uint64_t>(
          kMaxDecodedKeyBytes,
          block.size() * (keeps_keys ? 1 : kMaxDecodedKeyBytesPerByte))) {
  ReadRestarts();
}

void EntryCursor::ReadRestarts() {
  if (block_.size() < kRestartBytes) {
    Fail(fmt::format("{} bytes, expected at least {}", block_.size(),
                     kRestartBytes));
    return;
  }
  const size_t count_at = block_.size() - kRestartBytes;
  auto count = LoadFixed<uint32_t>(block_.data() + count_at);
  size_t restarts_end = count_at;
  count &= ~kEvenKeysBit;
  if (form_ == ValueForm::kData && (count & kValuesApartBit) != 0) {
    count &= ~kValuesApartBit;
    if (!SkipFirstValue(&restarts_end)) return;
  }
  if (form_ == ValueForm::kData && block_.size() <= kMaxHashIndexBlockBytes &&
      (count & kHashIndexBit) != 0) {
    count &= ~kHashIndexBit;
    if (!SkipHashIndex(&restarts_end)) return;
  }
  restart_count_ = count;
  if (restart_count_ < 1 || restart_count_ > restarts_end / kRestartBytes) {
    Fail(fmt::format("{} restarts at offset {}, expected 1 to {}",
                     restart_count_, count_at, restarts_end / kRestartBytes));
    return;
  }
  restarts_at_ = restarts_end - restart_count_ * kRestartBytes;
  if (values_at_ > restarts_at_) {
    Fail(fmt::format("values from offset {} on, expected at most {}",
                     values_at_, restarts_at_));
    return;
  }
  entries_end_ = values_apart_ ? values_at_ : restarts_at_;
  FindNextRestart();
}

void EntryCursor::FindNextRestart() {
  next_restart_at_ = next_restart_ < restart_count_
                         ? LoadFixed<uint32_t>(block_.data() + restarts_at_ +
                                               next_restart_ * kRestartBytes)
                         : block_.size();
}

// Reads the offset of the values, and moves *restarts_end before it.
bool EntryCursor::SkipFirstValue(size_t* restarts_end) {
  if (*restarts_end < kFirstValueBytes) {
    return Fail(
        fmt::format("values apart from keys in {} bytes, expected at "
                    "least {}",
                    block_.size(), kFirstValueBytes + kRestartBytes));
  }
  *restarts_end -= kFirstValueBytes;
  values_apart_ = true;
  values_at_ = LoadFixed<uint32_t>(block_.data() + *restarts_end);
  return true;
}

// Moves *restarts_end before the buckets and their count.
bool EntryCursor::SkipHashIndex(size_t* restarts_end) {
  const size_t end = *restarts_end;
  if (end < kBucketCountBytes) {
    return Fail(fmt::format("hash index of {} bytes, expected at least {}", end,
                            kBucketCountBytes));
  }
  const size_t count_at = end - kBucketCountBytes;
  const size_t buckets = LoadFixed<uint16_t>(block_.data() + count_at);
  if (buckets < 1 || buckets > count_at) {
    return Fail(
        fmt::format("hash index of {} buckets at offset {}, expected 1 to {}",
                    buckets, count_at, count_at));
  }
  has_hash_index_ = true;
  *restarts_end = count_at - buckets;
  return true;
}

bool EntryCursor::Fail(const std::string& problem) {
  status_ = rocksdb::Status::Corruption(problem);
  return false;
}

bool EntryCursor::Next() {
  if (!status_.ok()) return false;
  if (at_ < entries_end_) return ReadEntry();
  return CheckEnd();
}

bool EntryCursor::CheckEnd() {
  // A block without entries has one restart, at 0.
  if (next_restart_ < restart_count_ && entries_end_ > 0) {
    return Fail(
        fmt::format("restart {} at offset {}, expected where an entry starts",
                    next_restart_, next_restart_at_));
  }
  if (values_apart_ && values_at_ != restarts_at_) {
    return Fail(fmt::format("values end at offset {}, expected {}", values_at_,
                            restarts_at_));
  }
  return false;
}

// Takes the lengths of the next entry off `*in`. Changes no other state.
inline bool EntryCursor::ReadLengths(std::string_view* in, Lengths* lengths) {
  if (!GetVarint(in, &lengths->shared) ||
      !GetVarint(in, &lengths->non_shared) ||
      (sized_ && !GetVarint(in, &lengths->value_bytes))) {
    return Fail(fmt::format("entry at offset {}: malformed lengths", at_));
  }
  if (values_apart_ && at_ == next_restart_at_) {
    uint32_t start = 0;
    if (!GetVarint(in, &start) || start != values_at_ - entries_end_) {
      return Fail(fmt::format(
          "entry at offset {}: value at {} of the values, expected {}", at_,
          start, values_at_ - entries_end_));
    }
  }
  if (lengths->shared > key_.size()) {
    return Fail(fmt::format(
        "entry at offset {}: shares {} bytes with a key of {} bytes", at_,
        lengths->shared, key_.size()));
  }
  if (lengths->non_shared > in->size() ||
      (!values_apart_ &&
       lengths->value_bytes > in->size() - lengths->non_shared)) {
    return Fail(fmt::format(
        "entry at offset {}: key of {} and value of {} bytes, expected at "
        "most {} bytes",
        at_, lengths->non_shared, lengths->value_bytes, in->size()));
  }
  if (values_apart_ && lengths->value_bytes > restarts_at_ - values_at_) {
    return Fail(fmt::format(
        "entry at offset {}: value of {} bytes, expected at most {}", at_,
        lengths->value_bytes, restarts_at_ - values_at_));
  }
  return true;
}

inline bool EntryCursor::CheckKey(const Lengths& lengths) {
  if (at_ == next_restart_at_) {
    if (lengths.shared != 0) {
      return Fail(fmt::format(
          "entry at offset {}: shares {} bytes at a restart, expected 0", at_,
          lengths.shared));
    }
    ++next_restart_;
    FindNextRestart();
  }
  // An entry of a few bytes can repeat a long key, any number of times.
  decoded_key_bytes_ += lengths.key_bytes();
  if (decoded_key_bytes_ > most_key_bytes_) {
    return Fail(fmt::format(
        "entry at offset {}: keys of {} bytes up to here, expected at most {}",
        at_, decoded_key_bytes_, most_key_bytes_));
  }
  return true;
}

bool EntryCursor::ReadEntry() {
  std::string_view in = block_.substr(at_, entries_end_ - at_);
  Lengths lengths;
  if (!ReadLengths(&in, &lengths) || !CheckKey(lengths)) {
    return false;
  }
  shared_key_bytes_ = lengths.shared;
  key_.resize(lengths.shared);
  key_.append(in.substr(0, lengths.non_shared));
  in.remove_prefix(lengths.non_shared);

  value_offset_bytes_ = values_apart_ ? values_at_ : entries_end_ - in.size();
  if (values_apart_) {
    value_ = block_.substr(values_at_, lengths.value_bytes);
    values_at_ += lengths.value_bytes;
  } else if (sized_) {
    value_ = in.substr(0, lengths.value_bytes);
    in.remove_prefix(lengths.value_bytes);
  } else {
    const std::string_view before = in;
    if (!ReadHandle(lengths.shared == 0, &in)) return false;
    value_ = before.substr(0, before.size() - in.size());
  }
  at_ = entries_end_ - in.size();
  return true;
}

bool EntryCursor::ReadHandle(bool in_full, std::string_view* in) {
  int64_t difference = 0;
  if (in_full ? !GetBlockHandle(in, &handle_)
              : !GetSignedVarint(in, &difference)) {
    return Fail(fmt::format("entry at offset {}: malformed block handle", at_));
  }
  if (!in_full) {
    handle_.offset_bytes += handle_.size_bytes + kBlockTrailerBytes;
    handle_.size_bytes += static_cast<uint64_t>(difference);
  }
  if (form_ != ValueForm::kHandleAndFirstKey) return true;
  if (!GetSizedBytes(in, &first_key_)) {
    return Fail(
        fmt::format("entry at offset {}: malformed first key of a block", at_));
  }
  return true;
}

}  // namespace rowbloom::sst

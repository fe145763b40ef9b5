#include "storage/sst/block.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/sst/coding.h"

namespace rowbloom::sst {
namespace {

constexpr size_t kRestartBytes = 4;

// Of one block: far beyond any index of filter partitions, and for the largest
// data blocks a kilobyte for each byte.
constexpr uint64_t kMaxDecodedKeyBytes = uint64_t{256} << 20;
constexpr uint64_t kMaxDecodedKeyBytesPerByte = 1024;

// In larger blocks RocksDB neither writes a hash index nor looks for one.
constexpr size_t kMaxHashIndexBlockBytes = size_t{64} << 10;
constexpr uint32_t kHashIndexBit = uint32_t{1} << 31;
constexpr size_t kBucketCountBytes = 2;

uint32_t Fixed32At(std::string_view bytes, size_t offset) {
  std::string_view in = bytes.substr(offset);
  uint32_t value = 0;
  if (!GetFixed32(&in, &value)) return 0;
  return value;
}

}  // namespace

EntryCursor::EntryCursor(std::string_view block, ValueForm form)
    : block_(block), form_(form) {
  ReadRestarts();
}

void EntryCursor::ReadRestarts() {
  if (block_.size() < kRestartBytes) {
    Fail(fmt::format("{} bytes, expected at least {}", block_.size(),
                     kRestartBytes));
    return;
  }
  const size_t count_at = block_.size() - kRestartBytes;
  uint32_t count = Fixed32At(block_, count_at);
  size_t restarts_end = count_at;
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
  entries_end_ = restarts_end - restart_count_ * kRestartBytes;
}

// Moves *restarts_end to before the buckets and their count.
bool EntryCursor::SkipHashIndex(size_t* restarts_end) {
  const size_t end = *restarts_end;
  if (end < kBucketCountBytes) {
    return Fail(fmt::format("hash index of {} bytes, expected at least {}", end,
                            kBucketCountBytes));
  }
  const size_t count_at = end - kBucketCountBytes;
  const size_t buckets = static_cast<unsigned char>(block_[count_at]) |
                         static_cast<unsigned char>(block_[count_at + 1]) << 8;
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
  // A block without entries has one restart, at 0.
  if (next_restart_ < restart_count_ && entries_end_ > 0) {
    return Fail(fmt::format(
        "restart {} at offset {}, expected where an entry starts",
        next_restart_,
        Fixed32At(block_, entries_end_ + next_restart_ * kRestartBytes)));
  }
  return false;
}

bool EntryCursor::ReadEntry() {
  std::string_view in = block_.substr(at_, entries_end_ - at_);
  uint32_t shared = 0;
  uint32_t non_shared = 0;
  uint32_t value_bytes = 0;
  const bool sized = form_ == ValueForm::kSized || form_ == ValueForm::kData;
  if (!GetVarint32(&in, &shared) || !GetVarint32(&in, &non_shared) ||
      (sized && !GetVarint32(&in, &value_bytes))) {
    return Fail(fmt::format("entry at offset {}: malformed lengths", at_));
  }
  if (shared > key_.size()) {
    return Fail(fmt::format(
        "entry at offset {}: shares {} bytes with a key of {} bytes", at_,
        shared, key_.size()));
  }
  if (non_shared > in.size() || value_bytes > in.size() - non_shared) {
    return Fail(fmt::format(
        "entry at offset {}: key of {} and value of {} bytes, expected at "
        "most {} bytes",
        at_, non_shared, value_bytes, in.size()));
  }
  if (next_restart_ < restart_count_ &&
      Fixed32At(block_, entries_end_ + next_restart_ * kRestartBytes) == at_) {
    if (shared != 0) {
      return Fail(fmt::format(
          "entry at offset {}: shares {} bytes at a restart, expected 0", at_,
          shared));
    }
    ++next_restart_;
  }
  key_.resize(shared);
  key_.append(in.substr(0, non_shared));
  // A few bytes can repeat a long key without end.
  decoded_key_bytes_ += key_.size();
  const uint64_t most = std::max<uint64_t>(
      kMaxDecodedKeyBytes, block_.size() * kMaxDecodedKeyBytesPerByte);
  if (decoded_key_bytes_ > most) {
    return Fail(fmt::format(
        "entry at offset {}: keys of {} bytes up to here, expected at most {}",
        at_, decoded_key_bytes_, most));
  }
  in.remove_prefix(non_shared);

  value_offset_bytes_ = entries_end_ - in.size();
  if (sized) {
    value_ = in.substr(0, value_bytes);
    in.remove_prefix(value_bytes);
  } else {
    const std::string_view before = in;
    if (!ReadHandle(shared == 0, &in)) return false;
    value_ = before.substr(0, before.size() - in.size());
  }
  at_ = entries_end_ - in.size();
  return true;
}

bool EntryCursor::ReadHandle(bool in_full, std::string_view* in) {
  int64_t difference = 0;
  if (in_full ? !GetBlockHandle(in, &handle_)
              : !GetSignedVarint64(in, &difference)) {
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

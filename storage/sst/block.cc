#include "storage/sst/block.h"

#include <fmt/format.h>

#include "storage/sst/coding.h"

namespace rowbloom::sst {
namespace {

constexpr size_t kRestartBytes = 4;

// Of one block: far beyond any index of filter partitions.
constexpr uint64_t kMaxDecodedKeyBytes = uint64_t{256} << 20;

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
  restart_count_ = Fixed32At(block_, count_at);
  if (restart_count_ < 1 || restart_count_ > count_at / kRestartBytes) {
    Fail(fmt::format("{} restarts at offset {}, expected 1 to {}",
                     restart_count_, count_at, count_at / kRestartBytes));
    return;
  }
  entries_end_ = count_at - restart_count_ * kRestartBytes;
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
  if (!GetVarint32(&in, &shared) || !GetVarint32(&in, &non_shared) ||
      (form_ == ValueForm::kSized && !GetVarint32(&in, &value_bytes))) {
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
  if (decoded_key_bytes_ > kMaxDecodedKeyBytes) {
    return Fail(fmt::format(
        "entry at offset {}: keys of {} bytes up to here, expected at most {}",
        at_, decoded_key_bytes_, kMaxDecodedKeyBytes));
  }
  in.remove_prefix(non_shared);

  value_offset_bytes_ = entries_end_ - in.size();
  if (form_ == ValueForm::kHandle) {
    const std::string_view before = in;
    int64_t difference = 0;
    if (shared == 0 ? !GetBlockHandle(&in, &handle_)
                    : !GetSignedVarint64(&in, &difference)) {
      return Fail(
          fmt::format("entry at offset {}: malformed block handle", at_));
    }
    if (shared != 0) {
      handle_.offset_bytes += handle_.size_bytes + kBlockTrailerBytes;
      handle_.size_bytes += static_cast<uint64_t>(difference);
    }
    value_ = before.substr(0, before.size() - in.size());
  } else {
    value_ = in.substr(0, value_bytes);
    in.remove_prefix(value_bytes);
  }
  at_ = entries_end_ - in.size();
  return true;
}

}  // namespace rowbloom::sst

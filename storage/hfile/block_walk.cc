#include "storage/hfile/block_walk.h"

#include <algorithm>

namespace rowbloom::hfile {

bool BlockWalk::Next() {
  const uint64_t end = reader_.blocks_end();
  offset_ = end_;
  if (offset_ >= end) return false;
  block_.payload = {};
  status_ = reader_.blocks().ReadHeader(offset_, end, &block_.header);
  has_header_ = status_.ok();
  if (has_header_) {
    const BlockLocation location{
        offset_, static_cast<uint32_t>(block_.header.block_bytes())};
    end_ = offset_ + location.block_bytes;
    status_ = reader_.is_readable()
                  ? reader_.blocks().Read(location, block_.header.type, &block_,
                                          &scratch_)
                  : reader_.blocks().ReadStored(location, &block_, &scratch_);
    // A wrong size must not hide the blocks after it.
    if (!status_.ok()) end_ = std::min(end_, NextKnownOffset());
  } else {
    end_ = NextKnownOffset();
  }
  return true;
}

uint64_t BlockWalk::NextKnownOffset() {
  if (known_offsets_.empty()) {
    const auto add = [this](const RootIndex& index) {
      for (size_t entry = 0; entry < index.size(); ++entry) {
        known_offsets_.push_back(index.location(entry).offset);
      }
    };
    add(reader_.data_root());
    add(reader_.meta_root());
    if (reader_.general_bloom()) add(reader_.general_bloom()->chunks);
    if (reader_.delete_family_bloom()) {
      add(reader_.delete_family_bloom()->chunks);
    }
    known_offsets_.push_back(reader_.trailer().load_on_open_offset);
    known_offsets_.push_back(reader_.trailer().file_info_offset);
    known_offsets_.push_back(reader_.blocks_end());
    std::sort(known_offsets_.begin(), known_offsets_.end());
  }
  const auto next =
      std::upper_bound(known_offsets_.begin(), known_offsets_.end(), offset_);
  return next == known_offsets_.end() ? reader_.blocks_end() : *next;
}

}  // namespace rowbloom::hfile

#include "storage/hfile/iterator.h"

#include <new>

#include "storage/format/no_exceptions.h"
#include "storage/format/status_text.h"
#include "storage/hfile/cell.h"
#include "storage/hfile/reader.h"

namespace rowbloom::hfile {

using rocksdb::Status;

Iterator::Iterator(const Reader& reader, const HFileReadOptions& options)
    : reader_(reader),
      fill_cache_(options.fill_cache),
      ordered_(reader.comparator() == Comparator::kCells),
      levels_(reader.trailer().data_index_levels - 1),
      cells_(NewBlockCells(reader.encoding(), reader.cell_form(),
                           reader.blocks().max_data_block_bytes())) {}

template <typename Move>
void Iterator::Run(const Move& move) {
  try {
    move();
  } catch (const std::bad_alloc&) {
    valid_ = false;
    status_ = NoMemoryFor(reader_.path());
  }
}

bool Iterator::Fail(const Status& status) {
  status_ = status;
  valid_ = false;
  return false;
}

bool Iterator::FailAtCell(const Status& problem) {
  return Fail(reader_.file().Located("data block", block_->offset, problem));
}

bool Iterator::FailAtCell(const std::string& problem) {
  return FailAtCell(
      Corruption("byte ", cells_->offset(), " of its payload: ", problem));
}

bool Iterator::Start() {
  status_ = Status::OK();
  valid_ = false;
  next_data_offset_ = 0;
  can_skip_ = false;
  skipped_index_offset_ = 0;
  last_key_.clear();
  if (!reader_.CellsStatus().ok()) return Fail(reader_.CellsStatus());
  return true;
}

// Returns the place in the current entry at this depth. Depth 0 is the root.
BlockLocation Iterator::Child(size_t level) const {
  if (level == 0) return reader_.data_root().location(root_entry_);
  const Level& above = levels_[level - 1];
  return above.index.location(above.entry);
}

std::string_view Iterator::ChildKey(size_t level) const {
  if (level == 0) return reader_.data_root().key(root_entry_);
  const Level& above = levels_[level - 1];
  return above.index.key(above.entry);
}

std::string_view Iterator::index_key() const {
  return ChildKey(levels_.size());
}

bool Iterator::LoadLevel(size_t level, const std::string* key) {
  Level& here = levels_[level];
  failed_level_ = level;
  can_skip_ = true;
  const BlockType type = level + 1 == levels_.size()
                             ? BlockType::kLeafIndex
                             : BlockType::kIntermediateIndex;
  const Status status = reader_.CachedBlock(Child(level), type, &here.block);
  if (!status.ok()) return Fail(status);
  here.index = NonRootIndex(here.block->payload);
  here.entry = 0;
  // Otherwise a seek that continues in the next block could end before its key.
  if (ordered_ && CompareIndexKeys(KeyForm::kCellKey, ChildKey(level),
                                   here.index.key(0)) > 0) {
    return Fail(reader_.file().Located(
        "index block", here.block->offset,
        Status::Corruption("its first key is before the key above it")));
  }
  if (key == nullptr) return true;
  here.entry = here.index.Find(*key);
  if (here.entry < here.index.size()) return true;
  return Fail(reader_.file().Located(
      "index block", here.block->offset,
      Status::Corruption("its first key is after the key above it")));
}

bool Iterator::Descend(size_t level, const std::string* key) {
  for (; level < levels_.size(); ++level) {
    if (!LoadLevel(level, key)) return false;
  }
  return LoadData();
}

bool Iterator::LoadData() {
  const BlockLocation location = Child(levels_.size());
  failed_level_ = levels_.size();
  can_skip_ = location.offset >= next_data_offset_;
  if (!can_skip_) {
    return Fail(reader_.file().Located(
        "data block", location.offset,
        Corruption("expected at offset ", next_data_offset_, " or behind")));
  }
  next_data_offset_ = location.offset + location.block_bytes;
  block_ = nullptr;
  const BlockType type = DataBlockType(reader_.encoding());
  Status status;
  if (fill_cache_) {
    status = reader_.CachedBlock(location, type, &block_);
  } else {
    block_ = reader_.FindCached(location, type);
    if (block_ == nullptr) {
      if (own_block_ == nullptr) own_block_ = std::make_shared<Block>();
      status =
          reader_.blocks().Read(location, type, own_block_.get(), &scratch_);
      block_ = own_block_;
    }
  }
  if (!status.ok()) return Fail(status);
  HFileKey above;
  if (!cells_->Start(block_->payload)) return FailAtCell(cells_->status());
  if (ordered_ && ParseKey(index_key(), &above) &&
      CompareHFileKeys(above, cell().key()) > 0) {
    return FailAtCell("key before that of the block in the index");
  }
  valid_ = true;
  return true;
}

bool Iterator::CheckOrder(const HFileKey& before) {
  if (!ordered_ || CompareHFileKeys(before, cell().key()) <= 0) return true;
  return FailAtCell("key before that of the cell before it");
}

bool Iterator::Step() {
  const HFileKey before = cell().key();
  if (!cells_->Next()) return FailAtCell(cells_->status());
  return CheckOrder(before);
}

bool Iterator::NextBlock() {
  last_key_.clear();
  AppendKey(cell().key(), &last_key_);
  HFileKey last;
  return Advance(levels_.size()) && ParseKey(last_key_, &last) &&
         CheckOrder(last);
}

bool Iterator::Advance(size_t level) {
  valid_ = false;
  // Finds the deepest index with another entry.
  while (level > 0 &&
         levels_[level - 1].entry + 1 == levels_[level - 1].index.size()) {
    --level;
  }
  if (level > 0) {
    ++levels_[level - 1].entry;
  } else if (root_entry_ + 1 < reader_.data_root().size()) {
    ++root_entry_;
  } else {
    return false;
  }
  return Descend(level, nullptr);
}

bool Iterator::SkipDamage() {
  if (!status_.IsCorruption() || !can_skip_) return false;
  // The data below a damaged index is unknown. Only the offset of the index
  // shows whether the iterator moves forward.
  if (failed_level_ < levels_.size()) {
    const uint64_t offset = Child(failed_level_).offset;
    if (offset < skipped_index_offset_) return false;
    skipped_index_offset_ = offset + 1;
  }
  status_ = Status::OK();
  Run([this] { Advance(failed_level_); });
  return true;
}

void Iterator::SeekToFirst() {
  Run([this] {
    if (!Start() || reader_.data_root().size() == 0) return;
    root_entry_ = 0;
    Descend(0, nullptr);
  });
}

void Iterator::Next() {
  Run([this] { cells_->HasNext() ? Step() : NextBlock(); });
}

void Iterator::Seek(const HFileKey& key) {
  Run([&] {
    if (!Start()) return;
    if (!ordered_) {
      Fail(Status::NotSupported(reader_.path() +
                                ": cannot seek in the order of hbase:meta"));
      return;
    }
    if (key.row.size() > kHFileMaxRowBytes ||
        key.family.size() > kHFileMaxFamilyBytes) {
      Fail(InvalidArgument(reader_.path(), ": key with a row of ",
                           key.row.size(), " and family of ", key.family.size(),
                           " bytes, expected at most ", kHFileMaxRowBytes,
                           " and ", kHFileMaxFamilyBytes));
      return;
    }
    seek_key_.clear();
    AppendKey(key, &seek_key_);
    // The bytes of the present cell are gone once another block is read.
    HFileKey sought;
    static_cast<void>(ParseKey(seek_key_, &sought));
    root_entry_ = reader_.data_root().Find(seek_key_);
    if (root_entry_ == reader_.data_root().size()) return SeekToFirst();
    if (!Descend(0, &seek_key_)) return;
    if (CompareHFileKeys(cell().key(), sought) >= 0) return;
    if (!cells_->SkipTo(sought)) {
      FailAtCell(cells_->status());
      return;
    }
    while (CompareHFileKeys(cell().key(), sought) < 0) {
      if (!cells_->HasNext()) {
        NextBlock();
        return;
      }
      if (!Step()) return;
    }
  });
}

}  // namespace rowbloom::hfile

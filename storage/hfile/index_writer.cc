#include "storage/hfile/index_writer.h"

#include <utility>

#include "storage/format/coding.h"
#include "storage/hfile/trailer.h"
#include "storage/hfile/vlong.h"

namespace rowbloom::hfile {
namespace {

using rocksdb::Status;

void AppendLocation(const BlockLocation& location, std::string* out) {
  PutBig<uint64_t>(out, location.offset);
  PutBig<uint32_t>(out, location.block_bytes);
}

}  // namespace

void AppendRootEntry(const BlockLocation& location, std::string_view key,
                     std::string* out) {
  AppendLocation(location, out);
  PutByteArray(out, key);
}

size_t RootEntryBytes(std::string_view key) {
  return kLocationBytes + VlongBytes(static_cast<int64_t>(key.size())) +
         key.size();
}

void IndexWriter::Chunk::Add(Entry entry) {
  root_bytes += RootEntryBytes(entry.key);
  non_root_bytes += kLocationBytes + entry.key.size();
  entries.push_back(std::move(entry));
}

void IndexWriter::Add(const BlockLocation& location, std::string key) {
  leaf_.Add({location, std::move(key)});
}

size_t IndexWriter::NonRootBytes(const Chunk& chunk) const {
  return sizeof(uint32_t) * (chunk.entries.size() + 2) + chunk.non_root_bytes;
}

Status IndexWriter::WriteChunk(BlockType type, Chunk* chunk, Chunk* parent,
                               size_t* payload_bytes) {
  std::string payload;
  payload.reserve(NonRootBytes(*chunk));
  PutBig<uint32_t>(&payload, static_cast<uint32_t>(chunk->entries.size()));
  uint32_t start = 0;
  for (const Entry& entry : chunk->entries) {
    PutBig<uint32_t>(&payload, start);
    start += static_cast<uint32_t>(kLocationBytes + entry.key.size());
  }
  PutBig<uint32_t>(&payload, start);
  uint64_t data_blocks = 0;
  for (const Entry& entry : chunk->entries) {
    AppendLocation(entry.location, &payload);
    payload += entry.key;
    data_blocks += entry.data_blocks;
  }
  BlockLocation location;
  const Status status = blocks_->Write(type, payload, &location);
  if (!status.ok()) return status;
  parent->Add({location, chunk->entries.front().key, data_blocks});
  *chunk = {};
  payload_bytes_ += payload.size();
  *payload_bytes = payload.size();
  return status;
}

Status IndexWriter::WriteLeaf(bool closing, size_t* payload_bytes) {
  *payload_bytes = 0;
  if (leaf_.entries.empty()) return Status::OK();
  if (closing && root_.entries.empty()) {
    // All entries fit into the root.
    root_ = std::move(leaf_);
    leaf_ = {};
    return Status::OK();
  }
  if (!closing && NonRootBytes(leaf_) < max_block_bytes_) return Status::OK();
  levels_ = 2;
  return WriteChunk(BlockType::kLeafIndex, &leaf_, &root_, payload_bytes);
}

// Moves the root's entries one level down.
Status IndexWriter::AddLevel() {
  Chunk parent;
  Chunk chunk;
  size_t payload_bytes = 0;
  for (size_t i = 0; i < root_.entries.size(); ++i) {
    chunk.Add(std::move(root_.entries[i]));
    const bool is_full =
        i >= min_entries_ && chunk.root_bytes >= max_block_bytes_;
    if (!is_full && i + 1 < root_.entries.size()) continue;
    const Status status = WriteChunk(BlockType::kIntermediateIndex, &chunk,
                                     &parent, &payload_bytes);
    if (!status.ok()) return status;
  }
  root_ = std::move(parent);
  ++levels_;
  return Status::OK();
}

// Returns the place of the middle data block in the leaves.
std::string IndexWriter::MidKey() const {
  uint64_t data_blocks = 0;
  for (const Entry& leaf : root_.entries) data_blocks += leaf.data_blocks;
  const uint64_t middle = (data_blocks - 1) / 2;
  uint64_t before = 0;
  std::string bytes;
  for (const Entry& leaf : root_.entries) {
    if (middle < before + leaf.data_blocks) {
      AppendLocation(leaf.location, &bytes);
      PutBig<uint32_t>(&bytes, static_cast<uint32_t>(middle - before));
      break;
    }
    before += leaf.data_blocks;
  }
  return bytes;
}

Status IndexWriter::WriteRoot(BlockLocation* root) {
  // The root still lists the leaves here, before AddLevel inserts levels
  // between.
  const std::string mid_key = levels_ > 1 ? MidKey() : std::string();
  while (levels_ > 1 && root_.root_bytes > max_block_bytes_ &&
         root_.entries.size() > min_entries_ && levels_ < kMaxIndexLevels) {
    const Status status = AddLevel();
    if (!status.ok()) return status;
  }
  std::string payload;
  payload.reserve(root_.root_bytes + mid_key.size());
  for (const Entry& entry : root_.entries) {
    AppendRootEntry(entry.location, entry.key, &payload);
  }
  payload += mid_key;
  payload_bytes_ += payload.size();
  return blocks_->Write(BlockType::kRootIndex, payload, root);
}

}  // namespace rowbloom::hfile

#include "storage/hfile/bloom_writer.h"

#include "storage/format/coding.h"
#include "storage/hfile/bloom_filter.h"
#include "storage/hfile/index_writer.h"
#include "storage/hfile/vlong.h"

namespace rowbloom::hfile {

using rocksdb::Status;

BloomWriter::BloomWriter(const FileForm& options, BloomType type,
                         BlockWriter* blocks)
    : hash_(options.bloom_hash),
      key_form_(type == BloomType::kRowCol ? KeyForm::kCellKey
                                           : KeyForm::kBytes),
      sizing_(SizeChunk(options.bloom_block_bytes,
                        ChunkErrorRate(type, options.bloom_error_rate),
                        options.bloom_max_fold)),
      blocks_(blocks) {}

void BloomWriter::Add(std::string_view key) {
  if (key_count_ > 0 && key == last_key_) return;
  if (chunk_.has_value() && chunk_->full()) Retire();
  if (!chunk_.has_value()) {
    chunk_.emplace(sizing_, hash_);
    first_key_ = key;
  }
  chunk_->Add(key);
  last_key_ = key;
  ++key_count_;
}

void BloomWriter::Retire() {
  chunk_->Fold();
  bytes_ += chunk_->bits().size();
  max_keys_ += chunk_->max_keys();
  ready_.push_back({std::move(first_key_), chunk_->bits()});
  chunk_.reset();
}

Status BloomWriter::WriteChunks(bool closing, uint64_t* uncompressed_bytes) {
  if (chunk_.has_value() && (closing || chunk_->full())) Retire();
  for (const ReadyChunk& chunk : ready_) {
    BlockLocation location;
    const Status status =
        blocks_->Write(BlockType::kBloomChunk, chunk.bits, &location);
    if (!status.ok()) return status;
    AppendRootEntry(location, chunk.first_key, &index_);
    ++chunk_count_;
    *uncompressed_bytes += kBlockHeaderBytes + chunk.bits.size();
  }
  ready_.clear();
  return Status::OK();
}

std::string BloomWriter::Describe() const {
  std::string payload;
  PutBig<uint32_t>(&payload, kBloomMetaVersion);
  PutBig<uint64_t>(&payload, bytes_);
  PutBig<uint32_t>(&payload, sizing_.hash_count);
  PutBig<uint32_t>(&payload, static_cast<uint32_t>(hash_));
  PutBig<uint64_t>(&payload, key_count_);
  PutBig<uint64_t>(&payload, max_keys_);
  PutBig<uint32_t>(&payload, chunk_count_);
  PutByteArray(&payload, key_form_ == KeyForm::kCellKey
                             ? std::string_view(kRowColComparator)
                             : std::string_view());
  return payload + index_;
}

}  // namespace rowbloom::hfile

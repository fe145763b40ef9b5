#include "storage/store/row_partitioner.h"

#include <cstdint>
#include <memory>
#include <string_view>

#include "rocksdb/sst_partitioner.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;

// More than any file has, and far from overflowing in RocksDB's sums.
constexpr uint64_t kUnlimitedBytes = uint64_t{1} << 50;

class RowPartitioner final : public rocksdb::SstPartitioner {
 public:
  RowPartitioner(const KeyLayout& key_layout, uint64_t file_bytes)
      : key_layout_(key_layout), file_bytes_(file_bytes) {}

  const char* Name() const override { return "rowbloom.RowPartitioner"; }

  rocksdb::PartitionerResult ShouldPartition(
      const rocksdb::PartitionerRequest& request) override {
    if (request.current_output_file_size < file_bytes_) {
      return rocksdb::kNotRequired;
    }
    const std::string_view previous = request.prev_user_key->ToStringView();
    const size_t row_bytes = key_layout_.RowBytes(previous);
    const bool same_row = row_bytes != KeyLayout::kNoRow &&
                          request.current_user_key->starts_with(
                              Slice(previous.data(), row_bytes));
    return same_row ? rocksdb::kNotRequired : rocksdb::kRequired;
  }

  bool CanDoTrivialMove(const Slice& /*smallest_user_key*/,
                        const Slice& /*largest_user_key*/) override {
    return false;
  }

 private:
  const KeyLayout key_layout_;
  const uint64_t file_bytes_;
};

class RowPartitionerFactory final : public rocksdb::SstPartitionerFactory {
 public:
  RowPartitionerFactory(const KeyLayout& key_layout, uint64_t file_bytes)
      : key_layout_(key_layout), file_bytes_(file_bytes) {}

  const char* Name() const override { return "rowbloom.RowPartitioner"; }

  std::unique_ptr<rocksdb::SstPartitioner> CreatePartitioner(
      const rocksdb::SstPartitioner::Context& context) const override {
    // RocksDB makes one file of what it compacts within level 0.
    if (context.output_level == 0) return nullptr;
    return std::make_unique<RowPartitioner>(key_layout_, file_bytes_);
  }

 private:
  const KeyLayout key_layout_;
  const uint64_t file_bytes_;
};

}  // namespace

void AlignFiles(const KeyLayout& key_layout,
                rocksdb::ColumnFamilyOptions* options) {
  options->sst_partitioner_factory = std::make_shared<RowPartitionerFactory>(
      key_layout, options->target_file_size_base);
  options->target_file_size_base = kUnlimitedBytes;
  options->max_compaction_bytes = kUnlimitedBytes;
  // Files that are this old would be cut where those of the level below begin
  // and end.
  options->ttl = 0;
}

}  // namespace rowbloom

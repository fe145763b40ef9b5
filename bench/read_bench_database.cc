#include "bench/read_bench_database.h"

#include <algorithm>
#include <array>
#include <limits>

#include "bench/equal_bytes.h"
#include "rocksdb/cache.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rocksdb/write_batch.h"
#include "rowbloom/bloom_math.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/open_db.h"

namespace rowbloom::bench {

using rocksdb::Status;

namespace {

constexpr double kStockBitsPerKey = 10;

}  // namespace

bool ReadDatabase::HasPrefixes() const {
  return filter_ != Filter::kNone && filter_ != Filter::kStockKey;
}

bool ReadDatabase::HasFilter(Read read) const {
  return read == Read::kScanAbsentRow ? HasPrefixes()
                                      : filter_ != Filter::kNone;
}

Status ReadDatabase::MakePolicy(
    double bits_per_key,
    std::shared_ptr<const rocksdb::FilterPolicy>* policy) const {
  switch (filter_) {
    case Filter::kNone:
      return Status::OK();
    case Filter::kStockKey:
    case Filter::kStock:
    case Filter::kStockAgain:
      policy->reset(rocksdb::NewBloomFilterPolicy(bits_per_key));
      return Status::OK();
    case Filter::kStockRibbon:
      // -1: at each level, flushes too.
      policy->reset(rocksdb::NewRibbonFilterPolicy(bits_per_key, -1));
      return Status::OK();
    case Filter::kRow:
    case Filter::kRowbloom:
      return NewFilterPolicy(
          {.bloom_type =
               filter_ == Filter::kRow ? BloomType::kRow : BloomType::kRowCol,
           .key_layout = plan_.cells().layout(),
           .false_positive_rate = FalsePositiveRate(bits_per_key)},
          policy);
  }
  return Status::OK();
}

Status ReadDatabase::FitPolicy(uint64_t byte_limit) {
  bits_per_key_ = kStockBitsPerKey;
  if (filter_ == Filter::kNone) {
    bits_per_key_ = 0;
  } else if (filter_ != Filter::kStock && filter_ != Filter::kStockAgain &&
             filter_ != Filter::kRow) {
    // Twice the bits are enough for Ribbon, which saves less than a third.
    const double most = MostBitsWithin(
        byte_limit, 2 * kStockBitsPerKey, [this](double bits_per_key) {
          std::shared_ptr<const rocksdb::FilterPolicy> policy;
          if (!MakePolicy(bits_per_key, &policy).ok()) {
            return std::numeric_limits<uint64_t>::max();
          }
          return FilterBytes(*policy, plan_.cells(), plan_.files(),
                             /*prefixes=*/filter_ == Filter::kStockRibbon);
        });
    // If files are so small that the fixed parts alone cost more, most is 0.
    if (most > 0) bits_per_key_ = most;
  }
  return MakePolicy(bits_per_key_, &policy_);
}

std::vector<std::string> ReadDatabase::BuildFilters() const {
  if (policy_ == nullptr) return {};
  return bench::BuildFilters(
      *policy_, plan_.cells(), plan_.files(),
      HasPrefixes() && filter_ != Filter::kRowbloom && filter_ != Filter::kRow);
}

rocksdb::Options ReadDatabase::OptionsFor(Caching caching) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = policy_;
  // Counts repeat with the seed, whatever the allocator.
  table.optimize_filters_for_memory = false;
  const uint64_t data_bytes = plan_.cells().bytes();
  cache_bytes_ = caching == Caching::kAll
                     ? 4 * data_bytes + (uint64_t{64} << 20)
                     : data_bytes / 10;
  table.cache_index_and_filter_blocks = caching == Caching::kTenth;
  // One shard: a filter has to fit into its shard, and one thread needs no
  // more.
  table.block_cache = rocksdb::NewLRUCache(cache_bytes_, 0);

  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kLZ4Compression;
  if (HasPrefixes()) {
    options.prefix_extractor = NewRowPrefixExtractor(plan_.cells().layout());
  }
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  // Files are where the plan puts them and stay there.
  options.disable_auto_compactions = true;
  options.level_compaction_dynamic_level_bytes = false;
  options.write_buffer_size = size_t{8} << 30;
  options.level0_slowdown_writes_trigger = std::numeric_limits<int>::max();
  options.level0_stop_writes_trigger = std::numeric_limits<int>::max();
  options.info_log_level = rocksdb::WARN_LEVEL;
  return options;
}

Status ReadDatabase::Write(const std::string& path, uint64_t byte_limit) {
  path_ = path;
  Status status = FitPolicy(byte_limit);
  if (!status.ok()) return status;
  rocksdb::Options options = OptionsFor(Caching::kAll);
  options.error_if_exists = true;
  status = rocksdb::DB::Open(options, path_, Into(&db_));
  for (size_t i = 0; status.ok() && i < plan_.files().size(); ++i) {
    status = WriteFile(plan_.files()[i], plan_.levels()[i]);
  }
  return status.ok() ? CheckFiles() : status;
}

// A flush, and a compaction of the new file alone down to its level: those
// above are still empty.
Status ReadDatabase::WriteFile(const CellsOfFile& cells, int level) {
  constexpr size_t kBatchBytes = size_t{1} << 20;
  rocksdb::WriteOptions write;
  write.disableWAL = true;
  rocksdb::WriteBatch batch;
  Status status;
  for (const size_t number : cells) {
    const Cell& cell = plan_.cells().all()[number];
    status = batch.Put(cell.key, cell.value);
    if (status.ok() && batch.GetDataSize() > kBatchBytes) {
      status = db_->Write(write, &batch);
      batch.Clear();
    }
    if (!status.ok()) return status;
  }
  status = db_->Write(write, &batch);
  if (status.ok()) status = db_->Flush({});
  if (!status.ok() || level == 0) return status;
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  for (const auto& file : files) {
    if (file.level != 0) continue;
    rocksdb::CompactionOptions compaction;
    compaction.compression = rocksdb::kDisableCompressionOption;
    compaction.output_file_size_limit = uint64_t{1} << 40;
    return db_->CompactFiles(compaction, {file.name}, level);
  }
  return Status::Corruption("a flush wrote no file");
}

Status ReadDatabase::CheckFiles() {
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  std::vector<int> levels;
  for (const auto& file : files) levels.push_back(file.level);
  std::vector<int> planned = plan_.levels();
  std::sort(levels.begin(), levels.end());
  std::sort(planned.begin(), planned.end());
  if (levels != planned) {
    return Status::Corruption(std::string(ToString(filter_)) +
                              ": the files are not where they were put");
  }
  rocksdb::TablePropertiesCollection properties;
  const Status status = db_->GetPropertiesOfAllTables(&properties);
  filter_bytes_ = 0;
  for (const auto& [name, table] : properties) {
    filter_bytes_ += table->filter_size;
  }
  return status;
}

Status ReadDatabase::Close() {
  Status status;
  if (db_ != nullptr) status = db_->Close();
  db_.reset();
  return status;
}

Status ReadDatabase::Open(Caching caching) {
  return rocksdb::DB::Open(OptionsFor(caching), path_, Into(&db_));
}

Status ReadDatabase::Warm() {
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(read));
  size_t cells = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++cells;
  if (iterator->status().ok() && cells != plan_.cells().all().size()) {
    return Status::Corruption(std::string(ToString(filter_)) +
                              ": cells are missing");
  }
  return iterator->status();
}

Status ReadDatabase::Run(Read read, uint64_t operation, uint64_t* found) {
  const size_t keys = KeysOf(read);
  const Question* first = &plan_.QuestionsOf(read)[operation * keys];
  if (keys > 1) return MultiGet(first, keys, found);
  return read == Read::kScanAbsentRow ? Scan(*first) : Get(*first, found);
}

Status ReadDatabase::Check(const Question& question, const Status& status,
                           const rocksdb::PinnableSlice& value,
                           uint64_t* found) const {
  if (status.ok() && question.cell != nullptr &&
      value == question.cell->value) {
    ++*found;
    return status;
  }
  if (status.IsNotFound() && question.cell == nullptr) return Status::OK();
  if (!status.ok() && !status.IsNotFound()) return status;
  return Status::Corruption(std::string(ToString(filter_)) +
                            ": wrong answer to key 0x" +
                            rocksdb::Slice(question.key).ToString(true));
}

Status ReadDatabase::Get(const Question& question, uint64_t* found) {
  rocksdb::PinnableSlice value;
  const Status status =
      db_->Get({}, db_->DefaultColumnFamily(), question.key, &value);
  return Check(question, status, value, found);
}

Status ReadDatabase::Scan(const Question& question) {
  const std::string_view row = question.Row();
  rocksdb::ReadOptions read;
  std::string end;
  rocksdb::Slice upper_bound;
  if (HasPrefixes()) {
    read.prefix_same_as_start = true;
  } else {
    // No filter to probe: the plain way to scan a row is between two bounds.
    // The row ends with 00 01, and nothing sorts between its cells and 00 02.
    read.total_order_seek = true;
    end = row;
    ++end.back();
    upper_bound = end;
    read.iterate_upper_bound = &upper_bound;
  }
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(read));
  iterator->Seek({row.data(), row.size()});
  if (!iterator->Valid()) return iterator->status();
  return Status::Corruption(std::string(ToString(filter_)) +
                            ": a scan found a cell of an absent row");
}

Status ReadDatabase::MultiGet(const Question* questions, size_t count,
                              uint64_t* found) {
  std::array<rocksdb::Slice, 32> keys;
  std::array<rocksdb::PinnableSlice, 32> values;
  std::array<Status, 32> statuses;
  for (size_t i = 0; i < count; ++i) keys[i] = questions[i].key;
  db_->MultiGet({}, db_->DefaultColumnFamily(), count, keys.data(),
                values.data(), statuses.data());
  for (size_t i = 0; i < count; ++i) {
    const Status status = Check(questions[i], statuses[i], values[i], found);
    if (!status.ok()) return status;
  }
  return Status::OK();
}

}  // namespace rowbloom::bench

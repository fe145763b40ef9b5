// The store behind rowbloom::Store, once it is open (open_store.h opens it).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/store.h"
#include "storage/store/opened_store.h"
#include "storage/store/writer.h"

namespace rowbloom {

class StoreImpl final : public Store {
 public:
  explicit StoreImpl(OpenedStore opened)
      : opened_(std::move(opened)), writer_(opened_) {}
  ~StoreImpl() override;

  rocksdb::Status Put(std::string_view row, std::string_view family,
                      std::string_view qualifier, std::string_view value,
                      const WriteOptions& options) override;
  rocksdb::Status Delete(std::string_view row, std::string_view family,
                         std::string_view qualifier,
                         const WriteOptions& options) override;
  rocksdb::Status DeleteVersion(std::string_view row, std::string_view family,
                                std::string_view qualifier,
                                const WriteOptions& options) override;
  rocksdb::Status DeleteFamily(std::string_view row, std::string_view family,
                               const WriteOptions& options) override;
  rocksdb::Status DeleteRow(std::string_view row,
                            const WriteOptions& options) override;
  rocksdb::Status Write(const WriteBatch& batch,
                        const WriteOptions& options) override;

  rocksdb::Status CheckAndWrite(const CellAddress& at,
                                std::optional<std::string_view> expected,
                                const WriteBatch& changes, bool* applied,
                                const WriteOptions& options) override;
  rocksdb::Status CheckAndPut(std::string_view row, std::string_view family,
                              std::string_view qualifier,
                              std::optional<std::string_view> expected,
                              std::string_view value, bool* applied,
                              const WriteOptions& options) override;
  rocksdb::Status CheckAndDelete(std::string_view row, std::string_view family,
                                 std::string_view qualifier,
                                 std::optional<std::string_view> expected,
                                 bool* applied,
                                 const WriteOptions& options) override;
  rocksdb::Status Increment(std::string_view row, std::string_view family,
                            std::string_view qualifier, int64_t delta,
                            int64_t* sum, const WriteOptions& options) override;
  rocksdb::Status Append(std::string_view row, std::string_view family,
                         std::string_view qualifier, std::string_view suffix,
                         std::string* joined,
                         const WriteOptions& options) override;

  rocksdb::Status Get(std::string_view row, std::string_view family,
                      std::string_view qualifier, std::string* value,
                      const ReadOptions& options) override;
  rocksdb::Status GetCell(std::string_view row, std::string_view family,
                          std::string_view qualifier, Cell* cell,
                          const ReadOptions& options) override;
  rocksdb::Status GetVersions(std::string_view row, std::string_view family,
                              std::string_view qualifier,
                              std::vector<Cell>* cells,
                              const ReadOptions& options) override;
  rocksdb::Status MultiGet(std::span<const CellAddress> addresses,
                           std::vector<std::vector<Cell>>* cells,
                           const ReadOptions& options) override;
  rocksdb::Status GetRow(std::string_view row, std::vector<Cell>* cells,
                         const RowOptions& options) override;
  RowScanner Scan(const ScanOptions& options) override;
  rocksdb::Status NewCellIterator(
      const CellIteratorOptions& options,
      std::unique_ptr<CellIterator>* iterator) override;
  std::unique_ptr<const Snapshot> GetSnapshot() override;

  rocksdb::Status NewBulkLoad(const BulkLoadOptions& options,
                              std::unique_ptr<BulkLoad>* load) override;

  rocksdb::Status Flush() override;
  rocksdb::Status Compact(const CompactOptions& options) override;
  rocksdb::Status Stats(StoreStats* stats) override;
  std::vector<std::string> Warnings() const override;
  rocksdb::Status ResetClock() override;
  rocksdb::Env* GetEnv() const override { return opened_.database->GetEnv(); }
  const StoreOptions& Options() const override { return opened_.options; }
  std::map<std::string, FamilyOptions> Families() const override;
  rocksdb::Status CreateFamily(const std::string& name,
                               const FamilyOptions& options) override;
  rocksdb::Status DropFamily(const std::string& name) override;
  rocksdb::Status CheckAlterFamily(const std::string& name,
                                   const FamilyOptions& options) const override;
  rocksdb::Status AlterFamily(const std::string& name,
                              const FamilyOptions& options) override;
  rocksdb::Status Checkpoint(const std::string& directory) override;
  rocksdb::Status Backup(const std::string& directory,
                         BackupInfo* info) override;

 private:
  static ChangeView ViewOf(const WriteBatch& batch, size_t i);
  rocksdb::Status WriteOne(const ChangeView& change,
                           const WriteOptions& options);

  // Writes change_at(0) to change_at(count - 1), all of `row`, if the cell is
  // as expected.
  template <typename ChangeAt>
  rocksdb::Status CheckAndApply(std::string_view row, std::string_view family,
                                std::string_view qualifier,
                                std::optional<std::string_view> expected,
                                size_t count, ChangeAt change_at, bool* applied,
                                const WriteOptions& options);
  // Puts what next(newest value, &value) makes of the newest value, nullopt
  // meaning that there is none.
  template <typename Next>
  rocksdb::Status Update(std::string_view row, std::string_view family,
                         std::string_view qualifier, Next next,
                         const WriteOptions& options);
  // InvalidArgument: the put would not be the cell's newest version.
  rocksdb::Status CheckNewest(const ChangeView& put,
                              uint64_t timestamp_ms) const;

  // Calls add(timestamp, value) for the versions of a cell, newest first.
  template <typename Add>
  rocksdb::Status ReadCell(std::string_view row, std::string_view family,
                           std::string_view qualifier,
                           const ReadOptions& options, uint32_t max_versions,
                           Add add) const;

  // True if a compaction of the family drops all puts before some time.
  static bool CanClear(const Family& family);
  rocksdb::Status CompactAndClear(rocksdb::CompactRangeOptions options,
                                  const Family& family);

  OpenedStore opened_;
  Writer writer_;
  std::atomic<uint64_t> next_load_{0};
  std::mutex compact_mutex_;
};

}  // namespace rowbloom

// SstTable implements TableFile for RocksDB's block-based tables.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "tools/sst/sst_file.h"
#include "tools/table/table_file.h"

namespace rowbloom::table {

class SstTable : public TableFile {
 public:
  static rocksdb::Status Open(const std::string& path,
                              std::unique_ptr<TableFile>* table);

  TableFacts Facts() const override;
  std::vector<Property> Properties() const override;
  rocksdb::Status ForEachBlock(
      Blocks which,
      const std::function<void(const BlockInfo&)>& use) const override;
  rocksdb::Status ForEachIndexEntry(
      const std::function<void(const IndexEntryInfo&)>& use) const override;
  std::unique_ptr<CellReader> NewCellReader() const override;
  rocksdb::Status ForEachRangeDeletion(
      const std::function<void(const RangeDeletion&)>& use) const override;
  int CompareCells(const Cell& a, const Cell& b) const override;
  std::string TypeName(uint8_t type) const override {
    return ToString(static_cast<sst::EntryType>(type));
  }
  // Defined in sst_filter.cc.
  rocksdb::Status ForEachFilterPart(
      const std::function<void(const FilterPart&)>& use) const override;
  rocksdb::Status NewFilterReader(
      std::unique_ptr<FilterReader>* reader) const override;
  std::string KeyLayoutId() const override;
  // Defined in sst_verify.cc.
  void Verify(const KeyFormat& format, Findings* findings,
              VerifyCounts* counts) const override;

  const sst::SstFile& file() const { return *file_; }

 private:
  explicit SstTable(std::unique_ptr<sst::SstFile> file)
      : TableFile({.path = file->path(),
                   .size_bytes = file->size_bytes(),
                   .key_order = file->key_order(),
                   .key_form = KeyForm::kUserKey,
                   .timestamp_bytes = file->timestamp_bytes(),
                   .filter_part = "partition"}),
        file_(std::move(file)) {}

  void AddDetails(TableFacts* facts) const;
  rocksdb::Status FindMetaBlocks(std::vector<BlockInfo>* blocks) const;
  void ReadMetaBlock(BlockInfo* block) const;

  const std::unique_ptr<sst::SstFile> file_;
};

}  // namespace rowbloom::table

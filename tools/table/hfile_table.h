// HFileTable: HBase's HFiles as a TableFile. User keys are those of HFiles
// (key_format.h), sequence numbers their mvcc numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "storage/hfile/reader.h"
#include "tools/table/table_file.h"

namespace rowbloom::table {

class HFileTable : public TableFile {
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
  // HFiles have none: markers are cells.
  rocksdb::Status ForEachRangeDeletion(
      const std::function<void(const RangeDeletion&)>& /*use*/) const override {
    return rocksdb::Status::OK();
  }
  // Cells are compared by key alone: the same cell has another mvcc number
  // wherever it was written.
  int CompareCells(const Cell& a, const Cell& b) const override;
  std::string TypeName(uint8_t type) const override;
  // hfile_filter.cc has these.
  rocksdb::Status ForEachFilterPart(
      const std::function<void(const FilterPart&)>& use) const override;
  rocksdb::Status NewFilterReader(
      std::unique_ptr<FilterReader>* reader) const override;
  // HFileReader::Verify.
  void Verify(const KeyFormat& format, Findings* findings,
              VerifyCounts* counts) const override;

  const hfile::Reader& reader() const { return *reader_; }

 private:
  explicit HFileTable(std::unique_ptr<hfile::Reader> reader);

  const std::unique_ptr<hfile::Reader> reader_;
};

// "ROW", "ROWCOL", "ROWPREFIX": what a general filter is called in output, as
// the sections of rowbloom's own filters are.
std::string SectionName(BloomType type);
// "HBase ROW", with the length of a prefix; empty without a general filter.
std::string FilterPolicyText(const hfile::Reader& reader);

}  // namespace rowbloom::table

// HFileTable implements TableFile for HBase's HFiles. User keys are those of
// HFiles (key_format.h), sequence numbers are their mvcc numbers.
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
  // Gives none: the delete markers of HFiles are cells.
  rocksdb::Status ForEachRangeDeletion(
      const std::function<void(const RangeDeletion&)>& /*use*/) const override {
    return rocksdb::Status::OK();
  }
  // Compares keys alone: the same cell has different mvcc numbers in different
  // files.
  int CompareCells(const Cell& a, const Cell& b) const override;
  std::string TypeName(uint8_t type) const override;
  // Defined in hfile_filter.cc.
  rocksdb::Status ForEachFilterPart(
      const std::function<void(const FilterPart&)>& use) const override;
  rocksdb::Status NewFilterReader(
      std::unique_ptr<FilterReader>* reader) const override;
  // Calls HFileReader::Verify.
  void Verify(const KeyFormat& format, Findings* findings,
              VerifyCounts* counts) const override;

  const hfile::Reader& reader() const { return *reader_; }

 private:
  explicit HFileTable(std::unique_ptr<hfile::Reader> reader);

  const std::unique_ptr<hfile::Reader> reader_;
};

// Returns the name of a general filter in output: "ROW", "ROWCOL", "ROWPREFIX",
// as for the sections of rowbloom's own filters.
std::string SectionName(BloomType type);
// "HBase ROW", with the length of a prefix; empty without a general filter.
std::string FilterPolicyText(const hfile::Reader& reader);

}  // namespace rowbloom::table

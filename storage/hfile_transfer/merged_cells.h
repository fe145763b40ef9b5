// The cells of several HFiles in one order. A file is opened when its first row
// comes up, and closed at its end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/hfile_cell.h"
#include "rowbloom/hfile_reader.h"
#include "storage/hfile_transfer/hbase_records.h"

namespace rowbloom::hfile_transfer {

// A file with at least one cell, after a first look.
struct SourceFile {
  std::string in_store;  // as StoreFile has it
  std::string path;
  std::string root;    // as StoreFile has it
  std::string family;  // its cells' family
  std::string first_row;
  RowRange rows;  // those that are read
  uint64_t entries = 0;
  int64_t sequence_id = -1;  // MAX_SEQ_ID_KEY
  // The mvcc number of all cells, in place of their own.
  std::optional<int64_t> mvcc;
  // The size of a file with a sequence id, and its BULKLOAD_TIMESTAMP. Files of
  // one load, and a file that a compaction made of some, have one sequence id.
  int64_t file_bytes = 0;
  int64_t load_time_ms = 0;
  // The files of the import that a compaction replaced by this one, as
  // `in_store`.
  std::set<std::string> replaced;
  size_t place = 0;  // among all files
};

// By row, qualifier, falling timestamp and falling type, whatever the families;
// what is equal in these comes in the order of falling mvcc number and sequence
// id, rising size, falling load time, and falling place. Not thread-safe.
class MergedCells {
 public:
  MergedCells(const HFileReaderOptions& options, std::vector<SourceFile> files);

  // Moves to the first cell. Errors of this and of Next are HFileReader's, and
  // InvalidArgument for a cell of another family than its file's.
  rocksdb::Status Start();
  // REQUIRES Valid().
  rocksdb::Status Next();

  bool Valid() const { return !open_.empty(); }
  // The cell here; views stay until the next move. REQUIRES Valid().
  const HFileCellView& cell() const { return open_.front()->cells->cell(); }
  // Its file, which stays. REQUIRES Valid().
  const SourceFile& file() const { return open_.front()->file; }
  uint64_t files_read() const { return files_read_; }

 private:
  struct Source {
    explicit Source(const SourceFile& of) : file(of) {}

    const SourceFile& file;
    std::unique_ptr<HFileReader> reader;
    std::unique_ptr<HFileIterator> cells;  // goes before the reader
  };
  // Tells whether the cell of `b` comes first: a heap keeps the largest in
  // front.
  static bool ComesAfter(const std::unique_ptr<Source>& a,
                         const std::unique_ptr<Source>& b);

  // Makes the source at the back, which was moved, part of the heap, or lets
  // go of it when it is at its end.
  rocksdb::Status PlaceLast();
  // Opens all files that may have the next cell.
  rocksdb::Status OpenWaiting();

  const HFileReaderOptions options_;
  std::vector<SourceFile> files_;              // by first row
  size_t next_file_ = 0;                       // the first that was not opened
  std::vector<std::unique_ptr<Source>> open_;  // a heap
  uint64_t files_read_ = 0;
};

}  // namespace rowbloom::hfile_transfer

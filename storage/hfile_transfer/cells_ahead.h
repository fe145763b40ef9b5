// The cells of MergedCells, read by a thread of their own while those before
// them are loaded.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/hfile_cell.h"
#include "rowbloom/hfile_reader.h"
#include "storage/hfile_transfer/merged_cells.h"

namespace rowbloom::hfile_transfer {

// Has the interface of MergedCells, its order and its errors, each of which
// comes after the cells before it. Holds two batches of 64 KiB and 1,024 cells,
// or of one cell that is larger. Not thread-safe.
class CellsAhead {
 public:
  CellsAhead(const HFileReaderOptions& options, std::vector<SourceFile> files)
      : source_(options, std::move(files)) {}
  ~CellsAhead();
  CellsAhead(const CellsAhead&) = delete;
  CellsAhead& operator=(const CellsAhead&) = delete;

  // Starts the thread and moves to the first cell. Throws std::system_error if
  // there is no thread to be had. Once, before anything else.
  rocksdb::Status Start();
  // REQUIRES Valid().
  rocksdb::Status Next();

  bool Valid() const { return at_ < here().cells.size(); }
  // The cell here and its file; views stay until the next move. REQUIRES
  // Valid().
  const HFileCellView& cell() const { return here().cells[at_].cell; }
  const SourceFile& file() const { return *here().cells[at_].file; }
  // Counts the files whose last cell is before the cell here.
  uint64_t files_read() const {
    return Valid() ? here().cells[at_].files_read : here().files_read;
  }

 private:
  struct ReadCell {
    HFileCellView cell;  // in the batch's bytes
    const SourceFile* file;
    uint64_t files_read;
  };
  struct Batch {
    std::unique_ptr<char[]> bytes;
    size_t capacity = 0;
    size_t size = 0;
    std::vector<ReadCell> cells;
    // An error, the end (is_last), or another batch follows the last cell.
    rocksdb::Status status;
    bool is_last = false;
    uint64_t files_read = 0;
  };

  // Both run on the thread.
  void Read();
  void Fill(Batch* batch);
  // Copies the source's cell. False: the batch is full without it.
  static bool Append(const MergedCells& source, Batch* batch);

  const Batch& here() const { return batches_[taken_ % 2]; }
  // Waits for the batch that is next to be taken.
  rocksdb::Status Await();

  MergedCells source_;       // the thread's, but for its files
  bool is_started_ = false;  // the thread's: the source has a cell, or ended
  std::thread thread_;
  size_t at_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  // The mutex guards the counts and `stop_`. Batches [taken_, filled_) are the
  // caller's, who alone changes taken_; another one is the thread's.
  Batch batches_[2];
  uint64_t taken_ = 0;
  uint64_t filled_ = 0;
  bool stop_ = false;
};

}  // namespace rowbloom::hfile_transfer

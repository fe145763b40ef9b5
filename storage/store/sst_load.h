// The BulkLoad behind rowbloom::BulkLoad: an SstFileWriter per family, whose
// files RocksDB takes over as they are.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/sst_file_writer.h"
#include "rowbloom/bulk_load.h"
#include "storage/store/cell_versions.h"
#include "storage/store/opened_store.h"
#include "storage/store/writer.h"

namespace rowbloom {

// Directories of loads, in that of the store; what a crash left of them is
// removed when the store is opened for writing.
inline constexpr char kLoadDirectoryPrefix[] = "ROWBLOOM_LOAD-";
rocksdb::Status RemoveLoadDirectories(rocksdb::Env* env,
                                      const std::string& store_path);

class SstLoad final : public BulkLoad {
 public:
  // `opened` and `writer` outlive it. `number` is this load's own in the store.
  SstLoad(const OpenedStore& opened, Writer* writer, uint64_t number,
          const BulkLoadOptions& options);
  ~SstLoad() override;

  // Makes the load's directory.
  rocksdb::Status Begin();

  uint64_t timestamp_ms() const override { return timestamp_ms_; }
  using BulkLoad::Add;
  rocksdb::Status Add(const Change& change) override;
  rocksdb::Status Finish() override;

 private:
  // What goes to one family. The last cell is kept back until the next one
  // tells that it is complete.
  struct FamilyLoad {
    FamilyMap::const_iterator family;
    std::unique_ptr<rocksdb::SstFileWriter> writer;  // of files.back()
    std::vector<std::string> files;
    std::string key;         // of the last cell; empty: none yet
    std::string stored;      // its value, as RocksDB keeps it
    Entry last;              // without its value
    size_t value_bytes = 0;  // of the versions of the last cell
    RowDeletes row_deletes;  // of the last row, in the load and the store
    uint64_t oldest_put_ms = std::numeric_limits<uint64_t>::max();
  };

  // The error that keeps the load from going on.
  rocksdb::Status CheckUsable() const;
  rocksdb::Status AddChange(const Change& change);
  rocksdb::Status CheckFor(FamilyMap::const_iterator family,
                           const Change& change) const;
  // Messages go on after the name of the cell.
  rocksdb::Status AddToCell(FamilyLoad* load, std::string_view row,
                            std::string key, const Entry& entry);
  // Tells whether a kDeleteFamilyVersion takes the entry, which is in order.
  rocksdb::Status CheckDeleted(FamilyLoad* load, std::string_view row,
                               std::string_view key, const Entry& entry,
                               bool* deleted);
  rocksdb::Status WriteCell(FamilyLoad* load);
  rocksdb::Status CloseFile(FamilyLoad* load);
  // The error that keeps the files from the families that they were made for.
  rocksdb::Status CheckFamilies() const;

  const OpenedStore& opened_;
  const SharedFamilies of_store_;
  Writer* const writer_;
  rocksdb::Env* const env_;
  const std::string directory_;
  const BulkLoadOptions options_;
  const uint64_t timestamp_ms_;
  // The first error of a file: nothing can be added, or finished, after it.
  rocksdb::Status broken_;
  bool finished_ = false;
  std::set<ChangeType> deletes_of_rows_;
  std::map<std::string, FamilyLoad, std::less<>> families_;
};

}  // namespace rowbloom

#include "tools/sst_inspect/table_file.h"

namespace rowbloom::sst_inspect {

rocksdb::Status OpenHFile(const std::string& path,
                          std::unique_ptr<TableFile>* /*table*/) {
  return rocksdb::Status::NotSupported(
      path + ": an HFile; this sst_inspect was built without rowbloom::hfile");
}

}  // namespace rowbloom::sst_inspect

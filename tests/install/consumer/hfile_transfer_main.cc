// A store's cells out as HFiles and into another store.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "rowbloom/hfile.h"
#include "rowbloom/store.h"

namespace {

rocksdb::Status Run(const std::string& directory,
                    std::optional<std::string>* value) {
  const rowbloom::FamilyDescriptor info{"info", {.max_versions = 3}};
  std::unique_ptr<rowbloom::Store> store;
  rocksdb::Status status =
      rowbloom::Store::Open({}, directory + "/from.db", {info}, &store);
  if (status.ok()) {
    status = store->Put("user_1001", "info", "mail", "ada@example.org");
  }
  rowbloom::HFileExportReport written;
  if (status.ok()) {
    status = rowbloom::ExportHFiles({}, store.get(), directory + "/hfiles",
                                    &written);
  }
  if (status.ok()) {
    status = rowbloom::Store::Open({}, directory + "/to.db", {info}, &store);
  }
  rowbloom::HFileImportReport taken;
  if (status.ok()) {
    status = rowbloom::ImportHFiles({}, {directory + "/hfiles"}, store.get(),
                                    &taken);
  }
  if (status.ok()) status = store->Get("user_1001", "info", "mail", value);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s NEW_DIRECTORY\n", argv[0]);
    return 2;
  }
  std::filesystem::create_directory(argv[1]);
  std::optional<std::string> value;
  const rocksdb::Status status = Run(argv[1], &value);
  if (!status.ok() || value != "ada@example.org") {
    std::fprintf(stderr, "%s, value \"%s\"\n", status.ToString().c_str(),
                 value.value_or("").c_str());
    return 1;
  }
  return 0;
}

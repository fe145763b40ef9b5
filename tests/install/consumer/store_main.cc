// A program of somebody who has rowbloom installed: a cell written to a store,
// flushed and read back.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "rowbloom/store.h"

namespace {

rocksdb::Status Run(const std::string& path,
                    std::optional<std::string>* value) {
  std::unique_ptr<rowbloom::Store> store;
  rocksdb::Status status =
      rowbloom::Store::Open({}, path, {{"info", {}}}, &store);
  if (!status.ok()) return status;
  status = store->Put("user_1001", "info", "mail", "ada@example.org");
  if (status.ok()) status = store->Flush();
  if (status.ok()) status = store->Get("user_1001", "info", "mail", value);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s NEW_STORE_DIRECTORY\n", argv[0]);
    return 2;
  }
  std::optional<std::string> value;
  const rocksdb::Status status = Run(argv[1], &value);
  if (!status.ok() || value != "ada@example.org") {
    std::fprintf(stderr, "%s, value \"%s\"\n", status.ToString().c_str(),
                 value.value_or("").c_str());
    return 1;
  }
  return 0;
}

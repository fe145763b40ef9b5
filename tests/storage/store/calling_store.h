// An open store that tells a test what is done with its files.
#pragma once

#include <memory>

#include "rocksdb/env.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/calling_file_system.h"

namespace rowbloom::test {

// The store has one `latest` family, c.
struct CallingStore {
  explicit CallingStore(StoreOptions options = {},
                        bool syncs_in_any_thread = true)
      : files(std::make_shared<CallingFileSystem>(syncs_in_any_thread)) {
    options.env = env.get();
    store = OpenOrFail(options, dir.File("db"), {{"c", {}}});
  }

  const TempDir dir;
  const std::shared_ptr<CallingFileSystem> files;
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(files);
  std::unique_ptr<Store> store;
};

}  // namespace rowbloom::test
